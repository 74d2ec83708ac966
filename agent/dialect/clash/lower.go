package clash

import (
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

func (c *compiler) lower(r *rule) callrules.Rule {
	return callrules.Rule{
		ID: r.id, Effect: r.effect, When: r.when(), Domain: r.domain, Score: r.score, Sandbox: r.sandbox,
		Through: r.domain == "exec" && r.first.namesLookedThrough(),
		Origin:  callrules.Origin{File: c.src.Name, Line: c.line(r.at)},
	}
}

// when is the condition of a rule, for a call in its domain.
func (r *rule) when() callrules.Predicate {
	all := []callrules.Predicate{}
	add := func(p *pattern, fact callrules.Fact, name string) {
		if p.form == anything {
			return
		}
		all = append(all, p.predicate(name, false, fact))
	}
	switch r.domain {
	case "exec":
		add(&r.first, callrules.Fact{Source: callrules.FromExecBin}, "program")
		for i := range r.args {
			add(&r.args[i], callrules.Fact{Source: callrules.FromExecArg, Index: i}, fmt.Sprintf("argument %d", i+1))
		}
		if len(r.has) > 0 {
			// The arguments without a position.
			t := &callrules.Test{Fact: callrules.Fact{Source: callrules.FromExecArgs, Index: len(r.args)},
				Op: callrules.Each, Shown: ":has"}
			for i := range r.has {
				fact := callrules.Fact{Source: callrules.FromItem}
				t.Each = append(t.Each, r.has[i].predicate("argument", false, fact))
				t.Shown += " " + r.has[i].shown
			}
			all = append(all, callrules.Predicate{Test: t})
		}
	case "fs":
		if r.ops != nil {
			t := &callrules.Test{Fact: callrules.Fact{Source: callrules.FromFSOp},
				Op: callrules.OneOf, Shown: "operation"}
			for _, op := range r.ops {
				t.Values = append(t.Values, call.Text(op))
				t.Shown += " " + op
			}
			all = append(all, callrules.Predicate{Test: t})
		}
		add(&r.first, callrules.Fact{Source: callrules.FromFSPath}, "path")
	case "net":
		add(&r.first, callrules.Fact{Source: callrules.FromNetHost}, "host")
		for i := range r.args {
			add(&r.args[i], callrules.Fact{Source: callrules.FromNetPath}, "path of the URL")
		}
	case "tool":
		// A tool has two names, the agent's and Claude Code's for a tool of its meaning. A rule that allows all tools
		// except some is not met by a tool with an excepted name; another rule is met by either name.
		names := []callrules.Fact{{Source: callrules.FromTool}, {Source: callrules.FromSameTool}}
		switch {
		case r.first.form == anything:
		case r.effect == callrules.Allow:
			all = append(all, r.first.predicate("tool", false, names...))
		default:
			all = append(all, callrules.Predicate{Any: []callrules.Predicate{
				r.first.predicate("tool", false, names[0]), r.first.predicate("tool", false, names[1]),
			}})
		}
	}
	return callrules.Predicate{All: all}
}

// predicate returns a pattern as tests of a fact, or of any of several. A (not ...) is pushed down into them, so that
// a missing fact, or a missing argument, fails all tests, negated or not.
func (p *pattern) predicate(name string, not bool, facts ...callrules.Fact) callrules.Predicate {
	t := callrules.Test{Not: not, Shown: name + " " + p.shown}
	if not {
		t.Shown = fmt.Sprintf("%s (not %s)", name, p.shown)
	}
	switch p.form {
	case anything:
		t.Op = callrules.Exists
	case literal:
		t.Op, t.Text = callrules.Equals, p.text
	case regular:
		t.Op, t.Regexp = callrules.Matches, p.regexp
	case subpath:
		t.Op, t.Text = callrules.Under, p.text
	case otherwise:
		return p.members[0].predicate(name, !not, facts...)
	case either:
		list := make([]callrules.Predicate, len(p.members))
		for i := range p.members {
			list[i] = p.members[i].predicate(name, not, facts...)
		}
		return callrules.Join(list, not)
	}
	list := make([]callrules.Predicate, len(facts))
	for i, fact := range facts {
		one := t
		one.Fact = fact
		list[i].Test = &one
	}
	return callrules.Join(list, not)
}

// namesLookedThrough reports whether the pattern names a wrapper program. Patterns for any program, such as * and
// (not "git"), do not.
func (p *pattern) namesLookedThrough() bool {
	switch p.form {
	case literal:
		return slices.Contains(call.LookedThrough(), p.text)
	case regular:
		return slices.ContainsFunc(call.LookedThrough(), p.matches) && !p.matches("no-such-program") && !p.matches("x")
	case either:
		return slices.ContainsFunc(p.members, func(m pattern) bool { return m.namesLookedThrough() })
	}
	return false
}

// specificity is the score of the document's tables.
func (r *rule) specificity() [2]int {
	score := [2]int{r.first.rank(), 0}
	switch r.domain {
	case "exec":
		for i := range r.args {
			score[1] += r.args[i].rank() + 1
		}
		for i := range r.has {
			score[1] += r.has[i].rank()
		}
	case "fs":
		switch {
		case len(r.ops) == 1:
			score[1] = 2
		case len(r.ops) > 1:
			score[1] = 1
		}
	case "net":
		for i := range r.args {
			score[1] = r.args[i].rank()
		}
	}
	return score
}

// rank is the specificity of a pattern. A regex is more specific for a path than elsewhere, because a subpath is less
// specific. The ranks of (or ...) and (not ...) are not in the document; they are clash's own.
func (p *pattern) rank() int {
	switch p.form {
	case literal:
		return 3
	case regular:
		if p.path {
			return 2
		}
		return 1
	case subpath, otherwise:
		return 1
	case either:
		least := 3
		for i := range p.members {
			least = min(least, p.members[i].rank())
		}
		return min(max(least, 1), 2)
	}
	return 0
}

// mayOverlap reports whether some call may match both rules of a domain. It is false only if proven: by two different
// literals in one position, by a pattern and its negation, by two different single operations.
func (r *rule) mayOverlap(s *rule) bool {
	if disjoint(&r.first, &s.first) || len(r.ops) == 1 && len(s.ops) == 1 && r.ops[0] != s.ops[0] {
		return false
	}
	for i := range min(len(r.args), len(s.args)) {
		if disjoint(&r.args[i], &s.args[i]) {
			return false
		}
	}
	return true
}

// disjoint reports whether two patterns are proven to match nothing both. The document has the first proof
// alone; without the second its own example of a negation would be a conflict.
func disjoint(p, q *pattern) bool {
	switch {
	case p.form == literal && q.form == literal:
		return p.text != q.text
	case p.form == otherwise && same(&p.members[0], q), q.form == otherwise && same(&q.members[0], p):
		return true
	}
	return false
}

// same reports whether two patterns are the same, in the form in which they are compared.
func same(p, q *pattern) bool {
	if p.form != q.form || p.text != q.text || len(p.members) != len(q.members) {
		return false
	}
	if p.form == regular && p.regexp.String() != q.regexp.String() {
		return false
	}
	return slices.EqualFunc(p.members, q.members, func(a, b pattern) bool { return same(&a, &b) })
}
