package repo

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBlobOfManyReads: a blob read by stream seeks forward from its position, and back by reopening.
func TestBlobOfManyReads(t *testing.T) {
	g := newGit(t)
	text := strings.Repeat("0123456789abcde\n", maxHeld/16) + "end"
	g.write("f", text)
	g.commit("c")
	b, err := g.open().Blob(mustHash(t, g.git("rev-parse", "HEAD:f")))
	must(t, err)
	defer b.Close()
	if b.held != nil {
		t.Fatal("it is no stream")
	}
	piece := make([]byte, 100)
	for _, at := range []int{5, 300, 300, 400, len(text) - 100, 7, 0} {
		if now, err := b.Seek(int64(at), io.SeekStart); err != nil || now != int64(at) {
			t.Fatalf("%d: %d, %v", at, now, err)
		}
		if _, err := io.ReadFull(b, piece); err != nil || string(piece) != text[at:at+100] {
			t.Errorf("%d: %q, %v", at, piece, err)
		}
	}
}

// TestDamagedStream: an error in the middle of a blob that is read by stream names it.
func TestDamagedStream(t *testing.T) { inFormats(t, testDamagedStream) }

func testDamagedStream(t *testing.T) {
	g := newGit(t)
	g.write("f", strings.Repeat("x", maxHeld+1))
	g.commit("c")
	name := g.git("rev-parse", "HEAD:f")
	file := filepath.Join(g.dir, ".git/objects", name[:2], name[2:])
	content, err := os.ReadFile(file)
	must(t, err)
	content[len(content)-1] ^= 1 // of zlib's checksum
	must(t, errors.Join(os.Chmod(file, 0o666), os.WriteFile(file, content, 0o666)))
	b, err := g.open().Blob(mustHash(t, name))
	must(t, err)
	defer b.Close()
	_, err = io.Copy(io.Discard, b)
	if object := (*ObjectError)(nil); !errors.As(err, &object) || object.Hash.String() != name {
		t.Errorf("%v", err)
	}
}

// TestMissingObject: the errors of a missing object, and of one that may be in a pack without its index.
func TestMissingObject(t *testing.T) { inFormats(t, testMissingObject) }

func testMissingObject(t *testing.T) {
	g := newGit(t)
	g.commit("c")
	g.git("repack", "-adq")
	missing := mustHash(t, strings.Repeat("12", 20))
	_, err := g.open().Blob(missing)
	wantError(t, "no object", err, ErrMissing)
	if strings.Contains(err.Error(), "index") {
		t.Error(err)
	}
	index := onlyPack(g)
	must(t, os.Remove(index))
	_, err = g.open().Blob(missing)
	wantError(t, "a pack without an index", err, ErrMissing)
	if pack := strings.TrimSuffix(filepath.Base(index), ".idx") + ".pack"; !strings.Contains(err.Error(),
		"or it is in "+pack+", which has no index;") {
		t.Error(err)
	}
}

// TestReadSmall: a file at the limit is read whole, and one byte more is an error.
func TestReadSmall(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for more, want := range map[int64]error{0: nil, 1: ErrLimit} {
		must(t, errors.Join(os.WriteFile(name, []byte("begin"), 0o666), os.Truncate(name, maxSmall+more)))
		text, err := readSmall(name)
		if !errors.Is(err, want) || err == nil && len(text) != maxSmall {
			t.Errorf("%d more: %d bytes, %v", more, len(text), err)
		}
	}
}
