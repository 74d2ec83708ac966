package past

import (
	"bytes"
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
	"time"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/past"
)

var long = flag.Bool("long", false, "judge 10,000 generated histories, and drawn changes of the repositories in HISTORY_REPOS")

// bundles are the rule files of generated histories: rules/x.yml and, after a line of dashes, rules/allowances.yml.
var bundles = []string{
	`bundle: "0.2"
rules:
  - {id: T-1, title: A text, match: {files: ["**"], forbidden_patterns: [alpha]}}
  - {id: K-1, title: A key, match: {files: ["**/*.{yaml,json}"], forbidden_patterns: [{key: open, is: true}]}}
`, `bundle: "0.2"
rules:
  - {id: T-1, title: A text in places, match: {files: ["a/**", "/*.tf"], exclude: ["a/x.tf"], forbidden_patterns: [{regex: 'al[p]ha'}]}}
  - {id: P-1, title: A path, match: {forbidden_files: ["b/*.yaml", "**/d"]}}
`, `bundle: "0.2"
type: invariant
rules:
  - {id: F-1, title: Required files, match: {required_files: ["a/**", "/*.tf"]}}
  - {id: R-1, title: Required, match: {files: ["**/*.tf"], required_patterns: [beta]}}
`, `bundle: "0.2"
rules:
  - {id: T-1, title: Allowed, match: {files: ["**"], exclude: [".policyscan/**"], forbidden_patterns: [alpha, gamma]}}
---
bundle: "0.2"
allowances:
  - {rule: T-1, file: x.tf, at_most: 2, owner: me, reason: old}
  - {rule: T-1, file: a/x.tf, from: y.yaml, at_most: 1, owner: me, reason: moved}
`, `bundle: "0.2"
rules:
  - {id: T-1, title: For a while, match: {files: ["**"], forbidden_patterns: [alpha]}}
---
bundle: "0.2"
allowances:
  - {rule: T-1, file: x.tf, at_most: 3, owner: me, reason: old, until: 2024-06-01}
`, `bundle: "0.2"
type: invariant
rules:
  - {id: F-1, title: Other than the rules, match: {required_files: ["**/*.yml"]}}
`, `bundle: "0.2"
bundles: ["/a", "c/*", "n/*"]
rules:
  - {id: T-1, title: A text, match: {files: ["**/*.json"], forbidden_patterns: [gamma]}}
`, `bundle: "0.2"
rules:
  - {id: BAD
`,
}

// ruleFiles returns the files of a bundle.
func ruleFiles(text string) map[string]string {
	rules, allowances, _ := strings.Cut(text, "---\n")
	files := map[string]string{"rules/boundaries.yml": rules}
	if strings.Contains(rules, "type: invariant") {
		files = map[string]string{"rules/boundaries.yml": "bundle: \"0.2\"\nrules: []\n", "rules/x.yml": rules}
	}
	if allowances != "" {
		files["rules/allowances.yml"] = allowances
	}
	return files
}

const pointer = "version https://git-lfs.github.com/spec/v1\n" +
	"oid sha256:0000000000000000000000000000000000000000000000000000000000000000\nsize 3\n"

// A generator writes histories for git fast-import, each on another branch.
type generator struct {
	*rand.Rand
	out  bytes.Buffer
	mark int
}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) path() string {
	return g.one("x.tf", "y.yaml", "a/x.tf", "a/y.yaml", "b/y.yaml", "y.json", "c/d", "c/d/e.tf", "Z.TF", ".gitattributes", "a/.gitattributes")
}

func (g *generator) text(path string) string {
	switch {
	case strings.HasSuffix(path, ".gitattributes"):
		return g.one("*.tf text\n", pointer, "* filter=x ident\n", "# $Id$\n* ident filter=lfs\n",
			"*.tf working-tree-encoding=UTF-16\n", "x.tf working-tree-encoding=latin1\n", "")
	case g.IntN(12) == 0:
		return "open: [\n"
	case g.IntN(12) == 0:
		return g.one("", pointer,
			"a\x00l\x00p\x00h\x00a\x00\n\x00", "\x00GITCRYPT\x00alpha")
	}
	var b strings.Builder
	for range g.IntN(5) {
		b.WriteString(g.one("alpha: 1\n", "beta: 2\n", "gamma: 3\n", "open: true\n", "open: false\n", "delta: 4\n", "epsilon: 5\n"))
	}
	return b.String()
}

func (g *generator) file(mode, path, text string) {
	fmt.Fprintf(&g.out, "M %s inline %s\ndata %d\n%s\n", mode, path, len(text), text)
}

func (g *generator) bundle() {
	g.out.WriteString("D .policyscan\n")
	if g.IntN(6) > 0 {
		files := ruleFiles(bundles[g.IntN(len(bundles))])
		for _, name := range slices.Sorted(maps.Keys(files)) {
			g.file("100644", ".policyscan/"+name, files[name])
		}
	}
}

// history writes a branch of some commits, with wrong clocks, merges, renames, links, submodules and edited bundles.
func (g *generator) history(name string) {
	first, n := g.mark+1, 2+g.IntN(9)
	date := 1_700_000_000
	previous := map[string]string{} // contents, for renames and reverts
	for i := range n {
		if g.mark++; g.IntN(8) == 0 {
			date = []int{0, 1_500_000_000, 1_900_000_000, date}[g.IntN(4)]
		}
		date += g.IntN(3_000_000)
		fmt.Fprintf(&g.out, "commit refs/heads/%s\nmark :%d\ncommitter a <a@example.org> %d +0000\ndata 7\nsubject\n",
			name, g.mark, date)
		if i > 0 {
			fmt.Fprintf(&g.out, "from :%d\n", g.mark-1)
			if g.IntN(5) == 0 && i > 1 {
				fmt.Fprintf(&g.out, "merge :%d\n", first+g.IntN(i-1))
			}
		}
		if i == 0 && g.IntN(2) == 0 || g.IntN(5) == 0 {
			g.bundle()
		}
		for range g.IntN(4) {
			path := g.path()
			switch g.IntN(14) {
			case 12:
				dir := g.one("a", "c/d", "n/q", "b") + "/.policyscan"
				if fmt.Fprintf(&g.out, "D %s\n", dir); g.IntN(4) > 0 {
					g.file("100644", dir+"/rules/boundaries.yml", bundles[g.IntN(2)])
				}
			case 13:
				if text, is := previous["a/x.tf"]; is {
					g.out.WriteString("D a/x.tf\n")
					g.file("100644", g.one("n/q/x.tf", "n/r/x.tf"), text)
				}
			case 0, 1:
				fmt.Fprintf(&g.out, "D %s\n", path)
			case 2:
				g.file("120000", g.one("link", "a/link", "a", path), g.one("x.tf", "../x.tf", "a", "/etc/passwd", "nowhere", "c/d"))
			case 3:
				if g.IntN(3) == 0 {
					digits := 40
					if os.Getenv("GIT_DEFAULT_HASH") == "sha256" {
						digits = 64
					}
					fmt.Fprintf(&g.out, "M 160000 %0*d sub\n", digits, 1+g.IntN(2))
				}
			case 4, 5:
				g.file(g.one("100644", "100755"), g.path(), previous[path])
			default:
				previous[path] = g.text(path)
				g.file("100644", path, previous[path])
			}
		}
		g.out.WriteString("\n")
	}
}

// git runs git in a directory.
func git(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// named writes a bundle and returns it as --policy would name it.
func named(t testing.TB, text string) run.RuleSources {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "rules"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range ruleFiles(text) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all, err := run.LoadRules([]string{dir}, "")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func options(b run.RuleSources, branch string) Options {
	o := Options{Bundles: b, Branch: branch, Since: "1970-01-01"}
	o.Run = run.Options{Version: "test", Getenv: func(string) string { return "" }}
	return o
}

// naive is what one scan of a change says: how often each rule is broken, and the errors.
func naive(t testing.TB, r *repo.Repository, o run.Options, commit *repo.Commit) string {
	o.OpenedRepository, o.Now, o.Cache, o.Load, o.FromDisk = r, commit.Date, nil, nil, false
	if o.Now.IsZero() {
		o.Now = time.Unix(0, 0)
	}
	if len(commit.Parents) == 0 {
		o.Rev = commit.Hash.String()
	} else {
		o.Base, o.Head = commit.Parents[0].String(), commit.Hash.String()
	}
	one, err := run.Open(context.Background(), o)
	if err != nil {
		if isUnruled(err) {
			return "without rules"
		}
		return shown(nil, one.Undecided(err).Errors)
	}
	defer one.Close()
	v := scanner.Scan(context.Background(), one, nil)
	rules := map[string]past.Refusal{}
	for _, x := range v.Violations {
		n := rules[x.RuleID]
		n.Places += int(x.PlaceCount)
		if n.Introduced += int(x.NewPlaceCount); o.Base == "" {
			n.Introduced += int(x.PlaceCount)
		}
		n.RuleID = x.RuleID
		rules[x.RuleID] = n
	}
	var all []past.Refusal
	for _, n := range rules {
		all = append(all, n)
	}
	if v.Verdict == verdict.Pass && len(all)+len(v.Errors) > 0 {
		t.Error("a PASS with violations")
	}
	return shown(all, v.Errors)
}

func shown(rules []past.Refusal, errors []verdict.Error) string {
	var all []string
	for _, r := range rules {
		all = append(all, fmt.Sprint(r))
	}
	slices.Sort(all)
	for _, e := range errors {
		all = append(all, e.Code+" "+e.Error())
	}
	return strings.Join(all, "; ")
}

// judged returns what a history says of each change, by commit; "" for one that passes.
func judged(dir string, o Options) (*past.History, map[string]string, *Judge) {
	j := New(o)
	j.Add(context.Background(), dir, repo.At)
	h := j.End()
	all := map[string]string{}
	for _, c := range append(slices.Clone(h.Undecided), h.Refused...) {
		all[c.Commit] = shown(c.Rules, c.Errors)
	}
	return h, all, j
}

// TestIsNaive: of generated histories, a history says of each change what one scan of it says, by the bundles of the
// branch itself and by each named one.
func TestIsNaive(t *testing.T) {
	n, size := 1, 250
	if *long {
		n = 40
	}
	var changes, refused, undecided, unruled, passed int
	for seed := range n {
		g := &generator{Rand: rand.New(rand.NewPCG(uint64(seed), 61))}
		for i := range size {
			g.history(fmt.Sprint("h", i))
		}
		dir := t.TempDir()
		git(t, dir, "", "init", "-q", "--bare")
		git(t, dir, g.out.String(), "fast-import", "--quiet", "--force")
		r, err := repo.At(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range size {
			var b run.RuleSources
			if i%2 == 1 {
				b = named(t, bundles[i/2%(len(bundles)-1)])
			}
			o := options(b, fmt.Sprint("h", i))
			h, got, j := judged(dir, o)
			if h.Totals.Changes == 0 && h.Totals.WithoutRules == 0 {
				t.Fatalf("seed %d, %s: %+v", seed, o.Branch, h)
			}
			for _, rule := range h.Rules {
				if rule.Title == "" {
					t.Errorf("seed %d, %s: %+v", seed, o.Branch, rule)
				}
			}
			for range i % 3 {
				again, _, _ := judged(dir, o)
				one, err := verdict.JSON(h)
				two, err2 := verdict.JSON(again)
				if err != nil || err2 != nil || !bytes.Equal(one, two) {
					t.Fatalf("seed %d, %s: two histories differ: %v, %v\n%s\n%s", seed, o.Branch, err, err2, one, two)
				}
			}
			hash, err := r.Commit(o.Branch)
			if err != nil {
				t.Fatal(err)
			}
			without := 0
			for {
				c, err := r.Describe(hash)
				if err != nil {
					t.Fatal(err)
				}
				want := naive(t, r, j.Run, c)
				switch {
				case want == "without rules":
					without++
				case want != got[c.Hash.String()]:
					t.Fatalf("seed %d, %s, %s:\n%q, one scan says\n%q", seed, o.Branch, c.Hash, got[c.Hash.String()], want)
				case want == "":
					passed++
				}
				if len(c.Parents) == 0 {
					break
				}
				hash = c.Parents[0]
			}
			if without != h.Totals.WithoutRules {
				t.Fatalf("seed %d, %s: %d without rules, want %d", seed, o.Branch, h.Totals.WithoutRules, without)
			}
			changes += h.Totals.Changes
			refused += h.Totals.Refused
			undecided += h.Totals.Undecided
			unruled += h.Totals.WithoutRules
		}
		t.Logf("seed %d: %d changes so far, %d refused, %d undecided, %d passed; %d without rules",
			seed, changes, refused, undecided, passed, unruled)
		r.Close()
	}
	if passed < changes/10 || refused < changes/10 || undecided < changes/20 || unruled == 0 {
		t.Error("the histories are too much alike")
	}
}

// TestIsNaiveDrawn: of commits drawn from the repositories that HISTORY_REPOS names, a history says what one scan of
// each says.
func TestIsNaiveDrawn(t *testing.T) {
	names := filepath.SplitList(os.Getenv("HISTORY_REPOS"))
	if !*long || len(names) == 0 {
		t.Skip("it takes minutes for each repository")
	}
	const drawn = 1000
	for _, name := range names {
		r, err := repo.At(name)
		if err != nil {
			t.Fatal(err)
		}
		o := options(named(t, `bundle: "0.2"
rules:
  - {id: T-1, title: Texts, match: {files: ["**"], forbidden_patterns: ["::/0", "AKIA", "BEGIN RSA PRIVATE KEY", "FIXME", "TODO"]}}
  - {id: X-1, title: Words, match: {files: ["**/*.{rb,go}"], forbidden_patterns: [{regex: 'eval\(.*\)'}, {text: "os.exec", words: true}]}}
  - {id: K-1, title: Keys, match: {files: ["**/*.{yml,yaml,tf,json}"], unparsable: text, forbidden_patterns: [{key: "**.privileged", is: true}, "privileged: true"]}}
  - {id: P-1, title: Paths, match: {forbidden_files: ["**/*.{pem,p12}", "**/.env"]}}
`), "HEAD")
		h, got, j := judged(name, o)
		tip, err := r.Commit("HEAD")
		if err != nil {
			t.Fatal(err)
		}
		all, err := (&branch{Judge: j, repo: r}).chain(tip)
		if err != nil || len(all) != h.Totals.Changes {
			t.Fatalf("%d commits of %d: %v", len(all), h.Totals.Changes, err)
		}
		refused, random := 0, rand.New(rand.NewPCG(1, 61))
		for range drawn {
			c := all[random.IntN(len(all))]
			want := naive(t, r, j.Run, c)
			if want != got[c.Hash.String()] {
				t.Errorf("%s:\n%q, one scan says\n%q", c.Hash, got[c.Hash.String()], want)
			}
			if want != "" {
				refused++
			}
		}
		t.Logf("%s: %+v; of %d drawn, %d are refused or undecided", filepath.Base(filepath.Dir(name)), h.Totals, drawn, refused)
		r.Close()
	}
}

// TestFollow: of several places the newest counts as removed; a renamed file keeps its places; what an undecided change
// has, or a rule that is gone would have found, is not removed.
func TestFollow(t *testing.T) {
	blob := func(b byte) repo.Leaf { return repo.Leaf{Mode: repo.File, Hash: repo.Hash{b}} }
	none := repo.Leaf{}
	at := func(day, all, fresh int, file string, change ...repo.Change) step {
		o := &outcome{broken: map[ruleFile]places{{"A", file}: {all, all, fresh}}}
		if all == 0 {
			o = nil // the filter passes it
		}
		return step{commit: &repo.Commit{Date: time.Unix(int64(day)*24*60*60+60, 0)}, files: change, outcome: o}
	}
	edit := func(file string) repo.Change { return repo.Change{Path: file, Old: blob(1), New: blob(1)} }
	added := repo.Change{Path: "f", Old: none, New: blob(1)}
	undecided := at(8, 0, 0, "f", edit("f"))
	undecided.outcome = &outcome{errors: []verdict.Error{{}}}
	otherRules := at(9, 0, 0, "f", edit("f"))
	otherRules.filter = &filter{rules: map[string]bool{"B": true}}
	moved := []repo.Change{{Path: "f", Old: blob(1)}, {Path: "g", New: blob(1)}}
	two := step{commit: at(3, 0, 0, "").commit, outcome: &outcome{broken: map[ruleFile]places{{"A", "h"}: {2, 2, 2}, {"A", "i"}: {2, 2, 2}}}}
	two.files = []repo.Change{{Path: "f", Old: blob(1)}, {Path: "g", Old: blob(1)}, {Path: "h", New: blob(1)}, {Path: "i", New: blob(1)}}
	for i := range 100_000 { // which must not be compared each with each
		two.files = append(two.files, repo.Change{Path: fmt.Sprint("j", i), Old: blob(2)}, repo.Change{Path: fmt.Sprint("k", i), New: blob(2)})
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"the newest first", []step{at(0, 3, 2, "f", added), at(5, 4, 1, "f", edit("f")), at(7, 3, 0, "f", edit("f")),
			at(10, 0, 0, "f", edit("f"))}, "[2 10 10]"},
		{"one comes, one goes", []step{at(0, 1, 1, "f", added), at(4, 1, 1, "f", edit("f")), at(9, 0, 0, "f", edit("f"))}, "[4 5]"},
		{"renamed", []step{at(0, 2, 2, "f", added), at(3, 2, 2, "g", moved...), at(6, 1, 0, "g", edit("g"))}, "[6]"},
		{"renamed, where no rule selects it", []step{at(0, 2, 2, "f", added), at(3, 0, 0, "g", moved...)}, "[3 3]"},
		{"two of the same content renamed", []step{at(0, 2, 2, "f", added), at(1, 2, 2, "g", repo.Change{Path: "g", New: blob(1)}), two,
			at(5, 0, 0, "h", edit("h")), at(6, 0, 0, "i", edit("i"))}, "[5 5 5 5]"},
		{"undecided", []step{at(0, 1, 1, "f", added), undecided, at(9, 1, 0, "f", edit("f"))}, "[]"},
		{"the rule is gone", []step{at(0, 1, 1, "f", added), otherRules, at(12, 0, 0, "f", edit("f"))}, "[]"},
		{"a wrong clock", []step{at(9, 1, 1, "f", added), at(2, 0, 0, "f", edit("f"))}, "[0]"},
	} {
		b := &branch{Judge: New(Options{})}
		stays := map[string]map[string]*stay{}
		for i := range c.steps {
			b.follow(&c.steps[i], stays)
		}
		if got := fmt.Sprint(b.tallyOf("A", "").stays); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
