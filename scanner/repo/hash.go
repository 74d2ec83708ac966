package repo

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pjbgf/sha1cd"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Hash names an object. That of a SHA-1 ends in 12 zeros, which no SHA-256 of anything known does. The repository's
// format decides how an object is checked, never the hash. As a key of a map it takes as long as one of 20 bytes; with
// its length next to it, it took twice as long.
type Hash [sha256.Size]byte

// IsZero reports whether h names no object.
func (h Hash) IsZero() bool { return h == Hash{} }

// String returns the digits of h: 40, or 64 of a SHA-256.
func (h Hash) String() string {
	if [sha256.Size - sha1.Size]byte(h[sha1.Size:]) == [12]byte{} {
		return hex.EncodeToString(h[:sha1.Size])
	}
	return hex.EncodeToString(h[:])
}

// Short is the beginning of a hash, for display.
func Short(h Hash) string { return h.String()[:7] }

// wholeHash reports whether a text is a hash of one of the formats, in lower case.
func wholeHash(text string) bool {
	return (len(text) == 2*sha1.Size || len(text) == 2*sha256.Size) && hexPrefix(text)
}

func hexPrefix(s string) bool {
	if len(s)%2 == 1 {
		s += "0"
	}
	_, err := hex.DecodeString(s)
	return err == nil && s == strings.ToLower(s)
}

// A format is the function by which a repository names its objects, by the number that git's files have for it.
type format byte

const (
	formatSHA1   format = 1
	formatSHA256 format = 2
)

func (f format) String() string {
	if f == formatSHA256 {
		return "SHA-256"
	}
	return "SHA-1"
}

// setting is the value of extensions.objectFormat.
func (f format) setting() string { return strings.ToLower(strings.ReplaceAll(f.String(), "-", "")) }

// size is the length of a hash in bytes.
func (f format) size() int {
	if f == formatSHA256 {
		return sha256.Size
	}
	return sha1.Size
}

func (f format) new() hash.Hash {
	if f == formatSHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// parse returns the hash of the digits in text. The error says what text is.
func (f format) parse(text string) (h Hash, err error) {
	if len(text) == 2*f.size() {
		if _, err = hex.Decode(h[:], []byte(text)); err == nil {
			return h, nil
		}
	}
	if wholeHash(text) {
		return Hash{}, fmt.Errorf("%s, %d digits, but the repository's hashes are %s", text, len(text), f)
	}
	return Hash{}, fmt.Errorf("%q, which is not a hash", clip(text))
}

// Hash returns the hash of the digits in text, in the repository's format; all zeros name no object.
func (r *Repository) Hash(text string) (Hash, error) { return r.objects.format.parse(text) }

// at returns the hash that b begins with.
func (f format) at(b []byte) (h Hash) {
	copy(h[:], b[:f.size()])
	return h
}

// sum begins the hash of an object.
func (f format) sum(k plumbing.ObjectType, size int64) hash.Hash { return begin(f.new(), k, size) }

func begin(sum hash.Hash, k plumbing.ObjectType, size int64) hash.Hash {
	_, _ = io.WriteString(sum, k.String()+" "+strconv.FormatInt(size, 10)+"\x00") // never fails
	return sum
}

func sumHash(sum hash.Hash) (h Hash) {
	sum.Sum(h[:0])
	return h
}

// HashBlob returns the hash of content with size bytes as a blob of the repository. Content that was made to have the
// SHA-1 of another one has another hash.
func (r *Repository) HashBlob(size int64, content io.Reader) (Hash, error) {
	sum := r.objects.format.sum(plumbing.BlobObject, size)
	if r.objects.format == formatSHA1 {
		sum = begin(sha1cd.New(), plumbing.BlobObject, size)
	}
	_, err := io.Copy(sum, content)
	return sumHash(sum), err
}

// IsEmptyBlob reports whether a hash is the empty file's.
func IsEmptyBlob(h Hash) bool { return slices.Contains(emptyBlobs(), h) }

var emptyBlobs = sync.OnceValue(func() []Hash {
	return []Hash{sumHash(formatSHA1.sum(plumbing.BlobObject, 0)), sumHash(formatSHA256.sum(plumbing.BlobObject, 0))}
})
