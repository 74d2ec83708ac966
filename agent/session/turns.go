package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
)

const (
	maxTurns   = 4 << 20 // bytes of the file
	maxKeys    = 20000   // violations of a start
	maxAgents  = 200     // subagents of a session
	maxInARow  = 8       // times in a row for any: Claude Code and Copilot end the turn then, other agents never
	hashLength = 2 * sha256.Size
)

// MaxSame is how many times in a row an agent is sent back for one set of violations.
const MaxSame = 3

// Turns are what is known of a session when one of its turns ends. Violations are hashes, never their text.
type Turns struct {
	start     map[string]int64 // the violations that were there when the session began: how many of each
	agents    map[string]loop  // by the subagent's id, hashed; "" is the main agent's
	undecided string           // the hash of what could not be decided, as it was said last
}

// A loop is how often an agent was sent back.
type loop struct {
	Set   string `json:"set"`    // the hash of the violations
	Same  int    `json:"same"`   // in a row for this set
	InRow int    `json:"in_row"` // in a row for any
}

// Start remembers the violations that a session began with, by any keys. Too many are not remembered.
func (t *Turns) Start(counts map[string]int64) {
	if len(counts) > maxKeys {
		return
	}
	t.start = map[string]int64{}
	for key, n := range counts {
		t.start[hash(key)] = n
	}
}

// Started returns how many violations of a key the session began with.
func (t *Turns) Started(key string) int64 { return t.start[hash(key)] }

// SendBack records that an agent would end its turn with some violations, and reports whether it is to be sent back
// for them, and for the how manieth time in a row.
func (t *Turns) SendBack(agent string, keys []string) (nth int, is bool) {
	id := ""
	if agent != "" {
		id = hash(agent)
	}
	if len(keys) == 0 {
		delete(t.agents, id)
		return 0, false
	}
	l, known := t.agents[id]
	if !known && id != "" && len(t.agents) >= maxAgents {
		return 0, false
	}
	if t.agents == nil {
		t.agents = map[string]loop{}
	}
	if set := hashAll(keys); set != l.Set {
		l.Set, l.Same = set, 0
	}
	is = l.Same < MaxSame && l.InRow < maxInARow
	if is {
		l.Same, l.InRow = l.Same+1, l.InRow+1
	} else {
		l.InRow = 0
	}
	t.agents[id] = l
	return l.Same, is
}

// SayUndecided reports whether something undecided is to be said: it was not said last time.
func (t *Turns) SayUndecided(messages []string) bool {
	is := ""
	if len(messages) > 0 {
		is = hashAll(messages)
	}
	changed := is != t.undecided
	t.undecided = is
	return changed && is != ""
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func hashAll(texts []string) string {
	var all []string
	for _, text := range texts {
		all = append(all, hash(text))
	}
	slices.Sort(all)
	text, err := json.Marshal(all)
	if err != nil { // strings: it cannot be
		panic(err)
	}
	return hash(string(text))
}

// turnsForm is the file.
type turnsForm struct {
	Version   int              `json:"version"`
	Start     map[string]int64 `json:"start"`
	Agents    map[string]loop  `json:"agents"`
	Undecided string           `json:"undecided"`
}

func (t *Turns) text() ([]byte, error) {
	return json.Marshal(turnsForm{1, t.start, t.agents, t.undecided})
}

// parse reads a file; it accepts only what text writes.
func (t *Turns) parse(text []byte) error {
	damaged := errors.New("it is damaged, or from another version of policyscan")
	var form turnsForm
	if json.Unmarshal(text, &form) != nil || form.Version != 1 {
		return damaged
	}
	*t = Turns{form.Start, form.Agents, form.Undecided}
	if again, err := t.text(); err != nil || string(again) != string(text) {
		return damaged
	}
	for _, l := range form.Agents {
		if len(l.Set) != hashLength || min(l.Same, l.InRow) < 0 {
			return damaged
		}
	}
	for key, n := range form.Start {
		if len(key) != hashLength || n < 1 {
			return damaged
		}
	}
	return nil
}
