package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/agent/private"
	"github.com/policyscan/policyscan/internal/disk"
)

// pause is how long the next question waits after one that the user may still be answering.
const pause = time.Second

// A watcher shows the questions in a directory to the user, one at a time.
type watcher struct {
	root *os.Root
	in   io.Reader
	out  io.Writer
	safe func(string) string

	asked *posted   // on the terminal; nil if no question is
	from  time.Time // only what is typed then or later answers it
	until time.Time // when it ends; without one, when the next may be shown
}

// typed is what one read of the terminal gives: a line.
type typed struct {
	text string
	at   time.Time
}

// Watch shows the questions that hooks write into the directory, and writes the user's answers, until ctx or the
// terminal ends. It creates the directory.
func Watch(ctx context.Context, dir string, safe func(string) string) error {
	in, out, err := openTerminal()
	if err != nil {
		return fmt.Errorf("there is no terminal to ask at: %w", disk.Cause(err))
	}
	defer in.Close()  // nothing was buffered
	defer out.Close() // the same
	return (&watcher{in: in, out: out, safe: safe}).run(ctx, dir)
}

func (w *watcher) run(ctx context.Context, dir string) error {
	root, err := openDir(dir, private.Create)
	if err != nil {
		return err
	}
	defer root.Close() // the files in it are closed
	w.root = root
	lock, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		defer lock.Close() // it stays empty
		err = private.Lock(lock)
	}
	if err != nil {
		return fmt.Errorf("another policyscan ask --watch may show the questions in %s; end it: %w", dir, err)
	}
	lines := make(chan typed)
	go w.read(lines)
	tick := time.NewTicker(period)
	defer tick.Stop()
	_, err = fmt.Fprintf(w.out, "policyscan: waiting for questions in %s; Ctrl-C ends it\n", w.safe(dir))
	for err == nil {
		select {
		case <-tick.C:
			err = w.look(time.Now())
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			err = w.answer(line)
		case <-ctx.Done():
			_, err = fmt.Fprintln(w.out)
			return err
		}
	}
	return err
}

func (w *watcher) read(lines chan<- typed) {
	defer close(lines)
	buf := make([]byte, 4096)
	for {
		n, err := w.in.Read(buf)
		if err != nil {
			return
		}
		lines <- typed{string(buf[:n]), time.Now()}
	}
}

// look shows the next question, or ends the one that is shown if its time is over or its hook has ended.
func (w *watcher) look(now time.Time) error {
	said := "no answer, so: no"
	switch {
	case w.asked != nil && w.withdrawn():
		if now.Add(pause).Before(w.until) { // else the hook's clock was ahead
			said = "it is no longer asked"
		}
	case now.Before(w.until):
		return nil
	case w.asked == nil:
		list, err := w.questions(now)
		if err != nil || len(list) == 0 {
			return err
		}
		return w.show(list[0])
	}
	w.asked, w.until = nil, now.Add(pause)
	_, err := fmt.Fprintf(w.out, "\n%s\n", said)
	return err
}

func (w *watcher) withdrawn() bool {
	_, err := w.root.Lstat(w.asked.id + questionExt)
	return disk.Absent(err)
}

// questions returns the questions that wait, the oldest first. Other files are ignored.
func (w *watcher) questions(now time.Time) (list []*posted, err error) {
	dir, err := w.root.Open(".")
	if err != nil {
		return nil, err
	}
	entries, err := dir.ReadDir(-1)
	for _, e := range entries {
		id, is := strings.CutSuffix(e.Name(), questionExt)
		info, ierr := e.Info()
		if !is || ierr != nil {
			continue
		}
		text, rerr := private.Read(w.root, e.Name(), maxBytes)
		p := &posted{id, string(text), info.ModTime().Add(Patience)}
		if now.After(p.until) { // its hook did not end by itself
			p.remove(w.root)
		} else if rerr == nil && text != nil { // else its hook has ended
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *posted) int { return a.until.Compare(b.until) })
	return list, errors.Join(err, dir.Close())
}

func (w *watcher) show(p *posted) error {
	text := "\n"
	for line := range strings.SplitSeq(p.text, "\n") {
		text += w.safe(line) + "\n"
	}
	forgetTyped(w.in)
	w.asked, w.from = p, time.Now()
	left := min(p.until.Sub(w.from), Patience)
	w.until = w.from.Add(left)
	_, err := io.WriteString(w.out, text+prompt(left))
	return err
}

// answer writes the answer to the question that is shown. What was typed before it does not count.
func (w *watcher) answer(line typed) error {
	if w.asked == nil || line.at.Before(w.from) {
		return nil
	}
	p, yes := w.asked, isYes(line.text)
	w.asked, w.until = nil, time.Time{}
	said := map[bool]string{true: "allowed", false: "denied"}[yes]
	if err := w.root.Remove(p.id + questionExt); disk.Absent(err) {
		said = "it is no longer asked"
	} else if err := errors.Join(err, private.Write(w.root, p.id+answerExt, []byte(p.answer(yes)))); err != nil {
		return fmt.Errorf("the answer cannot be written, so it is no: %w", err)
	}
	_, err := fmt.Fprintln(w.out, said)
	return err
}
