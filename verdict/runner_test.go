package verdict

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
)

// workflowCommand is how GitHub's runner reads a line of a step's output (actions/runner,
// ActionCommand.TryParseV2, then TryParse), written anew with one difference: here every
// name is a registered command. It returns the name, and false for an ordinary line.
func workflowCommand(line string) (string, bool) {
	// "::name key=value,…::data", after white space. The runner cuts the name off at the
	// first space, and takes no line without a second "::".
	if body, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); ok {
		if head, _, ok := strings.Cut(body, "::"); ok {
			name, _, _ := strings.Cut(head, " ")
			return name, true
		}
	}
	// "##[name key=value;…]data", anywhere.
	if _, body, ok := strings.Cut(line, "##["); ok {
		if head, _, ok := strings.Cut(body, "]"); ok {
			name, _, _ := strings.Cut(head, " ")
			return name, true
		}
	}
	return "", false
}

// runnerLines are the lines that the runner sees: .NET ends one at LF, CRLF and a lone CR.
func runnerLines(text string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
}

func TestWorkflowCommand(t *testing.T) {
	for line, want := range map[string]string{
		"::error::x":                      "error",
		" \t\u00a0\u2003::error file=a::": "error",
		"::stop-commands::token":          "stop-commands",
		"x ##[add-matcher]y":              "add-matcher",
		"##[error x=y;z]":                 "error",
		"::error x ##[warning]":           "warning",
		"":                                "-",
		"x ::error::y":                    "-",
		"::error:x":                       "-",
		"## [error]":                      "-",
		"##[error":                        "-",
		`\u{3a}:error::x`:                 "-",
	} {
		got, ok := workflowCommand(line)
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%q is the command %q, want %q", line, got, want)
		}
	}
}

// hostileVerdict is a verdict that has these texts wherever one can stand that is not
// the program's own.
func hostileVerdict(file, excerpt, pattern, text string) *Verdict {
	v := New("1.0")
	v.Policy = []Policy{{From: "disk"}}
	v.Rules = []Rule{{ID: pattern, Title: text, Message: text, Remediation: text, DocsURL: text, Owner: text, Tags: []string{text}}}
	before := excerpt
	if i := strings.Index(excerpt, pattern); i >= 0 {
		before = excerpt[:i]
	}
	column := int64(len(utf16.Encode([]rune(before)))) + 1
	v.Violations = []Violation{
		{RuleID: pattern, Title: text, File: Path(file), Reason: text, Evidence: Evidence{
			Pattern: pattern, Excerpt: excerpt, Line: 1, Column: 1, UTF16Column: column, Encoding: "utf-8", Occurrences: 2,
		}},
		{RuleID: text, Title: file, File: Path(text), Reason: pattern, Evidence: Evidence{
			Pattern: text, Excerpt: excerpt + text + file, Line: 1, Column: 1, UTF16Column: column + 7, Encoding: "utf-16le", Occurrences: 1,
		}},
	}
	v.Errors = []Error{{Code: Read, File: Path(file), Message: text}, {Code: Usage, Message: excerpt}}
	v.Coverage.NotScanned = []Omission{{File: Path(text), Reason: "unreadable"}}
	v.Coverage.LeftOut = []Omission{{File: Path(file), Reason: "rules"}}
	v.Scope.Base = text
	v.Decide()
	return v
}

// FuzzTextCommands, fault row 131: whatever stands in names and contents, the runner finds
// no command in what is printed.
func FuzzTextCommands(f *testing.F) {
	f.Add("::error::a.tf", "::stop-commands::k", "stop", "  ::add-mask::x\n::error::y")
	f.Add("##[error]", "x ##[add-matcher]y", "##", "##[warning]\r::error::z")
	f.Add("a\n::error::b", "\r::debug::c", "[error]", "#\u200b#[error]")
	f.Add("###[[error]]", "##[", "[", ":\u200b:error::")
	f.Add("\u00a0::error::", "\u2028::error::x", ":", "\u0085::error::x")
	f.Fuzz(func(t *testing.T, file, excerpt, pattern, text string) {
		v := hostileVerdict(file, excerpt, pattern, text)
		for _, o := range []TextOptions{
			{Commands: true, Policy: text, Root: file, Prefix: pattern + "/"},
			{Commands: true, Policy: file, Root: text, Width: 30, Elapsed: time.Second},
			{Commands: true, Policy: pattern, Root: excerpt, Width: 80, Color: true},
		} {
			var b strings.Builder
			if err := WriteText(&b, v, o); err != nil {
				t.Fatal(err)
			}
			wantNoCommand(t, b.String())
			wantSafe(t, b.String(), o.Color)
		}
		text2, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		wantNoCommand(t, string(text2))
		wantSafe(t, string(text2), false)
	})
}

func wantNoCommand(t *testing.T, text string) {
	t.Helper()
	for _, line := range runnerLines(text) {
		if name, ok := workflowCommand(line); ok {
			t.Errorf("the runner obeys the command %q in the line %q", name, line)
		}
	}
}

// wantSafe fails for what a terminal obeys, reorders or hides. Line feeds are the
// program's own; so are, with colours, whole SGR sequences.
func wantSafe(t *testing.T, text string, colors bool) {
	t.Helper()
	if colors {
		for _, c := range []string{"0", bold, faint, red, green, blue} {
			text = strings.ReplaceAll(text, "\x1b["+c+"m", "")
		}
	}
	for _, r := range text {
		if r != '\n' && unsafeRune(r) {
			t.Errorf("%U stands raw in %q", r, text)
			return
		}
	}
}

// unsafeRune is what [Visible] must not leave, said in terms of Unicode's categories and
// properties, not of Go's notion of a printable character.
func unsafeRune(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Bidi_Control,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point) ||
		unicode.Is(unicode.Zs, r) && r != ' ' ||
		!unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs) // unassigned
}
