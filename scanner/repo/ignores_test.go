package repo

import "testing"

// TestIgnoredBy: a .gitignore ignores a file exactly if git says so.
func TestIgnoredBy(t *testing.T) {
	g := newGit(t)
	ignored := 0
	for _, text := range []string{
		"", "verdict.json", "/verdict.json\n", "*.json\n", "*\n", "*\n!*.json\n", "!verdict.json\n", "verdict.json\n!/verdict.json\n",
		"!verdict.json\nverdict.json\n", "# verdict.json\n", "\\verdict.json\n", "verdict.json\r\n", "a\r\n/verdict.json\r\nb\r\n",
		"\ufeff/verdict.json\n", "sub/verdict.json\n", "**/verdict.json\n", "verdict.json/\n", "verdict.jso[a-n]\n", "Verdict.json\n",
		"/sub\nverdict\n.json\n", " verdict.json\n", "verdict*\n!verdict.jso?\n",
	} {
		g.write(".gitignore", text)
		_, err := g.try("check-ignore", "-q", "verdict.json")
		got := IgnoredBy([]byte(text), "verdict.json")
		if got != (err == nil) {
			t.Errorf("%q: ignored: %v, git: %v", text, got, err == nil)
		}
		if got {
			ignored++
		}
	}
	if ignored < 8 {
		t.Errorf("only %d of them ignore it", ignored)
	}
}
