package repo

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Flags of an index entry.
const (
	flagExtended = 1 << 14
	flagStage    = 3 << 12
	lengthMask   = 1<<12 - 1

	// Of the second 16 bits.
	flagIntentToAdd  = 1 << 13
	flagSkipWorktree = 1 << 14
)

// parseIndexFile reads the file of an index, which is a part of it if it has a link. Its entries are neither in order
// nor distinct; settle is for that. The entry of a sparse directory has its mode, and a path that ends in a slash.
func (f format) parseIndexFile(content string) (*Index, error) {
	size := f.size()
	if len(content) < 12+size || content[:4] != "DIRC" {
		return nil, errors.New("it does not begin as an index does")
	}
	body, sum := content[:len(content)-size], content[len(content)-size:]
	computed := make(chan string, 1)
	go func() { computed <- f.checksum(body) }() // see BenchmarkIndex
	x, err := f.parseEntries(body)
	// With index.skipHash git writes zeros for the checksum.
	if sum != <-computed && sum != string(make([]byte, size)) {
		return nil, errors.New("its checksum is wrong; run git status, or remove it and run git reset")
	}
	return x, err
}

// settle checks the order of the entries, and leaves one of a path in conflict.
func (x *Index) settle() error {
	kept := 0
	for i := range x.Files {
		e := &x.Files[i]
		if kept > 0 && e.Path <= x.Files[kept-1].Path {
			if last := x.Files[kept-1]; e.Path < last.Path || !e.Conflict || !last.Conflict {
				return fmt.Errorf("the entry %q is not in order", clip(e.Path))
			}
			continue
		}
		if e.Path == "" {
			return errors.New("it has an entry without a name")
		}
		if kept != i {
			x.Files[kept] = *e
		}
		kept++
	}
	x.Files = x.Files[:kept]
	return nil
}

func (f format) checksum(text string) string {
	h := f.new()
	for part := make([]byte, 64<<10); text != ""; {
		n := copy(part, text)
		_, _ = h.Write(part[:n]) // never fails
		text = text[n:]
	}
	return string(h.Sum(nil))
}

func number32(s string) uint32 {
	return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
}

func nanoseconds(s string) int64 { return int64(number32(s))*1e9 + int64(number32(s[4:])) }

func number16(s string) uint16 { return uint16(s[0])<<8 | uint16(s[1]) }

// parseEntries reads an index without its checksum.
func (f format) parseEntries(body string) (*Index, error) {
	version, count := number32(body[4:]), number32(body[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("it has version %d; run git update-index --index-version 2", version)
	}
	p := indexReader{rest: body[12:], version: version, format: f}
	x := &Index{Files: make([]Staged, 0, min(int(count), len(body)/(42+f.size()))), trees: map[string]cachedTree{}}
	for range count {
		x.Files = append(x.Files, Staged{})
		if err := p.entry(&x.Files[len(x.Files)-1]); err != nil {
			return nil, err
		}
	}
	return x, p.extensions(x)
}

type indexReader struct {
	rest    string
	version uint32
	format  format
	path    string          // of the previous entry, which version 4 builds on
	dir     string          // of the previous entry, with a slash at its end; "" is the root
	paths   strings.Builder // of version 4, concatenated: one allocation for many entries
}

func (p *indexReader) keep(prefix, rest string) string {
	if n := len(prefix) + len(rest); p.paths.Cap()-p.paths.Len() < n {
		p.paths = strings.Builder{}
		p.paths.Grow(max(n, 64<<10))
	}
	at := p.paths.Len()
	p.paths.WriteString(prefix)
	p.paths.WriteString(rest)
	return p.paths.String()[at:]
}

// fresh returns where the first part begins that differs from the previous path.
func fresh(path, before string) int {
	n := 0
	for n < len(path) && n < len(before) && path[n] == before[n] {
		n++
	}
	return strings.LastIndexByte(path[:n], '/') + 1
}

var errShortIndex = errors.New("it ends within an entry")

func (p *indexReader) entry(e *Staged) (err error) {
	fixed := 42 + p.format.size() // times, device, inode, mode, owner, size, hash, flags
	if len(p.rest) < fixed {
		return errShortIndex
	}
	head := p.rest[:fixed]
	mode := Mode(number32(head[24:]))
	e.Size, e.Ctime, e.Mtime = number32(head[36:]), nanoseconds(head), nanoseconds(head[8:])
	copy(e.Hash[:], head[40:fixed-2])
	flags := number16(head[fixed-2:])
	e.Conflict = flags&flagStage != 0
	n := fixed
	if flags&flagExtended != 0 {
		if p.version < 3 || len(p.rest) < n+2 {
			return errShortIndex
		}
		more := number16(p.rest[n:])
		e.IntentToAdd, e.SkipWorktree = more&flagIntentToAdd != 0, more&flagSkipWorktree != 0
		n += 2
	}
	if e.Mode, err = knownMode(mode); err != nil {
		return err
	}
	before := p.path
	if err := p.name(e, n, int(flags&lengthMask)); err != nil {
		return err
	}
	return p.valid(e, before)
}

// valid refuses a path with a name that could lead out of its directory. Parts shared with the previous path were
// checked.
func (p *indexReader) valid(e *Staged, before string) error {
	name := e.Path
	if name == "" {
		return nil // it is of a split index, or settle refuses it
	}
	if e.Mode == dirMode {
		name = strings.TrimSuffix(name, "/")
	}
	if last, in := strings.CutPrefix(name, p.dir); in && strings.IndexByte(last, '/') < 0 {
		return validName(last)
	}
	for part := range strings.SplitSeq(name[fresh(name, before):], "/") {
		if err := validName(part); err != nil {
			return err
		}
	}
	p.dir = name[:strings.LastIndexByte(name, '/')+1]
	return nil
}

// name reads an entry's path, n bytes from here, and steps over the entry.
func (p *indexReader) name(e *Staged, n, length int) error {
	prefix := ""
	if p.version == 4 {
		cut, size, ok := offsetVarint(p.rest[n:])
		if !ok || cut > uint64(len(p.path)) {
			return errShortIndex
		}
		prefix = p.path[:uint64(len(p.path))-cut]
		n += size
	}
	end := strings.IndexByte(p.rest[n:], 0)
	if end < 0 {
		return errShortIndex
	}
	if e.Path = p.rest[n : n+end]; p.version == 4 {
		e.Path = p.keep(prefix, e.Path)
	}
	if length < lengthMask && length != len(e.Path) {
		return fmt.Errorf("the entry %q is not as long as it says", clip(e.Path))
	}
	size := n + end + 1
	if p.version < 4 {
		size = (n + end + 8) &^ 7 // padded with 1 to 8 zeros
	}
	if len(p.rest) < size {
		return errShortIndex
	}
	p.path, p.rest = e.Path, p.rest[size:]
	return nil
}

// offsetVarint reads a number in the encoding of offset deltas and index version 4.
func offsetVarint[text []byte | string](b text) (v uint64, n int, ok bool) {
	for n < len(b) && n < 9 {
		c := b[n]
		n++
		v |= uint64(c & 0x7f)
		if c&0x80 == 0 {
			return v, n, true
		}
		v = (v + 1) << 7
	}
	return 0, 0, false
}

// extensions steps over the extensions. One with a capital first letter may be ignored; any other changes the meaning
// of the index.
func (p *indexReader) extensions(x *Index) error {
	for len(p.rest) > 0 {
		if len(p.rest) < 8 {
			return errShortIndex
		}
		name, size := p.rest[:4], number32(p.rest[4:])
		if uint64(size) > uint64(len(p.rest)-8) {
			return errShortIndex
		}
		switch {
		case name == "TREE":
			if rest, ok := p.format.readCachedTree([]byte(p.rest[8:8+size]), "", 0, x.trees); !ok || len(rest) > 0 {
				return errors.New("its cache of trees is damaged; run git update-index --force-write-index")
			}
		case name == "link":
			x.link = p.rest[8 : 8+size]
		case name == "sdir": // some entries are directories, handled by entry
		case name[0] < 'A' || name[0] > 'Z':
			return fmt.Errorf("it has the unknown extension %q", name)
		}
		p.rest = p.rest[8+size:]
	}
	return nil
}

// A cachedTree is git's cached tree of a directory of the index.
type cachedTree struct {
	hash  Hash
	files int // number of index entries in it
}

// readCachedTree reads the cache of a directory and then of its subdirectories: a name that ends in NUL, the number of
// files and of directories in decimal, and the tree's hash. A negative number of files means an outdated entry,
// without a hash.
func (f format) readCachedTree(b []byte, above string, depth int, trees map[string]cachedTree) (rest []byte, ok bool) {
	name, b, ok := bytes.Cut(b, []byte{0})
	files, b, ok1 := bytes.Cut(b, []byte{' '})
	dirs, b, ok2 := bytes.Cut(b, []byte{'\n'})
	n, err := strconv.Atoi(string(files))
	m, err2 := strconv.Atoi(string(dirs))
	if !ok || !ok1 || !ok2 || err != nil || err2 != nil || depth > maxTreeDepth || (len(name) == 0) != (depth == 0) {
		return nil, false
	}
	path := above + string(name)
	if n >= 0 {
		if len(b) < f.size() {
			return nil, false
		}
		trees[path] = cachedTree{f.at(b), n}
		b = b[f.size():]
	}
	if path != "" {
		path += "/"
	}
	for range m {
		if b, ok = f.readCachedTree(b, path, depth+1, trees); !ok {
			return nil, false
		}
	}
	return b, true
}
