package starter_test

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/starter"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
)

// load loads the bundle of these topics as strictly as the program does.
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

// broken returns the ids of the rules that a file violates.
func broken(t *testing.T, bundle *rules.Bundle, path, content string) []string {
	t.Helper()
	found, err := check.File(t.Context(), bundle, path, []byte(content))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var ids []string
	for i := range found {
		ids = append(ids, found[i].RuleID)
	}
	return slices.Compact(slices.Sorted(slices.Values(ids)))
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

// Every combination of topics is a valid bundle: the whole bundle without the rules of the other topics.
func TestEveryCombination(t *testing.T) {
	all := topicNames()
	of := map[string][]string{} // topic to ids
	for _, name := range all {
		of[name] = ids(load(t, name))
		if n := len(of[name]); n < 6 || n > 16 {
			t.Errorf("%s: %d rules, want 6 to 16", name, n)
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
						t.Errorf("glob %q depends on which directory is the root", glob)
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

// A violating example counts only if its path is selected; TestExamples runs `policyscan test`.
func checkExamples(t *testing.T, topic starter.Topic, r *rules.Rule) {
	manifest := []byte("apiVersion: v1\nkind: Pod\n")
	head := map[string][]byte{".yaml": manifest, ".yml": manifest, ".YAML": manifest, ".json": []byte(`{"apiVersion": "v1", "kind": "Pod"}`)}
	aside := regexp.MustCompile(`\.tfstate|\.tftpl$|action\.yml$`)
	seen := map[bool]int{}
	for i, e := range r.Examples {
		seen[e.Violates]++
		if e.Violates && !r.Selects(e.Path) {
			t.Errorf("example %d: %s is not selected", i, e.Path)
		}
		// Some files show no topic, but never occur alone.
		if r.Selects(e.Path) && !topic.Holds(e.Path, head[path.Ext(e.Path)]) && !aside.MatchString(e.Path) {
			t.Errorf("example %d: %s is not a file of the topic %s", i, e.Path, topic.Name)
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("%d examples violate, %d do not; want both", seen[true], seen[false])
	}
}

// Every example is right, and every rule has a violating and a passing one.
func TestExamples(t *testing.T) {
	tally, err := scanner.RunExamples(load(t), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, mistake := range tally.Mistakes {
		t.Error(mistake)
	}
}

// The examples alone prove that every rule, pattern, glob, exclude and each is alive.
func TestAlive(t *testing.T) {
	by := []run.RuleSource{{From: "builtin", Bundle: load(t)}}
	life, err := scanner.Alive(t.Context(), by, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(life.Bundles) != 1 || life.Bundles[0].Alive == 0 {
		t.Fatalf("nothing was tried: %+v", life)
	}
	for _, dead := range life.Bundles[0].Dead {
		t.Errorf("dead: %+v", dead)
	}
}

// Findings that the rules of 0.1 missed in seven real trees.
func TestFinds(t *testing.T) {
	tests := []struct{ rule, path, content string }{
		{"K8S-POD-005", "k8s/app.yaml", "spec:\n  volumes:\n  - name: data\n    hostPath:\n      path: /data\n"},
		{"K8S-POD-008", "k8s/app.yaml", "securityContext:\n  readOnlyRootFilesystem: false\n"},
		{"K8S-POD-006", "k8s/app.yaml", "securityContext:\n  runAsUser: 0\n"},
		{"K8S-NET-001", "k8s/app.yaml", "ports:\n- containerPort: 80\n  hostPort: 80\n"},
		{"K8S-RBAC-002", "k8s/role.yaml", "kind: ClusterRole\nrules:\n- apiGroups: ['*']\n  resources: ['*']\n  verbs: ['*']\n"},
		{"K8S-POD-002", "k8s/app.yaml", "spec:\n  hostNetwork: True\n"},
		{"K8S-POD-002", "k8s/app.yaml", "spec: {\"host\\u004eetwork\": on}"},
		{"K8S-POD-001", "k8s/app.yaml", `{"securityContext": {"privileged": true}}`},
		{"K8S-POD-001", "k8s/pod.json", `{"securityContext": {"privileged": true}}`},
		{"TF-NET-002", "db.tf", "resource \"aws_db_instance\" \"a\" {\n  publicly_accessible    = true\n}\n"},
		{"TF-ENC-001", "disk.tf", "resource \"aws_ebs_volume\" \"a\" {\n  encrypted         = false\n}\n"},
		{"TF-S3-002", "s3.tf", "resource \"aws_s3_bucket_public_access_block\" \"a\" {\n  block_public_acls = false\n}\n"},
		{"TF-IAM-001", "iam.tf", "policy = <<EOF\n{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"*\"}]}\nEOF\n"},
		{"TF-S3-001", "s3.tofu", "resource \"aws_s3_bucket\" \"a\" {\n  acl = \"public-read\"\n}\n"},
		{"TF-S3-001", "s3.tf.json", `{"resource": {"aws_s3_bucket": {"a": {"acl": "public-read"}}}}`},
		{"TF-S3-001", "live/terragrunt.hcl", "inputs = {\n  acl = \"public-read\"\n}\n"},
		{"TF-S3-001", "S3.TF", "resource \"aws_s3_bucket\" \"a\" {\n  acl = \"public-read\"\n}\n"},
		{"GHA-INJECT-001", ".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n    - run: echo ${{ github.head_ref }}\n"},
		{"GHA-INJECT-001", ".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n    - run: |\n        echo ${{github.event.issue.title}}\n"},
		{"DOCKER-IMG-001", "api/dockerfile", "FROM alpine:latest"},
		{"DOCKER-RUN-001", "Dockerfile", "FROM alpine:3.20\nRUN curl https://example.com/a.sh | sh"},
		{"DOCKER-USER-001", "Dockerfile", "FROM alpine:3.20\nUSER root"},
		{"K8S-IMG-001", "k8s/app.yaml", "image: nginx:latest"},
	}
	bundle := load(t)
	for _, test := range tests {
		if got := broken(t, bundle, test.path, test.content); !slices.Contains(got, test.rule) {
			t.Errorf("%s: %q violates %q, not %s", test.path, test.content, got, test.rule)
		}
	}
}

// Careful configuration must not be reported: each line here was a false positive once, or was likely to be one.
func TestStaysSilent(t *testing.T) {
	tests := []struct{ path, content string }{
		{"main.tf", `cidr_blocks = ["10.0.0.0/16", "100.64.0.0/10"]`},
		{"main.tf", "resource \"aws_security_group\" \"a\" {\n  egress {\n    cidr_blocks = [\"0.0.0.0/0\"]\n  }\n}\n"},
		{"main.tf", "resource \"aws_route_table\" \"a\" {\n  route {\n    cidr_block = \"0.0.0.0/0\"\n  }\n}\n"},
		{"main.tf", "resource \"aws_vpc_security_group_egress_rule\" \"a\" {\n  cidr_ipv4 = \"0.0.0.0/0\"\n}\n"},
		{"main.tf", `type = object({ zone = optional(string) })`},
		{"main.tf", `minimum_protocol_version = "TLSv1.2_2021"`},
		{"main.tf", `resources = ["*"]`},
		{"main.tf", `acl = "private"`},
		{"main.tf", `access_key = "AKIAIOSFODNN7EXAMPLE" # AWS's own sample`},
		{"k8s/app.yaml", "securityContext:\n  privileged: false\n  capabilities: {drop: [ALL]}\n"},
		{"k8s/app.yaml", "# privileged: true and hostNetwork: true are for agents\nspec: {}\n"},
		{"k8s/app.yaml", "image: registry.example.com/app@sha256:abc\n"},
		{"k8s/values.yaml", "# key: |\n#   -----BEGIN RSA PRIVATE KEY-----\n#   ...\n"},
		{"k8s/node.yaml", "metadata:\n  annotations:\n    kubeadm.alpha.kubernetes.io/cri-socket: /run/containerd/containerd.sock\n"},
		{"k8s/crd.yaml", "properties:\n  hostPath:\n    properties:\n      path: {type: string}\n  hostPort: {type: integer}\n"},
		{"k8s/istio.yaml", "apiVersion: networking.istio.io/v1beta1\nkind: Gateway\n"},
		{"k8s/hook.yaml", "kind: MutatingWebhookConfiguration\nwebhooks:\n- rules:\n  - resources: ['*']\n"},
		{"chart/templates/app.yaml", "privileged: {{ .Values.privileged }}\n"},
		{"Dockerfile", "FROM golang:1.24 AS build\nRUN echo \"$SUM  go.tgz\" | sha256sum -c -\nUSER 10001\n"},
		{"Dockerfile", "USER root\nRUN apt-get install -y bash shellcheck\nADD files.tgz /opt/\nCOPY --chown=0:0 a b\nUSER app\n"},
		{".github/workflows/ci.yml", "on: pull_request\npermissions:\n  contents: read\n"},
		{".github/workflows/ci.yml", "permissions: {}\njobs: {a: {steps: [{uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683}]}}\n"},
		{".github/workflows/ci.yml", "permissions: {}\nconcurrency:\n  group: ci-${{ github.head_ref || github.run_id }}\n"},
		{".github/workflows/ci.yml", "permissions: {}\njobs:\n  a:\n    if: github.event.comment.body == '/deploy'\n"},
		{".github/workflows/ci.yml", "permissions: {}\njobs:\n  a:\n    env:\n      T: ${{ github.event.issue.title }}\n"},
		{".github/workflows/ci.yml", "permissions: {}\nbranches: [main, master]\nruns-on: ubuntu-latest\n"},
		{".github/workflows/ci.yml", "permissions: {}\njobs:\n  a:\n    steps:\n    - run: docker run -v /var/run/docker.sock:/var/run/docker.sock app:latest\n"},
	}
	bundle := load(t)
	for _, test := range tests {
		if got := broken(t, bundle, test.path, test.content); len(got) > 0 {
			t.Errorf("%q is violated by %s: %s", got, test.path, test.content)
		}
	}
}

func TestHolds(t *testing.T) {
	const manifest = "# the shop\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
	tests := []struct {
		path, head string
		want       string // topic names, joined by spaces
	}{
		{"main.tf", "", "terraform"},
		{"modules/vpc/main.tf.json", "", "terraform"},
		{"env/prod.tfvars", "", "terraform"},
		{"env/prod.tfvars.json", "", "terraform"},
		{"main.tofu", "", "terraform"},
		{"live/terragrunt.hcl", "", "terraform"},
		{"MAIN.TF", "", "terraform"},
		{"main.tf.bak", "", ""},
		{"terraform/README.md", "", ""},

		{"k8s/web.yaml", manifest, "kubernetes"},
		{"k8s/web.yml", strings.ReplaceAll(manifest, "\n", "\r\n"), "kubernetes"},
		{"k8s/web.yaml", "\ufeffkind: Pod\napiVersion: v1\n", "kubernetes"},
		{"k8s/web.yaml", "apiVersion: v1\n", ""},
		{"k8s/web.yaml", "doc: |\n  apiVersion: v1\n  kind: Pod\n", ""},
		{"k8s/web.yaml", "", ""},
		{"k8s/web.json", manifest, ""},
		{"k8s/web.json", `{"kind": "Pod", "apiVersion": "v1"}`, "kubernetes"},
		{"package.json", `{"name": "web"}`, ""},
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
		{"api/dockerfile", "", "dockerfile"},
		{"api/Dockerfile-dev", "", "dockerfile"},
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
