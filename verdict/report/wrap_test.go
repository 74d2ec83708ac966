package report

import (
	"slices"
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line string
		room int
		want []string
	}{
		{"a few words", 20, []string{"a few words"}},
		{"a few words that need two lines", 20, []string{"a few words that", "need two lines"}},
		{"  twenty columns it is", 22, []string{"  twenty columns it is"}},
		{"the first is 20 long and more", 20, []string{"the first is 20 long", "and more"}},
		{"https://example.com/an/address/that/is/long next", 20, []string{"https://example.com/an/address/that/is/long", "next"}},
		{strings.Repeat("漢字 ", 6) + "x", 20, []string{"漢字 漢字 漢字 漢字", "漢字 漢字 x"}},
		{"no room for anything at all", 5, []string{"no room for anything at all"}},
		{"", 20, []string{""}},
	} {
		if got := wrap(c.line, c.room); !slices.Equal(got, c.want) {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.line, c.room, got, c.want)
		}
	}
}

// TestFlow: what is of several lines is one line, and the spaces of a pattern are as many as there are.
func TestFlow(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`the file contains "a   b"`, `the file contains "a   b"`},
		{"  the first line \n\t and\r\n\r\n  the  next\u2028one\n", "the first line and the  next one"},
		{"a\tb\u00a0\u200bc", "a b\\u{a0}\\u{200b}c"},
		{" \n ", ""},
	} {
		if got := flow(c.text); got != c.want {
			t.Errorf("flow(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}
