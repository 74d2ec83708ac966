package repo

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// A pack is a pack file and its index, version 2 (git's gitformat-pack(5)):
//
//	index  \377tOc 2 | fanout 256 x 4 | hashes n x 20 | CRCs n x 4 | offsets n x 4 | long offsets m x 8 | ...
//	pack   PACK 2 n | objects | checksum
//
// go-git would decode the whole index and turn it round into a map before the first
// object; one that is looked up in place costs nothing before it is asked.
type pack struct {
	stem string     // path without .pack and .idx
	pool *sync.Pool // of *inflater
	once sync.Once
	err  error // of opening

	idx  []byte // the index, mapped or read
	n    int
	file *os.File
	size int64
}

const (
	idxFanout = 8
	idxHashes = idxFanout + 256*4
)

func (p *pack) open() error {
	p.once.Do(func() { p.err = p.openOnce() })
	return p.err
}

func (p *pack) openOnce() (err error) {
	if p.idx, err = mapped(p.stem + ".idx"); err != nil {
		return fmt.Errorf("%s.idx: %w", p.stem, missingIsCorrupt(err))
	}
	if err := p.checkIndex(); err != nil {
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
		binary.BigEndian.Uint32(head[8:]) != uint32(p.n) {
		return fmt.Errorf("%w: %s.pack is not the pack of its index", ErrCorrupt, p.stem)
	}
	// The index ends with the pack's checksum and its own.
	sum := make([]byte, 20)
	if _, err := p.file.ReadAt(sum, p.size-20); err != nil {
		return fmt.Errorf("%w: %s.pack: %w", ErrCorrupt, p.stem, noEOF(err))
	}
	if !bytes.Equal(sum, p.idx[len(p.idx)-40:len(p.idx)-20]) {
		return fmt.Errorf("%w: %s.pack is not the pack of its index", ErrCorrupt, p.stem)
	}
	return nil
}

// checkIndex makes sure that what is looked up in the index is in it, and counts the objects.
func (p *pack) checkIndex() error {
	if len(p.idx) < idxHashes || !bytes.HasPrefix(p.idx, []byte("\xfftOc\x00\x00\x00\x02")) {
		return fmt.Errorf("%w: %s.idx is not a pack index of version 2; run git repack -a -d", ErrCorrupt, p.stem)
	}
	last := uint32(0)
	for i := range 256 {
		c := p.fanout(i)
		if c < last {
			return fmt.Errorf("%w: %s.idx: its table is not in order", ErrCorrupt, p.stem)
		}
		last = c
	}
	p.n = int(last)
	if int64(len(p.idx)) < idxHashes+int64(p.n)*(20+4+4)+40 {
		return fmt.Errorf("%w: %s.idx is too short", ErrCorrupt, p.stem)
	}
	return nil
}

// missingIsCorrupt keeps a file that went away from being taken for an object that is not there.
func missingIsCorrupt(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	return err
}

func (p *pack) fanout(i int) uint32 { return binary.BigEndian.Uint32(p.idx[idxFanout+4*i:]) }

func (p *pack) hash(i int) []byte { return p.idx[idxHashes+20*i : idxHashes+20*i+20] }

// span returns the places of the hashes that begin with a byte.
func (p *pack) span(first byte) (from, to int) {
	if first > 0 {
		from = int(p.fanout(int(first) - 1))
	}
	return from, int(p.fanout(int(first)))
}

// find returns where in the pack an object begins; fs.ErrNotExist if it is not in it.
func (p *pack) find(h Hash) (int64, error) {
	if err := p.open(); err != nil {
		return 0, err
	}
	from, to := p.span(h[0])
	i := from + sort.Search(to-from, func(i int) bool { return bytes.Compare(p.hash(from+i), h[:]) >= 0 })
	if i == to || !bytes.Equal(p.hash(i), h[:]) {
		return 0, fs.ErrNotExist
	}
	return p.offset(i)
}

func (p *pack) offset(i int) (int64, error) {
	offsets := idxHashes + p.n*(20+4)
	at := int64(binary.BigEndian.Uint32(p.idx[offsets+4*i:]))
	if at&(1<<31) != 0 {
		long := offsets + p.n*4 + int(at&(1<<31-1))*8
		if long+8 > len(p.idx)-40 {
			return 0, fmt.Errorf("%w: %s.idx: an offset outside of it", ErrCorrupt, p.stem)
		}
		at = int64(binary.BigEndian.Uint64(p.idx[long:]))
	}
	if at < 12 || at >= p.size-20 {
		return 0, fmt.Errorf("%w: %s.idx: an offset outside of the pack", ErrCorrupt, p.stem)
	}
	return at, nil
}

func (p *pack) withPrefix(prefix string) ([]Hash, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	padded, err := hex.DecodeString((prefix + "0000")[:len(prefix)+len(prefix)%2])
	if err != nil {
		return nil, err
	}
	from, to := p.span(padded[0])
	i := from + sort.Search(to-from, func(i int) bool { return bytes.Compare(p.hash(from+i), padded) >= 0 })
	var found []Hash
	for ; i < to; i++ {
		h := Hash(p.hash(i))
		if h.String()[:len(prefix)] != prefix {
			break
		}
		found = append(found, h)
	}
	return found, nil
}

// entry is the head of an object in a pack.
type entry struct {
	kind    kind
	size    int64 // of the content, or of the delta
	content int64 // where the compressed bytes begin
	base    int64 // of an offset delta
	baseRef Hash  // of a reference delta
}

func (p *pack) entry(at int64) (e entry, err error) {
	var buf [64]byte
	n, err := p.file.ReadAt(buf[:], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return e, err
	}
	r := bytes.NewReader(buf[:n])
	next := func() uint64 {
		c, rerr := r.ReadByte()
		if rerr != nil {
			err = fmt.Errorf("%w: %s.pack ends within an object", ErrCorrupt, p.stem)
		}
		return uint64(c)
	}
	err = nil
	c := next()
	e.kind = kind(c >> 4 & 7)
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
		if _, rerr := io.ReadFull(r, e.baseRef[:]); rerr != nil {
			return e, fmt.Errorf("%w: %s.pack ends within an object", ErrCorrupt, p.stem)
		}
	default:
		return e, fmt.Errorf("%w: an object of the unknown type %d", ErrCorrupt, e.kind)
	}
	e.content = at + int64(n-r.Len())
	return e, err
}

// An inflater reads compressed bytes. To make one takes longer than to read a commit, so
// that it goes back to a pool.
type inflater struct {
	raw *bufio.Reader
	z   io.ReadCloser // nil before the first use
}

// inflate returns a reader of the bytes that an entry holds.
func (p *pack) inflate(e entry) (io.ReadCloser, error) {
	from := io.NewSectionReader(p.file, e.content, p.size-20-e.content)
	in, ok := p.pool.Get().(*inflater)
	if !ok {
		in = &inflater{raw: bufio.NewReaderSize(nil, 8<<10)}
	}
	in.raw.Reset(from)
	var err error
	if in.z == nil {
		in.z, err = zlib.NewReader(in.raw)
	} else {
		err = in.z.(zlib.Resetter).Reset(in.raw, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, noEOF(err))
	}
	return &pooled{in, p.pool}, nil
}

// A pooled is an inflater that goes back when it is closed.
type pooled struct {
	in   *inflater
	pool *sync.Pool
}

func (r *pooled) Read(p []byte) (int, error) { return r.in.z.Read(p) }

func (r *pooled) Close() error {
	if r.in != nil {
		r.in.raw.Reset(nil)
		r.pool.Put(r.in)
		r.in = nil
	}
	return nil
}

// whole returns the bytes that an entry holds: exactly as many as it says.
func (p *pack) whole(e entry) ([]byte, error) {
	if e.size > maxDelta {
		return nil, fmt.Errorf("%w: %d bytes that are stored as a delta or the base of one", ErrLimit, e.size)
	}
	z, err := p.inflate(e)
	if err != nil {
		return nil, err
	}
	defer z.Close() // nothing is held
	content, err := readExactly(z, e.size)
	if err != nil {
		return nil, fmt.Errorf("%s.pack: %w", p.stem, err)
	}
	return content, nil
}

// object opens the object at an offset: by stream if it is stored as it is, in memory if it is put together from deltas
// or was remembered as the base of one.
func (p *pack) object(at int64, s *objects) (stored, error) {
	e, err := p.entry(at)
	if err != nil {
		return stored{}, err
	}
	if e.kind <= plumbing.TagObject {
		if k, content, known := s.bases.get(p, at); known {
			return stored{kind: k, size: int64(len(content)), content: content}, nil
		}
		z, err := p.inflate(e)
		remember := func(content []byte) { s.bases.put(p, at, e.kind, content) }
		return stored{kind: e.kind, size: e.size, stream: z, remember: remember}, err
	}
	k, content, release, err := p.resolve(at, s)
	return stored{kind: k, size: int64(len(content)), content: content, release: release}, err
}
