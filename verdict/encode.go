package verdict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
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
// line feed, and with \u escapes for what a terminal or GitHub's runner would obey.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return EscapeJSON(b.Bytes()), nil
}

// OrEmpty returns s, never nil: an absent list is [] in the document.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// EscapeJSON writes as \u escapes the characters that encoding/json leaves and
// that are not safe to print, and the middle of "##[". In JSON text all of these
// are within strings.
func EscapeJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		plain := i // nearly all of it is
		for i < len(text) && (text[i] >= ' ' && text[i] < 0x7f && text[i] != '#' || text[i] == '\n') {
			i++
		}
		if out = append(out, text[plain:i]...); i == len(text) {
			break
		}
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
	}
	return out
}

// DocumentHead is how every document begins, of any version: one that is cut off is one, too.
const DocumentHead = "{\n  \"schema_version\": \""
