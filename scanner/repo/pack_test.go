package repo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An index with too few bytes for its objects is refused, though its end is right.
func TestShortPackIndex(t *testing.T) { inFormats(t, testShortPackIndex) }

func testShortPackIndex(t *testing.T) {
	g := newGit(t)
	for _, name := range []string{"a", "b", "c"} {
		g.write(name, name)
		g.commit(name)
	}
	g.git("repack", "-adfq")
	h := mustHash(t, g.git("rev-parse", "HEAD:a"))
	file := onlyPack(g)
	whole, err := os.ReadFile(file)
	must(t, err)
	must(t, os.Chmod(file, 0o666))
	end := len(whole) - 40 // two checksums
	for cut := range 100 {
		must(t, os.WriteFile(file, slices.Concat(whole[:end-cut], whole[end:]), 0o666))
		_, err := g.open().Blob(h)
		if cut == 0 && err != nil || cut > 0 && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes too few: %v", cut, err)
		}
	}
}

// git writes a delta's base as an offset or a hash, and makes deltas of tags as of blobs.
func TestDeltas(t *testing.T) { inFormats(t, testDeltas) }

func testDeltas(t *testing.T) {
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
			if h, err := r.Commit("of-" + name); err != nil ||
				h.String() != g.git("rev-parse", "of-"+name+"^{commit}") {
				t.Errorf("distances %s: of-%s is %v, %v", distance, name, h, err)
			}
			b, err := r.Blob(mustHash(t, g.git("rev-parse", "HEAD:"+name)))
			must(t, err)
			got, err := io.ReadAll(b)
			b.Remember()
			if b.Close(); err != nil || string(got) != text {
				t.Errorf("distances %s: %s has %d bytes, %v", distance, name, len(got), err)
			}
		}
	}
}

// One large object is put together at a time. One that is damaged, or closed, keeps no other waiting.
func TestLargeDeltaDamaged(t *testing.T) { inFormats(t, testLargeDeltaDamaged) }

func testLargeDeltaDamaged(t *testing.T) {
	g := newGit(t)
	text := strings.Repeat("a line of a text that is large\n", large/30)
	for i := range 3 {
		g.write("f", fmt.Sprintf("%s%d\n", text, i))
		g.commit("c")
	}
	g.git("repack", "-adfq", "--depth=1")
	pack := onlyPack(g)
	deltas := regexp.MustCompile(`(?m)^(\w+) blob +\d+ (\d+) (\d+) 1 \w+$`).FindAllStringSubmatch(g.git("verify-pack",
		"-v", pack), -1)
	if len(deltas) != 2 {
		t.Fatalf("%d deltas", len(deltas))
	}
	file := strings.TrimSuffix(pack, ".idx") + ".pack"
	content, err := os.ReadFile(file)
	must(t, err)
	var size, at int
	if _, err := fmt.Sscan(deltas[0][2]+" "+deltas[0][3], &size, &at); err != nil {
		t.Fatal(err)
	}
	content[at+size-1] ^= 1 // of zlib's checksum
	must(t, errors.Join(os.Chmod(file, 0o666), os.WriteFile(file, content, 0o666)))
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

// TestDeltaSize: what a delta says of its base and its result has to be so, and small enough.
func TestDeltaSize(t *testing.T) {
	sizes := func(from, to uint64) []byte { return binary.AppendUvarint(binary.AppendUvarint(nil, from), to) }
	half := uint64(maxDelta / 2)
	for _, c := range []struct {
		delta []byte
		base  uint64
		err   error
		text  string
	}{
		{nil, 0, ErrCorrupt, "another base"},
		{[]byte{0x80}, 0, ErrCorrupt, "another base"},
		{sizes(4, 5), 5, ErrCorrupt, "another base"},
		{[]byte{5}, 5, ErrCorrupt, "without a size"},
		{[]byte{5, 0x80}, 5, ErrCorrupt, "without a size"},
		{sizes(5, 7), 5, nil, ""},
		{sizes(half, half-8), half, nil, ""}, // eight bytes of two sizes
		{sizes(half, half-7), half, ErrLimit, "a delta of 8 bytes that makes"},
		{sizes(half+1, half), half + 1, ErrLimit, "a delta of 8 bytes that makes"},
		{sizes(0, maxDelta+1), 0, ErrLimit, "a delta of 6 bytes that makes"},
		{sizes(1, 1<<63), 1, ErrLimit, "a delta of 11 bytes that makes"},
	} {
		_, want := binary.Uvarint(c.delta)
		size, err := deltaSize(c.delta, int(c.base))
		if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%x: %v, want %v", c.delta, err, c.text)
		}
		if to, _ := binary.Uvarint(c.delta[max(want, 0):]); err == nil && size != int64(to) {
			t.Errorf("%x: %d", c.delta, size)
		}
	}
}

// TestOffsetVarint: nine bytes hold 63 bits; what goes on behind them is no place in a file.
func TestOffsetVarint(t *testing.T) {
	more := bytes.Repeat([]byte{0x80}, 8)
	for _, c := range []struct {
		text []byte
		want uint64
		n    int
	}{
		{[]byte{0}, 0, 1}, {[]byte{0x7f, 9}, 0x7f, 1}, {[]byte{0x80, 0}, 0x80, 2}, {[]byte{0x80, 0x80, 1}, 0x4081, 3},
		{nil, 0, 0}, {[]byte{0x80}, 0, 0}, {append(more, 0x80, 0), 0, 0},
		{append(bytes.Clone(more), 0), 0x102040810204080, 9},
	} {
		if v, n, ok := offsetVarint(c.text); v != c.want || n != c.n || ok != (c.n > 0) {
			t.Errorf("%x: %#x, %d, %v", c.text, v, n, ok)
		}
	}
}

// A window reads what is in the pack, wherever it was before, and ends where the checksum begins.
func TestWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var packs []*pack
	var contents [][]byte
	for _, size := range []int{21, windowSize, windowSize + 21, 100_000} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(random.Uint32())
		}
		name := filepath.Join(t.TempDir(), "pack")
		must(t, os.WriteFile(name, content, 0o666))
		file, err := os.Open(name)
		must(t, err)
		t.Cleanup(func() { file.Close() })
		packs = append(packs, &pack{file: file, size: int64(size)})
		contents = append(contents, content[:size-20])
	}
	var w window
	k, at := 0, 0
	for range 20_000 {
		if random.IntN(3) == 0 {
			k = random.IntN(len(packs))
		}
		if at += random.IntN(20_000) - 10_000; at < 0 || at >= len(contents[k]) {
			at = random.IntN(len(contents[k]))
		}
		w.move(packs[k], int64(at))
		want := contents[k][at:]
		want = want[:min(len(want), 1<<random.IntN(16))]
		got := make([]byte, len(want))
		var err error
		if random.IntN(2) == 0 {
			_, err = io.ReadFull(&w, got)
		} else {
			for i := 0; i < len(got) && err == nil; i++ {
				got[i], err = w.ReadByte()
			}
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes at %d of %d: %v", len(want), at, packs[k].size, err)
		}
		if at += len(got); at == len(contents[k]) {
			if _, err := w.ReadByte(); err != io.EOF {
				t.Fatalf("a byte of the checksum: %v", err)
			}
			if n, err := w.Read(got); n != 0 || err != io.EOF {
				t.Fatalf("%d bytes of the checksum: %v", n, err)
			}
		}
	}
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
