package ask

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/private"
	"github.com/policyscan/policyscan/verdict"
)

// locked is a new directory of questions that seems to be watched.
func locked(t *testing.T) (dir string, root *os.Root) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "questions")
	root, err := private.Create(dir, "questions")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := root.Create(lockName)
	if err == nil {
		err = private.Lock(lock)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close(); root.Close() })
	return dir, root
}

// TestElsewhereTimesOut: after the time limit the answer is no, and nothing is left.
func TestElsewhereTimesOut(t *testing.T) {
	dir, _ := locked(t)
	late := make(chan time.Time, 1)
	late <- time.Time{}
	q := &Question{Call: &call.Call{Tool: "Bash"}, Reason: "r", Dir: dir, Safe: verdict.Visible}
	if yes, err := q.elsewhere(t.Context(), late); yes || err != nil {
		t.Errorf("%v, %v", yes, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// put writes a question, as a hook would.
func put(t *testing.T, root *os.Root, p *posted) {
	t.Helper()
	name := p.id + questionExt
	err := private.Write(root, name, []byte(p.text))
	if err == nil {
		at := p.until.Add(-Patience)
		err = root.Chtimes(name, at, at)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestWatcherAsks: what was typed before a question does not answer it, and after its time limit nothing does.
func TestWatcherAsks(t *testing.T) {
	early, late := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for _, c := range []struct {
		typed  []typed
		gone   bool
		late   bool
		says   string
		answer string
	}{
		{[]typed{{"y\n", late}}, false, false, "in 60 seconds) allowed\n", "true"},
		{[]typed{{"y\n", early}, {"n\n", late}}, false, false, "in 60 seconds) denied\n", "false"},
		{[]typed{{"y\ny\n", late}}, false, false, "in 60 seconds) denied\n", "false"},
		{[]typed{{"y\n", late}}, true, false, "in 60 seconds) it is no longer asked\n", ""},
		{nil, true, true, "in 60 seconds) \nno answer, so: no\n", ""},
		{nil, true, false, "in 60 seconds) \nit is no longer asked\n", ""},
		{nil, false, true, "in 60 seconds) \nno answer, so: no\n", ""},
	} {
		_, root := locked(t)
		p := &posted{id: "A", text: "a\x1b[2J\u202eb\n  c", until: late}
		put(t, root, p)
		var out bytes.Buffer
		w := &watcher{root: root, out: &out, safe: verdict.Visible}
		look := func(at time.Time) {
			t.Helper()
			if err := w.look(at); err != nil {
				t.Error(err)
			}
		}
		look(time.Now())
		look(time.Now())
		if c.gone {
			if err := root.Remove("A" + questionExt); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range c.typed {
			if err := w.answer(line); err != nil {
				t.Error(err)
			}
		}
		if c.typed == nil {
			end := time.Now()
			if !c.gone || c.late {
				end = end.Add(Patience)
			}
			look(end)
			put(t, root, &posted{id: "B", text: "next", until: late})
			look(end) // for a moment it is not shown
		}
		want := "\na\\u{1b}[2J\\u{202e}b\n  c\nAllow it? [y/N] (no, " + c.says
		if out.String() != want {
			t.Errorf("%+v: %q, want %q", c, out.String(), want)
		}
		want = ""
		if c.answer != "" {
			want = p.answer(c.answer == "true")
		}
		if got, err := private.Read(root, "A"+answerExt, 100); err != nil || string(got) != want {
			t.Errorf("%+v: the answer %q, %v; want %q", c, got, err, want)
		}
	}
}

// TestQuestions: the questions that are shown, the oldest first. What a hook left behind is removed.
func TestQuestions(t *testing.T) {
	_, root := locked(t)
	soon := time.Now().Add(Patience / 2)
	put(t, root, &posted{id: "1", text: "second", until: soon.Add(time.Second)})
	put(t, root, &posted{id: "2", text: "first", until: soon})
	put(t, root, &posted{id: "3", text: "over", until: time.Now().Add(-time.Second)})
	put(t, root, &posted{id: "4", text: strings.Repeat("x", maxBytes+1), until: soon})
	for _, name := range []string{"3.answer", "notes.answer", "notes"} {
		if err := root.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := root.Mkdir("dir.question", 0o700); err != nil {
		t.Fatal(err)
	}
	w := &watcher{root: root}
	list, err := w.questions(time.Now())
	if err != nil || len(list) != 2 || list[0].text != "first" || list[1].text != "second" {
		t.Errorf("%+v, %v", list, err)
	}
	for name, want := range map[string]bool{
		"3.question": false, "3.answer": false, "1.question": true, "notes.answer": true, "notes": true,
	} {
		if _, err := root.Lstat(name); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnswerBelongs: an answer is to one question: neither another text nor another id has the same.
func TestAnswerBelongs(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range []*posted{{id: "A", text: "a"}, {id: "A", text: "b"}, {id: "B", text: "a"}, {id: "A", text: "a\n"}} {
		seen[p.answer(true)], seen[p.answer(false)] = true, true
	}
	if len(seen) != 8 {
		t.Errorf("%v", seen)
	}
}

// TestWatchEnds: a second watcher is refused, and one whose terminal ends does, too.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	dir, _ := locked(t)
	err := (&watcher{in: strings.NewReader(""), out: io.Discard, safe: verdict.Visible}).run(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "another policyscan ask --watch") {
		t.Errorf("a second watcher: %v", err)
	}
	var out bytes.Buffer
	dir = filepath.Join(t.TempDir(), "state", "questions")
	w := &watcher{in: strings.NewReader(""), out: &out, safe: verdict.Visible}
	if err := w.run(t.Context(), dir); err != nil ||
		out.String() != "policyscan: waiting for questions in "+dir+"; Ctrl-C ends it\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}
