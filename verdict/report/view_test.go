package report

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

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

// FuzzRealPath: the path is the file's own, or it is as a report writes it and says that it
// is not the file's own.
func FuzzRealPath(f *testing.F) {
	for _, s := range []string{"a.tf", `a\b`, "a\xff", "a\n", "\u200b", "\xe4\xb8", `\x41`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := realPath(verdict.Path(raw))
		wantSafe(t, got, false)
		hidden := !utf8.ValidString(raw) || verdict.Visible(raw) != raw
		if want := verdict.Visible(verdict.Path(raw)); hidden && got != want {
			t.Errorf("realPath of %+q is %+q, want %+q", raw, got, want)
		}
		if !hidden && got != raw {
			t.Errorf("realPath of %+q is %+q", raw, got)
		}
		_ = realPath(raw) // of no verdict's making, and no panic
	})
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
		{"a👍👍", 3, "a…"}, // half a character is none
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

// TestLastLine: the line after a match that ends with a line end is not touched by it.
func TestLastLine(t *testing.T) {
	for _, c := range []struct {
		e    verdict.Evidence
		want int64
	}{
		{verdict.Evidence{Line: 3, Column: 2, EndLine: 3, EndColumn: 5}, 3},
		{verdict.Evidence{Line: 3, Column: 2, EndLine: 4, EndColumn: 1}, 3},
		{verdict.Evidence{Line: 3, Column: 2, EndLine: 4, EndColumn: 2}, 4},
		{verdict.Evidence{Line: 1, Column: 1, EndLine: 1, EndColumn: 1}, 1},
	} {
		if got := lastLine(&c.e); got != c.want {
			t.Errorf("%+v: %d, want %d", c.e, got, c.want)
		}
	}
}

// annotated are the formats that programs read and that list findings.
func annotated() []Format {
	return slices.DeleteFunc(Formats(), func(f Format) bool { return !slices.Contains([]string{"junit", "github", "rdjson"}, f.Name) })
}

// TestNothingLooksClean: what is no PASS says so in every format, a FAIL without any
// reason in it included, and a PASS of a run that looked at nothing is another than one
// that looked.
func TestNothingLooksClean(t *testing.T) {
	pass := fixtures()["pass"].verdict
	empty := verdict.New("1.0") // no rule, no violation, no error
	empty.Decide()
	nothing := newFixture()
	uncover(nothing)
	nothing.Coverage.Files = 7
	nothing.Decide()
	gap := newFixture()
	gap.Coverage.NotScanned, gap.Allowed = []verdict.Omission{{File: "a.bin", Reason: "lfs-pointer"}}, []string{"lfs-pointer"}
	gap.Decide()
	narrow := newFixture()
	narrow.Partial, narrow.Allowed = true, []string{"partial"}
	narrow.Decide()
	if empty.Verdict != verdict.Fail || nothing.Verdict != verdict.Pass || gap.Verdict != verdict.Pass || narrow.Verdict != verdict.Pass {
		t.Fatal("the fixtures are not what they should be")
	}
	if len(annotated()) != 3 {
		t.Fatal("a format is missing")
	}
	for _, f := range annotated() {
		text := func(v *verdict.Verdict) string {
			var b bytes.Buffer
			if err := f.Write(&b, v); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		mark := map[string]string{"junit": "<error ", "github": "::error ", "rdjson": `"could not decide: `}[f.Name]
		if strings.Contains(text(pass), mark) {
			t.Errorf("%s: a PASS has %q", f.Name, mark)
		}
		for name, v := range map[string]*verdict.Verdict{"no reason": empty, "incomplete": fixtures()["incomplete"].verdict} {
			if !strings.Contains(text(v), mark) {
				t.Errorf("%s, %s: no %q in\n%s", f.Name, name, mark, text(v))
			}
		}
		for want, v := range map[string]*verdict.Verdict{
			"no file is covered by a rule: nothing was checked":          nothing,
			"1 covered file not scanned, as --allow lfs-pointer accepts": gap,
			"the run was narrowed by --rule or --exclude":                narrow,
		} {
			if got := text(v); !strings.Contains(got, want) || strings.Contains(text(pass), want) || strings.Contains(got, mark) {
				t.Errorf("%s: want %q in\n%s", f.Name, want, got)
			}
		}
	}
}

// shortWriter takes so many bytes, then fails.
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
	v := fixtures()["hostile"].verdict
	for _, f := range Formats() {
		var a, b bytes.Buffer
		if err := errors.Join(f.Write(&a, v), f.Write(&b, v)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) || a.Len() == 0 {
			t.Fatalf("%s: %v, %d bytes, then %d", f.Name, err, a.Len(), b.Len())
		}
		for room := 0; room < a.Len(); room += 1 + a.Len()/50 {
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
		for _, x := range fixtures() {
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
		return verdict.Violation{RuleID: rules[r].ID, RuleType: rules[r].Type, Title: rules[r].Title, File: file, Reason: reason, Evidence: verdict.Evidence{Pattern: pattern}}
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
		{"paths begin again", []verdict.Violation{of(1, "a", "x"), of(1, "b", "x"), of(3, "a", "y"), of(3, "b", "y")}, []int{1, 1, 3, 3}},
		{"two patterns of one rule", []verdict.Violation{of(1, "a", "x"), of(1, "a", "y")}, []int{1, 1}},
		{"in no order that a run writes", []verdict.Violation{of(0, "b", "x"), of(8, "b", "x"), of(0, "a", "x")}, []int{0, 8, 0}},
		{"no rule", []verdict.Violation{{RuleID: "A", RuleType: "boundary", Title: "other"}, {RuleID: "C"}, of(0, "a", "x")}, []int{-1, -1, 0}},
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
		{`T: the file contains "\"q\"", which must not appear`, `"q"`, `T: the file contains "\"q\"", which must not appear.`},
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
		v.Evidence.Occurrences = 12
		if got, want := newFinding(&v).sentence(), c.want+" The first of 12 occurrences in this file."; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestView: what reports count and say of a whole run.
func TestView(t *testing.T) {
	v := labelled()
	v.Decide()
	w := newView(v)
	for _, c := range [][2]string{
		{w.result(), "4 violations of 2 rules in 4 files, 3 new; 3 allowed, 1 new"},
		{w.allowedSuffix(), "; 3 allowed, 1 new"},
		{w.allowedNote(), "allowed by allowances.yml: 3 violations in 3 files, 1 new"},
		{w.summaryLine(), "FAIL: 4 violations of 2 rules in 4 files, 3 new; 3 allowed, 1 new; 5 files checked, 2 covered by a rule, 2 rules"},
		{newView(allowedInFull()).allowedSuffix(), "; 1 allowed"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
	if first := w.groups[0]; len(w.groups) != 2 || first.rule.ID != "NET-1" || first.fresh != 2 || first.violations[0].File != "main.tf" {
		t.Errorf("the first of %d groups is %+v", len(w.groups), first)
	}
}
