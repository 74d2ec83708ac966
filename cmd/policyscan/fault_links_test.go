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
	name    string
	glob    string            // of the rule's files; "": "**/*.tf"
	exclude string            // of the rule; "": none
	files   map[string]string // "-> TARGET" is a symlink
	stray   []string          // the symlinks that are E_LINK in each scope
	inGit   []string          // and the rules that apply only if the tree is a commit or the index
}

const openIngress = "cidr = \"0.0.0.0/0\"\n"

func linkCases() []linkCase {
	return []linkCase{
		{name: "a file that the rule selects", files: map[string]string{"net.tf": "-> other.tf", "other.tf": "x"}},
		{name: "a file that it does not select", files: map[string]string{"net.tf": "-> payload.txt", "payload.txt": openIngress}, stray: []string{"net.tf"}},
		{
			name:  "in another folder, there and back",
			files: map[string]string{"a/net.tf": "-> ../b/./x//../payload.txt", "b/payload.txt": openIngress, "b/x/y": ""}, stray: []string{"a/net.tf"},
		},
		{name: "the rule does not select the link", files: map[string]string{"net": "-> payload.txt", "payload.txt": openIngress}},
		{name: "a folder of which the same is selected", files: map[string]string{"modules": "-> other", "other/a.tf": "x"}},
		{name: "a folder of the rule's, and another", glob: "modules/**", files: map[string]string{"modules": "-> other", "other/a.tf": openIngress}, stray: []string{"modules"}},
		{name: "a folder within that of the rule", glob: "modules/**", files: map[string]string{"modules/a": "-> b", "modules/b/x": ""}},
		{name: "a folder of which a part is excluded", glob: "**", exclude: "**/test/**", files: map[string]string{"lib": "-> src/test", "src/test/a": openIngress}, stray: []string{"lib"}},
		{name: "what is excluded in both places", glob: "**", exclude: "test/**", files: map[string]string{"test/a": "-> b", "test/b/x": openIngress}},
		{
			name:  "through a link to a folder",
			files: map[string]string{"net.tf": "-> now/payload.tf", "now": "-> v1", "v1/payload.tf": "-> ../store/payload", "store/payload": openIngress},
			stray: []string{"net.tf", "v1/payload.tf"},
		},
		{
			name:  "through a link to a folder, all right",
			files: map[string]string{"net.tf": "-> now/payload.tf", "now": "-> v1", "v1/payload.tf": "-> ../store/main.tf", "store/main.tf": "x"},
		},
		{
			name:  "up behind a link", // which is not where it seems
			files: map[string]string{"net.tf": "-> now/../x.tf", "now": "-> a/b", "a/b/y": "", "a/x.tf": "-> x", "a/x": openIngress, "x.tf": "x"},
			stray: []string{"a/x.tf", "net.tf"},
		},
		{name: "to nothing, that the rule would select", files: map[string]string{"net.tf": "-> later.tf"}},
		{name: "to nothing, that it would not select", files: map[string]string{"net.tf": "-> later.txt"}, stray: []string{"net.tf"}},
		{name: "to nothing, a folder of the rule's", glob: "modules/**", files: map[string]string{"modules": "-> ../repo-of/nothing", "x": ""}, inGit: []string{"modules"}},
		{name: "to nothing in the tree", glob: "modules/**", files: map[string]string{"modules": "-> later", "x": ""}, stray: []string{"modules"}},
		{
			name:  "circles",
			files: map[string]string{"a.tf": "-> b.tf", "b.tf": "-> a.tf", "self.tf": "-> self.tf", "x.tf": "-> d/x", "d": "-> d"},
			stray: []string{"a.tf", "b.tf", "d", "self.tf", "x.tf"},
		},
		{name: "the root", files: map[string]string{"a/up": "-> ..", "x.tf": "x"}},
		{name: "the root, and a rule for a folder", glob: "a/**", files: map[string]string{"a/up": "-> ..", "x.tf": "x"}, stray: []string{"a/up"}},
		{name: "out of the tree and back", files: map[string]string{"net.tf": "-> ../repo/other.tf", "other.tf": "x"}, stray: []string{"net.tf"}},
		{name: "out of the tree, to what holds it", glob: "modules/**", files: map[string]string{"modules": "-> ..", "x": ""}, stray: []string{"modules"}},
		{name: "out of the repository", files: map[string]string{"venv/bin/python": "-> /usr/bin/python3", "lib": "-> ../elsewhere", "x.tf": "x"}, inGit: []string{"lib", "venv/bin/python"}},
		{name: "out of the repository, where no rule looks", glob: "*.tf", files: map[string]string{"venv/bin/python": "-> /usr/bin/python3", "lib": "-> ../elsewhere", "x.tf": "x"}},
		{name: "through a link out of the repository", files: map[string]string{"a": "-> out/x", "out": "-> /usr", "x.tf": "x"}, inGit: []string{"a", "out"}},
		{name: "git's own", glob: "**", files: map[string]string{"hooks": "-> .git/hooks", "nested": "-> sub/.GIT/x", "x": ""}, stray: []string{"hooks", "nested"}},
		{name: "git's own, where no rule selects the link", files: map[string]string{"HEAD": "-> .git/HEAD", "refs": "-> .git/refs", "x": ""}, stray: []string{"refs"}, inGit: []string{"HEAD"}},
		{name: "a file, as if it were a folder", glob: "a/**", files: map[string]string{"a": "-> b/c", "b": "x"}, stray: []string{"a"}},
	}
}

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
	if c.glob != "" {
		rule = strings.Replace(rule, `"**/*.tf"`, `"`+c.glob+`"`, 1)
	}
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
		if strings.Contains(o.Message, "perhaps back") && (slices.Contains(args, "--staged") || slices.Contains(args, "--diff-base")) {
			g.t.Errorf("%q: %s", args, o.Message) // of the disk, which a commit does not depend on
		}
		if o.Code != code.Link || !strings.Contains(o.Message, "NET-1") || !strings.Contains(o.Message, "--allow symlink=") {
			g.t.Errorf("%q: %+v", args, o)
		}
		strays = append(strays, o.File)
		if !slices.Contains(v.Coverage.NotScanned, verdict.Omission{File: o.File, Reason: "symlink"}) {
			g.t.Errorf("%q: %s is not in not_scanned: %+v", args, o.File, v.Coverage.NotScanned)
		}
	}
	return strays
}

// TestFault_150_Links: a symlink's target is checked by the target's path, in every scope.
func TestFault_150_Links(t *testing.T) {
	t.Parallel()
	for _, c := range linkCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.program.write("policy/rules/boundaries.yml", c.rule())
			g.program.write("elsewhere/a.tf", "x")
			base := g.commit("base")
			c.put(t, g.path)
			onDisk, inGit := slices.Sorted(slices.Values(c.stray)), slices.Sorted(slices.Values(append(slices.Clone(c.stray), c.inGit...)))
			g.git("add", "-A")
			var list strings.Builder
			for name := range c.files {
				list.WriteString(name + "\x00")
			}
			g.program.write("list", list.String())
			g.program.write("nowhere/x", "")
			check := func(scope string, want []string, args ...string) {
				t.Helper()
				args = append([]string{"--policy", "policy"}, args...)
				if got := g.strays(args...); !slices.Equal(got, want) {
					t.Errorf("%s: E_LINK for %q, want %q", scope, got, want)
				}
				if !*long && scope != "full" && scope != "diff" {
					return // a directory and a commit represent the others
				}
				for _, o := range g.strays(append(args, "--allow", "symlink")...) {
					t.Errorf("%s: E_LINK for %s, which is allowed", scope, o)
				}
			}
			check("full", onDisk, "repo")
			check("tracked", onDisk, "--tracked", "repo")
			check("files", onDisk, "--files-from", "list", "repo")
			check("staged", inGit, "--staged", "repo")
			g.git("commit", "-q", "-m", "links")
			check("diff", inGit, "--diff-base", base, "repo")
		})
	}
}

// TestFault_150_Violations: the target's string is still matched, and so is the target's content at its own path.
func TestFault_150_Violations(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	base := g.commit("base")
	putLink(t, "payload.txt", g.path("net.tf"))
	putLink(t, "0.0.0.0/0", g.path("text.tf"))
	putLink(t, "real.tf", g.path("fine.tf"))
	g.put("real.tf", openIngress)
	g.commit("links")
	const found = "FAIL NET-1@real.tf NET-1@text.tf"
	for _, scope := range []string{"", "--tracked", "--diff-base " + base} {
		g.judge(scope, exitViolation, found+" E_LINK E_LINK", "net.tf: it is a link to payload.txt, and rule NET-1 selects its path but not that one; have the rule select that one too, or allow the link with --allow symlink=net.tf")
		if v := g.verdict(); v.Coverage.Governed != 4 || v.Coverage.Scanned != 2 || v.Rules[0].Files != 4 {
			t.Errorf("%q: %+v, %d files of the rule", scope, v.Coverage, v.Rules[0].Files)
		}
		g.judge(scope+" --allow symlink", exitViolation, found)
		g.judge(scope+" --allow symlink=text.tf", exitViolation, found+" E_LINK")
		g.judge(scope+" --allow symlink=text.tf --allow empty,symlink={net,x}.tf", exitViolation, found)
		if v := g.verdict(); !slices.Equal(v.Allowed, []string{"empty", "symlink=text.tf", "symlink={net,x}.tf"}) {
			t.Errorf("allowed %q", v.Allowed)
		}
	}
}

// TestFault_150_Subfolder: if only a subdirectory is scanned, a symlink into the rest of the repository leaves the
// tree, and a symlink out of the repository is allowed.
func TestFault_150_Subfolder(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("beside/payload.tf", openIngress)
	g.put("infra/main.tf", "x")
	putLink(t, "../beside/payload.tf", g.path("infra/net.tf"))
	putLink(t, g.path("beside/payload.tf"), g.path("infra/absolute.tf"))
	putLink(t, g.path("infra/main.tf"), g.path("infra/there.tf"))
	putLink(t, "../..", g.path("infra/above"))
	putLink(t, "../../elsewhere/a.tf", g.path("infra/out.tf"))
	putLink(t, "/usr", g.path("infra/usr"))
	g.program.write("elsewhere/a.tf", openIngress)
	g.program.write("list", "net.tf\nabsolute.tf\nthere.tf\nabove\nout.tf\nusr\n")
	want := []string{"above", "absolute.tf", "net.tf", "there.tf"}
	for _, args := range [][]string{{"repo/infra"}, {"--files-from", "list", "repo/infra"}} {
		if got := g.strays(append([]string{"--policy", "policy"}, args...)...); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	// In the whole repository, the first is a symlink within the tree.
	if got := g.strays("--policy", "policy", "repo"); !slices.Equal(got, []string{"infra/above", "infra/absolute.tf", "infra/there.tf"}) {
		t.Errorf("%q", got)
	}
	// Without a repository around it, the directory counts.
	if err := os.RemoveAll(g.path(".git")); err != nil {
		t.Fatal(err)
	}
	if got := g.strays("--policy", "policy", "repo/infra"); !slices.Equal(got, []string{"above", "there.tf"}) {
		t.Errorf("without a repository: %q", got)
	}
}

// TestFault_150_LeftOut: excluded files are not checked, so symlinks to them are errors.
func TestFault_150_LeftOut(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	base := g.commit("base")
	g.put(".policyscan/rules/boundaries.yml", strings.Replace(oneRule, "**/*.tf", "**", 1))
	g.put(".policyscan/rules/invariants.yml", "rules: []\n")
	putLink(t, ".policyscan/rules/boundaries.yml", g.path("a.tf"))
	putLink(t, "result.json", g.path("b.tf"))
	putLink(t, ".policyscan", g.path("c"))
	g.commit("links")
	e := g.run("--output", "repo/result.json", "repo").want(t, exitUndecided)
	for _, text := range []string{
		"repo/a.tf: it is a link to .policyscan/rules/boundaries.yml, which is excluded from the scan, and rule NET-1 could check what is read under its name",
		"repo/b.tf: it is a link to result.json, which is excluded from the scan", "could not decide (2 errors)",
	} {
		if !strings.Contains(e.out, text) {
			t.Errorf("%q is not in\n%s", text, e.out)
		}
	}
	if got := g.strays("--diff-base", base, "repo"); !slices.Equal(got, []string{"a.tf"}) {
		t.Errorf("%q", got)
	}
}

// TestFault_150_Retargeted: a change can retarget a symlink that it does not touch. That symlink counts as part of the
// change; one with an unchanged target does not, even if it is an error.
func TestFault_150_Retargeted(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"net.tf": "-> now/main.tf", "now": "-> v1", "v1/main.tf": "x", "v2/main.txt": "x", "test/main.tf": "x", // via a symlink
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

// TestFault_150_MergeBases: one of several merge bases with another target is enough.
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

// TestFault_150_NoPath: a target that is not a path on any system is broken. Git keeps any bytes as a symlink's
// target.
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
			// A symlink to it is no better.
			blob = g.object("blob", "net.tf")
			g.git("update-index", "--add", "--cacheinfo", "120000,"+blob+",more.tf")
			g.judge("--staged", exitUndecided, "UNDECIDED E_LINK", "more.tf")
		})
	}
}

// TestFault_150_Tracked: if the disk and the index differ about symlinks, the disk counts.
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
