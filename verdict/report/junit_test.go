package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// readJUnit reads what writeJUnit writes, and fails if it does not add up. That it is valid by both schemas is a test
// of lab/conformance/reports.
func readJUnit(t *testing.T, v *verdict.Verdict) *junitDocument {
	t.Helper()
	var b bytes.Buffer
	if err := writeJUnit(&b, v); err != nil {
		t.Fatal(err)
	}
	wantSafe(t, b.String(), false)
	wantNoCommand(t, b.String())
	for _, bad := range []string{"<!", "]]>", "<![", "<?"} {
		if strings.Contains(strings.TrimPrefix(b.String(), `<?xml version="1.0" encoding="UTF-8"?>`), bad) {
			t.Errorf("%q in\n%s", bad, b.String())
		}
	}
	doc := &junitDocument{}
	dec := xml.NewDecoder(&b)
	if err := dec.Decode(doc); err != nil {
		t.Fatal(err)
	}
	for _, err := dec.Token(); !errors.Is(err, io.EOF); _, err = dec.Token() {
		if err != nil {
			t.Fatal("after the document:", err)
		}
	}
	for i, s := range doc.Suites {
		var failures, errs, skipped int
		for k := range s.Cases {
			c := &s.Cases[k]
			results := 0
			for n, r := range map[*int]*junitResult{&failures: c.Failure, &errs: c.Error, &skipped: c.Skipped} {
				if r != nil {
					*n++
					results++
				}
			}
			if results > 1 || c.Name == "" || c.Class != s.Name || c.Skipped != nil && c.Skipped.Message == "" {
				t.Errorf("a test case is %+v", c)
			}
		}
		if s.ID != i || s.Tests != len(s.Cases) || s.Tests == 0 || s.Failures != failures || s.Errors != errs ||
			s.Skipped != skipped || s.Name == "" || !strings.HasPrefix(s.Out, string(v.Verdict)+": ") {
			t.Errorf("suite %d with %d failures, %d errors and %d skipped is %+v", i, failures, errs, skipped, s)
		}
	}
	return doc
}

// wantJUnit fails if a rule that was violated or not decided looks passed, or a result is missing.
func wantJUnit(t *testing.T, v *verdict.Verdict) {
	t.Helper()
	violated := map[[2]string]bool{}
	for _, x := range v.Violations {
		violated[[2]string{x.RuleID, x.RuleType}] = true
	}
	var cases, errs, failures, passed int
	for i, s := range readJUnit(t, v).Suites {
		cases, errs, failures = cases+s.Tests, errs+s.Errors, failures+s.Failures
		passed += s.Tests - s.Errors - s.Failures - s.Skipped
		if s.Errors > 0 && i != 0 {
			t.Errorf("an error in suite %d", i)
		}
	}
	want := 0 // rules that may pass
	for _, r := range v.Rules {
		if !violated[[2]string{r.ID, r.Type}] && r.Files > 0 && v.Complete && errs == 0 {
			want++
		}
	}
	undecided := len(newView(v).undecided)
	if errs != undecided || (failures == 0) != (len(v.Violations) == 0) || failures < len(violated) || passed > want ||
		cases-errs < len(v.Rules) {
		t.Errorf("%d errors for %d, %d failures for %d violations of %d rules, %d passed, at most %d should; %d cases",
			errs, undecided, failures, len(v.Violations), len(violated), passed, want, cases)
	}
}

func TestJUnitFixtures(t *testing.T) {
	for name, f := range fixtures(t) {
		t.Run(name, func(t *testing.T) { wantJUnit(t, f.verdict) })
	}
}

// TestJUnitCap: a case lists so many places and counts the others.
func TestJUnitCap(t *testing.T) {
	for n, want := range map[int]string{junitMost: "", junitMost + 1: "and 1 more place;", junitMost +
		23: "and 23 more places;"} {
		v := newFixture()
		for i := range n {
			v.Violations = append(v.Violations, found(v.Rules[0], fmt.Sprintf("f%d.tf", i), "0.0.0.0/0", "0.0.0.0/0"))
		}
		v.Decide()
		c := readJUnit(t, v).Suites[0].Cases[0]
		text := c.Failure.Text
		listed := regexp.MustCompile(`(?m)^f\d+\.tf:1:1: `).FindAllString(text, -1)
		more := regexp.MustCompile(`(?m)^and \d+ more places?;`).FindString(text)
		if len(listed) != min(n, junitMost) || more != want || !strings.HasPrefix(c.Failure.Message,
			strconv.Itoa(n)+" places in "+strconv.Itoa(n)+" files: ") {
			t.Errorf("of %d violations %d are listed, then %q; the message is %q", n, len(listed), more,
				c.Failure.Message)
		}
	}
}

// FuzzJUnit: XML that a reader reads as what was meant, whatever the texts are.
func FuzzJUnit(f *testing.F) {
	f.Add("::error::a.tf", "]]><!--", "<![CDATA[", "  ::add-mask::x\n::error::y", "boundary")
	f.Add("a\xff\x00&amp;", "\ufffe\uffff\xed\xa0\x80", "\"'>", "##[warning]\r::error::z</failure>", "")
	f.Add("a", "b", "c", "d", "\x1b::<")
	f.Add("&#0;", "<?xml?>", "<!ENTITY", "\u202e\u0085", "could-not-decide")
	f.Fuzz(func(t *testing.T, file, excerpt, pattern, text, kind string) {
		skipLong(t, 300, file, excerpt, pattern, text, kind)
		v := hostileVerdict(file, excerpt, pattern, text)
		v.Rules[0].Type, v.Violations[0].RuleType = kind, kind
		v.Rules[0].Files = 2
		wantJUnit(t, v)
		v.Errors = nil
		v.Decide()
		wantJUnit(t, v)
		doc := readJUnit(t, v)
		if got, want := doc.Suites[0].Name, "policyscan."+verdict.Visible(kind); got != want {
			t.Errorf("the suite is %q, want %q", got, want)
		}
		if got := doc.Suites[0].Cases[0].Failure.Text; !strings.Contains(got, newFinding(&v.Violations[0]).place()) ||
			!utf8.ValidString(got) {
			t.Errorf("no place %q in %q", newFinding(&v.Violations[0]).place(), got)
		}
	})
}
