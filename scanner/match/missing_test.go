package match

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/regex"
)

// TestRequired: a text counts in any encoding, an expression only in what is behind the content's mark, read as that
// says.
func TestRequired(t *testing.T) {
	x, err := regex.Compile(`a\x00|key`)
	if err != nil {
		t.Fatal(err)
	}
	utf16, utf32 := string(utf16LE.encode("key")), string(utf32LE.encode("key"))
	const text, expression = 0, 1
	for name, c := range map[string]struct {
		content string
		missing []int
	}{
		"nothing":             {"", []int{text, expression}},
		"UTF-8":               {"a key", nil},
		"UTF-8, marked":       {"\xef\xbb\xbfkey", nil},
		"UTF-16, unmarked":    {utf16, []int{expression}},
		"UTF-16, marked":      {"\xff\xfe" + utf16, nil},
		"UTF-8 in UTF-16":     {"\xff\xfekey", []int{expression}},
		"UTF-16 in UTF-8":     {"\xef\xbb\xbf" + utf16, []int{expression}},
		"UTF-32, marked":      {"\xff\xfe\x00\x00" + utf32, nil},
		"UTF-16 in UTF-32":    {"\xff\xfe\x00\x00" + utf16, []int{expression}},
		"behind another mark": {"\xff\xfe\x00\x00\x00\x00" + utf32, []int{expression}},
	} {
		e := NewEngine([]*Pattern{Compile("key", Options{}), CompileRegex(x)})
		e.Require(text, true)
		e.Require(expression, true)
		for _, window := range []int{0, 64} {
			rep, err := (&Examiner{Window: window}).Examine(context.Background(), e, strings.NewReader(c.content))
			if err != nil || len(rep.Finds) > 0 || !slices.Equal(rep.Missing, c.missing) {
				t.Errorf("%s, windows of %d bytes: missing %v, want %v; %d finds, %v",
					name, window, rep.Missing, c.missing, len(rep.Finds), err)
			}
		}
	}
}
