package repo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"
)

// resolve applies an object's deltas, from the base up. r is at the object's own delta; resolve closes it. It holds
// the base, one delta and its result, at most maxDelta bytes. Large objects are resolved one at a time; release ends
// the object's turn.
func (p *pack) resolve(
	top entry, r *reader, s *objects,
) (k plumbing.ObjectType, content []byte, release func(), err error) {
	defer func() { r.Close() }() // nothing is held
	chain := []entry{top}
	for last := top; last.kind > plumbing.TagObject; chain = append(chain, last) {
		at := last.base
		if last.kind == plumbing.REFDeltaObject {
			if at, err = p.find(last.baseRef); errors.Is(err, fs.ErrNotExist) {
				return 0, nil, nil, fmt.Errorf("%w: the base %s of a delta is not in its pack",
					ErrCorrupt, last.baseRef)
			} else if err != nil {
				return 0, nil, nil, err
			}
		}
		if b, known := s.bases.get(baseKey{p, at}); known {
			k, content = b.kind, b.content
			break
		}
		r.Close() // the base comes first
		if last, r, err = p.head(at); err != nil {
			return 0, nil, nil, err
		}
		if len(chain) == maxChain && last.kind > plumbing.TagObject {
			return 0, nil, nil, fmt.Errorf("%w: a chain of more than %d deltas", ErrLimit, maxChain)
		}
	}
	isLarge := false
	waitIfLarge := func(size int64) {
		if size >= large && !isLarge {
			s.large.Lock()
			isLarge = true
		}
	}
	unlock := func() {
		if isLarge {
			isLarge = false
			s.large.Unlock()
		}
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	var spare []byte // of an earlier result that is no longer used
	for i := len(chain) - 1; i >= 0; i-- {
		l := chain[i]
		waitIfLarge(int64(len(content)) + l.size)
		data, err := p.whole(l, r)
		if err != nil {
			return 0, nil, nil, err
		}
		r = nil
		if l.kind <= plumbing.TagObject {
			k, content = l.kind, data
		} else {
			size, err := deltaSize(data, len(content))
			if err != nil {
				return 0, nil, nil, err
			}
			waitIfLarge(size)
			if size <= maxBase || int64(cap(spare)) < size { // a cached content has no spare capacity
				spare = make([]byte, 0, size)
			}
			result, err := patch(spare[:0], content, data)
			if err != nil {
				return 0, nil, nil, err
			}
			if spare = nil; len(content) > maxBase { // a smaller one may be cached
				spare = content
			}
			content = result
		}
		s.remember(p, l.at, k, content)
	}
	return k, content, unlock, nil
}

// large is the size in bytes from which objects are resolved one at a time.
const large = 4 << 20

// deltaSize returns the size of the result, as given in the delta's header. base is the size of the base.
func deltaSize(delta []byte, base int) (int64, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(base) {
		return 0, fmt.Errorf("%w: a delta to another base", ErrCorrupt)
	}
	to, n := binary.Uvarint(delta[n:])
	if n <= 0 {
		return 0, fmt.Errorf("%w: a delta without a size", ErrCorrupt)
	}
	if to > maxDelta || from+to+uint64(len(delta)) > maxDelta {
		return 0, fmt.Errorf("%w: a delta of %d bytes that makes %d bytes of %d", ErrLimit, len(delta), to, from)
	}
	return int64(to), nil
}

// patch applies a delta to a base and appends the result to into, which has room for it. The format is git's
// gitformat-pack(5), "Deltified representation": two sizes, then copies from the base and new bytes.
func patch(into, base, delta []byte) ([]byte, error) {
	torn := fmt.Errorf("%w: a damaged delta", ErrCorrupt)
	_, n := binary.Uvarint(delta)
	size, m := binary.Uvarint(delta[n:])
	d := delta[n+m:]
	for len(d) > 0 {
		op := d[0]
		d = d[1:]
		if op&0x80 == 0 {
			n := int(op)
			if n == 0 || n > len(d) || uint64(len(into)+n) > size {
				return nil, torn
			}
			into, d = append(into, d[:n]...), d[n:]
			continue
		}
		var from, n uint64
		for i := range 7 { // four bytes of the offset and three of the size, if they are not zero
			if op>>i&1 == 0 {
				continue
			}
			if len(d) == 0 {
				return nil, torn
			}
			if i < 4 {
				from |= uint64(d[0]) << (8 * i)
			} else {
				n |= uint64(d[0]) << (8 * (i - 4))
			}
			d = d[1:]
		}
		if n == 0 {
			n = 1 << 16
		}
		if from+n > uint64(len(base)) || uint64(len(into))+n > size {
			return nil, torn
		}
		into = append(into, base[from:from+n]...)
	}
	if uint64(len(into)) != size {
		return nil, torn
	}
	return into, nil
}

// A baseKey is an object of a pack by its offset. Bases are cached, since neighbours in a pack share them.
type baseKey struct {
	pack *pack
	at   int64
}

type base struct {
	kind    plumbing.ObjectType
	content []byte
}

// Limits of the cached bytes, in all and of one object.
const (
	maxBases = 24 << 20
	maxBase  = 3 << 20
)

// CacheBases sets how many bytes of bases are cached. It must be called before objects are read.
func (r *Repository) CacheBases(bytes int) { r.objects.bases.limit = bytes }

// remember caches content, which must not be changed any more.
func (s *objects) remember(p *pack, at int64, k plumbing.ObjectType, content []byte) {
	if len(content) <= maxBase {
		s.bases.put(baseKey{p, at}, base{k, content}, len(content))
	}
}
