package report

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/policyscan/policyscan/verdict"
)

func TestRealPath(t *testing.T) {
	for path, want := range map[string]string{
		"a/b c.tf":        "a/b c.tf",
		`a\\b.tf`:         `a\b.tf`,
		`\\\\x41`:         `\\x41`,
		`a\xff.tf`:        `a\xff.tf`,
		`\xe4\xb8\xe4`:    `\xe4\xb8\xe4`,
		"a\nb":            `a\u{a}b`,
		"a\u202eb":        `a\u{202e}b`,
		"\u202e" + `\xff`: `\u{202e}\xff`,
		"世界":              "世界",
		"":                "",
		// Not of Path's making: as they are.
		`a\`:    `a\`,
		`a\x`:   `a\x`,
		`a\x4`:  `a\x4`,
		`a\xzz`: `a\xzz`,
		`a\y41`: `a\y41`,
	} {
		if got := realPath(path); got != want {
			t.Errorf("realPath(%+q) = %+q, want %+q", path, got, want)
		}
	}
}

func TestTextLines(t *testing.T) {
	for s, want := range map[string][]string{
		"":                    {""},
		"\n\r\n\r":            {""},
		"a":                   {"a"},
		"\n a \r\n\r\tb\n\n":  {" a", "", "    b"},
		"a\u2028b\x1b\nc\xff": {`a\u{2028}b\u{1b}`, "c\ufffd"},
	} {
		if got := textLines(s); !slices.Equal(got, want) {
			t.Errorf("textLines(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"👍👍", 4, "👍👍"},
		{"👍👍", 3, "👍…"},
		{"a👍👍", 3, "a…"}, // no half characters
		{"世界世界", 3, "世界…"},
		{"\uffff\uffff", 2, "\uffff\uffff"}, // the last character of one unit
		{"\uffff\uffff\uffff", 2, "\uffff…"},
	} {
		got := cut(c.s, c.n)
		if got != c.want || len(utf16.Encode([]rune(got))) > c.n {
			t.Errorf("cut(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

// TestNothingLooksClean: a FAIL looks like one in every format for programs, even without a reason in it; and a PASS
// that did not check everything is not like one that did.
func TestNothingLooksClean(t *testing.T) {
	empty := verdict.New("1.0") // no rule, no violation, no error
	empty.Decide()
	change := func(change func(*verdict.Verdict)) *verdict.Verdict {
		v := newFixture()
		change(v)
		v.Decide()
		return v
	}
	gap := []verdict.Omission{{File: "a.bin", Reason: "lfs-pointer"}}
	passes := map[string]*verdict.Verdict{
		"o file is covered by a rule: nothing was checked": change(uncover),
		"1 covered file not scanned, as --allow lfs-pointer accepts": change(func(v *verdict.Verdict) {
			v.Coverage.NotScanned, v.Allowed = gap, []string{"lfs-pointer"}
		}),
		"he run was narrowed by --rule or --exclude": change(func(v *verdict.Verdict) { v.Partial = true }),
	}
	marks := map[string]string{
		"junit": "<error ", "github": "::error ", "rdjson": `"could not decide: `, "gitlab": `"blocker"`,
		"sarif": "CouldNotDecide",
	}
	for name, mark := range marks {
		text := func(v *verdict.Verdict) string {
			var b strings.Builder
			if err := Named(name).Write(&b, v); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		pass := text(fixtureOf(t, "pass"))
		for _, v := range []*verdict.Verdict{empty, fixtureOf(t, "incomplete")} {
			if strings.Contains(pass, mark) || !strings.Contains(text(v), mark) {
				t.Errorf("%s: no %q in\n%s\nor in a PASS:\n%s", name, mark, text(v), pass)
			}
		}
		for want, v := range passes {
			got := strings.ReplaceAll(text(v), "`", "")
			if v.Verdict != verdict.Pass || !strings.Contains(got, want) || strings.Contains(pass, want) ||
				strings.Contains(got, mark) {
				t.Errorf("%s: want %q in\n%s", name, want, got)
			}
		}
	}
	// It is usual that a change has no covered file.
	for mode, want := range map[string]int{"full": 1, "tracked": 1, "diff": 0, "staged": 0, "files": 0, "stdin": 0} {
		v := change(func(v *verdict.Verdict) { uncover(v); v.Scope.Mode = mode })
		if issues := gitlabOf(t, v); len(issues) != want {
			t.Errorf("%s: %+v", mode, issues)
		}
	}
}

// shortWriter fails after some bytes.
type shortWriter struct{ room int }

var errFull = errors.New("no room")

func (w *shortWriter) Write(p []byte) (int, error) {
	if len(p) > w.room {
		n := w.room
		w.room = 0
		return n, errFull
	}
	w.room -= len(p)
	return len(p), nil
}

// TestFormatsReturnWriteErrors: no format loses one, wherever it happens, and each writes
// the same bytes twice.
func TestFormatsReturnWriteErrors(t *testing.T) {
	v := fixtureOf(t, "hostile")
	for _, f := range Formats() {
		var a, b bytes.Buffer
		if err := errors.Join(f.Write(&a, v), f.Write(&b, v)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) ||
			a.Len() == 0 {
			t.Fatalf("%s: %v, %d bytes, then %d", f.Name, err, a.Len(), b.Len())
		}
		for room := 0; room < a.Len(); room += 1 + a.Len()/10 {
			if err := f.Write(&shortWriter{room}, v); !errors.Is(err, errFull) {
				t.Errorf("%s: after %d of %d bytes: %v", f.Name, room, a.Len(), err)
			}
		}
		if err := f.Write(&shortWriter{a.Len()}, v); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// TestWrote: a document is known to be of its format, and of no other.
func TestWrote(t *testing.T) {
	texts := map[string]string{"mine\n": "", "\n": ""} // and the format that each is of
	formats := Formats()
	for i := range formats {
		for _, x := range fixtures(t) {
			var b bytes.Buffer
			if err := formats[i].Write(&b, x.verdict); err != nil {
				t.Fatal(err)
			}
			if b.Len() > 0 { // annotations of a PASS
				texts[b.String()] = formats[i].Name
			}
		}
	}
	for text, of := range texts {
		for i := range formats {
			if f := &formats[i]; f.Wrote(text) != (of == f.Name) {
				t.Errorf("%s wrote %.40q (%s)? %t", f.Name, text, of, f.Wrote(text))
			}
		}
	}
}

// A violation's rule is found among rules of one id, by what each of them says, and where
// they say the same by the order of the violations.
func TestRuleIndexes(t *testing.T) {
	rule := func(id, kind, from, title, message string) verdict.Rule {
		return verdict.Rule{ID: id, Type: kind, From: from, Title: title, Message: message}
	}
	rules := []verdict.Rule{
		rule("A", "boundary", "base", "old", ""),
		rule("B", "boundary", "base", "same", "m"),
		rule("A", "boundary", "head", "new", ""),
		rule("B", "boundary", "head", "same", "m"),
		rule("A", "invariant", "base", "old", "said"),
		rule("A", "invariant", "head", "old", "said otherwise"),
		rule("C", "boundary", "base", "same", "m"),
		rule("C", "invariant", "head", "same", "m"),
		rule("A", "boundary", "head", "old", ""),
	}
	of := func(r int, file, pattern string) verdict.Violation {
		reason := rules[r].Message
		if reason == "" {
			reason = rules[r].Title + ": the file contains it"
		}
		return verdict.Violation{RuleID: rules[r].ID, RuleType: rules[r].Type, Title: rules[r].Title, File: file,
			Reason: reason, Evidence: verdict.Evidence{Pattern: pattern}}
	}
	for _, c := range []struct {
		name  string
		found []verdict.Violation
		want  []int
	}{
		{"titles", []verdict.Violation{of(0, "a", "x"), of(2, "a", "x")}, []int{0, 2}},
		{"types and messages", []verdict.Violation{of(2, "z", "x"), of(4, "a", "x"), of(5, "a", "x")}, []int{2, 4, 5}},
		{"only the type differs", []verdict.Violation{of(7, "a", "x")}, []int{7}},
		{"only the head's", []verdict.Violation{of(5, "a", "x")}, []int{5}},
		{"the same twice", []verdict.Violation{of(1, "a", "x"), of(3, "a", "x")}, []int{1, 3}},
		{"paths begin again", []verdict.Violation{of(1, "a", "x"), of(1, "b", "x"), of(3, "a", "y"), of(3, "b", "y")},
			[]int{1, 1, 3, 3}},
		{"two patterns of one rule", []verdict.Violation{of(1, "a", "x"), of(1, "a", "y")}, []int{1, 1}},
		{"in no order that a run writes", []verdict.Violation{of(0, "b", "x"), of(8, "b", "x"), of(0, "a", "x")},
			[]int{0, 8, 0}},
		{"no rule", []verdict.Violation{{RuleID: "A", RuleType: "boundary", Title: "other"}, {RuleID: "C"},
			of(0, "a", "x")}, []int{-1, -1, 0}},
	} {
		if got := ruleIndexes(&verdict.Verdict{Rules: rules, Violations: c.found}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSentence(t *testing.T) {
	long := strings.Repeat("long ", 1000)
	for _, c := range []struct{ reason, pattern, want string }{
		{`T: the file contains "p", which must not appear`, "p", `T: the file contains "p", which must not appear.`},
		{`T: the file contains '"q"', which must not appear`, `"q"`, `T: the file contains '"q"', which must not appear.`},
		{"Why\n  not?", "p", `Why not? Found: "p".`},
		{"Why", "a\n  b", `Why. Found: "a\u{a}  b".`},
		{"\u202ex\x1b", "y", `\u{202e}x\u{1b}. Found: "y".`},
		{"Why", long[:200], `Why. Found: "` + long[:200] + `".`},
		{"Why", long, `Why. Found: "` + long[:999] + `…".`},
		{long, "p", long[:999] + `…. Found: "p".`},
	} {
		v := verdict.Violation{Reason: c.reason, Evidence: verdict.Evidence{Pattern: c.pattern, Occurrences: 1}}
		if got := newFinding(&v).sentence(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		v.PlaceCount = 1200
		if got, want := newFinding(&v).sentence(), c.want+" The first of 1,200 places in this file."; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestRuleOrder: rules with new places come first, then graver ones, then earlier ones.
func TestRuleOrder(t *testing.T) {
	v := newFixture()
	v.Rules = nil
	for i, c := range [][2]string{
		{"", ""}, {"low", ""}, {"critical", ""}, {"medium", ""}, {"high", ""}, {"low", ""}, {"", verdict.Introduced},
	} {
		r := verdict.Rule{ID: fmt.Sprint(i, c[0]), Type: "boundary", Title: "T", Severity: c[0]}
		v.Rules = append(v.Rules, r)
		v.Violations = append(v.Violations, placed(r, "f", "BAD\n", "BAD", c[1]))
	}
	var got []string
	for _, g := range newView(v).groups {
		got = append(got, g.rule.ID)
	}
	if want := "6 2critical 4high 3medium 1low 5low 0"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAllowedNote: without a comparison, it says where an allowance has room for more.
func TestAllowedNote(t *testing.T) {
	for atMost, want := range map[int]string{
		2: "allowed by allowances.yml: 2 places in 1 file",
		3: "allowed by allowances.yml: 2 places in 1 file; 1 file has fewer than its at_most: only a scan with " +
			"--diff-base refuses new places there",
	} {
		v := fixtureOf(t, "allowed")
		v.AllowedViolations[0].Allowance.AtMost = atMost
		if got := newView(v).allowedNote(); got != want {
			t.Errorf("%d: %q, want %q", atMost, got, want)
		}
	}
}

// TestView: what reports say of a whole run: the headline, the notes and caveats, and the outcome of each rule.
func TestView(t *testing.T) {
	skip := func(n int) []verdict.Omission { return make([]verdict.Omission, n) }
	errs := func(n int) func(*verdict.Verdict) {
		return func(v *verdict.Verdict) { v.Errors = make([]verdict.Error, n) }
	}
	unused := func(n int) func(*verdict.Verdict) {
		return func(v *verdict.Verdict) {
			for i := range n {
				v.Rules = append(v.Rules, verdict.Rule{ID: fmt.Sprint("R", i)})
			}
		}
	}
	const (
		clean     = "no violation|no violation"
		uncovered = "this rule selects no file|this rule selects no file"
		undecided = "not decided: the run is incomplete|not decided: the run is incomplete"
		narrowed  = "the run was narrowed by --rule or --exclude; its verdict is not about the whole tree"
	)
	for name, c := range map[string]struct {
		change                   func(*verdict.Verdict)
		headline, notes, outcome string
	}{
		"pass": {func(*verdict.Verdict) {}, "PASS: no violation", "", clean},
		"not covered": {uncover, "PASS, but no file is covered by a rule: nothing was checked",
			"no file is covered by a rule: nothing was checked", uncovered},
		"empty": {func(v *verdict.Verdict) { uncover(v); v.Coverage = verdict.Coverage{} },
			"PASS, but there was nothing to scan", "there was nothing to scan", uncovered},
		"empty and undecided": {func(v *verdict.Verdict) { errs(1)(v); v.Coverage = verdict.Coverage{} },
			"FAIL: could not decide (1 error)", "", undecided},
		"all accepted": {func(v *verdict.Verdict) {
			v.Coverage.Scanned, v.Coverage.NotScanned, v.Allowed = 0, skip(2), []string{"limit"}
		}, "PASS, but no covered file was scanned; 2 covered files not scanned, as --allow limit accepts",
			"no covered file was scanned|2 covered files not scanned, as --allow limit accepts",
			"no file that it selects was scanned|no file that it selects was scanned"},
		"not parsed": {func(v *verdict.Verdict) { v.Coverage.Unparsed = make([]string, 2) },
			"PASS, but 2 files cannot be parsed: only their text was checked",
			"2 files cannot be parsed: only their text was checked", clean},
		"one unused": {unused(1), "PASS: no violation", "1 of 3 rules selects no file: R0",
			clean + "|this rule selects no file"},
		"six unused": {unused(6), "PASS: no violation",
			"6 of 8 rules select no file: R0, R1, R2, R3, R4 and 1 more", clean +
				strings.Repeat("|this rule selects no file", 6)},
		"unused in a change": {func(v *verdict.Verdict) { unused(1)(v); v.Scope = changed() }, "PASS: no violation",
			"",
			clean + "|this rule selects no file"},
		"violated": {func(v *verdict.Verdict) { v.Violations = fixtureOf(t, "fail").Violations[:1] },
			"FAIL: 2 places in 1 file break 1 rule", "", "2 places in 1 file|no violation"},
		"both": {func(v *verdict.Verdict) { errs(2)(v); v.Violations = fixtureOf(t, "fail").Violations[:3] },
			"FAIL: 4 places in 2 files break 2 rules; could not decide (2 errors)", "",
			"3 places in 2 files|1 place in 1 file"},
		"no rule":  {func(v *verdict.Verdict) { v.Rules = nil }, "FAIL: no rule was enforced", "", ""},
		"narrowed": {func(v *verdict.Verdict) { v.Partial = true }, "PASS, but " + narrowed, narrowed, clean},
	} {
		v := newFixture()
		c.change(v)
		v.Decide()
		w := newView(v)
		var outcomes []string
		for _, g := range w.byRule {
			outcomes = append(outcomes, w.ruleOutcome(g))
		}
		notes := strings.Join(append(w.notes(), w.caveats()...), "|")
		if outcome := strings.Join(outcomes, "|"); w.headline() != c.headline || notes != c.notes ||
			outcome != c.outcome {
			t.Errorf("%s: %q\n%q\n%q", name, w.headline(), notes, outcome)
		}
		page := htmlOf(t, v)
		wantPage(t, page, v)
		if got := markdown(t, v); !strings.HasPrefix(got, "## policyscan "+c.headline+"\n") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	w := newView(fixtureOf(t, "labelled"))
	for _, c := range [][2]string{
		{w.allowedSuffix(), "; 8 other places are allowed, 1 of them new"},
		{w.allowedNote(), "allowed by allowances.yml: 8 places in 3 files, 1 of them new"},
		{w.summaryLine(), "FAIL: 17 places in 4 files break 2 rules, 5 new; 8 other places are allowed, 1 of them " +
			"new; 5 files checked, 2 covered by a rule, 2 rules"},
		{newView(fixtureOf(t, "allowed")).allowedSuffix(), "; 2 places allowed"},
		{newView(&verdict.Verdict{Rules: []verdict.Rule{{ID: "A"}, {ID: "A"}, {ID: "B"}}}).looked(),
			"; 0 files checked, 0 covered by a rule, 2 rules"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
	if first := w.groups[0]; len(w.groups) != 2 || first.rule.ID != "NET-1" || first.numbers.fresh != 4 ||
		first.violations[0].File != "main.tf" {
		t.Errorf("the first of %d groups is %+v", len(w.groups), first)
	}
}

// TestRuleIndexesOfCommits: the rules of base and head have one id and the same texts, and begin again in each commit.
func TestRuleIndexesOfCommits(t *testing.T) {
	rule := verdict.Rule{ID: "R", Type: "boundary", Title: "T"}
	v := &verdict.Verdict{Rules: []verdict.Rule{rule, rule}}
	for _, commit := range []string{"", "1", "2"} {
		for range v.Rules {
			v.Violations = append(v.Violations, verdict.Violation{RuleID: "R", RuleType: "boundary", Title: "T", Reason: "T",
				File: "a", Commit: commit})
		}
	}
	if got := ruleIndexes(v); !slices.Equal(got, []int{0, 1, 0, 1, 0, 1}) {
		t.Error(got)
	}
}
