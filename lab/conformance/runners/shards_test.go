package runners

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/conformance/install"
)

// A sharded is a repository with violations, and the verdict of one process over it.
type sharded struct {
	*runner
	single string // the verdict
}

// newSharded makes the repository, and scans it.
func newSharded(t *testing.T) *sharded {
	t.Helper()
	s := &sharded{runner: &runner{t: t, dir: t.TempDir(), bin: filepath.Dir(install.Program())}}
	s.history("bad.tf", bad)
	for i := range 40 {
		write(t, s.path(fmt.Sprintf("repo/modules/m%02d/main.tf", i)), []string{good, bad}[i%8/7])
	}
	s.commit("more.tf", good)
	cmd := exec.Command(filepath.Join(s.bin, "policyscan"), "scan", "--tracked", "--output", s.path("single.json"))
	cmd.Dir = s.path("repo")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	s.single = read(t, s.path("single.json"))
	return s
}

// same checks that what was merged is what one process wrote, and that the engine saw that the merge ended with 1.
func (s *sharded) same(failed bool, log string) {
	s.t.Helper()
	merged, err := os.ReadFile(s.path("shards/verdict.json"))
	if err != nil {
		s.t.Fatalf("%v\n%s", err, log)
	}
	if string(merged) != s.single {
		s.t.Errorf("merged:\n%s\nof one process:\n%s", merged, s.single)
	}
	if !failed || !strings.Contains(log, "FAIL: 5 places") {
		s.t.Errorf("the engine does not see that the merge failed: %v\n%s", failed, log)
	}
}

// TestMatrix: shards of a tree in a matrix of GitHub's, and the merge in a job that needs it.
func TestMatrix(t *testing.T) {
	needConformance(t)
	s := newSharded(t)
	s.act = install.Go(t, act)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: bash is not installed")
	}
	write(t, s.path("shell/bash"), fmt.Sprintf(patientBash, bash))
	if err := os.Chmod(s.path("shell/bash"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, s.path("event.json"), "{}")
	write(t, s.path("w.yml"), `on: [push]
jobs:
  scan:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        shard: [0, 1, 2, 3]
    steps:
      - run: cd "$REPO" && policyscan scan --tracked --shard "$SHARD/4" --defer --output "$SHARDS/$SHARD.json"
        env:
          SHARD: ${{ matrix.shard }}
  merge:
    needs: scan
    if: always()
    runs-on: ubuntu-latest
    steps:
      - run: cd "$REPO" && policyscan merge --output "$SHARDS/verdict.json" "$SHARDS"/[0-9].json
`)
	makeDir(t, s.path("shards"))
	cmd := exec.Command(s.act, "push", "--workflows", s.path("w.yml"), "--eventpath", s.path("event.json"),
		"--platform", "ubuntu-latest=-self-hosted", "--container-daemon-socket", "-", "--pull=false", "--no-cache-server",
		"--env", "NO_COLOR=1", "--env", "REPO="+s.path("repo"), "--env", "SHARDS="+s.path("shards"))
	cmd.Dir = s.path("repo")
	cmd.Env = []string{"PATH=" + s.path("shell") + ":" + s.bin + ":" + os.Getenv("PATH"), "HOME=" + s.path("home"), "XDG_CACHE_HOME=" + s.path("home")}
	s.same(run(t, cmd))
}

// TestParallel: shards of a tree in GitLab's parallel, which counts from 1.
func TestParallel(t *testing.T) {
	needConformance(t)
	s := newSharded(t)
	tool := filepath.Join(install.NPM(t, gitlabCI), ".bin/gitlab-ci-local")
	write(t, s.path("repo/.gitlab-ci.yml"), `stages: [scan, merge]
scan:
  stage: scan
  parallel: 4
  script:
    - policyscan scan --tracked --shard auto --defer --output "$SHARDS/$CI_NODE_INDEX.json"
merge:
  stage: merge
  when: always
  script:
    - policyscan merge --output "$SHARDS/verdict.json" "$SHARDS"/[0-9].json
`)
	makeDir(t, s.path("shards"))
	s.git("remote", "add", "origin", "git@gitlab.example.com:example/infra.git")
	cmd := exec.Command(tool, "--variable", "SHARDS="+s.path("shards"))
	cmd.Dir = s.path("repo")
	cmd.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+s.path("home"), "GITHUB_ACTIONS=", "NO_COLOR=1")
	s.same(run(t, cmd))
}

// TestSlurm: shards of a tree in a job array of Slurm's, of one node, and the merge in a job that runs after it. Slurm
// is installed in an overlay of the machine's files, in namespaces.
func TestSlurm(t *testing.T) {
	needConformance(t)
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: Slurm is installed by root")
	}
	s := newSharded(t)
	makeDir(t, s.path("shards"))
	makeDir(t, s.path("slurm"))
	write(t, s.path("scan.sh"), "#!/bin/sh\ncd "+s.path("repo")+"\nexec policyscan scan --tracked --shard auto --defer --output "+
		s.path("shards")+"/$SLURM_ARRAY_TASK_ID.json\n")
	write(t, s.path("merge.sh"), "#!/bin/sh\ncd "+s.path("repo")+"\nexec policyscan merge --output "+s.path("shards/verdict.json")+
		" "+s.path("shards")+"/[0-9].json\n")
	write(t, s.path("jobs.sh"), `set -eu
job=$(sbatch --parsable --array=0-3 --output=scan-%a.log scan.sh)
sbatch --wait --dependency=afterany:$job --output=merge.log merge.sh || status=$?
cat ./*.log
exit ${status-0}
`)
	cmd := exec.Command("bash", "testdata/slurm.sh", s.path("slurm"), s.dir, "sh", "jobs.sh")
	cmd.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	s.same(run(t, cmd))
}

func makeDir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
}

// run runs a program and reports whether it failed, and what it printed.
func run(t *testing.T, cmd *exec.Cmd) (bool, string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return err != nil, string(out)
}

// gitlabCI reads a .gitlab-ci.yml as GitLab does, checks it against GitLab's own JSON Schema,
// and runs its jobs in a shell. This is the last version whose packages need no compiler.
const gitlabCI = "gitlab-ci-local@4.53.0"

// TestGitLabExample: the manual's job for GitLab is one, and does what the page says.
func TestGitLabExample(t *testing.T) {
	needConformance(t)
	tool := filepath.Join(install.NPM(t, gitlabCI), ".bin/gitlab-ci-local")
	bin := filepath.Dir(install.Program())
	job := pageBlocks(t, "ci.md", "policyscan:")[0]

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
		{"merge_request_event", "bad.tf", "0.0.0.0/0\n", 1, "FAIL: 1 place"},
		{"merge_request_event", "good.tf", "10.0.0.0/8\n", 0, "PASS: no violation"},
		{"push", "bad.tf", "0.0.0.0/0\n", 1, "FAIL: 1 place"},
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
