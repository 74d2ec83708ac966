package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// junitXML is a report as a reader of XML sees it. What the elements may hold is that both
// schemas allow; conformance asks the schemas themselves.
type junitXML struct {
	XMLName xml.Name `xml:"testsuites"`
	Attrs   []string `xml:",any,attr"`
	Suites  []struct {
		Name       string `xml:"name,attr"`
		Package    string `xml:"package,attr"`
		ID         int    `xml:"id,attr"`
		Timestamp  string `xml:"timestamp,attr"`
		Hostname   string `xml:"hostname,attr"`
		Tests      int    `xml:"tests,attr"`
		Failures   int    `xml:"failures,attr"`
		Errors     int    `xml:"errors,attr"`
		Skipped    int    `xml:"skipped,attr"`
		Time       string `xml:"time,attr"`
		Properties []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"properties>property"`
		Cases  []junitXMLCase `xml:"testcase"`
		Out    string         `xml:"system-out"`
		Err    *string        `xml:"system-err"`
		Others []string       `xml:",any"`
	} `xml:"testsuite"`
}

type junitXMLCase struct {
	Name      string         `xml:"name,attr"`
	Classname string         `xml:"classname,attr"`
	Time      string         `xml:"time,attr"`
	Failure   []junitXMLText `xml:"failure"`
	Error     []junitXMLText `xml:"error"`
	Skipped   []junitXMLText `xml:"skipped"`
	Attrs     []xml.Attr     `xml:",any,attr"`
	Others    []string       `xml:",any"`
}

type junitXMLText struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func (c *junitXMLCase) passed() bool { return len(c.Failure)+len(c.Error)+len(c.Skipped) == 0 }

// readJUnit reads what writeJUnit writes, and fails if it does not add up.
func readJUnit(t *testing.T, v *verdict.Verdict) junitXML {
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
	var doc junitXML
	dec := xml.NewDecoder(&b)
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for { // white space is all that follows
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		text, ok := token.(xml.CharData)
		if err != nil || !ok || len(bytes.TrimSpace(text)) > 0 {
			t.Fatalf("after the document: %v, %v", token, err)
		}
	}
	if len(doc.Suites) == 0 || len(doc.Attrs) > 0 {
		t.Errorf("%d suites, attributes %q", len(doc.Suites), doc.Attrs)
	}
	for i, s := range doc.Suites {
		var failures, errs, skipped int
		for _, c := range s.Cases {
			failures, errs, skipped = failures+len(c.Failure), errs+len(c.Error), skipped+len(c.Skipped)
			if len(c.Failure)+len(c.Error)+len(c.Skipped) > 1 || c.Name == "" || c.Classname != s.Name || c.Time != "0" || len(c.Attrs)+len(c.Others) > 0 {
				t.Errorf("a test case is %+v", c)
			}
			for _, r := range c.Skipped {
				if r.Message == "" || r.Type != "" || r.Text != "" {
					t.Errorf("a case is skipped with %+v", r)
				}
			}
			for _, r := range slices.Concat(c.Failure, c.Error) {
				if r.Text == "" && !strings.HasPrefix(c.Name, "E_") {
					t.Errorf("a case has no text: %+v", c)
				}
			}
		}
		if s.ID != i || s.Tests != len(s.Cases) || s.Tests == 0 || s.Failures != failures || s.Errors != errs || s.Skipped != skipped {
			t.Errorf("suite %d says id %d, %d tests, %d failures, %d errors, %d skipped; it has %d, %d, %d, %d", i, s.ID, s.Tests, s.Failures, s.Errors, s.Skipped, len(s.Cases), failures, errs, skipped)
		}
		if s.Name == "" || s.Package != "policyscan" || s.Timestamp != "1970-01-01T00:00:00" || s.Hostname != "localhost" || s.Time != "0" || s.Err == nil || *s.Err != "" || len(s.Others) > 0 || len(s.Properties) < 9 {
			t.Errorf("suite %d is %+v", i, s)
		}
		if !strings.HasPrefix(s.Out, string(v.Verdict)+": ") {
			t.Errorf("suite %d: the output is %q", i, s.Out)
		}
		for _, p := range s.Properties {
			if p.Name == "" {
				t.Errorf("a property without a name")
			}
		}
	}
	return doc
}

// wantJUnit fails if the report is not that of the verdict: no rule may look passed that
// was violated or not decided, nothing may be missing.
func wantJUnit(t *testing.T, v *verdict.Verdict) {
	t.Helper()
	doc := readJUnit(t, v)
	violated := map[[2]string]int{}
	for _, x := range v.Violations {
		violated[[2]string{x.RuleID, x.RuleType}]++
	}
	var cases, errs, failures, passed int
	for i, s := range doc.Suites {
		cases += len(s.Cases)
		for _, c := range s.Cases {
			errs += len(c.Error)
			failures += len(c.Failure)
			if c.passed() {
				passed++
			}
			if len(c.Error) > 0 && i != 0 {
				t.Errorf("an error in suite %d", i)
			}
		}
	}
	if errs != len(newView(v).undecided) || (failures == 0) != (len(v.Violations) == 0) {
		t.Errorf("%d errors for %d, %d failures for %d violations", errs, len(newView(v).undecided), failures, len(v.Violations))
	}
	if failures < len(violated) {
		t.Errorf("%d failures, but %d rules are violated", failures, len(violated))
	}
	want := 0 // rules that may pass
	for _, r := range v.Rules {
		if violated[[2]string{r.ID, r.Type}] == 0 && r.Files > 0 && v.Complete && errs == 0 {
			want++
		}
	}
	if passed > want || cases-errs < len(v.Rules) {
		t.Errorf("%d cases pass, at most %d should; %d cases for %d rules", passed, want, cases-errs, len(v.Rules))
	}
}

func TestJUnitFixtures(t *testing.T) {
	for name, f := range fixtures(t) {
		t.Run(name, func(t *testing.T) { wantJUnit(t, f.verdict) })
	}
	doc := readJUnit(t, fixtureOf(t, "pass"))
	if len(doc.Suites) != 2 || doc.Suites[0].Name != "policyscan.boundary" || doc.Suites[1].Name != "policyscan.invariant" || !doc.Suites[0].Cases[0].passed() || !doc.Suites[1].Cases[0].passed() {
		t.Errorf("a PASS is %+v", doc)
	}
}

// TestJUnitUndecided: in a run that could not decide no rule passes; what was found fails
// all the same.
func TestJUnitUndecided(t *testing.T) {
	v := fixtureOf(t, "fail")
	v.Rules = append(v.Rules, verdict.Rule{ID: "ENC-2", Type: "invariant", Title: "t", Files: 4}, verdict.Rule{ID: "ENC-3", Type: "invariant", Title: "t"})
	result := func() (got []string) {
		v.Decide()
		for _, s := range readJUnit(t, v).Suites {
			for _, c := range s.Cases {
				switch id, _, _ := strings.Cut(c.Name, ":"); {
				case len(c.Failure) > 0:
					got = append(got, id+" failed")
				case len(c.Error) > 0:
					got = append(got, id+" "+c.Error[0].Type)
				case len(c.Skipped) > 0:
					got = append(got, id+" skipped: "+c.Skipped[0].Message)
				default:
					got = append(got, id+" passed")
				}
			}
		}
		return got
	}
	if got, want := result(), []string{"NET-1 failed", "ENC-1 failed", "ENC-2 passed", "ENC-3 skipped: this rule selects no file"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	v.Errors = []verdict.Error{{Code: code.Read, File: "x.tf", Message: "m"}}
	const undecided = " skipped: not decided: the run is incomplete"
	if got, want := result(), []string{"E_READ E_READ", "NET-1 failed", "ENC-1 failed", "ENC-2" + undecided, "ENC-3" + undecided}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestJUnitVersions: of two rules with one id each is its own case, and a violation
// that could be of either fails both.
func TestJUnitVersions(t *testing.T) {
	v := newFixture()
	rule := func(from, title string) verdict.Rule {
		return verdict.Rule{ID: "R", Type: "boundary", From: from, Title: title, Files: 1}
	}
	failed := func() (names []string) {
		v.Decide()
		for _, c := range readJUnit(t, v).Suites[0].Cases {
			if !c.passed() {
				names = append(names, c.Name)
			}
		}
		return names
	}
	v.Rules = []verdict.Rule{rule("base", "old"), rule("head", "new")}
	v.Violations = []verdict.Violation{found(rule("head", "new"), "a", "x", "x")}
	if got := failed(); !slices.Equal(got, []string{"R (head): new"}) {
		t.Errorf("%q", got)
	}
	v.Rules[0].Title = "new"
	if got := failed(); !slices.Equal(got, []string{"R (base): new"}) { // as other reports have it
		t.Errorf("%q", got)
	}
	v.Violations[0].Title = "another"
	if got := failed(); !slices.Equal(got, []string{"R: another"}) {
		t.Errorf("%q", got)
	}
	v.Violations[0].RuleID = "S" // no rule of the list
	if got := failed(); !slices.Equal(got, []string{"S: another"}) {
		t.Errorf("%q", got)
	}
}

// TestJUnitCap: a case lists so many violations and counts the others.
func TestJUnitCap(t *testing.T) {
	for n, want := range map[int]string{junitMost: "", junitMost + 1: "and 1 more violation;", junitMost + 23: "and 23 more violations;"} {
		v := newFixture()
		for i := range n {
			v.Violations = append(v.Violations, found(v.Rules[0], fmt.Sprintf("f%d.tf", i), "0.0.0.0/0", "0.0.0.0/0"))
		}
		v.Decide()
		c := readJUnit(t, v).Suites[0].Cases[0]
		text := c.Failure[0].Text
		listed := regexp.MustCompile(`(?m)^f\d+\.tf:1:1: `).FindAllString(text, -1)
		more := regexp.MustCompile(`(?m)^and \d+ more violations?;`).FindString(text)
		if len(listed) != min(n, junitMost) || more != want || !strings.HasPrefix(c.Failure[0].Message, strconv.Itoa(n)+" violations in "+strconv.Itoa(n)+" files: ") {
			t.Errorf("of %d violations %d are listed, then %q; the message is %q", n, len(listed), more, c.Failure[0].Message)
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
		if got := doc.Suites[0].Cases[0].Failure[0].Text; !strings.Contains(got, newFinding(&v.Violations[0]).place()) || !utf8.ValidString(got) {
			t.Errorf("no place %q in %q", newFinding(&v.Violations[0]).place(), got)
		}
	})
}
