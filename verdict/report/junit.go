package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// junitMost is how many violations a test case lists. CI systems show its text as it is, and some cut it without a word.
const junitMost = 100

// writeJUnit writes JUnit's XML as Apache Ant made it: a suite for each type of rule, and in it a test case for each rule.
//
//   - A rule that was violated has a failure, with its violations.
//   - One that selects no file is skipped: it covers nothing here.
//   - One that nothing was found of, in a run that could not decide, is skipped: which rules the missing files are about
//     the verdict does not say.
//   - All others pass.
//   - What could not be decided are errors, in their own suite, the first.
//
// It is valid against the schema of windyroad/JUnit-Schema (Ant's format) and against Jenkins' (jenkinsci/xunit-plugin,
// junit-10.xsd). The first wants a time, a host and durations, which a verdict does not have, so that the same run has the
// same bytes: they are the epoch, "localhost", as that schema asks for an unknown host, and 0.
func writeJUnit(w io.Writer, document *verdict.Verdict) error {
	v := newView(document)
	var b bytes.Buffer
	x := xmlWriter{enc: xml.NewEncoder(&b)}
	x.enc.Indent("", "  ")
	x.open("testsuites")
	suites := junitSuites(v)
	for i := range suites {
		suites[i].write(&x, i, v)
	}
	x.close("testsuites")
	if err := x.end(); err != nil {
		return err
	}
	_, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+inertXML(b.String())+"\n")
	return err
}

// inertXML writes as a reference of XML what GitHub's runner would take for a command.
func inertXML(text string) string {
	text = regexp.MustCompile(`(?m)^([ \t]*)::`).ReplaceAllString(text, "$1&#58;:")
	return strings.ReplaceAll(text, "##[", "##&#91;")
}

// An xmlWriter writes elements, until there is an error.
type xmlWriter struct {
	enc *xml.Encoder
	err error
}

func (x *xmlWriter) token(t xml.Token) {
	if x.err == nil {
		x.err = x.enc.EncodeToken(t)
	}
}

func (x *xmlWriter) end() error { return cmp.Or(x.err, x.enc.Close()) }

// open begins an element with these attributes, each a name and a value. XML has no way to write most control characters:
// they are written as [verdict.Visible] writes them.
func (x *xmlWriter) open(name string, attrs ...string) {
	start := xml.StartElement{Name: xml.Name{Local: name}}
	for pair := range slices.Chunk(attrs, 2) {
		start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: pair[0]}, Value: verdict.Visible(pair[1])})
	}
	x.token(start)
}

func (x *xmlWriter) close(name string) { x.token(xml.EndElement{Name: xml.Name{Local: name}}) }

// element writes one that holds lines, or nothing.
func (x *xmlWriter) element(name string, lines []string, attrs ...string) {
	x.open(name, attrs...)
	for i, line := range lines {
		if i > 0 {
			x.token(xml.CharData("\n"))
		}
		x.token(xml.CharData(verdict.Visible(line)))
	}
	x.close(name)
}

type junitSuite struct {
	name  string
	cases []junitCase
}

// A junitCase is a test case with one child, or none: it passed.
type junitCase struct {
	name    string
	result  string // the child's name: "", "failure", "error" or "skipped"
	kind    string // its type
	message string
	lines   []string // its text
}

// junitSuites returns the suites in order. There is at least one with a case: a PASS has a rule, and any other verdict a
// violation or something that could not be decided.
func junitSuites(v *view) []junitSuite {
	var suites []junitSuite
	for i := range v.undecided {
		if i == 0 {
			suites = []junitSuite{{name: "could-not-decide"}}
		}
		suites[0].cases = append(suites[0].cases, errorCase(&v.undecided[i]))
	}
	rules, found := junitRules(v)
	at := map[string]int{} // of a type's suite
	for i := range rules {
		r := &rules[i]
		n, known := at[r.Type]
		if !known {
			n = len(suites)
			at[r.Type] = n
			suites = append(suites, junitSuite{name: r.Type})
		}
		suites[n].cases = append(suites[n].cases, ruleCase(v, r, found[i]))
	}
	return suites
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

func errorCase(e *verdict.Error) junitCase {
	c := junitCase{
		name: e.Code + ": " + e.Message, result: "error", kind: e.Code, message: e.Message, lines: textLines(e.Message),
	}
	if aboutFile(e) {
		c.name = e.Code + ": " + e.File
		c.lines[0] = verdict.Visible(e.File) + ": " + c.lines[0]
	}
	return c
}

func ruleCase(v *view, r *verdict.Rule, found []*verdict.Violation) junitCase {
	c := junitCase{name: r.ID + ": " + r.Title, kind: r.Type}
	switch {
	case len(found) > 0:
		c.fail(r, found)
	case len(v.undecided) > 0:
		c.result, c.message = "skipped", "not decided: the run is incomplete"
	case r.Files == 0:
		c.result, c.message = "skipped", "this rule selects no file"
	case v.Coverage.Scanned == 0 && !v.onlyPaths():
		c.result, c.message = "skipped", "no file that it selects was scanned"
	}
	return c
}

func (c *junitCase) add(lines ...string) { c.lines = append(c.lines, lines...) }

func (c *junitCase) fail(r *verdict.Rule, found []*verdict.Violation) {
	files := map[string]bool{}
	for _, x := range found {
		if x.File != "" {
			files[x.File] = true
		}
	}
	c.result, c.message = "failure", count(len(found), "violation")
	if len(files) > 0 {
		c.message += " in " + count(len(files), "file")
	}
	if r.Message != "" {
		c.message += ": " + r.Message
	} else {
		c.message += ": " + r.Title
	}
	sortNewFirst(found)
	for i, x := range found {
		if i == junitMost {
			c.add("and " + count(len(found)-junitMost, "more violation") + "; the verdict has all of them")
			break
		}
		c.violation(newFinding(x))
	}
	for _, note := range [][2]string{
		{"fix: ", r.Remediation}, {"docs: ", r.DocsURL}, {"owner: ", r.Owner}, {"severity: ", r.Severity},
	} {
		if lines := namedLines(note[0], note[1]); lines[0] != note[0] || len(lines) > 1 {
			c.add(lines...)
		}
	}
}

// violation adds the lines of a violation.
func (c *junitCase) violation(f *finding) {
	status := label(f.Status)
	if status != "" {
		status += ": "
	}
	const indent = "    "
	c.add(f.place() + ": " + status + cut(flow(f.Reason), 1000))
	if f.inFile() {
		c.add(indent + "pattern: " + f.pattern())
		lead := indent + "excerpt: "
		for _, l := range textLines(f.at.Excerpt) {
			c.add(lead + l)
			lead = "             "
		}
		for _, clause := range f.also(mostLines) {
			c.add(indent + clause)
		}
		if note := f.encodingNote(); note != "" {
			c.add(indent + note)
		}
	} else {
		c.add(indent + f.foundLine())
	}
	if f.Note != "" {
		c.add(indent + "note: " + cut(flow(f.Note), 1000))
	}
}

func (s *junitSuite) write(x *xmlWriter, id int, v *view) {
	results := map[string]int{}
	for i := range s.cases {
		results[s.cases[i].result]++
	}
	name := "policyscan." + s.name
	x.open("testsuite", "name", name, "package", "policyscan", "id", strconv.Itoa(id),
		"timestamp", "1970-01-01T00:00:00", "hostname", "localhost", "tests", strconv.Itoa(len(s.cases)),
		"failures", strconv.Itoa(results["failure"]), "errors", strconv.Itoa(results["error"]),
		"skipped", strconv.Itoa(results["skipped"]), "time", "0")
	x.open("properties")
	property := func(name string, value any) { x.element("property", nil, "name", name, "value", fmt.Sprint(value)) }
	c := &v.Coverage
	property("policyscan.version", v.Tool.Version)
	property("verdict", v.Verdict.Verdict)
	property("complete", v.Complete)
	property("partial", v.Partial)
	property("scope", v.Scope.Mode)
	property("files", c.Files)
	property("governed", c.Governed)
	property("scanned", c.Scanned)
	property("not_scanned", len(c.NotScanned))
	if v.ofCommit() {
		property("commit", v.Scope.HeadCommit)
	}
	x.close("properties")
	for i := range s.cases {
		s.cases[i].write(x, name)
	}
	lines := []string{v.summaryLine()}
	for _, but := range with(v.caveats(), v.allowedNote()) {
		lines = append(lines, "note: "+but)
	}
	for i, a := range v.newAllowed {
		if i == junitMost {
			lines = append(lines, "and more; the verdict has all of them")
			break
		}
		lines = append(lines, "note: "+newFinding(&a.Violation).place()+": "+cut(allowedSentence(a), 1000))
	}
	x.element("system-out", lines)
	x.element("system-err", nil)
	x.close("testsuite")
}

func (c *junitCase) write(x *xmlWriter, suite string) {
	x.open("testcase", "name", cut(flow(c.name), 500), "classname", suite, "time", "0")
	attrs := []string{"message", cut(flow(c.message), 1000)}
	if c.result != "skipped" { // Ant's schema knows no type of it
		attrs = append(attrs, "type", c.kind)
	}
	if c.result != "" {
		x.element(c.result, c.lines, attrs...)
	}
	x.close("testcase")
}
