package ask

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/policyscan/policyscan/agent/private"
	"github.com/policyscan/policyscan/internal/disk"
)

// A directory of questions has the lock of its watcher and, named by an id, a file for each question and its answer.
const (
	lockName    = "lock"
	questionExt = ".question"
	answerExt   = ".answer"
	maxBytes    = 1 << 20 // of a question that is shown
	period      = 100 * time.Millisecond
)

// Dir returns the directory of questions: "" unless the mode is [Dashboard], else the one named, or the default one.
func (m Mode) Dir(named string, getenv func(string) string) (string, error) {
	if m != Dashboard {
		return "", nil
	}
	if named == "" {
		return private.DefaultDir("questions", getenv)
	}
	return filepath.Abs(named)
}

// openDir opens a directory of questions. It must be private and in no repository, where an agent may write.
func openDir(dir string, open func(dir, what string) (*os.Root, error)) (*os.Root, error) {
	root, err := open(dir, "questions")
	if err != nil {
		return nil, err
	}
	real, err := disk.Real(dir)
	if repo := cmp.Or(repository(filepath.Clean(dir)), repository(real)); err == nil && repo != "" {
		err = fmt.Errorf("%s is in the repository %s, where an agent may write; name a directory elsewhere", dir, repo)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// repository returns the directory at or above dir that has a .git, or "".
func repository(dir string) string {
	for at := range disk.Upwards(dir) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); !disk.Absent(err) {
			return at
		}
	}
	return ""
}

// A posted question is a file: its text, with a random name.
type posted struct {
	id, text string
	until    time.Time // after it the answer is no; Patience counts from when the file was written
}

// answer is the content of the answer's file. It belongs to this question alone.
func (p *posted) answer(yes bool) string {
	return fmt.Sprintf("%t %x\n", yes, sha256.Sum256([]byte(p.id+"\n"+p.text)))
}

// isWatched reports whether another process has the lock of the directory: a watcher, or for a moment another hook.
func isWatched(root *os.Root) (bool, error) {
	file, err := root.OpenFile(lockName, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	locked, err := private.TryLock(file)
	return err == nil && !locked, errors.Join(err, file.Close())
}

var errUnwatched = errors.New("it does not run; start it in another terminal")

// elsewhere writes the question into its directory, and waits for the answer of the user who runs [Watch].
func (q *Question) elsewhere(ctx context.Context, late <-chan time.Time) (bool, error) {
	root, err := openDir(q.Dir, private.Open)
	if errors.Is(err, fs.ErrNotExist) {
		err = errUnwatched
	}
	if err != nil {
		return false, err
	}
	defer root.Close() // the files in it are closed
	p := &posted{id: rand.Text(), text: q.text() + "  (in " + q.Safe(q.Call.Dir) + ")"}
	if err := private.Write(root, p.id+questionExt, []byte(p.text)); err != nil {
		return false, err
	}
	defer p.remove(root)
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		watched, err := isWatched(root) // first: an answer counts even if the watcher then ends
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		answer, err := private.Read(root, p.id+answerExt, 100)
		switch {
		case err != nil:
			return false, err
		case string(answer) == p.answer(true):
			return true, nil
		case string(answer) == p.answer(false):
			return false, nil
		case !watched:
			return false, errUnwatched
		}
		select {
		case <-tick.C:
		case <-late:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// remove removes the files of a question. No process takes one that stays: it is too old.
func (p *posted) remove(root *os.Root) {
	_ = root.Remove(p.id + questionExt)
	_ = root.Remove(p.id + answerExt)
}
