// Package record logs the decisions of an agent's hook: a line of JSON for each, appended whole to a file.
//
// An [Entry] describes a decision. [Entry.Line] is pure, and replaces each string of the call's input by its length
// and SHA-256 unless told otherwise. [Append] adds a line to the end of a file that other programs rotate. If it
// fails, the hook denies the call.
//
// # Limits
//
// The hash of a short or guessable string reveals the string. Names of members, numbers and booleans of an input are
// written unchanged, and so are the tool's name, the ids and the working directory, which the agent sets. When Append
// returns, the line is written but not synced, since that takes longer than the whole check: a power failure can lose
// the last lines.
package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

const (
	maxText  = 4 << 10   // bytes of one string that are written
	maxInput = 256 << 10 // bytes of an input as it is written
)

// An Entry is one decision. docs/agents.md describes the members. Long strings are cut, and empty ones are null.
type Entry struct {
	Time     time.Time `json:"time"`
	Version  string    `json:"version"` // of the program
	Agent    string    `json:"agent"`   // its name on the command line
	AgentID  *string   `json:"agent_id"`
	Session  *string   `json:"session"`
	Event    *string   `json:"event"`
	Tool     *string   `json:"tool"`
	Dir      *string   `json:"cwd"`
	Answer   string    `json:"answer"`   // the answer to the agent: "none" for no opinion, "allow", "ask" or "deny"
	Approved *bool     `json:"approved"` // the user's answer at the terminal; nil without one

	// Form is the decision, with its logged reason; a deny for a call that could not be checked.
	callrules.Form
	Violations []Violation `json:"violations"`
	Allowed    []Allowed   `json:"allowed_violations"`
	Input      *call.Value `json:"-"` // nil if it is missing or could not be read
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

// An Allowed is a violation that the call would bring or leave, and that an allowance permits.
type Allowed struct {
	Violation
	AtMost int    `json:"at_most"` // occurrences of the rule in the file
	Owner  string `json:"owner"`   // of the allowance
}

// Line writes the entry as one line of JSON, with a line feed. With texts, the strings of the input are written, at
// most 4 KiB of each. Control characters and invisible ones are escaped.
func (e *Entry) Line(texts bool) []byte {
	// A line has the same members whatever was decided.
	line := struct {
		Entry
		Input json.RawMessage       `json:"input"`
		Trace []callrules.TraceForm `json:"trace"`
	}{*e, inputOf(e.Input, texts), e.Trace}
	line.Time = e.Time.UTC()
	line.Violations = append([]Violation{}, e.Violations...)
	line.Allowed = append([]Allowed{}, e.Allowed...)
	line.Trace = append([]callrules.TraceForm{}, e.Trace...)
	for _, text := range []**string{&line.AgentID, &line.Session, &line.Event, &line.Tool, &line.Dir, &line.Reason} {
		*text = shortened(*text)
	}
	return escaped(append(marshal(line), '\n'))
}

// shortened is a string, cut if it is too long; nil if it is empty.
func shortened(s *string) *string {
	if s == nil || *s == "" {
		return nil
	}
	if begin := cut(*s); begin != *s {
		begin += " … (cut)"
		return &begin
	}
	return s
}

// cut is the beginning of a text that is written, which ends with a character.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "")
}

// A textForm is a string of an input.
type textForm struct {
	Text  *string `json:"text,omitempty"` // its beginning; nil without texts
	Bytes int     `json:"bytes"`
	Hash  string  `json:"sha256"`
}

func form(s string) textForm {
	sum := sha256.Sum256([]byte(s))
	return textForm{Bytes: len(s), Hash: hex.EncodeToString(sum[:])}
}

// inputOf is an input as it is logged. A long one is the length and the hash of its JSON: an agent must not be able
// to fill the disk with one call.
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

// An inputWriter writes an input up to a limit.
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
		f, begin := form(v.Str()), cut(v.Str())
		if w.texts {
			f.Text = &begin
		}
		if w.texts && begin == v.Str() {
			w.b = append(w.b, marshal(begin)...)
		} else {
			w.b = append(w.b, marshal(f)...)
		}
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

// marshal is JSON with < > & as they are.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // of texts, numbers and JSON that was written here: it cannot be
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// escaped escapes each invisible character in a line of JSON, where only strings can have one.
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
