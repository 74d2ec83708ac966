package repo

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// A pack is a pack file and its index, version 2 (git's gitformat-pack(5)):
//
//	index  \377tOc 2 | fanout 256 x 4 | hashes n x 20 | CRCs n x 4 | offsets n x 4 | long offsets m x 8 | ...
//	pack   PACK 2 n | objects | checksum
//
// go-git would decode the whole index and turn it round into a map before the first object; one that is looked up in
// place costs nothing before it is asked.
type pack struct {
	stem   string // path without .pack and .idx
	format format
	pool   *sync.Pool // of *inflater
	once   sync.Once
	err    error // of opening

	idx   []byte // the index, mapped or read
	names hashTable
	file  *os.File
	size  int64

	multi  *multiIndex // instead of idx; nil: none
	number uint32      // of the pack in it
}

const idxHead = "\xfftOc\x00\x00\x00\x02"

func (p *pack) open() error {
	p.once.Do(func() { p.err = p.openOnce() })
	return p.err
}

func (p *pack) openOnce() (err error) {
	if p.multi != nil {
		p.names = p.multi.names
	} else if p.idx, err = mapped(p.stem + ".idx"); err != nil {
		return fmt.Errorf("%s.idx: %w", p.stem, missingIsCorrupt(err))
	} else if err := p.checkIndex(); err != nil {
		return err
	}
	if p.file, err = openRegular(p.stem + ".pack"); err != nil {
		return missingIsCorrupt(err)
	}
	st, err := p.file.Stat()
	if err != nil {
		return err
	}
	p.size = st.Size()
	head := make([]byte, 12)
	if _, err := p.file.ReadAt(head, 0); err != nil {
		return fmt.Errorf("%w: %s.pack: %w", ErrCorrupt, p.stem, noEOF(err))
	}
	if string(head[:4]) != "PACK" || binary.BigEndian.Uint32(head[4:]) != 2 ||
		p.multi == nil && binary.BigEndian.Uint32(head[8:]) != uint32(p.names.count()) {
		return fmt.Errorf("%w: %s.pack is not the pack of its index", ErrCorrupt, p.stem)
	}
	if p.multi != nil {
		return nil
	}
	// The index ends with the pack's checksum and its own.
	sum := make([]byte, p.format.size())
	if _, err := p.file.ReadAt(sum, p.size-int64(len(sum))); err != nil {
		return fmt.Errorf("%w: %s.pack: %w", ErrCorrupt, p.stem, noEOF(err))
	}
	if !bytes.Equal(sum, p.idx[len(p.idx)-2*len(sum):len(p.idx)-len(sum)]) {
		return fmt.Errorf("%w: %s.pack is not the pack of its index", ErrCorrupt, p.stem)
	}
	return nil
}

// checkIndex checks the bounds of the index and counts the objects.
func (p *pack) checkIndex() error {
	const start = len(idxHead) + fanoutSize
	if len(p.idx) < start || string(p.idx[:len(idxHead)]) != idxHead {
		return fmt.Errorf("%w: %s.idx is not a pack index of version 2; run git repack -a -d", ErrCorrupt, p.stem)
	}
	var err error
	if p.names, err = newHashTable(p.format, p.idx[len(idxHead):start], p.idx[start:]); err == nil {
		size, n := p.format.size(), int64(p.names.count())
		switch rest := int64(len(p.idx)-start) - n*int64(size+4+4) - 2*int64(size); {
		case rest < 0:
			err = errors.New("it is too short")
		case rest > 8*n: // a long offset for each: of the other format, it is too short or too long
			err = fmt.Errorf("it is too long for hashes of %s, the repository's", p.format)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %s.idx: %w", ErrCorrupt, p.stem, err)
	}
	return nil
}

// missingIsCorrupt makes a vanished file an error other than that of a missing object.
func missingIsCorrupt(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	return err
}

// find returns the offset of an object in the pack; fs.ErrNotExist if it has none.
func (p *pack) find(h Hash) (int64, error) {
	if err := p.open(); err != nil {
		return 0, err
	}
	i, found := p.names.find(&h)
	if !found || p.multi != nil && !p.multi.in(i, p.number) {
		return 0, fs.ErrNotExist
	}
	return p.offset(i)
}

// InPackOrder returns the order, by index, in which objects are cheapest to read: in a pack, most deltas are behind
// their bases. Objects in no pack are last.
func (r *Repository) InPackOrder(all []Hash) []int {
	type place struct {
		pack int
		at   int64
	}
	places, order := make([]place, len(all)), make([]int, len(all))
	for i, h := range all {
		order[i], places[i].pack = i, math.MaxInt
		n := 0
		for _, d := range r.objects.dirs {
			for _, p := range d.packs {
				if at, err := p.find(h); err == nil && n < places[i].pack {
					places[i] = place{n, at}
				}
				n++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(places[a].pack, places[b].pack), cmp.Compare(places[a].at, places[b].at))
	})
	return order
}

func (p *pack) offset(i int) (int64, error) {
	size, n := p.format.size(), p.names.count()
	if p.multi != nil {
		return p.within(p.multi.offset(i))
	}
	offsets := len(idxHead) + fanoutSize + n*(size+4)
	at := int64(binary.BigEndian.Uint32(p.idx[offsets+4*i:]))
	if at&(1<<31) != 0 {
		long := offsets + n*4 + int(at&(1<<31-1))*8
		if long+8 > len(p.idx)-2*size {
			return 0, fmt.Errorf("%w: %s.idx: an offset outside of it", ErrCorrupt, p.stem)
		}
		at = int64(binary.BigEndian.Uint64(p.idx[long:]))
	}
	return p.within(at)
}

func (p *pack) within(at int64) (int64, error) {
	if at < 12 || at >= p.size-int64(p.format.size()) {
		return 0, fmt.Errorf("%w: %s.pack: its index has an offset outside of it", ErrCorrupt, p.stem)
	}
	return at, nil
}

func (p *pack) withPrefix(prefix string) ([]Hash, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	return p.names.withPrefix(prefix) // of other packs too, by a multiIndex
}

type entry struct {
	at      int64
	kind    plumbing.ObjectType
	size    int64 // of the content, or of the delta
	content int64 // where the compressed bytes begin
	base    int64 // of an offset delta
	baseRef Hash  // of a hash delta
}

// head reads the head of the object at an offset. The reader is then at the object's content, and has to be closed
// unless head fails.
func (p *pack) head(at int64) (e entry, r *reader, err error) {
	r = p.from(at)
	if e, err = p.headOf(&r.raw, at); err != nil {
		r.Close() // nothing is held
		return e, nil, err
	}
	return e, r, nil
}

// headOf reads the head of an object at an offset of the pack.
func (p *pack) headOf(raw *window, at int64) (e entry, err error) {
	short := func(failed error) error {
		if failed = noEOF(failed); errors.Is(failed, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: %s.pack ends within an object", ErrCorrupt, p.stem)
		}
		return failed
	}
	e.at, e.content = at, at
	next := func() uint64 {
		c, failed := raw.ReadByte()
		if failed != nil {
			err = short(failed)
		}
		e.content++
		return uint64(c)
	}
	c := next()
	e.kind = plumbing.ObjectType(c >> 4 & 7)
	size, shift := c&15, 4
	for c&0x80 != 0 && err == nil {
		if c = next(); shift > 56 {
			return e, fmt.Errorf("%w: an object's size is over 2^60", ErrCorrupt)
		}
		size |= c & 0x7f << shift
		shift += 7
	}
	e.size = int64(size)
	switch e.kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		c := next()
		back := c & 0x7f
		for c&0x80 != 0 && err == nil {
			if back > 1<<54 {
				return e, fmt.Errorf("%w: a delta's base is too far back", ErrCorrupt)
			}
			c = next()
			back = (back+1)<<7 | c&0x7f
		}
		e.base = at - int64(back)
		if back == 0 || e.base < 12 {
			return e, fmt.Errorf("%w: a delta's base is outside of the pack", ErrCorrupt)
		}
	case plumbing.REFDeltaObject:
		size := p.format.size()
		if _, failed := io.ReadFull(raw, e.baseRef[:size]); failed != nil {
			return e, short(failed)
		}
		e.content += int64(size)
	default:
		return e, fmt.Errorf("%w: an object of the unknown type %d", ErrCorrupt, e.kind)
	}
	return e, err
}

// An inflater reads and inflates bytes of a pack. It is pooled, since making one takes longer than reading a commit.
type inflater struct {
	raw window
	z   io.ReadCloser // nil before the first use
}

// A reader reads a pack from an offset on: the raw bytes and, after inflate, the inflated ones.
type reader struct {
	*inflater // nil if closed
	pool      *sync.Pool
}

func (p *pack) from(at int64) *reader {
	in, ok := p.pool.Get().(*inflater)
	if !ok {
		in = &inflater{}
	}
	in.raw.move(p, at)
	return &reader{in, p.pool}
}

func (r *reader) inflate() (err error) {
	if r.z == nil {
		r.z, err = zlib.NewReader(&r.raw)
	} else {
		err = r.z.(zlib.Resetter).Reset(&r.raw, nil)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, noEOF(err))
	}
	return nil
}

// Read reads inflated bytes.
func (r *reader) Read(p []byte) (int, error) { return r.z.Read(p) }

// Close returns the inflater to the pool. The reader may be nil or closed.
func (r *reader) Close() error {
	if r != nil && r.inflater != nil {
		r.pool.Put(r.inflater)
		r.inflater = nil
	}
	return nil
}

// whole returns the bytes of an entry, exactly its size. The reader is at their start, or nil.
func (p *pack) whole(e entry, r *reader) ([]byte, error) {
	if r == nil {
		r = p.from(e.content)
	}
	defer r.Close() // nothing is held
	if e.size > maxDelta {
		return nil, fmt.Errorf("%w: %d bytes that are stored as a delta or the base of one", ErrLimit, e.size)
	}
	if err := r.inflate(); err != nil {
		return nil, err
	}
	content, err := readExactly(r, e.size)
	if err != nil {
		return nil, fmt.Errorf("%s.pack: %w", p.stem, err)
	}
	return content, nil
}

// object opens the object at an offset: in memory if it is a delta or a cached base, else by stream.
func (p *pack) object(at int64, s *objects) (stored, error) {
	if b, known := s.bases.get(baseKey{p, at}); known {
		return stored{kind: b.kind, size: int64(len(b.content)), content: b.content}, nil
	}
	e, r, err := p.head(at)
	if err != nil {
		return stored{}, err
	}
	if e.kind <= plumbing.TagObject {
		if err := r.inflate(); err != nil {
			r.Close() // nothing is held
			return stored{}, err
		}
		remember := func(content []byte) { s.remember(p, at, e.kind, content) }
		return stored{kind: e.kind, size: e.size, stream: r, remember: remember}, nil
	}
	k, content, release, err := p.resolve(e, r, s)
	return stored{kind: k, size: int64(len(content)), content: content, release: release}, err
}

func (p *pack) close() {
	p.once.Do(func() {})
	if p.file != nil {
		_ = p.file.Close() // read only: nothing to lose
	}
	unmap(p.idx)
	p.idx, p.file, p.err = nil, nil, fmt.Errorf("%s.pack was closed", p.stem)
}

// A window is a part of a pack in memory, with a read position. The part stays for the next object: a delta and its
// base are often near each other, and so are the trees of a commit.
type window struct {
	pack *pack // nil before the first use
	from int64 // where in the pack the part begins
	part []byte
	at   int // the position in the part
	room [windowSize]byte
}

const (
	windowSize = 8 << 10
	pageSize   = 4 << 10 // the system reads no less from a disk
)

func (w *window) move(p *pack, at int64) {
	if w.pack != p || at < w.from || at >= w.from+int64(len(w.part)) {
		w.pack, w.from, w.part = p, at&^(pageSize-1), nil
	}
	w.at = int(at - w.from)
}

// fill reads the part of the pack at the position. The objects end where the pack's checksum begins.
func (w *window) fill() error {
	if len(w.part) > 0 { // fully read
		w.from, w.at, w.part = w.from+int64(w.at), 0, nil
	}
	n := min(windowSize, w.pack.size-int64(w.pack.format.size())-w.from)
	if n <= int64(w.at) {
		return io.EOF
	}
	k, err := w.pack.file.ReadAt(w.room[:n], w.from)
	if w.part = w.room[:k]; w.at < k {
		return nil // the next read meets the error again
	}
	return err
}

func (w *window) ReadByte() (byte, error) {
	if w.at >= len(w.part) {
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	c := w.part[w.at]
	w.at++
	return c, nil
}

// Read reads from the rest of the part, or from the next one.
func (w *window) Read(p []byte) (int, error) {
	if w.at >= len(w.part) {
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.part[w.at:])
	w.at += n
	return n, nil
}
