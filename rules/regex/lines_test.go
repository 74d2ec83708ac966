package regex

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWhole: a regex with a leading (?s) matches texts as Go's regexp does.
func TestWhole(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		atoms := []string{"a", "b", ".", `\n`, `\r?\n`, `\s`, `[^a]`, "^", "$", `\b`, `\B`, "é", `[\s\S]`, `\W`, "(?-s:.)"}
		var source strings.Builder
		source.WriteString(rapid.SampledFrom([]string{"(?s)", "(?is)", "(?s-i)"}).Draw(t, "flags"))
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			one, other := rapid.SampledFrom(atoms).Draw(t, "atom"), rapid.SampledFrom(atoms).Draw(t, "other")
			times := rapid.SampledFrom([]string{"", "", "*", "+", "?"}).Draw(t, "times")
			source.WriteString("(?:" + one + "|" + other + ")" + times)
		}
		e, err := CompileValue(source.String())
		if err != nil {
			return
		}
		pieces := rapid.SampledFrom([]string{"a", "b", "A", "\n", "\r", " ", "é", "\xff"})
		text := strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), "")
		want := regexp.MustCompile(source.String()).MatchString(text)
		if got := e.Match([]byte(text)); got != want || !e.Whole() {
			t.Fatalf("%#q in %q: %v, want %v", source.String(), text, got, want)
		}
		if want {
			found++
		}
	})
	if found < 10 {
		t.Errorf("%d matches: too few to say anything", found)
	}
}
