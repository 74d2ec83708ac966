package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// Of so many violations each has a line of carets under its match; of more each has one line.
const fewViolations = 25

// policyChanges says what the change does to the policy that checks it.
func (t *textWriter) policyChanges(v *verdict.Verdict) {
	changes := policyChanges(v)
	for _, change := range changes {
		t.labelled("policy change: ", change)
	}
	if len(changes) > 0 {
		t.line("")
	}
}

// group writes a rule, and below it where it is broken.
func (t *textWriter) group(g *ruleGroup) {
	r := g.rule
	about := g.counts()
	shown, also := g.fold()
	g = &ruleGroup{rule: g.rule, files: g.files, reason: g.reason, violations: shown}
	if owner := flow(r.Owner); owner != "" {
		about += "; owner: " + owner
	}
	id := verdict.Visible(r.ID)
	for i, line := range wrapIndented(id+": "+flow(r.Title)+" ("+about+")", t.Width, "  ") {
		if rest, ok := strings.CutPrefix(line, id); ok && i == 0 {
			line = t.paint(red, id) + t.paint(bold, rest)
		} else {
			line = t.paint(bold, line)
		}
		t.line("%s", line)
	}
	reason, found := g.reason, ""
	switch {
	case r.Message != "" && reason == r.Message:
		t.say("  ", "", flow(r.Message))
	case g.hasPlaces(): // where there is none the line of the violation says the same
		t.say("  ", "", full(sentence(flow(untitled(reason, r.Title)))))
	}
	if found = g.found(); found != "" && !strings.Contains(reason, found) {
		name, value := foundOf(g.violations[0], quotedPattern(&g.violations[0].Evidence))
		t.say("  ", name, value)
	}
	for _, v := range also {
		_, value := foundOf(v, quotedPattern(&v.Evidence))
		t.say("  ", "also", value+", at the same lines, counted separately")
	}
	t.say("  ", "fix", r.Remediation)
	t.say("  ", "docs", r.DocsURL)
	for i, v := range g.violations {
		if i == t.Most && t.Most > 0 {
			t.rest(count(len(g.violations)-i, "more violation"))
			break
		}
		t.violation(v, reason == "", found == "")
	}
	t.line("")
}

// hasPlaces reports whether a violation of the rule is at a place in a file.
func (g *ruleGroup) hasPlaces() bool {
	return slices.ContainsFunc(g.violations, func(v *verdict.Violation) bool { return hasPlace(&v.Evidence) })
}

// found is the pattern of all violations of a rule, as the report shows it, if their places do not show what it is;
// otherwise it is "".
func (g *ruleGroup) found() string {
	first := &g.violations[0].Evidence
	for _, v := range g.violations {
		e := &v.Evidence
		if e.Pattern != first.Pattern || e.Kind != first.Kind || !hasPlace(e) || !hidesPattern(e) {
			return ""
		}
	}
	return quotedPattern(first)
}

// violation writes a violation: where it is and what is there, and what else is to be known of it. reason and found are
// whether the rule's lines do not have its reason and what was found.
func (t *textWriter) violation(v *verdict.Violation, reason, found bool) {
	t.place(v, statusWords(v.Status), t.paint(faint, "["+verdict.Visible(v.RuleID)+"]"),
		columns("["+verdict.Visible(v.RuleID)+"]"))
	said := false
	if e := &v.Evidence; reason {
		if usual := strings.HasPrefix(v.Reason, v.Title+": "); !usual || hidesPattern(e) && hasPlace(e) {
			t.say("    ", "", flow(untitled(v.Reason, v.Title)))
			said = usual
		}
	}
	if e := &v.Evidence; found && !said && hasPlace(e) && hidesPattern(e) {
		name, value := foundOf(v, quotedPattern(e))
		t.say("    ", name, value)
	}
	most := mostLines
	if t.Width == 0 {
		most = 0
	}
	for _, clause := range alsoAt(v, most) {
		t.say("    ", "", clause)
	}
	if inAnotherEncoding(&v.Evidence) {
		t.say("    ", "", "found as "+v.Evidence.Encoding)
	}
	t.say("    ", "note", v.Note)
}

// place writes where a violation is, first in the line, what is there, and in what rule. status is a word before it.
// tag is the rule as it is painted, in so many columns.
func (t *textWriter) place(v *verdict.Violation, status, tag string, tagColumns int) {
	p := pointed(v)
	at := theTree
	if v.File != "" { // what is at no place has one all the same: editors and problem matchers look for it
		at = fmt.Sprintf("%s:%d:%d", t.inert(verdict.Visible(t.Prefix+v.File)), p.Line, p.Column)
	}
	at += ":"
	lead := at + " "
	if status != "" {
		lead += status + ": "
	}
	painted := t.paint(bold, at) + strings.TrimPrefix(lead, at)
	room := t.Width - columns(lead) - 1 - tagColumns
	if showsNothing(&p.Evidence) {
		name, value := foundOf(v, quotedPattern(&p.Evidence))
		text := value
		if name != "found" {
			text = name + ": " + value
		}
		if t.Width > 0 && columns(text) > room {
			t.line("%s%s %s", painted, name, tag)
			t.say("    ", "", value)
			return
		}
		t.line("%s%s %s", painted, text, tag)
		return
	}
	if t.Width > 0 && room < minSource && sourceColumns(&p.Evidence) > room {
		word := status
		if status == "" {
			word = "found"
		}
		t.line("%s %s %s", t.paint(bold, at), word, tag)
		const gutter = "    | "
		src, carets := t.trimmedSource(&p.Evidence, t.Width-len(gutter))
		t.line("%s%s", gutter, src)
		if t.carets {
			t.line("%s%s", gutter, carets)
		}
		return
	}
	src, carets := t.trimmedSource(&p.Evidence, room)
	t.line("%s%s %s", painted, src, tag)
	if t.carets {
		t.line("%s%s", strings.Repeat(" ", columns(lead)), carets)
	}
}

// minSource is how many columns a line of source that does not fit must have in the line of its place; with fewer it is
// below.
const minSource = 30

// inert is a place as it begins a line.
func (t *textWriter) inert(place string) string {
	if t.Commands {
		return verdict.Defuse(place)
	}
	return place
}

// rest says how much is not shown on a terminal, and how to see it.
func (t *textWriter) rest(more string) {
	t.say("    ", "", "and "+more+"; --report text shows all")
}

// allowed says how much is allowed, and lists what of it is new.
func (t *textWriter) allowed(v *verdict.Verdict) {
	note := allowedNote(v)
	if note == "" {
		return
	}
	t.labelled("", note)
	all := allowedNew(v)
	for i, a := range all {
		if i == t.Most && t.Most > 0 {
			t.rest(fmt.Sprintf("%d more that are new", len(all)-i))
			break
		}
		// It does not end as a violation does: a problem matcher must not take it for one.
		tag := "(" + verdict.Visible(a.RuleID) + ")"
		t.place(&a.Violation, newButAllowed, t.paint(faint, tag), columns(tag))
		for _, clause := range alsoAt(&a.Violation, mostLines) {
			t.say("    ", "", clause)
		}
		t.say("    ", "", allowanceWords(&a.Allowance))
	}
	t.line("")
}

// endings lists the allowances that end soon.
func (t *textWriter) endings(v *verdict.Verdict) {
	lines := endings(v)
	if len(lines) == 0 {
		return
	}
	t.labelled("", endingsNote(v)+":")
	for _, l := range lines {
		t.say("    ", "", l)
	}
	t.line("")
}
