package repo

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// Limits on objects that are read whole. Blobs that are not stored as a delta are read by stream and have no limit.
const (
	maxMeta  = 32 << 20  // a tree (of some 800,000 entries), commit or tag, in bytes
	maxDelta = 256 << 20 // an object that is stored as a delta, in bytes
	maxChain = 10_000    // deltas one on top of another; git writes 4,095 at most
)

// Errors of objects. An object that cannot be read is never treated as one that does not exist.
var (
	ErrMissing = errors.New("the object is not in this clone")
	ErrCorrupt = errors.New("the object is corrupt")
	ErrHash    = errors.New("the object's content does not match its hash")
	ErrLimit   = errors.New("over a limit")
)

// An ObjectError is an object that cannot be read.
type ObjectError struct {
	Hash Hash
	Err  error
}

func (e *ObjectError) Error() string { return fmt.Sprintf("object %s: %v", e.Hash, e.Err) }
func (e *ObjectError) Unwrap() error { return e.Err }

// stored is an object before its content is checked.
type stored struct {
	kind    plumbing.ObjectType
	size    int64
	stream  io.ReadCloser // or, if it is resolved from deltas:
	content []byte
	release func() // frees the content; may be nil
	// remember caches the content for deltas to it; nil if impossible or cached already.
	remember func(content []byte)
}

func (o stored) Close() error {
	if o.release != nil {
		o.release()
	}
	if o.stream != nil {
		return o.stream.Close()
	}
	return nil
}

// objects is the repository's own objects directory and its alternates.
type objects struct {
	format format
	dirs   []*objectDir
	bases  cache[baseKey, base]
	large  sync.Mutex                                                  // held while a large delta is resolved
	more   func(h Hash) (content io.ReadCloser, size int64, err error) // see [Repository.AddBlobs]

	inflaters sync.Pool // of *inflater, for the packs
}

// find opens an object, unchecked. Packs are searched first, as in git: most objects are in one, and a search is
// faster than a system call for a missing file.
func (s *objects) find(h Hash) (stored, error) {
	for _, f := range s.dirs {
		obj, err := f.packed(h, s)
		if !errors.Is(err, fs.ErrNotExist) {
			return obj, wrapObject(h, err)
		}
	}
	for _, f := range s.dirs {
		obj, err := f.loose(h)
		if !errors.Is(err, fs.ErrNotExist) {
			return obj, wrapObject(h, err)
		}
	}
	if s.more != nil {
		content, size, err := s.more(h)
		if !errors.Is(err, fs.ErrNotExist) {
			return stored{kind: plumbing.BlobObject, size: size, stream: content}, wrapObject(h, err)
		}
	}
	for _, f := range s.dirs {
		if f.blind != "" {
			return stored{}, &ObjectError{h,
				fmt.Errorf("%w, or it is in %s, which has no index; run git repack -a -d", ErrMissing, f.blind)}
		}
	}
	return stored{}, &ObjectError{h, ErrMissing}
}

func wrapObject(h Hash, err error) error {
	if err == nil {
		return nil
	}
	return &ObjectError{h, err}
}

// read returns the checked content of an object, which must be of a kind.
func (s *objects) read(h Hash, want plumbing.ObjectType) ([]byte, error) {
	obj, err := s.find(h)
	if err != nil {
		return nil, err
	}
	defer obj.Close() // read only: nothing to lose
	if obj.kind != want {
		return nil, &ObjectError{h, fmt.Errorf("%w: it is a %s, not a %s", ErrCorrupt, obj.kind, want)}
	}
	if obj.size > maxMeta {
		return nil, &ObjectError{h, fmt.Errorf("%w: a %s of %d bytes", ErrLimit, obj.kind, obj.size)}
	}
	content, err := s.readChecked(h, obj)
	return content, wrapObject(h, err)
}

func (s *objects) kindOf(h Hash) (plumbing.ObjectType, error) {
	obj, err := s.find(h)
	if err != nil {
		return 0, err
	}
	return obj.kind, obj.Close()
}

func (s *objects) readChecked(h Hash, obj stored) ([]byte, error) {
	content := obj.content
	if obj.stream != nil {
		var err error
		if content, err = readExactly(obj.stream, obj.size); err != nil {
			return nil, err
		}
	}
	sum := s.format.sum(obj.kind, obj.size)
	_, _ = sum.Write(content) // never fails
	return content, sameHash(h, sum)
}

// readExactly reads size bytes; more or fewer are an error. Memory is allocated only for bytes read, not for the
// claimed size.
func readExactly(r io.Reader, size int64) ([]byte, error) {
	content := make([]byte, size+1)
	n, err := io.ReadFull(r, content)
	switch {
	case int64(n) > size:
		return nil, fmt.Errorf("%w: it is longer than it says", ErrCorrupt)
	case !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	case int64(n) < size:
		return nil, fmt.Errorf("%w: it is shorter than it says", ErrCorrupt)
	}
	return content[:size:size], nil
}

func sameHash(want Hash, sum hash.Hash) error {
	if got := sumHash(sum); got != want {
		return fmt.Errorf("%w: it has the hash %s", ErrHash, got)
	}
	return nil
}

// checked is a stream of an object's content, whose last read fails if the hash does not match.
type checked struct {
	obj  stored
	want Hash
	sum  hash.Hash
	left int64
}

func (s *objects) newChecked(h Hash, obj stored) *checked {
	if obj.stream == nil {
		obj.stream = io.NopCloser(bytes.NewReader(obj.content))
	}
	return &checked{obj: obj, want: h, sum: s.format.sum(obj.kind, obj.size), left: obj.size}
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.obj.stream.Read(p)
	_, _ = c.sum.Write(p[:n]) // never fails
	c.left -= int64(n)
	switch {
	case c.left < 0:
		return 0, fmt.Errorf("%w: it is longer than it says", ErrCorrupt)
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF):
		return n, fmt.Errorf("%w: %w", ErrCorrupt, err)
	case c.left > 0:
		return n, fmt.Errorf("%w: it is shorter than it says", ErrCorrupt)
	}
	if err := sameHash(c.want, c.sum); err != nil {
		return n, err
	}
	return n, io.EOF
}

func (c *checked) Close() error { return c.obj.Close() }
