package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// junitMost is the number of places that a test case lists. Some CI systems cut a long text silently.
const junitMost = 100

// writeJUnit writes JUnit's XML as Apache Ant made it: a suite for each type of rule, and in it a test case for each
// rule.
//
//   - A rule that was violated has a failure, with its places.
//   - A rule that selects no file is skipped.
//   - A rule without a violation, in an incomplete run, is skipped: the verdict does not tell which rules the missing
//     files are for.
//   - All others pass.
//   - Errors of the verdict are errors, in the first suite.
//
// It is valid against the schema of windyroad/JUnit-Schema (Ant's format) and against Jenkins'
// (jenkinsci/xunit-plugin, junit-10.xsd). The first requires a time, a host and durations: they are the epoch,
// "localhost" and 0, so that equal verdicts have equal bytes.
func writeJUnit(w io.Writer, document *verdict.Verdict) error {
	v := newView(document)
	text, err := xml.MarshalIndent(junitSuites(v), "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+inertXML(string(text))+"\n")
	return err
}

// inertXML writes line ends as such, since our attributes have none, and the commands of GitHub's runner and Azure's
// agent as references.
func inertXML(text string) string {
	text = strings.ReplaceAll(text, "&#xA;", "\n")
	text = regexp.MustCompile(`(?m)^([ \t]*)::`).ReplaceAllString(text, "$1&#58;:")
	text = regexp.MustCompile(`(?i)##(vso\[)`).ReplaceAllString(text, "#&#35;$1")
	return strings.ReplaceAll(text, "##[", "##&#91;")
}

// The elements. XML has no way to write most control characters: all texts are [verdict.Visible], line by line.
type (
	junitDocument struct {
		XMLName xml.Name      `xml:"testsuites"`
		Suites  []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Package    string          `xml:"package,attr"`
		ID         int             `xml:"id,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Host       string          `xml:"hostname,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       int             `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out"`
		Err        string          `xml:"system-err"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	// A junitCase has at most one of the three results.
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Time    int          `xml:"time,attr"`
		Failure *junitResult `xml:"failure"`
		Error   *junitResult `xml:"error"`
		Skipped *junitResult `xml:"skipped"`
	}
	junitResult struct {
		Message string  `xml:"message,attr"`
		Type    *string `xml:"type,attr"` // not in Ant's schema for skipped tests
		Text    string  `xml:",chardata"`
	}
)

func newJUnitResult(message, kind string, lines []string) *junitResult {
	kind = verdict.Visible(kind)
	return &junitResult{cut(flow(message), 1000), &kind, strings.Join(lines, "\n")}
}

func (s *junitSuite) add(name string, failure, undecided, skipped *junitResult) {
	s.Cases = append(s.Cases, junitCase{cut(flow(name), 500), s.Name, 0, failure, undecided, skipped})
	s.Tests++
	for n, result := range map[*int]*junitResult{&s.Failures: failure, &s.Errors: undecided, &s.Skipped: skipped} {
		if result != nil {
			*n++
		}
	}
}

// junitSuites returns the suites, at least one with a case: a PASS has a rule, a FAIL a violation or an error.
func junitSuites(v *view) *junitDocument {
	d := &junitDocument{}
	properties, out := junitProperties(v), []string{v.summaryLine()}
	for _, note := range slices.Concat(with(v.caveats(), v.allowedNote()), v.allowedLines(junitMost)) {
		out = append(out, "note: "+note)
	}
	suites := map[string]*junitSuite{}
	suite := func(key, name string) *junitSuite {
		if suites[key] == nil {
			suites[key] = &junitSuite{
				Name: "policyscan." + verdict.Visible(name), Package: "policyscan", ID: len(d.Suites),
				Timestamp: "1970-01-01T00:00:00", Host: "localhost",
				Properties: properties, Out: strings.Join(out, "\n"),
			}
			d.Suites = append(d.Suites, suites[key])
		}
		return suites[key]
	}
	for i := range v.undecided {
		e := &v.undecided[i]
		name, lines := e.Code+": "+e.Message, textLines(e.Message)
		if aboutFile(e) {
			name = e.Code + ": " + e.File
			lines[0] = verdict.Visible(e.File) + ": " + lines[0]
		}
		suite("", "could-not-decide").add(name, nil, newJUnitResult(e.Message, e.Code, lines), nil)
	}
	versions := map[string]int{} // of a rule: of the bundles of base and head
	for _, g := range v.byRule {
		versions[g.rule.Type+" "+g.rule.ID]++
	}
	for _, g := range v.byRule {
		r, name := g.rule, g.rule.ID
		if versions[r.Type+" "+name] > 1 && r.From != "" {
			name += " (" + r.From + ")"
		}
		var failure, skipped *junitResult
		if why := v.unchecked(g); len(g.violations) > 0 {
			failure = junitFailure(g)
		} else if why != "" {
			skipped = &junitResult{Message: why}
		}
		suite("rules of "+r.Type, r.Type).add(name+": "+r.Title, failure, nil, skipped)
	}
	return d
}

func junitProperties(v *view) []junitProperty {
	c := &v.Coverage
	all := []junitProperty{
		{"policyscan.version", verdict.Visible(v.Tool.Version)}, {"verdict", string(v.Verdict.Verdict)},
		{"complete", fmt.Sprint(v.Complete)}, {"partial", fmt.Sprint(v.Partial)},
		{"scope", verdict.Visible(v.Scope.Mode)}, {"files", fmt.Sprint(c.Files)}, {"governed", fmt.Sprint(c.Governed)},
		{"scanned", fmt.Sprint(c.Scanned)}, {"not_scanned", fmt.Sprint(len(c.NotScanned))},
	}
	if v.ofCommit() {
		all = append(all, junitProperty{"commit", verdict.Visible(v.Scope.HeadCommit)})
	}
	return all
}

func junitFailure(g *ruleGroup) *junitResult {
	var lines []string
	room := junitMost
	for _, file := range g.files {
		if room == 0 {
			break
		}
		all, _, _ := file.findings(room)
		for _, f := range all {
			if f.first {
				lines = append(lines, strings.Join(f.lines(), "\n    "))
			} else {
				lines = append(lines, f.leadLine()+f.foundLine())
			}
		}
		room -= len(all)
	}
	if more := g.numbers.all() - junitMost + room; more > 0 {
		lines = append(lines, "and "+count(more, "more place")+"; see verdict.json")
	}
	lines = append(lines, ruleLines(g.rule, ownerNames(g.rule, g.violations...), remedies(g.rule, g.violations...))...)
	return newJUnitResult(g.numbers.words("")+": "+cmp.Or(g.rule.Message, g.rule.Title), g.rule.Type, lines)
}
