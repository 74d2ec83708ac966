package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What git takes is taken, and says the same.
func TestSettingsAgainstGit(t *testing.T) {
	g := newGit(t)
	for _, text := range []string{
		"[core]\n\tbare = false\n",
		"[core]bare=true\n",
		"[core] bare\n[core]\n\tworktree = /a b \n",
		"[Core]\r\n\tBare = YES\r\n\tWorkTree = \"/a # b\" ; why\r\n",
		"\ufeff[core]\nbare = off # no\n",
		"[branch.foo]\n\tremote = origin\n[core]\nworktree = a\\\\b\\t\\\"c\\\"\\n\n",
		"[x \"\"]\na=b\n[core]\nworktree = one \\\n  two\n",
		"[user]\nname = J\xfcrgen\n[core]\nworktree = \"  quoted  \" tail  \n",
		"[core]\nworktree = a\nworktree = b\n[x \"core]\"]\nworktree = c\n",
		"# only a comment",
		"[azAZ09-.]\n\tazAZ09- = x\n",
		"[core]\nworktree =\n",
		"[core]\n worktree = x;y\n",
		"[extensions]\nobjectFormat = sha1\nworktreeConfig = on\n",
		"[a \"q\\\"uo\\\\te\"]\nb = c\n[core]\nworktree = last",
		"[core", "[core]\n= x\n", "[core \"x\ny\"]\n", "key = x\n", "[core]\nworktree = \"open\n", "[core]\nworktree = \\q\n", "[core]\nbare false\n", "[co re]\nx=y\n",
	} {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := readSettings(file)
		want, gitErr := g.try("config", "--file", file, "--null", "--list")
		if (err == nil) != (gitErr == nil) {
			t.Errorf("%q: %v; git says %v %q", text, err, gitErr, want)
			continue
		}
		if err != nil {
			continue
		}
		expected := settings{}
		for _, entry := range strings.Split(strings.TrimSuffix(want, "\x00"), "\x00") {
			if entry == "" {
				continue
			}
			name, value, given := strings.Cut(entry, "\n")
			if !given {
				value = "true"
			}
			expected[name] = append(expected[name], value)
		}
		if len(got) != len(expected) {
			t.Errorf("%q: %q, want %q", text, got, expected)
		}
		for name, values := range expected {
			if strings.Join(got[name], "|") != strings.Join(values, "|") {
				t.Errorf("%q: %s is %q, want %q", text, name, got[name], values)
			}
		}
	}
}

// A mistake in the settings is on a line.
func TestSettingsLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte("[core]\r\n\tbare = false \\\n\n# x\n= y\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readSettings(file); err == nil || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("%v, want line 5", err)
	}
}
