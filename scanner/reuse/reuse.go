// Package reuse caches results of earlier scans in a directory. It knows neither rules nor files of a tree.
//
// An entry repeats its key and has a checksum, so that a torn or misplaced entry counts as missing. Anyone who can
// write to the directory can forge entries, checksum included. Several processes may share a directory, on other
// machines too: an entry gets its name when it is complete.
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

// A Key identifies the input of a result.
type Key [sha256.Size]byte

// MaxEntry limits the bytes of an entry, including its frame. Longer results are not cached.
const MaxEntry = 1 << 20

// head begins each entry. The number changes with the format of entries.
const head = "policyscan result 1\n"

// A Store is a directory with results. Several goroutines may use it at once.
type Store struct {
	root   *os.Root
	failed atomic.Pointer[error] // the first failure to write an entry; nil if none
}

// Open opens the directory, and creates it if it is missing.
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

// Close closes the directory.
func (s *Store) Close() error { return s.root.Close() }

// file returns the entry's path in the store, which has 256 directories.
func (k Key) file() string {
	name := hex.EncodeToString(k[:])
	return name[:2] + "/" + name[2:]
}

// Get returns the result with the key; false without a valid one.
func (s *Store) Get(k Key) (result []byte, ok bool) {
	// A FIFO is never opened: that would wait for a writer.
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

// Put caches a result and replaces an earlier one. A scan ignores its failures; see [Store.Failed].
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
	// Another process may write the same entry: each uses its own name until the entry is complete.
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
		_ = s.root.Remove(temporary) // a leftover does no harm
	}
	return err
}

// Failed returns the first error of [Store.Put], or nil.
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

// unframe returns the result in an entry's bytes; false if they are incomplete, or another entry's.
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
