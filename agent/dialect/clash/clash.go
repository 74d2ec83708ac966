// Package clash reads rules about tool calls in clash's s-expressions and lowers them to a [callrules.Set] of the
// strategy most-specific. The semantics are from clash's public document, the syntax from its grammar of February
// 2026.
//
// All mistakes in parsing, flattening and compiling are reported together; conflicts are searched only in a file
// without such mistakes.
//
// # Limits
//
// Sandboxes are read and checked, but not enforced. No environment variable is read: the caller defines (env NAME).
// Of the file system only git's pointers are read, for :worktree and for the built-in policy __worktree__: .git,
// commondir and gitdir. Later versions of the language are refused. docs/dialects.md has the differences from the
// document, with reasons.
package clash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// What a file may have at most.
const (
	maxDepth  = 32     // lists in lists; nothing that means something needs ten
	maxRules  = 10_000 // conflicts are looked for between every two of one specificity
	maxErrors = 200    // that are reported
)

// Read reads a file, or the levels of a policy, the lowest first: user, project, session. define has the values of
// (env NAME): nothing is taken from the environment. PWD, if set, must be absolute; relative paths of rules are
// resolved against it. The error is [document.Errors] with all mistakes, of each file by line and column.
//
// The rules of the set are the rules of the default's policies: of exec, of fs, of net, of tool, each from the most
// specific to the least, equal ones from the highest level to the lowest and in the order of the file. A rule's ID is
// its text, without comments and with single spaces. The default is the highest level's.
func Read(name string, files []*document.Source, define map[string]string) (*callrules.Set, error) {
	var levels []*compiler
	var errs document.Errors
	for _, src := range files {
		c := newCompiler(src, define)
		c.compile()
		slices.SortStableFunc(c.errs, func(a, b *document.Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		levels, errs = append(levels, c), append(errs, c.errs...)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return merge(name, levels), nil
}

// merge makes one set of the levels of a policy.
func merge(name string, levels []*compiler) *callrules.Set {
	top := levels[len(levels)-1]
	set := &callrules.Set{
		Name: name, Dialect: "clash", Strategy: callrules.MostSpecific, Default: top.effect, Builtin: builtin(levels),
	}
	var all []*rule
	for i := len(levels) - 1; i >= 0; i-- {
		all = append(all, levels[i].rules...)
	}
	sortRules(all)
	for _, r := range all {
		set.Rules = append(set.Rules, r.of.lower(r))
	}
	top.suspectDefault(all)
	suspectLevels(all)
	for _, c := range levels {
		c.suspect(all)
		slices.SortStableFunc(c.notes, func(a, b note) int { return cmp.Compare(a.at, b.at) })
		for _, n := range c.notes {
			set.Notes = append(set.Notes,
				callrules.Note{Origin: callrules.Origin{File: c.src.Name, Line: c.line(n.at)}, Text: n.text})
		}
	}
	return set
}

// sortRules sorts by domain, then from the most specific to the least; equal rules keep their order.
func sortRules(all []*rule) {
	slices.SortStableFunc(all, func(a, b *rule) int {
		return cmp.Or(cmp.Compare(a.domain, b.domain), compare(b.score, a.score))
	})
}

// A compiler compiles one file.
type compiler struct {
	src    *document.Source
	define map[string]string
	errs   document.Errors
	notes  []note
	lines  []int // the byte at which each line begins

	effect   callrules.Effect // of the default
	active   string           // the policy that it names
	declared *node            // the default, or nil
	version  *node
	policies map[string]*policy
	names    []string // of policies, in the order of the file
	nameless bool     // some policies have unreadable names

	rules     []*rule                     // that are in force, sorted
	sandboxes map[string][]callrules.Rule // by name, or by the key of one that is in a rule
}

func newCompiler(src *document.Source, define map[string]string) *compiler {
	c := &compiler{src: src, define: define, policies: map[string]*policy{}, lines: []int{0}}
	for i, b := range src.Text {
		if b == '\n' {
			c.lines = append(c.lines, i+1)
		}
	}
	return c
}

type policy struct {
	name  string
	at    int
	items []item
	used  bool
}

// An item of a policy is a rule, or the include of another policy.
type item struct {
	rule    *rule
	include string
	at      int
}

// A note is a [callrules.Note] whose line is not counted yet.
type note struct {
	at   int
	text string
}

func (c *compiler) fail(code string, at int, found, fix string) {
	switch {
	case len(c.errs) < maxErrors:
		c.errs = append(c.errs, c.src.Error(code, at, found, fix))
	case len(c.errs) == maxErrors:
		c.errs = append(c.errs,
			c.src.ErrorAt(document.CodeLimit, 0, 0, fmt.Sprintf("over %d mistakes", maxErrors), "fix these first"))
	}
}

func (c *compiler) note(at int, format string, args ...any) {
	c.notes = append(c.notes, note{at, fmt.Sprintf(format, args...)})
}

func (c *compiler) line(at int) int {
	line, _ := slices.BinarySearch(c.lines, at+1)
	return line
}

// compile does the document's steps. Matchers are compiled as they are parsed, in unused policies too: a mistake in
// one counts.
func (c *compiler) compile() {
	if err := c.src.Check(); err != nil {
		c.errs = append(c.errs, err)
		return
	}
	// 1 to 3: parse, find the default, index the policies.
	forms := c.read()
	if len(c.errs) > 0 {
		return // where a list ends is not known, so of the rest nothing is
	}
	c.effect, c.active = callrules.Deny, "main"
	for _, form := range forms {
		switch form.head() {
		case "version":
			c.readVersion(form)
		case "default":
			c.readDefault(form)
		case "policy":
			c.readPolicy(form)
		default:
			c.unknown(form, "a form of the file", "(version 1), (default EFFECT NAME), (policy NAME ...)")
		}
	}
	if len(forms) == 0 {
		c.fail(document.CodeEmpty, 0, "no policy in the file", `write (policy "main") at least`)
		return
	}
	// 4 and 5: flatten the includes, validate the sandboxes' names.
	all := c.flatten()
	c.checkSandboxes()
	if len(c.errs) > 0 {
		return
	}
	if len(all) > maxRules {
		c.fail(document.CodeLimit, all[maxRules].at, fmt.Sprintf("over %d rules", maxRules), "join some with (or ...)")
		return
	}
	// 6 to 8: group by domain, compile, sort.
	slices.SortFunc(all, func(a, b *rule) int { return cmp.Compare(a.at, b.at) })
	sortRules(all)
	// 9: refuse conflicts.
	c.conflicts(all)
	if len(c.errs) > 0 {
		return
	}
	// A tool with two names can match both of two rules that are proven apart: the strictest of equal ones is first.
	slices.SortStableFunc(all, func(a, b *rule) int {
		order := cmp.Or(cmp.Compare(a.domain, b.domain), compare(b.score, a.score))
		if order == 0 && a.domain == "tool" {
			order = cmp.Compare(b.effect.Rank(), a.effect.Rank())
		}
		return order
	})
	c.rules = all
	// 10: compile the sandboxes.
	c.sandboxes = map[string][]callrules.Rule{}
	for _, r := range all {
		c.compileSandbox(r)
	}
}

// flatten returns the rules of the default's policy and of all included policies, each once: a second copy would only
// repeat its rules.
func (c *compiler) flatten() []*rule {
	// Every policy is walked, to find a cycle or a gap in unused ones too.
	done := map[string]bool{}
	var walk func(p *policy, path []string)
	walk = func(p *policy, path []string) {
		path = append(path, p.name)
		for _, i := range p.items {
			if i.rule != nil {
				continue
			}
			next, above := c.policies[i.include], slices.Index(path, i.include)
			switch {
			case next == nil && isBuiltin(i.include): // in force anyway
			case next == nil:
				c.fail(document.CodeValue, i.at,
					fmt.Sprintf("(include %q): there is no policy of that name", i.include),
					"define it in this file, or leave the include out")
			case above >= 0:
				var loop []string
				for _, name := range append(slices.Clone(path[above:]), next.name) {
					loop = append(loop, fmt.Sprintf("%q (line %d)", name, c.line(c.policies[name].at)))
				}
				c.fail(document.CodeValue, i.at,
					fmt.Sprintf("(include %q) is circular: %s", i.include, strings.Join(loop, " includes ")),
					"leave one of the includes out")
			case !done[next.name]:
				walk(next, path)
			}
		}
		done[p.name] = true
	}
	for _, name := range c.names {
		if !done[name] {
			walk(c.policies[name], nil)
		}
	}
	active := c.policies[c.active]
	if c.active == "" || active == nil && c.nameless { // which is already reported
		return nil
	}
	if active == nil {
		at, found := 0, fmt.Sprintf("there is no (default ...), which means (default deny %q), "+
			"and no policy of that name", c.active)
		if c.declared != nil {
			at, found = c.declared.items[2].at, fmt.Sprintf("the default names the policy %q, which does not exist",
				c.active)
		}
		c.fail(document.CodeValue, at, found, fmt.Sprintf("write (policy %q ...), or name one that exists", c.active))
		return nil
	}
	if len(c.errs) > 0 {
		return nil // a cycle, maybe
	}
	from := []*policy{active}
	for _, name := range c.names {
		if isBuiltin(name) {
			from = append(from, c.policies[name])
		}
	}
	return c.collect(from...)
}

// collect returns the rules of policies and of the policies that they include, each policy once.
func (c *compiler) collect(from ...*policy) []*rule {
	var all []*rule
	seen := map[string]bool{}
	var walk func(p *policy)
	walk = func(p *policy) {
		seen[p.name], p.used = true, true
		for _, i := range p.items {
			if i.rule != nil {
				all = append(all, i.rule)
			} else if next := c.policies[i.include]; next != nil && !seen[i.include] {
				walk(next)
			}
		}
	}
	for _, p := range from {
		if !seen[p.name] {
			walk(p)
		}
	}
	return all
}

// checkSandboxes: each named sandbox is a policy.
func (c *compiler) checkSandboxes() {
	for _, name := range c.names {
		for _, i := range c.policies[name].items {
			if r := i.rule; r != nil && r.sandbox != "" && r.inline == nil && c.policies[r.sandbox] == nil {
				c.fail(document.CodeValue, r.sandboxAt,
					fmt.Sprintf(":sandbox %q: there is no policy of that name", r.sandbox),
					"define it in this file, or write the sandbox's rules after :sandbox")
			}
		}
	}
}

// compileSandbox compiles the sandbox of a rule, named or written after it, to the same form.
func (c *compiler) compileSandbox(r *rule) {
	if r.sandbox == "" || c.sandboxes[r.sandbox] != nil {
		return
	}
	within := r.inline
	if within == nil {
		within = c.collect(c.policies[r.sandbox])
	}
	for _, w := range within {
		if w.domain == "exec" || w.domain == "tool" {
			c.note(w.at, "the rule %s is in the sandbox %q, but a sandbox is about files and the network: "+
				"it does not check which commands run, or which tools", w.id, r.sandbox)
		}
		c.sandboxes[r.sandbox] = append(c.sandboxes[r.sandbox], c.lower(w))
	}
}

// conflicts refuses rules of one specificity that differ in their effect and may match one call. all is sorted. Only
// the first conflict of each rule is reported.
func (c *compiler) conflicts(all []*rule) {
	equal := 0 // the first rule of the specificity of the one at hand
	for i, a := range all {
		if b := all[equal]; a.domain != b.domain || a.score != b.score {
			equal = i
		}
		for _, b := range all[equal:i] { // which are before it in the file too
			if a.effect != b.effect && a.mayOverlap(b) {
				c.fail(document.CodeValue, a.at,
					fmt.Sprintf("%s conflicts with %s of line %d: both are of specificity (%d,%d), "+
						"and some call may match both",
						a.id, b.id, c.line(b.at), a.score[0], a.score[1]),
					"give them one effect, or make one more specific: a string instead of a pattern, "+
						"one more argument, one operation instead of two")
				break
			}
		}
	}
}
