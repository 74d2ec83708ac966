package docs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newPlaces returns the new places of moved sections from testdata/moved.txt: a line has the old and the new place,
// PAGE or PAGE#ANCHOR. Anchors without a line move with their page.
func newPlaces(t *testing.T) map[string]string {
	t.Helper()
	moved := map[string]string{}
	for line := range strings.Lines(read(t, "testdata/moved.txt")) {
		old, now, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			t.Fatalf("testdata/moved.txt: %q", line)
		}
		moved[old] = now
	}
	return moved
}

var pageAnchors = map[string][]string{} // by page; nil for a missing page

// hasAnchor reports whether a page, below the repository's root, exists and has the anchor, which may be empty.
func hasAnchor(t *testing.T, place string) bool {
	t.Helper()
	page, anchor, _ := strings.Cut(place, "#")
	anchors, known := pageAnchors[page]
	if !known {
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(page)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err == nil {
			anchors = append([]string{""}, anchorsOf(string(text))...)
		}
		pageAnchors[page] = anchors
	}
	return slices.Contains(anchors, anchor)
}

// TestMoved: each page and section from before the manual was cut to two dozen pages can still be found, at its old
// place or by testdata/moved.txt. testdata/anchors.txt lists them.
func TestMoved(t *testing.T) {
	moved := newPlaces(t)
	for old, now := range moved {
		if hasAnchor(t, old) {
			t.Errorf("%s has not moved; delete its line", old)
		}
		if !hasAnchor(t, now) {
			t.Errorf("%s is said to be at %s, which does not exist", old, now)
		}
	}
	all := 0
	for line := range strings.Lines(read(t, "testdata/anchors.txt")) {
		old := strings.TrimSpace(line)
		all++
		page, anchor, _ := strings.Cut(old, "#")
		now, told := moved[old]
		if home := moved[page]; !told && home != "" {
			home, _, _ = strings.Cut(home, "#")
			now = home + "#" + anchor
		}
		if now == "" {
			now = old
		}
		if !hasAnchor(t, now) {
			t.Errorf("%s was in the manual; say in testdata/moved.txt where it is now", old)
		}
	}
	if all < 400 {
		t.Errorf("only %d old places", all)
	}
	// Readers of an old link look into the index.
	index := read(t, "README.md")
	for old := range moved {
		if name := path.Base(old); !strings.Contains(old, "#") && !strings.Contains(index, "`"+name+"`") {
			t.Errorf("docs/README.md does not say where %s is now", name)
		}
	}
}
