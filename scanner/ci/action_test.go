package ci

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, " \t\r\n": nil, "a  b\n c\r\n": {"a", "b", "c"}, `'a b' "c 'd"`: {"a b", "c 'd"}, `a'b c'd`: {"ab cd"}, `'' ""`: {"", ""}, `a\ b`: {`a\`, "b"}, "$x `y`;z": {"$x", "`y`;z"},
	} {
		if got, err := words(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{`'`, `a "b`, `"'`} {
		if got, err := words(text); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}
