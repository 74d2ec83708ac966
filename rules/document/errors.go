package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The codes of a bundle's errors. Scripts may depend on them, so they are stable.
const (
	CodeMissing   = "E_POLICY_MISSING"   // no bundle, or a required rule file is missing
	CodeRead      = "E_POLICY_READ"      // a rule file that is not a regular file or cannot be read
	CodeUnread    = "E_POLICY_UNREAD"    // a file in the rules directory that looks like a rule file and is not read
	CodeTwo       = "E_POLICY_TWO"       // two bundles where only one may be, or an id in two bundles
	CodePin       = "E_POLICY_PIN"       // the bundle does not match --policy-sha256
	CodeEmpty     = "E_POLICY_EMPTY"     // a rule file without content: empty, comments only, null, {}
	CodeNoRules   = "E_NO_RULES"         // no enforced rule in the whole bundle
	CodeSyntax    = "E_POLICY_SYNTAX"    // not UTF-8 with LF or CRLF, not YAML, or YAML that a bundle may not use
	CodeType      = "E_POLICY_TYPE"      // a string, a list or a mapping where another of them belongs
	CodeKey       = "E_POLICY_KEY"       // an unknown key, or one that belongs elsewhere
	CodeValue     = "E_POLICY_VALUE"     // missing, empty, only white space, null, or not an allowed value
	CodeDuplicate = "E_POLICY_DUPLICATE" // a key, an id, a pattern or a glob that occurs twice
	CodeGlob      = "E_POLICY_GLOB"      // a glob that can never match as meant
	CodeRegex     = "E_POLICY_REGEX"     // a regular expression that is refused
	CodeLimit     = "E_POLICY_LIMIT"     // too large, too many, too deep
)

// An Error is one mistake of a bundle.
type Error struct {
	Code   string
	Bundle string // the prefix of File for display, such as ".policyscan/" or "HEAD:.policyscan/"; not in Error's text
	File   string // the rule file within the bundle; a directory if there is no file
	Line   int    // 1-based; 0: the file as a whole
	Column int    // 1-based, in bytes of the line, a byte order mark not counted; 0: unknown
	Rule   string // the rule's id, if it has a valid one
	Found  string // what was found
	Fix    string // what to do about it

	source string // the part of the line around Column
	caret  int    // the 0-based byte of Column in source, or -1
}

// Error returns "rules/boundaries.yml:4:25: rule "TF-NET-001": what was found; what to do". Position and rule are
// optional.
func (e *Error) Error() string {
	if e.File == "" {
		return e.What()
	}
	return e.position() + ": " + e.What()
}

// Place returns the file with its Bundle prefix, line and column, if known; "" without a file.
func (e *Error) Place() string {
	if e.File == "" {
		return ""
	}
	return e.Bundle + e.position()
}

func (e *Error) position() string {
	switch {
	case e.Line == 0:
		return e.File
	case e.Column == 0:
		return fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
}

// Source returns the line of the file, shortened around the column if it is long, and the column's 0-based byte in it,
// or -1. It returns "" if the error is not about a line.
func (e *Error) Source() (line string, caret int) { return e.source, e.caret }

// What returns the text of Error without the position.
func (e *Error) What() string {
	var b strings.Builder
	if e.Rule != "" {
		fmt.Fprintf(&b, "rule %q: ", e.Rule)
	}
	b.WriteString(e.Found)
	if e.Fix != "" {
		b.WriteString("; " + e.Fix)
	}
	return b.String()
}

// Errors are all mistakes of a bundle, at least one: of the boundaries, of the invariants, of the deprecated rules,
// each by line and column.
type Errors []*Error

// Error returns the errors, one per line.
func (list Errors) Error() string {
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// In returns the errors with bundle before each Bundle prefix.
func (list Errors) In(bundle string) Errors {
	out := make(Errors, len(list))
	for i, e := range list {
		c := *e
		c.Bundle = bundle + c.Bundle
		out[i] = &c
	}
	return out
}

func sortErrors(list []*Error) {
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// shownBytes is roughly the number of bytes kept of a long line on each side of an error.
const shownBytes = 80

// Quoted returns a string for a message: quoted, escaped and, if it is very long, cut.
func Quoted(s string) string {
	cut, end := Cut(s)
	return fmt.Sprintf("%q", cut) + end
}

// Cut returns the part of a string that a message shows, and "…" if it is cut.
func Cut(s string) (cut, end string) {
	if len(s) <= 2*shownBytes {
		return s, ""
	}
	n := 2 * shownBytes
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n], "…"
}
