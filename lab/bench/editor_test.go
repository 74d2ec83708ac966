//go:build linux

package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// keystroke returns the processor time of one change of a file after the first, by a language server: the difference
// of two sessions, divided by their changes. The client asks for the diagnostics after each change.
func (w *world) keystroke(t *testing.T, policy, file, content string) map[figure]float64 {
	t.Helper()
	const changes = 100
	first := w.session(t, policy, file, content, 1)
	all := w.session(t, policy, file, content, 1+changes)
	return map[figure]float64{time1: float64(all-first) / changes / 1e6}
}

// session types characters into the middle of a file, and returns the processor time of the server.
func (w *world) session(t *testing.T, policy, file, content string, changes int) time.Duration {
	t.Helper()
	cmd := exec.Command(w.scan, "lsp", "--policy", w.policies[policy].bundle)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	send := func(m map[string]any) {
		m["jsonrpc"] = "2.0"
		body, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Fatal(err)
		}
	}
	buffered := bufio.NewReader(out)
	id := 0
	ask := func(method string, params any) {
		id++
		send(map[string]any{"id": id, "method": method, "params": params})
		for {
			header, err := textproto.NewReader(buffered).ReadMIMEHeader()
			if err != nil {
				t.Fatal(err)
			}
			n, err := strconv.Atoi(header.Get("Content-Length"))
			if err != nil {
				t.Fatal(err)
			}
			body := make([]byte, n)
			var m struct{ ID int }
			if _, err := io.ReadFull(buffered, body); err != nil || json.Unmarshal(body, &m) != nil {
				t.Fatalf("%s: %v", body, err)
			}
			if m.ID == id {
				return
			}
		}
	}
	document := map[string]any{"uri": "file://" + file, "version": 0}
	about := map[string]any{"textDocument": document}
	ask("initialize", map[string]any{"capabilities": map[string]any{"textDocument": map[string]any{"diagnostic": map[string]any{}}}})
	send(map[string]any{"method": "textDocument/didOpen", "params": map[string]any{"textDocument": map[string]any{
		"uri": document["uri"], "version": 0, "text": content,
	}}})
	at := map[string]any{"line": strings.Count(content, "\n") / 2, "character": 0}
	for i := range changes {
		document["version"] = i + 1
		send(map[string]any{"method": "textDocument/didChange", "params": map[string]any{
			"textDocument": document, "contentChanges": []any{map[string]any{"range": map[string]any{"start": at, "end": at}, "text": "#"}},
		}})
		ask("textDocument/diagnostic", about)
	}
	ask("shutdown", nil)
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// editorRows are rows of a language server.
func editorRows(w *world) []row {
	return []row{
		{"`lsp`: 200 rules of 5 patterns for every file, a change of a file of 100 KB, processor time after the first", "",
			[]target{{time1, 5, 0}}, func(t *testing.T) map[figure]float64 {
				file := filepath.Join(w.edited, "main.tf")
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				return w.keystroke(t, "hook", file, string(text))
			}},
		{"`lsp`: 100 rules with keys, a change of 100 KB of YAML, processor time after the first", "",
			[]target{{time1, 0, 0}}, func(t *testing.T) map[figure]float64 {
				paths, _ := files(t, w.manifests)
				var all strings.Builder
				for _, path := range paths {
					text, err := os.ReadFile(filepath.Join(w.manifests, path))
					if err != nil {
						t.Fatal(err)
					}
					if fmt.Fprintf(&all, "---\n%s", text); all.Len() > 100_000 {
						break
					}
				}
				return w.keystroke(t, "keys", filepath.Join(w.manifests, "all.yaml"), all.String())
			}},
	}
}
