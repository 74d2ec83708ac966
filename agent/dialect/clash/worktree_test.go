package clash

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/callrules"
)

// worktree makes a repository with a linked worktree, as git does, and returns both directories.
func worktree(t *testing.T, pointers func(repo, tree string) map[string]string) (repo, tree string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, tree = filepath.Join(dir, "repo"), filepath.Join(dir, "tree")
	own := filepath.Join(repo, ".git", "worktrees", "tree")
	files := map[string]string{
		filepath.Join(tree, ".git"):     "gitdir: " + own + "\n",
		filepath.Join(tree, "src", "x"): "",
		filepath.Join(own, "commondir"): "../..\n",
		filepath.Join(own, "gitdir"):    filepath.Join(tree, ".git") + "\n",
	}
	if pointers != nil {
		for name, text := range pointers(repo, tree) {
			files[name] = text
		}
	}
	for name, text := range files {
		if text == "-" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return repo, tree
}

func effect(t *testing.T, set *callrules.Set, tool string, path ...string) callrules.Effect {
	t.Helper()
	return ask(t, set, tool+" "+filepath.ToSlash(filepath.Join(path...))).Effect
}

// "Clash detects this by reading the .git file's gitdir: pointer and the commondir file, then grants access to both
// the worktree-specific git directory and the shared common directory."
func TestWorktree(t *testing.T) {
	repo, tree := worktree(t, nil)
	relative, treeOfRelative := worktree(t, func(repo, tree string) map[string]string {
		own := filepath.Join(repo, ".git", "worktrees", "tree")
		return map[string]string{
			filepath.Join(tree, ".git"):  "gitdir: ../repo/.git/worktrees/tree\n",
			filepath.Join(own, "gitdir"): "../../../../tree/.git\n",
		}
	})
	for _, at := range [][2]string{{repo, tree}, {repo, filepath.Join(tree, "src")}, {relative, treeOfRelative}} {
		define := map[string]string{"PWD": at[1]}
		git := filepath.Join(at[0], ".git")
		set := func(rules string) *callrules.Set {
			set, err := readOne("p", of(rules), define)
			if err != nil {
				t.Fatal(err)
			}
			return set
		}
		// The rule for an allow, a deny and the negations.
		allow := set(`(allow (fs (or read write) (subpath :worktree (env PWD))))`)
		deny := set(`(allow (fs)) (deny (fs write (subpath :worktree (env PWD))))`)
		outside := set(`(deny (fs write (not (subpath :worktree (env PWD))))) (allow (fs))`)
		for _, path := range []string{filepath.Join(at[1], "a"), git, filepath.Join(git, "config"),
			filepath.Join(git, "worktrees", "tree", "HEAD")} {
			if got := []callrules.Effect{effect(t, allow, "Write", path), effect(t, deny, "Write", path),
				effect(t, outside, "Write", path)}; !slices.Equal(got, []callrules.Effect{"allow", "deny", "allow"}) {
				t.Errorf("%s: %s", path, got)
			}
		}
		if got := effect(t, allow, "Write", at[0], "x"); got != "deny" {
			t.Errorf("%s: %s", at[0], got)
		}
		// The built-in policy: only reads, after the rules of the file, and with a name.
		plain, asks := set(`(allow (net))`), set(`(ask (fs))`)
		if got := []callrules.Effect{effect(t, plain, "Read", git, "HEAD"), effect(t, plain, "Write", git, "HEAD"),
			effect(t, plain, "Read", at[1], "x"), effect(t, asks, "Read", git, "HEAD")}; !slices.Equal(got,
			[]callrules.Effect{"allow", "deny", "deny", "ask"}) {
			t.Errorf("%s", got)
		}
		replaced, err := readOne("p", `(policy "__worktree__") (policy "main" (allow (net)))`, define)
		if err != nil || effect(t, replaced, "Read", git, "HEAD") != "deny" {
			t.Errorf("%v: __worktree__ is not replaced", err)
		}
	}
}

// Where the pointers disagree or cannot be read, an allow is a plain subpath and a deny does not load. A repository
// itself, a submodule and no repository are no worktrees.
func TestWorktreePointers(t *testing.T) {
	own := func(repo string) string { return filepath.Join(repo, ".git", "worktrees", "tree") }
	for name, c := range map[string]struct {
		pointers func(repo, tree string) map[string]string
		link     func(repo, tree string) (link, target string)
		want     string // part of the error, "" for none
	}{
		"no pointer": {pointers: func(_, tree string) map[string]string {
			return map[string]string{filepath.Join(tree, ".git"): "nothing\n"}
		}, want: "names no git directory"},
		"empty": {pointers: func(_, tree string) map[string]string {
			return map[string]string{filepath.Join(tree, ".git"): "\n"}
		}, want: "not one line with a path"},
		"too long": {pointers: func(_, tree string) map[string]string {
			return map[string]string{filepath.Join(tree, ".git"): "gitdir: /" + strings.Repeat("x", maxPointer)}
		}, want: "not one line with a path"},
		"two lines": {pointers: func(repo, tree string) map[string]string {
			return map[string]string{filepath.Join(tree, ".git"): "x\ngitdir: " + own(repo) + "\n"}
		}, want: "not one line with a path"},
		"nowhere": {pointers: func(_, tree string) map[string]string {
			return map[string]string{filepath.Join(tree, ".git"): "gitdir: /no/such/directory\n"}
		}, want: "is missing, or is reached over a symlink"},
		"another's": {pointers: func(repo, tree string) map[string]string {
			return map[string]string{
				filepath.Join(own(repo), "gitdir"):   filepath.Join(tree, "other", ".git") + "\n",
				filepath.Join(tree, "other", ".git"): "gitdir: " + own(repo) + "\n",
			}
		}, want: "is the git directory of another worktree"},
		"forged in the tree": {pointers: func(repo, tree string) map[string]string {
			forged := filepath.Join(tree, "x", "worktrees", "y")
			return map[string]string{
				filepath.Join(tree, ".git"):        "gitdir: " + forged + "\n",
				filepath.Join(forged, "gitdir"):    filepath.Join(tree, ".git") + "\n",
				filepath.Join(forged, "commondir"): filepath.Join(repo, ".git") + "\n",
			}
		}, want: "is not in the directory worktrees"},
		"no back pointer": {pointers: func(repo, _ string) map[string]string {
			return map[string]string{filepath.Join(own(repo), "gitdir"): "-"}
		}, want: "gitdir"},
		"linked": {link: func(_, tree string) (string, string) {
			return filepath.Join(tree, ".git"), filepath.Join(tree, "pointer")
		}, want: "is a symbolic link"},
		"common linked": {link: func(repo, _ string) (string, string) {
			return filepath.Join(own(repo), "commondir"), filepath.Join(repo, "pointer")
		}, want: "is a symbolic link"},
		"over a link": {pointers: func(_, tree string) map[string]string {
			return map[string]string{filepath.Join(tree, ".git"): "gitdir: ../moved/.git/worktrees/tree\n"}
		}, link: func(repo, _ string) (string, string) {
			return filepath.Join(filepath.Dir(repo), "moved"), repo
		}, want: "is missing, or is reached over a symlink"},
		"a submodule": {pointers: func(repo, _ string) map[string]string {
			return map[string]string{filepath.Join(own(repo), "commondir"): "-"}
		}},
		"a repository": {pointers: func(_, tree string) map[string]string {
			return map[string]string{filepath.Join(tree, ".git"): "-", filepath.Join(tree, ".git", "HEAD"): ""}
		}},
		"none": {pointers: func(_, tree string) map[string]string {
			return map[string]string{filepath.Join(tree, ".git"): "-"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			repo, tree := worktree(t, c.pointers)
			if c.link != nil {
				link, target := c.link(repo, tree)
				if err := os.Rename(link, target); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				if err := os.Symlink(target, link); err != nil {
					t.Skip(err)
				}
			}
			define := map[string]string{"PWD": tree}
			set, err := readOne("p", of(`(allow (fs read (subpath :worktree (env PWD))))
(deny (fs write (not (subpath :worktree (env PWD)))))`), define)
			if err != nil {
				t.Fatal(err)
			}
			notes := slices.DeleteFunc(set.Notes, usual)
			if len(notes) > 0 != (c.want != "") || c.want != "" && (len(notes) != 2 ||
				!strings.Contains(notes[0].Text, c.want)) {
				t.Errorf("the notes %v; want %q", notes, c.want)
			}
			for _, path := range []string{filepath.Join(repo, ".git", "config"), filepath.Join(own(repo), "HEAD")} {
				if got := effect(t, set, "Read", path); got != "deny" {
					t.Errorf("Read %s: %s", path, got)
				}
			}
			if got := effect(t, set, "Read", tree, "a"); got != "allow" {
				t.Errorf("Read a: %s", got)
			}
			for _, rule := range []string{`(deny (fs (subpath :worktree (env PWD))))`,
				`(ask (fs (or "/a" (subpath :worktree (env PWD)))))`, `(allow (fs (not (subpath :worktree (env PWD)))))`} {
				_, err := readOne("p", of(rule), define)
				if (err != nil) != (c.want != "") || err != nil && !strings.Contains(fmt.Sprint(err), c.want) {
					t.Errorf("%s: %v; want %q", rule, err, c.want)
				}
			}
		})
	}
}
