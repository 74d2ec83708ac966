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

// AddOptions are the owner and the terms of added entries.
type AddOptions struct {
	Owner, Reason string // one line each
	Until         string // the last day that counts; "" for no end
	Raise         bool   // raise entries that are too low or have ended
	Day           string // today
}

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

// Add writes an entry for each rule and file with violations in a verdict and no entry yet. An entry that is too low,
// or has ended, is skipped unless the options raise it: then it gets the current number and the owner of the options.
// So is a violation that cannot be allowed at all.
func (l *File) Add(v *verdict.Verdict, options AddOptions) (EditResult, error) {
	if err := errors.Join(options.check(), l.usable(v)); err != nil {
		return EditResult{}, err
	}
	if err := l.follows(v); err != nil {
		return EditResult{}, err
	}
	a := &adder{file: l, options: options, entries: l.indexed(), raised: map[int]Entry{}}
	a.addAll(v)
	a.outcome.sort()
	if len(a.outcome.Changes) == 0 {
		return a.outcome, nil
	}
	if !l.bundle().Is02 {
		return EditResult{}, fmt.Errorf(`%s: version 0.1 has no allowances; add the line bundle: "0.2" before its `+
			"first key, scan again, and use the new verdict",
			l.policies[l.own].PathPrefix()+rules.BoundariesFile)
	}
	_, err := l.edit(func(i int, was Entry) (Entry, bool) {
		if now, raised := a.raised[i]; raised {
			return now, true
		}
		return was, true
	}, a.added)
	if err != nil {
		return EditResult{}, err
	}
	return a.outcome, nil
}

// follows returns an error if the bundles cannot have produced a verdict.
func (l *File) follows(v *verdict.Verdict) error {
	for _, o := range allFound(v) {
		r, path, e := l.rules[o.RuleID], verdict.RawPath(o.File), &o.Evidence
		switch {
		case r == nil:
			return fmt.Errorf("the verdict was changed by hand: no bundle has the rule %q", o.RuleID)
		case o.File != "" && !r.Selects(path) && !r.Forbids(path):
			return fmt.Errorf("the verdict was changed by hand: the rule %q does not look at %q", o.RuleID, o.File)
		}
		items := slices.Concat(rules.Names(r.Patterns), rules.Names(r.Required), r.ForbiddenFiles, r.RequiredFiles)
		if !slices.Contains(items, e.Pattern) || e.Occurrences < max(1, int64(len(e.Places))) {
			return fmt.Errorf("the verdict was changed by hand: the rule %q cannot have found %d times %q in %q",
				o.RuleID, e.Occurrences, e.Pattern, o.File)
		}
	}
	return nil
}

// An entryRef is an entry of one of the bundles, by index.
type entryRef struct{ bundle, entry int }

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

func (l *File) at(p entryRef) *Entry {
	return &l.policies[p.bundle].Bundle.Allowances[p.entry]
}

type adder struct {
	file    *File
	options AddOptions
	entries map[pair][]entryRef
	added   []Entry
	raised  map[int]Entry // by the index of the entry in the file
	outcome EditResult
}

func (a *adder) addAll(v *verdict.Verdict) {
	there := counts(v)
	todo := map[pair]bool{}
	for i := range v.Violations {
		o := &v.Violations[i]
		if o.File == "" {
			a.skip(pair{rule: o.RuleID}, "the tree has no file %q, and a required file cannot be allowed; write it",
				o.Evidence.Pattern)
			continue
		}
		todo[pair{o.RuleID, o.File}] = true
	}
	for _, p := range slices.SortedFunc(maps.Keys(todo), pair.compare) {
		a.add(p, there[p])
	}
}

func (a *adder) skip(p pair, format string, args ...any) {
	a.outcome.Skipped = append(a.outcome.Skipped, Skip{p.rule, p.file, fmt.Sprintf(format, args...)})
}

func (a *adder) add(p pair, n int64) {
	switch {
	case a.file.rules[p.rule].Below != a.file.bundle().Below && a.file.bundle().Below != "":
		a.skip(p, "the bundle of a directory has allowances for its own rules only; leave --into out")
		return
	case a.file.rules[p.rule].NeverAllowed:
		a.skip(p, `the rule says "allowances: never"; fix it`)
		return
	case n > maxNumber:
		a.skip(p, "%d are more than an allowance can be for (%d)", n, maxNumber)
		return
	case len(a.entries[p]) == 0:
		a.added = append(a.added, Entry{
			Rule: p.rule, File: p.file, AtMost: int(n),
			Owner: a.options.Owner, Reason: a.options.Reason, Until: a.options.Until,
		})
		a.outcome.Changes = append(a.outcome.Changes, Edit{Word: Added, Rule: p.rule, File: p.file, After: int(n)})
		return
	}
	var low []entryRef // too low, or ended
	for _, at := range a.entries[p] {
		e := a.file.at(at)
		if int64(e.AtMost) >= n && !a.ended(e) {
			continue
		}
		if at.bundle != a.file.own {
			a.skip(p, "%s, which is not changed here", a.describe(at))
			return
		}
		low = append(low, at)
	}
	a.raise(p, int(n), low)
}

func (a *adder) ended(e *Entry) bool { return e.Until != "" && e.Until < a.options.Day }

func (a *adder) raise(p pair, n int, low []entryRef) {
	for _, at := range low {
		e := a.file.at(at)
		if a.options.Raise && (!a.ended(e) || a.options.Until != "") {
			continue
		}
		flags := "--raise"
		if a.ended(e) && a.options.Until == "" {
			flags = "--raise and --until"
			if a.options.Raise {
				flags = "--until"
			}
		}
		a.skip(p, "%s; %s; fix it, or give %s", places(int(n)), a.describe(at), flags)
		return
	}
	for _, at := range low {
		now := *a.file.at(at)
		c := Edit{Word: Raised, Rule: p.rule, File: p.file, Before: now.AtMost, After: n}
		if a.ended(&now) {
			c.Word, c.Until = Extended, a.options.Until
		}
		now.AtMost, now.Owner, now.Reason = n, a.options.Owner, a.options.Reason
		if a.options.Until != "" {
			now.Until = a.options.Until
		}
		a.raised[at.entry] = now
		a.outcome.Changes = append(a.outcome.Changes, c)
	}
}

func (a *adder) describe(at entryRef) string {
	e, p := a.file.at(at), &a.file.policies[at.bundle]
	text := fmt.Sprintf("%s:%d allows %d", p.PathPrefix()+rules.AllowancesFile, e.Line, e.AtMost)
	if a.ended(e) {
		text += " until " + e.Until + ", which has passed"
	}
	return text
}
