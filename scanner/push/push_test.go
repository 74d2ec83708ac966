package push

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

var long = flag.Bool("long", false, "many more pushes")

// A gitDir is a bare repository.
type gitDir struct {
	*testing.T
	dir    string
	policy string // a bundle outside of it, which forbids BAD in *.tf
	env    map[string]string
}

func newGitDir(t *testing.T) *gitDir {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		t.Setenv(name, os.DevNull)
	}
	g := &gitDir{T: t, dir: filepath.Join(t.TempDir(), "s.git"), policy: filepath.Join(t.TempDir(), "policy")}
	if err := os.MkdirAll(filepath.Join(g.policy, "rules"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range bundle() {
		if err := os.WriteFile(filepath.Join(g.policy, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", "--bare", "-b", "main", g.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return g
}

func bundle() map[string]string {
	return map[string]string{
		"rules/boundaries.yml": "rules:\n  - id: BAD-1\n    title: nothing bad\n    enforcement: {mode: fail}\n" +
			"    match: {files: [\"**/*.tf\"], forbidden_patterns: [BAD]}\n",
		"rules/invariants.yml": "rules: []\n",
	}
}

// git runs git with an input.
func (g *gitDir) git(input string, args ...string) string {
	g.Helper()
	cmd := exec.Command("git", append([]string{"-C", g.dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		g.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit of files in the root or one directory, by path, as of a second of the clock.
func (g *gitDir) commit(second int, files map[string]string, parents ...string) string {
	g.Helper()
	var list strings.Builder
	below := map[string]*strings.Builder{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		dir, name, nested := strings.Cut(path, "/")
		if !nested {
			dir, name = "", path
		}
		if below[dir] == nil {
			below[dir] = &strings.Builder{}
		}
		fmt.Fprintf(below[dir], "100644 blob %s\t%s\n", g.git(files[path], "hash-object", "-w", "--stdin"), name)
	}
	for _, dir := range slices.Sorted(maps.Keys(below)) {
		if dir == "" {
			list.WriteString(below[dir].String())
		} else {
			fmt.Fprintf(&list, "040000 tree %s\t%s\n", g.git(below[dir].String(), "mktree"), dir)
		}
	}
	args := []string{"commit-tree", "-m", "x", g.git(list.String(), "mktree")}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	g.Setenv("GIT_AUTHOR_DATE", fmt.Sprint(1_800_000_000+second, " +0000"))
	g.Setenv("GIT_COMMITTER_DATE", os.Getenv("GIT_AUTHOR_DATE"))
	return g.git("", args...)
}

// push returns the verdict of a push of lines.
func (g *gitDir) push(own bool, policies []string, lines ...string) *verdict.Verdict {
	p := &Push{Lines: strings.Join(lines, ""), Own: own}
	p.Options = run.Options{
		Version: "test", Policies: policies, Git: repo.Environment{GitDir: g.dir},
		Getenv: func(name string) string { return g.env[name] },
	}
	return p.Check(context.Background())
}

const none = "0000000000000000000000000000000000000000"

func line(old, new, ref string) string { return old + " " + new + " " + ref + "\n" }

func summary(v *verdict.Verdict) string {
	said := []string{string(v.Verdict)}
	for _, e := range v.Errors {
		said = append(said, e.Code)
	}
	for i := range v.Violations {
		said = append(said, v.Violations[i].File)
	}
	return strings.Join(said, " ")
}

// TestLines: a push of which git's lines are not understood is never a PASS.
func TestLines(t *testing.T) {
	g := newGitDir(t)
	one := g.commit(1, map[string]string{"a.tf": "good"})
	good := line(none, one, "refs/heads/main")
	if v := g.push(false, []string{g.policy}, good); v.Verdict != verdict.Pass {
		t.Fatalf("%s: %v", good, v.Errors)
	}
	for _, lines := range []string{
		"", "\n", good + "\n", strings.TrimSuffix(good, "\n"), " " + good, strings.Replace(good, " ", "  ", 1),
		strings.Replace(good, "\n", " \n", 1), strings.Replace(good, "\n", "\r\n", 1), good[1:], good[:41] + good[42:],
		line(none, one, "main"), line(none, one, "HEAD"), line(none, one, "refs/heads/a..b"), line(none, one, "refs/heads/"),
		line(none, one, "refs/heads/a\x00b"), line("refs/heads/main", one, none), good + good,
		line(none[:39], one, "refs/heads/x"), line(none+none[:24], one, "refs/heads/x"), line("", one, "refs/heads/x"),
	} {
		if v := g.push(false, []string{g.policy}, lines); summary(v) != "FAIL "+code.Usage ||
			!strings.Contains(v.Errors[0].Message, "OLD NEW REF") {
			t.Errorf("%q: %s, %v", lines, summary(v), v.Errors)
		}
	}
}

// TestUndecided: what cannot be checked is an error with its code.
func TestUndecided(t *testing.T) {
	g := newGitDir(t)
	good := map[string]string{"a.tf": "good"}
	one := g.commit(1, good)
	two := g.commit(2, map[string]string{"a.tf": "better"}, one)
	g.git("", "update-ref", "refs/heads/main", one)
	tag := func(of, kind string) string {
		return g.git("object "+of+"\ntype "+kind+"\ntag t\ntagger a <a@example.com> 1 +0000\n\nx\n", "mktag")
	}
	blob := g.git("BAD", "hash-object", "-w", "--stdin")
	tree := g.git("", "rev-parse", one+"^{tree}")
	missing := strings.Repeat("12", 20)
	for what, c := range map[string]struct{ line, want string }{
		"a blob":              {line(none, blob, "refs/tags/b"), "FAIL " + code.RevSyntax},
		"a tree":              {line(none, tree, "refs/tags/t"), "FAIL " + code.RevSyntax},
		"a tag of a blob":     {line(none, tag(blob, "blob"), "refs/tags/b"), "FAIL " + code.RevSyntax},
		"a tag of its tag":    {line(none, tag(tag(tree, "tree"), "tag"), "refs/tags/t"), "FAIL " + code.RevSyntax},
		"a branch of a blob":  {line(none, blob, "refs/heads/b"), "FAIL " + code.RevSyntax},
		"a tag of a tag":      {line(none, tag(tag(two, "commit"), "tag"), "refs/tags/t"), "PASS"},
		"a missing commit":    {line(none, missing, "refs/heads/x"), "FAIL " + code.Object},
		"a missing parent":    {line(none, g.git("tree "+tree+"\nparent "+missing+"\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"), "refs/heads/x"), "FAIL " + code.Object},
		"a ref that moved":    {line(two, one, "refs/heads/main"), "FAIL " + code.Changed},
		"one that was made":   {line(none, two, "refs/heads/main"), "FAIL " + code.Changed},
		"one that is deleted": {line(one, two, "refs/heads/gone"), "FAIL " + code.Changed},
		"the same value":      {line(one, one, "refs/heads/main"), "PASS"},
		"a deletion":          {line(one, none, "refs/heads/main"), "PASS"},
		"one of nothing":      {line(none, none, "refs/heads/x"), "PASS"},
		"a good commit":       {line(one, two, "refs/heads/main"), "PASS"},
	} {
		if got := summary(g.push(false, []string{g.policy}, c.line)); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
	g.git("", "update-ref", "refs/tags/blob", blob) // it reaches no commit
	if got := summary(g.push(false, []string{g.policy}, line(one, two, "refs/heads/main"))); got != "PASS" {
		t.Errorf("beside a tag of a blob: %s", got)
	}
	g.env = map[string]string{"GIT_NAMESPACE": "x"}
	if got := summary(g.push(false, []string{g.policy}, line(one, two, "refs/heads/main"))); got != "FAIL "+code.RepoFormat {
		t.Errorf("in a namespace: %s", got)
	}
	g.env = nil
	if err := os.WriteFile(filepath.Join(g.dir, "refs/heads/broken"), []byte("x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := summary(g.push(false, []string{g.policy}, line(one, two, "refs/heads/main"))); got != "FAIL "+code.Read {
		t.Errorf("beside a broken ref: %s", got)
	}
}

// TestRules: which bundles check a push, and that one without any does not pass.
func TestRules(t *testing.T) {
	g := newGitDir(t)
	policy := []string{g.policy}
	bare := g.commit(1, map[string]string{"a.tf": "good"})
	bad := g.commit(2, map[string]string{"a.tf": "BAD"}, bare)
	ruled := g.commitRules(3, "good", "BAD", bare)
	ruledBad := g.commitRules(4, "BAD", "BAD", ruled)
	loose := g.commitRules(5, "BAD", "WORSE", ruled)
	check := func(what string, own bool, policies []string, want string, lines ...string) {
		t.Helper()
		if got := summary(g.push(own, policies, lines...)); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	main, topic := "refs/heads/main", "refs/heads/topic"
	check("an empty repository, without rules", true, nil, "FAIL "+code.NoRules, line(none, bare, main))
	check("its first bundle", true, nil, "PASS", line(none, ruled, main))
	check("broken by itself", true, nil, "FAIL a.tf", line(none, ruledBad, main))
	check("with another policy", true, policy, "PASS", line(none, bare, main))
	check("which it breaks", true, policy, "FAIL a.tf", line(none, bad, main))
	check("a second branch", true, nil, "PASS", line(none, bare, topic), line(none, ruled, main))
	check("which breaks the first's rules", true, nil, "FAIL a.tf", line(none, bad, topic), line(none, ruled, main))
	check("a tag alone", true, nil, "PASS", line(none, ruled, "refs/tags/v1"))
	check("a deletion of nothing", true, nil, "FAIL "+code.Empty, line(none, none, topic))
	g.git("", "update-ref", "refs/heads/old", ruled)
	check("other branches, and no default branch", true, nil, "FAIL "+code.NoRules, line(none, loose, topic))
	check("which a push makes", true, nil, "FAIL "+code.NoRules, line(none, loose, main))
	check("or a tag", true, nil, "FAIL "+code.NoRules, line(none, loose, "refs/tags/x"))
	check("by another policy", true, policy, "PASS", line(none, ruled, topic))
	g.git("", "update-ref", "-d", "refs/heads/old")
	g.git("", "update-ref", main, bare)
	check("a default branch without a bundle", true, nil, "FAIL "+code.NoRules, line(none, bad, topic))
	check("to which one comes", true, nil, "PASS", line(bare, ruled, main))
	check("with a violation", true, nil, "FAIL a.tf", line(bare, ruledBad, main))
	check("a named one alone", true, policy, "FAIL a.tf", line(none, bad, topic))
	g.git("", "update-ref", main, ruled)
	check("the default branch's bundle", true, nil, "FAIL a.tf", line(none, ruledBad, topic))
	check("for a looser branch", true, nil, "FAIL a.tf", line(none, loose, topic))
	check("and for itself", true, nil, "FAIL a.tf", line(ruled, loose, main))
	check("and a tag", true, nil, "FAIL a.tf", line(none, loose, "refs/tags/x"))
	check("not its bundle", false, policy, "FAIL a.tf", line(none, loose, topic))
	g.git("", "update-ref", "refs/heads/"+ruled, bare)
	check("beside a branch that is named as its commit", true, nil, "PASS", line(none, bare, topic))
	check("a deletion", true, nil, "PASS", line(bare, none, "refs/heads/"+ruled))
	g.git("", "update-ref", "-d", "refs/heads/"+ruled)
	check("of the default branch", true, nil, "FAIL "+code.NoRules, line(ruled, none, main))
	check("whose bundle is not enforced", false, policy, "PASS", line(ruled, none, main))
	g.git("", "symbolic-ref", "refs/heads/alias", main)
	check("a symbolic ref", true, nil, "FAIL "+code.RevSyntax, line(ruled, bare, "refs/heads/alias"))
	g.git("", "symbolic-ref", "HEAD", "refs/heads/alias")
	check("which HEAD names", true, nil, "FAIL E_POLICY_MISSING", line(ruled, bare, main))
	g.git("", "symbolic-ref", "HEAD", main)
	g.git("", "update-ref", main, loose)
	check("both", true, policy, "FAIL a.tf", line(none, ruledBad, topic))
	g.git("", "update-ref", main, g.commitRules(6, "good", "[", ruled))
	check("an unusable pattern is a literal", true, nil, "PASS", line(none, ruled, topic))
	broken := g.commit(7, map[string]string{"rules/boundaries.yml": "nonsense"})
	g.git("", "update-ref", main, broken)
	v := g.push(true, nil, line(broken, ruled, main))
	if v.Verdict == verdict.Pass || !strings.Contains(v.Errors[0].Message, "; on the server, move the hook away") ||
		strings.Contains(v.Errors[0].Message, "--policy-ref") {
		t.Errorf("a broken bundle: %v", v.Errors)
	}
}

// commitRules commits a file, and a bundle that forbids a text in it.
func (g *gitDir) commitRules(second int, content, forbidden string, parents ...string) string {
	files := map[string]string{"a.tf": content}
	for name, text := range bundle() {
		files[name] = strings.NewReplacer("[BAD]", fmt.Sprintf("[%q]", forbidden), "BAD-1", "OWN-1").Replace(text)
	}
	return g.commit(second, files, parents...)
}

// TestTimeout: a push that is not checked in time is not a PASS.
func TestTimeout(t *testing.T) {
	g := newGitDir(t)
	one := g.commit(1, map[string]string{"a.tf": "good"})
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(&run.InterruptedError{Code: code.Timeout, Message: "it took too long"})
	// Its parent is not read either.
	cut := g.git("tree "+g.git("", "rev-parse", one+"^{tree}")+"\nparent "+strings.Repeat("12", 20)+
		"\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n", "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
	p := &Push{Lines: line(none, cut, "refs/heads/main")}
	p.Options = run.Options{Policies: []string{g.policy}, Git: repo.Environment{GitDir: g.dir}, Getenv: os.Getenv}
	if v := p.Check(ctx); summary(v) != "FAIL "+code.Timeout {
		t.Error(summary(v), v.Errors)
	}
}

// A node is a commit of a generated history.
type node struct {
	hash    string
	parents []int
	files   map[string]string
}

// TestNaive: generated pushes are rejected exactly if a naive reading of the manual finds something bad, with the same
// files.
func TestNaive(t *testing.T) {
	g := newGitDir(t)
	trials := 60
	if *long {
		trials = 1500
	}
	passed := 0
	for trial := range trials {
		rnd := rand.New(rand.NewPCG(5, uint64(trial)))
		var all []node
		for i := range 2 + rnd.IntN(7) {
			n := node{files: map[string]string{}}
			for range rnd.IntN(3) {
				if i > 0 {
					n.parents = append(n.parents, rnd.IntN(i))
				}
			}
			slices.Sort(n.parents)
			n.parents = slices.Compact(n.parents)
			var parents []string
			for _, p := range n.parents {
				maps.Copy(n.files, all[p].files)
				parents = append(parents, all[p].hash)
			}
			for range 1 + rnd.IntN(2) {
				n.files[[]string{"a.tf", "b.tf", "c.txt"}[rnd.IntN(3)]] =
					[]string{"good", "better", "best", "fine", "BAD", "BAD and worse"}[rnd.IntN(6)]
			}
			n.hash = g.commit(trial*100+rnd.IntN(20), n.files, parents...)
			all = append(all, n)
		}
		for _, name := range strings.Fields(g.git("", "for-each-ref", "--format=%(refname)")) {
			g.git("", "update-ref", "-d", name)
		}
		refs, pushed, lines := map[string]int{}, map[string]int{}, ""
		for _, name := range []string{"refs/heads/main", "refs/heads/x", "refs/heads/y", "refs/tags/t", "refs/for/x"} {
			old, new := none, none
			if at := rnd.IntN(2 * len(all)); at < len(all) {
				refs[name], old = at, all[at].hash
				g.git("", "update-ref", name, old)
			}
			switch at := rnd.IntN(3 * len(all)); {
			case at < len(all):
				pushed[name], new = at, all[at].hash
			case at < 2*len(all) || old == none:
				continue
			}
			lines += line(old, new, name)
		}
		if lines == "" {
			continue
		}
		want := naive(all, refs, pushed)
		v := g.push(false, []string{g.policy}, lines)
		if len(v.Errors) > 0 {
			t.Fatalf("%d: %v", trial, v.Errors)
		}
		got := map[string]bool{}
		for i := range v.Violations {
			got[v.Violations[i].File] = true
		}
		if !maps.Equal(got, want) || (v.Verdict == verdict.Pass) != (len(want) == 0) {
			t.Fatalf("%d: %v with %v and\n%s%s: %v, naively %v", trial, all, refs, lines, v.Verdict, got, want)
		}
		if v.Verdict == verdict.Pass {
			passed++
		}
	}
	if passed < trials/8 || passed > trials*7/8 {
		t.Errorf("%d of %d passed", passed, trials)
	}
}

// naive returns the files that break the rule of bundle in a push.
func naive(all []node, refs, pushed map[string]int) map[string]bool {
	broken := map[string]bool{}
	note := func(path, text string) {
		if strings.HasSuffix(path, ".tf") && strings.Contains(text, "BAD") {
			broken[path] = true
		}
	}
	before := map[int]bool{}
	for _, at := range refs {
		maps.Copy(before, ancestors(all, at))
	}
	for _, at := range pushed {
		for n := range ancestors(all, at) {
			for path, text := range all[n].files {
				if !before[n] && !slices.ContainsFunc(all[n].parents, func(p int) bool { return all[p].files[path] == text }) {
					note(path, text)
				}
			}
		}
	}
	for name, tip := range pushed {
		if !strings.HasPrefix(name, "refs/heads/") {
			continue
		}
		base, is := refs[name]
		isNew := !is
		if isNew {
			if base, is = refs["refs/heads/main"]; !is { // all files
				for path, text := range all[tip].files {
					note(path, text)
				}
				continue
			}
		}
		compared := mergeBases(all, base, tip)
		switch {
		case len(compared) == 0, !isNew && slices.Contains(compared, tip):
			compared = []int{base}
		case !isNew:
			compared = append(compared, base) // the forced push also replaces it
		}
		for path, text := range all[tip].files {
			if slices.ContainsFunc(compared, func(c int) bool { return all[c].files[path] != text }) {
				note(path, text)
			}
		}
	}
	return broken
}

// ancestors are a commit and those before it.
func ancestors(all []node, at int) map[int]bool {
	found := map[int]bool{at: true}
	for _, p := range all[at].parents {
		maps.Copy(found, ancestors(all, p))
	}
	return found
}

// mergeBases are the common ancestors that are before no other one.
func mergeBases(all []node, a, b int) (best []int) {
	common := ancestors(all, a)
	maps.DeleteFunc(common, func(n int, _ bool) bool { return !ancestors(all, b)[n] })
	for n := range common {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(common)), func(m int) bool { return m != n && ancestors(all, m)[n] }) {
			best = append(best, n)
		}
	}
	return best
}

// TestAllowances: what the default branch allows is allowed in each state, and no push raises it.
func TestAllowances(t *testing.T) {
	g := newGitDir(t)
	second := 0
	with := func(places, most int, parents ...string) string {
		files := map[string]string{"a.tf": strings.Repeat("BAD\n", places) + fmt.Sprint(second)}
		for name, text := range bundle() {
			files[name] = "bundle: \"0.2\"\n" + text
		}
		files["rules/allowances.yml"] = fmt.Sprintf("bundle: \"0.2\"\nallowances:\n"+
			"  - {rule: BAD-1, file: a.tf, at_most: %d, owner: o, reason: r}\n", most)
		second++
		return g.commit(second, files, parents...)
	}
	main, topic, tag := "refs/heads/main", "refs/heads/topic", "refs/tags/t"
	check := func(what, want string, lines ...string) {
		t.Helper()
		if v := g.push(true, nil, lines...); summary(v) != want {
			t.Errorf("%s: %s, want %s; %v", what, summary(v), want, v.Errors)
		}
	}
	first := with(2, 2)
	check("the first push", "PASS", line(none, first, main))
	check("a tag first", "PASS", line(none, first, tag))
	check("with too many", "FAIL a.tf", line(none, with(3, 2), main))
	g.git("", "update-ref", main, first)
	again := with(2, 2, with(2, 2, first))
	more := with(3, 2, again)
	check("the same, twice", "PASS", line(none, again, topic), line(first, again, main))
	check("more", "FAIL a.tf", line(none, more, tag))
	check("more, and less again", "FAIL a.tf", line(first, with(2, 2, more), main))
	check("a raised number", "FAIL a.tf", line(first, with(3, 3, first), main))
	check("on another branch", "FAIL a.tf", line(none, with(3, 3, first), topic))
	rules := map[string]string{}
	maps.Copy(rules, bundle())
	g.git("", "update-ref", "-d", main)
	check("rules alone", "PASS", line(none, g.commit(90, rules), main))
}
