package starter_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/starter"
)

// load reads the bundle of these topics as the program does: strictly, so that
// a key, a glob or an id that is wrong is an error.
func load(t *testing.T, topics ...string) *rules.Bundle {
	t.Helper()
	files := starter.Files(topics...)
	names := slices.Sorted(maps.Keys(files))
	if want := []string{rules.BoundariesFile, rules.InvariantsFile}; !slices.Equal(names, want) {
		t.Fatalf("files %q, want %q", names, want)
	}
	bundle, err := rules.Load(rules.Files(files))
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range rules.Notes(bundle) {
		t.Errorf("loads with a note: %v", note)
	}
	return bundle
}

func ids(bundle *rules.Bundle) []string {
	var ids []string
	for i := range bundle.Rules {
		ids = append(ids, bundle.Rules[i].ID)
	}
	slices.Sort(ids)
	return ids
}

// violates is the plain meaning of a pattern. The bundle's own tests are in
// UTF-8 and LF, so that this is all there is to it.
func violates(r *rules.Rule, content string) bool {
	return slices.ContainsFunc(r.Patterns, func(p rules.Item) bool { return strings.Contains(content, p.Text) })
}

func topicNames() []string {
	var names []string
	for _, topic := range starter.Topics() {
		names = append(names, topic.Name)
	}
	return names
}

func TestTopics(t *testing.T) {
	want := []string{"terraform", "kubernetes", "dockerfile", "github"}
	if got := topicNames(); !slices.Equal(got, want) {
		t.Errorf("topics %q, want %q", got, want)
	}
}

// Every combination of topics is a valid bundle, and is the whole bundle without
// the rules of the other topics.
func TestEveryCombination(t *testing.T) {
	all := topicNames()
	of := map[string][]string{} // topic to ids
	for _, name := range all {
		of[name] = ids(load(t, name))
		if n := len(of[name]); n < 4 || n > 8 {
			t.Errorf("%s: %d rules, want 4 to 8", name, n)
		}
	}
	for mask := 1; mask < 1<<len(all); mask++ {
		var names, want []string
		for i, name := range all {
			if mask&(1<<i) != 0 {
				names = append(names, name)
				want = append(want, of[name]...)
			}
		}
		slices.Sort(want)
		t.Run(strings.Join(names, "+"), func(t *testing.T) {
			if got := ids(load(t, names...)); !slices.Equal(got, want) {
				t.Errorf("rules %q, want %q", got, want)
			}
			backwards := slices.Clone(names)
			slices.Reverse(backwards)
			if !maps.EqualFunc(starter.Files(names...), starter.Files(append(backwards, names...)...), bytes.Equal) {
				t.Error("the bytes depend on the order or the number of the names")
			}
		})
	}
	if !maps.EqualFunc(starter.Files(), starter.Files(all...), bytes.Equal) {
		t.Error("no topic and all topics give different bytes")
	}
}

func TestBytes(t *testing.T) {
	for name, text := range starter.Files() {
		switch {
		case bytes.ContainsAny(text, "\r\t"):
			t.Errorf("%s: a CR or a tab", name)
		case bytes.Contains(text, []byte("\n\n\n")), bytes.HasSuffix(text, []byte("\n\n")), !bytes.HasSuffix(text, []byte("\n")):
			t.Errorf("%s: empty lines where none belong", name)
		case !bytes.HasPrefix(text, []byte("# ")):
			t.Errorf("%s: does not begin with the explanation", name)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%s:%d: a blank at the end", name, i+1)
			}
		}
	}
}

func TestUnknownTopic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Files took a name that is no topic's")
		}
	}()
	starter.Files("terraform", "ansible")
}

func TestRules(t *testing.T) {
	for _, topic := range starter.Topics() {
		bundle := load(t, topic.Name)
		for i := range bundle.Rules {
			r := &bundle.Rules[i]
			t.Run(r.ID, func(t *testing.T) {
				if r.Message == "" || r.Remediation == "" || r.Severity == "" || len(r.Tags) == 0 {
					t.Error("a text is missing")
				}
				if !strings.HasPrefix(r.DocsURL, "https://") {
					t.Errorf("docs_url %q", r.DocsURL)
				}
				globs := append(slices.Clone(r.Files), r.Exclude...)
				for i, glob := range globs {
					if !strings.HasPrefix(glob, "**/") {
						t.Errorf("glob %q depends on which folder is the root", glob)
					}
					if slices.Contains(globs[:i], glob) {
						t.Errorf("glob %q is there twice", glob)
					}
				}
				checkExamples(t, topic, r)
			})
		}
	}
}

// A rule's example counts as right only when its path is selected, so that
// nothing passes for being looked at by nobody.
func checkExamples(t *testing.T, topic starter.Topic, r *rules.Rule) {
	manifest := []byte("apiVersion: v1\nkind: Pod\n")
	seen := map[bool]int{}
	for i, e := range r.Examples {
		seen[e.Violates]++
		if !r.Selects(e.Path) {
			t.Errorf("example %d: %s is not selected", i, e.Path)
		}
		if got := violates(r, e.Content); got != e.Violates {
			t.Errorf("example %d: violates %v, want %v: %s", i, got, e.Violates, e.Content)
		}
		// State files show no topic: who has one has the .tf files as well.
		if !topic.Holds(e.Path, manifest) && !strings.HasSuffix(e.Path, ".tfstate") {
			t.Errorf("example %d: %s is not a file of the topic %s", i, e.Path, topic.Name)
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("%d examples violate, %d do not; want both", seen[true], seen[false])
	}
}

// What careful people write must not be found: each line here was once a
// false positive, or was feared to be one.
func TestStaysSilent(t *testing.T) {
	tests := []struct{ path, content string }{
		{"main.tf", `cidr_blocks = ["10.0.0.0/16", "100.64.0.0/10"]`},
		{"main.tf", `type = object({ zone = optional(string) })`},
		{"main.tf", `minimum_protocol_version = "TLSv1.2_2021"`},
		{"main.tf", `resources = ["*"]`},
		{"main.tf", `acl = "private"`},
		{"k8s/app.yaml", "securityContext:\n  privileged: false\n  capabilities: {drop: [ALL]}\n"},
		{"k8s/app.yaml", "image: registry.example.com/app@sha256:abc\n"},
		{"k8s/istio.yaml", "apiVersion: networking.istio.io/v1beta1\nkind: Gateway\n"},
		{"chart/templates/app.yaml", "privileged: {{ .Values.privileged }}\n"},
		{"Dockerfile", "FROM golang:1.24 AS build\nRUN echo \"$SUM  go.tgz\" | sha256sum -c -\nUSER 10001\n"},
		{"Dockerfile", "RUN apt-get install -y bash shellcheck\nADD files.tgz /opt/\nCOPY --chown=0:0 a b\n"},
		{".github/workflows/ci.yml", "on: pull_request\npermissions:\n  contents: read\n"},
		{".github/workflows/ci.yml", "- uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2\n"},
		{".github/workflows/ci.yml", "concurrency:\n  group: ci-${{ github.head_ref || github.run_id }}\n"},
		{".github/workflows/ci.yml", "if: github.event.comment.body == '/deploy'\n"},
		{".github/workflows/ci.yml", "branches: [main, master]\nruns-on: ubuntu-latest\n"},
		{".github/workflows/ci.yml", "- run: docker run -v /var/run/docker.sock:/var/run/docker.sock app:latest\n"},
	}
	bundle := load(t)
	for _, test := range tests {
		for i := range bundle.Rules {
			if r := &bundle.Rules[i]; r.Selects(test.path) && violates(r, test.content) {
				t.Errorf("%s is violated by %s: %s", r.ID, test.path, test.content)
			}
		}
	}
}

func TestHolds(t *testing.T) {
	const manifest = "# the shop\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
	tests := []struct {
		path, head string
		want       string // names of the topics, joined by spaces
	}{
		{"main.tf", "", "terraform"},
		{"modules/vpc/main.tf.json", "", "terraform"},
		{"env/prod.tfvars", "", "terraform"},
		{"env/prod.tfvars.json", "", "terraform"},
		{"main.tf.bak", "", ""},
		{"terraform/README.md", "", ""},

		{"k8s/web.yaml", manifest, "kubernetes"},
		{"k8s/web.yml", strings.ReplaceAll(manifest, "\n", "\r\n"), "kubernetes"},
		{"k8s/web.yaml", "\ufeffkind: Pod\napiVersion: v1\n", "kubernetes"},
		{"k8s/web.yaml", "apiVersion: v1\n", ""},
		{"k8s/web.yaml", "doc: |\n  apiVersion: v1\n  kind: Pod\n", ""},
		{"k8s/web.yaml", "", ""},
		{"k8s/web.json", manifest, ""},
		{"docs/web.md", manifest, ""},
		{"chart/Chart.yaml", "", "kubernetes"},
		{"k8s/kustomization.yaml", "resources: []\n", "kubernetes"},
		{"k8s/kustomization.yml", "", "kubernetes"},
		{"docker-compose.yml", "services:\n  web:\n    image: nginx\n", ""},

		{"Dockerfile", "", "dockerfile"},
		{"api/Dockerfile", "", "dockerfile"},
		{"api/Dockerfile.dev", "", "dockerfile"},
		{"api.dockerfile", "", "dockerfile"},
		{"build/api.Dockerfile", "", "dockerfile"},
		{"Containerfile", "", "dockerfile"},
		{"Containerfile.dev", "", "dockerfile"},
		{"Dockerfiles/README.md", "", ""},
		{"dockerfile.go", "", ""},
		{".dockerignore", "", ""},

		{".github/workflows/ci.yml", "", "github"},
		{".github/workflows/ci.yaml", "on: push\n", "github"},
		{"sub/.github/workflows/ci.yml", "", "github"},
		{".github/workflows/scripts/run.yml", "", ""},
		{".github/dependabot.yml", "", ""},
		{"x.github/workflows/ci.yml", "", ""},
		{"workflows/ci.yml", "", ""},
		{".github/workflows/README.md", "", ""},
	}
	for _, test := range tests {
		var got []string
		for _, topic := range starter.Topics() {
			if topic.Holds(test.path, []byte(test.head)) {
				got = append(got, topic.Name)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s %q: %q, want %q", test.path, test.head, got, test.want)
		}
	}
}
