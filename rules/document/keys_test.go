package document

import "testing"

func TestNearest(t *testing.T) {
	words := []string{
		"id", "title", "enforcement", "match", "message", "remediation", "docs_url", "owner", "severity", "tags",
		"redact", "examples",
	}
	for key, want := range map[string]string{"titel": "title", "Title": "title", "tittle": "title", "desc": "",
		"docsUrl": "docs_url", "docs-url": "docs_url", "remedation": "remediation", "remidiashion": "remediation",
		"enforsment": "enforcement", "example": "examples", "i": "id", "": "", "xyz": ""} {
		if got := Nearest(key, words); got != want {
			t.Errorf("Nearest(%q) = %q; want %q", key, got, want)
		}
	}
	// The nearest of several; of two that are as near, the first.
	for _, words := range [][]string{{"excluding", "exclude"}, {"exclude", "excluding"}, {"exclude", "excludex"}} {
		if got := Nearest("excludes", words); got != "exclude" {
			t.Errorf("of %q: %q", words, got)
		}
	}
	for _, c := range []struct {
		a, b string
		n    int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"ab", "ba", 1}, {"abc", "abd", 1}, {"title", "titel", 1}, {"kitten",
		"sitting", 3}, {"abcd", "badc", 2}} {
		if got := distance(c.a, c.b); got != c.n {
			t.Errorf("distance(%q, %q) = %d; want %d", c.a, c.b, got, c.n)
		}
	}
}
