package report

import (
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// TestFirstLines: a sentence says in which lines of a file a pattern was asked for.
func TestFirstLines(t *testing.T) {
	for pattern, want := range map[string]string{
		`{"text":"a b","within_lines":1,"spaces":"any"}`: `The file contains "a b" in the first line, with any spaces.`,
		`{"regex":"^#!","within_lines":3}`: `The file contains a match of the regular expression "^#!" ` +
			`in the first 3 lines.`,
		`{"text":"a","words":true}`: `The file contains "a", as whole words.`,
	} {
		v := verdict.Violation{File: "f", Evidence: verdict.Evidence{Kind: verdict.KindText, Pattern: pattern}}
		if got := newFinding(&v).foundSentence(); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}
