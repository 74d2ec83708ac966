// Package evaluator reads policy bundles in the form of the Evaluator's document, as its project's server and its
// command line write them: JSON, in which a deny returns at once and the last allow wins.
//
// The keys that decide are checked. What its server adds besides is a note: unknown keys are ignored, as there, but a
// rule that allows and has one never matches. A pattern that does not compile is a note, too: as in the document, its
// policy is broken, and every call that reaches the policy is denied with POLICY_COMPILE_ERROR.
//
// # Limits
//
// Hashes and signatures are not verified. docs/dialects.md has the rest.
package evaluator

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/rules/document"
)

// Limits of a bundle, those of the document's own project.
const (
	maxPolicies    = 1000
	maxRules       = 1000 // of one policy
	maxConditions  = 50   // of one rule
	maxName        = 128  // characters, of a policy's name and of an agent's id
	maxDescription = 1024 // characters, of a policy
	anyLength      = 1 << 30
)

// budget is how long one decision may take.
const budget = 50 * time.Millisecond

var uuid = late.Regexp(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Read reads a bundle. The error is a [document.Errors] with all of its mistakes.
func Read(src *document.Source) (*callrules.Set, error) {
	if e := src.Check(); e != nil {
		return nil, document.Errors{e}
	}
	r := &reader{src: src, roots: map[string]bool{}, set: &callrules.Set{
		Name: src.Name, Dialect: "evaluator", Strategy: callrules.DenyOverrides,
		Default: callrules.Deny, Budget: budget,
	}}
	if root := r.parse(); root != nil {
		r.bundle(root)
	}
	if len(r.errs) > 0 {
		slices.SortStableFunc(r.errs, func(a, b *document.Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, r.errs
	}
	slices.SortStableFunc(r.set.Notes,
		func(a, b callrules.Note) int { return cmp.Compare(a.Origin.Line, b.Origin.Line) })
	return r.set, nil
}

func (r *reader) bundle(root *node) {
	if root.kind == call.Null { // "Bundle is null (never loaded)"
		r.note(root.at, "the bundle is null: every call is denied, %s; write one", callrules.CodeNoPolicies)
		return
	}
	if root.member("policies") == nil && root.member("spec") != nil { // one policy, as users send it to the server
		r.set.Policies = []callrules.Policy{{}}
		r.set.Policies[0].ID = r.document(root, 0)
		r.byDefault(root.at)
		return
	}
	m := r.object(root, "the bundle", []string{"policies"},
		[]string{"frozenAgentIds", "mcpAccess", "bundleVersion", "contentHash", "builtAt", "signature"})
	if m == nil {
		return
	}
	if n := cmp.Or(m["signature"], m["contentHash"]); n != nil {
		r.note(n.at, "%q is not verified; check who may write the file", n.name)
	}
	r.later = m["mcpAccess"] != nil || m["signature"] != nil
	r.servers(m)
	for _, n := range r.list(m["frozenAgentIds"], "frozenAgentIds", 0, anyLength) {
		if id, ok := r.text(n, "an id of frozenAgentIds", 1, maxName); ok {
			r.set.Frozen = append(r.set.Frozen, id)
		}
	}
	list := m["policies"]
	policies := r.list(list, "policies", 0, maxPolicies)
	if len(policies) == 0 && len(r.errs) == 0 {
		r.note(list.at, "no policies: every call is denied, %s; write one", callrules.CodeNoPolicies)
	}
	seen := map[string]int{}
	for i, n := range policies {
		r.policy(n)
		if p := r.set.Policies[i]; p.ID != "" {
			if line := seen[p.ID]; line > 0 {
				r.note(n.at, "the policy %s occurs twice, first in line %d; remove one of them", p.ID, line)
			}
			seen[p.ID] = r.line(n.at)
		}
	}
	if len(policies) > 0 {
		r.byDefault(list.at)
	}
}

// servers reads the gate of MCP servers.
func (r *reader) servers(m map[string]*node) {
	n := m["mcpAccess"]
	if n == nil {
		if m["bundleVersion"] != nil && m["builtAt"] != nil { // its server wrote it
			r.note(m["builtAt"].at, `no "mcpAccess": the rules alone decide on the tools of MCP servers, which later `+
				`versions of the project deny; write {"approvedServers": [...]}`)
		}
		return
	}
	access := r.object(n, `"mcpAccess"`, nil, []string{"approvedServers", "enforce"})
	for _, n := range r.list(access["approvedServers"], "approvedServers", 0, anyLength) {
		if name, ok := r.text(n, "a name of approvedServers", 1, anyLength); ok {
			r.set.Servers = append(r.set.Servers, name)
		}
	}
	switch enforce := access["enforce"]; {
	case enforce != nil && enforce.kind != call.Bool:
		r.fail(document.CodeType, enforce.at, `"enforce" is `+enforce.kindName(), "write true or false")
	case enforce != nil && r.src.Text[enforce.at] == 'f':
		r.note(enforce.at, `"enforce" is false: "mcpAccess" decides nothing, and the rules alone decide on the tools `+
			"of MCP servers")
	default:
		r.set.GatesServers = true
		r.note(n.at, `"mcpAccess" denies tools of MCP servers whose call does not tell an approved server, such as `+
			"all of Cursor's preToolUse; it does not see those of GitHub Copilot, which look like any other tool")
	}
}

// byDefault sets the default: the first policy's, as in the document; in a bundle of a later version the strictest,
// as there. Policies with different defaults are noted.
func (r *reader) byDefault(at int) {
	first, decides := r.set.Policies[0], r.set.Policies[0]
	var other *callrules.Policy
	for i := range r.set.Policies {
		p := &r.set.Policies[i]
		if other == nil && p.Default != first.Default {
			other = p
		}
		if r.later && p.Default.Rank() > decides.Default.Rank() {
			decides = *p
		}
	}
	r.set.Default = decides.Default
	switch {
	case other == nil:
	case r.later:
		r.note(at, "mixed defaults: the strictest counts (%s, %s); give all policies one default",
			decides.ID, decides.Default)
	default:
		r.note(at, "mixed defaults: the first policy's counts (%s, %s), and that of %s (%s) is never used; "+
			"give all policies one default",
			first.ID, first.Default, other.ID, other.Default)
	}
}

// policy reads one policy, and adds it to the set even if it has mistakes.
func (r *reader) policy(n *node) {
	index := len(r.set.Policies)
	r.set.Policies = append(r.set.Policies, callrules.Policy{})
	p := &r.set.Policies[index]
	var m map[string]*node
	if n.member("id") != nil && n.member("policyId") == nil { // in the file of the project's command line
		m = r.object(n, "the policy", []string{"id", "document"}, nil)
		p.ID, _ = r.text(m["id"], "id", 1, anyLength)
		p.Version, r.later = 1, true
	} else {
		m = r.object(n, "the policy", []string{"policyId", "policyVersion", "document"}, nil)
		if id, ok := r.text(m["policyId"], "policyId", 1, anyLength); ok {
			p.ID = id
			if !uuid().MatchString(id) {
				r.fail(document.CodeValue, m["policyId"].at, fmt.Sprintf("the policyId %s", document.Quoted(id)),
					`write a UUID, such as "11111111-2222-4333-8444-555555555555"`)
			}
		}
		p.Version = r.whole(m["policyVersion"], "policyVersion")
	}
	r.document(m["document"], index)
}

// document reads what a policy of the set says, and returns its name.
func (r *reader) document(n *node, index int) string {
	p := &r.set.Policies[index]
	m := r.object(n, "the document", []string{"apiVersion", "kind", "metadata", "spec"}, nil)
	r.word(m["apiVersion"], "apiVersion", "agent-governance.io/v1")
	r.word(m["kind"], "kind", "Policy")
	meta := r.object(m["metadata"], `"metadata"`, []string{"name"}, []string{"description", "labels"})
	name, _ := r.text(meta["name"], "name", 1, maxName)
	r.text(meta["description"], "description", 0, maxDescription)
	if labels := meta["labels"]; labels != nil && labels.kind != call.Object {
		r.fail(document.CodeType, labels.at, `"labels" is `+labels.kindName(),
			`write an object, such as {"team": "core"}`)
	} else if labels != nil {
		for _, label := range labels.items {
			r.text(label, "the label "+document.Quoted(label.name), 0, anyLength)
		}
	}
	spec := r.object(m["spec"], `"spec"`, []string{"defaultEffect", "rules"}, nil)
	p.Default = r.effect(spec["defaultEffect"], "defaultEffect")
	r.later = r.later || p.Default == callrules.Ask
	seen := map[string]int{}
	for _, n := range r.list(spec["rules"], "rules", 1, maxRules) {
		id := r.ruleOf(n, index)
		r.rule = ""
		if line := seen[id]; line > 0 {
			r.note(n.at, "the rule %s occurs twice in its policy, first in line %d; give each its own id", id, line)
		} else if id != "" {
			seen[id] = r.line(n.at)
		}
	}
	return name
}

func (r *reader) ruleOf(n *node, policy int) string {
	if id := n.member("id"); id != nil {
		r.rule = id.text
	}
	r.unknown = ""
	m := r.object(n, "the rule", []string{"id", "conditions", "effect"}, []string{"description"})
	if m == nil {
		return ""
	}
	rule := callrules.Rule{Policy: policy, Origin: r.origin(n.at)}
	rule.ID, _ = r.text(m["id"], "id", 1, anyLength)
	rule.Effect = r.effect(m["effect"], "effect")
	if text, _ := r.text(m["description"], "description", 0, anyLength); rule.Effect != callrules.Allow {
		rule.Reason = text // "Human-readable reason for the deny": an allow has none
	}
	var certain callrules.Predicate
	for _, n := range r.list(m["conditions"], "conditions", 1, maxConditions) {
		condition := r.condition(n, &rule)
		rule.When.All = append(rule.When.All, condition)
		certain.All = append(certain.All, narrow(condition))
	}
	if r.unknown != "" {
		certain.All = append(certain.All, callrules.Predicate{Test: &callrules.Test{
			Shown: document.Quoted(r.unknown), Broken: "the key is not known"}})
	}
	switch rule.Effect {
	case callrules.Allow:
		rule.When = certain
	case callrules.Ask:
		rule.Certain, r.later = certain, true
	}
	r.set.Rules = append(r.set.Rules, rule)
	return rule.ID
}

// object reads the members of an object; nil if n is not an object. A nil n was already reported as missing.
func (r *reader) object(n *node, what string, required, optional []string) map[string]*node {
	if n == nil {
		return nil
	}
	keys := append(slices.Clone(required), optional...)
	if n.kind != call.Object {
		r.fail(document.CodeType, n.at, what+" is "+n.kindName(), "write an object with "+strings.Join(keys, ", "))
		return nil
	}
	all := map[string]*node{}
	for _, m := range n.items {
		switch {
		case slices.Contains(keys, m.name):
			all[m.name] = m
		default:
			r.unknownKey(m, what, keys)
		}
	}
	for _, key := range required {
		if all[key] == nil {
			r.fail(document.CodeValue, n.at, fmt.Sprintf("%s has no %q", what, key), "write it")
		}
	}
	return all
}

// unknownKey notes a key that is ignored, as in the document's project. One that is likely meant for a key that denies
// is an error.
func (r *reader) unknownKey(m *node, what string, keys []string) {
	found := fmt.Sprintf("unknown key %s in %s", document.Quoted(m.name), what)
	switch near := document.Nearest(m.name, keys); {
	case r.rule != "":
		r.unknown = m.name
		r.note(m.nameAt, "%s: it is ignored, but a rule that allows and has it never matches; the keys are %s",
			found, strings.Join(keys, ", "))
	case near == "frozenAgentIds" || near == "mcpAccess":
		r.fail(document.CodeKey, m.nameAt, found, "write "+near+", or remove it")
	default:
		r.note(m.nameAt, "%s: it is ignored; the keys are %s", found, strings.Join(keys, ", "))
	}
}

func (r *reader) text(n *node, what string, least, most int) (string, bool) {
	switch {
	case n == nil:
		return "", false
	case n.kind != call.String:
		r.fail(document.CodeType, n.at, fmt.Sprintf("%s is %s", what, n.kindName()), "write a string")
		return "", false
	}
	length := utf8.RuneCountInString(n.text)
	switch {
	case length < least:
		r.fail(document.CodeValue, n.at, what+" is empty", "write one")
		return "", false
	case length > most:
		r.fail(document.CodeLimit, n.at, fmt.Sprintf("%s has %d characters; the limit is %d", what, length, most),
			"write fewer")
		return "", false
	}
	return n.text, true
}

func (r *reader) whole(n *node, what string) int64 {
	if n == nil {
		return 0
	}
	const most = 1<<53 - 1 // the largest that JavaScript tells from its neighbours
	i, err := strconv.ParseInt(string(r.src.Text[n.at:n.end]), 10, 64)
	if err != nil || i < 0 || i > most {
		r.fail(document.CodeValue, n.at, what+" is not a whole number of 0 or more", "write one, such as 1")
		return 0
	}
	return i
}

func (r *reader) list(n *node, what string, least, most int) []*node {
	switch {
	case n == nil:
	case n.kind != call.List:
		r.fail(document.CodeType, n.at, fmt.Sprintf("%q is %s", what, n.kindName()), "write a list")
	case len(n.items) < least:
		r.fail(document.CodeValue, n.at, fmt.Sprintf("%q is an empty list", what),
			fmt.Sprintf("write at least %d", least))
	case len(n.items) > most:
		r.fail(document.CodeLimit, n.items[most].at,
			fmt.Sprintf("%q has %d items; the limit is %d", what, len(n.items), most), "write fewer")
	default:
		return n.items
	}
	return nil
}

func (r *reader) word(n *node, what string, words ...string) string {
	text, ok := r.text(n, what, 0, anyLength)
	if !ok {
		return ""
	}
	if !slices.Contains(words, text) {
		r.fail(document.CodeValue, n.at, fmt.Sprintf("the %s %s", what, document.Quoted(text)),
			"write "+strings.Join(words, ", "))
		return ""
	}
	return text
}

func (r *reader) effect(n *node, what string) callrules.Effect {
	return callrules.Effect(r.word(n, what, string(callrules.Allow), string(callrules.Deny), string(callrules.Ask)))
}
