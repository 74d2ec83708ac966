package repo

import (
	"errors"
	"os"
	"slices"
	"testing"
)

// An index that has too few bytes for its objects is not looked into, though it ends as it should.
func TestShortPackIndex(t *testing.T) {
	g := newGit(t)
	for _, name := range []string{"a", "b", "c"} {
		g.write(name, name)
		g.commit(name)
	}
	g.git("repack", "-adfq")
	h := mustHash(t, g.git("rev-parse", "HEAD:a"))
	file := onlyPack(g)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	end := len(whole) - 40 // two checksums
	for cut := range 100 {
		if err := os.WriteFile(file, slices.Concat(whole[:end-cut], whole[end:]), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := g.open().Blob(h)
		if cut == 0 && err != nil || cut > 0 && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes too few: %v", cut, err)
		}
	}
}
