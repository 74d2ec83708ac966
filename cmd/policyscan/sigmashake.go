package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/session"
	"github.com/policyscan/policyscan/rules"
)

// sigmashakeConfig is, from the root, the file that sets how sigmashake's rules ask and whether its circuit breaker is
// on.
const sigmashakeConfig = ".sigmashake/config.toml"

// breakerEnv switches the circuit breaker on, if it is 1.
const breakerEnv = "SSG_HOOK_CIRCUIT_BREAKER"

// applySafety makes of a result what sigmashake's safety features make of it, and returns how its rules ask, if one of
// them does. It does nothing if none of its rules judged.
func (c *agentHookCmd) applySafety(a *protocol.Agent, e *protocol.Event, r *gate.Result, at place) (mode string, err error) {
	if !r.Remembers() {
		return "", nil
	}
	config, err := readSigmashake(at)
	if err != nil {
		return "", err
	}
	if c.AskMode == "" {
		if err := checkAskMode(string(config.AskMode)); err != nil {
			return "", fmt.Errorf("%s: %w", sigmashakeConfig, err)
		}
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
		if o.Effect == call.Ask && o.Set.Dialect == "sigmashake" {
			mode = string(config.AskMode)
		}
	}
	return mode, errors.Join(err, folder.Close())
}

// stateDir is the folder of what is remembered of sessions.
func (c *agentHookCmd) stateDir() (string, error) {
	if c.State != "" {
		return filepath.Abs(c.State)
	}
	return session.DefaultDir(os.Getenv)
}

// duplicateEvent reports whether the agent tells of a call by another event, too, which is the one that counts: Cursor has
// an event for each kind of tool beside the one for all.
func duplicateEvent(a *protocol.Agent, e *protocol.Event) bool {
	return a.Name == "cursor" && e.Name != "preToolUse"
}

// readSigmashake reads sigmashake's settings; without the file they are the defaults.
func readSigmashake(at place) (sigmashake.Config, error) {
	name := filepath.Join(at.root, filepath.FromSlash(sigmashakeConfig))
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return sigmashake.Config{AskMode: sigmashake.TTY}, nil
	}
	src, err := rules.ReadSource(name, sigmashakeConfig)
	if err != nil {
		return sigmashake.Config{}, err
	}
	return sigmashake.ReadConfig(src)
}
