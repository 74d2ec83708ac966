package match

import (
	"slices"
	"strings"
	"testing"
)

// Bytes that are not text are one U+FFFD for each longest beginning of a character, also where the text ends within
// one (table 3-11 of the Unicode Standard 16.0 is the third).
func TestNoText(t *testing.T) {
	for data, want := range map[string]string{
		"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82A": strings.Repeat("\ufffd", 8) + "A",
		"\xf4\x91\x92\x93\xffA\x80\xbfB":    strings.Repeat("\ufffd", 5) + "A\ufffd\ufffdB",
		"\xe1\x80\xe2\xf0\x91\x92\xf1\xbfA": strings.Repeat("\ufffd", 4) + "A",
		"a\xe2\x82":                         "a\ufffd",
		"a\xe2":                             "a\ufffd",
		"a\xf0\x90\x80":                     "a\ufffd",
	} {
		if got := string(utf8Enc.text(slices.Clip([]byte(data)), false)); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}
