package naive

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// An Allowance is an entry of allowances.yml.
type Allowance struct {
	Rule, File    string
	AtMost        int
	Owner, Reason string
	Until         string // the last day that counts, or empty
	From          []string
	MayGrow       bool
}

// A State is a commit: its tree, and the bundle in it.
type State struct {
	Tree   []File
	Bundle *Bundle
	List   []Allowance
}

// A Change is what a diff or staged scan judges.
type Change struct {
	Base, Head  State
	MergeBases  []State // the only one of a staged scan is the base
	Outside     *Bundle // a bundle from outside, or nil
	OutsideList []Allowance
	Day         string
	Parsed      map[string]*Parsed
}

// A Ruling is an outcome, with the violations that are allowed apart.
type Ruling struct {
	Outcome
	Allowed []Violation
}

// A number is what the entries of a list say of one rule and file.
type number struct {
	there   bool // there is an entry that counts on the day
	atMost  int
	mayGrow bool
}

// numberOf is the smallest number of the entries, by the earliest of their days.
func numberOf(list []Allowance, rule, file, day string) number {
	n := number{mayGrow: true}
	until := ""
	for _, e := range list {
		if e.Rule != rule || e.File != file {
			continue
		}
		if !n.there || e.AtMost < n.atMost {
			n.atMost = e.AtMost
		}
		if e.Until != "" && (until == "" || e.Until < until) {
			until = e.Until
		}
		n.mayGrow = n.mayGrow && e.MayGrow
		n.there = true
	}
	if !n.there || until != "" && until < day {
		return number{}
	}
	return n
}

// count is how many places of a rule a path has in a tree; none where it is missing, left out of the scan, or
// could not be parsed.
func count(r Rule, path string, tree []File, known map[string]*Parsed) int {
	places, _ := counted(r, path, tree, known)
	return places
}

// counted is the places of a rule in a path of a tree, and the matches there: of several at one value all.
func counted(r Rule, path string, tree []File, known map[string]*Parsed) (places, matches int) {
	for _, f := range tree {
		if f.Path != path || isRuleFile(path) || len(unparsed(alone(r), f, known)) > 0 {
			continue
		}
		found := judgeFile(r, f, known)
		for _, v := range found {
			places, matches = places+v.Occurrences, matches+v.Occurrences
		}
		for _, item := range append(slices.Clone(r.Forbidden), r.Absent...) {
			if item.Key == nil && r.UnparsableText {
				places -= sameAsKey(item.Find(f.Content), found)
			}
		}
	}
	return places, matches
}

// sameAsKey is how many of the first hundred finds of a text or an expression are places of an item with a key: they
// contain the first character of the value, or the next one, behind a quote. Each value is one place.
func sameAsKey(finds []Find, found []Violation) int {
	var values []int
	for _, k := range found {
		if k.Kind == "key" {
			for _, offset := range strings.Fields(k.Places)[:min(k.Occurrences, 100)] {
				at, _ := strconv.Atoi(offset)
				values = append(values, at)
			}
		}
	}
	same := 0
	for _, f := range finds[:min(len(finds), 100)] {
		k := slices.IndexFunc(values, func(at int) bool { return f.Offset <= at+f.Encoding.Unit && f.End > at })
		if k >= 0 {
			values = slices.Delete(values, k, k+1)
			same++
		}
	}
	return same
}

// isRuleFile reports whether a path is one of the bundle in use, which is not scanned.
func isRuleFile(path string) bool { return strings.HasPrefix(path, ".policyscan/rules/") }

// alone is a bundle of one rule.
func alone(r Rule) *Bundle {
	return &Bundle{Files: []RuleFile{{Name: "boundaries.yml", Type: "boundary", Rules: []Rule{r}}}}
}

// references are the states that numbers are compared with.
func (c Change) references() []State { return append(slices.Clone(c.MergeBases), c.Base) }

// baseList and headList are the entries of each side: those of a bundle from outside are in both.
func (c Change) baseList() []Allowance { return append(slices.Clone(c.Base.List), c.OutsideList...) }
func (c Change) headList() []Allowance { return append(slices.Clone(c.Head.List), c.OutsideList...) }

// joins are the entries of the head whose "from" means something: the base and each merge base have another one or
// none.
func (c Change) joins() []Allowance {
	var joins []Allowance
	for _, e := range c.Head.List {
		had := slices.ContainsFunc(c.references(), func(s State) bool {
			return slices.ContainsFunc(s.List, func(old Allowance) bool { return reflect.DeepEqual(e, old) })
		})
		if len(e.From) > 0 && !had && numberOf(c.headList(), e.Rule, e.File, c.Day).there {
			joins = append(joins, e)
		}
	}
	return joins
}

// exception reports whether a file has an entry with may_grow for the rule, in the base or the head.
func (c Change) exception(rule, file string) bool {
	return slices.ContainsFunc(append(c.baseList(), c.headList()...), func(e Allowance) bool {
		return e.MayGrow && e.Rule == rule && e.File == file
	})
}

// group returns the files that count as one with a file, itself included.
func (c Change) group(rule, file string) []string {
	group := []string{file}
	for again := true; again; {
		again = false
		for _, e := range c.joins() {
			for _, from := range e.From {
				if e.Rule != rule || c.exception(rule, from) || c.exception(rule, e.File) {
					continue
				}
				for _, pair := range [][2]string{{from, e.File}, {e.File, from}} {
					if slices.Contains(group, pair[0]) && !slices.Contains(group, pair[1]) {
						group, again = append(group, pair[1]), true
					}
				}
			}
		}
	}
	return group
}

// allows reports whether a side allows what a rule of it finds in a file now: base says which side it is.
func (c Change) allows(r Rule, file string, base bool) bool {
	if r.NeverAllowed {
		return false
	}
	own := numberOf(c.headList(), r.ID, file, c.Day)
	old := numberOf(c.baseList(), r.ID, file, c.Day)
	now := count(r, file, c.Head.Tree, c.Parsed)
	group := c.group(r.ID, file)
	for _, f := range c.Head.Tree {
		// Nor does the page say this: how many they have together is then not known.
		if slices.Contains(group, f.Path) && len(unparsed(alone(r), f, c.Parsed)) > 0 {
			return false
		}
	}
	if len(group) == 1 {
		if base {
			own = old
		}
		// An exception is merged first: the base has it, whichever side is asked.
		return own.there && now <= own.atMost && (own.mayGrow && old.mayGrow || !c.grew(r, group))
	}
	numbers := 0
	for _, path := range group {
		numbers += numberOf(c.baseList(), r.ID, path, c.Day).atMost
	}
	together, _ := c.together(r, group, c.Head.Tree)
	return own.there && now <= own.atMost && !c.grew(r, group) && (!base || together <= numbers)
}

// together is the sum of the files of a group in a tree.
func (c Change) together(r Rule, group []string, tree []File) (places, matches int) {
	for _, path := range group {
		p, m := counted(r, path, tree, c.Parsed)
		places, matches = places+p, matches+m
	}
	return places, matches
}

// grew reports whether the files have more together than at any of the references.
func (c Change) grew(r Rule, group []string) bool {
	places, matches := c.together(r, group, c.Head.Tree)
	asked := r
	asked.TextAlone = c.byText(r, group)
	return slices.ContainsFunc(c.references(), func(s State) bool {
		p, m := c.together(asked, group, s.Tree)
		return places > p || matches > m
	})
}

// byText reports whether the head has one of the files that the rule's text alone judges. The page does not say that
// texts are then compared with texts; but what cannot be seen must not make room for others.
func (c Change) byText(r Rule, group []string) bool {
	strict := r
	strict.UnparsableText = false
	return r.UnparsableText && slices.ContainsFunc(c.Head.Tree, func(f File) bool {
		return slices.Contains(group, f.Path) && len(unparsed(alone(r), f, c.Parsed)) == 0 &&
			len(unparsed(alone(strict), f, c.Parsed)) > 0
	})
}

// changed are the judged paths of the head: they differ from a merge base, or an allowance was
// lowered, ended earlier, removed, or moved.
func (c Change) changed() map[string]bool {
	changed := map[string]bool{}
	for _, f := range c.Head.Tree {
		for _, s := range c.MergeBases {
			if !slices.Contains(s.Tree, f) || c.tighter(s.List, f.Path) {
				changed[f.Path] = true
			}
		}
		for _, e := range c.joins() {
			if group := c.group(e.Rule, e.File); len(group) > 1 && slices.Contains(group, f.Path) {
				changed[f.Path] = true
			}
		}
	}
	return changed
}

// tighter reports whether the head's entries for a file allow less than these, on some day and of some rule.
func (c Change) tighter(before []Allowance, file string) bool {
	for _, e := range before {
		if e.File != file {
			continue
		}
		for _, d := range append(days(before), days(c.Head.List)...) {
			old, now := numberOf(before, e.Rule, file, d), numberOf(c.Head.List, e.Rule, file, d)
			if now.atMost < old.atMost {
				return true
			}
		}
	}
	return false
}

// days are those on which a list may say something else than on the day before, and one after all of them.
func days(list []Allowance) []string {
	all := []string{"0000-01-01", "9999-12-31"}
	for _, e := range list {
		if e.Until != "" {
			all = append(all, e.Until, e.Until+"+")
		}
	}
	return all
}

// Judge says what of the change is a violation, and what is allowed.
func (c Change) Judge() Ruling {
	outside := &Bundle{}
	if c.Outside != nil {
		outside = c.Outside
	}
	every := &Bundle{Files: slices.Concat(outside.Files, Both(c.Base.Bundle, c.Head.Bundle).Files)}
	scan := Scan{Tree: c.scanned(c.Head.Tree), Changed: c.changed(), EmptyIsFine: true, Parsed: c.Parsed}
	o := Judge(every, scan)
	ruling := Ruling{Outcome: o}
	ruling.Violations = nil
	has := func(b *Bundle, r Rule) bool {
		same := func(other Rule) bool { return reflect.DeepEqual(r.whole(), other.whole()) }
		return slices.ContainsFunc(b.Enforced(), same)
	}
	type judged struct {
		Violation
		path    string
		allowed bool
	}
	var all []judged
	refused := map[[2]string]bool{} // ids and paths: rules of both sides with one id allow together, or not at all
	for _, r := range every.Enforced() {
		found := Judge(alone(r), scan).Violations
		fromOutside := has(outside, r)
		for _, v := range found {
			path := c.path(v)
			allowed := path != "" && !ruling.unchecked(v)
			if fromOutside || has(c.Base.Bundle, r) {
				allowed = allowed && c.allows(r, path, true)
			}
			if fromOutside || has(c.Head.Bundle, r) {
				allowed = allowed && c.allows(r, path, false)
			}
			if path != "" {
				v.Labels = c.labels(r, v, path)
			}
			all = append(all, judged{v, path, allowed})
			refused[[2]string{r.ID, path}] = refused[[2]string{r.ID, path}] || !allowed
		}
	}
	for _, v := range all {
		ruling.add(v.Violation, v.allowed && !refused[[2]string{v.RuleID, v.path}])
	}
	ruling.decide()
	return ruling
}

// JudgeTree is the judgement of the head by itself, where there is nothing to compare with.
func (c Change) JudgeTree() Ruling {
	every := &Bundle{Files: slices.Clone(c.Head.Bundle.Files)}
	if c.Outside != nil {
		every.Files = slices.Concat(c.Outside.Files, every.Files)
	}
	scan := Scan{Tree: c.scanned(c.Head.Tree), Parsed: c.Parsed, Found: c.Outside == nil}
	ruling := Ruling{Outcome: Judge(every, scan)}
	ruling.Violations = nil
	for _, r := range every.Enforced() {
		for _, v := range Judge(alone(r), scan).Violations {
			path := c.path(v)
			n := numberOf(c.headList(), r.ID, path, c.Day)
			ruling.add(v, path != "" && n.there && !r.NeverAllowed && !ruling.unchecked(v) &&
				count(r, path, c.Head.Tree, c.Parsed) <= n.atMost)
		}
	}
	ruling.decide()
	return ruling
}

// path is the path of a violation in the head, or empty if it has none.
func (c Change) path(v Violation) string {
	for _, f := range c.Head.Tree {
		if Written(f.Path) == v.File {
			return f.Path
		}
	}
	return ""
}

// unchecked reports whether the file of a violation could not be asked all: what is in it is then not known. The page
// does not say this; it is what cannot pass silently.
func (r *Ruling) unchecked(v Violation) bool {
	return slices.ContainsFunc(r.Errors, func(e Error) bool { return e.File == v.File })
}

// scanned is a tree without the files of rules.
func (c Change) scanned(tree []File) []File {
	return slices.DeleteFunc(slices.Clone(tree), func(f File) bool { return isRuleFile(f.Path) })
}

func (r *Ruling) add(v Violation, allowed bool) {
	if allowed {
		r.Allowed = append(r.Allowed, v)
	} else {
		r.Violations = append(r.Violations, v)
	}
}

// decide sets what follows from the violations that are left.
func (r *Ruling) decide() {
	switch {
	case len(r.Violations) > 0:
		r.Verdict, r.Status = "FAIL", 1
	case len(r.Errors) > 0:
		r.Verdict, r.Status = "FAIL", 2
	default:
		r.Verdict, r.Status = "PASS", 0
	}
}
