package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/session"
	"github.com/policyscan/policyscan/scanner/scope"
)

// breakerEnv switches the circuit breaker on, if it is 1.
const breakerEnv = "SSG_HOOK_CIRCUIT_BREAKER"

// applySafety applies sigmashake's loop guard and circuit breaker to a result, and returns how its rules ask, if one of
// them does. It does nothing if none of its rules judged the call.
func (c *agentHookCmd) applySafety(
	a *protocol.Agent, e *protocol.Event, r *gate.Result, at scope.Place,
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
		if o.Effect == callrules.Ask && o.Set.Dialect == sigmashake.Dialect {
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
func (c *agentHookCmd) sigmashake(at scope.Place) (sigmashake.Config, error) {
	config, _, err := sigmashake.LoadConfig(at.Root, sigmashake.ConfigFile)
	if err == nil && c.AskMode == "" {
		err = ask.CheckConfig(config, sigmashake.ConfigFile)
	}
	return config, err
}
