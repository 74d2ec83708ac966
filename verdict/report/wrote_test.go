package report

import (
	"bytes"
	"testing"
)

// TestWrote: a document is known to be of its format, and of no other.
func TestWrote(t *testing.T) {
	texts := map[string]string{"mine\n": "", "\n": ""} // and the format that each is of
	formats := Formats()
	for i := range formats {
		for _, x := range fixtures() {
			var b bytes.Buffer
			if err := formats[i].Write(&b, x.verdict); err != nil {
				t.Fatal(err)
			}
			if b.Len() > 0 { // annotations of a PASS
				texts[b.String()] = formats[i].Name
			}
		}
	}
	for text, of := range texts {
		for i := range formats {
			if f := &formats[i]; f.Wrote(text) != (of == f.Name) {
				t.Errorf("%s wrote %.40q (%s)? %t", f.Name, text, of, f.Wrote(text))
			}
		}
	}
}
