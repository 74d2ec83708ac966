package history

import (
	"context"
	"errors"
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

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

var long = flag.Bool("long", false, "do all of the tests that otherwise do a part")

const boundaries = `
bundle: "0.2"
rules:
  - id: TEXT
    title: T
    enforcement: {mode: fail}
    match: {files: ["**"], exclude: ["free/**"], forbidden_patterns: ["secret", {regex: 'to+ken'}]}
  - id: KEY
    title: T
    enforcement: {mode: fail}
    match: {files: ["**/*.yml"], forbidden_patterns: [{key: open, is: true}, "plain"]}
  - id: TEMPLATE
    title: T
    enforcement: {mode: fail}
    match: {files: ["**/*.yml"], unparsable: text, forbidden_patterns: [{key: open, is: true}, {regex: 'open: true'}]}
  - id: FILE
    title: T
    enforcement: {mode: fail}
    match: {forbidden_files: ["**/*.pem"]}
`

const invariants = `
bundle: "0.2"
rules:
  - id: NAMED
    title: T
    enforcement: {mode: fail}
    match: {files: ["**"], required_patterns: ["name"], required_files: ["/README"]}
  - id: CLOSED
    title: T
    enforcement: {mode: fail}
    match: {files: ["**/*.yml"], required_patterns: [{key: closed}]}
`

// loadBundles returns all rules, and those without keys, which are not looked for in a symlink.
func loadBundles(t testing.TB) (all, ofLinks *rules.Bundle) {
	t.Helper()
	load := func(change *strings.Replacer) *rules.Bundle {
		b, err := rules.Load(rules.Files{
			rules.BoundariesFile: []byte(change.Replace(boundaries)),
			rules.InvariantsFile: []byte(change.Replace(invariants)),
		})
		must(t, err)
		return b
	}
	return load(strings.NewReplacer()), load(strings.NewReplacer("{key: open, is: true}, ", "", "unparsable: text, ", "",
		"{key: closed}", "closed"))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A commit of a generated history. Its files are all of the commit's, by path: the mode, a space and the content.
type commit struct {
	date    int
	parents []int // numbers of commits, from 0
	files   map[string]string
	hash    string
}

// draw returns a history of some commits: edits, deletions, renames, changed modes, reverts, several roots, merges of
// up to four that take from all their parents, criss-crosses, and clocks that run backwards.
func draw(rnd *rand.Rand) []commit {
	paths := []string{"a.yml", "d/b.yml", "c.txt", "d/key.pem", "free/x.txt", "odd \n name", "d", "README"}
	pieces := []string{"secret\n", "toooken token\n", "open: true\n", "closed: 1\n", "a: [\n", "{{ x }}\n", "plain\n", "name: 1\n", "\n"}
	modes := []string{"100644", "100644", "100644", "100755", "120000", "160000"}
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	all := make([]commit, 3+rnd.IntN(12))
	for i := range all {
		c := commit{date: 1_700_000_000 + rnd.IntN(4)*rnd.IntN(20), files: map[string]string{}}
		if i > 0 && rnd.IntN(12) > 0 {
			c.parents = []int{max(0, i-1-rnd.IntN(3)*rnd.IntN(2))}
			for range rnd.IntN(2) * rnd.IntN(4) {
				if p := rnd.IntN(i); !slices.Contains(c.parents, p) {
					c.parents = append(c.parents, p)
				}
			}
			for _, p := range c.parents {
				for path, file := range all[p].files {
					if p == c.parents[0] || rnd.IntN(2) == 0 {
						c.files[path] = file
					}
				}
			}
			if rnd.IntN(8) == 0 { // a revert
				c.files = maps.Clone(all[rnd.IntN(i)].files)
			}
		}
		for range rnd.IntN(6) {
			path := pick(paths)
			switch file, exists := c.files[path]; {
			case rnd.IntN(4) == 0:
				delete(c.files, path)
			case exists && rnd.IntN(4) == 0:
				delete(c.files, path)
				c.files[pick(paths)] = file
			case exists && rnd.IntN(4) == 0 && !strings.HasPrefix(file, "160000"):
				c.files[path] = pick(modes[:5]) + file[6:]
			default:
				text := ""
				for range 1 + rnd.IntN(3) {
					text += pick(pieces)
				}
				if c.files[path] = pick(modes) + " " + text; strings.HasPrefix(c.files[path], "160000") {
					c.files[path] = "160000 " + strings.Repeat("x", 1+rnd.IntN(2))
				}
			}
		}
		for path := range c.files { // a file and a directory cannot have one name
			if strings.HasPrefix(path, "d/") {
				delete(c.files, "d")
			}
		}
		all[i] = c
	}
	return all
}

// write writes histories into one repository, and sets the hashes of their commits.
func write(t testing.TB, histories [][]commit) *repo.Repository {
	t.Helper()
	dir := t.TempDir()
	var in strings.Builder
	mark := 0
	for _, h := range histories {
		first := mark + 1
		for _, c := range h {
			mark++
			fmt.Fprintf(&in, "commit refs/heads/c%d\nmark :%d\ncommitter A <a@b> %d +0000\ndata 6\n%06d\n", mark, mark, c.date, mark)
			for k, p := range c.parents {
				fmt.Fprintf(&in, "%s :%d\n", []string{"from", "merge"}[min(k, 1)], first+p)
			}
			in.WriteString("deleteall\n")
			for path, file := range c.files {
				mode, text, _ := strings.Cut(file, " ")
				if mode == "160000" {
					fmt.Fprintf(&in, "M %s %040x %q\n", mode, len(text)+1, path)
				} else {
					fmt.Fprintf(&in, "M %s inline %q\ndata %d\n%s\n", mode, path, len(text), text)
				}
			}
		}
	}
	marks := filepath.Join(dir, "marks")
	for _, args := range [][]string{
		{"init", "-q", "--bare"}, {"config", "core.fsync", "none"}, {"fast-import", "--quiet", "--export-marks=" + marks},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(in.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	text, err := os.ReadFile(marks)
	must(t, err)
	hashes := map[string]string{}
	for line := range strings.Lines(string(text)) {
		mark, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		hashes[mark] = hash
	}
	mark = 0
	for _, h := range histories {
		for i := range h {
			mark++
			h[i].hash = hashes[fmt.Sprintf(":%d", mark)]
		}
	}
	r, err := repo.Environment{GitDir: dir}.Open("")
	must(t, err)
	t.Cleanup(r.Close)
	return r
}

// A seen is what a naive reader of docs/scopes.md finds.
type seen struct {
	states, violations, unparsed []string
}

// naive looks at each commit that the head reaches and the base does not, one after the other: at each of its files
// that differs from that of every parent, and that the head does not have. It knows the files from the generator.
func naive(t testing.TB, h []commit, base, head int, b, ofLinks *rules.Bundle) (all seen) {
	t.Helper()
	reached := func(from int) map[int]bool {
		all := map[int]bool{}
		var walk func(i int)
		walk = func(i int) {
			if !all[i] {
				all[i] = true
				for _, p := range h[i].parents {
					walk(p)
				}
			}
		}
		walk(from)
		return all
	}
	wanted := reached(head)
	maps.DeleteFunc(wanted, func(i int, _ bool) bool { return reached(base)[i] })
	known := map[string]bool{}
	for len(wanted) > 0 {
		next := -1
		for i := range wanted {
			ready := !slices.ContainsFunc(h[i].parents, func(p int) bool { return wanted[p] })
			if ready && (next < 0 || fmt.Sprint(h[i].date, h[i].hash) < fmt.Sprint(h[next].date, h[next].hash)) {
				next = i
			}
		}
		delete(wanted, next)
		c := h[next]
		for _, path := range slices.Sorted(maps.Keys(c.files)) {
			file := c.files[path]
			same := func(p int) bool { return h[p].files[path] == file }
			state := path + "\n" + file
			if slices.ContainsFunc(c.parents, same) || known[state] {
				continue
			}
			if known[state] = true; same(head) {
				continue
			}
			all.states = append(all.states, c.hash+" "+path)
			mode, text, _ := strings.Cut(file, " ")
			checker := check.NewContentChecker(b)
			if mode == "120000" {
				checker = check.NewContentChecker(ofLinks)
			}
			violations, err := checker.Check(context.Background(), path, []byte(text))
			var undecided *check.UndecidedError
			if err != nil && !errors.As(err, &undecided) {
				t.Fatal(err)
			}
			blob := mode != "160000"
			if blob && (checker.TextAlone() || undecided.Has(code.Parse)) {
				all.unparsed = append(all.unparsed, path+"@"+c.hash)
			}
			for _, v := range violations {
				if v.Evidence.Kind == verdict.KindFile || blob && v.Evidence.Kind != verdict.KindMissing {
					all.violations = append(all.violations, fmt.Sprint(c.hash, v.RuleID, v.File, v.Evidence.Pattern,
						v.Evidence.Offset, v.Evidence.Occurrences, v.PlaceCount))
				}
			}
		}
	}
	return all
}

// TestStates compares generated histories with a second implementation, which knows the files of each commit and
// checks each state by itself.
func TestStates(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	const together = 50
	repositories := 8
	if *long {
		repositories = 10_000 / together
	}
	b, ofLinks := loadBundles(t)
	checker := &check.Checker{Bundle: b, Plans: check.NewPlanCache(b), Limiter: check.NewParseLimiter()}
	var total seen
	merged := 0
	for n := range repositories {
		rnd := rand.New(rand.NewPCG(uint64(n), 61))
		var histories [][]commit
		for range together {
			histories = append(histories, draw(rnd))
		}
		r := write(t, histories)
		for _, h := range histories {
			base, head := rnd.IntN(len(h)/2), len(h)-1
			want := naive(t, h, base, head, b, ofLinks)
			got := seen{}
			commits, err := r.Between(hashes(t, r, h[head]), hashes(t, r, h[base]))
			must(t, err)
			tree, err := r.Tree(hashes(t, r, h[head])[0])
			must(t, err)
			var states []State
			must(t, States(t.Context(), r, commits, func(s State) error {
				leaf, _, err := r.Lookup(tree, s.Path)
				if err == nil && leaf != s.Leaf {
					states = append(states, s)
					got.states = append(got.states, fmt.Sprint(s.Commit, " ", s.Path))
				}
				return err
			}))
			report, err := (&Checker{Repo: r, Check: checker, Workers: 2}).Report(t.Context(), states)
			must(t, err)
			for i := range report.Findings {
				v := report.Findings[i].Found.Violation(b)
				v.BroughtBy(report.Findings[i].State.Commit.String())
				if v.Status != verdict.Introduced || v.NewPlaceCount != v.PlaceCount {
					t.Fatalf("%+v", v)
				}
				got.violations = append(got.violations, fmt.Sprint(v.Commit, v.RuleID, v.File, v.Evidence.Pattern,
					v.Evidence.Offset, v.Evidence.Occurrences, v.PlaceCount))
			}
			got.unparsed = report.Unparsed
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) || len(report.Errors)+len(report.NotScanned) > 0 {
				t.Fatalf("%s..%s\n%q\nwant\n%q\n%v", h[base].hash, h[head].hash, got, want, report.Errors)
			}
			for _, s := range got.states {
				hash, _, _ := strings.Cut(s, " ")
				if i := slices.IndexFunc(h, func(c commit) bool { return c.hash == hash }); len(h[i].parents) > 1 {
					merged++
				}
			}
			total.states = append(total.states, got.states...)
			total.violations = append(total.violations, got.violations...)
			total.unparsed = append(total.unparsed, got.unparsed...)
		}
	}
	n := repositories * together
	if len(total.states) < 2*n || len(total.violations) < n || len(total.unparsed) < n/10 || merged < n/10 {
		t.Errorf("too little to say much")
	}
	t.Logf("measured: %d histories, %d states (%d of merges), %d violations, %d unparsed", n, len(total.states), merged,
		len(total.violations), len(total.unparsed))
}

func hashes(t testing.TB, r *repo.Repository, c commit) []repo.Hash {
	t.Helper()
	h, err := r.Commit(c.hash)
	must(t, err)
	return []repo.Hash{h}
}

// TestUndecided: what cannot be read or decided in a commit is an error, as in the head, and never a state without
// findings; what cannot be parsed is not. An error has no line: a reader would look for it in the head.
func TestUndecided(t *testing.T) {
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" +
		"4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	h := []commit{{date: 1_700_000_000, files: map[string]string{
		"a.yml": "100644 a: [\n", "b.yml": "100644 " + pointer, "c.yml": "100644 " + strings.Repeat("c", 200),
		"x.conf": "100644 secret\n",
	}}}
	r := write(t, [][]commit{h})
	b, err := rules.Load(rules.Files{rules.BoundariesFile: []byte(boundaries + `
  - id: CONF
    title: T
    enforcement: {mode: fail}
    match: {files: ["**/*.conf"], forbidden_patterns: [{key: open, is: true}]}
`)})
	must(t, err)
	checker := &check.Checker{
		Bundle: b, Plans: check.NewPlanCache(b), Limiter: check.NewParseLimiter(), MaxFileBytes: 180,
	}
	var states []State
	must(t, States(t.Context(), r, hashes(t, r, h[0]), func(s State) error {
		states = append(states, s)
		return nil
	}))
	report, err := (&Checker{Repo: r, Check: checker}).Report(t.Context(), states)
	must(t, err)
	var got []string
	for _, e := range report.Errors {
		if got = append(got, e.File+" "+e.Code); e.Line != 0 || !strings.HasPrefix(e.Message, "in commit "+h[0].hash[:7]+": ") {
			t.Errorf("%+v", e)
		}
	}
	for _, o := range report.NotScanned {
		got = append(got, strings.TrimSuffix(o.File, h[0].hash)+" "+o.Reason)
	}
	for _, u := range report.Unparsed {
		got = append(got, strings.TrimSuffix(u, h[0].hash))
	}
	for i := range report.Findings {
		got = append(got, report.Findings[i].Found.Violation(b).RuleID)
	}
	want := []string{"b.yml E_UNAVAILABLE", "c.yml E_LIMIT", "x.conf E_FORMAT", "b.yml@ lfs-pointer",
		"c.yml@ limit", "x.conf@ unknown-format", "a.yml@", "TEXT"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := States(ctx, r, hashes(t, r, h[0]), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// BenchmarkReport is 2,000 states of 20 KB, checked by one worker and by two.
func BenchmarkReport(b *testing.B) {
	h := []commit{{date: 1_700_000_000, files: map[string]string{}}}
	for i := range 2000 {
		h[0].files[fmt.Sprintf("d/%d.txt", i)] = fmt.Sprint("100644 ", i, strings.Repeat("a line of text\n", 1400))
	}
	r := write(b, [][]commit{h})
	bundle, _ := loadBundles(b)
	checker := &check.Checker{Bundle: bundle, Plans: check.NewPlanCache(bundle), Limiter: check.NewParseLimiter()}
	var states []State
	must(b, States(b.Context(), r, hashes(b, r, h[0]), func(s State) error {
		states = append(states, s)
		return nil
	}))
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			for range b.N {
				report, err := (&Checker{Repo: r, Check: checker, Workers: workers}).Report(b.Context(), states)
				if err != nil || report.Covered != len(states) {
					b.Fatal(report, err)
				}
			}
		})
	}
}
