package runners

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/policyscan/policyscan/lab/conformance/install"
)

// act runs workflows as GitHub does, here without a container. What it does otherwise:
// actions/checkout is a copy of the repository that the test made, and actions/setup-go,
// which would come from the network, is a stand-in: Go is there already.
const act = "github.com/nektos/act@v0.2.89"

const workflow = `on: [push, pull_request, merge_group]
permissions:
  contents: read
jobs:
  policy:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v0
      - id: scan
        uses: policyscan/policyscan@v0
        with:
          reports: sarif=policyscan.sarif
%s
      - if: always()
        env:
          OUTPUTS: ${{ toJSON(steps.scan.outputs) }}
          OUTCOME: ${{ steps.scan.outcome }}
        run: printf '{"outcome":"%%s","outputs":%%s}' "$OUTCOME" "$OUTPUTS" >"$RESULT"
`

const setupGo = `name: setup-go
description: a stand-in
runs:
  using: composite
  steps:
    - run: go version
      shell: bash
`

// checkout is actions/checkout in action.yml: of organisation/policy, which is the repository $POLICY.
const checkout = `name: checkout
description: a stand-in
inputs: {repository: {}, ref: {}, token: {}, path: {}, persist-credentials: {}}
runs:
  using: composite
  steps:
    - run: test "$REPOSITORY" = organisation/policy && git clone -q "$POLICY" "$INTO" && git -C "$INTO" checkout -q "${REF:-HEAD}"
      shell: bash
      env:
        REPOSITORY: ${{ inputs.repository }}
        REF: ${{ inputs.ref }}
        INTO: ${{ inputs.path }}
`

// A runner runs workflows over checkouts.
type runner struct {
	t      *testing.T
	act    string
	dir    string // scratch
	action string // the directory of policyscan/policyscan@v0
	bin    string // before the PATH of jobs
	env    []string
	more   []string // arguments of act
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: act runs a job for Linux here")
	}
	r := &runner{t: t, act: install.Go(t, act), dir: t.TempDir(), action: root(t), bin: filepath.Dir(install.Program())}
	write(t, r.path("setup-go/action.yml"), setupGo)
	write(t, r.path("checkout-action/action.yml"), checkout)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: bash is not installed")
	}
	write(t, r.path("shell/bash"), fmt.Sprintf(patientBash, bash))
	if err := os.Chmod(r.path("shell/bash"), 0o777); err != nil {
		t.Fatal(err)
	}
	return r
}

// patientBash is the shell of jobs. act does not wait for the end of what a step that fails has printed (0.2.89,
// HostEnvironment.exec returns at once), and skips of its log what it did not read by then.
const patientBash = `#!/bin/sh
%s "$@"
status=$?
[ "$status" = 0 ] || sleep 1
exit "$status"
`

func (r *runner) path(name string) string { return filepath.Join(r.dir, name) }

// git runs git in the repository.
func (r *runner) git(args ...string) string {
	r.t.Helper()
	return r.gitIn("repo", args...)
}

func (r *runner) gitIn(dir string, args ...string) string {
	r.t.Helper()
	fixed := []string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false"}
	return strings.TrimSpace(must(r.t, r.path(dir), "git", append(fixed, args...)...))
}

func (r *runner) commit(name, content string) string {
	r.t.Helper()
	write(r.t, r.path("repo/"+name), content)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", name)
	return r.git("rev-parse", "HEAD")
}

// history makes main, and work with one more commit that holds a file.
func (r *runner) history(name, content string) (base, head, merged string) {
	r.t.Helper()
	if err := os.RemoveAll(r.path("repo")); err != nil {
		r.t.Fatal(err)
	}
	write(r.t, r.path("repo/.policyscan/rules/boundaries.yml"), rulesOfOne)
	write(r.t, r.path("repo/.policyscan/rules/invariants.yml"), rulesOfNone)
	r.git("init", "-q", "-b", "main")
	r.commit("old.tf", "10.0.0.0/8\n")
	base = r.commit("main.tf", "10.0.0.0/8\n")
	r.git("checkout", "-q", "-b", "work")
	head = r.commit(name, content)
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-ff", "--no-edit", "work")
	merged = r.git("rev-parse", "HEAD")
	r.git("branch", "merged")
	r.git("reset", "-q", "--hard", base)
	return base, head, merged
}

// A finding is what a run of a workflow left.
type finding struct {
	Outcome string
	Outputs map[string]string
	log     string
}

// run runs the workflow with inputs (lines of YAML) for an event, on a clone of a branch,
// of a depth (0: all of it). words replace what is written in capitals in the payload.
func (r *runner) run(event, branch string, depth int, words map[string]string, inputs string) finding {
	r.t.Helper()
	if err := os.RemoveAll(r.path("checkout")); err != nil {
		r.t.Fatal(err)
	}
	clone := []string{"clone", "-q", "--branch", branch}
	if depth > 0 {
		clone = append(clone, fmt.Sprintf("--depth=%d", depth))
	}
	r.gitIn(".", append(clone, "file://"+r.path("repo"), "checkout")...)
	events := txtar.Parse([]byte(read(r.t, "testdata/events.txtar")))
	i := slices.IndexFunc(events.Files, func(f txtar.File) bool { return f.Name == event+".json" })
	if i < 0 {
		r.t.Fatalf("no payload of %s", event)
	}
	payload := string(events.Files[i].Data)
	for word, value := range words {
		payload = strings.ReplaceAll(payload, word, value)
	}
	name, _, _ := strings.Cut(event, "-")
	write(r.t, r.path("event.json"), payload)
	write(r.t, r.path("w.yml"), fmt.Sprintf(workflow, inputs))
	return r.start(name, r.path("checkout"), r.path("w.yml"))
}

// start runs one workflow file in a checkout.
func (r *runner) start(event, checkout, file string) finding {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	used := regexp.MustCompile(`actions/(setup-go|checkout)@[0-9a-f]{40}`).FindAllString(read(r.t, filepath.Join(root(r.t), "action.yml")), -1)
	result := r.path("result.json")
	if err := os.RemoveAll(result); err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, r.act, event, "--workflows", file, "--eventpath", r.path("event.json"),
		"--platform", "ubuntu-latest=-self-hosted", "--container-daemon-socket", "-", "--pull=false", "--no-cache-server",
		"--action-cache-path", r.path("cache"), "--local-repository", "policyscan/policyscan@v0="+r.action,
		"--local-repository", used[0]+"="+r.path("setup-go"), "--local-repository", used[1]+"="+r.path("checkout-action"))
	cmd.Args = append(cmd.Args, r.more...)
	cmd.Dir = checkout
	path := strings.Join([]string{r.path("shell"), r.bin, os.Getenv("PATH")}, string(os.PathListSeparator))
	cmd.Env = []string{"PATH=" + path, "HOME=" + r.path("home"), "XDG_CACHE_HOME=" + r.path("home")}
	job := append([]string{"RESULT=" + result, "NO_COLOR=1"}, r.env...)
	for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOPROXY"} {
		job = append(job, name+"="+strings.TrimSpace(must(r.t, ".", "go", "env", name)))
	}
	for _, kv := range job {
		cmd.Args = append(cmd.Args, "--env", kv)
	}
	out, err := cmd.CombinedOutput()
	f := finding{log: string(out)}
	text, missing := os.ReadFile(result)
	if missing == nil {
		missing = json.Unmarshal(text, &f)
	}
	if missing != nil && strings.Contains(read(r.t, file), "$RESULT") {
		r.t.Fatalf("the workflow left no result: %v, %v\n%s", err, missing, out)
	}
	if f.Outcome == "" {
		f.Outcome = map[bool]string{true: "success", false: "failure"}[err == nil]
	} else if (err == nil) != (f.Outcome == "success") {
		r.t.Errorf("the step is a %s, and the job ended so: %v", f.Outcome, err)
	}
	return f
}

// want fails unless the outputs have these values, and the log these texts.
func (r *runner) want(f finding, outputs map[string]string, texts ...string) {
	r.t.Helper()
	for name, want := range outputs {
		if f.Outputs[name] != want {
			r.t.Errorf("the output %s is %q, want %q\n%s", name, f.Outputs[name], want, f.log)
		}
	}
	outcome := map[string]string{"0": "success"}[outputs["exit-code"]]
	if outcome == "" {
		outcome = "failure"
	}
	if f.Outcome != outcome {
		r.t.Errorf("the step is a %s, want a %s\n%s", f.Outcome, outcome, f.log)
	}
	for _, text := range texts {
		if !strings.Contains(f.log, text) {
			r.t.Errorf("%q is not in the log\n%s", text, f.log)
		}
	}
}

// TestActionInWorkflow: the action in a workflow, for each event, depth and outcome.
func TestActionInWorkflow(t *testing.T) {
	needConformance(t)
	r := newRunner(t)
	const install = "          install: path"
	base, head, merged := r.history("bad.tf", "0.0.0.0/0\n")
	words := map[string]string{"BASE_SHA": base, "HEAD_SHA": head, "MERGED_SHA": merged}
	violation := map[string]string{
		"verdict": "FAIL", "complete": "true", "exit-code": "1", "violations": "1", "files-scanned": "1",
		"base-sha": base, "head-sha": merged, "scope": "diff", "sarif-file": "policyscan.sarif",
	}
	for _, event := range []string{"pull_request", "merge_group"} {
		for _, depth := range []int{0, 2} {
			if !*long && (event == "pull_request") != (depth == 2) {
				continue
			}
			f := r.run(event, "merged", depth, words, install)
			r.want(f, violation, "bad.tf:1:1", "::error", "Summary - ")
		}
	}
	undecided := map[string]string{"verdict": "FAIL", "complete": "false", "exit-code": "2", "violations": "0", "sarif-file": ""}
	r.want(r.run("pull_request", "merged", 1, words, install), undecided, "fetch-depth: 2", "::error", "Summary - ")
	r.want(r.run("push", "work", 0, words, install), map[string]string{"exit-code": "1", "scope": "diff", "base-sha": base, "head-sha": head})
	r.want(r.run("push", "work", 1, words, install), undecided, "fetch-depth: 0", "git fetch origin "+base)
	r.want(r.run("push-new", "work", 0, words, install), map[string]string{"exit-code": "1", "scope": "diff", "base-sha": base, "files-scanned": "1"})
	r.want(r.run("push-new", "work", 1, words, install), map[string]string{"exit-code": "1", "scope": "full", "base-sha": "", "files-scanned": "3"}, "the branch or tag is new")
	f := r.run("push", "work", 0, words, install+"\n          annotations: false\n          summary: false")
	r.want(f, map[string]string{"exit-code": "1"}, "bad.tf:1:1")
	if strings.Contains(f.log, "::error") || strings.Contains(f.log, "Summary - ") {
		t.Errorf("annotations or a summary that were not wanted\n%s", f.log)
	}

	// A change that is clean, one that brings a bundle of no use, and one that loosens it.
	base, head, merged = r.history("good.tf", "10.0.0.0/8\n")
	words = map[string]string{"BASE_SHA": base, "HEAD_SHA": head, "MERGED_SHA": merged}
	f = r.run("pull_request", "merged", 2, words, install)
	r.want(f, map[string]string{"verdict": "PASS", "complete": "true", "exit-code": "0", "violations": "0", "sarif-file": "policyscan.sarif"}, "Summary - ")
	if strings.Contains(f.log, "::error") {
		t.Errorf("an annotation of an error next to a PASS\n%s", f.log)
	}
	base, head, merged = r.history(".policyscan/rules/boundaries.yml", "rules: [\n")
	words = map[string]string{"BASE_SHA": base, "HEAD_SHA": head, "MERGED_SHA": merged}
	r.want(r.run("pull_request", "merged", 2, words, install), undecided, "boundaries.yml", "::error", "Summary - ")

	// Inputs that are hostile to a shell stay text.
	hostile := `          install: path
          args: $(touch pwned) ` + "`touch pwned`" + `; touch pwned
          policy: "'; touch pwned; '\"; touch pwned #"`
	r.want(r.run("pull_request", "merged", 2, words, hostile), undecided, "::error")
	if found, err := filepath.Glob(r.path("*/*/*/pwned")); err != nil || len(found) > 0 {
		t.Errorf("a shell ran an input: %q, %v", found, err)
	}
}

// TestActionPolicyRepository: the rules of another repository, at a commit, and nothing of them is left in the
// checkout, which is scanned in full.
func TestActionPolicyRepository(t *testing.T) {
	needConformance(t)
	r := newRunner(t)
	r.history("bad.tf", "10.0.0.0/8 secret\n")
	if err := os.Rename(r.path("repo"), r.path("team")); err != nil {
		t.Fatal(err)
	}
	r.gitIn(".", "init", "-q", "-b", "main", "repo")
	r.commit("rules/invariants.yml", rulesOfNone)
	commit := r.commit("rules/boundaries.yml", strings.NewReplacer("NET-1", "CENTRAL-1", "0.0.0.0/0", "secret", "**/*.tf", "**").Replace(rulesOfOne))
	hash := strings.TrimSpace(must(t, r.path("repo"), filepath.Join(r.bin, "policyscan"), "pin", commit+":", "--print", "sha256"))
	for _, move := range [][2]string{{"repo", "policy"}, {"team", "repo"}} {
		if err := os.Rename(r.path(move[0]), r.path(move[1])); err != nil {
			t.Fatal(err)
		}
	}
	r.env = []string{"POLICY=" + r.path("policy")}
	const inputs = "          install: path\n          scope: full\n          policy-repository: organisation/policy\n          policy-ref: "
	r.want(r.run("push", "work", 0, nil, inputs+commit), map[string]string{"exit-code": "1", "violations": "1"}, "bad.tf:1:12", "CENTRAL-1")
	r.want(r.run("push", "work", 0, nil, inputs+commit+"\n          policy-sha256: "+hash), map[string]string{"exit-code": "1", "violations": "1"})
	r.want(r.run("push", "work", 0, nil, inputs+"main"), map[string]string{"exit-code": ""}, "must be the full hash of a commit")
}

// TestPinMoves: the manual's workflow says in a pull request that moves the pin what the new rules do.
func TestPinMoves(t *testing.T) {
	needConformance(t)
	r := newRunner(t)
	const org = "<organisation>"
	r.gitIn(".", "init", "-q", "-b", "main", "repo")
	r.commit("rules/invariants.yml", rulesOfNone)
	before := r.commit("rules/boundaries.yml", rulesOfOne)
	after := r.commit("rules/boundaries.yml", strings.ReplaceAll(rulesOfOne, "0.0.0.0/0", "::/0"))
	if err := os.Rename(r.path("repo"), r.path("policy")); err != nil {
		t.Fatal(err)
	}
	workflow := ""
	for _, text := range pageBlocks(t, "ci.md", "on:") {
		if strings.Contains(text, "gh pr comment") {
			workflow = strings.ReplaceAll(text, org, "organisation")
		}
	}
	workflow = strings.Replace(workflow, "      - uses: actions/checkout", "      - uses: actions/checkout@v0 #", 1)
	write(t, r.path("w.yml"), workflow)
	write(t, r.path("event.json"), `{"number": 7, "pull_request": {"head": {"repo": {"full_name": "example/infra"}}}}`)
	write(t, r.path("shell/gh"), "#!/bin/sh\necho \"$*\"; cat \"$7\"\n")
	if err := os.Chmod(r.path("shell/gh"), 0o777); err != nil {
		t.Fatal(err)
	}
	r.env = []string{"POLICY=" + r.path("policy"), "GITHUB_REPOSITORY=example/infra"}
	for _, pin := range []string{"policy-ref: ", "uses: organisation/policy@"} {
		if err := os.RemoveAll(r.path("repo")); err != nil {
			t.Fatal(err)
		}
		r.gitIn(".", "init", "-q", "-b", "main", "repo")
		r.commit(".github/workflows/w.yml", pin+before+" # main\n")
		r.commit(".github/workflows/w.yml", pin+after+" # main\n")
		f := r.start("pull_request", r.path("repo"), r.path("w.yml"))
		for _, text := range []string{"pr comment 7 --repo example/infra", "NET-1", "passes `main.tf`", "refuses `main.tf`", "policy-ref: " + after, "policy-sha256: "} {
			if f.Outcome != "success" || !strings.Contains(f.log, text) {
				t.Errorf("%s: a %s, and %q is not in the log\n%s", pin, f.Outcome, text, f.log)
			}
		}
	}
}

// TestRulesAsAction: the manual's action.yml makes an action of a repository of rules.
func TestRulesAsAction(t *testing.T) {
	needConformance(t)
	r := newRunner(t)
	r.history("bad.tf", "secret\n")
	action := strings.ReplaceAll(pageBlocks(t, "ci.md", "name: policy\n")[0], placeholder, "v0")
	write(t, r.path("rules-action/action.yml"), strings.ReplaceAll(action, "      with:\n", "      with:\n        install: path\n        scope: full\n"))
	write(t, r.path("rules-action/rules/boundaries.yml"), strings.NewReplacer("NET-1", "CENTRAL-1", "0.0.0.0/0", "secret").Replace(rulesOfOne))
	write(t, r.path("rules-action/rules/invariants.yml"), rulesOfNone)
	r.gitIn(".", "clone", "-q", "--branch", "work", "file://"+r.path("repo"), "checkout")
	write(t, r.path("event.json"), "{}")
	write(t, r.path("w.yml"), "on: push\njobs:\n  rules:\n    runs-on: ubuntu-latest\n    steps:\n"+
		"      - uses: actions/checkout@v0\n      - uses: organisation/policy@v0\n")
	r.more = []string{"--local-repository", "organisation/policy@v0=" + r.path("rules-action")}
	f := r.start("push", r.path("checkout"), r.path("w.yml"))
	if f.Outcome != "failure" || !strings.Contains(f.log, "bad.tf:1:1") || !strings.Contains(f.log, "CENTRAL-1") {
		t.Errorf("a %s\n%s", f.Outcome, f.log)
	}
}

// TestActionBuilds: install: build, on this repository, by its own workflow.
func TestActionBuilds(t *testing.T) {
	needConformance(t)
	if !*long {
		t.Skip("SKIPPED: the action builds Go's library and the program without a cache, which takes minutes; -long does it")
	}
	r := newRunner(t)
	r.bin = r.path("nothing")
	write(t, r.path("event.json"), "{}")
	f := r.start("schedule", root(t), filepath.Join(root(t), ".github/workflows/policyscan.yml"))
	for _, text := range []string{"Install policyscan", "policy: .github/policyscan", "PASS: no violation"} {
		if f.Outcome != "success" || !strings.Contains(f.log, text) {
			t.Errorf("a %s, and %q is not in the log\n%s", f.Outcome, text, f.log)
		}
	}
}

// TestActionReleases: install: release runs what the action has the sum of, and nothing else.
func TestActionReleases(t *testing.T) {
	needConformance(t)
	r := newRunner(t)
	base, head, merged := r.history("bad.tf", "0.0.0.0/0\n")
	words := map[string]string{"BASE_SHA": base, "HEAD_SHA": head, "MERGED_SHA": merged}
	machine := map[string]string{"amd64": "amd64", "arm64": "arm64"}[runtime.GOARCH]
	name := "policyscan_1.2.3_linux_" + machine + ".tar.gz"
	archive := archiveOf(t, filepath.Join(r.bin, "policyscan"))
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))

	served := archive
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/v1.2.3/"+name {
			http.NotFound(w, q)
			return
		}
		_, _ = w.Write(served)
	}))
	defer server.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	write(t, r.path("ca.pem"), string(certificate))
	r.env = []string{"CURL_CA_BUNDLE=" + r.path("ca.pem")}
	r.bin = r.path("nothing")

	// The action as it is, but for where it downloads from and what it has the sums of.
	const home = "https://github.com/policyscan/policyscan/releases/download/"
	script := read(t, filepath.Join(root(t), ".github/action/install.sh"))
	if strings.Count(script, home) != 1 {
		t.Fatalf("install.sh does not download from %s", home)
	}
	table := read(t, filepath.Join(root(t), ".github/action/releases.sha256"))
	r.action = r.path("action")
	write(t, r.path("action/action.yml"), read(t, filepath.Join(root(t), "action.yml")))
	write(t, r.path("action/.github/action/install.sh"), strings.Replace(script, home, server.URL+"/", 1))

	for _, c := range []struct {
		name, table, version string
		served               []byte
		says                 string // "": it runs
	}{
		{"right", table + sum + "  " + name + "\n", "1.2.3", archive, ""},
		{"with a v", table + sum + "  " + name + "\n", "v1.2.3", archive, ""},
		{"tampered", table + sum + "  " + name + "\n", "1.2.3", append(bytes.Clone(archive), 0), "it is not what was released, and was not run"},
		{"cut", table + sum + "  " + name + "\n", "1.2.3", archive[:len(archive)/2], "it is not what was released, and was not run"},
		{"without a sum", table, "1.2.3", archive, "this action has no sum of policyscan 1.2.3"},
		{"the sum of another", table + sum + "  policyscan_1.2.4_linux_" + machine + ".tar.gz\n", "1.2.3", archive, "this action has no sum of policyscan 1.2.3"},
		{"not there", table + sum + "  " + strings.Replace(name, "1.2.3", "1.2.5", 1) + "\n", "1.2.5", archive, "policyscan 1.2.5 could not be downloaded"},
		{"no version", table, "", archive, "install: release needs the input version"},
		{"a version of another kind", table, "1.2.3/../..", archive, "the input version is not a version"},
	} {
		if !*long && slices.Contains([]string{"with a v", "cut", "the sum of another", "no version"}, c.name) {
			continue
		}
		served = c.served
		write(t, r.path("action/.github/action/releases.sha256"), c.table)
		f := r.run("pull_request", "merged", 2, words, "          install: release\n          version: '"+c.version+"'")
		if c.says == "" {
			r.want(f, map[string]string{"exit-code": "1", "violations": "1"}, "bad.tf:1:1")
			continue
		}
		r.want(f, map[string]string{"exit-code": "", "verdict": "", "sarif-file": ""}, "::error title=policyscan::", c.says)
		if strings.Contains(f.log, "bad.tf:1:1") {
			t.Errorf("%s: it ran\n%s", c.name, f.log)
		}
	}
}

// archiveOf is a release's archive.
func archiveOf(t *testing.T, file string) []byte {
	t.Helper()
	text := []byte(read(t, file))
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, entry := range []struct {
		name string
		text []byte
	}{{"README.md", []byte("x\n")}, {"policyscan", text}} {
		if err := w.WriteHeader(&tar.Header{Name: entry.name, Mode: 0o755, Size: int64(len(entry.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(entry.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// failing runs a program that must end with another status than 0, and returns what it printed.
func failing(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("%s %q ended with status 0\n%s", name, args, out)
	}
	return string(out)
}
