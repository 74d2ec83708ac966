package repo

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrIndex says that the index cannot be read as it is.
var ErrIndex = errors.New("the index cannot be read")

// A Staged is a file of the index.
type Staged struct {
	Path string
	Leaf
}

// IndexFile returns the path of the index: GIT_INDEX_FILE if it is set, which git does
// for hooks (a commit of all, or of some paths, is made from a temporary index), else
// the work tree's own. A relative one counts from dir, the folder that git runs hooks in.
func (r *Repository) IndexFile(dir string) string {
	name := os.Getenv("GIT_INDEX_FILE")
	switch {
	case name == "":
		return filepath.Join(r.gitDir, "index")
	case filepath.IsAbs(name):
		return name
	}
	return filepath.Join(dir, name)
}

// Index returns the files of an index, in its order, which is that of their paths'
// bytes. A file that is only intended to be added is not there yet. An index that does
// not say which files there are is an error that says what to run: one with conflicts, a
// split one, a sparse one. An index that is not there is empty: nothing was ever added.
//
// The format is git's gitformat-index(5), versions 2, 3 and 4.
func (r *Repository) Index(file string) ([]Staged, error) {
	content, err := readSmall(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIndex, err)
	}
	files, err := parseIndex(content)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIndex, err)
	}
	return files, nil
}

// Flags of an index entry.
const (
	flagExtended    = 1 << 14
	flagStage       = 3 << 12
	flagIntentToAdd = 1 << 13 // of the second 16 bits
	lengthMask      = 1<<12 - 1
)

func parseIndex(content []byte) ([]Staged, error) {
	if len(content) < 12+20 || string(content[:4]) != "DIRC" {
		return nil, errors.New("it does not begin as an index does")
	}
	body, sum := content[:len(content)-20], content[len(content)-20:]
	// With index.skipHash git writes zeros for the checksum.
	if got := sha1.Sum(body); !bytes.Equal(sum, got[:]) && !bytes.Equal(sum, make([]byte, 20)) {
		return nil, errors.New("its checksum is wrong; run git status, or remove it and run git reset")
	}
	version, count := binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("it has version %d; run git update-index --index-version 2", version)
	}
	p := indexReader{rest: body[12:], version: version}
	files := make([]Staged, 0, min(int(count), len(body)/62))
	var conflicts []string
	last := ""
	for range count {
		e, stage, later, err := p.entry()
		if err != nil {
			return nil, err
		}
		if e.Path < last || e.Path == last && stage == 0 && last != "" {
			return nil, fmt.Errorf("the entry %q is not in order", clip(e.Path))
		}
		last = e.Path
		switch {
		case stage != 0:
			conflicts = append(conflicts, e.Path)
		case !later:
			files = append(files, e)
		}
	}
	if len(conflicts) > 0 {
		return nil, fmt.Errorf("%q has a conflict; resolve it and run git add", clip(conflicts[0]))
	}
	return files, p.extensions()
}

// indexReader reads what is left of an index.
type indexReader struct {
	rest    []byte
	version uint32
	path    string // of the entry before, which version 4 shortens against
}

var errShortIndex = errors.New("it ends within an entry")

// entry reads the next entry; later means that it is only intended to be added.
func (p *indexReader) entry() (e Staged, stage int, later bool, err error) {
	const fixed = 62 // times, device, inode, mode, owner, size, hash, flags
	if len(p.rest) < fixed {
		return e, 0, false, errShortIndex
	}
	head := p.rest[:fixed]
	mode := binary.BigEndian.Uint32(head[24:])
	e.Hash = Hash(head[40:60])
	flags := binary.BigEndian.Uint16(head[60:])
	n := fixed
	if flags&flagExtended != 0 {
		if p.version < 3 || len(p.rest) < n+2 {
			return e, 0, false, errShortIndex
		}
		later = binary.BigEndian.Uint16(p.rest[n:])&flagIntentToAdd != 0
		n += 2
	}
	if Mode(mode) == folderMode {
		return e, 0, false, errors.New("it is sparse: it has whole folders as entries; run git sparse-checkout reapply --no-sparse-index")
	}
	if e.Mode, err = knownMode(Mode(mode)); err != nil {
		return e, 0, false, err
	}
	if err := p.name(&e, n, int(flags&lengthMask)); err != nil {
		return e, 0, false, err
	}
	for part := range strings.SplitSeq(e.Path, "/") {
		if err := validName(part); err != nil {
			return e, 0, false, err
		}
	}
	return e, int(flags & flagStage >> 12), later, nil
}

// name reads an entry's path, which begins n bytes into what is left, and steps over
// the entry.
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
	end := bytes.IndexByte(p.rest[n:], 0)
	if end < 0 {
		return errShortIndex
	}
	e.Path = prefix + string(p.rest[n:n+end])
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

// offsetVarint reads the number that offset deltas and index version 4 are written in.
func offsetVarint(b []byte) (v uint64, n int, ok bool) {
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

// extensions steps over what follows the entries. One whose name begins with a capital
// may be ignored; any other changes what the index means.
func (p *indexReader) extensions() error {
	for len(p.rest) > 0 {
		if len(p.rest) < 8 {
			return errShortIndex
		}
		name, size := string(p.rest[:4]), binary.BigEndian.Uint32(p.rest[4:])
		if uint64(size) > uint64(len(p.rest)-8) {
			return errShortIndex
		}
		switch {
		case name == "link":
			return errors.New("it is split into two files; run git update-index --no-split-index")
		case name == "sdir":
			return errors.New("it is sparse: it has whole folders as entries; run git sparse-checkout reapply --no-sparse-index")
		case name[0] < 'A' || name[0] > 'Z':
			return fmt.Errorf("it has the unknown extension %q", name)
		}
		p.rest = p.rest[8+size:]
	}
	return nil
}
