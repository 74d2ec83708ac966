package editor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the sessions again")

// TestSessions runs the sessions of testdata: an archive of the client's files, and what is said in turn. A line of a
// session is a message of the client (-->), its answers (<--), or one of
//
//	wait              the time in which changes are gathered has passed
//	copy FROM TO      a file of the tree changes on disk; "-" as TO removes it, or a directory
//
// @ stands for the URI of the tree.
func TestSessions(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 5 {
		t.Fatalf("%d sessions: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			said := &a.Files[len(a.Files)-1]
			root := writeTree(t, a.Files[:len(a.Files)-1])
			got := runSession(t, root, string(said.Data))
			if *update {
				said.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
			} else if got != string(said.Data) {
				t.Errorf("got\n%s\nnot\n%s", got, said.Data)
			}
		})
	}
}

// writeTree writes files, and returns their root.
func writeTree(t testing.TB, files []txtar.File) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, f.Data, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// A session is a server and its client. Its jobs run when they are started, and time passes when the client says so.
type session struct {
	*server
	in   *io.PipeWriter
	out  bytes.Buffer
	tick chan time.Time
	end  chan error
}

func newSession(o Options) *session {
	c := &session{tick: make(chan time.Time), end: make(chan error, 1)}
	c.server = newServer(&c.out, o)
	c.after = func(time.Duration) <-chan time.Time { return c.tick }
	c.spawn = func(f func()) { f() }
	in, out := io.Pipe()
	c.in = out
	go func() {
		err := c.serve(context.Background(), in)
		in.Close()
		c.end <- err
	}()
	return c
}

// said returns what the server said until now. It ignores notifications of an unknown method, if it has not ended.
func (c *session) said(t testing.TB) []string {
	t.Helper()
	const sync = `{"jsonrpc":"2.0","method":"$/sync"}`
	for range 3 { // when the third one is read, the loop has the second, and so has done all before it
		if _, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(sync), sync); err != nil {
			break
		}
	}
	var all []string
	for c.out.Len() > 0 {
		head, err := c.out.ReadString('\n')
		var n int
		if _, scan := fmt.Sscanf(head, "Content-Length: %d", &n); err != nil || scan != nil {
			t.Fatalf("%q: %v", head, scan)
		}
		c.out.Next(2)
		body := c.out.Next(n)
		if !json.Valid(body) {
			t.Fatalf("%s", body)
		}
		all = append(all, strings.Replace(string(body), `"jsonrpc":"2.0",`, "", 1))
	}
	return all
}

func (c *session) write(t testing.TB, body string) {
	t.Helper()
	c.frame(t, fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
}

func (c *session) frame(t testing.TB, frame string) {
	t.Helper()
	if _, err := c.in.Write([]byte(frame)); err != nil {
		t.Fatalf("the server has ended: %v", err)
	}
}

func runSession(t *testing.T, root, script string) string {
	c := newSession(Options{Version: "v1", Policies: []string{""}})
	uri := uriOf(root)
	var got strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "<-- ") {
			continue
		}
		fmt.Fprintln(&got, line)
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "-->":
			body := strings.ReplaceAll(rest, "@", uri)
			if strings.HasPrefix(body, `{"`) {
				body = `{"jsonrpc":"2.0",` + body[1:]
			}
			c.write(t, body)
		case "wait":
			select {
			case c.tick <- time.Now():
			case <-time.After(10 * time.Second):
				t.Fatal("the server waits for nothing")
			}
		case "copy":
			from, to, _ := strings.Cut(rest, " ")
			from, to = filepath.Join(root, filepath.FromSlash(from)), filepath.Join(root, filepath.FromSlash(to))
			if filepath.Base(to) == "-" {
				if err := os.RemoveAll(from); err != nil {
					t.Fatal(err)
				}
				continue
			}
			text, err := os.ReadFile(from)
			if err == nil {
				err = os.WriteFile(to, text, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if verb == "-->" || verb == "wait" {
			for _, answer := range c.said(t) {
				fmt.Fprintf(&got, "<-- %s\n", strings.ReplaceAll(strings.ReplaceAll(answer, uri, "@"), root, "ROOT"))
			}
		}
	}
	c.in.Close()
	<-c.end
	return got.String()
}
