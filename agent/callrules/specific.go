package callrules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
)

// mostSpecific: in each domain that the call asks for something of, the first rule that matches; of
// several domains the strictest.
func (w *walk) mostSpecific() Outcome {
	ops := w.facts.operations()
	tool := w.facts.call.Tool
	if tool == notInMap {
		*ops = call.Operations{}
	}
	if file, _ := ops.Path.Scalar(); file != "" {
		if _, absolute := call.Resolve("", file); !absolute {
			ops.Path = nil // the working directory is not known, and rules are about absolute paths
		}
	}
	var out Outcome
	var said []string
	for _, d := range []struct {
		name  string
		asked bool
		about *call.Value
		what  string
		why   string
	}{
		{"exec", ops.Exec, ops.Runs.Name, "which program it runs", ""},
		{"fs", ops.Op != nil, ops.Path, "which file it is about", ops.UnsurePath},
		{"net", ops.Net, ops.Host, "which host it contacts", ops.UnsureHost},
		{"tool", !ops.Exec && ops.Op == nil && !ops.Net, call.Text(tool), "", ""},
	} {
		rules := ofDomain(w.set.Rules, d.name)
		if !d.asked {
			for _, r := range rules {
				w.skip(r, "the call has nothing to do with "+d.name)
			}
			continue
		}
		rules = append(rules, ofDomain(w.set.Builtin, d.name)...)
		if ops.UnsureURLPath != "" && d.name == "net" &&
			slices.ContainsFunc(rules, func(r *Rule) bool { return r.When.About(FromNetPath) }) {
			d.about, d.what, d.why = nil, "which path it fetches", ops.UnsureURLPath
		}
		var r *Rule
		effect, by := w.set.Default, "default"
		if d.about != nil {
			r = w.first(rules)
		} else {
			r = w.strictest(rules)
		}
		if r != nil {
			effect = r.Effect
		}
		if d.name == "exec" {
			if stricter := w.through(rules, effect); stricter != nil {
				r, effect = stricter, stricter.Effect
			}
		}
		if r == nil && d.about != nil {
			continue
		}
		if r != nil {
			by = r.ID
		}
		by = fmt.Sprintf("%s by %s", w.set.Word(effect), by)
		if d.about == nil {
			if d.why != "" {
				d.why = fmt.Sprintf(" (%s)", d.why)
			}
			by = fmt.Sprintf("%s cannot be determined%s, and the strictest possibility is %s", d.what, d.why, by)
		}
		said = append(said, by)
		if len(said) == 1 || effect.Rank() > out.Effect.Rank() {
			// The use of these tools is a question to the user: to send an allow is to answer it.
			asks := slices.Contains([]string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}, tool)
			out = Outcome{Effect: effect, Rule: r, asksUser: asks}
		}
	}
	if len(said) == 0 {
		reason := fmt.Sprintf("no rule matches; default: %s", w.set.Word(w.set.Default))
		return Outcome{Effect: w.set.Default, Reason: reason}
	}
	if out.Reason = strings.Join(said, "; "); out.Rule != nil && out.Rule.Reason != "" {
		out.Reason = out.Rule.Reason
	}
	if w.trace != nil && len(said) > 1 {
		w.trace.Resolution = fmt.Sprintf("%s: of %s the strictest", w.set.Word(out.Effect), strings.Join(said, ", "))
	}
	return out
}

func ofDomain(all []Rule, domain string) []*Rule {
	var rules []*Rule
	for i := range all {
		if all[i].Domain == domain {
			rules = append(rules, &all[i])
		}
	}
	return rules
}

// through returns a rule that is stricter than an effect and names a wrapper program, as env in "env git status", or
// nil. Of the rules that name such a program the most specific decides; an allowing one does not cover the wrapped
// command.
func (w *walk) through(rules []*Rule, effect Effect) (by *Rule) {
	ops := w.facts.operations()
	runs := ops.Runs
	defer func() { ops.Runs = runs }()
	for _, ops.Runs = range ops.Through {
		i := slices.IndexFunc(rules, func(r *Rule) bool {
			ok, _ := r.When.holds(w.facts)
			return ok && r.Through
		})
		if i < 0 || rules[i].Effect.Rank() <= effect.Rank() {
			continue
		}
		by, effect = rules[i], rules[i].Effect
		if w.trace != nil {
			why := fmt.Sprintf("%s is part of the command, and runs what follows it", ops.Runs.Name.Str())
			w.trace.Steps = slices.DeleteFunc(w.trace.Steps, func(s Step) bool { return s.Rule == by })
			w.trace.Steps = append(w.trace.Steps, Step{Rule: by, Matched: true, Why: why})
		}
	}
	return by
}

// strictest returns the strictest rule of a domain that might decide a call whose value is unknown, or nil for the
// default. Rules after one that matches any value do not count.
func (w *walk) strictest(rules []*Rule) *Rule {
	var best *Rule
	for i, r := range rules {
		w.facts.may = true
		might := w.matches(r)
		w.facts.may = false
		if !might {
			continue
		}
		if best == nil || r.Effect.Rank() > best.Effect.Rank() {
			best = r
		}
		if sure, _ := r.When.holds(w.facts); sure {
			w.rest(rules[i+1:], r.ID)
			return best
		}
	}
	if best != nil && best.Effect.Rank() <= w.set.Default.Rank() {
		return nil // it might as well be the default
	}
	return best
}

// unsure says, after a reason, why a rule was taken to match a call that names a file or a host which cannot be
// determined; "" if the rule matches for certain.
func (w *walk) unsure(r *Rule) string {
	why := cmp.Or(w.facts.ops.UnsurePath, w.facts.ops.UnsureHost) // made by now, if the rule asks for them
	if why == "" {
		return ""
	}
	if sure, _ := r.When.holds(w.facts); sure {
		return ""
	}
	return " (" + why + ")"
}
