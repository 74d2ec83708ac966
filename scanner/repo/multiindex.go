package repo

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"strings"
)

// A multiIndex is a multi-pack-index, one index of many packs (git's gitformat-pack(5)). It is used for packs without
// their own index only. Each of its objects is in one of the packs.
type multiIndex struct {
	names hashTable
	rows  []byte // for each hash the number of its pack and the offset there, or the one in long
	long  []byte
}

// openMultiIndexes calls visit with the packs of the multi-pack-index of a directory, which may be a chain of files. An
// unusable file has none.
func (f format) openMultiIndexes(dir string, visit func(stem string, number uint32, m *multiIndex)) {
	files := []string{filepath.Join(dir, "multi-pack-index")}
	chain := filepath.Join(dir, "multi-pack-index.d")
	hashes, _ := f.readHashes(filepath.Join(chain, "multi-pack-index-chain"))
	for _, h := range hashes {
		files = append(files, filepath.Join(chain, "multi-pack-index-"+h.String()+".midx"))
	}
	for _, file := range files {
		m, packs, err := f.openMultiIndex(file)
		if err != nil {
			continue
		}
		for i, name := range strings.Split(packs, "\x00") {
			visit(strings.TrimSuffix(name, ".idx"), uint32(i), m)
		}
	}
}

func (f format) openMultiIndex(file string) (m *multiIndex, packs string, err error) {
	const head = 12 // MIDX, the version 1 or 2, the format, the number of chunks, of files below and of packs
	content, err := mapped(file)
	if err != nil {
		return nil, "", err
	}
	if len(content) < head || string(content[:4]) != "MIDX" || content[4]-1 > 1 || format(content[5]) != f {
		return nil, "", fmt.Errorf("%w: %s is no multi-pack-index of %s", ErrCorrupt, file, f)
	}
	parts, err := chunks(content, head, int(content[6]))
	if err != nil {
		return nil, "", err
	}
	m = &multiIndex{rows: parts["OOFF"], long: parts["LOFF"]}
	m.names, err = newHashTable(f, parts["OIDF"], parts["OIDL"])
	if err == nil && len(m.rows) < m.names.count()*8 {
		err = fmt.Errorf("%w: %s is too short", ErrCorrupt, file)
	}
	return m, string(parts["PNAM"]), err
}

// in reports whether an object is in the pack of a number.
func (m *multiIndex) in(i int, number uint32) bool {
	return binary.BigEndian.Uint32(m.rows[8*i:]) == number
}

// offset returns where an object is in its pack; one that is in no pack, if the table of long offsets lacks it.
func (m *multiIndex) offset(i int) int64 {
	at := int64(binary.BigEndian.Uint32(m.rows[8*i+4:]))
	if long := 8 * (at & (1<<31 - 1)); at>>31 != 0 && len(m.long) > 0 {
		if at = math.MaxInt64; long+8 <= int64(len(m.long)) {
			at = int64(binary.BigEndian.Uint64(m.long[long:]))
		}
	}
	return at
}
