package report

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/policyscan/policyscan/verdict"
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
			Kind: verdict.KindText, Pattern: pattern, Excerpt: string(before[len(before)-left:]) + pattern +
				string(after), Offset: int64(at),
			Line: int64(line), Column: int64(at - start + 1), EndLine: int64(endLine), EndColumn: int64(at +
				len(pattern) - endStart + 1),
			UTF16Column: units(content[start:at]) + 1, UTF16EndColumn: units(content[endStart:at+len(pattern)]) + 1,
			Occurrences: int64(strings.Count(content, pattern)), Encoding: "utf-8", LineHash: "c129715d7a2bc9a3:1",
		},
		Fingerprint: verdict.Fingerprint(rule.ID, verdict.Path(file), pattern, []byte(content[start:at]+pattern)),
		PlaceCount:  int64(strings.Count(content, pattern)),
	}
}

// A fixture is the document of an archive of testdata, and the options of its text report.
type fixture struct {
	verdict *verdict.Verdict
	options TextOptions
}

func fixtures(t testing.TB) map[string]fixture {
	t.Helper()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	all := map[string]fixture{}
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".txtar")
		o := TextOptions{Prefix: "infra/", Policy: "policy", Root: "infra", Elapsed: 1230 * time.Millisecond}
		if name == "hostile" {
			o = TextOptions{Prefix: "::error::/", Policy: "\x1b[31m##[error]", Root: "::error::\u202e"}
		}
		all[name] = fixture{fixtureOf(t, name), o}
	}
	return all
}

func fixtureOf(t testing.TB, name string) *verdict.Verdict {
	t.Helper()
	v, err := verdict.Decode([]byte(expected(t, name, "verdict.json")))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// newFixture returns the document of pass.txtar.
func newFixture() *verdict.Verdict {
	archive, err := txtar.ParseFile("testdata/pass.txtar")
	if err != nil {
		panic(err)
	}
	v, err := verdict.Decode(archive.Files[0].Data)
	if err != nil {
		panic(err)
	}
	return v
}

// uncover makes it the verdict of a tree in which no rule selects a file.
func uncover(v *verdict.Verdict) {
	v.Coverage = verdict.Coverage{Files: v.Coverage.Files}
	for i := range v.Rules {
		v.Rules[i].Files = 0
	}
}

// TestGoldens compares each document, and its reports in all formats, with an archive of testdata: the document
// first, then what is made of it.
func TestGoldens(t *testing.T) {
	names := map[string]string{
		"sarif": "sarif", "junit": "junit.xml", "github": "github.txt", "markdown": "md", "gitlab": "gitlab.json",
		"rdjson": "rdjson", "html": "html",
	}
	type textGolden struct {
		name   string
		change func(*TextOptions)
	}
	texts := []textGolden{
		{"txt", func(*TextOptions) {}},
		{"narrow.txt", func(o *TextOptions) { o.Width = 60 }},
		{"color.txt", func(o *TextOptions) { o.Color, o.Width = true, 100 }},
		{"actions.txt", func(o *TextOptions) { o.Commands = true }},
	}
	var widths []textGolden // of the fixture with most
	for _, width := range []int{80, 120, 200} {
		widths = append(widths, textGolden{fmt.Sprint(width, ".txt"), func(o *TextOptions) { o.Width = width }})
	}
	for name, f := range fixtures(t) {
		text, err := f.verdict.Encode()
		if err != nil {
			t.Fatal(err)
		}
		reports := []txtar.File{{Name: "verdict.json", Data: text}} // which the tests of other rooms read, too
		kinds := texts
		if name == "labelled" {
			kinds = slices.Concat(texts, widths)
		}
		for _, kind := range kinds {
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

// golden compares files with an archive, byte for byte, or writes it.
func golden(t *testing.T, name string, got []txtar.File) {
	t.Helper()
	text := txtar.Format(&txtar.Archive{Files: got})
	if *update {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(string(want), string(text)))
	}
}

// expected is a file of an archive of testdata.
func expected(t testing.TB, name, file string) string {
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
	marked := slices.DeleteFunc(shownFindings(v), func(f *finding) bool { return !f.inFile() || f.at.Excerpt == "" })
	n := 0
	for i, line := range lines {
		if !regexp.MustCompile(`^ +(\| *)?\^+$`).MatchString(line) || n >= len(marked) {
			continue
		}
		e := marked[n].at
		n++
		from, to := strings.Index(line, "^"), len(line)
		under := slice(lines[i-1], from, to)
		name := named(&e)
		if name.isMapping() {
			continue // the golden shows them
		}
		pattern, _, _ := strings.Cut(strings.ReplaceAll(name.plain, "\t", "    "), "\n")
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
		if o.Width > 0 && columns(lines[i-1]) > o.Width {
			t.Errorf("wider than %d columns: %d\n%s", o.Width, columns(lines[i-1]), lines[i-1])
		}
	}
	if n != len(marked) {
		t.Errorf("%d lines of carets for %d places with a line", n, len(marked))
	}
}

// shownFindings are the places that the text report shows, in its order.
func shownFindings(v *verdict.Verdict) (all []*finding) {
	for _, g := range newView(v).groups {
		for _, f := range g.files {
			of, _, _ := f.findings(math.MaxInt)
			all = append(all, of...)
		}
	}
	return all
}

// slice is the part of a line that a terminal draws in the columns from, inclusive, to
// to, exclusive.
func slice(line string, from, to int) string {
	var b strings.Builder
	at := 0
	for _, r := range line {
		w := columns(string(r))
		if at >= from && at+w <= to && (w > 0 || at > from) {
			b.WriteRune(r)
		}
		at += w
	}
	return b.String()
}
