package repo

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"strings"
)

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

// withPrefix returns the hashes that begin with some digits.
func (t *hashTable) withPrefix(digits string) (found []Hash, err error) {
	first, err := hex.DecodeString(digits + "0"[:len(digits)%2])
	if err != nil {
		return nil, err
	}
	for i := t.from(first); i < t.count(); i++ {
		if !strings.HasPrefix(hex.EncodeToString(t.hash(i)), digits) {
			break
		}
		found = append(found, t.format.at(t.hash(i)))
	}
	return found, nil
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
