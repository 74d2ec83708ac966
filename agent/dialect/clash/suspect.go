package clash

import (
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

// suspect notes likely mistakes in a file. all are the sorted rules of all levels.
func (c *compiler) suspect(all []*rule) {
	for _, name := range c.names {
		if p := c.policies[name]; !p.used {
			c.note(p.at, "the policy %q is not used: %q does not include it, and it is not a sandbox", name, c.active)
		}
	}
	if len(c.rules) == 0 {
		c.note(0, "no rule applies: the default decides")
	}
	commands := func(r *rule) bool { return r.domain == "exec" && r.effect != callrules.Allow && r.score[0] > 0 }
	if i := slices.IndexFunc(c.rules, commands); i >= 0 {
		c.note(c.rules[i].at, "rules about exec see only the first command of a line, as clash's document says, "+
			"so this rule does not stop %q; a native rule sees every command of a line",
			"cd x && …")
	}
	budget := maxComparisons
	for _, r := range c.rules {
		c.suspectRule(r)
		if r.domain == "exec" && r.stars() > 0 {
			c.suspectStars(r, all, &budget)
		}
		if r.effect == callrules.Deny && r.score[0] > 0 {
			c.suspectDeny(r, all, &budget)
		}
	}
}

// place is where a rule is, for a note about another one in this file.
func (c *compiler) place(r *rule) string {
	if r.of == c {
		return fmt.Sprintf("line %d", c.line(r.at))
	}
	return fmt.Sprintf("%s:%d", r.of.src.Name, r.of.line(r.at))
}

// suspectDefault notes what the default decides that its author may not expect. c is the highest level, all are the
// rules of all levels.
func (c *compiler) suspectDefault(all []*rule) {
	if slices.ContainsFunc(all, func(r *rule) bool { return r.domain == "tool" }) {
		return
	}
	file := func(r *rule) bool { return r.of == c && r.effect != callrules.Allow && r.domain == "fs" }
	if i := slices.IndexFunc(all, file); c.effect == callrules.Allow && i >= 0 {
		c.note(all[i].at, "the default allows, and it decides for MultiEdit, NotebookEdit and LS, which the document "+
			"does not list: this rule does not see them; add (deny (tool (or \"MultiEdit\" \"NotebookEdit\" \"LS\")))")
	}
	if c.effect == callrules.Deny {
		at := 0
		if c.declared != nil {
			at = c.declared.at
		}
		c.note(at, "the default denies every tool that is not exec, fs or net: NotebookEdit, Skill, an MCP server's; "+
			"to allow one, write (allow (tool \"mcp__github__get_issue\")), or (allow (tool /^mcp__github__/))")
	}
}

// suspectLevels notes where a higher level overrides a rule that denies or asks. all is sorted, of equal rules the
// highest level's first.
func suspectLevels(all []*rule) {
	budget := maxComparisons
	for i, low := range all {
		for k := i - 1; k >= 0 && low.effect != callrules.Allow; k-- {
			high := all[k]
			if budget--; budget < 0 || high.domain != low.domain || high.score != low.score {
				break
			}
			if high.of != low.of && high.effect != low.effect && high.effect != callrules.Deny && high.canMeet(low) {
				low.of.note(low.at, "%s of %s is of a higher level and as specific, so it decides before this rule",
					high.id, low.of.place(high))
				break
			}
		}
	}
}

// maxComparisons is how often two rules are compared for notes; they are help, and must not take a minute.
const maxComparisons = 2_000_000

func (c *compiler) suspectRule(r *rule) {
	if r.sandbox != "" {
		c.note(r.sandboxAt,
			"the sandbox %q is read and named, but not enforced: only the agent's own sandbox limits the command",
			r.sandbox)
		if r.effect != callrules.Allow {
			c.note(r.sandboxAt,
				"a :sandbox of a rule that says %s: clash uses one for commands that a rule allows", r.effect)
		}
	}
	if runs, never := r.neverRuns(); never {
		c.note(r.at, "the rule never matches: %s is skipped as a wrapper, and the program is %s; "+
			"write (allow (exec %q ...))", r.first.shown, runs, runs)
	}
	if n := r.stars(); n > 1 {
		c.note(r.at, "the rule ends in %d times *; "+
			"each makes it more specific, but none requires anything, not even an argument: remove them", n)
	}
}

// neverRuns reports whether a rule allows a wrapper program together with the wrapped command, which counts instead.
// A rule that denies or asks does match such a command.
func (r *rule) neverRuns() (runs string, never bool) {
	if r.domain != "exec" || r.effect != callrules.Allow || r.first.form != literal || !r.first.namesLookedThrough() {
		return "", false
	}
	words := []string{r.first.text}
	for i := 0; i < len(r.args) && r.args[i].form == literal; i++ {
		words = append(words, r.args[i].text)
	}
	runs = call.Runs(words)
	return runs, runs != "" && runs != r.first.text
}

func (r *rule) stars() int {
	n := 0
	for n < len(r.args) && r.args[len(r.args)-1-n].form == anything {
		n++
	}
	if len(r.has) > 0 {
		return 0 // they keep their positions from what :has looks at
	}
	return n
}

// suspectStars notes a rule that decides before another only by the * at its end, which asks for nothing. It
// would not be the more specific of the two without.
func (c *compiler) suspectStars(r *rule, all []*rule, budget *int) {
	without := [2]int{r.score[0], r.score[1] - r.stars()}
	for _, s := range all {
		if *budget--; *budget < 0 {
			return
		}
		if s.domain != r.domain || s.effect == r.effect || compare(s.score, r.score) >= 0 ||
			compare(s.score, without) < 0 || !r.canMeet(s) {
			continue
		}
		otherwise := "that rule would decide first"
		if compare(s.score, without) == 0 && len(s.has) == 0 && len(s.args) == len(r.args)-r.stars() {
			otherwise = "they would be a conflict"
		}
		c.note(r.at, "the rule decides before %s of %s only because of its *, which requires nothing: "+
			"without it %s", s.id, c.place(s), otherwise)
		return
	}
}

// suspectDeny notes a deny rule that a more specific one of the same domain overrides. The document calls that
// impossible, and means rules of other domains. Rules that deny everything are not noted: they are made to have
// exceptions.
func (c *compiler) suspectDeny(r *rule, all []*rule, budget *int) {
	var first *rule
	more := 0
	for _, s := range all {
		if *budget--; *budget < 0 {
			return
		}
		if s.domain != r.domain || s.effect == callrules.Deny || compare(s.score, r.score) <= 0 || !r.canMeet(s) {
			continue
		}
		if first == nil {
			first = s
		} else {
			more++
		}
	}
	switch {
	case first == nil:
	case more == 0:
		c.note(r.at, "%s of %s is more specific and may decide before this rule denies", first.id,
			c.place(first))
	default:
		c.note(r.at, "%s of %s and %d more are more specific and may decide before this rule denies",
			first.id, c.place(first), more)
	}
}

func compare(a, b [2]int) int { return slices.Compare(a[:], b[:]) }

// canMeet is mayOverlap, except that a literal is checked against the other's pattern: a rejected one is never noted,
// but may still be refused as a conflict.
func (r *rule) canMeet(s *rule) bool {
	if !r.mayOverlap(s) || apart(&r.first, &s.first) {
		return false
	}
	for i := range min(len(r.args), len(s.args)) {
		if apart(&r.args[i], &s.args[i]) {
			return false
		}
	}
	return r.ops == nil || s.ops == nil ||
		slices.ContainsFunc(r.ops, func(op string) bool { return slices.Contains(s.ops, op) })
}

// apart reports whether one of two patterns consists of literals that the other does not match.
func apart(p, q *pattern) bool {
	for _, pair := range [][2]*pattern{{p, q}, {q, p}} {
		texts, ok := pair[0].texts()
		if ok && !slices.ContainsFunc(texts, pair[1].matches) {
			return true
		}
	}
	return false
}

// texts are all that a pattern matches, if they are listed in it.
func (p *pattern) texts() ([]string, bool) {
	switch p.form {
	case literal:
		return []string{p.text}, true
	case either:
		var all []string
		for i := range p.members {
			texts, ok := p.members[i].texts()
			if !ok {
				return nil, false
			}
			all = append(all, texts...)
		}
		return all, true
	}
	return nil, false
}

func (p *pattern) matches(s string) bool {
	switch p.form {
	case literal:
		return s == p.text
	case regular:
		return p.regexp.MatchString(s)
	case subpath:
		_, ok := call.CutDir(s, p.text)
		return ok
	case either:
		return slices.ContainsFunc(p.members, func(m pattern) bool { return m.matches(s) })
	case otherwise:
		return !p.members[0].matches(s)
	}
	return true
}
