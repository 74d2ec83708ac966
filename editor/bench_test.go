package editor

import (
	"bytes"
	"context"
	"encoding/json"
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

// BenchmarkKeystroke is a change of one character in a file of 100 KB, with 200 rules: from its message to the
// diagnostics.
func BenchmarkKeystroke(b *testing.B) {
	for _, c := range []struct {
		name string
		key  bool
		ext  string
	}{{"texts", false, ".tf"}, {"keys", true, ".yaml"}} {
		b.Run(c.name, func(b *testing.B) {
			root, content := shop(b, c.key, c.ext)
			var out bytes.Buffer
			s := newServer(&out, Options{Policies: []string{""}})
			s.ctx = context.Background()
			s.after = func(time.Duration) <-chan time.Time { return nil }
			s.spawn = func(f func()) { f() }
			send := func(method string, id, params any) {
				m := &message{Version: "2.0", Method: method, Params: encode(params)}
				if id != nil {
					m.ID = encode(id)
				}
				s.receive(incoming{message: m})
				s.timer = nil
				s.next()
				for len(s.done) > 0 {
					(<-s.done)()
					s.next()
				}
			}
			send("initialize", 1, map[string]any{"capabilities": map[string]any{}})
			uri := uriOf(filepath.Join(root, "main"+c.ext))
			send("textDocument/didOpen", nil, map[string]any{"textDocument": map[string]any{"uri": uri, "version": 1, "text": content}})
			version := 1
			at := position{Line: 1500, Character: 3}
			for b.Loop() {
				version++
				out.Reset()
				send("textDocument/didChange", nil, map[string]any{
					"textDocument":   map[string]any{"uri": uri, "version": version},
					"contentChanges": []any{map[string]any{"range": textRange{at, at}, "text": "x"}},
				})
				if !bytes.Contains(out.Bytes(), []byte("publishDiagnostics")) {
					b.Fatalf("no diagnostics: %s", out.String())
				}
			}
			var _ json.RawMessage
		})
	}
}
