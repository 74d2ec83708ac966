package allowance

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// AddOptions is who signs for what is added.
type AddOptions struct {
	Owner, Reason string // one line each
	Until         string // the last day that counts; "": without an end
	Raise         bool   // whether entries that say less, or have ended, are raised
	Day           string // that is today
}

// check returns an error for a grant that no entry could have.
func (g *AddOptions) check() error {
	for _, text := range []struct{ flag, value string }{{"--owner", g.Owner}, {"--reason", g.Reason}} {
		switch {
		case strings.TrimSpace(text.value) == "":
			return fmt.Errorf("%s is missing: an allowance says who answers for it, and why", text.flag)
		case !utf8.ValidString(text.value) || strings.ContainsFunc(text.value, unicode.IsControl):
			return fmt.Errorf("%s is %q, which is not one line of text", text.flag, text.value)
		}
	}
	if g.Until == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, g.Until); err != nil {
		return fmt.Errorf("--until is %q; write a day of the calendar as 2027-03-01", g.Until)
	}
	if g.Until < g.Day {
		return fmt.Errorf("--until is %s, which has passed (today is %s in UTC)", g.Until, g.Day)
	}
	return nil
}

// maxNumber is the largest number of an entry.
const maxNumber = 1_000_000_000

// Add writes an entry for each rule and file that a verdict has violations of and that has none yet. One whose entry
// says less, or has ended, is an exception unless the grant raises it: then it has the number that is there, and is
// signed by the grant. What cannot be allowed at all is an exception, too.
func (l *File) Add(v *verdict.Verdict, g AddOptions) (EditResult, error) {
	var o EditResult
	if err := errors.Join(g.check(), l.usable(v)); err != nil {
		return o, err
	}
	if err := l.follows(v); err != nil {
		return o, err
	}
	a := &adder{file: l, options: g, entries: l.indexed(), outcome: &o}
	a.violations(v)
	if len(a.added)+len(a.raised) == 0 {
		o.sort()
		return o, nil
	}
	if !l.bundle().Is02 {
		return EditResult{}, l.older()
	}
	i := -1
	text, err := rules.EditAllowances(l.text, func(was rules.Allowance) (rules.Allowance, bool) {
		i++
		if now, raised := a.raised[i]; raised {
			return now, true
		}
		return was, true
	}, a.added)
	if err == nil {
		err = l.write(text)
	}
	if err != nil {
		return EditResult{}, err
	}
	o.sort()
	return o, nil
}

// follows returns an error if a verdict says something that the bundles cannot have found.
func (l *File) follows(v *verdict.Verdict) error {
	all := slices.Clone(v.Violations)
	for i := range v.AllowedViolations {
		all = append(all, v.AllowedViolations[i].Violation)
	}
	for i := range all {
		o := &all[i]
		r := l.rule(o.RuleID)
		path := verdict.RawPath(o.File)
		e := &o.Evidence
		names := [][]string{rules.Names(r.patterns()), r.globs()}
		switch {
		case r.rule == nil:
			return fmt.Errorf("the verdict was changed by hand: no bundle has the rule %q", o.RuleID)
		case o.File != "" && !r.rule.Selects(path) && !r.rule.Forbids(path):
			return fmt.Errorf("the verdict was changed by hand: the rule %q does not look at %q", o.RuleID, o.File)
		case !slices.Contains(slices.Concat(names...), e.Pattern), e.Occurrences < max(1, int64(len(e.Places))):
			return fmt.Errorf("the verdict was changed by hand: the rule %q cannot have found %d times %q in %q",
				o.RuleID, e.Occurrences, e.Pattern, o.File)
		}
	}
	return nil
}

// A maybeRule is a rule of a bundle in use, or none.
type maybeRule struct{ rule *rules.Rule }

func (k maybeRule) patterns() []rules.Item {
	if k.rule == nil {
		return nil
	}
	return slices.Concat(k.rule.Patterns, k.rule.Required)
}

func (k maybeRule) globs() []string {
	if k.rule == nil {
		return nil
	}
	return slices.Concat(k.rule.ForbiddenFiles, k.rule.RequiredFiles)
}

// rule returns the enforced rule of an id.
func (l *File) rule(id string) maybeRule { return maybeRule{l.rules[id]} }

// An entryRef is an entry of one of the bundles: its number there.
type entryRef struct{ bundle, entry int }

// indexed returns the entries of all bundles by what they are for.
func (l *File) indexed() map[pair][]entryRef {
	all := map[pair][]entryRef{}
	for b, bundle := range l.policies.Bundles() {
		for i := range bundle.Allowances {
			p := pairOf(&bundle.Allowances[i])
			all[p] = append(all[p], entryRef{b, i})
		}
	}
	return all
}

func (l *File) at(p entryRef) *rules.Allowance {
	return &l.policies[p.bundle].Bundle.Allowances[p.entry]
}

// An adder adds entries to a file.
type adder struct {
	file    *File
	options AddOptions
	entries map[pair][]entryRef
	added   []rules.Allowance
	raised  map[int]rules.Allowance // by the number of the entry in the file
	outcome *EditResult
}

// violations decides about each rule and file of which there are violations.
func (a *adder) violations(v *verdict.Verdict) {
	there := counts(v)
	todo := map[pair]bool{}
	for i := range v.Violations {
		o := &v.Violations[i]
		if o.File == "" {
			a.not(pair{rule: o.RuleID}, fmt.Sprintf("the tree has no file %q, and a required file cannot be allowed; "+
				"write it", o.Evidence.Pattern))
			continue
		}
		todo[pair{o.RuleID, o.File}] = true
	}
	a.raised = map[int]rules.Allowance{}
	for _, p := range slices.SortedFunc(maps.Keys(todo), pair.compare) {
		a.one(p, there[p])
	}
}

func (a *adder) not(p pair, why string) {
	a.outcome.Skipped = append(a.outcome.Skipped, Skip{p.rule, p.file, why})
}

// one decides about a rule and a file that has n occurrences of it.
func (a *adder) one(p pair, n int64) {
	switch {
	case a.file.rule(p.rule).rule.NeverAllowed:
		a.not(p, `the rule says "allowances: never"; fix it`)
		return
	case n > maxNumber:
		a.not(p, fmt.Sprintf("%d are more than an allowance can be for (%d)", n, maxNumber))
		return
	}
	var low []entryRef // that do not let it be
	for _, at := range a.entries[p] {
		e := a.file.at(at)
		if int64(e.AtMost) >= n && !a.ended(e) {
			continue
		}
		if at.bundle != a.file.own {
			a.not(p, fmt.Sprintf("%s, which is not changed here", a.file.describe(at, a.ended(e))))
			return
		}
		low = append(low, at)
	}
	switch {
	case len(a.entries[p]) == 0:
		a.added = append(a.added, rules.Allowance{
			Rule: p.rule, File: p.file, AtMost: int(n),
			Owner: a.options.Owner, Reason: a.options.Reason, Until: a.options.Until,
		})
		a.change(Edit{Word: Added, After: int(n)}, p)
	case len(low) > 0:
		a.raise(p, int(n), low)
	}
}

func (a *adder) change(c Edit, p pair) {
	c.Rule, c.File = p.rule, p.file
	a.outcome.Changes = append(a.outcome.Changes, c)
}

// ended reports whether an entry no longer counts.
func (a *adder) ended(e *rules.Allowance) bool { return e.Until != "" && e.Until < a.options.Day }

// raise raises entries to n, or extends them.
func (a *adder) raise(p pair, n int, low []entryRef) {
	for _, at := range low {
		e := a.file.at(at)
		if a.options.Raise && (!a.ended(e) || a.options.Until != "") {
			continue
		}
		why, flags := a.file.describe(at, a.ended(e)), "--raise"
		if a.ended(e) && a.options.Until == "" {
			flags = "--raise and --until"
			if a.options.Raise {
				flags = "--until"
			}
		}
		a.not(p, fmt.Sprintf("there are %d; %s; fix it, or give %s", n, why, flags))
		return
	}
	for _, at := range low {
		now := *a.file.at(at)
		c := Edit{Word: Raised, Before: now.AtMost, After: n}
		if a.ended(&now) {
			c.Word, c.Until = Extended, a.options.Until
		}
		now.AtMost, now.Owner, now.Reason = n, a.options.Owner, a.options.Reason
		if a.options.Until != "" {
			now.Until = a.options.Until
		}
		a.raised[at.entry] = now
		a.change(c, p)
	}
}

// describe says what an entry allows, and where it is.
func (l *File) describe(at entryRef, ended bool) string {
	e, p := l.at(at), &l.policies[at.bundle]
	text := fmt.Sprintf("%s:%d allows %d", p.PathPrefix()+rules.AllowancesFile, e.Line, e.AtMost)
	if ended {
		text += " until " + e.Until + ", which has passed"
	}
	return text
}
