package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/verdict"
)

const (
	fewPlaces   = 25 // up to here, each match has a line of carets
	tallyPlaces = 10 // from here, places are counted by rule and by directory
	manyPlaces  = 50 // of a rule: over this, a terminal shows the first ones
	mostFiles   = 20 // names of files that were not scanned
)

// partial is the outcome, for display, of a narrowed run that found nothing. Its verdict is a FAIL.
const partial verdict.Outcome = "PARTIAL"

// TextOptions are additions to the text report, and its style.
type TextOptions struct {
	Prefix   string        // from the current directory to the tree's root: "" or a path that ends in "/"
	Policy   string        // the bundle in use, for display
	Root     string        // the tree's root, for display
	Notes    []string      // more notes
	Elapsed  time.Duration // 0: not shown
	Color    bool          // ANSI colours
	Width    int           // of the terminal, in columns; 0: unlimited
	Most     int           // shown places of a rule with many, and limit of other lists; 0: all
	Brief    bool          // of a PASS, only the last line
	Commands bool          // the reader obeys workflow commands (GitHub Actions): defuse them
	Arrangement

	Mistakes map[verdict.Error]Mistake // more about some errors than the verdict has
}

// WriteText writes the report for people: changes of the policy, the violated rules with a line for each place, which
// it begins with, so that terminals and editors link it, the allowed places, the errors, the bundle, the root and a
// summary, and in the last line the outcome and the counts.
func WriteText(w io.Writer, document *verdict.Verdict, o TextOptions) error {
	v := newView(document)
	v.arrange(o.Arrangement)
	if v.neverScanned() {
		o.Policy, o.Elapsed = "", 0
		if !strings.Contains(v.Errors[0].Message, "the root") { // otherwise the reader must know which
			o.Root = ""
		}
	}
	t := textWriter{w: bufio.NewWriter(w), TextOptions: o, carets: v.numbers.places <= fewPlaces}
	if !o.Brief || !v.passes() {
		t.body(v)
	}
	outcome, result := v.Verdict.Verdict, v.result()
	if v.onlyPartial() && len(v.Violations) == 0 {
		outcome, result = partial, "no violation"
		if v.ruleCount() == 1 {
			result += " of " + verdict.Visible(v.Rules[0].ID)
		}
		result += v.allowedSuffix() + "; exit status 2 without --allow partial"
	}
	t.last(outcome, result+v.looked(), t.Elapsed)
	return t.w.Flush() // a bufio.Writer keeps its first error
}

func (t *textWriter) body(v *view) {
	changes := v.policyChanges()
	for _, change := range changes {
		t.labelled("policy change: ", change)
	}
	t.gap(len(changes))
	for _, s := range v.sections {
		if s.title != "" {
			t.line("%s", t.paint(bold, "== "+s.heading()))
		}
		for _, g := range s.groups {
			t.group(g)
		}
	}
	t.allowed(v)
	if endings := v.endings(); len(endings) > 0 {
		t.labelled("", v.endingsNote()+":")
		for _, l := range endings {
			t.say("    ", "", l)
		}
		t.line("")
	}
	errs := foldUnparsed(v.failures(), t.Prefix)
	for _, e := range inOrder(errs, func(e verdict.Error) string { return e.File }) {
		t.error(&e)
	}
	t.gap(len(errs))
	t.summary(v)
	t.tallies(v)
}

func (t *textWriter) group(g *ruleGroup) {
	r, about := g.rule, g.numbers.words("")
	if severity := flow(r.Severity); severity != "" {
		about = "severity: " + severity + "; " + about
	}
	if owner := flow(ownerNames(g.rule, g.violations...)); owner != "" {
		about += "; owner: " + owner
	}
	id := verdict.Visible(r.ID)
	lead, width := t.paint(red, id)+": ", columns(id+": ")
	for _, part := range wrap(flow(r.Title)+" ("+about+")", t.Width-width) {
		t.line("%s%s", lead, t.paint(bold, part))
		lead = strings.Repeat(" ", width)
	}
	first, reason, placed := newFinding(g.violations[0]), commonReason(g.violations), 0
	for _, x := range g.violations {
		if hasPlace(&x.Evidence) {
			placed++
		}
	}
	hidden := placed == len(g.violations) && isOnePattern(g.violations) && first.hidesPattern()
	switch {
	case r.Message != "" && reason == r.Message:
		t.say("  ", "", flow(r.Message))
	case placed > 0: // otherwise the violation's line says the same
		t.say("  ", "", full(sentence(flow(untitled(reason, r.Title)))))
	}
	if hidden && !strings.Contains(reason, first.pattern()) {
		name, value := first.found(first.pattern())
		t.say("  ", name, value)
	}
	for _, fix := range remedies(r, g.violations...) {
		t.say("  ", "fix", fix)
	}
	t.say("  ", "docs", r.DocsURL)
	said := map[string]bool{} // in this group
	t.places(g, func(f *finding) { t.facts(f, reason == "", !hidden, said) })
	t.line("")
}

// places writes a line for each place of a rule, on a terminal for the first of many, and the facts of a violation
// below its first one.
func (t *textWriter) places(g *ruleGroup, facts func(*finding)) {
	left := g.numbers.all()
	room := left
	if t.Most > 0 && left > manyPlaces {
		room = t.Most
	}
	for _, file := range g.files {
		all, more, fresh := file.findings(room)
		var notes []string // about the file
		for _, f := range all {
			tag := "[" + verdict.Visible(f.RuleID) + "]"
			if f.Commit != "" { // problem matchers ignore it: the head need not have the line
				tag = "(" + verdict.Visible(f.RuleID) + ")"
			}
			t.place(f, placeLabel(f.status()), faint, tag)
			if f.first {
				facts(f)
			}
			if f.hasSource() {
				t.say("    ", "", f.why())
			}
			notes = with(notes, f.Note)
		}
		for _, note := range notes {
			t.say("    ", "note", note)
		}
		left, room = left-len(all), room-len(all)
		if room == 0 {
			break
		}
		if more > 0 {
			s := "and " + count(more, "more place") + " in this file"
			if fresh > 0 {
				s += ", " + newWords(fresh)
			}
			t.say("    ", "", s+"; the verdict does not list "+verb(more, "it", "them"))
			left, room = left-more, max(room-more, 0)
		}
	}
	if left > 0 {
		t.rest(count(left, "more place"))
	}
}

// facts writes what is to say once for all places of a violation: its reason, and the pattern if found is true. It
// omits what was said above of a pattern that the place's line shows.
func (t *textWriter) facts(f *finding, reason, found bool, said map[string]bool) {
	hidden, usual := f.inFile() && f.hidesPattern(), strings.HasPrefix(f.Reason, f.Title+": ")
	say := func(name, text string) {
		if !said[text] || f.Evidence.Kind == verdict.KindMissing || !f.inFile() || !f.hasSource() {
			said[text] = true
			t.say("    ", name, text)
		}
	}
	if reason && (!usual || hidden) {
		say("", flow(untitled(f.Reason, f.Title)))
	}
	if found && hidden && !(reason && usual) {
		say(f.found(f.pattern()))
	}
	t.say("    ", "", f.encodingNote())
}

// place writes the place of a violation, a status before its source line, and the rule as a tag.
func (t *textWriter) place(f *finding, status, color, tag string) {
	const minSource = 30 // a source line with less room is below its place
	at := theTree
	if f.File != "" { // editors and problem matchers need a place, even if it is only the start of the file
		path := verdict.Visible(t.Prefix + f.File)
		if f.Commit != "" {
			path = verdict.Visible(pathOf(f.Violation)) // for git, from the root
		}
		if t.Commands {
			path = verdict.Defuse(path)
		}
		at = fmt.Sprintf("%s:%d:%d", path, f.at.Line, f.at.Column)
	}
	at += ":"
	lead := at + " "
	if status != "" {
		lead += status + ": "
	}
	painted := t.paint(bold, at) + strings.TrimPrefix(lead, at)
	room := t.Width - columns(lead) - 1 - columns(tag)
	tag = t.paint(color, tag)
	left, match, right := trimmedLine(&f.at)
	if !f.inFile() || strings.TrimSpace(left.text+match+right.text) == "" { // nothing is visible
		name, value := f.found(f.pattern())
		text := strings.TrimPrefix(name+": "+value, "found: ")
		if !f.hasSource() {
			text = cmp.Or(f.why(), text)
		}
		if t.Width > 0 && !f.hasSource() { // the first place says it in full
			text = shorten(text, max(room, 10), runeColumns)
		} else if t.Width > 0 && columns(text) > room {
			t.line("%s%s %s", painted, name, tag)
			t.say("    ", "", value)
			return
		}
		t.line("%s%s %s", painted, text, tag)
		return
	}
	gutter := strings.Repeat(" ", columns(lead))
	drawnColumns := columns(drawn(left.lead())) + columns(drawn(match)) + columns(drawn(right.String()))
	if t.Width > 0 && drawnColumns > room && (room < minSource || columns(drawn(match)) > room-2) {
		gutter = "    | "
		src, carets := t.snippet(left, match, right, t.Width-len(gutter))
		t.line("%s %s %s", t.paint(bold, at), cmp.Or(status, "found"), tag)
		t.line("%s%s", gutter, src)
		t.caretLine(gutter, carets)
		return
	}
	src, carets := t.snippet(left, match, right, room)
	t.line("%s%s %s", painted, src, tag)
	t.caretLine(gutter, carets)
}

func (t *textWriter) caretLine(gutter, carets string) {
	if t.carets {
		t.line("%s%s", gutter, carets)
	}
}

// rest counts the items that a terminal does not show, and names the option that shows them.
func (t *textWriter) rest(more string) {
	t.say("    ", "", "and "+more+"; --report text shows all")
}

func (t *textWriter) allowed(v *view) {
	note := v.allowedNote()
	if note == "" {
		return
	}
	t.labelled("", note)
	for i, a := range inOrder(v.newAllowed, func(a *verdict.AllowedViolation) string { return a.File }) {
		if i == t.Most && t.Most > 0 {
			t.rest(fmt.Sprintf("%d more that are new", len(v.newAllowed)-i))
			break
		}
		// It ends in another bracket than a violation, so that problem matchers ignore it.
		f := newFinding(&a.Violation)
		t.place(f, newButAllowed, faint, "("+verdict.Visible(a.RuleID)+")")
		for _, clause := range append(f.also(), allowanceWords(&a.Allowance)) {
			t.say("    ", "", clause)
		}
	}
	t.line("")
}

func (t *textWriter) summary(v *view) {
	t.labelled("policy: ", t.Policy)
	t.labelled("root: ", t.Root)
	t.labelled("scope: ", v.scope())
	for _, note := range slices.Concat(v.notes(), v.limits(), t.Notes) {
		t.labelled("note: ", note)
	}
	var skipped, unparsed []string // the latter are names
	for _, o := range inOrder(v.Coverage.NotScanned, func(o verdict.Omission) string { return o.File }) {
		if o.Reason != "unparsable" { // an error says that
			skipped = append(skipped, o.File+": not scanned: "+o.Reason)
		}
	}
	for _, file := range inOrder(v.Coverage.Unparsed, func(file string) string { return file }) {
		unparsed = append(unparsed, t.Prefix+file)
	}
	for _, note := range skipped[:min(len(skipped), mostFiles)] {
		t.labelled("note: ", t.Prefix+note)
	}
	if more := len(skipped) - mostFiles; more > 0 {
		t.labelled("note: ", "and "+count(more, "more file")+" not scanned")
	}
	if n := len(unparsed); n == 1 {
		t.labelled("note: ", unparsed[0]+":"+onlyText(n))
	} else if n > 1 {
		t.labelled("note: ", count(n, "file")+onlyText(n)+": "+firstOf(unparsed, 3))
	}
}

// last writes the last line: the outcome, the result in words, and the time.
func (t *textWriter) last(outcome verdict.Outcome, text string, elapsed time.Duration) {
	color := red
	switch outcome {
	case verdict.Pass:
		color = green
	case partial:
		color = bold
	}
	if elapsed > 0 {
		text += fmt.Sprintf(", %.2f s", elapsed.Seconds())
	}
	t.line("%s %s", t.paint(color, string(outcome)+":"), text)
}

// tallies counts many places by rule and by directory.
func (t *textWriter) tallies(v *view) {
	if v.numbers.places < tallyPlaces || v.narrowed != "" {
		return
	}
	var rules []tally
	for _, g := range v.groups {
		if g.numbers.places > 0 {
			rules = append(rules, tally{g.rule.ID, g.numbers.places})
		}
	}
	for _, list := range []struct {
		label string
		all   []tally
	}{{"by rule: ", rules}, {"by directory: ", v.byDir(t.Prefix)}} {
		if len(list.all) < 2 {
			continue
		}
		parts, room := tallyWords(list.all), t.Width-len(list.label)
		if n := len(list.all); t.Most > 0 && n > mostNames {
			parts = append(parts[:mostNames], "and "+number(n-mostNames)+" more")
		}
		if room < 20 { // as in wrap
			parts = []string{strings.Join(parts, " ")}
		}
		lead := list.label
		for _, line := range fill(parts, room) {
			t.line("%s%s", lead, line)
			lead = strings.Repeat(" ", len(lead))
		}
	}
}

// A tally is a name and its number of places.
type tally struct {
	Name  string
	Count int
}

func sortTallies(all []tally) {
	slices.SortStableFunc(all, func(a, b tally) int { return cmp.Or(b.Count-a.Count, Natural(a.Name, b.Name)) })
}

// tallyWords lists names with their numbers, the largest first, with commas.
func tallyWords(all []tally) []string {
	const most = 40
	sortTallies(all)
	var parts []string
	for i, x := range all {
		if i == most {
			parts = append(parts, "and "+number(len(all)-most)+" more")
			break
		}
		parts = append(parts, verdict.Visible(clip(x.Name, 200))+" "+number(x.Count))
	}
	for i := range len(parts) - 1 {
		parts[i] += ","
	}
	return parts
}

// byDir counts the places of each directory, one level below the common parent.
func (v *view) byDir(prefix string) []tally {
	dirs, dirOf := map[string]int{}, v.topDirs(prefix)
	for _, g := range v.groups {
		for _, f := range g.files {
			if f.path != "" {
				dirs[dirOf(f.violations[0].File)] += f.numbers.places
			}
		}
	}
	var all []tally
	for dir, n := range dirs {
		all = append(all, tally{dir, n})
	}
	sortTallies(all)
	return all
}

// topDirs returns the directory of a violation's file, one level below the common parent of all, after a prefix.
func (v *view) topDirs(prefix string) (dirOf func(file string) string) {
	common, any := "", false
	for i := range v.Violations {
		file := prefix + v.Violations[i].File
		if file == prefix || v.Violations[i].PlaceCount == 0 {
			continue
		}
		if !any {
			common, any = file[:strings.LastIndexByte(file, '/')+1], true
		}
		for !strings.HasPrefix(file, common) {
			common = common[:strings.LastIndexByte(common[:len(common)-1], '/')+1]
		}
	}
	return func(file string) string {
		if file == "" {
			return theTree
		}
		dir, _, inside := strings.Cut((prefix + file)[len(common):], "/")
		if dir = common + dir + "/"; !inside {
			dir = cmp.Or(common, "./")
		}
		return dir
	}
}
