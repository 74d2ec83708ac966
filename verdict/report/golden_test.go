package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/text/width"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

var (
	update = flag.Bool("update", false, "write the expected documents and reports of testdata again")
	long   = flag.Bool("long", false, "do all of the tests that otherwise do a part")
)

// found is a violation of a one-rule bundle: the first occurrence of a pattern in the
// content of a file, by the plainest means. It stands in for the scanner, which the
// document does not know.
func found(rule verdict.Rule, file, content, pattern string) verdict.Violation {
	at := strings.Index(content, pattern)
	lines := regexp.MustCompile(`\r\n|\r|\n`)
	starts := []int{0}
	for _, end := range lines.FindAllStringIndex(content, -1) {
		starts = append(starts, end[1])
	}
	place := func(offset int) (line, start int) {
		for line < len(starts) && starts[line] <= offset {
			line++
		}
		return line, starts[line-1]
	}
	line, start := place(at)
	endLine, endStart := place(at + len(pattern))
	rest := content[at+len(pattern):]
	if end := lines.FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	before, match, after := []rune(content[start:at]), []rune(pattern), []rune(rest)
	room := 200 - len(match)
	left := min(len(before), max(room/2, room-len(after)))
	after = after[:min(len(after), room-left)]
	units := func(s string) int64 { return int64(len(utf16.Encode([]rune(s)))) }
	reason := rule.Message
	if reason == "" {
		reason = rule.Title + ": the file contains it"
	}
	return verdict.Violation{
		RuleID: rule.ID, RuleType: rule.Type, Title: rule.Title, File: verdict.Path(file), Reason: reason,
		Evidence: verdict.Evidence{
			Kind: verdict.KindText, Pattern: pattern, Excerpt: string(before[len(before)-left:]) + pattern + string(after), Offset: int64(at),
			Line: int64(line), Column: int64(at - start + 1), EndLine: int64(endLine), EndColumn: int64(at + len(pattern) - endStart + 1),
			UTF16Column: units(content[start:at]) + 1, UTF16EndColumn: units(content[endStart:at+len(pattern)]) + 1,
			Occurrences: int64(strings.Count(content, pattern)), Encoding: "utf-8", LineHash: "c129715d7a2bc9a3:1",
		},
		Fingerprint: verdict.Fingerprint(rule.ID, verdict.Path(file), pattern, []byte(content[start:at]+pattern)),
	}
}

// A fixture is a verdict and how its report is asked for.
type fixture struct {
	verdict *verdict.Verdict
	options TextOptions
}

func newFixture() *verdict.Verdict {
	v := verdict.New("1.2.3")
	v.Policy = []verdict.Policy{{From: "disk", SHA256: strings.Repeat("0123456789abcdef", 4), Boundaries: 1, Invariants: 1}}
	v.Rules = []verdict.Rule{
		{ID: "NET-1", Type: "boundary", From: "disk", Title: "No ingress from anywhere", Message: "This opens a port\nto everyone.", Remediation: "Name the range.\n  Or two of them.\n", DocsURL: "https://example.com/net", Owner: "network-team", Severity: "high", Tags: []string{"network"}, Files: 2},
		{ID: "ENC-1", Type: "invariant", From: "disk", Title: "All is encrypted", Files: 2},
	}
	v.Scope = verdict.Scope{Mode: "full"}
	v.Coverage = verdict.Coverage{Files: 5, Governed: 2, Scanned: 2, Bytes: 1234, LeftOut: []verdict.Omission{{File: "policy/rules/boundaries.yml", Reason: "rules"}, {File: "verdict.json", Reason: "output"}}}
	return v
}

// uncover makes it the verdict of a tree in which no rule selects a file.
func uncover(v *verdict.Verdict) {
	v.Coverage = verdict.Coverage{Files: v.Coverage.Files}
	for i := range v.Rules {
		v.Rules[i].Files = 0
	}
}

func fixtures() map[string]fixture {
	options := TextOptions{Prefix: "infra/", Policy: "policy", Root: "infra", Elapsed: 1230 * time.Millisecond}
	all := map[string]fixture{}

	pass := newFixture()
	all["pass"] = fixture{pass, options}

	fail := newFixture()
	net, enc := fail.Rules[0], fail.Rules[1]
	fail.Violations = []verdict.Violation{
		found(net, "main.tf", "# ports\r\n\tcidr = \"0.0.0.0/0\" # 0.0.0.0/0\r\n", "0.0.0.0/0"),
		found(net, "a/long.tf", strings.Repeat("before ", 60)+"0.0.0.0/0"+strings.Repeat(" after", 60), "0.0.0.0/0"),
		found(enc, "main.tf", "resource {\n  encrypted =\n    false\n}\n", "encrypted =\n    false"),
		found(enc, "z.tf", "x\n", "\n"),
	}
	fail.Violations[2].Evidence.Encoding = "utf-16le"
	all["fail"] = fixture{fail, options}

	// All that schema version 2 added, in one change.
	change := newFixture()
	commit := func(c string) string { return strings.Repeat(c, 40) }
	change.Scope = verdict.Scope{Mode: "diff", Base: "main", BaseCommit: commit("b"), MergeBases: []string{commit("a")}, HeadCommit: commit("c"), Strategy: "merge-base", Behind: 3}
	change.AsOf = "2027-02-28"
	change.Policy = []verdict.Policy{change.Policy[0], change.Policy[0]}
	change.Policy[0].From, change.Policy[0].Commit = "base", commit("b")
	change.Policy[1].From, change.Policy[1].Commit, change.Policy[1].Excluded = "head", commit("c"), []verdict.Excluded{{File: "rules/terraform.yml", Count: 7}}
	change.PolicyChanges = []verdict.PolicyChange{
		{Kind: "rule", RuleID: "OLD-1", Change: "removed"},
		{Kind: "rule", RuleID: "OLD-2", Change: "removed", Fields: []verdict.FieldChange{{Name: "type", Removed: []string{"boundary"}, Added: []string{"deprecated"}}}},
		{Kind: "rule", RuleID: "NET-1", Change: "changed", Fields: []verdict.FieldChange{
			{Name: "exclude", Added: []string{"legacy/**"}},
			{Name: "forbidden_patterns", Removed: []string{"::/0", "0.0.0.0/1"}, Added: []string{"0.0.0.0"}},
			{Name: "message", Removed: []string{"a"}, Added: []string{"b"}},
			{Name: "tags"},
		}},
		{Kind: "allowance", RuleID: "NET-1", Change: "raised", File: "legacy/main.tf", Before: 2, After: 3},
		{Kind: "rule", RuleID: "NEW-1", Change: "added"},
		{Kind: "rule", RuleID: "NEW-2", Change: "added"},
	}
	change.Coverage.Unparsed = []string{"chart/templates/x.yaml"}
	change.Violations = []verdict.Violation{found(change.Rules[0], "main.tf", "cidr = \"0.0.0.0/0\"\n", "0.0.0.0/0")}
	change.Violations[0].Note = "this is the base's rule; the head's would not select this file: merge the change to the bundle first"
	change.Violations[0].Status = "introduced"
	e := &change.Violations[0].Evidence
	e.Places = []verdict.Place{{Offset: e.Offset, Line: e.Line, Column: e.Column, EndLine: e.EndLine, EndColumn: e.EndColumn, Status: "introduced", Excerpt: e.Excerpt, LineHash: e.LineHash}}
	change.AllowedViolations = []verdict.AllowedViolation{{
		Violation: found(change.Rules[0], "legacy/main.tf", "0.0.0.0/0\n", "0.0.0.0/0"),
		Allowance: verdict.Allowance{AtMost: 3, Owner: "network-team", Reason: "NET-123", Until: "2027-03-01"},
	}}
	change.AllowedViolations[0].Status = "pre_existing"
	change.EndingAllowances = ending(change.AllowedViolations)
	all["change"] = fixture{change, options}

	incomplete := verdict.Incomplete("1.2.3", verdict.Scope{Mode: "files"},
		verdict.Error{Code: code.Usage, Message: "the list is no list"}, verdict.Error{Code: code.Read, File: "secret.tf", Message: "it cannot be read: permission denied"})
	incomplete.Policy, incomplete.Rules = newFixture().Policy, newFixture().Rules
	incomplete.Coverage = verdict.Coverage{Files: 2, Governed: 2, Scanned: 1, Bytes: 7, NotScanned: []verdict.Omission{{File: "secret.tf", Reason: "unreadable"}}}
	incomplete.Partial, incomplete.Allowed = true, []string{"partial"}
	all["incomplete"] = fixture{incomplete, options}

	hostile := newFixture()
	rule := verdict.Rule{ID: "##[error]R", Type: "boundary", From: "disk", Title: "::error::T\u202e", Message: "\r::add-mask::m", Remediation: "\x1b[2J\n::error::r", DocsURL: "https://example.com/##[error]", Owner: "\u200bo", Files: 12}
	hostile.Rules = []verdict.Rule{rule}
	for _, f := range []struct{ file, content, pattern string }{
		{"new\nline.tf", "\x1b]0;title\x07 BAD \x1b[31m", "BAD"},
		{"::error::x.tf", "::error file=x::BAD", "BAD"},
		{"x ##[stop-commands]k.tf", "##[add-matcher]BAD", "BAD"},
		{"bidi\u202e\u2066.tf", "a\u202eb\u2067c BAD \u2069", "BAD"},
		{"zero\u200b\ufeff\u00ad.tf", "z\u200b\u200dBAD\ufeff", "BAD"},
		{"c1\u009b31m.tf", "\u009b31m\u0085BAD\u2028", "BAD"},
		{"cr\r.tf", "first\rsecond BAD\r::error::third", "BAD"},
		{"invalid\xff\xfe.tf", "\ufffdBAD\ufffd", "BAD"},
		{`back\slash.tf`, `\x41 BAD \u{1b}`, "BAD"},
		{"wide世界.tf", "世界 ｗｉｄｅ 👍🏽 BAD 世界", "BAD"},
		{"tabs.tf", "\t\ta\tBAD\tb", "BAD"},
		{"marks.tf", "e\u0301a\u0308\u20dd BAD o\u0302", "BAD"},
		{"wide match.tf", "x 世e\u0301\t界 y", "世e\u0301\t界"},
		{"long.tf", strings.Repeat("世\t", 400) + "BAD" + strings.Repeat("e\u0301", 400), "BAD"},
		{"hidden match.tf", "a\u200b\u202eb", "\u200b\u202e"},
		{"end.tf", "x\nBAD\n", "BAD\n"},
		{"split.tf", "##[error]x", "#["},
		{"colon.tf", "::error::x", "::"},
		{"]]>&lt;<x>\".tf", "</script></failure>]]><!-- <?x BAD", "BAD"},
		{"50%25,a=b:c.tf", "%0A::error::%25 BAD", "BAD"},
		{"=begins.tf", "| a | ~~b~~ [c](javascript:d) @user #1 `` ` BAD", "BAD"},
		{" blanks .tf", "nul\x00esc\x1bdel\x7f\ufffe BAD", "BAD"},
	} {
		hostile.Violations = append(hostile.Violations, found(rule, f.file, f.content, f.pattern))
	}
	for i := range hostile.Violations {
		hostile.Violations[i].Note = "::error::n\n##[error]\u202e\x1b[2J @user <b>|`"
	}
	hostile.PolicyChanges = []verdict.PolicyChange{
		{Kind: "rule", RuleID: "##[error]R\n::error::", Change: "changed", Fields: []verdict.FieldChange{{Name: "files", Added: []string{"::error::\n\u202e`<b>@user"}}}},
		{Kind: "rule", RuleID: "::error::\n\x1b[2J", Change: "added"},
		{Kind: "allowance", RuleID: "##[error]", Change: "raised", File: "\r::error::\u202e"},
	}
	allowed := hostile.Violations[1]
	allowed.Status = verdict.Introduced
	hostile.AllowedViolations = []verdict.AllowedViolation{{Violation: allowed, Allowance: verdict.Allowance{AtMost: 1, Owner: "::error::o\n##[error]\u202e", Reason: "\x1b[2J<b>@user|`", Until: "2027-03-01"}}}
	hostile.AsOf = "2027-02-28"
	hostile.EndingAllowances = []verdict.EndingAllowance{{RuleID: "::error::\n\x1b[2J", File: "\r::error::\u202e @user <b>|`", Allowance: hostile.AllowedViolations[0].Allowance}}
	hostile.Errors = []verdict.Error{{Code: code.Read, File: verdict.Path("\x1b[2J\n::error::e"), Message: "##[error]\r\n::error::m"}}
	hostile.Coverage.NotScanned = []verdict.Omission{{File: verdict.Path("::error::n\u202e"), Reason: "unreadable"}}
	all["hostile"] = fixture{hostile, TextOptions{Prefix: "::error::/", Policy: "\x1b[31m##[error]", Root: "::error::\u202e"}}

	all["labelled"] = fixture{labelled(), options}
	all["allowed"] = fixture{allowedInFull(), options}
	all["kinds"] = fixture{kinds(), options}
	all["odd-kinds"] = fixture{oddKinds(), options}
	all["keys"] = fixture{keyKinds(), options}
	listed := newFixture()
	listed.Scope.Mode = "files"
	listed.Coverage.LeftOut = []verdict.Omission{{File: "LICENSE*", Reason: "required-file"}, {File: "docs/**/*.md", Reason: "required-file"}}
	all["listed"] = fixture{listed, options}
	paths := newFixture()
	paths.Coverage = verdict.Coverage{Files: 5}
	all["paths"] = fixture{paths, options}

	for _, f := range all {
		f.verdict.Decide()
	}
	return all
}

// TestGoldens compares each document, and its reports in all formats, with an archive of testdata: the document
// first, then what is made of it.
func TestGoldens(t *testing.T) {
	names := map[string]string{
		"sarif": "sarif", "junit": "junit.xml", "github": "github.txt", "markdown": "md", "gitlab": "gitlab.json", "rdjson": "rdjson", "html": "html",
	}
	texts := []struct {
		name   string
		change func(*TextOptions)
	}{
		{"txt", func(*TextOptions) {}},
		{"narrow.txt", func(o *TextOptions) { o.Width = 60 }},
		{"color.txt", func(o *TextOptions) { o.Color, o.Width = true, 100 }},
		{"actions.txt", func(o *TextOptions) { o.Commands = true }},
	}
	for name, f := range fixtures() {
		text, err := f.verdict.Encode()
		if err != nil {
			t.Fatal(err)
		}
		reports := []txtar.File{{Name: "verdict.json", Data: text}} // which the tests of other rooms read, too
		for _, kind := range texts {
			o := f.options
			kind.change(&o)
			var b bytes.Buffer
			if err := WriteText(&b, f.verdict, o); err != nil {
				t.Fatal(err)
			}
			reports = append(reports, txtar.File{Name: kind.name, Data: b.Bytes()})
			wantSafe(t, b.String(), o.Color)
			if o.Commands {
				wantNoCommand(t, b.String())
			}
			if !o.Color {
				wantCarets(t, b.String(), f.verdict, o)
			}
		}
		for _, format := range Formats() {
			if format.Name == "text" || format.Name == "json" {
				continue // above, with more
			}
			var b bytes.Buffer
			if err := format.Write(&b, f.verdict); err != nil {
				t.Fatal(err)
			}
			reports = append(reports, txtar.File{Name: names[format.Name], Data: b.Bytes()})
			wantSafe(t, b.String(), false)
			if format.Name != "github" { // whose commands are read in github_test.go
				wantNoCommand(t, b.String())
			}
		}
		golden(t, filepath.Join("testdata", name+".txtar"), reports)
	}
}

// golden compares files with those of an archive, byte for byte and in this order, or writes it.
func golden(t *testing.T, name string, got []txtar.File) {
	t.Helper()
	archive := txtar.Format(&txtar.Archive{Files: got})
	if diff := cmp.Diff(got, txtar.Parse(archive).Files, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s: an archive cannot say this (-got +archive):\n%s", name, diff)
	}
	if *update {
		if err := os.WriteFile(name, archive, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range max(len(got), len(want.Files)) {
		var g, w txtar.File
		if i < len(got) {
			g = got[i]
		}
		if i < len(want.Files) {
			w = want.Files[i]
		}
		if g.Name != w.Name {
			t.Fatalf("%s: file %d is %q, want %q", name, i+1, g.Name, w.Name)
		}
		if diff := cmp.Diff(string(w.Data), string(g.Data)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, g.Name, diff)
		}
	}
}

// expected is a report as an archive of testdata has it.
func expected(t *testing.T, name, file string) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == file })
	if i < 0 {
		t.Fatalf("testdata/%s.txtar has no %s", name, file)
	}
	return string(archive.Files[i].Data)
}

// wantCarets fails if a line of carets is not under the pattern, as a terminal
// draws both.
func wantCarets(t *testing.T, report string, v *verdict.Verdict, o TextOptions) {
	t.Helper()
	lines := strings.Split(report, "\n")
	n := 0
	for i, line := range lines {
		if !regexp.MustCompile(`^ +(\| *)?\^+$`).MatchString(line) || n >= len(v.Violations) {
			continue
		}
		for !hasPlace(&v.Violations[n].Evidence) {
			n++
		}
		e := v.Violations[n].Evidence
		n++
		if text, ok := matched[e.Pattern]; ok {
			e.Pattern = text
		}
		from, to := strings.Index(line, "^"), len(line)
		under := slice(lines[i-1], from, to)
		pattern, _, _ := strings.Cut(strings.ReplaceAll(e.Pattern, "\t", "    "), "\n")
		want := verdict.Visible(pattern)
		if want == "" {
			want = slice(lines[i-1], from, to) // a pattern that begins with a line end has no text
		}
		if o.Commands {
			under = strings.ReplaceAll(under, `\u{23}`, "#")
		}
		// A command that begins before the match is defused when the carets are drawn.
		if under != want && !strings.HasPrefix(`\u{23}[`, under) {
			t.Errorf("the carets are under %q, not under %q:\n%s\n%s", under, want, lines[i-1], line)
		}
		if o.Width > 0 && drawnWidth(lines[i-1]) > o.Width {
			t.Errorf("wider than %d columns: %d\n%s", o.Width, drawnWidth(lines[i-1]), lines[i-1])
		}
	}
	for n < len(v.Violations) && !hasPlace(&v.Violations[n].Evidence) {
		n++
	}
	if n != len(v.Violations) {
		t.Errorf("%d lines of carets for %d violations", n, len(v.Violations))
	}
}

// slice is the part of a line that a terminal draws in the columns from, inclusive, to
// to, exclusive.
func slice(line string, from, to int) string {
	var b strings.Builder
	at := 0
	for _, r := range line {
		w := drawnWidth(string(r))
		if at >= from && at+w <= to && (w > 0 || at > from) {
			b.WriteRune(r)
		}
		at += w
	}
	return b.String()
}

// drawnWidth counts columns as UAX 11 and terminals do: marks take none, wide characters two.
func drawnWidth(s string) int {
	n := 0
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
