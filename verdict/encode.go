package verdict

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Encode returns the document's canonical bytes: one JSON object, keys in the
// order of [Verdict], as [JSON] writes it. Equal verdicts have equal bytes. One that was
// read from a document of version 1 is written as such a document.
func (v *Verdict) Encode() ([]byte, error) {
	if v.SchemaVersion == version1 {
		return JSON(v.toVersion1())
	}
	return JSON(v.withLists())
}

// withLists returns the verdict with [] for each list that is absent. v stays as it is.
func (v *Verdict) withLists() *Verdict {
	c := *v
	c.Policy = append([]Policy{}, v.Policy...)
	for i := range c.Policy {
		c.Policy[i].Excluded = OrEmpty(c.Policy[i].Excluded)
	}
	c.PolicyChanges = append([]PolicyChange{}, v.PolicyChanges...)
	for i := range c.PolicyChanges {
		p := &c.PolicyChanges[i]
		p.Fields = append([]FieldChange{}, p.Fields...)
		for k := range p.Fields {
			p.Fields[k].Removed, p.Fields[k].Added = OrEmpty(p.Fields[k].Removed), OrEmpty(p.Fields[k].Added)
		}
	}
	c.Rules = append([]Rule{}, v.Rules...)
	for i := range c.Rules {
		c.Rules[i].Tags = OrEmpty(c.Rules[i].Tags)
	}
	c.Scope.MergeBases = OrEmpty(v.Scope.MergeBases)
	c.Coverage.LeftOut = OrEmpty(v.Coverage.LeftOut)
	c.Coverage.NotScanned = OrEmpty(v.Coverage.NotScanned)
	c.Coverage.Unparsed = OrEmpty(v.Coverage.Unparsed)
	c.Allowed = OrEmpty(v.Allowed)
	c.Violations = append([]Violation{}, v.Violations...)
	for i := range c.Violations {
		c.Violations[i].Evidence.Places = OrEmpty(c.Violations[i].Evidence.Places)
	}
	c.AllowedViolations = append([]AllowedViolation{}, v.AllowedViolations...)
	for i := range c.AllowedViolations {
		c.AllowedViolations[i].Evidence.Places = OrEmpty(c.AllowedViolations[i].Evidence.Places)
	}
	c.EndingAllowances = OrEmpty(v.EndingAllowances)
	c.Errors = OrEmpty(v.Errors)
	return &c
}

// JSON returns v as JSON that is safe to print: indented by two spaces, ending in a
// line feed, and with \u escapes for what a terminal or GitHub's runner would obey. Else the bytes are those of
// encoding/json, whose options the encoder is given: it writes them in one pass.
func JSON(v any) ([]byte, error) {
	text, err := json.Marshal(v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	return EscapeJSON(append(text, '\n')), nil
}

// OrEmpty returns s, never nil: an absent list is [] in the document.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// plain are the bytes of JSON text that [EscapeJSON] leaves as they are, whatever is next to them.
var plain = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= ' ' && c < 0x7f && c != '#' || c == '\n'
	}
	return is
}()

// afterPlain returns the index of the first byte from i on that is not plain: the length, if there is none.
func afterPlain(text []byte, i int) int {
	for i < len(text) && plain[text[i]] {
		i++
	}
	return i
}

// EscapeJSON writes as \u escapes the characters that encoding/json leaves and
// that are not safe to print, and the middle of "##[". In JSON text all of these
// are within strings. The result is the text itself if nothing is escaped in it.
func EscapeJSON(text []byte) []byte {
	first := afterPlain(text, 0)
	if first == len(text) {
		return text
	}
	out := append(make([]byte, 0, len(text)+len(text)/64), text[:first]...)
	for i := first; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == '#' && bytes.HasPrefix(text[i:], []byte("##[")):
			out = append(out, `#\u0023[`...)
			n = len("##[")
		case r == '\n' || Shown(r):
			out = append(out, text[i:i+n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
		next := afterPlain(text, i)
		out = append(out, text[i:next]...)
		i = next
	}
	return out
}

// DocumentHead is how every document begins, of any version: one that is cut off is one, too.
const DocumentHead = "{\n  \"schema_version\": \""
