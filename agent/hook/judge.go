package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/repo"
)

// NoPolicy is the one item of [Hook.Policy] if edits are not checked.
const NoPolicy = "none"

// A judgement is the result of checking a call, before the user is asked, and the way to ask.
type judgement struct {
	result  *gate.Result
	askMode ask.Mode
}

// judge checks the call by the gates of the roots of the agent's project, and of other repositories.
func (h *Hook) judge(
	ctx context.Context, e *protocol.Event, gateOf func(root string) (*gate.Gate, error),
) (judgement, error) {
	roots, err := h.roots(e)
	if err != nil {
		return judgement{}, err
	}
	dirs := append([]string{h.projectDir(), e.Call.Dir}, e.Roots...)
	var project gate.Project
	for i, root := range roots {
		g, err := gateOf(root)
		if err != nil {
			return judgement{}, err
		}
		if g, err = h.guarding(g, root, dirs); err != nil {
			return judgement{}, err
		}
		if i == 0 && h.Log != "" && !h.AllowRuleEdits {
			name, err := h.logFile(e)
			if err != nil {
				return judgement{}, err
			}
			g.Guarded = append(g.Guarded, name)
		}
		g.Sets = h.Calls.Respelled(g.Sets, root, dirs)
		project.Gates = append(project.Gates, g)
	}
	if !slices.Contains(h.Policy, NoPolicy) {
		project.Other = h.otherGate
	}
	r, err := project.Judge(ctx, e.Call, callrules.Options{Clock: time.Now, Trace: h.Log != ""})
	if err != nil {
		return judgement{}, aboutCall{err}
	}
	mode, err := h.applySafety(e, r, roots[0])
	return judgement{r, cmp.Or(h.AskMode, mode, ask.Agent)}, err
}

// roots returns the directories whose bundles check the agent's edits.
func (h *Hook) roots(e *protocol.Event) ([]string, error) {
	named := e.Roots
	switch dir := h.projectDir(); {
	case h.Root != "":
		root, err := gate.Root(h.Root)
		return []string{root}, err
	case dir != "":
		named = append([]string{dir}, named...)
	case len(named) == 0 && e.Call.Dir != "":
		named = []string{e.Call.Dir}
	case len(named) == 0:
		root, err := gate.Root("")
		return []string{root}, err
	}
	var roots []string
	for _, dir := range named {
		real, err := disk.Real(dir)
		if err != nil {
			return nil, fmt.Errorf("the project directory %s cannot be found: %w", h.quoted(dir), disk.Cause(err))
		}
		root, err := repo.Root(real)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots, nil
}

func (h *Hook) quoted(s string) string { return `"` + h.Safe(s) + `"` }

// projectDir returns the project's directory from the environment variable that the agent sets for its hook, or "".
func (h *Hook) projectDir() string {
	if h.Agent.ProjectEnv == "" {
		return ""
	}
	return h.Around.Getenv(h.Agent.ProjectEnv)
}

// gate loads the bundle and the call rules. Relative names count from the root, since agents run their hooks in any
// directory of the project.
func (h *Hook) gate(root string) (*gate.Gate, error) {
	sets, err := h.Calls.Load(root)
	if err != nil {
		return nil, err
	}
	g := &gate.Gate{}
	switch none := slices.Contains(h.Policy, NoPolicy); {
	case !none:
		g, err = h.bundleGate(root)
	case len(h.Policy) > 1:
		err = errors.New("--policy none excludes every other --policy; remove one of them")
	case len(h.Calls.Names) == 0:
		err = errors.New("with --policy none there are no rules; name call rules with --calls")
	}
	if err != nil {
		return nil, err
	}
	g.Sets = sets
	files, err := h.Calls.Places(root)
	g.Guarded = append(g.Guarded, files...)
	return g, err
}

func (h *Hook) bundleGate(root string) (*gate.Gate, error) {
	g, err := gate.Open(h.policies(root), h.Pins, root)
	var none *document.Error
	if len(h.Policy) == 0 && len(h.Calls.Names) > 0 && errors.As(err, &none) &&
		none.Code == document.CodeMissing && none.File == "" {
		advised := *none
		advised.Fix += "; to check with the call rules alone, add --policy none"
		err = &advised
	}
	return g, err
}

// otherGate returns the gate of another repository. It is loaded for each call: few calls edit files there, and an
// older bundle must not stay in force if that repository's bundle becomes invalid.
func (h *Hook) otherGate(root string, within bool) (*gate.Gate, error) {
	g, err := gate.OfRepository(root)
	switch {
	case err != nil:
		return nil, err
	case g == nil && within: // the project's gate guards what is in its root
		return nil, nil
	case g == nil:
		g = &gate.Gate{Root: root}
	}
	return h.guarding(g, root, nil)
}

// guarding returns a gate that also guards the rules and the hooks of agents, or with AllowRuleEdits nothing. The
// directories are the agent's start directory and its open ones, if known.
func (h *Hook) guarding(g *gate.Gate, root string, dirs []string) (*gate.Gate, error) {
	if h.AllowRuleEdits {
		unguarded := *g
		unguarded.Guarded = nil
		return &unguarded, nil
	}
	w := gate.Guards{Agent: h.Agent.Name, Root: root, Around: h.Around,
		RootNames: append([]string{sigmashake.ConfigFile}, h.Calls.UsualNames()...)}
	for _, dir := range dirs {
		if real, err := disk.Real(dir); dir != "" && err == nil {
			w.Dirs = append(w.Dirs, real)
		}
	}
	if dir, err := h.stateDir(); err == nil {
		w.State = append(w.State, dir)
	}
	if dir, err := ask.Dashboard.Dir(h.AskDir, h.Around.Getenv); err == nil {
		w.State = append(w.State, dir)
	}
	return g.WithGuards(w)
}

// CallRules returns the names of the call rules in the project around the current directory, from its root.
func (h *Hook) CallRules() (names []string, err error) {
	root, err := gate.Root(h.Root)
	if err != nil {
		return nil, err
	}
	each, err := h.Calls.Each(root)
	for _, one := range each {
		names = append(names, one.Names[0])
	}
	return names, err
}

// Bundle returns the bundle that checks edits in the project around the current directory; nil with [NoPolicy].
func (h *Hook) Bundle() (*rules.Bundle, error) {
	root, err := gate.Root(h.Root)
	if err != nil {
		return nil, err
	}
	g, err := h.gate(root)
	if err != nil {
		return nil, err
	}
	return g.Bundle, nil
}

// Ready returns an error if the hook could not judge any call in the project around the current directory.
func (h *Hook) Ready() error {
	root, err := gate.Root(h.Root)
	if err != nil {
		return err
	}
	g, err := h.gate(root)
	if err != nil {
		return err
	}
	for _, s := range g.Sets {
		if s.Dialect == sigmashake.Dialect {
			_, _, err = sigmashake.LoadConfig(root, sigmashake.ConfigFile)
		}
	}
	return err
}

// A ruling is the answer to a call, and how it came about if known.
type ruling struct {
	decision protocol.Decision
	of       *gate.Result // nil if the call could not be checked
	err      error        // why it could not
	approved *bool        // the user's answer at a terminal; nil without one
}

func (h *Hook) ruling(person context.Context, e *protocol.Event, j judgement) ruling {
	r := ruling{of: j.result}
	out, reason := j.result.Outcome(), "policyscan: "+j.result.Reason()
	switch {
	case out.Effect.Rank() == 2:
		r.decision = protocol.Decision{Permission: protocol.Deny, Reason: reason}
	case out.Effect == callrules.Ask && j.askMode == ask.Agent:
		r.decision = protocol.Decision{Permission: protocol.Ask, Reason: reason}
	case out.Effect == callrules.Ask:
		r.decision, r.approved = h.askedAtTerminal(person, e, j)
	case h.SendAllow && out.Explicit():
		r.decision = protocol.Decision{Permission: protocol.Allow, Reason: j.result.Allowed(), Note: j.result.Note()}
	default:
		r.decision = protocol.Decision{Note: j.result.Note()}
	}
	return r
}

// askedAtTerminal asks the user about a call, at this terminal or another. A yes is passed on with SendAllow; without
// it the agent decides about the call.
func (h *Hook) askedAtTerminal(
	ctx context.Context, e *protocol.Event, j judgement,
) (d protocol.Decision, approved *bool) {
	reason := j.result.Reason()
	dir, err := j.askMode.Dir(h.AskDir, h.Around.Getenv)
	yes := false
	if err == nil {
		question := ask.Question{Call: e.Call, Reason: reason, Dir: dir, Safe: h.Safe}
		yes, err = question.Person(ctx)
	}
	if err != nil {
		h.Warn(err)
		reason = fmt.Sprintf("policyscan: %s\n%v", reason, err)
		return protocol.Decision{Permission: protocol.Deny, Reason: reason}, nil
	}
	if !yes {
		reason = "policyscan: the person at the terminal did not approve: " + reason
		return protocol.Decision{Permission: protocol.Deny, Reason: reason}, &yes
	}
	d.Note = j.result.Note()
	if h.SendAllow {
		d.Permission, d.Reason = protocol.Allow, "policyscan: a person at the terminal approved it: "+reason
	}
	return d, &yes
}
