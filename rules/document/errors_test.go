package document

import (
	"strings"
	"testing"
)

// TestPlace: what leads to a bundle is a part of the place, and none of the text, which is the same everywhere.
func TestPlace(t *testing.T) {
	e := &Error{File: "rules/boundaries.yml", Line: 4, Column: 25, Rule: "A", Found: "found", Fix: "fix"}
	text := e.Error()
	in := Errors{e}.In(".policyscan/").In("HEAD:")[0]
	if in.Error() != text || text != `rules/boundaries.yml:4:25: rule "A": found; fix` ||
		e.Place() != "rules/boundaries.yml:4:25" {
		t.Errorf("%q, %q, %q", in.Error(), text, e.Place())
	}
	if got := in.Place() + " " + in.What(); got != `HEAD:.policyscan/rules/boundaries.yml:4:25 rule "A": found; fix` {
		t.Error(got)
	}
	if none := (&Error{Bundle: "HEAD:", Found: "no bundle"}); none.Place() != "" || none.Error() != "no bundle" {
		t.Errorf("%q %q", none.Place(), none.Error())
	}
}

// TestQuoted: a text is shown whole up to 160 bytes, and cut between two characters.
func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"a\n": `"a\n"`, strings.Repeat("a", 160): `"` + strings.Repeat("a", 160) + `"`, strings.Repeat("a", 161): `"` +
			strings.Repeat("a", 160) + `"…`, strings.Repeat("日", 60): `"` + strings.Repeat("日", 53) + `"…`,
	} {
		if got := Quoted(text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}
