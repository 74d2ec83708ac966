package repo

import (
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestUnknownNames: what to do about a name that the clone does not have, for each spelling.
func TestUnknownNames(t *testing.T) {
	g := newGit(t)
	g.commit("c")
	hash := strings.Repeat("12", 20)
	fetch := func(command string) string {
		return "run " + command + " (actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0)"
	}
	branch := func(name, stored string) string {
		return fetch("git fetch "+name+", or for a tag git fetch "+strings.Replace(name, " ", " tag ", 1)) +
			" and name the branch " + stored
	}
	try := func(r *Repository, rows map[string]string) {
		t.Helper()
		for name, want := range rows {
			_, err := r.Commit(name)
			if !errors.Is(err, ErrUnknown) || !strings.HasSuffix(err.Error(), "; "+want) {
				t.Errorf("%s: %v\nwant …; %s", name, err, want)
			}
		}
	}

	g.git("remote", "add", "upstream", "file:///nowhere")
	try(g.open(), map[string]string{ // the only remote, whatever its name
		"main2":         branch("upstream main2", "upstream/main2"),
		"upstream/main": fetch("git fetch upstream main"),
	})
	g.git("remote", "add", "origin", "file:///nowhere")
	g.git("remote", "add", "team/fork", "file:///nowhere")
	try(g.open(), map[string]string{
		"origin/main~3":            fetch("git fetch origin main"),
		"remotes/origin/main":      fetch("git fetch origin main"),
		"refs/remotes/origin/main": fetch("git fetch origin main"),
		"origin/team/x":            fetch("git fetch origin team/x"),
		"team/fork/main":           fetch("git fetch team/fork main"),
		"team/main":                branch("origin team/main", "origin/team/main"),
		"heads/next":               fetch("git fetch origin next") + " and name the branch origin/next",
		"refs/tags/v1.0":           fetch("git fetch origin tag v1.0"),
		"refs/pull/7/head":         fetch("git fetch origin +refs/pull/7/head:refs/pull/7/head"),
		hash + "~1":                fetch("git fetch origin " + hash),
		"origin/it's;$HOME":        fetch(`git fetch origin 'it'\''s;$HOME'`),
	})

	if got := g.open().Remotes(); !slices.Equal(got, []string{"origin", "team/fork", "upstream"}) {
		t.Errorf("the remotes are %q", got)
	}
	// Of a branch that only the remote has the name says where it is.
	g.git("update-ref", "refs/remotes/upstream/next", "HEAD")
	try(g.open(), map[string]string{
		"next": "name the branch of the remote, upstream/next",
	})

	// A clone of one branch stores no other unless it is told to.
	g.git("config", "remote.origin.fetch", "+refs/heads/work:refs/remotes/origin/work")
	try(g.open(), map[string]string{
		"origin/main": fetch("git fetch origin +refs/heads/main:refs/remotes/origin/main"),
		"origin/work": fetch("git fetch origin work"),
	})
	g.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
	g.git("config", "--add", "remote.origin.fetch", "^refs/heads/ma*")
	try(g.open(), map[string]string{
		"origin/main": fetch("git fetch origin +refs/heads/main:refs/remotes/origin/main"),
		"origin/work": fetch("git fetch origin +refs/heads/work:refs/remotes/origin/work"),
	})
}

// TestUnknownNamesFetched: the command in the message, run as it is, fetches what was named.
func TestUnknownNamesFetched(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	up := newGit(t)
	up.commit("one")
	up.git("branch", "it's$HOME")
	up.git("tag", "v1")
	up.git("update-ref", "refs/pull/7/head", "HEAD")
	up.git("config", "uploadpack.allowAnySHA1InWant", "true")
	up.git("checkout", "-q", "-b", "work")
	up.commit("two")
	gone := up.commit("three")
	up.git("reset", "-q", "--hard", "HEAD~1")

	command := regexp.MustCompile(`run (git fetch [^,(]*?)(?:,| \()`)
	named := regexp.MustCompile(`name the branch (\S+)$`)
	for _, flags := range [][]string{
		{"--single-branch", "--branch=work", "--no-tags"},
		{"--depth=1", "--branch=work"},
		{"--origin=up/stream", "--single-branch", "--branch=work", "--no-tags"},
	} {
		remote := "origin"
		if strings.Contains(flags[0], "up/stream") {
			remote = "up/stream"
		}
		g := &gitRepo{TB: t, dir: t.TempDir(), clock: up.clock}
		g.git(append(append([]string{"clone", "-q"}, flags...), "file://"+up.dir, ".")...)
		for _, name := range []string{
			remote + "/main", "refs/remotes/" + remote + "/it's$HOME", "main", "refs/heads/main", "tags/v1",
			"refs/pull/7/head", gone,
		} {
			_, err := g.open().Commit(name)
			if err == nil && (name == "main" || name == "refs/heads/main") {
				t.Fatalf("%s is here", name)
			}
			if err == nil {
				continue // an earlier command brought it
			}
			m := command.FindStringSubmatch(err.Error())
			if m == nil {
				if !strings.Contains(err.Error(), "name the branch of the remote, "+remote+"/main") {
					t.Errorf("%q: %s: no command in %v", flags, name, err)
				}
				continue
			}
			cmd := exec.Command("sh", "-c", m[1])
			cmd.Dir = g.dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%q: %s: %q: %v\n%s", flags, name, m[1], err, out)
			}
			then := name
			if m := named.FindStringSubmatch(err.Error()); m != nil {
				then = m[1]
			}
			if _, err := g.open().Commit(then); err != nil {
				t.Errorf("%q: after %q: %v", flags, m[1], err)
			}
		}
	}
}
