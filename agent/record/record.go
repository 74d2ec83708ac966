// Package record writes down what an agent's hook decided: a line of JSON for each decision, appended whole to a file.
//
// An [Entry] says what is known of a decision. [Entry.Line] is pure, and writes no text of the call's input unless it
// is asked to: each is replaced by its length and its SHA-256. [Append] adds a line to the end of a file that others
// rotate, or says why it cannot: the hook then denies the call.
//
// # Limits
//
// The hash of a short or guessable text gives the text away. Names of members, numbers and booleans of an
// input are written as they are, and so are the tool's name, the ids and the working folder, which the agent sets.
// When Append returns, the line is written but not forced onto the disk, since that takes longer than the
// whole check, and a machine that loses its power can lose the last lines.
package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

const (
	maxText  = 4 << 10   // bytes of one text that are written
	maxInput = 256 << 10 // bytes of an input as it is written
)

// An Entry is what is known of one decision.
type Entry struct {
	Time     time.Time
	Version  string // of the program
	Agent    string // as the command line has it
	AgentID  string
	Session  string
	Event    string
	Tool     string
	Dir      string
	Answer   string // what the agent is told: "none" for no opinion, "allow", "ask" or "deny"
	Approved *bool  // what a person at the terminal said; nil, if none was asked or none said anything

	// Outcome is what was decided, with the reason that is written; of a call that could not be checked it is a deny.
	Outcome    callrules.Form
	Violations []Violation
	Allowed    []Allowed
	Input      *call.Value // nil if there is none, or it could not be read
}

// A Violation is one of a bundle's rules that the call would bring.
type Violation struct {
	Rule        string  `json:"rule"`
	Kind        string  `json:"kind"` // of its evidence, as in a verdict
	Pattern     string  `json:"pattern"`
	File        *string `json:"file"` // nil without the call's texts
	Line        int64   `json:"line"`
	Column      int64   `json:"column"`
	Occurrences int64   `json:"occurrences"`
}

// An Allowed is a violation that the call would bring or leave, and that an allowance lets be.
type Allowed struct {
	Violation
	AtMost int    `json:"at_most"` // occurrences of the rule in the file
	Owner  string `json:"owner"`   // of the allowance
}

// entryForm is an entry in JSON. docs/agents.md says what the members are.
type entryForm struct {
	Time     string  `json:"time"`
	Version  string  `json:"version"`
	Agent    string  `json:"agent"`
	AgentID  *string `json:"agent_id"`
	Session  *string `json:"session"`
	Event    *string `json:"event"`
	Tool     *string `json:"tool"`
	Dir      *string `json:"cwd"`
	Answer   string  `json:"answer"`
	Approved *bool   `json:"approved"`
	callrules.Form
	Violations []Violation     `json:"violations"`
	Allowed    []Allowed       `json:"allowed_violations"`
	Input      json.RawMessage `json:"input"`
}

// Line writes the entry as one line of JSON, with a line feed. With texts, those of the input are written, at most 4
// KiB of each. Characters that a terminal acts on or that do not show are escaped.
func (e *Entry) Line(texts bool) ([]byte, error) {
	f := entryForm{
		Time: e.Time.UTC().Format(time.RFC3339Nano), Version: e.Version, Agent: e.Agent,
		AgentID: known(e.AgentID), Session: known(e.Session), Event: known(e.Event),
		Tool: known(e.Tool), Dir: known(e.Dir),
		Answer: e.Answer, Approved: e.Approved, Form: e.Outcome, Violations: e.Violations,
		Allowed: e.Allowed, Input: inputOf(e.Input, texts),
	}
	if f.Violations == nil {
		f.Violations = []Violation{}
	}
	if f.Allowed == nil {
		f.Allowed = []Allowed{}
	}
	if f.Trace == nil {
		f.Trace = []callrules.TraceForm{}
	}
	if f.Reason != nil {
		f.Reason = known(*f.Reason)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(traced{f, f.Trace})
	return escaped(b.Bytes()), err
}

// traced writes a trace that is empty, too: a line has the same members whatever was decided.
type traced struct {
	entryForm
	Trace []callrules.TraceForm `json:"trace"`
}

// known is a text, cut if it is too long; nil if it is empty.
func known(s string) *string {
	if s == "" {
		return nil
	}
	if begin := cut(s); begin != s {
		s = begin + " … (cut)"
	}
	return &s
}

// cut is the beginning of a text that is written, which ends with a character.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	at := maxText
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at]
}

// A textForm is a text of an input.
type textForm struct {
	Text  *string `json:"text,omitempty"` // its beginning; nil without texts
	Bytes int     `json:"bytes"`
	Hash  string  `json:"sha256"`
}

func form(s string) textForm {
	sum := sha256.Sum256([]byte(s))
	return textForm{Bytes: len(s), Hash: hex.EncodeToString(sum[:])}
}

// inputOf is an input as it is written. One that would be too long is the length and the hash of its JSON: an agent
// must not be able to fill the disk with one call.
func inputOf(v *call.Value, texts bool) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	w := inputWriter{texts: texts}
	w.value(v)
	if w.full() {
		return marshal(form(v.JSON()))
	}
	return w.b
}

// An inputWriter writes an input until there is too much of it.
type inputWriter struct {
	texts bool
	b     []byte
}

func (w *inputWriter) full() bool { return len(w.b) > maxInput }

func (w *inputWriter) value(v *call.Value) {
	if w.full() {
		return
	}
	switch v.Kind() {
	case call.String:
		w.b = append(w.b, w.text(v.Str())...)
	case call.List:
		w.b = append(w.b, '[')
		for i, item := range v.Items() {
			if i > 0 {
				w.b = append(w.b, ',')
			}
			if w.value(item); w.full() {
				return
			}
		}
		w.b = append(w.b, ']')
	case call.Object:
		w.b = append(w.b, '{')
		for i, m := range v.Members() {
			if i > 0 {
				w.b = append(w.b, ',')
			}
			w.b = append(append(w.b, marshal(m.Name)...), ':')
			if w.value(m.Value); w.full() {
				return
			}
		}
		w.b = append(w.b, '}')
	default:
		w.b = append(w.b, v.JSON()...)
	}
}

// text is a text of the input.
func (w *inputWriter) text(s string) []byte {
	f := form(s)
	if w.texts {
		begin := cut(s)
		if begin == s {
			return marshal(s)
		}
		f.Text = &begin
	}
	return marshal(f)
}

// marshal is the JSON of a text or a form.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // texts and numbers: it cannot be
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// escaped escapes in a line of JSON each character that does not show, which can only be in one of its texts.
func escaped(line []byte) []byte {
	shows := func(r rune) bool { return r == '\n' || unicode.IsPrint(r) }
	if bytes.IndexFunc(line, func(r rune) bool { return !shows(r) }) < 0 {
		return line
	}
	out := make([]byte, 0, len(line)+64)
	for _, r := range string(line) {
		switch hi, lo := utf16.EncodeRune(r); {
		case shows(r):
			out = utf8.AppendRune(out, r)
		case hi != unicode.ReplacementChar:
			out = fmt.Appendf(out, "\\u%04x\\u%04x", hi, lo)
		default:
			out = fmt.Appendf(out, "\\u%04x", r)
		}
	}
	return out
}
