package allowance

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
)

// threeRules is a bundle of three rules, one of which has no allowances, and one that is deprecated.
func threeRules() map[string]string {
	rule := func(id, more string) string {
		return "  - id: " + id + "\n    title: t\n    enforcement: {mode: fail}\n" +
			"    match: {files: [\"**/*.tf\"], forbidden_patterns: [" + strings.ToLower(id) + "x]}\n" + more
	}
	return map[string]string{
		rules.BoundariesFile: "bundle: \"0.2\"\nrules:\n" + rule("A", "") + rule("B", "") +
			rule("NEVER", "    allowances: never\n"),
		rules.DeprecatedFile: "rules:\n" + rule("OLD", ""),
	}
}

// fataler ends a test.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// withEntries writes a bundle of three rules with entries, and opens its file.
func withEntries(t fataler, dir string, entries []byte) *File {
	t.Helper()
	files := threeRules()
	files[rules.AllowancesFile] = string(entries)
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o777)
		if err == nil && text != "" {
			err = os.WriteFile(file, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	return opened(t, dir)
}

// opened opens the file of an existing bundle.
func opened(t fataler, dir string) *File {
	t.Helper()
	all, err := run.LoadRules([]string{dir}, dir)
	var l *File
	if err == nil {
		l, err = Open(all, dir, dir)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return l
}

// of returns a complete verdict of the file's bundle with these counts.
func (l *File) of(n map[pair]int) *verdict.Verdict {
	v := verdict.New("test")
	v.Scope.Mode, v.Rules = "full", []verdict.Rule{{ID: "A"}}
	for _, b := range l.policies.Bundles() {
		v.Policy = append(v.Policy, verdict.Policy{SHA256: b.SHA256})
	}
	for _, p := range slices.SortedFunc(maps.Keys(n), pair.compare) {
		for _, part := range []int{n[p] / 2, n[p] - n[p]/2} { // as of two patterns
			o := verdict.Violation{RuleID: p.rule, File: p.file}
			if o.Evidence.Occurrences, o.PlaceCount = int64(part), int64(part); part > 0 {
				o.Evidence.Pattern = strings.ToLower(p.rule) + "x"
				v.Violations = append(v.Violations, o)
			}
		}
	}
	v.Decide()
	return v
}

func anyFile(t *rapid.T, name string) string {
	return rapid.SampledFrom([]string{"a.tf", "b.tf", "d/a.tf", "d/\"q\".tf", "# x.tf", `\xff\\.tf`, "é: y.tf"}).Draw(t,
		name)
}

// anyLedger draws the text of an allowances.yml, with comments; nil without entries.
func anyLedger(t *rapid.T) []byte {
	var all []rules.Allowance
	for range rapid.IntRange(0, 8).Draw(t, "entries") {
		all = append(all, rules.Allowance{
			Rule: rapid.SampledFrom([]string{"A", "A", "B", "OLD"}).Draw(t, "rule"), File: anyFile(t, "file"),
			AtMost: rapid.IntRange(1, 5).Draw(t, "at most"), Owner: "o", Reason: "r",
			Until:   rapid.SampledFrom([]string{"", "", "2026-01-01", "2030-01-01"}).Draw(t, "until"),
			MayGrow: rapid.IntRange(0, 4).Draw(t, "may grow") == 0,
		})
	}
	var b bytes.Buffer
	for line := range bytes.Lines(rules.FormatAllowances(all)) {
		if rapid.IntRange(0, 2).Draw(t, "comment") == 0 {
			fmt.Fprintf(&b, "# comment %d\n", b.Len())
		}
		b.Write(line)
	}
	return b.Bytes()
}

func anyCounts(t *rapid.T) map[pair]int {
	n := map[pair]int{}
	for range rapid.IntRange(0, 8).Draw(t, "violations") {
		p := pair{rapid.SampledFrom([]string{"A", "A", "B"}).Draw(t, "rule"), anyFile(t, "file")}
		n[p] = rapid.IntRange(1, 6).Draw(t, "count")
	}
	return n
}

// comments returns the comment lines of a file.
func comments(text []byte) []string {
	var all []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

func textOf(t fataler, l *File) []byte {
	text, err := os.ReadFile(l.file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatalf("%v", err)
	}
	return text
}

// means returns the effective limits of a file's entries, by RULES-0.2 for several of one rule and file.
type means struct {
	atMost  int
	until   string
	mayGrow bool
}

func meansOf(all []rules.Allowance) map[pair]means {
	m := map[pair]means{}
	for _, a := range all {
		one, several := m[pairOf(&a)]
		if !several {
			one = means{a.AtMost, a.Until, a.MayGrow}
		}
		one.atMost, one.mayGrow = min(one.atMost, a.AtMost), one.mayGrow && a.MayGrow
		if one.until == "" || a.Until != "" && a.Until < one.until {
			one.until = a.Until
		}
		m[pairOf(&a)] = one
	}
	return m
}

const fileDay = "2027-06-01"

// TestAdd: exactly the verdict's counts are added, where there was no entry; nothing else changes, and raised entries
// have the verdict's number.
func TestAdd(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		text, n := anyLedger(t), anyCounts(t)
		l := withEntries(t, dir, text)
		g := AddOptions{
			Owner: "new", Reason: "new", Raise: rapid.Bool().Draw(t, "raise"), Day: fileDay,
			Until: rapid.SampledFrom([]string{"", "2031-01-01"}).Draw(t, "until"),
		}
		o, err := l.Add(l.of(n), g)
		if err != nil {
			t.Fatal(err)
		}
		was, is := l.Entries(), opened(t, dir)
		now := is.Entries()
		refused := 0
		for p, count := range n {
			var olds, news []rules.Allowance
			for _, a := range was {
				if pairOf(&a) == p {
					olds = append(olds, a)
				}
			}
			for _, a := range now {
				if pairOf(&a) == p {
					news = append(news, a)
				}
			}
			if len(olds) == 0 {
				want := rules.Allowance{
					Rule: p.rule, File: p.file, AtMost: count, Owner: "new", Reason: "new", Until: g.Until,
				}
				if len(news) != 1 || !news[0].Same(want) {
					t.Errorf("%v: %+v, want %+v", p, news, want)
				}
				continue
			}
			low := func(a rules.Allowance) bool { return a.AtMost < count || a.Until != "" && a.Until < fileDay }
			ended := func(a rules.Allowance) bool { return a.Until != "" && a.Until < fileDay }
			raised := g.Raise && (g.Until != "" || !slices.ContainsFunc(olds, ended))
			if slices.ContainsFunc(olds, low) && !raised {
				refused++
			}
			for i, a := range olds {
				if low(a) && raised {
					a.AtMost, a.Owner, a.Reason = count, "new", "new"
					if g.Until != "" {
						a.Until = g.Until
					}
				}
				if !news[i].Same(a) {
					t.Errorf("%v: %+v, want %+v", p, news[i], a)
				}
			}
		}
		for p, m := range meansOf(was) {
			if n[p] == 0 && meansOf(now)[p] != m {
				t.Errorf("%v was not asked for, and is now %+v", p, meansOf(now)[p])
			}
		}
		if len(o.Skipped) != refused || !slices.Equal(comments(text), comments(textOf(t, l))) {
			t.Errorf("%d refused, want %d: %+v\n%s", len(o.Skipped), refused, o.Skipped, textOf(t, l))
		}
		again, err := is.Add(is.of(n), g)
		if err != nil || len(again.Changes) > 0 {
			t.Errorf("a second time: %v, %+v", err, again.Changes)
		}
	})
}

// TestTighten: each entry has the smaller of its number and the occurrences, and entries without occurrences are
// removed; exceptions and entries of rules not enforced or files not scanned stay. Comments stay, and a second run
// changes nothing.
func TestTighten(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		text, n := anyLedger(t), anyCounts(t)
		l := withEntries(t, dir, text)
		v := l.of(n)
		unseen := anyFile(t, "unseen")
		v.Coverage.NotScanned = []verdict.Omission{{File: unseen, Reason: "lfs-pointer"}}
		var left []rules.Allowance
		for _, a := range l.Entries() {
			if p := pairOf(&a); !a.MayGrow && a.Rule != "OLD" && a.File != unseen {
				a.AtMost = min(a.AtMost, n[p])
			}
			if a.AtMost > 0 {
				left = append(left, a)
			}
		}
		want := meansOf(left)
		o, err := l.Tighten(v, &History{}, "")
		if err != nil {
			t.Fatal(err)
		}
		is := opened(t, dir)
		if got := meansOf(is.Entries()); !maps.Equal(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
		if o.Deleted != (len(left) == 0 && len(l.Entries()) > 0) || len(is.Entries()) > len(left) {
			t.Errorf("deleted %t, %d entries of %d", o.Deleted, len(is.Entries()), len(left))
		}
		after := textOf(t, l)
		if len(left) > 0 && !slices.Equal(comments(text), comments(after)) {
			t.Errorf("comments of\n%s\nare now\n%s", text, after)
		}
		v = is.of(n)
		v.Coverage.NotScanned = []verdict.Omission{{File: unseen, Reason: "lfs-pointer"}}
		if o, err := is.Tighten(v, &History{}, ""); err != nil || len(o.Changes) > 0 ||
			!bytes.Equal(textOf(t, l), after) {
			t.Errorf("a second time: %v, %+v", err, o.Changes)
		}
	})
}

// TestScanned: a file without a count in the scan does not count as empty.
func TestScanned(t *testing.T) {
	v := &verdict.Verdict{Coverage: verdict.Coverage{
		NotScanned: []verdict.Omission{{File: "sub", Reason: "submodule"}, {File: "d/x.bin", Reason: "lfs-pointer"}},
		LeftOut:    []verdict.Omission{{File: "verdict.json", Reason: "output"}},
		Unparsed:   []string{"t.yaml"},
	}}
	for file, want := range map[string]bool{
		"sub": false, "sub/a": false, "sub/d/a": false, "subs/a": true, "d/x.bin": false, "d/x": true, "d": true,
		"verdict.json": false, "t.yaml": false, "a/t.yaml": true,
	} {
		if got := scanned(v)(file); got != want {
			t.Errorf("%s: %t", file, got)
		}
	}
}

// TestWriteIsSafe: a file that has changed since it was read is neither replaced nor deleted, nor is a new one.
func TestWriteIsSafe(t *testing.T) {
	entry := []byte("bundle: \"0.2\"\nallowances:\n  - {rule: A, file: a.tf, at_most: 1, owner: o, reason: r}\n")
	for _, entries := range [][]byte{nil, entry} {
		dir := t.TempDir()
		l := withEntries(t, dir, entries)
		if err := os.WriteFile(l.file, []byte("theirs"), 0o666); err != nil {
			t.Fatal(err)
		}
		texts := [][]byte{[]byte("mine")}
		if entries != nil {
			texts = append(texts, nil)
		}
		for _, text := range texts {
			if err := l.write(text); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
				t.Errorf("%q: %v", text, err)
			}
		}
		if got := string(textOf(t, l)); got != "theirs" {
			t.Errorf("the file has %q", got)
		}
		all, err := os.ReadDir(filepath.Dir(l.file))
		if err != nil || len(all) != 3 {
			t.Errorf("%v, %v", all, err)
		}
	}
}

// TestDue: the last day counts, and days are calendar days, at any distance.
func TestDue(t *testing.T) {
	b := rules.New(nil, nil)
	for _, until := range []string{"", "2027-06-01", "2027-05-31", "2027-07-01", "2027-07-02", "0001-01-01",
		"9999-12-31"} {
		b.Allowances = append(b.Allowances, rules.Allowance{Rule: "A", File: "a", AtMost: 1, Until: until})
	}
	b.Allowances = append(b.Allowances, rules.Allowance{Rule: "A", File: "a", Until: fileDay}) // withdraws
	var p run.RuleSource
	p.Bundle, p.Name = b, "n"
	for days, want := range map[int]string{
		0:  "0001-01-01 ended 740132 days ago, 2027-05-31 ended yesterday, 2027-06-01 ends today",
		29: "0001-01-01 ended 740132 days ago, 2027-05-31 ended yesterday, 2027-06-01 ends today",
		30: "0001-01-01 ended 740132 days ago, 2027-05-31 ended yesterday, 2027-06-01 ends today, " +
			"2027-07-01 ends in 30 days",
	} {
		due, err := Due(run.RuleSources{p}, fileDay, days)
		var got []string
		for i := range due {
			got = append(got, due[i].Allowance.Until+" "+due[i].When())
		}
		if text := strings.Join(got, ", "); err != nil || text != want {
			t.Errorf("%d: %s, %v", days, text, err)
		}
	}
	for text, want := range map[string]int{"30d": 30, "0d": 0, "4w": 28, "": -1, "30": -1, "d": -1, "-1d": -1,
		"+1d": -1, "1m": -1, "9999999d": -1} {
		n, err := ParseDays(text)
		if err != nil {
			n = -1
		}
		if n != want {
			t.Errorf("%q: %d", text, n)
		}
	}
}

// TestRenames: files with equal content are paired, then the most similar, with at least half of the larger one in
// common; of equal ones those with the same base name. Too many files to compare are reported.
func TestRenames(t *testing.T) {
	text := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	find := func(olds, news map[string]string) (string, bool) {
		var all []string
		renames, tooMany := pairRenamed(olds, news)
		for _, from := range slices.Sorted(maps.Keys(renames)) {
			all = append(all, from+">"+renames[from])
		}
		return strings.Join(all, " "), tooMany
	}
	type files = map[string]string
	for name, c := range map[string]struct {
		before, after files
		want          string
	}{
		"half":   {files{"a": text("1", "2")}, files{"b": text("1", "3")}, "a>b"},
		"less":   {files{"a": text("1", "2", "4")}, files{"b": text("1", "3", "5")}, ""},
		"larger": {files{"a": text("1")}, files{"b": text("1", "2", "3")}, ""},
		"base name": {files{"x/a": text("1"), "x/b": text("1")}, files{"y/a": text("1"), "y/b": text("1")},
			"x/a>y/a x/b>y/b"},
		"best": {files{"a": text("1", "2", "3"), "b": text("1", "2", "4")}, files{"c": text("1", "2", "4", "5")},
			"b>c"},
		"twice": {files{"a": text("1", "1")}, files{"b": text("1", "2", "3", "4")}, ""},
	} {
		if got, tooMany := find(c.before, c.after); got != c.want || tooMany {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	const many = 400 // times itself is more than maxPairs
	for _, edited := range []bool{false, true} {
		before, after := files{}, files{}
		var want []string
		for i := range many {
			from, to := fmt.Sprintf("old/%03d/main.tf", i), fmt.Sprintf("new/%03d/main.tf", i)
			before[from], after[to] = text("a", "x"), text("a", "x")
			if edited {
				after[to] = text("a", fmt.Sprint(i))
			} else {
				want = append(want, from+">"+to)
			}
		}
		if got, tooMany := find(before, after); got != strings.Join(want, " ") || tooMany != edited {
			t.Errorf("edited %t: %t, %s", edited, tooMany, got)
		}
	}
}
