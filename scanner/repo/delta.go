package repo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// A link is an entry of a pack that is stored as a delta.
type link struct {
	entry
	at int64
}

// resolve puts an object together from its deltas, from the base up. r is where the object's own delta begins; resolve
// closes it. What it holds at any time is the base, one delta and its result, maxDelta bytes at the most. release ends
// the turn that a large object has to wait for; until then no other is put together.
func (p *pack) resolve(top link, r *reader, s *objects) (k kind, content []byte, release func(), err error) {
	defer func() { r.Close() }() // nothing is held
	chain := []link{top}
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
		var known bool
		if k, content, known = s.bases.get(p, at); known {
			break
		}
		r.Close() // the base comes first
		if last.entry, r, err = p.head(at); err != nil {
			return 0, nil, nil, err
		}
		last.at = at
		switch isBase := last.kind <= plumbing.TagObject; {
		case isBase && last.size > maxDelta:
			return 0, nil, nil, fmt.Errorf("%w: %d bytes that are the base of a delta", ErrLimit, last.size)
		case !isBase && len(chain) == maxChain:
			return 0, nil, nil, fmt.Errorf("%w: a chain of more than %d deltas", ErrLimit, maxChain)
		}
	}
	turn := s.large.turn()
	defer func() {
		if err != nil {
			turn.end()
		}
	}()
	var spare []byte // of a result before, that nothing refers to any more
	for i := len(chain) - 1; i >= 0; i-- {
		l := chain[i]
		turn.need(int64(len(content)) + l.size)
		data, err := p.whole(l.entry, r)
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
			turn.need(size)
			if size <= maxBase || int64(cap(spare)) < size { // what is remembered has no more room than it needs
				spare = make([]byte, 0, size)
			}
			result, err := patch(spare[:0], content, data)
			if err != nil {
				return 0, nil, nil, err
			}
			if spare = nil; len(content) > maxBase { // a smaller one may be remembered
				spare = content
			}
			content = result
		}
		s.bases.put(p, l.at, k, content)
	}
	return k, content, turn.end, nil
}

// A queue lets one large object be put together at a time.
type queue struct{ mu sync.Mutex }

// large is from how many bytes on an object waits for its turn.
const large = 4 << 20

// A turn is that of an object, once it is known to be large.
type turn struct {
	*queue
	taken bool
}

func (q *queue) turn() *turn { return &turn{queue: q} }

// need waits for the turn if so many bytes are large.
func (t *turn) need(n int64) {
	if n >= large && !t.taken {
		t.mu.Lock()
		t.taken = true
	}
}

// end lets the next one go on.
func (t *turn) end() {
	if t.taken {
		t.taken = false
		t.mu.Unlock()
	}
}

// deltaSize returns the size that a delta to a base of so many bytes says its result has.
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

// patch appends to into, which has room for it, what a delta makes of a base. The format
// is git's gitformat-pack(5), "Deltified representation": two sizes, then copies from the
// base and bytes that are new.
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

// deltaBases remembers what deltas were put together to, since neighbours in a pack
// have the same bases.
type deltaBases struct {
	mu   sync.Mutex
	held int
	m    map[baseKey]base
}

type baseKey struct {
	pack *pack
	at   int64
}

type base struct {
	kind    kind
	content []byte
}

// How many bytes are remembered, and of one object at the most.
const (
	maxBases = 24 << 20
	maxBase  = 3 << 20
)

func (d *deltaBases) get(p *pack, at int64) (kind, []byte, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, ok := d.m[baseKey{p, at}]
	return b.kind, b.content, ok
}

// put remembers a content, which must not be changed any more.
func (d *deltaBases) put(p *pack, at int64, k kind, content []byte) {
	if len(content) > maxBase {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.m == nil || d.held+len(content) > maxBases {
		d.m, d.held = map[baseKey]base{}, 0
	}
	d.m[baseKey{p, at}] = base{k, content}
	d.held += len(content)
}
