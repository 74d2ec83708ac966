package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileChanged: settings that somebody else writes between reading and writing stay as they are, whether the file was
// there or not.
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
		for what, err := range map[string]error{"written": f.Write([]byte("{}")), "removed": f.Remove()} {
			if err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
				t.Errorf("%q is %s: %v", before, what, err)
			}
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != `{"theirs": true}` {
			t.Errorf("it is %q: %v", text, err)
		}
		if f, err = Named("claude-code").OpenProject(root, ""); err != nil {
			t.Fatal(err)
		}
		if err := f.Write([]byte(`{"ours": true}`)); err != nil {
			t.Error(err)
		}
		if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("the permissions are %v: %v", st.Mode(), err)
		}
	}
}
