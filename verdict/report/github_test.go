package report

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// annotations returns what GitHub's runner reads in what writeGitHub writes: one command
// in each line, and in no line anything else.
func annotations(t *testing.T, v *verdict.Verdict) []command {
	t.Helper()
	var b bytes.Buffer
	if err := writeGitHub(&b, v); err != nil {
		t.Fatal(err)
	}
	wantSafe(t, b.String(), false)
	var all []command
	lines := runnerLines(b.String())
	for _, line := range lines[:len(lines)-1] {
		c, ok := readCommand(line)
		if !ok {
			t.Fatalf("no command: %q", line)
		}
		all = append(all, c)
	}
	if last := lines[len(lines)-1]; last != "" {
		t.Fatalf("the last line has no end: %q", last)
	}
	return all
}

// wantAnnotations fails if the annotations are not those of the verdict: errors first, at most ten, each with its place.
func wantAnnotations(t *testing.T, v *verdict.Verdict) {
	t.Helper()
	got := annotations(t, v)
	places := annotatedPlaces(newView(v))
	total := len(v.Errors) + newView(v).numbers.all()
	if n := len(got); len(v.AllowedViolations) > 0 {
		last := got[n-1]
		if got = got[:n-1]; last.name != "notice" || !strings.HasPrefix(last.data,
			sentence(newView(v).allowedNote())) || strings.Contains(last.data, "##[") {
			t.Errorf("what is allowed is %+v", last)
		}
	}
	if len(got) != min(len(v.Errors)+len(shownFindings(v)), 10) {
		t.Fatalf("%d annotations for %d findings", len(got), total)
	}
	for i, c := range got {
		title := c.properties["title"]
		if c.name != "error" || utf16Len(c.data) > 4096 || title == "" || utf16Len(title) > 255 ||
			!utf8.ValidString(c.data) || strings.Contains(c.data, "##[") {
			t.Errorf("annotation %d: %+v", i, c)
		}
		if total > 10 && i == 9 {
			var want []string
			if n := total - len(v.Errors) - max(9-len(v.Errors), 0); n > 0 {
				want = append(want, count(n, "more place"))
			}
			if n := len(v.Errors) - 9; n > 0 {
				want = append(want, count(n, "more error"))
			}
			if len(c.properties) != 1 || title != "policyscan: "+strings.Join(want, " and ") ||
				!strings.Contains(c.data, "not shown") {
				t.Errorf("the tenth of %d is %+v, want %q", total, c, want)
			}
			continue
		}
		want := map[string]string{"title": title}
		place := func(line, end, column, endColumn int64) {
			if line < 1 || end < line || end > math.MaxInt32 {
				return
			}
			want["line"], want["endline"] = fmt.Sprint(line), fmt.Sprint(end)
			if column > 0 && endColumn >= column && endColumn <= math.MaxInt32 {
				want["col"], want["endcolumn"] = fmt.Sprint(column), fmt.Sprint(endColumn)
			}
		}
		file, wantTitle := "", "policyscan could not decide: "
		if i < len(v.Errors) {
			e := v.Errors[i]
			if file = strings.TrimSuffix(e.File, "."); len(e.File) > 1 { // "." is the tree's root: no file
				file = e.File
			}
			place(e.Line, e.Line, e.UTF16Column, e.UTF16Column)
		} else {
			f := places[i-len(v.Errors)]
			file, wantTitle = f.File, cut(flow("policyscan "+f.RuleID+": "+f.Title), 255)
			if e := f.at; f.Commit != "" { // whose lines the head need not have
			} else if file != "" && f.inFile() && e.EndLine == e.Line && f.exact {
				place(e.Line, e.Line, e.UTF16Column, e.UTF16EndColumn)
			} else if file != "" && f.inFile() {
				place(e.Line, lastLine(&e), 0, 0)
			}
			if at := f.place(); len(at) < 900 && !strings.Contains(c.data, strings.ReplaceAll(at, "##[", `#\u{23}[`)) {
				t.Errorf("no place %q in %q", at, c.data)
			}
		}
		if file != "" {
			if want["file"] = realPath(file); strings.HasPrefix(want["file"], "=") {
				want["file"] = "./" + want["file"]
			}
		}
		if !maps.Equal(c.properties, want) || !strings.HasPrefix(title, wantTitle) {
			t.Errorf("the properties are\n%q, want\n%q", c.properties, want)
		}
	}
}

func TestGitHubFixtures(t *testing.T) {
	for name, f := range fixtures(t) {
		if f.verdict.Verdict == verdict.Pass {
			if got := annotations(t, f.verdict); len(got) != 0 && (name != "listed" && name != "allowed" ||
				len(got) != 1 || got[0].name != "notice") {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		wantAnnotations(t, f.verdict)
	}
}

// TestGitHubPlaces: the annotations are of different lines, as long as there are such; of these new ones are first, and
// then one for each rule and file.
func TestGitHubPlaces(t *testing.T) {
	v := newFixture()
	v.Scope = changed()
	lines := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	v.Violations = []verdict.Violation{
		placed(v.Rules[0], "a.tf", tall("BAD", 1, 2), "BAD", verdict.PreExisting, verdict.PreExisting),
		placed(v.Rules[0], "new.tf", tall("BAD BAD", lines[:4]...), "BAD", slices.Repeat([]string{verdict.Introduced},
			8)...),
		placed(v.Rules[0], "old.tf", tall("BAD", lines...), "BAD", slices.Repeat([]string{verdict.PreExisting}, 12)...),
		placed(v.Rules[1], "new.tf", tall("BAD", 1, 9), "BAD", verdict.Introduced, verdict.Introduced),
	}
	v.Decide()
	all := annotations(t, v)
	var got []string
	for _, a := range all[:9] {
		got = append(got, a.properties["file"]+":"+a.properties["line"])
	}
	want := "new.tf:1 new.tf:2 new.tf:3 new.tf:4 new.tf:9 a.tf:1 old.tf:1 a.tf:2 old.tf:2"
	if strings.Join(got, " ") != want || !strings.Contains(all[9].data, "15 more places not shown") {
		t.Errorf("%q: %+v", got, all[9])
	}
}

// TestGitHubCap: ten are shown; of more, nine and a count. What could not be decided comes first, and is never pushed
// out by violations.
func TestGitHubCap(t *testing.T) {
	for _, c := range [][2]int{{0, 10}, {0, 12}, {1, 9}, {1, 12}, {9, 1}, {9, 3}, {10, 0}, {10, 2}, {12, 0},
		{12, 12}} {
		v := newFixture()
		for i := range c[0] {
			v.Errors = append(v.Errors, verdict.Error{Code: code.Read, File: fmt.Sprintf("e%d.tf", i), Message: "m"})
		}
		for i := range c[1] {
			v.Violations = append(v.Violations, found(v.Rules[0], fmt.Sprintf("v%d.tf", i), "0.0.0.0/0", "0.0.0.0/0"))
		}
		v.Decide()
		wantAnnotations(t, v)
	}
}

// TestGitHubLong: a text that is too long takes nothing from the others, and loses no half
// of a character.
func TestGitHubLong(t *testing.T) {
	for _, filler := range []string{"x", "👍", "👍%", "世", "\x01", "a\n"} {
		v := newFixture()
		v.Rules[0].Title, v.Rules[0].Message = strings.Repeat(filler, 5000), strings.Repeat(filler, 70000)
		v.Rules[0].Remediation = strings.Repeat(filler, 5000)
		v.Violations = []verdict.Violation{found(v.Rules[0], strings.Repeat(filler, 5000)+".tf", "a 0.0.0.0/0",
			"0.0.0.0/0")}
		v.Errors = []verdict.Error{{Code: code.Usage, Message: strings.Repeat(filler, 5000)}}
		v.Decide()
		wantAnnotations(t, v)
		if got := annotations(t, v)[1]; !strings.Contains(got.data, `found: "0.0.0.0/0"`) {
			t.Errorf("%q: the pattern is lost in %q", filler, got.data)
		}
	}
}

// FuzzGitHub: from any verdict the runner reads our commands with the intended properties,
// and no other command, whatever is in names, contents, titles and messages.
func FuzzGitHub(f *testing.F) {
	f.Add("::error::a.tf", "::stop-commands::k", "stop", "  ::add-mask::x\n::error::y", int64(1), int64(1), int64(2))
	f.Add("=a,file=b:c%25.tf", "x ##[add-matcher]y", "##", "##[warning]\r::error::z", int64(2), int64(3), int64(1))
	f.Add("a\n::error::b\xff", "\r::debug::c", "[error]", "#\u200b#[error]%0A::", int64(0), int64(-1), int64(0))
	f.Add(" a\\b ", "%253A%0A,", "=", "==\u00a0", int64(math.MaxInt64), int64(math.MaxInt64), int64(9))
	f.Add(".", "\u2028::error::x", ":", "👍%", int64(1)<<31, int64(1)<<31, int64(1)<<31)
	f.Add("a", "b", "c", "d", int64(3), int64(3), int64(1)<<31)
	f.Add("a", "b", "c", "d", int64(3), int64(3), int64(2))
	f.Add("a", "b", "c", "d", int64(math.MaxInt32), int64(math.MaxInt32), int64(math.MaxInt32))
	f.Fuzz(func(t *testing.T, file, excerpt, pattern, text string, line, endLine, column int64) {
		skipLong(t, 300, file, excerpt, pattern, text)
		v := hostileVerdict(file, excerpt, pattern, text)
		for i := range v.Violations {
			e := &v.Violations[i].Evidence
			e.Line, e.EndLine, e.EndColumn, e.UTF16EndColumn = line, endLine, column, column
		}
		wantAnnotations(t, v)
	})
}
