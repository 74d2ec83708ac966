package hook

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/private"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/session"
)

// applySafety applies sigmashake's loop guard and circuit breaker to a result, and returns how its rules ask, if one
// does. It does nothing if none of its rules checked the call.
func (h *Hook) applySafety(e *protocol.Event, r *gate.Result, root string) (mode ask.Mode, err error) {
	if !r.Remembers() {
		return "", nil
	}
	config, _, err := sigmashake.LoadConfig(root, sigmashake.ConfigFile)
	if err != nil {
		return "", err
	}
	dir, err := h.stateDir()
	if err != nil {
		return "", err
	}
	sessions, err := session.Open(dir)
	if err != nil {
		return "", err
	}
	// Cursor has an event for each kind of tool in addition to the one for all tools, which counts.
	if h.Agent.Name != "cursor" || e.Name == "preToolUse" {
		breaker := config.CircuitBreaker || h.Around.Getenv("SSG_HOOK_CIRCUIT_BREAKER") == "1"
		err = r.Remember(sessions, h.settingsOf+h.Agent.Name+" "+e.Session, e.Call, breaker, time.Now())
	}
	for _, o := range r.Outcomes {
		if o.Effect == callrules.Ask && o.Set.Dialect == sigmashake.Dialect {
			mode = config.AskMode
		}
	}
	return mode, errors.Join(err, sessions.Close())
}

func (h *Hook) stateDir() (string, error) {
	if h.State != "" {
		return filepath.Abs(h.State)
	}
	return private.DefaultDir("sessions", h.Around.Getenv)
}
