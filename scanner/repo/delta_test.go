package repo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// git writes a delta's base as a distance or as a name, and makes deltas of tags as of blobs.
func TestDeltas(t *testing.T) {
	for _, distance := range []string{"true", "false"} {
		g := newGit(t)
		lines := strings.Repeat("a line of a text that is long enough to be stored as a delta\n", 50)
		want := map[string]string{}
		for i := range 4 {
			name, text := fmt.Sprintf("f%d", i), fmt.Sprintf("%d\n%s%d\n", i, lines, i)
			want[name] = text
			g.write(name, text)
			g.commit(name)
			g.git("tag", "-a", "-m", text, "of-"+name)
		}
		g.git("-c", "repack.useDeltaBaseOffset="+distance, "repack", "-adfq")
		stored := g.git("verify-pack", "-v", onlyPack(g)) // of a delta: name, kind, two sizes, place, depth and base
		for _, kind := range []string{"blob", "tag"} {
			if !regexp.MustCompile(`(?m)^\w+ ` + kind + ` +\d+ \d+ \d+ [12] \w+$`).MatchString(stored) {
				t.Fatalf("no %s is a delta:\n%s", kind, stored)
			}
		}
		r := g.open()
		for name, text := range want {
			if h, err := r.Commit("of-" + name); err != nil || h.String() != g.git("rev-parse", "of-"+name+"^{commit}") {
				t.Errorf("distances %s: of-%s is %v, %v", distance, name, h, err)
			}
			b, err := r.Blob(mustHash(t, g.git("rev-parse", "HEAD:"+name)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(b)
			if b.Close(); err != nil || string(got) != text {
				t.Errorf("distances %s: %s has %d bytes, %v", distance, name, len(got), err)
			}
		}
	}
}

// One large object is put together at a time. One that is damaged, or closed, keeps no other waiting.
func TestLargeDeltaDamaged(t *testing.T) {
	g := newGit(t)
	text := strings.Repeat("a line of a text that is large\n", large/30)
	for i := range 3 {
		g.write("f", fmt.Sprintf("%s%d\n", text, i))
		g.commit("c")
	}
	g.git("repack", "-adfq", "--depth=1")
	pack := onlyPack(g)
	deltas := regexp.MustCompile(`(?m)^(\w+) blob +\d+ (\d+) (\d+) 1 \w+$`).FindAllStringSubmatch(g.git("verify-pack", "-v", pack), -1)
	if len(deltas) != 2 {
		t.Fatalf("%d deltas", len(deltas))
	}
	file := strings.TrimSuffix(pack, ".idx") + ".pack"
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var size, at int
	if _, err := fmt.Sscan(deltas[0][2]+" "+deltas[0][3], &size, &at); err != nil {
		t.Fatal(err)
	}
	content[at+size-1] ^= 1 // of zlib's checksum
	if err := errors.Join(os.Chmod(file, 0o666), os.WriteFile(file, content, 0o666)); err != nil {
		t.Fatal(err)
	}
	r := g.open()
	if _, err := r.Blob(mustHash(t, deltas[0][1])); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the damaged one: %v", err)
	}
	ends(t, "the other one", func() {
		for range 2 {
			b, err := r.Blob(mustHash(t, deltas[1][1]))
			if err != nil || b.Size() != int64(len(text)+2) {
				t.Errorf("the other one: %v", err)
				return
			}
			b.Close()
		}
	})
}

// onlyPack returns the index of a repository's only pack.
func onlyPack(g *gitRepo) string {
	g.Helper()
	packs, err := filepath.Glob(filepath.Join(g.dir, ".git/objects/pack/*.idx"))
	if err != nil || len(packs) != 1 {
		g.Fatal(packs, err)
	}
	return packs[0]
}
