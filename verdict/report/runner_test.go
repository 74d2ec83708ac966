package report

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A command is what GitHub's runner reads in a line: properties and data are unescaped.
type command struct {
	name       string
	properties map[string]string // by lower-case key
	data       string
}

// readCommand is how GitHub's runner reads a line of a step's output (actions/runner,
// ActionCommand.TryParseV2, then TryParse), rewritten with one difference: here every
// name is a registered command. It returns false for an ordinary line.
func readCommand(line string) (command, bool) {
	// "::name key=value,…::data", after white space. The runner cuts the name off at the
	// first space, and takes no line without a second "::".
	if body, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); ok {
		if head, data, ok := strings.Cut(body, "::"); ok {
			name, rest, _ := strings.Cut(head, " ")
			return command{
				name: name,
				properties: properties(strings.TrimSpace(rest), ",", "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",",
					"%25", "%"),
				data: unescaped(data, "%0D", "\r", "%0A", "\n", "%25", "%"),
			}, true
		}
	}
	// "##[name key=value;…]data", anywhere.
	if _, body, ok := strings.Cut(line, "##["); ok {
		if head, data, ok := strings.Cut(body, "]"); ok {
			name, rest, _ := strings.Cut(head, " ")
			mappings := []string{"%3B", ";", "%0D", "\r", "%0A", "\n", "%5D", "]", "%25", "%"}
			return command{name, properties(rest, ";", mappings...), unescaped(data, mappings...)}, true
		}
	}
	// Azure's agent: "##vso[area.name key=value;…]data", anywhere, here in any case.
	if at := strings.Index(strings.ToLower(line), "##vso["); at >= 0 {
		name, data, _ := strings.Cut(strings.ToLower(line)[at+len("##vso["):], "]")
		return command{name: "vso " + name, data: data}, true
	}
	return command{}, false
}

// properties reads "key=value" between separators. As in .NET's Split without empty parts, a "=" at the start of a value
// is dropped, and so is a property without a value.
func properties(text, separator string, mappings ...string) map[string]string {
	all := map[string]string{}
	for _, part := range strings.Split(text, separator) {
		key, value, _ := strings.Cut(strings.TrimLeft(part, "="), "=")
		if value = strings.TrimLeft(value, "="); value != "" {
			all[strings.ToLower(key)] = unescaped(value, mappings...)
		}
	}
	return all
}

// unescaped replaces each escape by its character, one kind after the other, as the
// runner does.
func unescaped(text string, mappings ...string) string {
	for i := 0; i < len(mappings); i += 2 {
		text = strings.ReplaceAll(text, mappings[i], mappings[i+1])
	}
	return text
}

func workflowCommand(line string) (string, bool) {
	c, ok := readCommand(line)
	return c.name, ok
}

// runnerLines are the lines that the runner sees: .NET ends one at LF, CRLF and a lone CR.
func runnerLines(text string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
}

func TestReadCommand(t *testing.T) {
	for line, want := range map[string]command{
		"::error::x": {"error", map[string]string{}, "x"},
		"::error file=a%3Ab%2C.tf,line=3::m%0An": {"error", map[string]string{"file": "a:b,.tf", "line": "3"},
			"m\nn"},
		"::error File=a,,title=b c ::%253A%3A": {"error", map[string]string{"file": "a", "title": "b c"},
			"%3A%3A"},
		"::error a=%253A,b=c=d,e==f,g=,h,=i=j::::": {"error", map[string]string{"a": "%3A", "b": "c=d", "e": "f",
			"i": "j"}, "::"},
		"##[error a=b%3B;c=,]%5D%25": {"error", map[string]string{"a": "b;", "c": ","}, "]%"},
	} {
		if got, ok := readCommand(line); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, %v; want %+v", line, got, ok, want)
		}
	}
}

// skipLong skips texts of more bytes than most. A fuzzer makes them longer and longer, and what comes out wrong of
// a long one comes out wrong of a short one.
func skipLong(t *testing.T, most int, texts ...string) {
	for _, s := range texts {
		if len(s) > most {
			t.Skip("too long")
		}
	}
}

// hostileVerdict is a verdict that has these texts wherever one can be that is not
// the program's own.
func hostileVerdict(file, excerpt, pattern, text string) *verdict.Verdict {
	v := verdict.New("1.0")
	v.Policy = []verdict.Policy{{From: "disk"}}
	v.Rules = []verdict.Rule{{ID: pattern, Title: text, Message: text, Remediation: text, DocsURL: text, Owner: text,
		Tags: []string{text}}}
	before := excerpt
	if i := strings.Index(excerpt, pattern); i >= 0 {
		before = excerpt[:i]
	}
	column := int64(len(utf16.Encode([]rune(before)))) + 1
	v.Violations = []verdict.Violation{
		{RuleID: pattern, Title: text, File: verdict.Path(file), Reason: text, Evidence: verdict.Evidence{
			Pattern: pattern, Excerpt: excerpt, Line: 1, Column: 1, UTF16Column: column, Encoding: "utf-8",
			Occurrences: 2,
		}, PlaceCount: 2},
		{RuleID: text, Title: file, File: verdict.Path(text), Reason: pattern, Evidence: verdict.Evidence{
			Pattern: text, Excerpt: excerpt + text + file, Line: 1, Column: 1, UTF16Column: column +
				7, Encoding: "utf-16le", Occurrences: 1,
		}, PlaceCount: 1},
	}
	v.Errors = []verdict.Error{{Code: code.Read, File: verdict.Path(file), Message: text},
		{Code: code.Usage, Message: excerpt}}
	v.Coverage.NotScanned = []verdict.Omission{{File: verdict.Path(text), Reason: "unreadable"}}
	v.Coverage.LeftOut = []verdict.Omission{{File: verdict.Path(file), Reason: "rules"}}
	v.Scope.Base = text
	v.Decide()
	return v
}

// TestFault_131_RunnerCommands: the pieces of which commands are made, put together at
// random, wherever a text can be. FuzzTextCommands looks further.
func TestFault_131_RunnerCommands(t *testing.T) {
	trials := 300
	if *long {
		trials = 20_000
	}
	pieces := []string{
		"::", ":", "##[", "##vso[", "##V", "so[", "#", "[", "]", "error", "stop-commands", "add-mask", "add-matcher", "set-output name=x",
		"debug", " ", "\t", "\n", "\r", "\r\n", "\u0085", "\u2028", "\u00a0", "\v", "\f",
		"x", "BAD", "%0A", "%", ",", ";", "=", "\\", "\u200b", "\x1b[31m", "\x00", "\xff", "\ufeff", "\u202e", "`",
		"<b>",
	}
	rnd := rand.New(rand.NewPCG(13, 1))
	text := func() string {
		var b strings.Builder
		for range 1 + rnd.IntN(7) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		return b.String()
	}
	for range trials {
		wantNoCommands(t, text(), text(), text(), text())
		if t.Failed() {
			return
		}
	}
}

// FuzzTextCommands, fault row 131: whatever is in names and contents, the runner finds
// no command in what is printed.
func FuzzTextCommands(f *testing.F) {
	f.Add("::error::a.tf", "::stop-commands::k", "stop", "  ::add-mask::x\n::error::y")
	f.Add("##[error]", "x ##[add-matcher]y", "##", "##[warning]\r::error::z")
	f.Add("a\n::error::b", "\r::debug::c", "[error]", "#\u200b#[error]")
	f.Add("##vso[task.complete]", "x ##VSO[task.x]y", "so[", "##v\r##vso[a.b]z")
	f.Add("###[[error]]", "##[", "[", ":\u200b:error::")
	f.Add("\u00a0::error::", "\u2028::error::x", ":", "\u0085::error::x")
	f.Fuzz(wantNoCommands)
}

// wantNoCommands prints a verdict of these texts in each way, and reads it as the runner does.
func wantNoCommands(t *testing.T, file, excerpt, pattern, text string) {
	v := hostileVerdict(file, excerpt, pattern, text)
	for _, o := range []TextOptions{
		{Commands: true, Policy: text, Root: file, Prefix: pattern + "/"},
		{Commands: true, Policy: file, Root: text, Width: 30, Elapsed: time.Second},
		{Commands: true, Policy: pattern, Root: excerpt, Width: 80, Color: true},
		{Commands: true, Arrangement: Arrangement{By: "owner"}}, {Commands: true, Arrangement: Arrangement{"folder", text}},
	} {
		var b strings.Builder
		if err := WriteText(&b, v, o); err != nil {
			t.Fatal(err)
		}
		wantNoCommand(t, b.String())
		wantSafe(t, b.String(), o.Color)
	}
	formats := []Format{Named("json"), Named("markdown")}
	for _, by := range []string{"owner", "folder"} {
		formats = append(formats, Arrangement{By: by}.Formats()...)
	}
	for _, f := range formats {
		var b strings.Builder
		if err := f.Write(&b, v); err != nil {
			t.Fatal(err)
		}
		wantNoCommand(t, b.String())
		wantSafe(t, b.String(), false)
	}
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
			t.Errorf("%U is raw in %q", r, text)
			return
		}
	}
}

// unsafeRune is what [Visible] must not leave, said in terms of Unicode's categories and
// properties, not of Go's notion of a printable character.
func unsafeRune(r rune) bool {
	if r <= unicode.MaxASCII {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Bidi_Control,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point) ||
		unicode.Is(unicode.Zs, r) && r != ' ' ||
		!unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs) // unassigned
}
