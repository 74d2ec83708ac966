package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// rdRead is an rdResult that was read.
type rdRead struct {
	Source      struct{ Name, URL string }
	Severity    string         `json:"severity"`
	Diagnostics []rdDiagnostic `json:"diagnostics"`
}

// readRDJSON reads what writeRDJSON writes as reviewdog does, but for this: a key that the
// format does not have is an error.
func readRDJSON(t *testing.T, v *verdict.Verdict) rdRead {
	t.Helper()
	var b bytes.Buffer
	if err := writeRDJSON(&b, v); err != nil {
		t.Fatal(err)
	}
	wantSafe(t, b.String(), false)
	wantNoCommand(t, b.String())
	var r rdRead
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

// wantRDJSON fails if a finding of the verdict is missing, or on the wrong place.
func wantRDJSON(t *testing.T, v *verdict.Verdict) {
	t.Helper()
	r := readRDJSON(t, v)
	if n := len(r.Diagnostics) - len(newView(v).newAllowed) - 1; len(v.AllowedViolations) > 0 {
		for _, d := range r.Diagnostics[n:] {
			if d.Severity != "INFO" || d.Code != nil || verdict.Visible(d.Message) != d.Message ||
				!strings.Contains(d.Message, "llowed") {
				t.Errorf("what is allowed is %+v", d)
			}
			wantNoCommand(t, d.Message)
			wantNoCommand(t, d.Original)
		}
		r.Diagnostics = r.Diagnostics[:n]
	}
	var places []*finding
	for i := range v.Violations {
		places = append(places, findingsOf(&v.Violations[i])...)
	}
	if r.Source.Name != "policyscan" || r.Severity != "ERROR" || len(r.Diagnostics) != len(v.Errors)+len(places) {
		t.Fatalf("%d diagnostics for %d errors and %d places: %+v", len(r.Diagnostics), len(v.Errors), len(places), r)
	}
	for i, d := range r.Diagnostics {
		if d.Severity != "ERROR" || d.Location.Path == "" || d.Message == "" || d.Code == nil ||
			d.Location.Range == nil || d.Original == "" {
			t.Fatalf("diagnostic %d is %+v", i, d)
		}
		for name, text := range map[string]string{"message": d.Message, "path": d.Location.Path, "code": d.Code.Value,
			"output": d.Original} {
			if rest := strings.ReplaceAll(text, "\n", ""); verdict.Visible(rest) != rest || !utf8.ValidString(text) {
				t.Errorf("the %s is not safe to print: %q", name, text)
			}
		}
		wantNoCommand(t, d.Message)
		wantNoCommand(t, d.Original)
		start, end := d.Location.Range.Start, d.Location.Range.End
		if start.Line < 1 || end.Line < start.Line || end.Line > math.MaxInt32 || start.Column < 0 || end.Column < 0 ||
			start.Column > math.MaxInt32 || end.Column > math.MaxInt32 ||
			(start.Column == 0) != (end.Column == 0) {
			t.Errorf("a range that no reader takes: %+v", *d.Location.Range)
		}
		if i < len(v.Errors) {
			if e := v.Errors[i]; e.File == "" || e.File == "." {
				if d.Location.Path != "verdict.json" {
					t.Errorf("an error about no file is on %q", d.Location.Path)
				}
			} else if d.Location.Path != realPath(e.File) {
				t.Errorf("an error about %q is on %q", e.File, d.Location.Path)
			}
			if d.Code.Value != v.Errors[i].Code || !strings.HasPrefix(d.Message, "could not decide: ") {
				t.Errorf("an error %s is %+v", v.Errors[i].Code, d)
			}
			continue
		}
		x := places[i-len(v.Errors)]
		if d.Location.Path != cmp.Or(realPath(x.File), noFile) || d.Code.Value != verdict.Visible(x.RuleID) ||
			!strings.HasPrefix(d.Original, verdict.Defuse(x.place()+": ")) {
			t.Errorf("a violation of %q in %q is %+v", x.RuleID, x.File, d)
		}
		e := x.at
		if x.Commit != "" {
			if *d.Location.Range != *rdFirstLine() {
				t.Errorf("a commit's range is %+v", *d.Location.Range)
			}
		} else if e.EndColumn > 1 && e.Line > 0 && e.EndLine >= e.Line && e.EndLine <= math.MaxInt32 && e.Column > 0 &&
			e.Column <= math.MaxInt32 && e.EndColumn <= math.MaxInt32 {
			if want := (rdRange{rdPosition{e.Line, e.Column}, rdPosition{e.EndLine,
				e.EndColumn}}); *d.Location.Range != want {
				t.Errorf("the range is %+v, want %+v", *d.Location.Range, want)
			}
		}
	}
}

func TestRDJSONFixtures(t *testing.T) {
	for name, f := range fixtures(t) {
		if name != "allowed" && name != "listed" { // which have notes
			wantRDJSON(t, f.verdict)
		}
	}
}

func TestRDJSONRange(t *testing.T) {
	at := func(line, column, endLine, endColumn int64) verdict.Evidence {
		return verdict.Evidence{Line: line, Column: column, EndLine: endLine, EndColumn: endColumn}
	}
	for _, c := range []struct {
		name string
		e    verdict.Evidence
		want rdRange
	}{
		{"in a line", at(3, 5, 3, 9), rdRange{rdPosition{3, 5}, rdPosition{3, 9}}},
		{"over lines", at(3, 5, 5, 2), rdRange{rdPosition{3, 5}, rdPosition{5, 2}}},
		{"a line end", at(3, 5, 4, 1), rdRange{rdPosition{3, 0}, rdPosition{3, 0}}},
		{"lines and a line end", at(3, 5, 5, 1), rdRange{rdPosition{3, 0}, rdPosition{4, 0}}},
		{"a column beyond 32 bits", at(3, math.MaxInt32, 3, math.MaxInt32+1),
			rdRange{rdPosition{3, 0}, rdPosition{3, 0}}},
		{"a line beyond 32 bits", at(3, 1, math.MaxInt32+1, 2), rdRange{rdPosition{1, 0}, rdPosition{1, 0}}},
		{"the last of 32 bits", at(math.MaxInt32, math.MaxInt32, math.MaxInt32, math.MaxInt32),
			rdRange{rdPosition{math.MaxInt32, math.MaxInt32}, rdPosition{math.MaxInt32, math.MaxInt32}}},
		{"no column", at(3, 0, 3, 4), rdRange{rdPosition{3, 0}, rdPosition{3, 0}}},
		{"no end column", at(3, 5, 3, 0), rdRange{rdPosition{3, 0}, rdPosition{3, 0}}},
		{"no line", at(0, 0, 0, 0), rdRange{rdPosition{1, 0}, rdPosition{1, 0}}},
		{"an end before the start", at(4, 1, 3, 2), rdRange{rdPosition{1, 0}, rdPosition{1, 0}}},
	} {
		if got := *rdRangeOf(&c.e); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestRDJSONLinks: only an address that needs no escapes in Markdown is a link.
func TestRDJSONLinks(t *testing.T) {
	v := newFixture()
	v.Violations = []verdict.Violation{found(v.Rules[0], "main.tf", "0.0.0.0/0", "0.0.0.0/0")}
	v.Decide()
	for url, want := range map[string]bool{
		"https://example.com/net": true, "javascript:alert(1)": false, "https://example.com/)[x](y": false,
		"https://example.com/ x": false, "https://example.com/<x>": false, "https://example.com/\u202e": false,
	} {
		v.Rules[0].DocsURL = url
		if got := readRDJSON(t, v).Diagnostics[0].Code.URL; (got == url) != want || got != url && got != "" {
			t.Errorf("%q becomes the link %q", url, got)
		}
	}
}

// FuzzRDJSON: JSON of the format, each finding on its place, nothing hidden in a text.
func FuzzRDJSON(f *testing.F) {
	f.Add("::error::a.tf", "x", "`*`", "  ::add-mask::x\n@y", int64(1), int64(1), int64(2))
	f.Add("a\xff\\", "\ufffd", "##[error]", "<!-- -->\r\n\r\n# x", int64(math.MaxInt64), int64(1), int64(0))
	f.Add(".", "\u202e", "", "", int64(7), int64(8), int64(1))
	f.Add("", "``", "\n", "\x1b[2J", int64(-1), int64(0), int64(1)<<31)
	f.Fuzz(func(t *testing.T, file, excerpt, pattern, text string, line, endLine, column int64) {
		skipLong(t, 300, file, excerpt, pattern, text)
		v := hostileVerdict(file, excerpt, pattern, text)
		for i := range v.Violations {
			e := &v.Violations[i].Evidence
			e.Line, e.EndLine, e.Column, e.EndColumn = line, endLine, column, column
		}
		if file == "" || text == "" {
			return // a violation is in a file
		}
		wantRDJSON(t, v)
	})
}
