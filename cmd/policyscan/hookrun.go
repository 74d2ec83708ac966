package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/hook"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict/output"
)

// agentHookCmd checks an agent's call before it runs. Its name is the agent's.
type agentHookCmd struct {
	callsFlag      `embed:""`
	Policy         []string `placeholder:"DIR" sep:"none" help:"@hook_policy"`
	pinFlag        `embed:""`
	Root           string        `placeholder:"DIR" help:"@hook_root"`
	SendAllow      bool          `help:"@hook_send_allow"`
	AllowRuleEdits bool          `help:"@hook_allow_rule_edits"`
	AskMode        string        `placeholder:"MODE" aliases:"ask_mode" help:"@hook_ask_mode"`
	AskDir         string        `placeholder:"DIR" help:"@hook_ask_dir"`
	AgentId        string        `placeholder:"ID" help:"The agent's id, if its hook does not give one."`
	State          string        `placeholder:"DIR" help:"@hook_state"`
	Timeout        time.Duration `placeholder:"D" default:"8s" env:"-" help:"@hook_timeout"`
	Log            string        `placeholder:"FILE" help:"@hook_log"`
	LogInput       bool          `help:"@hook_log_input"`
	Serve          bool          `env:"-" help:"@hook_serve"`

	pinned run.Pins // by check
}

// hook returns the hook for the flags, after check.
func (c *agentHookCmd) hook(std streams, a *protocol.Agent) *hook.Hook {
	return &hook.Hook{
		Agent: a, AgentID: c.AgentId,
		Calls: c.files(), Policy: eachLine(c.Policy), Pins: c.pinned, Root: c.Root,
		SendAllow: c.SendAllow, AllowRuleEdits: c.AllowRuleEdits, AskMode: ask.Mode(c.AskMode),
		AskDir: c.AskDir, Timeout: c.Timeout, State: c.State, Log: c.Log, LogInput: c.LogInput,
		Version: version(), Around: hookContext(), Safe: safe,
		Warn: func(err error) { printErrors(std.err, err) },
	}
}

// check returns an error if the flags do not fit together, so that the hook would deny every call.
func (c *agentHookCmd) check() error {
	switch {
	case c.Timeout <= 0:
		return fmt.Errorf("--timeout %s is not above 0; set a time after which a call is denied, such as 8s", c.Timeout)
	case c.LogInput && c.Log == "":
		return errors.New("--log-input is given without --log; name the file to write")
	case c.Log == "-":
		return errors.New("--log is -, but standard output is for the answer; name a file, such as ./-")
	}
	names := eachLine(c.Policy)
	bundles := max(len(names), 1) // the one in the root
	if slices.Contains(names, hook.NoPolicy) {
		bundles = 0
	}
	var err error
	if c.pinned, err = c.pins(bundles); err != nil {
		return err
	}
	return ask.CheckMode(ask.Mode(c.AskMode))
}

// Run answers one call, or with --serve all calls.
func (c *agentHookCmd) Run(std streams, k *kong.Context) error {
	return c.run(std, protocol.Named(k.Selected().Name))
}

func (c *agentHookCmd) run(std streams, a *protocol.Agent) error {
	if err := c.check(); err != nil {
		return err
	}
	h := c.hook(std, a)
	if c.Serve {
		return h.Serve(std.in, std.out)
	}
	ctx, _, stop := interruptible(0)
	defer stop()
	return h.Once(ctx, std.call(), std.out)
}

// hookStopCmd answers an agent at the beginning of a session or the end of a turn.
type hookStopCmd struct {
	Agent string   `arg:"" help:"The agent, such as claude-code."`
	Flags []string `arg:"" optional:"" passthrough:"" help:"The flags of policyscan hook AGENT."`
}

// Run answers one event. Copilot shows its user what a hook writes to standard error if its status is 2, and goes on.
func (c *hookStopCmd) Run(std streams) error {
	a := protocol.Named(c.Agent)
	if a == nil {
		return unknownAgent(c.Agent)
	}
	flags, err := parseHook(c.Flags, checkEnvironment)
	switch {
	case err != nil:
		return withHelpHint(err, "hook stop")
	case flags.Serve:
		return errors.New("--serve is for calls; remove it")
	}
	if err := flags.check(); err != nil {
		return err
	}
	ctx, _, stop := interruptible(0)
	defer stop()
	untold, err := flags.hook(std, a).Turn(ctx, std.call(), std.out)
	if untold != "" {
		for line := range strings.SplitSeq(untold, "\n") {
			_, _ = fmt.Fprintln(std.err, safe(line)) // there is no other place for it
		}
		if err == nil && a.Name == "copilot" {
			return exitError{status: exitUndecided}
		}
	}
	return err
}

func unknownAgent(name string) error {
	return fmt.Errorf("%s is no agent that policyscan knows; see policyscan hook --help", quoted(name))
}

// call is the input with the agent's call, or nil.
func (std streams) call() io.Reader {
	if isEmptyInput(std.in) {
		return nil
	}
	return std.in
}

// runAsHook runs the program as the hook of an agent: every failure becomes an answer that denies the call, because
// most agents make the call if their hook fails.
func runAsHook(a *protocol.Agent, args []string, std streams) int {
	debug.SetGCPercent(400) // the process ends before garbage collection pays off
	if output.IsNullDevice(std.out) {
		err := errors.New("standard output is closed or the null device; the call is denied")
		if c := onlyHook(a, args); c != nil && c.check() == nil {
			err = c.hook(std, a).Unanswered(context.Background(), std.call(), err)
		}
		printErrors(std.err, err)
		return exitUndecided
	}
	var said, help bytes.Buffer
	out := &counter{to: std.out}
	inner := streams{in: std.in, out: out, err: io.MultiWriter(&said, std.err)}
	helped := true // unless the program ends in another way
	status := recovering(inner, func() (status int) {
		if c := onlyHook(a, args); c != nil {
			status = finish(inner, c.run(inner, a))
		} else {
			status = dispatch(args, inner, &help)
		}
		helped = false
		return status
	})
	switch {
	case status == exitPass && helped && hasCall(std.in): // the agent would take the help as the answer
		printErrors(inner.err, errors.New("the hook was run for its help, with a call to check; remove that flag"))
	case status == exitPass && helped:
		return finish(std, print(std.out, "%s", &help))
	case status == exitPass:
		return exitPass
	case out.wrote.Load():
		printErrors(std.err, errors.New("the answer could not be written completely, so the call is denied"))
		return exitUndecided
	}
	reason := strings.TrimSpace(strings.ReplaceAll("\n"+said.String(), "\npolicyscan: ", "\n"))
	if reason == "" {
		reason = fmt.Sprintf("the hook ended with status %d", status)
	}
	if _, err := std.out.Write(hook.Denial(a, errors.New(reason))); err != nil {
		printErrors(std.err, fmt.Errorf("the call is denied, and the answer cannot be written: %w", disk.Cause(err)))
		return exitUndecided
	}
	return exitPass
}

// onlyHook returns the hook's command, parsed with a model of this command alone: the model of all commands takes as
// long as a decision. It returns nil for unusual arguments; the full parser then explains them.
func onlyHook(a *protocol.Agent, args []string) *agentHookCmd {
	if args[1] != a.Name {
		return nil
	}
	c, err := parseHook(args[2:], checkEnvironment)
	if err != nil {
		return nil
	}
	return c
}

// parseHook parses the arguments of an agent's hook. A call for help or for the version is an error.
func parseHook(args []string, check func(*kong.Kong) error) (*agentHookCmd, error) {
	var model struct {
		Hook agentHookCmd `cmd:""`
	}
	parser, err := quickParser(&model, streams{out: io.Discard, err: io.Discard})
	if err == nil {
		err = check(parser)
	}
	if err == nil {
		_, err = parse(parser, append([]string{"hook"}, args...))
	}
	return &model.Hook, err
}

// hasCall reports whether standard input has, or may have, content: it does not end within a second.
func hasCall(in io.Reader) bool {
	if isEmptyInput(in) {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	text, err := readAll(ctx, func() (io.Reader, error) { return io.LimitReader(in, 1), nil })
	return err != nil || len(text) > 0
}

type counter struct {
	to    io.Writer
	wrote atomic.Bool // a write that takes too long goes on
}

func (c *counter) Write(p []byte) (int, error) {
	c.wrote.Store(true)
	return c.to.Write(p)
}

// hookedAgent returns the agent whose hook the arguments run for one call; nil otherwise. Arguments that name the
// agent later than first are a usage error, which is also answered in the agent's protocol.
func hookedAgent(args []string) *protocol.Agent {
	if len(args) < 2 || args[0] != "hook" || slices.Contains(args, "--serve") ||
		slices.Contains([]string{"install", "uninstall", "stop", "doctor"}, args[1]) {
		return nil
	}
	for _, arg := range args[1:] {
		if a := protocol.Named(arg); a != nil || arg == "pre-receive" { // git's, whatever its flags are
			return a
		}
	}
	return nil
}
