package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/session"
	"github.com/policyscan/policyscan/rules"
)

// sigmashakeConfig is the file, from the root, that sets how sigmashake's rules ask and whether its circuit breaker is
// on.
const sigmashakeConfig = ".sigmashake/config.toml"

// breakerEnv switches the circuit breaker on, if it is 1.
const breakerEnv = "SSG_HOOK_CIRCUIT_BREAKER"

// applySafety applies sigmashake's loop guard and circuit breaker to a result, and returns how its rules ask, if one of
// them does. It does nothing if none of its rules judged the call.
func (c *agentHookCmd) applySafety(
	a *protocol.Agent, e *protocol.Event, r *gate.Result, at place,
) (mode string, err error) {
	if !r.Remembers() {
		return "", nil
	}
	config, err := c.sigmashake(at)
	if err != nil {
		return "", err
	}
	dir, err := c.stateDir()
	if err != nil {
		return "", err
	}
	folder, err := session.Open(dir)
	if err != nil {
		return "", err
	}
	if !duplicateEvent(a, e) {
		breaker := config.CircuitBreaker || os.Getenv(breakerEnv) == "1"
		err = r.Remember(folder, a.Name+" "+e.Session, e.Call, breaker, time.Now())
	}
	for _, o := range r.Outcomes {
		if o.Effect == callrules.Ask && o.Set.Dialect == "sigmashake" {
			mode = string(config.AskMode)
		}
	}
	return mode, errors.Join(err, folder.Close())
}

// stateDir returns the folder of what is remembered about sessions.
func (c *agentHookCmd) stateDir() (string, error) {
	if c.State != "" {
		return filepath.Abs(c.State)
	}
	return session.DefaultDir(os.Getenv)
}

// duplicateEvent reports whether the agent also reports the call by another event, which is the one that counts: Cursor
// has an event for each kind of tool in addition to the one for all tools.
func duplicateEvent(a *protocol.Agent, e *protocol.Event) bool {
	return a.Name == "cursor" && e.Name != "preToolUse"
}

// sigmashake reads sigmashake's settings for the hook.
func (c *agentHookCmd) sigmashake(at place) (sigmashake.Config, error) {
	config, err := readSigmashake(at, sigmashakeConfig)
	if err == nil && c.AskMode == "" {
		err = usableAskMode(config, sigmashakeConfig)
	}
	return config, err
}

// usableAskMode returns an error if policyscan cannot ask as the settings say.
func usableAskMode(config sigmashake.Config, shown string) error {
	if err := ask.CheckMode(string(config.AskMode)); err != nil {
		return fmt.Errorf("%s: %w", safe(shown), err)
	}
	return nil
}

func isSigmashake(s *callrules.Set) bool { return s.Dialect == "sigmashake" }

// validateSigmashake checks the settings that the hook reads if there are rules of sigmashake: those in the root of the
// repository around the current folder.
func validateSigmashake(std streams) error {
	at, err := findPlace("")
	if err != nil {
		return err
	}
	shown := at.prefix + sigmashakeConfig
	if _, err := os.Lstat(filepath.Join(at.root, filepath.FromSlash(sigmashakeConfig))); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	config, err := readSigmashake(at, shown)
	var list rules.Errors
	if errors.As(err, &list) {
		return mistaken(std, shown, list)
	}
	if err == nil {
		err = usableAskMode(config, shown)
	}
	if err != nil {
		return err
	}
	breaker := "off"
	if config.CircuitBreaker {
		breaker = "on"
	}
	return print(std.out, "%s: valid: ask_mode %s; the circuit breaker is %s\n", safe(shown), config.AskMode, breaker)
}

// readSigmashake reads sigmashake's settings. Messages call the file shown. Without the file, it returns the defaults.
func readSigmashake(at place, shown string) (sigmashake.Config, error) {
	name := filepath.Join(at.root, filepath.FromSlash(sigmashakeConfig))
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return sigmashake.Config{AskMode: sigmashake.TTY}, nil
	}
	src, err := rules.ReadSource(name, shown)
	if err != nil {
		return sigmashake.Config{}, err
	}
	return sigmashake.ReadConfig(src)
}
