package repo

import (
	"io"
	"os"
	"strings"
	"testing"
)

// A closed blob has no open file, whether held or read by stream, even if it was read twice.
func TestNoHandleIsLeft(t *testing.T) {
	g := newGit(t)
	large := strings.Repeat("line\n", maxHeld/5+1)
	g.write("small", "text")
	g.write("large", large)
	g.commit("loose")
	want := map[string]string{"small": "text", "large": large}
	handles := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(all)
	}
	r := g.open()
	before := handles()
	for name, text := range want {
		h := mustHash(t, g.git("rev-parse", "HEAD:"+name))
		for range 5 {
			b, err := r.Blob(h)
			must(t, err)
			for range 2 {
				if _, err := b.Seek(0, io.SeekStart); err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(b); err != nil || string(got) != text {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			}
			b.Close()
		}
	}
	if after := handles(); after > before {
		t.Errorf("%d files are open, %d were", after, before)
	}
}
