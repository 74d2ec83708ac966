package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/scope"
	"github.com/policyscan/policyscan/verdict/output"
)

// agentHookCmd judges a call of an agent before it runs. Its name is the agent's.
type agentHookCmd struct {
	callsFlag      `embed:""`
	Policy         []string      `placeholder:"DIR" sep:"none" help:"Folder that holds rules/, or builtin:infra, or none. Repeatable. Default: the bundle in the root."`
	Root           string        `placeholder:"DIR" help:"Folder from which the bundle's globs count. Default: the root of the repository around the agent's project."`
	SendAllow      bool          `help:"Answer allow if a rule allows the call, or a person at the terminal approves it, so that the agent does not ask. Default: leave it to the agent."`
	AllowRuleEdits bool          `help:"Do not ask a person about edits of the rules, of the agent's hooks, or of anything else that they depend on."`
	AskMode        string        `placeholder:"MODE" aliases:"ask_mode" help:"How a person is asked: agent, or tty, the terminal. Default: agent, but tty where sigmashake's rules ask."`
	AgentId        string        `placeholder:"ID" help:"The agent's id, if its hook does not give one."`
	State          string        `placeholder:"DIR" help:"Private folder for what sigmashake's loop guard remembers. Default: policyscan/sessions in the user's state folder."`
	Timeout        time.Duration `placeholder:"D" default:"8s" env:"-" help:"Deny the call if it cannot be checked in this time. Default: 8s."`
	Log            string        `placeholder:"FILE" help:"Append each decision to this file, as a line of JSON. A call whose decision cannot be written is denied."`
	LogInput       bool          `help:"Also write the texts of the calls, up to 4 KiB of each. Default: their lengths and hashes."`
	Serve          bool          `env:"-" help:"Keep running: a call on each line of standard input, an answer on each line of standard output. Changed rules are loaded."`
}

// Help returns the text below the flags.
func (*agentHookCmd) Help() string {
	return `The agent's settings run this command; policyscan hook install adds it to them. It reads
the call on standard input and answers as the agent's hooks do. Any failure denies the call.
See docs/agents.md.

Exit status: 0 there is an answer, which may be a denial; 2 there is none.`
}

// runAsHook runs the program as the hook of an agent: every failure becomes an answer that denies the call, because
// most agents make the call if their hook fails.
func runAsHook(a *protocol.Agent, args []string, std streams) int {
	debug.SetGCPercent(400) // the process ends before garbage collection pays off
	if output.IsNullDevice(std.out) {
		complain(std.err, errors.New("standard output is closed or the null device, so nobody would read the answer, "+
			"and the call is denied"))
		return exitUndecided
	}
	out := &recorder{to: std.out}
	said := &recorder{to: std.err, keep: true}
	inner := streams{in: std.in, out: out, err: said}
	status := recovering(inner, func() int {
		if asksHelp(args) && hasCall(std.in) { // otherwise the agent would make the call, with the help as the answer
			return finish(inner, errors.New("the hook was run for its help or version, "+
				"but there is a call on standard input; remove that flag from the agent's settings"))
		}
		if hook := onlyHook(a, args, inner); hook != nil {
			return finish(inner, hook.run(inner, a))
		}
		return dispatch(args, inner)
	})
	if status == exitPass && out.err == nil {
		return exitPass
	}
	if out.wrote {
		complain(std.err, errors.New("the answer could not be written completely, so the call is denied"))
		return exitUndecided
	}
	reason := strings.TrimSpace(strings.ReplaceAll("\n"+said.text.String(), "\npolicyscan: ", "\n"))
	if reason == "" {
		reason = fmt.Sprintf("the hook ended with status %d", status)
	}
	if _, err := std.out.Write(a.Answer(nil, undecided(errors.New(reason)))); err != nil {
		complain(std.err, fmt.Errorf("the call is denied, and the answer cannot be written: %w", disk.Cause(err)))
		return exitUndecided
	}
	return exitPass
}

// onlyHook returns the hook's command, parsed with a model of this command alone: building the model of all commands
// takes as long as a judgement. It returns nil if anything is unusual; the full parser then explains it.
func onlyHook(a *protocol.Agent, args []string, std streams) *agentHookCmd {
	if args[1] != a.Name || asksHelp(args) {
		return nil
	}
	var c struct {
		Hook agentHookCmd `cmd:""`
	}
	parser, err := newParser(&c, std)
	if err != nil || checkEnvironment(parser) != nil {
		return nil
	}
	ctx, err := parser.Parse(append([]string{"hook"}, args[2:]...))
	if err != nil || checkFlags(ctx) != nil {
		return nil
	}
	return &c.Hook
}

// asksHelp reports whether the arguments ask for the help or the version, after which kong exits.
func asksHelp(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return arg == "--help" || arg == "-h" || arg == "--version" })
}

// hasCall reports whether there is, or may be, input on standard input: it does not end within a second.
func hasCall(in io.Reader) bool {
	if nothingOn(in) {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	text, err := readAll(ctx, func() (io.Reader, error) { return io.LimitReader(in, 1), nil })
	return err != nil || len(text) > 0
}

// A recorder is a writer that notes whether anything was written to it and, with keep, what.
type recorder struct {
	to    io.Writer
	keep  bool
	wrote bool
	err   error
	text  strings.Builder
}

func (n *recorder) Write(p []byte) (int, error) {
	n.wrote = n.wrote || len(p) > 0
	if n.keep {
		n.text.Write(p)
	}
	k, err := n.to.Write(p)
	if err != nil {
		n.err = err
	}
	return k, err
}

// hookedAgent returns the agent whose hook the arguments run for one call; nil if they do something else. Arguments
// that name the agent later than first are a usage error, which is also answered in the agent's protocol.
func hookedAgent(args []string) *protocol.Agent {
	if len(args) < 2 || args[0] != "hook" || args[1] == "install" || args[1] == "uninstall" ||
		slices.Contains(args, "--serve") {
		return nil
	}
	for _, arg := range args[1:] {
		if a := protocol.Named(arg); a != nil {
			return a
		}
	}
	return nil
}

// undecided returns the decision that denies a call which could not be judged.
func undecided(err error) protocol.Decision {
	reason := "policyscan could not check this call, so it is denied: " + err.Error()
	return protocol.Decision{Permission: protocol.Deny, Reason: reason}
}

// Run answers one call, or with --serve all calls.
func (c *agentHookCmd) Run(std streams, k *kong.Context) error {
	return c.run(std, protocol.Named(k.Selected().Name))
}

func (c *agentHookCmd) run(std streams, a *protocol.Agent) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Serve {
		return c.serve(std, a)
	}
	if err := c.once(std, a); err != nil {
		return c.failed(a, err)
	}
	return nil
}

// once answers one call.
func (c *agentHookCmd) once(std streams, a *protocol.Agent) error {
	person, _, stop := interruptible(0) // waiting for a person may take longer than the judgement
	defer stop()
	ctx, cancel := context.WithTimeoutCause(person, c.Timeout, fmt.Errorf("it took over %s", c.Timeout))
	defer cancel()
	if nothingOn(std.in) {
		return errors.New("there is no call on standard input; " +
			"this is for the agent to run, see policyscan hook install --help")
	}
	text, err := readAll(ctx, func() (io.Reader, error) { return io.LimitReader(std.in, call.MaxLine+1), nil })
	if err != nil {
		return fmt.Errorf("the agent's call on standard input cannot be read: %w", disk.Cause(err))
	}
	if len(text) > call.MaxLine {
		return fmt.Errorf("the agent's call on standard input has over %d bytes", call.MaxLine)
	}
	answer, err := c.answer(ctx, person, std, a, text, c.gate)
	if err != nil {
		return err
	}
	if _, err = std.out.Write(answer); err != nil {
		return fmt.Errorf("the answer could not be written completely, so the call is denied: %w", disk.Cause(err))
	}
	return nil
}

// answer judges the call that the agent's hook received, and returns the answer. Once the call is read, a failure is
// an answer, too. ctx limits the judgement, person the wait for a person.
func (c *agentHookCmd) answer(
	ctx, person context.Context, std streams, a *protocol.Agent, text []byte, gateAt func(scope.Place) (*gate.Gate, error),
) ([]byte, error) {
	e, err := inTime(ctx, func() (*protocol.Event, error) { return a.Read(text) })
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("the agent's call on standard input is not one that %s makes: %w", a.Name, err)
	}
	if c.AgentId != "" && e.Call.Agent == "" {
		e.Call.Agent = c.AgentId
		if e.Call.Request != nil {
			e.Call.Request = e.Call.Request.With(call.Member{Name: "agent_id", Value: call.Text(c.AgentId)})
		}
	}
	j, err := inTime(ctx, func() (judgement, error) { return c.judge(ctx, a, e, gateAt) })
	if err != nil {
		complain(std.err, err)
		return c.answered(std, a, e, logged{decision: undecided(err), err: err}), nil
	}
	j.Recorded = c.Log != ""
	d, approved := c.decision(person, std, e, j)
	return c.answered(std, a, e, logged{decision: d, of: j.Result, approved: approved}), nil
}

// A judgement is the result of judging a call, before a person is asked, and how one would be asked.
type judgement struct {
	*gate.Result
	askMode string
}

// inTime runs work that may hang or panic.
func inTime[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		of  T
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r = result{err: aboutCall{fmt.Errorf("a bug in policyscan, please report it: %v\n%s", p, debug.Stack())}}
			}
			done <- r
		}()
		r.of, r.err = work()
	}()
	select {
	case r := <-done:
		if ctx.Err() == nil {
			return r.of, r.err
		}
	case <-ctx.Done():
	}
	var none T
	return none, context.Cause(ctx)
}

// judge judges the call by the gates of the roots of the agent's project, and of other repositories.
func (c *agentHookCmd) judge(
	ctx context.Context, a *protocol.Agent, e *protocol.Event, gateAt func(scope.Place) (*gate.Gate, error),
) (judgement, error) {
	places, err := c.places(a, e)
	if err != nil {
		return judgement{}, err
	}
	var project gate.Project
	for i, at := range places {
		g, err := gateAt(at)
		if err != nil {
			return judgement{}, err
		}
		if g, err = c.withGuards(a.Name, g, at, projectFolders(a, e)); err != nil {
			return judgement{}, err
		}
		if i == 0 && c.Log != "" && !c.AllowRuleEdits {
			name, err := c.logFile(a, e)
			if err != nil {
				return judgement{}, err
			}
			g.Guarded = append(g.Guarded, name)
		}
		g.Sets = c.files().Respelled(g.Sets, at.Root, append(e.Roots, projectDir(a), e.Call.Dir))
		project.Gates = append(project.Gates, g)
	}
	if !slices.Contains((&policyFlag{c.Policy}).flags(), noPolicy) {
		project.Other = func(root string, within bool) (*gate.Gate, error) { return c.otherGate(a.Name, root, within) }
	}
	r, err := project.Judge(ctx, e.Call, callrules.Options{Clock: time.Now, Trace: c.Log != ""})
	if err != nil {
		return judgement{}, aboutCall{err}
	}
	mode, err := c.applySafety(a, e, r, places[0])
	return judgement{r, cmp.Or(c.AskMode, mode, string(sigmashake.Agent))}, err
}

// otherGate returns the gate of another repository. It is loaded for each call: few calls edit files there, and an
// older bundle must not stay in force if that repository's bundle becomes invalid.
func (c *agentHookCmd) otherGate(agent, root string, within bool) (*gate.Gate, error) {
	at := scope.At(root)
	g, err := otherGate(at)
	switch {
	case err != nil:
		return nil, err
	case g == nil && within: // the project's gate guards what is in its root
		return nil, nil
	case g == nil:
		g = &gate.Gate{Root: root}
	}
	return c.withGuards(agent, g, at, nil)
}

// decision maps a judgement to the answer. approved is what a person at the terminal said, if one was asked.
func (c *agentHookCmd) decision(
	person context.Context, std streams, e *protocol.Event, j judgement,
) (d protocol.Decision, approved *bool) {
	out := j.Outcome()
	switch {
	case out.Effect.Rank() == 2:
		return protocol.Decision{Permission: protocol.Deny, Reason: "policyscan: " + j.Reason()}, nil
	case out.Effect == callrules.Ask && j.askMode == string(sigmashake.Agent):
		return protocol.Decision{Permission: protocol.Ask, Reason: "policyscan: " + j.Reason()}, nil
	case out.Effect == callrules.Ask:
		return askedAtTerminal(person, std, e, j, c.SendAllow)
	case c.SendAllow && out.Explicit():
		return protocol.Decision{Permission: protocol.Allow, Reason: j.Allowed(), Note: j.Note()}, nil
	}
	return protocol.Decision{Note: j.Note()}, nil
}

// askedAtTerminal asks the person at the terminal about a call. A yes is passed on with sendAllow; without it the call
// is left to the agent.
func askedAtTerminal(
	ctx context.Context, std streams, e *protocol.Event, j judgement, sendAllow bool,
) (protocol.Decision, *bool) {
	question := ask.Question{Call: e.Call, Reason: j.Reason(), Safe: safe}
	approved, err := question.Person(ctx)
	switch {
	case err != nil:
		complain(std.err, err)
		return protocol.Decision{Permission: protocol.Deny, Reason: fmt.Sprintf("policyscan: %s\n%v", j.Reason(), err)}, nil
	case !approved:
		reason := "policyscan: the person at the terminal did not approve: " + j.Reason()
		return protocol.Decision{Permission: protocol.Deny, Reason: reason}, &approved
	case sendAllow:
		reason := "policyscan: a person at the terminal approved it: " + j.Reason()
		return protocol.Decision{Permission: protocol.Allow, Reason: reason, Note: j.Note()}, &approved
	}
	return protocol.Decision{Note: j.Note()}, &approved
}

// places returns the folders whose bundles judge what the agent writes.
func (c *agentHookCmd) places(a *protocol.Agent, e *protocol.Event) ([]scope.Place, error) {
	roots := e.Roots
	switch dir := projectDir(a); {
	case c.Root != "":
		at, err := rootAt(c.Root)
		return []scope.Place{at}, err
	case dir != "":
		roots = append([]string{dir}, roots...)
	case len(roots) == 0 && e.Call.Dir != "":
		roots = []string{e.Call.Dir}
	case len(roots) == 0:
		at, err := scope.Find("")
		return []scope.Place{at}, err
	}
	var places []scope.Place
	for _, dir := range roots {
		real, err := disk.Real(dir)
		if err != nil {
			return nil, fmt.Errorf("the agent's project folder %s cannot be found: %w", quoted(dir), disk.Cause(err))
		}
		root, err := repo.Root(real)
		if err != nil {
			return nil, err
		}
		at := scope.At(root)
		if !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	return places, nil
}

// noPolicy is the --policy of a hook that does not check edits.
const noPolicy = "none"

// gate loads the bundle and the call rules. Relative names count from the root, since agents run their hooks in any
// folder of the project.
func (c *agentHookCmd) gate(at scope.Place) (*gate.Gate, error) {
	sets, err := c.files().Load(at.Root)
	if err != nil {
		return nil, err
	}
	g := &gate.Gate{}
	flags := (&policyFlag{c.Policy}).flags()
	switch {
	case !slices.Contains(flags, noPolicy):
		for i, flag := range flags {
			if flag != "" && flag != scope.Builtin {
				flags[i] = disk.Under(at.Root, flag)
			}
		}
		g, err = bundleGate(flags, at)
		var none *rules.Error
		if len(c.Policy) == 0 && len(c.Calls) > 0 && errors.As(err, &none) &&
			none.Code == rules.CodeMissing && none.File == "" {
			advised := *none
			advised.Fix += "; to check with the call rules alone, add --policy none"
			err = &advised
		}
	case len(flags) > 1:
		err = errors.New("--policy is none, and another --policy names a bundle; remove one of them")
	case len(c.Calls) == 0:
		err = errors.New("--policy is none, and there are no call rules; name some with --calls")
	}
	if err != nil {
		return nil, err
	}
	g.Sets = sets
	files, err := c.files().Places(at.Root)
	g.Guarded = append(g.Guarded, files...)
	return g, err
}
