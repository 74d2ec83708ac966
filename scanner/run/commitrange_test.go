package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/scanner/repo"
)

// TestRemoteURL: a project has one URL, with credentials and as in FETCH_HEAD.
func TestRemoteURL(t *testing.T) {
	for url, want := range map[string]string{
		"https://gitlab.example/group/project":                     "https://gitlab.example/group/project",
		"https://gitlab.example/group/project.git":                 "https://gitlab.example/group/project",
		"https://gitlab.example/group/project/":                    "https://gitlab.example/group/project",
		"https://gitlab-ci-token:x@gitlab.example:8443/a/b@c.git/": "https://gitlab.example:8443/a/b@c",
		"file:///srv/git/x.git":                                    "file:///srv/git/x",
		"git@gitlab.example:group/project.git":                     "git@gitlab.example:group/project",
		"/srv/git/x":                                               "/srv/git/x",
	} {
		if got := remoteURL(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// TestChoose: the environment of a run and its values; these need no repository.
func TestChoose(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", "--object-format=sha1", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := repo.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	event := filepath.Join(dir, "event.json")
	const push = `{"before": "b", "after": "a", "pull_request": {"base": {"sha": "p"}, "head": {"sha": "h"}}}`
	if err := os.WriteFile(event, []byte(push), 0o666); err != nil {
		t.Fatal(err)
	}
	github := "GITHUB_ACTIONS=true GITHUB_EVENT_PATH=" + event + " "
	zeros := strings.Repeat("0", 40)
	for _, c := range []struct{ env, strategy, base, head, err string }{
		{env: "", err: "unknown CI environment; name the target branch: fetch it in this job and name the remote " +
			"branch: git fetch origin +refs/heads/main:refs/remotes/origin/main, then --diff-base origin/main"},
		{env: "PRE_COMMIT=1", err: "unknown CI environment"}, // see the story precommit
		{env: github + "GITHUB_EVENT_NAME=push", strategy: "github-push", base: "b", head: "HEAD"},
		{env: github + "GITHUB_EVENT_NAME=pull_request", strategy: "github-pull-request", base: "p", head: "HEAD"},
		{env: github + "GITHUB_EVENT_NAME=schedule", err: "has no base"},
		{env: "GITHUB_ACTIONS=true GITHUB_EVENT_PATH=/nonexistent", err: "cannot be read"},
		{env: "GITHUB_ACTIONS=true GITHUB_EVENT_PATH=/dev/zero", err: "cannot be read: it has more than"},
		{env: "GITLAB_CI=true CI_PIPELINE_SOURCE=push CI_COMMIT_BEFORE_SHA=b", strategy: "gitlab-push", base: "b",
			head: "HEAD"},
		{env: "GITLAB_CI=true CI_PIPELINE_SOURCE=push CI_COMMIT_BEFORE_SHA=" + zeros, strategy: "gitlab-push",
			head: "HEAD"},
		{env: "GITLAB_CI=true CI_PIPELINE_SOURCE=push CI_DEFAULT_BRANCH=a..b", strategy: "gitlab-push", head: "HEAD"},
		{env: "GITLAB_CI=true CI_PIPELINE_SOURCE=schedule", err: "has no base"},
		{env: "GITLAB_CI=true CI_PIPELINE_SOURCE=merge_request_event", err: "TARGET_BRANCH_NAME is empty"},
		{env: "GITLAB_CI=true CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main",
			err: "git fetch origin +refs/heads/main:refs/remotes/origin/main"},
		{env: "GITLAB_CI=true CI_MERGE_REQUEST_TARGET_BRANCH_NAME=it's",
			err: `git fetch origin '+refs/heads/it'\''s:refs/remotes/origin/it'\''s'`},
		{env: "GITLAB_CI=true CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main CI_PROJECT_PATH=a/b " +
			"CI_MERGE_REQUEST_PROJECT_PATH=c/d CI_MERGE_REQUEST_PROJECT_URL=u", err: "git fetch u +refs"},
		{env: "GITLAB_CI=true CI_MERGE_REQUEST_TARGET_BRANCH_SHA=" + strings.Repeat("12", 20),
			err: "git fetch origin " + strings.Repeat("12", 20)},
		{env: "PRE_COMMIT_FROM_REF=f", err: "only one of"},
		{env: github + "PRE_COMMIT_FROM_REF=f PRE_COMMIT_TO_REF=t", strategy: "pre-commit", base: "f", head: "t"},
		{env: "PRE_COMMIT_LOCAL_BRANCH=refs/heads/x", strategy: "pre-commit", head: "refs/heads/x"},
		{env: "PULL_BASE_SHA=b PULL_PULL_SHA=p", strategy: "prow", base: "b", head: "HEAD"},
		{env: "PULL_BASE_SHA=b", err: "has no pull request"},
	} {
		vars := map[string]string{}
		for word := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(word, "=")
			vars[name] = value
		}
		got, err := chooseCommits(r, func(name string) string { return vars[name] }, auto, "")
		switch {
		case (err != nil) != (c.err != ""), err != nil && !strings.Contains(err.Error(), c.err):
			t.Errorf("%s: %v, want %q", c.env, err, c.err)
		case err == nil && (got.strategy != c.strategy || got.base != c.base || got.head != c.head):
			t.Errorf("%s: %+v", c.env, got)
		}
	}
}
