package repo

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/pjbgf/sha1cd"
)

// A Hash names an object. That of a SHA-1 ends in 12 zeros, which no SHA-256 of anything known does. The repository's
// format decides how an object is checked, never the hash. As a key of a map it takes as long as one of 20 bytes; with
// its length beside it, it took twice as long.
type Hash [sha256.Size]byte

// IsZero reports whether h names no object.
func (h Hash) IsZero() bool { return h == Hash{} }

// String returns the digits of h: 40, or 64 of a SHA-256.
func (h Hash) String() string {
	if isSHA1(h) {
		return hex.EncodeToString(h[:sha1.Size])
	}
	return hex.EncodeToString(h[:])
}

func isSHA1(h Hash) bool { return [sha256.Size - sha1.Size]byte(h[sha1.Size:]) == [12]byte{} }

// Short is the beginning of a hash, for display.
func Short(h Hash) string { return h.String()[:7] }

// Digits reports whether a text is a whole hash of one of the formats, in lower case.
func Digits(text string) bool {
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
	if Digits(text) {
		return Hash{}, fmt.Errorf("%s, %d digits, but the repository's hashes are %s", text, len(text), f)
	}
	return Hash{}, fmt.Errorf("%q, which is not a hash", clip(text))
}

// at returns the hash that b begins with.
func (f format) at(b []byte) (h Hash) {
	copy(h[:], b[:f.size()])
	return h
}

// sum begins the hash of an object.
func (f format) sum(k kind, size int64) hash.Hash { return begin(f.new(), k, size) }

func begin(sum hash.Hash, k kind, size int64) hash.Hash {
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
	sum := r.objects.format.sum(kindBlob, size)
	if r.objects.format == formatSHA1 {
		sum = begin(sha1cd.New(), kindBlob, size)
	}
	_, err := io.Copy(sum, content)
	return sumHash(sum), err
}

// IsEmptyBlob reports whether a hash is the empty file's.
func IsEmptyBlob(h Hash) bool { return slices.Contains(emptyBlobs(), h) }

var emptyBlobs = sync.OnceValue(func() []Hash {
	return []Hash{sumHash(formatSHA1.sum(kindBlob, 0)), sumHash(formatSHA256.sum(kindBlob, 0))}
})

// A hashTable is the sorted hashes of one of git's indexes, and how many begin with each byte or a lower one.
type hashTable struct {
	format format
	fanout []byte // 256 x 4
	hashes []byte
}

const fanoutSize = 256 * 4

// newHashTable takes the hashes from the start of content.
func newHashTable(f format, fanout, content []byte) (hashTable, error) {
	t := hashTable{f, fanout, nil}
	if len(fanout) != fanoutSize {
		return t, errors.New("its table has another size")
	}
	for i := range 255 {
		if t.upTo(i) > t.upTo(i+1) {
			return t, errors.New("its table is not in order")
		}
	}
	if int64(len(content)) < int64(t.upTo(255))*int64(f.size()) {
		return t, errors.New("it is too short")
	}
	t.hashes = content[:t.upTo(255)*f.size()]
	return t, nil
}

func (t *hashTable) upTo(first int) int { return int(binary.BigEndian.Uint32(t.fanout[4*first:])) }

func (t *hashTable) count() int { return t.upTo(255) }

func (t *hashTable) hash(i int) []byte {
	size := t.format.size()
	return t.hashes[size*i : size*i+size]
}

// from returns the index of the first hash that is not below h.
func (t *hashTable) from(h []byte) int {
	low, high := 0, t.upTo(int(h[0]))
	if h[0] > 0 {
		low = t.upTo(int(h[0]) - 1)
	}
	return low + sort.Search(high-low, func(i int) bool { return bytes.Compare(t.hash(low+i), h) >= 0 })
}

// find returns the index of a hash.
func (t *hashTable) find(h *Hash) (i int, found bool) {
	want := h[:t.format.size()]
	i = t.from(want)
	return i, i < t.count() && bytes.Equal(t.hash(i), want)
}

// withPrefix calls visit with the hashes that begin with some digits, and their indexes.
func (t *hashTable) withPrefix(digits string, visit func(i int, h Hash)) error {
	first, err := hex.DecodeString(digits + "0"[:len(digits)%2])
	if err != nil {
		return err
	}
	for i := t.from(first); i < t.count(); i++ {
		if !strings.HasPrefix(hex.EncodeToString(t.hash(i)), digits) {
			break
		}
		visit(i, t.format.at(t.hash(i)))
	}
	return nil
}

// chunks returns the parts of a file by their names, from a table of n rows, each with a name and where its part
// begins: the next row says where it ends (git's gitformat-chunk(5)).
func chunks(content []byte, table, n int) (map[string][]byte, error) {
	const row = 4 + 8
	if len(content) < table+(n+1)*row {
		return nil, errors.New("it is too short")
	}
	all := map[string][]byte{}
	for i := range n {
		at := content[table+i*row:]
		from, to := binary.BigEndian.Uint64(at[4:]), binary.BigEndian.Uint64(at[row+4:])
		if from > to || to > uint64(len(content)) {
			return nil, fmt.Errorf("its part %q is outside of it", at[:4])
		}
		all[string(at[:4])] = content[from:to]
	}
	return all, nil
}
