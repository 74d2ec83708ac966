// Package reuse keeps results of earlier scans in a folder, by a key: what the result was made of. It knows neither
// rules nor files of a tree.
//
// An entry is believed only if it is whole: it repeats its key and has a sum of its own, so that one which is torn, or
// was put in the place of another, is as none. Who can write the folder can forge entries all the same, sum included.
// Several processes may share a folder, on other machines too: an entry gets its name when it is whole.
package reuse

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync/atomic"
)

// A Key says what a result was made of.
type Key [sha256.Size]byte

// MaxEntry is how many bytes an entry may have, its frame included. Longer results are not kept.
const MaxEntry = 1 << 20

// head begins each entry. The number changes with the shape of what is in an entry.
const head = "policyscan result 1\n"

// A Store is a folder with results. Several goroutines may use it at once.
type Store struct {
	root   *os.Root
	failed atomic.Pointer[error] // the first time that an entry could not be kept; nil: all were
}

// Open opens the folder, and makes it if it is not there.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Store{root: root}, nil
}

// Close closes the folder.
func (s *Store) Close() error { return s.root.Close() }

// file returns the entry's path in the folder. There are 256 folders in it.
func (k Key) file() string {
	name := hex.EncodeToString(k[:])
	return name[:2] + "/" + name[2:]
}

// Get returns the result with the key; false if there is none that can be believed.
func (s *Store) Get(k Key) (result []byte, ok bool) {
	// A FIFO is never opened: that would wait for whoever writes to it.
	if st, err := s.root.Lstat(k.file()); err != nil || !st.Mode().IsRegular() || st.Size() > MaxEntry {
		return nil, false
	}
	f, err := s.root.Open(k.file())
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxEntry+1))
	if err != nil || len(text) > MaxEntry {
		return nil, false
	}
	return unframe(k, text)
}

// Put keeps a result, in the place of one that is there. That it cannot be kept does not matter to a scan:
// [Store.Failed] says so.
func (s *Store) Put(k Key, result []byte) {
	text := frame(k, result)
	if len(text) > MaxEntry {
		return
	}
	if err := s.put(k.file(), text); err != nil {
		s.failed.CompareAndSwap(nil, &err)
	}
}

func (s *Store) put(name string, text []byte) error {
	if err := s.root.Mkdir(path.Dir(name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Another process may write the same entry: each has a name for it until it is whole.
	temporary := name + "." + rand.Text() + ".tmp"
	f, err := s.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.root.Rename(temporary, name)
	}
	if err != nil {
		_ = s.root.Remove(temporary) // it is in nobody's way
	}
	return err
}

// Failed returns why the first result that could not be kept could not; nil if all were.
func (s *Store) Failed() error {
	if err := s.failed.Load(); err != nil {
		return fmt.Errorf("results could not be kept: %w", *err)
	}
	return nil
}

// frame returns an entry's bytes.
func frame(k Key, result []byte) []byte {
	text := make([]byte, 0, len(head)+len(k)+len(result)+sha256.Size)
	text = append(append(append(text, head...), k[:]...), result...)
	sum := sha256.Sum256(text)
	return append(text, sum[:]...)
}

// unframe returns the result that is in an entry's bytes; false if they are not whole, or another's.
func unframe(k Key, text []byte) ([]byte, bool) {
	at := len(text) - sha256.Size
	if at < len(head)+len(k) || !bytes.HasPrefix(text, append([]byte(head), k[:]...)) {
		return nil, false
	}
	if sum := sha256.Sum256(text[:at]); !bytes.Equal(sum[:], text[at:]) {
		return nil, false
	}
	return text[len(head)+len(k) : at], true
}
