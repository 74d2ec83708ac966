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

// junitMost is how many violations a test case lists. CI systems show its text as it is, and some cut it without a
// word.
const junitMost = 100

// writeJUnit writes JUnit's XML as Apache Ant made it: a suite for each type of rule, and in it a test case for each
// rule.
//
//   - A rule that was violated has a failure, with its violations.
//   - One that selects no file is skipped: it covers nothing here.
//   - One that nothing was found of, in a run that could not decide, is skipped: which rules the missing files are
//     about the verdict does not say.
//   - All others pass.
//   - What could not be decided are errors, in their own suite, the first.
//
// It is valid against the schema of windyroad/JUnit-Schema (Ant's format) and against Jenkins' (jenkinsci/xunit-plugin,
// junit-10.xsd). The first wants a time, a host and durations, which a verdict does not have, so that the same run has
// the same bytes: they are the epoch, "localhost", as that schema asks for an unknown host, and 0.
func writeJUnit(w io.Writer, document *verdict.Verdict) error {
	v := newView(document)
	text, err := xml.MarshalIndent(junitSuites(v), "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+inertXML(string(text))+"\n")
	return err
}

// inertXML writes the line ends of a text as they are, since none of ours is in an attribute, and as a reference what
// GitHub's runner would take for a command.
func inertXML(text string) string {
	text = strings.ReplaceAll(text, "&#xA;", "\n")
	text = regexp.MustCompile(`(?m)^([ \t]*)::`).ReplaceAllString(text, "$1&#58;:")
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
	// A junitCase has one of the three, or passed.
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
		Type    *string `xml:"type,attr"` // Ant's schema knows none of what is skipped
		Text    string  `xml:",chardata"`
	}
)

func newJUnitResult(message, kind string, lines []string) *junitResult {
	kind = verdict.Visible(kind)
	return &junitResult{cut(flow(message), 1000), &kind, joinVisible(lines)}
}

func joinVisible(lines []string) string {
	for i, line := range lines {
		lines[i] = verdict.Visible(line)
	}
	return strings.Join(lines, "\n")
}

// add adds a case.
func (s *junitSuite) add(name string, failure, undecided, skipped *junitResult) {
	s.Cases = append(s.Cases, junitCase{cut(flow(name), 500), s.Name, 0, failure, undecided, skipped})
	s.Tests++
	for n, result := range map[*int]*junitResult{&s.Failures: failure, &s.Errors: undecided, &s.Skipped: skipped} {
		if result != nil {
			*n++
		}
	}
}

// junitSuites returns the suites in order. There is at least one with a case: a PASS has a rule, and any other verdict
// a violation or something that could not be decided.
func junitSuites(v *view) *junitDocument {
	d := &junitDocument{}
	properties, out := junitProperties(v), joinVisible(junitNotes(v))
	suites := map[string]*junitSuite{}
	suite := func(key, name string) *junitSuite {
		if suites[key] == nil {
			suites[key] = &junitSuite{
				Name: "policyscan." + verdict.Visible(name), Package: "policyscan", ID: len(d.Suites),
				Timestamp: "1970-01-01T00:00:00", Host: "localhost", Properties: properties, Out: out,
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
	rules, found := junitRules(v)
	for i := range rules {
		r, skipped := &rules[i], ""
		switch {
		case len(found[i]) > 0:
			suite("rules of "+r.Type, r.Type).add(r.ID+": "+r.Title, junitFailure(r, found[i]), nil, nil)
			continue
		case len(v.undecided) > 0:
			skipped = "not decided: the run is incomplete"
		case r.Files == 0:
			skipped = "this rule selects no file"
		case v.Coverage.Scanned == 0 && !v.onlyPaths():
			skipped = "no file that it selects was scanned"
		}
		var result *junitResult
		if skipped != "" {
			result = &junitResult{Message: skipped}
		}
		suite("rules of "+r.Type, r.Type).add(r.ID+": "+r.Title, nil, nil, result)
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

// junitNotes is what each suite says of the whole run.
func junitNotes(v *view) []string {
	lines := []string{v.summaryLine()}
	for _, but := range with(v.caveats(), v.allowedNote()) {
		lines = append(lines, "note: "+but)
	}
	for i, a := range v.newAllowed {
		if i == junitMost {
			return append(lines, "and more; the verdict has all of them")
		}
		lines = append(lines, "note: "+newFinding(&a.Violation).place()+": "+cut(allowedSentence(a), 1000))
	}
	return lines
}

// junitRules returns the rules of the verdict, each with its violations. A change is judged by the bundles of base and
// head, so two rules can have one id: then the case's name says which is which, and a violation whose texts fit either
// fails both. A violation of no listed rule, which no run writes, becomes its own case.
func junitRules(v *view) (rules []verdict.Rule, found [][]*verdict.Violation) {
	type key struct{ id, kind string }
	rules = append(rules, v.Rules...)
	found = make([][]*verdict.Violation, len(rules))
	versions := map[key][]int{} // indexes of rules
	for i := range rules {
		k := key{rules[i].ID, rules[i].Type}
		versions[k] = append(versions[k], i)
	}
	for i := range v.Violations {
		x := &v.Violations[i]
		k := key{x.RuleID, x.RuleType}
		if len(versions[k]) == 0 {
			versions[k] = []int{len(rules)}
			rules = append(rules, verdict.Rule{ID: x.RuleID, Type: x.RuleType, Title: x.Title, Files: 1})
			found = append(found, nil)
		}
		fits := slices.DeleteFunc(slices.Clone(versions[k]), func(n int) bool { return !fitsRule(x, &rules[n]) })
		if len(fits) == 0 {
			fits = versions[k]
		}
		for _, n := range fits {
			found[n] = append(found[n], x)
		}
	}
	for _, same := range versions {
		for _, n := range same {
			if len(same) > 1 {
				rules[n].ID += " (" + rules[n].From + ")"
			}
		}
	}
	return rules, found
}

// junitFailure lists the violations of a rule.
func junitFailure(r *verdict.Rule, found []*verdict.Violation) *junitResult {
	files := map[string]bool{}
	for _, x := range found {
		if x.File != "" {
			files[x.File] = true
		}
	}
	message := count(len(found), "violation")
	if len(files) > 0 {
		message += " in " + count(len(files), "file")
	}
	var lines []string
	sortNewFirst(found)
	for i, x := range found {
		if i == junitMost {
			lines = append(lines, "and "+count(len(found)-junitMost, "more violation")+"; the verdict has all of them")
			break
		}
		lines = append(lines, junitLines(newFinding(x))...)
	}
	for _, note := range [][2]string{
		{"fix: ", r.Remediation}, {"docs: ", r.DocsURL}, {"owner: ", r.Owner}, {"severity: ", r.Severity},
	} {
		if strings.TrimSpace(note[1]) != "" {
			lines = append(lines, namedLines(note[0], note[1])...)
		}
	}
	return newJUnitResult(message+": "+cmp.Or(r.Message, r.Title), r.Type, lines)
}

// junitLines are those of a violation.
func junitLines(f *finding) []string {
	status := label(f.Status)
	if status != "" {
		status += ": "
	}
	lines := []string{f.place() + ": " + status + cut(flow(f.Reason), 1000)}
	if f.inFile() {
		lines = append(lines, "pattern: "+f.pattern())
		lead := "excerpt: "
		for _, l := range textLines(f.at.Excerpt) {
			lines = append(lines, lead+l)
			lead = strings.Repeat(" ", len(lead))
		}
		lines = with(append(lines, f.also(mostLines)...), f.encodingNote())
	} else {
		lines = append(lines, f.foundLine())
	}
	if f.Note != "" {
		lines = append(lines, "note: "+cut(flow(f.Note), 1000))
	}
	for i := range lines[1:] {
		lines[i+1] = "    " + lines[i+1]
	}
	return lines
}
