package sigmashake

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/jsregexp"
	"github.com/policyscan/policyscan/rules/document"
)

// decisions are the effects of the words for a decision.
var decisions = map[string]callrules.Effect{
	"DENY": callrules.Deny, "ALLOW": callrules.Allow, "LOG": callrules.Log, "SHADOW": callrules.Shadow,
	"ASK": callrules.Ask, "FORCE": callrules.Force,
}

// targets are the capabilities that targets ask for: "" for any, and for edit, which is about single tools.
var targets = map[string]call.Capability{
	"any": "", "edit": "", "execution": call.Execute, "read": call.Read, "write": call.Write, "search": call.Search,
	"agent": call.Agent, "network": call.Network,
}

// maxMistakes is how many mistakes of a file are reported: each is looked up in the text.
const maxMistakes = 200

// keys are the keys that a rule may have at its top.
const keys = "enabled, priority, severity, DENY, ALLOW, LOG, SHADOW, ASK, FORCE, IF, MESSAGE, PROMPT, " +
	"SUBSTITUTE and CONTEXT"

// A parser reads one file. After a mistake it goes on with the next key or rule, to find the others.
type parser struct {
	src      *document.Source
	tokens   []token
	next     int
	open     int // the offset of a text in quotes that does not end, or -1
	errs     document.Errors
	rules    []rule
	patterns map[pattern]compiled

	rule      *rule             // that is being read
	seen      map[string]token  // the keys of it that were read
	patterned []*callrules.Test // its tests that have a pattern
	nested    int               // how deep in parentheses and NOTs its condition is
}

func (p *parser) peek() token { return p.tokens[p.next] }

func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != end {
		p.next++
	}
	return t
}

// fail notes a mistake at a token.
func (p *parser) fail(at token, code, found, fix string) {
	switch {
	case at.kind == end && p.open >= 0, len(p.errs) > maxMistakes:
		return // an unterminated string, or an extra quote
	case len(p.errs) == maxMistakes:
		code = document.CodeLimit
		found, fix = fmt.Sprintf("more than %d mistakes", maxMistakes), "fix the others first"
	}
	e := p.src.Error(code, at.at, found, fix)
	if p.rule != nil {
		e.Rule = p.rule.callRule.ID
	}
	p.errs = append(p.errs, e)
}

func (p *parser) file() {
	p.tokens, p.open = lex(p.src.Text)
	ids := map[string]token{}
	for p.peek().kind != end {
		if !p.begins() {
			p.fail(p.peek(), document.CodeSyntax,
				p.peek().shown()+" where a rule should begin", "write: rule <id> { … }")
			for p.peek().kind != end && !p.begins() {
				p.take()
			}
			continue
		}
		p.take()
		id := p.take()
		p.take() // {
		p.rule, p.patterned = &rule{}, nil
		if strings.Contains(id.text, ".") {
			p.fail(id, document.CodeValue, fmt.Sprintf("the id %q has a dot in it", id.text),
				"an id is made of letters, digits, - and _")
		}
		p.rule.callRule.ID = id.text
		if first, twice := ids[id.text]; twice {
			p.fail(id, document.CodeDuplicate,
				fmt.Sprintf("the id %q is also that of the rule in line %d", id.text, first.line),
				"give this rule another")
		}
		ids[id.text] = id
		p.rule.callRule.Origin = callrules.Origin{File: p.src.Name, Line: id.line}
		p.body(id)
		p.rules = append(p.rules, *p.rule)
		p.rule = nil
	}
	if p.open >= 0 {
		// After a missing quote, strings and words are swapped: later mistakes would be noise.
		p.errs = p.errs[:min(1, len(p.errs))]
		p.errs = append(p.errs,
			p.src.Error(document.CodeSyntax, p.open, "a string that begins here and never ends",
				`close it with "; a " within it is written \"`))
	}
	slices.SortStableFunc(p.errs, func(a, b *document.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// begins reports whether a rule begins here. There are always tokens to look at: the last is not a word.
func (p *parser) begins() bool {
	return p.peek().is("rule") && p.tokens[p.next+1].kind == word && p.tokens[p.next+2].is("{")
}

// body reads a rule from after its { to its }, and reports missing parts.
func (p *parser) body(id token) {
	r := p.rule
	r.callRule.Priority = 50 // by default
	p.seen = map[string]token{}
	mistakes := len(p.errs)
	var message, context string
	for !p.peek().is("}") {
		if p.peek().kind == end || p.begins() {
			if p.peek().kind == end && p.open >= 0 {
				return
			}
			p.fail(id, document.CodeSyntax,
				fmt.Sprintf("the rule %q has no closing }", id.text), "write the } at its end")
			return
		}
		if !p.key(&message, &context) {
			for p.peek().kind != end && !p.peek().is("}") && !p.begins() && !isKey(p.peek()) {
				p.take()
			}
		}
	}
	p.take()
	r.callRule.Reason = strings.Trim(message+"\n"+context, "\n")
	if len(p.errs) > mistakes {
		return // the missing part may be in the unreadable text
	}
	switch {
	case r.callRule.Effect == "":
		p.fail(id, document.CodeValue, "the rule has no decision",
			"write one of DENY, ALLOW, LOG, SHADOW, ASK and FORCE and its target, such as DENY execution")
	case r.callRule.Effect == callrules.Ask && r.callRule.Prompt == "":
		p.fail(id, document.CodeValue, "ASK without PROMPT", "write what the person is asked, PROMPT \"…\"")
	case r.callRule.Effect == callrules.Force && r.callRule.Instead == "":
		p.fail(id, document.CodeValue, "FORCE without SUBSTITUTE",
			"write what is to be done instead, SUBSTITUTE \"…\"")
	}
	if at, ok := p.seen["PROMPT"]; ok && r.callRule.Effect != callrules.Ask {
		p.fail(at, document.CodeKey, "PROMPT in a rule that does not ASK", "remove it")
	}
	if at, ok := p.seen["SUBSTITUTE"]; ok && r.callRule.Effect != callrules.Force {
		p.fail(at, document.CodeKey, "SUBSTITUTE in a rule that does not FORCE", "remove it")
	}
	if _, ok := p.seen["IF"]; !ok {
		p.fail(id, document.CodeValue, "the rule has no IF, and a rule without conditions never fires",
			"write its conditions; one that always holds is IF tool NOT EQUALS \"\"")
	}
	p.finish(message == "")
}

// finish lowers the parts that need the whole rule.
func (p *parser) finish(silent bool) {
	r := p.rule
	said := "as not matching, so the rule lets no call through because of it"
	for _, t := range p.patterned {
		if re, ok := t.Regexp.(jsregexp.Regexp); ok {
			re.GivenUp = restrictive(r.callRule.Effect) != t.Not
			t.Regexp = re
		}
		if t.Broken != "" && restrictive(r.callRule.Effect) {
			t.IfBroken = callrules.Holds
			said = "as matching, whatever the call, also after NOT"
		}
	}
	if always(&r.condition) && restrictive(r.callRule.Effect) {
		said += ", so the rule fires on every call of its target"
	}
	for _, t := range p.patterned {
		if t.Broken != "" {
			p.note("%s: %s; it counts %s", t.Shown, t.Broken, said)
		}
	}
	if silent {
		p.note("the rule has no MESSAGE; add one that says why it fires")
	}
	r.callRule.When = r.condition
	if t := targetTest(r.target); t != nil {
		r.callRule.When = callrules.Predicate{All: []callrules.Predicate{{Test: t}, r.condition}}
	}
}

// targetTest is the test of a target; nil if every call matches.
func targetTest(name string) *callrules.Test {
	t := &callrules.Test{Op: callrules.Equals, Absent: callrules.Fails, Shown: "the target " + name}
	switch {
	case name == "any":
		return nil
	case name == "edit":
		t.Fact.Source, t.Text = callrules.FromEdits, "edit"
	default:
		t.Fact.Source, t.Text = callrules.FromCapability, string(targets[name])
	}
	return t
}

func (p *parser) note(format string, args ...any) {
	r := p.rule
	r.notes = append(r.notes,
		callrules.Note{
			Origin: r.callRule.Origin, Text: fmt.Sprintf("rule %q: ", r.callRule.ID) + fmt.Sprintf(format, args...),
		})
}

func isKey(t token) bool {
	others := []string{"enabled", "priority", "severity", "IF", "MESSAGE", "PROMPT", "SUBSTITUTE", "CONTEXT"}
	return t.kind == word && (decisions[t.text] != "" || refused[t.text] != nil || slices.Contains(others, t.text))
}

// refused are unsupported keys, with their meaning and the alternative.
var refused = map[string][]string{
	"AMBIENT": {", which is knowledge for the agent and decides no call", "keep it in the agent's own instructions"},
	"RUN":     {", which runs a command", "remove it; policyscan runs nothing"},
	"WEBHOOK": {", which calls a server", "remove it; policyscan cannot reach a network"},
}

// key reads one part of a rule, and reports whether the rest can be read.
func (p *parser) key(message, context *string) bool {
	t := p.take()
	name := t.text
	effect := decisions[name]
	if effect != "" && t.kind == word {
		name = "decision"
	}
	if isKey(t) {
		if first, twice := p.seen[name]; twice {
			p.fail(t, document.CodeDuplicate, fmt.Sprintf("%s, and %s in line %d", t.text, first.text, first.line),
				"a rule has one decision, one IF and each key once; join conditions with AND and OR")
			return false
		}
		p.seen[name] = t
	}
	texts := map[string]*string{
		"MESSAGE": message, "CONTEXT": context,
		"PROMPT": &p.rule.callRule.Prompt, "SUBSTITUTE": &p.rule.callRule.Instead,
	}
	switch {
	case t.kind == stray && strings.Contains("'“”", t.text):
		p.fail(t, document.CodeSyntax, t.shown(), "put strings in double quotes, \"…\"")
		return false
	case t.kind == stray:
		p.fail(t, document.CodeSyntax, t.shown(), "remove it; strings are in double quotes")
		return false
	case t.kind != word:
	case effect != "":
		p.rule.callRule.Effect = effect
		return p.value(t, "one of execution, read, write, edit, search, agent, network and any", func(v string) bool {
			p.rule.target = v
			_, ok := targets[v]
			return ok
		})
	case name == "enabled":
		return p.value(t, "true or false", func(v string) bool {
			p.rule.callRule.Disabled = v == "false"
			return v == "true" || v == "false"
		})
	case name == "priority":
		return p.value(t, "a whole number of at most nine digits", func(v string) bool {
			n, err := strconv.Atoi(v)
			p.rule.callRule.Priority = n
			return err == nil && len(strings.TrimPrefix(v, "-")) <= 9
		})
	case name == "severity":
		return p.value(t, "error, warning or info", func(v string) bool {
			return v == "error" || v == "warning" || v == "info"
		})
	case name == "IF":
		var ok bool
		p.nested = 0
		p.rule.condition, ok = p.groups(false)
		return ok
	case texts[name] != nil:
		v, ok := p.text(t)
		if ok && strings.TrimSpace(v.text) == "" {
			p.fail(v, document.CodeValue, name+" is empty", "write a string, or remove the key")
		}
		*texts[name] = v.text
		return ok
	case refused[name] != nil:
		p.fail(t, document.CodeKey, name+refused[name][0], refused[name][1])
		return false
	case name == "AND" || name == "OR" || name == "NOT":
		p.fail(t, document.CodeSyntax, name+" outside of the conditions", "write it among the conditions, after IF")
		return false
	}
	fix := "a rule has " + keys
	for _, other := range []string{strings.ToLower(name), strings.ToUpper(name)} {
		if t.kind == word && isKey(token{kind: word, text: other}) {
			fix = "write " + other
		}
	}
	p.fail(t, document.CodeKey, t.shown()+" is not a key of a rule", fix)
	return false
}

func (p *parser) value(key token, want string, valid func(string) bool) bool {
	v := p.peek()
	if v.kind != word || isKey(v) {
		p.fail(v, document.CodeValue, fmt.Sprintf("%s after %s", v.shown(), key.text), "write "+want)
		return false
	}
	p.take()
	if !valid(v.text) {
		p.fail(v, document.CodeValue, fmt.Sprintf("%s %s", key.text, v.text), "write "+want)
	}
	return true
}

func (p *parser) text(after token) (token, bool) {
	v := p.peek()
	if v.kind != quote {
		p.fail(v, document.CodeSyntax, fmt.Sprintf("%s after %s", v.shown(), after.text),
			"write a string in double quotes")
		return v, false
	}
	p.take()
	// "an "inner" quote" is three strings, and detected at this point.
	if next := p.peek(); next.at == v.to && next.kind != mark && next.kind != end {
		p.fail(next, document.CodeSyntax, fmt.Sprintf("%s right after the end of a string", next.shown()),
			`write a " within a string as \", and a space after the string`)
		return v, false
	}
	return v, true
}
