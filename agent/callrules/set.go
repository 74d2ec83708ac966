// Package callrules checks an agent's tool calls against a team's call rules.
//
// A [Set] is a team's rules in any dialect: predicates over the facts of a [call.Call], each with an effect, and one
// strategy, which combines the rules of the set into one [Outcome]. [Set.Decide] is a pure function of the set, the
// call and a clock; it reads nothing and changes nothing, and several goroutines may use one Set. Of several sets the
// strictest outcome wins, see [Strictest].
//
// The readers of the dialects (packages sigmashake, evaluator, claudecube, clash and native, used through package
// dialect) parse, validate and lower to a Set. They never decide, and this package does not know the dialect of a
// rule. docs/dialects.md describes each dialect, and the differences from its document.
//
// # Limits
//
// Rules see only the facts that package call has. Only native rules see every command of a command line; clash's see
// the first.
package callrules

import (
	"time"

	"github.com/policyscan/policyscan/agent/call"
)

// An Effect is the decision of a rule on a call.
type Effect string

// The effects, from the strictest to the least: the first two deny, the last three let the call go on.
const (
	Deny   Effect = "deny"
	Force  Effect = "force" // deny, and name an alternative
	Ask    Effect = "ask"   // the user decides
	Allow  Effect = "allow"
	Log    Effect = "log"    // the call goes on, and the user is notified
	Shadow Effect = "shadow" // the call goes on; the rule is being tried out, and would deny
)

// Rank is 2 for deny, 1 for ask, 0 for effects that let the call go on.
func (e Effect) Rank() int {
	switch e {
	case Deny, Force:
		return 2
	case Ask:
		return 1
	}
	return 0
}

// A Strategy combines the rules of a set into one outcome.
type Strategy string

// The strategies.
const (
	PriorityFirst Strategy = "priority-first" // sigmashake
	DenyOverrides Strategy = "deny-overrides" // evaluator
	CategoryFirst Strategy = "category-first" // claudecube
	MostSpecific  Strategy = "most-specific"  // clash
	AllViolations Strategy = "all-violations" // a bundle, and the native form
)

// An Origin is where a rule is written.
type Origin struct {
	File string // as it was named when it was read
	Line int    // 1-based
}

// A Rule is one rule of a set.
type Rule struct {
	ID     string // from its file; clash's rules, which have none, use their own text
	Effect Effect
	When   Predicate
	Origin Origin

	Reason  string // the rule's message; "" for its strategy's
	Prompt  string // of Ask: the question; may be empty
	Instead string // of Force: what to do instead

	// EachCommand marks a rule with a test of FromProgram, FromArguments or FromUnseen. It is evaluated for each
	// command of a command line: deny and ask match if any command does, allow if all do. Unseen marks one with a
	// test of FromUnseen.
	EachCommand, Unseen bool

	Disabled bool      // by its file: it is never the one that decides
	Priority int       // of PriorityFirst: rules are tried from the highest down
	Policy   int       // of DenyOverrides: the index in Set.Policies
	Certain  Predicate // of DenyOverrides and Ask: only if it holds the rule wins over a default that denies
	Domain   string    // of MostSpecific: "exec", "fs", "net" or "tool"
	Through  bool      // of MostSpecific: it names a program that is looked through, see call.LookedThrough
	Score    [2]int    // of MostSpecific: primary, secondary
	Sandbox  string    // of MostSpecific: the name of the sandbox that the file wants, which nothing enforces; or ""
}

// A Policy is one of the policies of a deny-overrides set.
type Policy struct {
	ID      string
	Version int64
	Default Effect
	Broken  string // why it cannot be evaluated: a pattern that does not compile, and where; "" if it can
}

// A Set is a team's rules in one dialect. It does not change after it was read.
type Set struct {
	Name     string // the file or directory it was read from
	Dialect  string
	Strategy Strategy
	Rules    []Rule // in the order of the files; of MostSpecific, the most specific of a domain first
	Builtin  []Rule // of MostSpecific: rules of the dialect itself, for calls that none of Rules matches

	Default  Effect        // when no rule decides
	Policies []Policy      // of DenyOverrides
	Frozen   []string      // of DenyOverrides: agents that may do nothing
	Budget   time.Duration // of DenyOverrides: how long one decision may take; 0 is without end

	// Of DenyOverrides: with GatesServers, only these MCP servers' tools may be called.
	GatesServers bool
	Servers      []string

	dir    string   // that has other spellings, see Respelled
	others []string // those spellings

	Words map[Effect]string // what the dialect calls the effects, where it is not as they are named here
	Notes []Note            // likely mistakes
}

// A Note reports something in a set's files that is valid but often a mistake.
type Note struct {
	Origin Origin
	Text   string // the problem; the fix
}

// Word is what the set's dialect calls an effect.
func (s *Set) Word(e Effect) string {
	if w := s.Words[e]; w != "" {
		return w
	}
	return string(e)
}

// Respelled returns a copy of the set in which tests of a path at or under a directory also match other spellings of
// the directory, from symlinks to it. Only tests for a path, with or without the paths under it, are widened; globs
// and regexes stay unchanged.
func (s *Set) Respelled(dir string, others []string) *Set {
	again := *s
	again.dir, _ = call.Resolve("", dir)
	again.others = others
	return &again
}
