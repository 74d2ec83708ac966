package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// junitMost is how many violations a test case lists. CI systems show its text as it is,
// and some cut it without a word.
const junitMost = 100

// writeJUnit writes JUnit's XML as Apache Ant made it: a suite for each type of rule, and in
// it a test case for each rule.
//
//   - A rule that was violated has a failure, with its violations.
//   - One that selects no file is skipped: it covers nothing here.
//   - One that nothing was found of, in a run that could not decide, is skipped: which
//     rules the missing files are about the verdict does not say.
//   - All others pass.
//   - What could not be decided are errors, in their own suite, the first.
//
// It is valid against the schema of windyroad/JUnit-Schema (Ant's format) and against
// Jenkins' (jenkinsci/xunit-plugin, junit-10.xsd). The first wants a time, a host and
// durations, which a verdict does not have, so that the same run has the same bytes: they
// are the epoch, "localhost", as that schema asks for an unknown host, and 0.
func writeJUnit(w io.Writer, v *verdict.Verdict) error {
	b := bufio.NewWriter(w)
	j := junitWriter{b, v}
	j.print("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n")
	for i, s := range junitSuites(v) {
		j.suite(i, &s)
	}
	j.print("</testsuites>\n")
	return b.Flush() // a bufio.Writer keeps its first error
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

// junitSuites returns the suites in order. There is at least one with a case: a PASS has a
// rule, and any other verdict a violation or something that could not be decided.
func junitSuites(v *verdict.Verdict) []junitSuite {
	var suites []junitSuite
	errs := undecidedOf(v)
	if len(errs) > 0 {
		s := junitSuite{name: "could-not-decide"}
		for i := range errs {
			s.cases = append(s.cases, errorCase(&errs[i]))
		}
		suites = append(suites, s)
	}

	scanned := v.Coverage.Scanned > 0 || onlyPaths(v)
	rules, found := junitRules(v)
	at := map[string]int{} // of a type's suite
	for i := range rules {
		r := &rules[i]
		n, ok := at[r.Type]
		if !ok {
			n = len(suites)
			at[r.Type] = n
			suites = append(suites, junitSuite{name: r.Type})
		}
		suites[n].cases = append(suites[n].cases, ruleCase(r, found[i], len(errs) == 0, scanned))
	}
	return suites
}

// junitRules returns the rules of the verdict, each with its violations. A change is
// judged by the bundles of base and head, so two rules can have one id: then the case's
// name says which is which, and a violation whose texts fit either fails both. A violation of no
// listed rule, which no run writes, becomes its own case.
func junitRules(v *verdict.Verdict) (rules []verdict.Rule, found [][]*verdict.Violation) {
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
		fits := slices.DeleteFunc(slices.Clone(versions[k]), func(n int) bool { return !canBeOf(x, &rules[n]) })
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
		name: e.Code + ": " + e.Message, result: "error", kind: e.Code, message: e.Message,
		lines: textLines(e.Message),
	}
	if aboutFile(e) {
		c.name = e.Code + ": " + e.File
		c.lines[0] = verdict.Visible(e.File) + ": " + c.lines[0]
	}
	return c
}

func ruleCase(r *verdict.Rule, found []*verdict.Violation, decided, scanned bool) junitCase {
	c := junitCase{name: r.ID + ": " + r.Title, kind: r.Type}
	switch {
	case len(found) > 0:
		c.fail(r, found)
	case !decided:
		c.result, c.message = "skipped", "not decided: the run is incomplete"
	case r.Files == 0:
		c.result, c.message = "skipped", "this rule selects no file"
	case !scanned:
		c.result, c.message = "skipped", "no file that it selects was scanned"
	}
	return c
}

func (c *junitCase) fail(r *verdict.Rule, found []*verdict.Violation) {
	files := map[string]bool{}
	for _, v := range found {
		if v.File != "" {
			files[v.File] = true
		}
	}
	in := ""
	if len(files) > 0 {
		in = " in " + count(len(files), "file")
	}
	what := r.Message
	if what == "" {
		what = r.Title
	}
	c.result = "failure"
	c.message = fmt.Sprintf("%s%s: %s", count(len(found), "violation"), in, what)
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b *verdict.Violation) int { return newFirst(a) - newFirst(b) })
	for i, v := range found {
		if i == junitMost {
			c.lines = append(c.lines,
				fmt.Sprintf("and %s; the verdict has all of them", count(len(found)-junitMost, "more violation")))
			break
		}
		c.lines = append(c.lines, violationLines(v)...)
	}
	for _, note := range [][2]string{{"fix: ", r.Remediation}, {"docs: ", r.DocsURL}, {"owner: ", r.Owner},
		{"severity: ", r.Severity}} {
		if text := strings.TrimSpace(note[1]); text != "" {
			lines := textLines(text)
			c.lines = append(append(c.lines, note[0]+lines[0]), lines[1:]...)
		}
	}
}

func violationLines(v *verdict.Violation) []string {
	p := pointed(v)
	e := &p.Evidence
	status := statusWords(v.Status)
	if status != "" {
		status += ": "
	}
	lines := []string{placeOf(v) + ": " + status + cut(flow(v.Reason), 1000)}
	if !hasPlace(e) {
		lines = append(lines, "    "+foundLine(v))
		if v.Note != "" {
			lines = append(lines, "    note: "+cut(flow(v.Note), 1000))
		}
		return lines
	}
	lines = append(lines, "    pattern: "+quotedPattern(e))
	for i, l := range textLines(e.Excerpt) {
		if i == 0 {
			lines = append(lines, "    excerpt: "+l)
		} else {
			lines = append(lines, "             "+l)
		}
	}
	for _, clause := range alsoAt(v, mostLines) {
		lines = append(lines, "    "+clause)
	}
	if inAnotherEncoding(e) {
		lines = append(lines, "    found as "+verdict.Visible(e.Encoding))
	}
	if v.Note != "" {
		lines = append(lines, "    note: "+cut(flow(v.Note), 1000))
	}
	return lines
}

type junitWriter struct {
	w *bufio.Writer
	v *verdict.Verdict
}

func (j *junitWriter) print(format string, args ...any) {
	_, _ = fmt.Fprintf(j.w, format, args...) // the error is Flush's
}

func (j *junitWriter) suite(id int, s *junitSuite) {
	results := map[string]int{}
	for i := range s.cases {
		results[s.cases[i].result]++
	}
	j.print("  <testsuite name=\"%s\" package=\"policyscan\" id=\"%d\" timestamp=\"1970-01-01T00:00:00\" "+
		"hostname=\"localhost\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"0\">\n",
		xmlText("policyscan."+s.name), id, len(s.cases), results["failure"], results["error"], results["skipped"])
	c := &j.v.Coverage
	j.print("    <properties>\n")
	properties := [][2]string{
		{"policyscan.version", j.v.Tool.Version}, {"verdict", string(j.v.Verdict)},
		{"complete", fmt.Sprint(j.v.Complete)},
		{"partial", fmt.Sprint(j.v.Partial)}, {"scope", j.v.Scope.Mode}, {"files", fmt.Sprint(c.Files)},
		{"governed", fmt.Sprint(c.Governed)}, {"scanned", fmt.Sprint(c.Scanned)},
		{"not_scanned", fmt.Sprint(len(c.NotScanned))},
	}
	if ofCommit(&j.v.Scope) {
		properties = append(properties, [2]string{"commit", j.v.Scope.HeadCommit})
	}
	for _, p := range properties {
		j.print("      <property name=\"%s\" value=\"%s\"/>\n", p[0], xmlText(p[1]))
	}
	j.print("    </properties>\n")
	for i := range s.cases {
		j.testCase(s.name, &s.cases[i])
	}
	lines := []string{newView(j.v).summaryLine()}
	for _, but := range caveats(j.v) {
		lines = append(lines, "note: "+but)
	}
	if note := allowedNote(j.v); note != "" {
		lines = append(lines, "note: "+note)
	}
	for i, a := range allowedNew(j.v) {
		if i == junitMost {
			lines = append(lines, "and more; the verdict has all of them")
			break
		}
		lines = append(lines, "note: "+placeOf(&a.Violation)+": "+cut(allowedSentence(a), 1000))
	}
	j.print("    <system-out>%s</system-out>\n    <system-err></system-err>\n  </testsuite>\n", xmlLines(lines))
}

func (j *junitWriter) testCase(suite string, c *junitCase) {
	j.print("    <testcase name=\"%s\" classname=\"%s\" time=\"0\"", xmlText(cut(flow(c.name), 500)),
		xmlText("policyscan."+suite))
	if c.result == "" {
		j.print("/>\n")
		return
	}
	j.print(">\n      <%s message=\"%s\"", c.result, xmlText(cut(flow(c.message), 1000)))
	if c.result != "skipped" { // Ant's schema knows no type of it
		j.print(" type=\"%s\"", xmlText(c.kind))
	}
	if len(c.lines) == 0 {
		j.print("/>\n    </testcase>\n")
		return
	}
	j.print(">%s</%s>\n    </testcase>\n", xmlLines(c.lines), c.result)
}

// xmlEscaper also takes "##[" apart, in which GitHub's runner would see a command.
var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "##[", "##&#91;")

// xmlText makes text of unknown origin fit for an attribute and for the text of an
// element. XML 1.0 has no way to write most control characters: they are written as
// [verdict.Visible] writes them.
func xmlText(s string) string { return xmlEscaper.Replace(verdict.Visible(s)) }

// xmlLines makes lines the text of an element. None begins with "::", which GitHub's runner
// would take for a command.
func xmlLines(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		line = xmlText(line)
		if body := strings.TrimLeft(line, " "); strings.HasPrefix(body, "::") {
			line = line[:len(line)-len(body)] + "&#58;" + body[1:]
		}
		b.WriteString(line)
	}
	return b.String()
}
