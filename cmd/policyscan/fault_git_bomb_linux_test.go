//go:build !race

// The race detector needs more memory, and takes ten times as long.

package main

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/adler32"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// peak runs the program and returns the most memory that it held, in MiB, read while
// it runs: the ru_maxrss that a parent is told begins with the parent's own. A run that
// ended before anything was read is repeated.
func (p program) peak(args ...string) (ending, int) {
	p.t.Helper()
	for range 20 {
		if e, mib := p.watch(args...); mib > 0 {
			return e, mib
		}
	}
	p.t.Fatal("no memory was seen")
	return ending{}, 0
}

// watch is one run for peak; 0 MiB if no memory was seen.
func (p program) watch(args ...string) (ending, int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	cmd := p.command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	stop, most := make(chan bool), make(chan int)
	go func() {
		kib := highWater(cmd.Process.Pid)
		for {
			select {
			case <-stop:
				most <- kib
				return
			case <-time.After(time.Millisecond):
				kib = max(kib, highWater(cmd.Process.Pid))
			}
		}
	}()
	status := exitOf(cmd.Wait())
	close(stop)
	mib := <-most >> 10
	if took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); took > 20*time.Second {
		p.t.Errorf("%q took %v of processor time", args, took)
	}
	return ending{status: status, out: out.String()}, mib
}

// highWater is the largest resident set of a process in KiB; 0 if it has ended.
func highWater(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), " kB"))
	return kib
}

// bomb is the zlib stream of head, mib MiB of NULs and tail, made by repeating one compressed MiB, and the SHA-1 of
// its content.
func bomb(t testing.TB, head string, mib int, tail string) (stream []byte, name string) {
	t.Helper()
	zeros := make([]byte, 1<<20)
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	piece := func(text []byte, end func() error) []byte {
		from := b.Len()
		if _, err := z.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(b.Bytes()[from:])
	}
	stream = append(piece([]byte(head), z.Flush), piece(zeros, z.Flush)...)
	again := piece(zeros, z.Flush) // its window is full of NULs, as in all later ones
	last := piece([]byte(tail), z.Close)
	for range mib - 1 {
		stream = append(stream, again...)
	}
	stream = append(stream, last[:len(last)-4]...) // without the checksum of the part above
	sum, check := sha1.New(), adler32.New()
	w := io.MultiWriter(sum, check)
	_, _ = io.WriteString(w, head) // hashes never fail
	for range mib {
		_, _ = w.Write(zeros)
	}
	_, _ = io.WriteString(w, tail)
	return binary.BigEndian.AppendUint32(stream, check.Sum32()), hex.EncodeToString(sum.Sum(nil))
}

// A packed is an object of a pack that is written as it is.
type packed struct {
	name   string // its hash
	kind   byte
	size   int
	base   string // of a delta: the object that it changes
	stream []byte // compressed
}

// The kinds of packed objects.
const (
	packedBlob  = 3
	packedDelta = 7
)

// loose writes the file of a loose object, whatever is in it.
func (g *gitRepo) loose(name string, stream []byte) {
	g.t.Helper()
	writeFile(g.t, g.path(".git/objects/"+name[:2]+"/"+name[2:]), string(stream))
}

// pack writes a pack and its index (gitformat-pack(5)), whatever is in them.
func (g *gitRepo) pack(objects ...packed) {
	g.t.Helper()
	text := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(objects)))
	offsets := map[string]int{}
	for _, o := range objects {
		offsets[o.name] = len(text)
		c := o.kind<<4 | byte(o.size&15)
		for size := o.size >> 4; ; size >>= 7 {
			if size == 0 {
				text = append(text, c)
				break
			}
			text, c = append(text, c|0x80), byte(size&0x7f)
		}
		text = append(append(text, unhex(g.t, o.base)...), o.stream...)
	}
	sum := sha1.Sum(text)
	text = append(text, sum[:]...)

	slices.SortFunc(objects, func(a, b packed) int { return strings.Compare(a.name, b.name) })
	idx := []byte("\xfftOc\x00\x00\x00\x02")
	for first := range 256 {
		n := 0
		for _, o := range objects {
			if int(unhex(g.t, o.name)[0]) <= first {
				n++
			}
		}
		idx = binary.BigEndian.AppendUint32(idx, uint32(n))
	}
	for _, o := range objects {
		idx = append(idx, unhex(g.t, o.name)...)
	}
	idx = append(idx, make([]byte, 4*len(objects))...) // unused checksums
	for _, o := range objects {
		idx = binary.BigEndian.AppendUint32(idx, uint32(offsets[o.name]))
	}
	idx = append(idx, sum[:]...)
	own := sha1.Sum(idx)
	stem := g.path(".git/objects/pack/pack-" + hex.EncodeToString(sum[:]))
	writeFile(g.t, stem+".pack", string(text))
	writeFile(g.t, stem+".idx", string(append(idx, own[:]...)))
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// adds makes the branches base, which is empty, and head, which adds a blob as bomb.tf.
func (g *gitRepo) adds(blob string) {
	g.t.Helper()
	base := g.git("commit-tree", "-m", "base", g.tree())
	g.git("branch", "base", base)
	g.git("branch", "head", g.git("commit-tree", "-m", "head", "-p", base, g.tree("100644 blob "+blob+"\tbomb.tf")))
}

// wantPeak runs the program on a bomb and holds it to its memory.
func (g *gitRepo) wantPeak(limit int, args []string, status int, saying string) *verdictFile {
	g.t.Helper()
	e, mib := g.peak(append(args, "repo")...)
	e.want(g.t, status)
	v := g.verdict()
	if got := strings.Join(summaryOf(v), " "); got != saying {
		g.t.Errorf("%q: the verdict is %s, want %s: %+v", args, got, saying, v.Errors)
	}
	if mib > limit {
		g.t.Errorf("%q took %d MiB of memory; %d are allowed", args, mib, limit)
	}
	g.t.Logf("%d MiB of memory", mib)
	return v
}

// unfolding is a delta that copies the first 64 KiB of its base again and again, a byte
// for each, until it is mib MiB.
func unfolding(base string, mib int) []byte {
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(base))), uint64(mib)<<20)
	return append(delta, bytes.Repeat([]byte{0x80}, mib<<4)...)
}

// deltaBomb writes a pack with a blob of 64 KiB, which the pattern ends, and a delta that makes it
// mib MiB. It returns the name of what the delta makes.
func (g *gitRepo) deltaBomb(mib int) string {
	g.t.Helper()
	const end = "\n0.0.0.0/0"
	text := strings.Repeat("x", 64<<10-len(end)) + end
	sum := sha1.New()
	_, _ = fmt.Fprintf(sum, "blob %d\x00", mib<<20) // hashes never fail
	for range mib << 4 {
		_, _ = io.WriteString(sum, text)
	}
	name := hex.EncodeToString(sum.Sum(nil))
	base, delta := g.object("blob", text), unfolding(text, mib)
	g.pack(
		packed{name: base, kind: packedBlob, size: len(text), stream: deflated(g.t, []byte(text))},
		packed{name: name, kind: packedDelta, size: len(delta), base: base, stream: deflated(g.t, delta)})
	return name
}

// deflated is a text as a pack holds it.
func deflated(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFault_122_TreeBombs: ten directories in ten directories, ten levels down, and thousands of nested directories
// exceed a limit soon and in little memory.
func TestFault_122_TreeBombs(t *testing.T) {
	t.Parallel()
	deepest := 2100 // over the limit
	if *long {
		deepest = 5000
	}
	for name, c := range map[string]struct{ wide, deep int }{"wide": {10, 10}, "deep": {1, deepest}} {
		t.Run(name, func(t *testing.T) {
			g := newGit(t)
			at, kind := g.object("blob", "10.0.0.0/8\n"), "100644"
			z := zlib.NewWriter(nil) // to make one takes longer than to write an object
			for range c.deep {
				var tree bytes.Buffer
				raw, err := hex.DecodeString(at)
				if err != nil {
					t.Fatal(err)
				}
				for i := range c.wide {
					fmt.Fprintf(&tree, "%s d%d\x00%s", kind, i, raw)
				}
				object := fmt.Appendf(nil, "tree %d\x00%s", tree.Len(), tree.Bytes())
				sum := sha1.Sum(object)
				at, kind = hex.EncodeToString(sum[:]), "40000"
				var stream bytes.Buffer
				z.Reset(&stream)
				if _, err := z.Write(object); err != nil {
					t.Fatal(err)
				}
				if err := z.Close(); err != nil {
					t.Fatal(err)
				}
				g.loose(at, stream.Bytes())
			}
			base := g.git("commit-tree", "-m", "base", g.tree())
			g.git("branch", "base", base)
			g.git("branch", "head", g.git("commit-tree", "-m", "head", "-p", base, at))
			g.wantPeak(64, []string{"--policy", "policy", "--diff-base", "base", "--head", "head"}, exitUndecided,
				"UNDECIDED E_LIMIT")
		})
	}
}

func TestFault_123_DeltaBombs(t *testing.T) {
	t.Parallel()
	diff := []string{"--policy", "policy", "--diff-base", "base", "--head", "head"}
	sizes := []int{257}
	if *long {
		sizes = append(sizes, 1024, 200)
	}
	for _, mib := range sizes {
		t.Run(fmt.Sprint(mib), func(t *testing.T) {
			g := newGit(t)
			g.adds(g.deltaBomb(mib))
			if mib > 256 {
				g.wantPeak(64, diff, exitUndecided, "UNDECIDED E_LIMIT")
			} else {
				g.wantPeak(256+64, diff, exitViolation, "FAIL NET-1@bomb.tf")
			}
		})
	}
}

func TestFault_123_Liars(t *testing.T) {
	t.Parallel()
	for _, says := range []int{10, 1 << 40} {
		t.Run(fmt.Sprint(says), func(t *testing.T) {
			stream, name := bomb(t, fmt.Sprintf("blob %d\x00", says), 64, "")
			g := newGit(t)
			g.adds(name)
			g.loose(name, stream)
			g.wantPeak(64, []string{"--policy", "policy", "--diff-base", "base", "--head", "head"}, exitUndecided,
				"UNDECIDED E_OBJECT")
		})
	}
}
