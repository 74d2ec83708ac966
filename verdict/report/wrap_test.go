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
