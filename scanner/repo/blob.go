package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxHeld is the largest blob held in memory if it is no delta. A larger one is read by stream.
const maxHeld = 1 << 20

// A Blob is the content of a file, to be read more than once. The read at the end fails if the content has another
// hash.
type Blob struct {
	repo *Repository
	hash Hash
	size int64

	held    *bytes.Reader // nil: by stream
	content []byte        // of held
	obj     stored        // of held
	r       *checked
	at      int64
}

func (r *Repository) Blob(h Hash) (*Blob, error) {
	obj, err := r.objects.find(h)
	if err != nil {
		return nil, err
	}
	if obj.kind != plumbing.BlobObject {
		_ = obj.Close()
		return nil, &ObjectError{h, fmt.Errorf("%w: it is a %s, not a blob", ErrCorrupt, obj.kind)}
	}
	b := &Blob{repo: r, hash: h, size: obj.size}
	if obj.stream != nil && obj.size > maxHeld {
		b.r = r.objects.newChecked(h, obj)
		return b, nil
	}
	content, err := r.objects.readChecked(h, obj)
	if err != nil {
		_ = obj.Close() // the first error counts
		return nil, wrapObject(h, err)
	}
	b.held, b.content, b.obj = bytes.NewReader(content), content, obj
	return b, nil
}

// AddBlobs adds blobs that are not in the repository. Of an unknown hash open returns [fs.ErrNotExist].
func (r *Repository) AddBlobs(open func(h Hash) (content io.ReadCloser, size int64, err error)) {
	r.objects.more = open
}

// Remember makes blobs stored as a delta to this one, often other versions of the file, cheaper to read for a while.
func (b *Blob) Remember() {
	if b.held != nil && b.obj.remember != nil {
		b.obj.remember(b.content)
		b.obj.remember = nil
	}
}

// Size is the length of the content in bytes.
func (b *Blob) Size() int64 { return b.size }

// Changed is nil: a blob's name is its content.
func (b *Blob) Changed() error { return nil }

// Close releases the blob.
func (b *Blob) Close() {
	if b.r != nil {
		_ = b.r.Close() // read only: nothing to lose
		b.r = nil
	}
	if b.held != nil {
		_ = b.obj.Close() // read only: nothing to lose
		b.held = nil
	}
}

// Read is io.Reader's.
func (b *Blob) Read(p []byte) (int, error) {
	if b.held != nil {
		return b.held.Read(p)
	}
	n, err := b.r.Read(p)
	b.at += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = wrapObject(b.hash, err)
	}
	return n, err
}

// Seek is io.Seeker's, from the start only. A stream goes back by being opened again.
func (b *Blob) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.New("a blob is sought from its start")
	}
	if b.held != nil {
		return b.held.Seek(offset, whence)
	}
	if offset < b.at {
		obj, err := b.repo.objects.find(b.hash)
		if err != nil {
			return 0, err
		}
		b.Close()
		b.r, b.at = b.repo.objects.newChecked(b.hash, obj), 0
	}
	_, err := io.CopyN(io.Discard, b, offset-b.at)
	return b.at, err
}

// A cache drops its older half rather than grow over a limit. Several goroutines may use it.
type cache[K comparable, V any] struct {
	mu         sync.Mutex // guards the fields below
	young, old map[K]cached[V]
	size       int // of all young values
	limit      int // of all values
}

type cached[V any] struct {
	value V
	size  int
}

func (c *cache[K, V]) get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, known := c.young[key]
	if !known {
		if one, known = c.old[key]; known {
			c.add(key, one)
		}
	}
	return one.value, known
}

// put keeps a value of a size. All sizes together are at most the limit.
func (c *cache[K, V]) put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, cached[V]{value, size})
}

func (c *cache[K, V]) add(key K, one cached[V]) {
	if _, known := c.young[key]; !known {
		c.size += one.size
	}
	if c.young == nil || c.size > c.limit/2 {
		c.young, c.old, c.size = map[K]cached[V]{}, c.young, one.size
	}
	c.young[key] = one
}
