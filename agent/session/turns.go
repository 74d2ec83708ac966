package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

const (
	maxTurns  = 4 << 20 // bytes of the file
	maxKeys   = 20000   // violations of a start
	maxAgents = 200     // subagents of a session
	maxInARow = 8       // times in a row for any: Claude Code and Copilot end the turn then, other agents never
)

// MaxSame is how many times in a row an agent is sent back for one set of violations.
const MaxSame = 3

// Turns are what is known of a session when one of its turns ends. Violations are hashes, never their text.
type Turns struct {
	// Before has the violations that were there when the session began, by hash: how many of each.
	Before    map[string]int64 `json:"before"`
	Loops     map[string]loop  `json:"loops"`     // by the subagent's id, hashed; "" is the main agent's
	Undecided string           `json:"undecided"` // the hash of what could not be decided, as it was said last
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
	t.Before = map[string]int64{}
	for key, n := range counts {
		t.Before[hash(key)] = n
	}
}

// Started returns how many violations of a key the session began with.
func (t *Turns) Started(key string) int64 { return t.Before[hash(key)] }

// SendBack records that an agent would end its turn with some violations, and reports whether it is to be sent back
// for them, and how many times in a row it has been, with this one.
func (t *Turns) SendBack(agent string, keys []string) (nth int, is bool) {
	id := ""
	if agent != "" {
		id = hash(agent)
	}
	if len(keys) == 0 {
		delete(t.Loops, id)
		return 0, false
	}
	l, known := t.Loops[id]
	if !known && id != "" && len(t.Loops) >= maxAgents {
		return 0, false
	}
	if t.Loops == nil {
		t.Loops = map[string]loop{}
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
	t.Loops[id] = l
	return l.Same, is
}

// SayUndecided reports whether something undecided is to be said: it was not said last time.
func (t *Turns) SayUndecided(messages []string) bool {
	is := ""
	if len(messages) > 0 {
		is = hashAll(messages)
	}
	changed := is != t.Undecided
	t.Undecided = is
	return changed && is != ""
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func hashAll(texts []string) string {
	all := slices.Sorted(slices.Values(texts))
	text, err := json.Marshal(all)
	if err != nil { // strings: it cannot be
		panic(err)
	}
	return hash(string(text))
}

func (t *Turns) text() ([]byte, error) { return json.Marshal(t) }

// parse reads a file; it accepts only what text writes.
func (t *Turns) parse(text []byte) error {
	err := json.Unmarshal(text, t)
	again, failed := t.text()
	if err != nil || failed != nil || string(again) != string(text) {
		return errDamaged()
	}
	return nil
}
