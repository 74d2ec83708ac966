package reuse

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func file(dir string, k Key) string { return filepath.Join(dir, filepath.FromSlash(k.file())) }

// TestStore: cached results are found, also in another process; incomplete or misplaced ones are not.
func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s, a, b := open(t, dir), Key{1}, Key{1, 2}
	if _, ok := s.Get(a); ok {
		t.Error("an empty dir has a result")
	}
	for _, result := range []string{"", "one", "another"} {
		s.Put(a, []byte(result))
		if got, ok := open(t, dir).Get(a); !ok || string(got) != result {
			t.Errorf("kept %q, got %q, %v", result, got, ok)
		}
	}
	if err := s.Failed(); err != nil {
		t.Error(err)
	}
	whole, err := os.ReadFile(file(dir, a))
	if err != nil {
		t.Fatal(err)
	}
	put := func(k Key, text []byte) {
		t.Helper()
		if err := os.WriteFile(file(dir, k), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if put(b, whole); true {
		if _, ok := s.Get(b); ok {
			t.Error("another key's entry is believed")
		}
	}
	for n := range whole {
		if put(a, whole[:n]); true {
			if got, ok := s.Get(a); ok {
				t.Errorf("cut after %d bytes it is believed: %q", n, got)
			}
		}
		torn := bytes.Clone(whole)
		torn[n] ^= 1
		if put(a, torn); true {
			if got, ok := s.Get(a); ok {
				t.Errorf("with another byte %d it is believed: %q", n, got)
			}
		}
	}
	put(a, append(bytes.Clone(whole), 0))
	if _, ok := s.Get(a); ok {
		t.Error("with a byte more it is believed")
	}
	s.Put(a, []byte("new"))
	if got, ok := s.Get(a); !ok || string(got) != "new" {
		t.Errorf("the torn entry is not replaced: %q, %v", got, ok)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", "*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %q, %v", left, err)
	}
}

// TestTooLong: an entry is bounded.
func TestTooLong(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	most := MaxEntry - len(frame(Key{}, nil))
	s.Put(Key{1}, make([]byte, most))
	s.Put(Key{2}, make([]byte, most+1))
	if got, ok := s.Get(Key{1}); !ok || len(got) != most {
		t.Errorf("the longest is not kept: %d, %v", len(got), ok)
	}
	if _, ok := s.Get(Key{2}); ok || s.Failed() != nil {
		t.Errorf("a longer one is kept: %v", s.Failed())
	}
	if err := os.WriteFile(file(dir, Key{1}), frame(Key{1}, make([]byte, most+1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Get(Key{1}); ok {
		t.Error("a longer one is believed")
	}
}

// TestElsewhere: files outside the directory are not read, and a result that cannot be cached does no harm.
func TestElsewhere(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	s, k := open(t, dir), Key{3}
	if err := os.WriteFile(filepath.Join(other, "entry"), frame(k, []byte("x")), 0o666); err != nil {
		t.Fatal(err)
	}
	s.Put(k, []byte("y"))
	if err := os.Remove(file(dir, k)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(other, "entry"), file(dir, k)); err != nil {
		t.Skip(err)
	}
	if _, ok := s.Get(k); ok {
		t.Error("a link out of the dir is followed")
	}
	if err := os.Remove(file(dir, k)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(file(dir, k), "dir"), 0o777); err != nil {
		t.Fatal(err)
	}
	s.Put(k, []byte("y"))
	if _, ok := s.Get(k); ok || s.Failed() == nil {
		t.Errorf("a dir is in the entry's place: %v, %v", ok, s.Failed())
	}
	if _, err := Open(file(dir, k) + "/dir/\x00"); err == nil {
		t.Error("a dir with such a name is made")
	}
}

// TestTogether: several may read and write the same entries; reads are always complete.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		s := open(t, dir)
		all.Go(func() {
			for i := range 200 {
				k := Key{byte(i % 7)}
				want := bytes.Repeat([]byte{byte(i % 7)}, 1000)
				if got, ok := s.Get(k); ok && !bytes.Equal(got, want) {
					t.Errorf("got %q", fmt.Sprint(got)[:20])
				}
				s.Put(k, want)
			}
			if err := s.Failed(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
