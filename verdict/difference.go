package verdict

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Difference describes the first difference of a text from other bytes of a verdict: its place in the text, and both
// values.
func Difference(text, want []byte) string {
	lenient := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	got, wanted := jsontext.NewDecoder(bytes.NewReader(text), lenient...), jsontext.NewDecoder(bytes.NewReader(want))
	for {
		is, err := got.ReadToken()
		should, wantErr := wanted.ReadToken()
		if err != nil || wantErr != nil {
			break // all values are the same
		}
		if is.Kind() == should.Kind() && is.String() == should.String() {
			continue
		}
		at, member := wanted.StackPointer(), ""
		if kind := should.Kind(); kind == '}' || kind == ']' {
			at = got.StackPointer()
		}
		for name := range at.Tokens() {
			if _, err := strconv.Atoi(name); err == nil {
				name = "[" + name + "]"
			} else if member != "" {
				name = "." + name
			}
			member += name
		}
		line := 1 + bytes.Count(text[:got.InputOffset()], []byte("\n"))
		return fmt.Sprintf("%s (line %d) is %s, and %s when it is made again", member, line, tokenWords(is),
			tokenWords(should))
	}
	return "every value is the same, but not written as policyscan writes it"
}

func tokenWords(t jsontext.Token) string {
	switch t.Kind() {
	case '"':
		return fmt.Sprintf(`"%.250s"`, t.String())
	case '{', '[':
		return "there"
	case '}', ']':
		return "missing"
	}
	return t.String()
}
