//go:build unix

package repo

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"
)

// treeOf reads a tree object to its end, as a walk does.
func treeOf(content []byte) ([]treeEntry, error) {
	es := entries{format: formatSHA1, content: content}
	var all []treeEntry
	for {
		e, err := es.next()
		if err != nil || e.name == nil {
			return all, err
		}
		all = append(all, e)
	}
}

// FuzzTree: an accepted tree is, byte for byte, its parsed entries, in git's order and with no name twice.
func FuzzTree(f *testing.F) {
	hash := strings.Repeat("\x01", 20)
	f.Add([]byte("100644 a\x00" + hash + "40000 a-b\x00" + hash + "100755 b\x00" + hash))
	f.Add([]byte("100644 a.b\x00" + hash + "40000 a\x00" + hash + "120000 a0\x00" + hash + "160000 m\x00" + hash))
	f.Add([]byte("40000 .git\x00" + hash))
	f.Add([]byte("100644 a\x00" + hash + "40000 a\x00" + hash))
	f.Fuzz(func(t *testing.T, content []byte) {
		all, err := treeOf(content)
		if err != nil {
			return
		}
		var again bytes.Buffer
		names := map[string]bool{}
		last := ""
		for _, e := range all {
			// The mode may have a leading zero, as old programs wrote it.
			rest := content[again.Len():]
			mode, _, _ := bytes.Cut(rest, []byte(" "))
			n, err := strconv.ParseUint(string(mode), 8, 32)
			if err != nil {
				t.Fatalf("the mode %q of %q was taken", mode, e.name)
			}
			if (n == 0o40000) != (e.mode == dirMode) {
				t.Fatalf("the mode %q of %q became %v", mode, e.name, e.mode)
			}
			again.WriteString(string(mode) + " " + string(e.name) + "\x00" + string(e.hash[:20]))
			sorted := string(e.name)
			if e.mode == dirMode {
				sorted += "/"
			}
			if sorted <= last || names[string(e.name)] || len(e.name) == 0 || bytes.ContainsAny(e.name, "/\x00") ||
				strings.EqualFold(string(e.name), ".git") || string(e.name) == ".." || string(e.name) == "." {
				t.Fatalf("the entry %q was taken behind %q", sorted, last)
			}
			last, names[string(e.name)] = sorted, true
		}
		if !bytes.Equal(again.Bytes(), content) {
			t.Fatalf("%q became %q", content, again.Bytes())
		}
	})
}

var (
	commitHead = regexp.MustCompile(`^tree ([0-9a-fA-F]{40})\n((?:parent [0-9a-fA-F]{40}\n)*)` +
		`author [^\n]*\ncommitter [^\n]*(?:\n|$)`)
	commitParent = regexp.MustCompile(`parent ([0-9a-fA-F]{40})\n`)
)

// FuzzCommit: a regular expression finds the same tree and parents of a commit.
func FuzzCommit(f *testing.F) {
	a, b := strings.Repeat("a1", 20), strings.Repeat("b2", 20)
	f.Add([]byte("tree " + a + "\nparent " + b + "\nparent " + a +
		"\nauthor x <y> 1 +0000\ncommitter x <y> 2 +0000\n\nmessage\n"))
	f.Add([]byte("tree " + a + "\nauthor x <y> 1 +0000\ncommitter x <y> -9 +0000\ngpgsig -----BEGIN\n parent " + b +
		"\n\nparent " + b + "\n"))
	f.Add([]byte("tree " + a + "\nauthor\ncommitter x\n"))
	f.Add([]byte("tree " + a + "x\nauthor y\ncommitter x\n"))
	f.Add([]byte("tree " + a + "\nauthor y\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := formatSHA1.parseCommit(content)
		if err != nil {
			return
		}
		m := commitHead.FindSubmatch(content)
		if m == nil {
			t.Fatalf("%q was taken", content)
		}
		want := []string{strings.ToLower(string(m[1]))}
		for _, p := range commitParent.FindAllSubmatch(m[2], -1) {
			want = append(want, strings.ToLower(string(p[1])))
		}
		got := []string{c.tree.String()}
		for _, p := range c.parents {
			got = append(got, p.String())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", content, got, want)
		}
	})
}

// FuzzIndex: an index has the same files as in go-git.
func FuzzIndex(f *testing.F) {
	g := newGit(f)
	g.write("a.tf", "a")
	g.write("b/c.tf", "c")
	g.git("add", ".")
	for _, version := range []string{"2", "3", "4"} {
		g.git("update-index", "--index-version", version)
		f.Add(g.indexBytes())
	}
	g.git("update-index", "--assume-unchanged", "a.tf")
	g.git("add", "-N", "b")
	f.Add(g.indexBytes())
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) < 32 {
			return
		}
		sum := sha1.New()
		sum.Write(content[:len(content)-20])
		content = sum.Sum(slices.Clone(content[:len(content)-20])) // else every input would be refused
		x, err := formatSHA1.parseIndex(string(content))
		if err != nil {
			return
		}
		var other gitindex.Index
		if gitindex.NewDecoder(bytes.NewReader(content)).Decode(&other) != nil {
			return // it does not know every extension
		}
		var want []string
		for _, e := range other.Entries {
			line := e.Name + " " + e.Hash.String()
			if e.Stage != 0 {
				line = e.Name + " conflict"
			}
			if len(want) == 0 || want[len(want)-1] != line {
				want = append(want, line)
			}
		}
		var got []string
		for _, s := range x.Files {
			if s.Conflict {
				got = append(got, s.Path+" conflict")
			} else {
				got = append(got, s.Path+" "+s.Hash.String())
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

var revision = regexp.MustCompile(`^([^~^]+)((?:[~^][0-9]*)*)$`)

// FuzzRevision: a name is a base and steps, which together make the name again.
func FuzzRevision(f *testing.F) {
	for _, seed := range []string{"HEAD", "main~3^2", "origin/main^^", "v1.0^0", "a..b", "@{1}", "main:path", "-x",
		"~", "HEAD^{commit}", "HEAD~99999999999999999999", strings.Repeat("0", 40)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		base, steps, err := parseName(name)
		if err != nil {
			return
		}
		m := revision.FindStringSubmatch(name)
		if m == nil || m[1] != base || !validRef(base) || strings.HasPrefix(base, "-") {
			t.Fatalf("%q was taken, with the base %q", name, base)
		}
		rest := m[2]
		for _, s := range steps {
			digits := len(rest) - 1 - len(strings.TrimLeft(rest[1:], "0123456789"))
			n := 1
			if digits > 0 {
				if n, err = strconv.Atoi(rest[1 : 1+digits]); err != nil {
					t.Fatal(err)
				}
			}
			if rest[0] != s.mark || n != s.n {
				t.Fatalf("%q: the step %c%d stands for %q", name, s.mark, s.n, rest)
			}
			rest = rest[1+digits:]
		}
		if rest != "" {
			t.Fatalf("%q: no step stands for %q", name, rest)
		}
	})
}

// FuzzPackedRefs: a ref has the hash of the one line that names it.
func FuzzPackedRefs(f *testing.F) {
	a, b := strings.Repeat("a1", 20), strings.Repeat("b2", 20)
	f.Add([]byte("# pack-refs with: peeled fully-peeled sorted \n"+a+" refs/heads/main\n"+
		b+" refs/tags/v1\n^"+a+"\n"), "refs/heads/main")
	f.Add([]byte(a+" refs/heads/main\n"+b+" refs/heads/main\n"), "refs/heads/main")
	f.Add([]byte(a+"  refs/heads/main\nx refs/heads/main\n"), "refs/heads/main")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		if !validRef(name) || len(text) > 0 && text[len(text)-1] != '\n' {
			return
		}
		h, found, err := formatSHA1.findRef(text, name)
		var hashes []string
		for line := range strings.SplitSeq(string(text), "\n") {
			if hash, ok := strings.CutSuffix(line, " "+name); ok {
				hashes = append(hashes, hash)
			}
		}
		switch {
		case err != nil:
			if len(hashes) == 0 {
				t.Fatalf("%q in %q: %v", name, text, err)
			}
		case found != (len(hashes) == 1), found && !strings.EqualFold(h.String(), hashes[0]):
			t.Fatalf("%q in %q: %v, %v, want %q", name, text, h, found, hashes)
		}
	})
}

// symbolicRef and plainRef are the formats of a ref's file by git-update-ref(1) and gitrepository-layout(5).
var (
	plainRef    = regexp.MustCompile(`^([0-9a-fA-F]{40})[ \t\r\n]*$`)
	symbolicRef = regexp.MustCompile(`^ref:[ \t\r\n]*(refs/[^ \t\r\n]+)[ \t\r\n]*$`)
)

// FuzzRef: a ref's own file is a hash or the complete name of another ref.
func FuzzRef(f *testing.F) {
	for _, seed := range []string{
		strings.Repeat("a1", 20) + "\n", "ref: refs/heads/main\n", "ref:refs/heads/main",
		"ref: \trefs/heads/main \r\n", "ref: refs/heads/main\u00a0\n",
		"ref: HEAD\n", "ref: refs/../x", "ref: /etc/passwd", strings.Repeat("0", 64), "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, target, err := formatSHA1.parseRef(text)
		plain, symbolic := plainRef.FindStringSubmatch(text), symbolicRef.FindStringSubmatch(text)
		switch {
		case plain != nil:
			if err != nil || target != "" || h.String() != strings.ToLower(plain[1]) {
				t.Fatalf("%q: %v, %q, %v", text, h, target, err)
			}
		case symbolic != nil && validRef(symbolic[1]):
			if err != nil || target != symbolic[1] {
				t.Fatalf("%q: %q, %v", text, target, err)
			}
		case err == nil:
			t.Fatalf("%q was taken: %v, %q", text, h, target)
		}
	})
}

// patched is a delta's result, slowly, from gitformat-pack(5) alone; nil for a torn delta.
func patched(base, delta []byte) []byte {
	next := func() int { // -1 at the end
		if len(delta) == 0 {
			return -1
		}
		c := delta[0]
		delta = delta[1:]
		return int(c)
	}
	size := func() (n int) {
		for shift := 0; ; shift += 7 {
			c := next()
			n |= c & 0x7f << shift
			if c < 0x80 {
				return n
			}
		}
	}
	if size() != len(base) {
		return nil
	}
	want := size()
	out := []byte{}
	for len(delta) > 0 {
		op := next()
		if op < 0x80 {
			for range op {
				c := next()
				if c < 0 {
					return nil
				}
				out = append(out, byte(c))
			}
			if op == 0 {
				return nil
			}
			continue
		}
		var bytes [7]int
		for i := range bytes {
			if op&(1<<i) != 0 {
				if bytes[i] = next(); bytes[i] < 0 {
					return nil
				}
			}
		}
		from, n := bytes[0]+bytes[1]<<8+bytes[2]<<16+bytes[3]<<24, bytes[4]+bytes[5]<<8+bytes[6]<<16
		if n == 0 {
			n = 0x10000
		}
		if from+n > len(base) {
			return nil
		}
		for i := range n {
			out = append(out, base[from+i])
		}
	}
	if len(out) != want {
		return nil
	}
	return out
}

// FuzzDelta: applying a delta gives the same result as applying it byte by byte.
func FuzzDelta(f *testing.F) {
	base := []byte("cidr = \"10.0.0.0/8\"\nname = \"net\"\n")
	f.Add(base, append([]byte{byte(len(base)), 20, 0x91, 0, 15, 5}, "0/0\"\n"...))
	f.Add(base, []byte{byte(len(base)), 4, 0x90, 4})
	f.Add(base, []byte{byte(len(base)), 3, 0xb0, 3, 0, 0})
	f.Add([]byte{}, append([]byte{0, 3, 3}, "new"...))
	f.Add(make([]byte, 1<<16), []byte{0x80, 0x80, 4, 0x80, 0x80, 4, 0x80})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		size, err := deltaSize(delta, len(base))
		if err != nil || size > 1<<20 {
			return
		}
		got, err := patch(make([]byte, 0, size), base, delta)
		if want := patched(base, delta); (err == nil) != (want != nil) || !bytes.Equal(got, want) {
			t.Fatalf("%q of %q: got %q, %v, want %q", delta, base, got, err, want)
		}
	})
}

// FuzzSettings: a config file rewritten in another valid syntax has the same settings.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		"[core]\n\tbare = false\n", "[Core]Bare\n[x \"a.b\\\"c\"]\r\n y = \" z \" # w\n",
		"[submodule \"net\"] path = sub/\\\nnet ; why\n", "\ufeff[a.b]\nc=\\t\\n\\b\\\\\n", "key = x\n", "[x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseSettings(string(text))
		if err != nil {
			return
		}
		var again strings.Builder
		for name, values := range s {
			section, key := "", name
			if i := strings.LastIndexByte(name, '.'); i >= 0 {
				section, key = name[:i], name[i+1:]
			}
			section, sub, has := strings.Cut(section, ".")
			if !plainKey.MatchString(key) {
				t.Fatalf("%q has the key %q", text, key)
			}
			if !plainKey.MatchString(section) {
				return // a section without a name, written first
			}
			again.WriteString("[" + section)
			if has {
				again.WriteString(" \"" + inQuotes.Replace(sub) + "\"")
			}
			again.WriteString("]")
			for _, v := range values {
				again.WriteString(key + " = \"" + inQuotes.Replace(v) + "\"\n")
			}
		}
		got, err := parseSettings(again.String())
		if err != nil || !maps.EqualFunc(s, got, slices.Equal) {
			t.Fatalf("%q says %q; written again, %q, it says %q, %v", text, s, again.String(), got, err)
		}
	})
}

var (
	plainKey = regexp.MustCompile(`^[a-z0-9-]+$`)
	inQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
)

// FuzzPackIndex: a lookup in a pack's index finds the same as a linear search. In an index out of order it may find
// nothing, but nothing else.
func FuzzPackIndex(f *testing.F) {
	const idxHashes = len(idxHead) + fanoutSize
	g := newGit(f)
	for i := range 40 {
		g.write("a.tf", strconv.Itoa(i))
		g.commit("change")
	}
	g.git("repack", "-q", "-a", "-d")
	packs, err := filepath.Glob(filepath.Join(g.dir, ".git/objects/pack/*.idx"))
	if err != nil || len(packs) == 0 {
		f.Fatalf("%d packs, %v", len(packs), err)
	}
	for _, name := range packs {
		idx, err := os.ReadFile(name)
		must(f, err)
		f.Add(idx, idx[idxHashes:idxHashes+20], 20)
		f.Add(idx, idx[idxHashes+20:idxHashes+40], 3)
	}
	// Two objects, one after the first 2 GiB of the pack.
	a, b := bytes.Repeat([]byte{1}, 20), bytes.Repeat([]byte{2}, 20)
	table := slices.Concat(make([]byte, 4), []byte{0, 0, 0, 1}, bytes.Repeat([]byte{0, 0, 0, 2}, 254))
	two := slices.Concat([]byte("\xfftOc\x00\x00\x00\x02"), table, a, b, make([]byte, 8), []byte{0, 0, 0, 99},
		[]byte{0x80, 0, 0, 1}, make([]byte, 8), []byte{0, 0, 0, 3, 0, 0, 0, 0}, make([]byte, 40))
	f.Add(two, a, 40)
	f.Add(two, b, 1)
	f.Fuzz(func(t *testing.T, idx, hash []byte, digits int) {
		const size = 1 << 40
		p := &pack{idx: idx, size: size, format: formatSHA1}
		p.once.Do(func() { p.err = p.checkIndex() })
		if p.err != nil || len(hash) != 20 {
			return
		}
		number := func(at, bytes int) (n int64) {
			for _, b := range idx[at : at+bytes] {
				n = n<<8 | int64(b)
			}
			return n
		}
		n := int(number(8+255*4, 4))
		inOrder := true
		var offsets []int64 // of the hash; -1: impossible
		var alike []string
		prefix := hex.EncodeToString(hash)[:4+(digits&63)%37]
		for i := range n {
			h := idx[idxHashes+20*i:][:20]
			k := int(h[0])
			inOrder = inOrder && (i == 0 || bytes.Compare(idx[idxHashes+20*(i-1):][:20], h) < 0) &&
				int64(i) < number(8+4*k, 4) && (k == 0 || int64(i) >= number(8+4*k-4, 4))
			if name := hex.EncodeToString(h); strings.HasPrefix(name, prefix) {
				alike = append(alike, name)
			}
			if !bytes.Equal(h, hash) {
				continue
			}
			at := number(idxHashes+n*24+4*i, 4)
			if at >= 1<<31 {
				long := idxHashes + n*28 + 8*int(at-1<<31)
				if at = -1; long+8 <= len(idx)-40 {
					at = number(long, 8)
				}
			}
			if at < 12 || at >= size-20 {
				at = -1
			}
			offsets = append(offsets, at)
		}
		at, err := p.find(formatSHA1.at(hash))
		switch {
		case err == nil && !slices.Contains(offsets, at):
			t.Fatalf("%x is at %d, want one of %d", hash, at, offsets)
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !slices.Contains(offsets, -1):
			t.Fatalf("%x: %v, want one of %d", hash, err, offsets)
		case inOrder && errors.Is(err, fs.ErrNotExist) != (offsets == nil), inOrder && offsets != nil &&
			(err != nil) != (offsets[0] < 0):
			t.Fatalf("%x: %d, %v, want %d", hash, at, err, offsets)
		}
		found, err := p.withPrefix(prefix)
		var names []string
		for _, h := range found {
			names = append(names, h.String())
			if !slices.Contains(alike, h.String()) {
				t.Fatalf("%s begins with %s and is missing", h, prefix)
			}
		}
		if err != nil || inOrder && !slices.Equal(names, alike) {
			t.Fatalf("%s: %q, %v, want %q", prefix, names, err, alike)
		}
	})
}
