package runners

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitlabCI reads a .gitlab-ci.yml as GitLab does, checks it against GitLab's own JSON Schema,
// and runs its jobs in a shell. This is the last version whose packages need no compiler.
const gitlabCI = "gitlab-ci-local@4.53.0"

// TestGitLabExample: the manual's job for GitLab is one, and does what the page says.
func TestGitLabExample(t *testing.T) {
	needConformance(t)
	tool := filepath.Join(npmPrograms(t, gitlabCI), "gitlab-ci-local")
	bin := filepath.Dir(built(t))
	job := pageBlocks(t, "gitlab.md", "policyscan:")[0]

	r := &runner{t: t, dir: t.TempDir()}
	run := func(source, base string) (string, int) {
		t.Helper()
		// The repository is its own remote: the job's git fetch finds main there.
		const url = "git@gitlab.example.com:example/infra.git"
		r.git("remote", "add", "origin", url)
		write(t, r.path("home/.gitconfig"), "[url \"file://"+r.path("repo")+"\"]\n\tinsteadOf = "+url+"\n")
		target := map[bool]string{true: "main"}[source == "merge_request_event"]
		write(t, r.path("repo/.gitlab-ci.yml"), job)
		cmd := exec.Command(tool, "--json-schema-validation", "--variable", "GITLAB_CI=true",
			"--variable", "CI_PIPELINE_SOURCE="+source, "--variable", "CI_COMMIT_SHA="+r.git("rev-parse", "HEAD"),
			"--variable", "CI_MERGE_REQUEST_DIFF_BASE_SHA="+map[bool]string{true: base}[source == "merge_request_event"],
			"--variable", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME="+target, "--variable", "CI_DEFAULT_BRANCH=main",
			"--variable", "CI_COMMIT_BEFORE_SHA="+base, "policyscan")
		cmd.Dir = r.path("repo")
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+r.path("home"), "GITHUB_ACTIONS=", "NO_COLOR=1")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, c := range []struct {
		source, name, content string
		status                int
		says                  string
	}{
		{"merge_request_event", "bad.tf", "0.0.0.0/0\n", 1, "FAIL: 1 violation"},
		{"merge_request_event", "good.tf", "10.0.0.0/8\n", 0, "PASS: no violation"},
		{"push", "bad.tf", "0.0.0.0/0\n", 1, "FAIL: 1 violation"},
	} {
		base, _, _ := r.history(c.name, c.content)
		if c.source == "push" { // to the default branch
			r.git("merge", "-q", "--ff-only", "work")
		} else {
			r.git("checkout", "-q", "work")
		}
		out, status := run(c.source, base)
		if (status == 0) != (c.status == 0) || !strings.Contains(out, c.says) || !strings.Contains(out, "json schema validated") {
			t.Errorf("%s of %s: status %d\n%s", c.source, c.name, status, out)
		}
	}
	// The schema is checked against it.
	r.history("good.tf", "10.0.0.0/8\n")
	job = strings.Replace(job, "stage: test", "stage: test\n  allow_failure: perhaps", 1)
	if out, status := run("push", "HEAD~1"); status == 0 || strings.Contains(out, "PASS") {
		t.Errorf("what is no job is taken: %s", out)
	}
}
