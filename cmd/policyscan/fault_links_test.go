package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A linkCase is a tree with symlinks, some with targets that other rules check.
type linkCase struct {
	exclude string            // of the rule; "": none
	files   map[string]string // "-> TARGET" is a symlink
}

const openIngress = "cidr = \"0.0.0.0/0\"\n"

// put writes the files and symlinks of a case.
func (c linkCase) put(t testing.TB, path func(string) string) {
	t.Helper()
	for name, text := range c.files {
		target, link := strings.CutPrefix(text, "-> ")
		if !link {
			writeFile(t, path(name), text)
			continue
		}
		putLink(t, target, path(name))
	}
}

func putLink(t testing.TB, target, file string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the target of a link cannot be read safely here")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, file); err != nil {
		t.Fatal(err)
	}
}

func (c linkCase) rule() string {
	rule := oneRule
	if c.exclude != "" {
		rule = strings.Replace(rule, "], forbidden", `], exclude: ["`+c.exclude+`"], forbidden`, 1)
	}
	return rule
}

// strays runs the program, and returns the E_LINK symlinks; another error fails the test.
func (g *gitRepo) strays(args ...string) []string {
	g.t.Helper()
	if err := os.RemoveAll(filepath.Join(g.dir, "verdict.json")); err != nil {
		g.t.Fatal(err)
	}
	e := g.run(args...)
	v := g.verdict()
	if e.status != exitStatus(&v.Verdict) {
		g.t.Errorf("%q: status %d, and the verdict is %s", args, e.status, v.Verdict.Verdict)
	}
	strays := []string{}
	for _, o := range v.Errors {
		if strings.Contains(o.Message, "perhaps back") &&
			(slices.Contains(args, "--staged") || slices.Contains(args, "--diff-base")) {
			g.t.Errorf("%q: %s", args, o.Message) // of the disk, which a commit does not depend on
		}
		if o.Code != code.Link || !strings.Contains(o.Message, "NET-1") ||
			!strings.Contains(o.Message, "--allow symlink=") {
			g.t.Errorf("%q: %+v", args, o)
		}
		strays = append(strays, o.File)
		if !slices.Contains(v.Coverage.NotScanned, verdict.Omission{File: o.File, Reason: "symlink"}) {
			g.t.Errorf("%q: %s is not in not_scanned: %+v", args, o.File, v.Coverage.NotScanned)
		}
	}
	return strays
}

// TestFault_150_Retargeted: a change can retarget a symlink that it does not touch. That symlink counts as part of the
// change; one with an unchanged target does not, even if it is an error.
func TestFault_150_Retargeted(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		// via a symlink
		"net.tf": "-> now/main.tf", "now": "-> v1", "v1/main.tf": "x", "v2/main.txt": "x", "test/main.tf": "x",
		"lib": "-> vendor", "vendor": "x", // to a file
		"old.tf": "-> payload.txt", "payload.txt": openIngress, // wrong before
		"other.tf": "x",
	}
	for _, c := range []struct {
		name    string
		exclude string
		change  map[string]string // "": removed
		want    []string
		files   int // in the change, with the symlinks that count as part of it
	}{
		{name: "the link itself", change: map[string]string{"net.tf": "-> payload.txt"}, want: []string{"net.tf"},
			files: 1},
		{name: "the link on the way", change: map[string]string{"now": "-> v2"}, files: 2},
		{name: "the link on the way, to what is excluded", exclude: "test/**",
			change: map[string]string{"now": "-> test"}, want: []string{"net.tf", "now"}, files: 2},
		// to now/main.tf, whatever that will be
		{name: "the link on the way is gone", change: map[string]string{"now": ""}, files: 1},
		{name: "a link takes the target's place", change: map[string]string{"v1/main.tf": "-> ../payload.txt"},
			want: []string{"net.tf", "v1/main.tf"}, files: 2},
		{name: "a new link at the end of a way", change: map[string]string{"payload.txt": "-> other.tf"}, files: 2},
		{name: "the target is gone, and a directory there would be excluded", exclude: "vendor/**",
			change: map[string]string{"vendor": ""}, want: []string{"lib"}, files: 1},
		{name: "the target becomes a directory that is excluded", exclude: "vendor/**",
			change: map[string]string{"vendor": "", "vendor/a.tf": openIngress}, want: []string{"lib"}, files: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.program.write("policy/rules/boundaries.yml", linkCase{exclude: c.exclude}.rule())
			linkCase{files: base}.put(t, g.path)
			before := g.commit("base")
			for name, text := range c.change {
				g.git("rm", "-q", "-r", "--ignore-unmatch", name)
				if text == "" {
					delete(c.change, name)
				}
			}
			linkCase{files: c.change}.put(t, g.path)
			g.git("add", "-A")
			for _, scope := range []string{"--staged", "--diff-base"} {
				args := []string{"--policy", "policy", scope}
				if scope == "--diff-base" {
					g.git("commit", "-q", "-m", "change")
					args = append(args, before)
				}
				if got := g.strays(append(args, "repo")...); !slices.Equal(got, append([]string{}, c.want...)) {
					t.Errorf("%s: E_LINK for %q, want %q", scope, got, c.want)
				}
				if n := g.verdict().Coverage.Files; n != c.files {
					t.Errorf("%s: %d files, want %d", scope, n, c.files)
				}
			}
		})
	}
}
