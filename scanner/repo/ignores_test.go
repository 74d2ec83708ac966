package repo

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestIgnoredBy: a .gitignore ignores a file exactly if git says so.
func TestIgnoredBy(t *testing.T) {
	g := newGit(t)
	ignored := 0
	for _, text := range []string{
		"", "verdict.json", "/verdict.json\n", "*.json\n", "*\n", "*\n!*.json\n", "!verdict.json\n", "verdict.json\n!/verdict.json\n",
		"!verdict.json\nverdict.json\n", "# verdict.json\n", "\\verdict.json\n", "verdict.json\r\n", "a\r\n/verdict.json\r\nb\r\n",
		"\ufeff/verdict.json\n", "sub/verdict.json\n", "**/verdict.json\n", "verdict.json/\n", "verdict.jso[a-n]\n", "Verdict.json\n",
		"/sub\nverdict\n.json\n", " verdict.json\n", "verdict.json\\\n", "verdict*\n!verdict.jso?\n",
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

// TestIgnores: of generated files and patterns, in the root, in folders and in info/exclude, git ignores the same ones.
func TestIgnores(t *testing.T) {
	const rounds = 40
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	names := []string{"a", "b", "ab", "a b", "b.o", "a]", "!a", "#b", "aa", "é"}
	parts := append([]string{
		"*", "**", "a*", "*b", "?", "[ab]", "[!a]", "[^b]", "[]a]", "a[]]", "[!]a]", "*.o", "[a-b]b", "\\!a", "\\#b",
		"a\\ b", "[a[!b]b", "\\[!a]", "", "[b-]", "[\\]]", "[a-\\b]", "*a*b*",
	}, names...)
	ignored, total := 0, 0
	for range rounds {
		g := newGit(t)
		line := func() string {
			text := pick("", "", "", "!") + pick("", "", "/")
			for range rnd.IntN(3) {
				text += pick(parts...) + "/"
			}
			// A class without an end would take what is after a slash for its own.
			return text + pick(append(parts, "[a", "a[!b")...) + pick("", "", "/") + pick("", "", "", " ", "  ", "\\ ", "\\  ") + pick("\n", "\n", "\r\n")
		}
		written := map[string]string{}
		for _, file := range []string{".git/info/exclude", ".gitignore", pick("a", "b") + "/.gitignore", "a/b/.gitignore"} {
			for range 1 + rnd.IntN(4) {
				written[file] += line()
			}
			g.write(file, written[file])
		}
		folders := map[string]bool{} // whether a path is one
		for range 60 {
			path := pick(names...)
			for range rnd.IntN(4) {
				path += "/" + pick(names...)
			}
			full := filepath.Join(g.dir, path)
			if os.MkdirAll(filepath.Dir(full), 0o777) != nil { // there is a file
				continue
			}
			if rnd.IntN(2) == 0 {
				_ = os.Mkdir(full, 0o777) // or it is one
			} else if os.WriteFile(full, nil, 0o666) != nil {
				continue // a folder
			}
			st, err := os.Stat(full)
			if err != nil {
				t.Fatal(err)
			}
			folders[path] = st.IsDir()
		}
		cmd := exec.Command("git", "check-ignore", "-z", "--stdin")
		cmd.Dir = g.dir
		cmd.Stdin = strings.NewReader(strings.Join(slices.Collect(maps.Keys(folders)), "\x00") + "\x00")
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: none is ignored
			t.Fatal(err)
		}
		want := map[string]bool{}
		for _, path := range strings.Split(string(out), "\x00") {
			want[path] = true
		}
		is, err := g.open().Ignores(func(path string) ([]byte, error) {
			return os.ReadFile(filepath.Join(g.dir, filepath.FromSlash(path)))
		})
		if err != nil {
			t.Fatal(err)
		}
		for path, isFolder := range folders {
			if got := is.Match(path, isFolder); got != want[path] {
				t.Errorf("%q: ignored: %v, git: %v; %q", path, got, want[path], written)
			}
			if total++; want[path] {
				ignored++
			}
		}
		if t.Failed() {
			return
		}
	}
	if ignored < total/5 || ignored > total*4/5 {
		t.Errorf("%d of %d are ignored", ignored, total)
	}
}
