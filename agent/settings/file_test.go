package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileChanged: settings that somebody else writes between reading and writing stay as they are, whether the file
// was there or not.
func TestFileChanged(t *testing.T) {
	for _, before := range []string{"", "{}\n"} {
		root := t.TempDir()
		name := filepath.Join(root, ".claude", "settings.json")
		write := func(text string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if before != "" {
			write(before)
		}
		f, err := Named("claude-code").OpenProject(root, "")
		if err != nil {
			t.Fatal(err)
		}
		write(`{"theirs": true}`)
		for _, text := range [][]byte{[]byte(`{"ours": true}`), nil} {
			changed, err := f.Put(text)
			if !changed && before == "" && text == nil {
				continue // there was nothing to remove
			}
			if err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
				t.Errorf("%q becomes %q: %v", before, text, err)
			}
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != `{"theirs": true}` {
			t.Errorf("it is %q: %v", text, err)
		}
		if f, err = Named("claude-code").OpenProject(root, ""); err != nil {
			t.Fatal(err)
		}
		if changed, err := f.Put(f.Source.Text); changed || err != nil {
			t.Errorf("the same text is a change: %v", err)
		}
		if changed, err := f.Put([]byte(`{"ours": true}`)); !changed || err != nil {
			t.Errorf("another text is no change: %v", err)
		}
		if st, err := os.Stat(name); err != nil || st.Mode() != f.was.Mode() {
			t.Errorf("the permissions are %v: %v", st.Mode(), err)
		}
	}
}
