// Package session keeps, between the tool calls of an agent, the state for the loop guard and the circuit breaker of
// sigmashake's document, and what the end of a turn needs.
//
// The loop guard "detects when the same Bash command is repeated 3+ times consecutively and blocks it"; the circuit
// breaker, where a team has switched it on, lets the next call through "after 5 consecutive deny decisions". Each
// call starts a new process for the hook, so the state is in a file for each session: the hash of a command, never
// the command, and two numbers.
//
// [Turns] are what the hook at the end of a turn remembers: which violations a session began with, and how often the
// agent was sent back.
//
// A [State] and Turns are pure. A [Dir] keeps them; if it cannot read one, or cannot lock it within four seconds, that
// is an error, and before a call its caller denies.
//
// # Limits
//
// Any command that runs as the same user can change the files. The loop guard is not a security boundary, and with
// the circuit breaker on no rule is one either: the document has the breaker to keep an agent from being locked out.
package session

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/policyscan/policyscan/agent/call"
)

const (
	loopLength    = 3 // this call of a command in a row is blocked, and each after it
	breakerLength = 5 // so many denials in a row open the breaker
)

// A State is the history of a session. The zero State begins one.
type State struct {
	command string // the SHA-256, in hex, of the command that ran last; "" if the last call ran none
	times   int    // in a row
	denials int    // in a row
}

// Repeats records a call, before it is checked, and reports whether the loop guard blocks it: it is at least the
// third of the same Bash command in a row, byte by byte. Any other call resets the count, and a blocked call counts.
func (s *State) Repeats(c *call.Call) bool {
	command := c.Input.Member("command")
	if call.Known(c.Tool).Same != "Bash" || command.Kind() != call.String {
		s.command, s.times = "", 0
		return false
	}
	sum := sha256.Sum256([]byte(command.Str()))
	if hash := hex.EncodeToString(sum[:]); hash != s.command {
		s.command, s.times = hash, 0
	}
	s.times = min(s.times+1, loopLength)
	return s.times == loopLength
}

// Judged records the decision on a call, the loop guard's block included. It reports whether the circuit breaker lets
// a denied call through: breaker is on, and the five calls before were denied. A call that was not denied, or was let
// through, resets the count.
func (s *State) Judged(denied, breaker bool) (through bool) {
	switch {
	case !denied:
		s.denials = 0
	case breaker && s.denials >= breakerLength:
		s.denials = 0
		return true
	default:
		s.denials = min(s.denials+1, breakerLength)
	}
	return false
}
