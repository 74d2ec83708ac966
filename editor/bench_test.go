package editor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shop writes a repository with 200 rules, and returns its root and a file of 100 KB.
func shop(t testing.TB, key bool, ext string) (root, content string) {
	root = t.TempDir()
	var rules strings.Builder
	rules.WriteString("bundle: \"0.2\"\nrules:\n")
	for i := range 200 {
		pattern := fmt.Sprintf("\"forbidden %d\", {regex: 'token_%d\\s*=\\s*\"[a-z]+\"'}", i, i)
		if key {
			pattern += fmt.Sprintf(", {key: \"**.secret%d\"}", i)
		}
		fmt.Fprintf(&rules, "  - {id: R-%d, title: t, match: {files: [\"**/*%s\"], forbidden_patterns: [%s]}}\n", i, ext, pattern)
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".policyscan/rules/boundaries.yml": rules.String()} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for i := 0; b.Len() < 100_000; i++ {
		fmt.Fprintf(&b, "resource_%d:\n  name: \"main %d\"\n  cidr: 10.0.0.0/8\n", i, i)
	}
	return root, b.String()
}

// keystrokes returns a function that types a character in a file of 100 KB, with 200 rules, and waits for the
// diagnostics.
func keystrokes(t testing.TB, key bool, ext string) func() {
	root, content := shop(t, key, ext)
	var out bytes.Buffer
	s := newServer(&out, Options{Policies: []string{""}})
	s.ctx, s.spawn = context.Background(), func(f func()) { f() }
	s.after = func(time.Duration) <-chan time.Time { return nil }
	send := func(method string, params any) {
		s.receive(incoming{message: &message{Version: "2.0", ID: encode(1), Method: method, Params: encode(params)}})
		for s.next(); len(s.done) > 0; s.next() {
			(<-s.done)()
		}
	}
	send("initialize", map[string]any{})
	uri, version := uriOf(filepath.Join(root, "main"+ext)), 1
	send("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "version": version, "text": content}})
	at := position{Line: 1500, Character: 3}
	return func() {
		version++
		out.Reset()
		send("textDocument/didChange", map[string]any{
			"textDocument":   map[string]any{"uri": uri, "version": version},
			"contentChanges": []any{map[string]any{"range": textRange{at, at}, "text": "x"}},
		})
		if !bytes.Contains(out.Bytes(), []byte(`"diagnostics":[]`)) {
			t.Fatalf("no diagnostics: %s", out.String())
		}
	}
}

// BenchmarkKeystroke is a change of one character, from its message to the diagnostics.
func BenchmarkKeystroke(b *testing.B) {
	for _, c := range []struct {
		name string
		key  bool
		ext  string
	}{{"texts", false, ".tf"}, {"keys in YAML", true, ".yaml"}} {
		b.Run(c.name, func(b *testing.B) {
			change := keystrokes(b, c.key, c.ext)
			for b.Loop() {
				change()
			}
		})
	}
}
