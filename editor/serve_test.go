package editor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/rogpeppe/go-internal/txtar"
)

func frames(bodies ...string) string {
	var b strings.Builder
	for _, body := range bodies {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return b.String()
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`
	shutdown   = `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`
	exit       = `{"jsonrpc":"2.0","method":"exit"}`
)

// TestEnd: how a client ends, and what cannot be read on the way.
func TestEnd(t *testing.T) {
	for _, c := range []struct {
		name, in string
		died     bool
		says     string
	}{
		{"shutdown and exit", frames(initialize, shutdown, exit), false, `"id":2,"result":null`},
		{"shutdown and the end", frames(initialize, shutdown), false, ""},
		{"exit", frames(initialize, exit), true, ""},
		{"exit before all", frames(exit), true, ""},
		{"nothing", "", true, ""},
		{"the end in a header", frames(initialize) + "Content-Len", true, ""},
		{"the end in a body", frames(initialize) + "Content-Length: 900000000000000\r\n\r\n{", true, ""},
		{"the end in a long body", frames(initialize) + "Content-Length: 9000\r\n\r\n{", true, ""},
		{"no length", "X: 1\r\n\r\n" + frames(initialize, shutdown, exit), false, "without a valid Content-Length"},
		{"a wrong length", "Content-Length: -5\r\n\r\n" + frames(initialize, shutdown, exit), false, "without a valid"},
		{"two headers", strings.Replace(frames(initialize), "\r\n\r\n", "\r\nContent-Type: x\r\n\r\n", 1) +
			frames(shutdown, exit), false, `"id":2,"result":null`},
		{"a line of a megabyte", strings.Repeat("x", 1<<20) + "\r\n\r\n" + frames(initialize, shutdown, exit), false,
			"without a valid Content-Length"},
		{"lone line feeds", strings.ReplaceAll(frames(initialize, shutdown, exit), "\r\n", "\n"), false, `"id":2`},
		{"another version", frames(strings.Replace(initialize, "2.0", "1.0", 1), initialize, shutdown, exit), false,
			`\"jsonrpc\" is \"1.0\"`},
		{"parameters that are not wanted", frames(initialize, strings.Replace(shutdown, "}", `,"params":[]}`, 1),
			strings.Replace(exit, "}", `,"params":[1]}`, 1)), false, `"id":2,"result":null`},
		{"no parameters", frames(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, shutdown, exit), false, `"capabilities"`},
	} {
		var out bytes.Buffer
		err := Serve(context.Background(), strings.NewReader(c.in), &out, Options{Policies: []string{""}})
		if errors.Is(err, ErrDied) != c.died || !c.died && err != nil || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: %v\n%s", c.name, err, out.String())
		}
	}
	broken, in := errors.New("broken"), strings.NewReader(frames(initialize))
	if err := Serve(context.Background(), in, failing{broken}, Options{}); !errors.Is(err, broken) {
		t.Errorf("the output is broken: %v", err)
	}
	if err := Serve(context.Background(), failing{broken}, io.Discard, Options{}); !errors.Is(err, broken) {
		t.Errorf("the input is broken: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	hanging, _ := io.Pipe()
	if err := Serve(ctx, hanging, io.Discard, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Read([]byte) (int, error)  { return 0, f.err }

// TestSameAsScan: the diagnostics of each file of the examples are what a scan of the tree finds in it.
func TestSameAsScan(t *testing.T) {
	const policy, target = "../examples/policy", "../examples/infra-target"
	r, err := run.Open(context.Background(), run.Options{
		Path: target, Policies: []string{policy}, Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v := scanner.Scan(context.Background(), r, nil)
	scanned := map[string][]string{}
	for i := range v.Violations {
		e := &v.Violations[i].Evidence
		for _, p := range e.Places {
			scanned[v.Violations[i].File] = append(scanned[v.Violations[i].File], fmt.Sprintf("%d %s", p.Line-1, v.Violations[i].RuleID))
		}
	}
	root, err := filepath.Abs(target)
	if err != nil {
		t.Fatal(err)
	}
	all := &repositories{policies: []string{policy}, byRoot: map[string]*repository{}}
	files := 0
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f := &findings{text: newText(content), encoding: utf16Units}
		// The scan's tree is not the repository: the file is checked as one of that tree.
		r := &repository{root: root, rules: map[string]location{}}
		r.load(all)
		if r.failed != nil {
			return r.failed
		}
		if err := r.check(context.Background(), f, path); err != nil {
			return err
		}
		var got []string
		for _, d := range f.sorted() {
			got = append(got, fmt.Sprintf("%d %s", d.Range.Start.Line, d.Code))
		}
		rel, err := filepath.Rel(root, path)
		want := scanned[filepath.ToSlash(rel)]
		slices.Sort(got)
		slices.Sort(want)
		if files += min(len(want), 1); !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", rel, got, want)
		}
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("%d files with violations: %v", files, err)
	}
}

func (c *session) send(t testing.TB, method string, params any) []string {
	t.Helper()
	c.write(t, string(encode(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})))
	return c.said(t)
}

func (c *session) openFile(t testing.TB, path, content string) string {
	t.Helper()
	return strings.Join(c.send(t, "textDocument/didOpen", map[string]any{
		"textDocument": map[string]any{"uri": uriOf(path), "version": 1, "text": content},
	}), "\n")
}

const oneRule = `bundle: "0.2"
rules:
  - {id: R-1, title: t, match: {files: ["**/*.tf", "/verdict.json"], forbidden_patterns: [bad]}}
`

// TestPlaces: files over links, outside of repositories, in directories of the workspace, and with --policy.
func TestPlaces(t *testing.T) {
	root := writeTree(t, []txtar.File{
		{Name: "repo/.git/HEAD", Data: []byte("x")}, {Name: "repo/.policyscan/rules/boundaries.yml", Data: []byte(oneRule)},
		{Name: "repo/dir/real.tf", Data: []byte("x")},
		{Name: "plain/.policyscan/rules/boundaries.yml", Data: []byte(oneRule)}, {Name: "plain/sub/a.tf", Data: []byte("x")},
		{Name: "plain/near/none.tf", Data: []byte("x")}, {Name: "repo/verdict.json", Data: []byte(verdict.DocumentHead)},
	})
	for _, link := range [][2]string{{"repo", "link"}, {"repo/dir/real.tf", "outside.tf"}} {
		if err := os.Symlink(filepath.Join(root, link[0]), filepath.Join(root, link[1])); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range []struct {
		path     string
		policies []string
		finds    bool
	}{
		{"repo/dir/new.tf", nil, true}, {"link/dir/new.tf", nil, true}, {"outside.tf", nil, true}, {"other/x.tf", nil, false},
		{"plain/sub/a.tf", nil, true}, {"plain/x.txt", nil, false},
		{"other.tf", []string{filepath.Join(root, "link/.policyscan")}, true}, {"repo/x.tf", []string{"builtin:docker"}, false},
		{"repo/Dockerfile", []string{"/nowhere"}, true}, {"repo/verdict.json", nil, false}, {"plain/near/a.tf", nil, false},
	} {
		c.policies = append(c.policies, make([]string, max(0, 1-len(c.policies)))...)
		s := newSession(Options{Policies: c.policies})
		open := fmt.Sprintf(`{}, "workspaceFolders":[{"uri":%q},{"uri":%q}]`, uriOf(filepath.Join(root, "plain/near")),
			uriOf(filepath.Join(root, "plain")))
		s.write(t, strings.Replace(initialize, `{}`, open, 1))
		said := s.openFile(t, filepath.Join(root, c.path), "bad\n")
		if strings.Contains(said, `"severity":1`) != c.finds || !strings.Contains(said, "publishDiagnostics") {
			t.Errorf("%s %q: %s", c.path, c.policies, said)
		}
		s.in.Close()
		<-s.end
	}
}

// TestLong: a long text is checked or has a diagnostic that says that it is not, and many places are counted.
func TestLong(t *testing.T) {
	root := writeTree(t, []txtar.File{{Name: ".git/HEAD"}, {Name: ".policyscan/rules/boundaries.yml", Data: []byte(oneRule)}})
	s := newSession(Options{Policies: []string{""}})
	s.write(t, initialize)
	said := s.openFile(t, filepath.Join(root, "a.tf"), strings.Repeat("bad\n", 150))
	if n := strings.Count(said, `"code":"R-1"`); n != 100 || !strings.Contains(said, "(50 more places are not shown)") {
		t.Errorf("%d places of 150", n)
	}
	said = s.openFile(t, filepath.Join(root, "b.tf"), strings.Repeat("x", maxText+1)+"bad\n")
	if !strings.Contains(said, "longer than 16 MiB") {
		t.Errorf("%.300s", said)
	}
	s.in.Close()
	<-s.end
}

// TestCancel: a newer version ends the check of an older one, whose result is not shown.
func TestCancel(t *testing.T) {
	root := writeTree(t, []txtar.File{{Name: ".git/HEAD"}, {Name: ".policyscan/rules/boundaries.yml", Data: []byte(oneRule)}})
	var out bytes.Buffer
	s := newServer(&out, Options{Policies: []string{""}})
	var jobs []func()
	s.ctx, s.spawn = context.Background(), func(f func()) { jobs = append(jobs, f) }
	s.after = func(time.Duration) <-chan time.Time { return make(chan time.Time) }
	receive := func(method string, params any) {
		s.receive(incoming{message: &message{Version: "2.0", ID: encode(7), Method: method, Params: encode(params)}})
		s.next()
	}
	receive("initialize", map[string]any{})
	uri := uriOf(filepath.Join(root, "a.tf"))
	receive("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 1, "text": "bad\n"}})
	receive("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": uri, "version": 2}, "contentChanges": []any{map[string]any{"text": "good\n"}},
	})
	out.Reset()
	jobs[0]()
	(<-s.done)()
	if s.next(); out.Len() > 0 || len(jobs) != 1 || s.documents[uri].stale {
		t.Errorf("the old version was shown, or the new one not gathered: %s", out.String())
	}
	s.timer = nil
	s.next()
	jobs[1]()
	(<-s.done)()
	if !strings.Contains(out.String(), `"diagnostics":[],"uri":"`+uri+`","version":2`) {
		t.Errorf("%s", out.String())
	}
}

// FuzzServe: whatever a client says, the server ends, and each of its messages is one of JSON-RPC.
func FuzzServe(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	root := ""
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if root == "" {
			root = uriOf(writeTree(f, a.Files[:len(a.Files)-1]))
		}
		var bodies []string
		for line := range strings.Lines(string(a.Files[len(a.Files)-1].Data)) {
			if body, is := strings.CutPrefix(strings.TrimSpace(line), `--> {`); is {
				bodies = append(bodies, `{"jsonrpc":"2.0",`+body)
			}
		}
		f.Add(frames(bodies...))
	}
	f.Add("Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[{]\r\n\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		var out bytes.Buffer
		s := newServer(&out, Options{Policies: []string{""}})
		s.spawn = func(f func()) { f() }
		s.after = func(time.Duration) <-chan time.Time { return time.After(0) }
		err := s.serve(context.Background(), strings.NewReader(strings.ReplaceAll(in, "@", root)))
		if err != nil && !errors.Is(err, ErrDied) {
			t.Fatal(err)
		}
		for out.Len() > 0 {
			var n int
			var m message
			if _, err := fmt.Fscanf(&out, "Content-Length: %d\r\n\r\n", &n); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(out.Next(n), &m); err != nil || m.Version != "2.0" {
				t.Fatal(err, m)
			}
		}
	})
}
