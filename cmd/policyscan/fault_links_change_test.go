package main

import (
	"slices"
	"strings"
	"testing"
)

// TestFault_150_Retargeted: a change can have a link that it does not touch lead elsewhere. That link counts as part of
// the change; one that leads where it did does not, whatever is wrong with it.
func TestFault_150_Retargeted(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"net.tf": "-> now/main.tf", "now": "-> v1", "v1/main.tf": "x", "v2/main.txt": "x", "test/main.tf": "x", // with a link on its way
		"lib": "-> vendor", "vendor": "x", // to a file
		"old.tf": "-> payload.txt", "payload.txt": openIngress, // wrong before
		"other.tf": "x",
	}
	for _, c := range []struct {
		name    string
		exclude string
		change  map[string]string // "": removed
		want    []string
		files   int // of the change, with the links that count as part of it
	}{
		{name: "nothing about links", change: map[string]string{"other.tf": "y"}, files: 1},
		{name: "the link itself", change: map[string]string{"net.tf": "-> payload.txt"}, want: []string{"net.tf"}, files: 1},
		{name: "the link on the way", change: map[string]string{"now": "-> v2"}, files: 2},
		{name: "the link on the way, to what is excluded", exclude: "test/**", change: map[string]string{"now": "-> test"}, want: []string{"net.tf", "now"}, files: 2},
		{name: "the link on the way, out of the tree", change: map[string]string{"now": "-> /usr"}, want: []string{"net.tf", "now"}, files: 2},
		{name: "the link on the way is gone", change: map[string]string{"now": ""}, files: 1}, // to now/main.tf, whatever that will be
		{name: "it becomes a folder", change: map[string]string{"now": "", "now/main.tf": "x"}, files: 2},
		{name: "a link takes the target's place", change: map[string]string{"v1/main.tf": "-> ../payload.txt"}, want: []string{"net.tf", "v1/main.tf"}, files: 2},
		{name: "a new link at the end of a way", change: map[string]string{"payload.txt": "-> other.tf"}, files: 2},
		{name: "the same, and it is wrong", change: map[string]string{"payload.txt": "-> v2/main.txt"}, want: []string{"old.tf"}, files: 2},
		{name: "the target is gone, and all is alike", change: map[string]string{"vendor": ""}, files: 0},
		{name: "the target is gone, and a folder there would be excluded", exclude: "vendor/**", change: map[string]string{"vendor": ""}, want: []string{"lib"}, files: 1},
		{name: "the target becomes a folder that is excluded", exclude: "vendor/**", change: map[string]string{"vendor": "", "vendor/a.tf": openIngress}, want: []string{"lib"}, files: 2},
		{name: "the target becomes another file", exclude: "vendor/**", change: map[string]string{"vendor": "y"}, files: 1},
		{name: "another link comes", change: map[string]string{"more.tf": "-> other.tf"}, files: 1},
		{name: "another link goes", change: map[string]string{"lib": ""}, files: 0},
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

// TestFault_150_MergeBases: of several merge bases one at which the link led elsewhere is enough.
func TestFault_150_MergeBases(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	linkCase{files: map[string]string{"net.tf": "-> now", "now": "-> a.tf", "a.tf": "x", "b.txt": openIngress}}.put(t, g.path)
	g.commit("root")
	g.git("branch", "y")
	g.git("checkout", "-q", "-b", "x")
	g.put("x.md", "x")
	x := g.commit("x")
	g.git("checkout", "-q", "y")
	putLink(t, "b.txt", g.path("now"))
	y := g.commit("y")
	g.git("merge", "-q", "--no-edit", x)
	g.git("checkout", "-q", "x")
	g.git("merge", "-q", "--no-edit", y)
	if bases := strings.Fields(g.git("merge-base", "--all", "x", "y")); len(bases) != 2 {
		t.Fatalf("merge bases %q", bases)
	}
	g.put("z.md", "z")
	g.commit("z")
	if got := g.strays("--policy", "policy", "--diff-base", "y", "repo"); !slices.Equal(got, []string{"net.tf"}) {
		t.Errorf("%q", got)
	}
	// And a comparison with what has it so already leaves it alone.
	if got := g.strays("--policy", "policy", "--diff-base", y, "--head", "y", "repo"); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// TestFault_150_NoPath: what no system takes for a path leads nowhere. Git keeps any bytes as the target of a link.
func TestFault_150_NoPath(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{
		"empty":                      "",
		"cut at a NUL by the system": "payload.txt\x00/../other.tf",
		"too long":                   strings.Repeat("./", 2048) + "other.tf",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.put("other.tf", "x")
			g.put("payload.txt", openIngress)
			base := g.commit("base")
			blob := g.object("blob", target)
			g.git("update-index", "--add", "--cacheinfo", "120000,"+blob+",net.tf")
			g.judge("--staged", exitUndecided, "UNDECIDED E_LINK", "net.tf: it is a link to ", ", which is not a path, and rule NET-1 could check what is read under its name; link to another path in the tree")
			g.git("commit", "-q", "-m", "link")
			g.judge("--diff-base "+base, exitUndecided, "UNDECIDED E_LINK")
			g.judge("--diff-base "+base+" --allow symlink=*.tf", exitPass, "PASS", "net.tf: not scanned: symlink")
			// A link to it is no better.
			blob = g.object("blob", "net.tf")
			g.git("update-index", "--add", "--cacheinfo", "120000,"+blob+",more.tf")
			g.judge("--staged", exitUndecided, "UNDECIDED E_LINK", "more.tf")
		})
	}
}

// TestFault_150_Tracked: where the disk and the index differ about what is a link, the disk counts.
func TestFault_150_Tracked(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.program.write("policy/rules/boundaries.yml", strings.Replace(oneRule, `"**/*.tf"`, `"**/*.tf", "modules/**"`, 1))
	g.put("net.tf", "x")
	g.put("modules", "x")
	g.put("payload.txt", openIngress)
	putLink(t, "payload.txt", g.path("was.tf"))
	g.commit("files")
	putLink(t, "payload.txt", g.path("net.tf"))
	putLink(t, "other", g.path("modules"))
	putLink(t, "other.tf", g.path("was.tf"))
	if got := g.strays("--policy", "policy", "--tracked", "repo"); !slices.Equal(got, []string{"modules", "net.tf"}) {
		t.Errorf("%q", got)
	}
}

// TestAllowSymlink: what --allow takes.
func TestAllowSymlink(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	for allow, text := range map[string]string{
		"symlink=":        `--allow symlink="": an empty glob`,
		"symlink=/a":      `a leading "/"`,
		"symlink=a/**.tf": `"**" is only special as a whole path segment`,
		"symlink,":        `--allow is ""; choose one of submodule,`,
		"symlinks":        "choose one of",
		"submodule=a":     "choose one of",
	} {
		e := p.run("--policy", "policy", "--allow", allow, "good").want(t, exitUndecided)
		if !strings.Contains(e.out+e.err, text) {
			t.Errorf("--allow %s: %q is not in\n%s%s", allow, text, e.out, e.err)
		}
	}
	p.env = []string{"POLICYSCAN_ALLOW=empty,symlink=a,b"}
	p.run("--policy", "policy", "good").want(t, exitPass)
	if got := p.verdict().Allowed; !slices.Equal(got, []string{"empty", "symlink=a,b"}) {
		t.Errorf("allowed %q", got)
	}
}
