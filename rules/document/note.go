package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/internal/late"
)

// A Note is about something valid that is often a mistake.
type Note struct {
	File   string // the rule file within the bundle
	Line   int    // 1-based; 0: unknown
	Column int    // 1-based, in bytes; 0: unknown
	Rule   string // the rule's id; empty if the note is not about a rule
	Text   string // what it means and what to write instead
}

// String returns the note in the format of Error.Error.
func (n Note) String() string {
	e := Error{File: n.File, Line: n.Line, Column: n.Column, Rule: n.Rule, Found: n.Text}
	return e.Error()
}

// noteText notes a string that other YAML readers, or users, would read differently.
func (d *YAML) noteText(e Entry, at Place) {
	n := e.Value
	note := func(text string) { d.note(at, text) }
	isPattern := slices.Contains(d.form.Patterns, e.Key.Value)
	if isPattern && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && strings.HasSuffix(n.Value, "\n") {
		note(fmt.Sprintf(`the pattern %s ends in a line break, because "|" and ">" keep it, so it does not match `+
			`within a line; write "|-" or ">-"`, Quoted(n.Value)))
	}
	if n.Style != 0 {
		return
	}
	if n.Tag != "!!str" || isAmbiguous(n.Value) {
		note(fmt.Sprintf("%s is read as this text, not as a number, a date or a boolean as in YAML; quote it: %s",
			n.Value, QuoteYAML(n.Value)))
	}
	if isPattern || slices.Contains(d.form.Verbatim, e.Key.Value) {
		d.noteCut(n, at)
	}
}

// noteCut notes where YAML joins the lines of an unquoted string, or ends it before a comment.
func (d *YAML) noteCut(n *yaml.Node, at Place) {
	rest, whole := bytes.CutPrefix(d.source(at), []byte(n.Value))
	if !whole {
		d.note(at, "an unquoted string over several lines: YAML joins the lines with single spaces; "+
			"quote it or write it on one line")
	} else if comment := bytes.TrimLeft(rest, " \t"); bytes.HasPrefix(comment, []byte("#")) {
		d.note(at, fmt.Sprintf("the text ends before %s, which is a comment; quote the text", Quoted(string(comment))))
	}
}

func (d *YAML) note(at Place, text string) {
	if len(d.batch.Notes) < MaxErrors {
		d.batch.Notes = append(d.batch.Notes,
			Note{File: d.name, Line: at.Line, Column: at.Column, Rule: d.rule, Text: text})
	}
}

// isAmbiguous reports whether a non-empty string is [ambiguous]. It rarely runs the regex.
func isAmbiguous(text string) bool {
	return (len(text) <= len("off") || strings.IndexByte("+-0123456789", text[0]) >= 0) && ambiguous().MatchString(text)
}

// ambiguous are the unquoted strings that YAML 1.1 reads as booleans or numbers, and YAML 1.2 as strings, or the other
// way round.
var ambiguous = late.Regexp(`^(?:[yYnN]|[yY]es|YES|[nN]o|NO|[oO]n|ON|[oO]ff|OFF|` +
	`[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|0[0-9_]+)$`)
