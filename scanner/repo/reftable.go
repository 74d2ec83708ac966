package repo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A refTable is one file of refs in git's reftable format, versions 1 and 2. It has blocks of sorted records: refs,
// then the levels of their index, then objects and logs, which are not read. Only the footer has a checksum. So every
// block in which a ref is looked up is read to its end and must be well-formed, with the last name that the index
// gives it.
type refTable struct {
	data      []byte // without the footer
	hashSize  int
	blockSize int    // of aligned blocks; 0: one follows another
	header    int    // length of the file's header, which the first block begins with
	oldest    uint64 // number of the first update in it, and of the last
	newest    uint64
	refs      int // where the blocks of refs end; 0: it has no refs
	index     int // where the highest level of the index begins, and ends; 0: no index
	indexEnd  int
}

// Kinds of blocks.
const (
	refBlock   = 'r'
	indexBlock = 'i'
	logBlock   = 'g'
)

// Kinds of records of refs.
const (
	deletedRef = iota
	plainValue
	peeledValue // with the object of a tag
	symbolicValue
)

// A tableRef is a ref's record in a table: its hash, or the target of a symbolic ref, or neither if it was deleted.
type tableRef struct {
	hash   []byte
	target string
}

var errTable = errors.New("it is damaged")

// newRefTable reads the header and the footer of a table of hashes with a size in bytes.
func newRefTable(file []byte, hashSize int) (*refTable, error) {
	const magic, crc = "REFT", 4
	if len(file) < 5 || string(file[:4]) != magic {
		return nil, fmt.Errorf("%w: it does not begin as a reftable", errTable)
	}
	t := &refTable{hashSize: hashSize, header: 24}
	hashID := "sha1"
	switch file[4] {
	case 1:
	case 2:
		t.header = 28
	default:
		return nil, fmt.Errorf("%w: reftable of version %d", ErrFormat, file[4])
	}
	const positions = 5 * 8
	footer := t.header + positions + crc
	if len(file) < t.header+footer {
		return nil, fmt.Errorf("%w: it ends within its header", errTable)
	}
	header, end := file[:t.header], file[len(file)-footer:]
	if !bytes.Equal(header, end[:t.header]) ||
		crc32.ChecksumIEEE(end[:footer-crc]) != binary.BigEndian.Uint32(end[footer-crc:]) {
		return nil, fmt.Errorf("%w: its footer does not match", errTable)
	}
	if t.header == 28 {
		hashID = string(header[24:])
	}
	if sizes := map[string]int{"sha1": 20, "s256": 32}; sizes[hashID] != hashSize {
		return nil, fmt.Errorf("%w: its hashes are %q, not the repository's", errTable, hashID)
	}
	t.data = file[:len(file)-footer]
	t.blockSize = number24(header[5:])
	t.oldest, t.newest = binary.BigEndian.Uint64(header[8:]), binary.BigEndian.Uint64(header[16:])
	if t.oldest > t.newest {
		return nil, fmt.Errorf("%w: it begins with update %d and ends with %d", errTable, t.oldest, t.newest)
	}
	return t, t.sections(end[t.header:])
}

// sections finds where the refs and their index end, by the positions of the footer: each is 0, or further on.
func (t *refTable) sections(footer []byte) error {
	size, last := uint64(len(t.data)), uint64(t.header)
	ends := [2]uint64{size, size} // of the refs, and of their index
	for i := range 5 {
		at := binary.BigEndian.Uint64(footer[8*i:])
		if i == 1 {
			at >>= 5 // below is how long the names of objects are
		}
		switch {
		case at == 0:
			continue
		case at < last || at >= size || at == last && last != uint64(t.header):
			return fmt.Errorf("%w: its footer names a place outside of it", errTable)
		case i == 0:
			t.index = int(at)
		case ends[1] == size:
			ends[1] = at
		}
		if ends[0] == size {
			ends[0] = at
		}
		last = at
	}
	switch {
	case size == uint64(t.header) || t.data[t.header] == logBlock:
		if t.index != 0 {
			return fmt.Errorf("%w: it has an index without refs", errTable)
		}
	case t.data[t.header] != refBlock:
		return fmt.Errorf("%w: it does not begin with refs", errTable)
	default:
		t.refs, t.indexEnd = int(ends[0]), int(ends[1])
	}
	return nil
}

// find returns a ref's record; false without one. It reads one block of each level of the index and one or two of
// refs; without an index, which a table of few blocks does not have, all blocks up to the ref's.
func (t *refTable) find(name string) (ref tableRef, found bool, err error) {
	at, next, end, kind := 0, 0, t.refs, byte(refBlock)
	if t.index != 0 {
		next, end, kind = t.index, t.indexEnd, indexBlock
	}
	s := blockSearch{name: name}
	for !s.found { // the highest level of an index may have several blocks
		if next >= end {
			if t.index != 0 {
				err = t.checkEnd(s.before, -1)
			}
			return ref, false, err
		}
		at = next
		if next, err = t.search(&s, at, end, kind); err != nil {
			return ref, false, err
		}
	}
	for kind == indexBlock {
		entry := s.hit
		if at, kind, err = t.child(entry, at); err == nil {
			s.found = false
			_, err = t.search(&s, at, t.index, kind)
		}
		if err == nil && !s.found {
			err = errTableIndex
		}
		if err != nil {
			return ref, false, err
		}
	}
	if t.index != 0 && s.isFirst && s.hit.name != name { // else it is between two records of a block
		err = t.checkEnd(s.before, at)
	}
	return s.hit.tableRef, s.hit.name == name, err
}

// each calls visit with the records of all refs, in their order. The lower levels of an index follow the refs.
func (t *refTable) each(visit func(tableRecord)) (err error) {
	s := blockSearch{name: "\xff", visit: visit} // no name that is found: all blocks are in order
	for at := 0; at < t.refs && (at == 0 || t.index == 0 || t.data[at] != indexBlock) && err == nil; {
		at, err = t.search(&s, at, t.refs, refBlock)
	}
	if err == nil && t.index != 0 {
		_, _, err = t.find(s.last + "\x00") // the index must end with the last block
	}
	return err
}

var errTableIndex = fmt.Errorf("%w: its index is not that of its refs", errTable)

// child returns where the block of an index's record is, and its kind. The index is at a place after it.
func (t *refTable) child(entry tableRecord, index int) (at int, kind byte, err error) {
	if entry.child >= uint64(index) {
		return 0, 0, errTableIndex
	}
	at, kind = int(entry.child), refBlock
	if at > 0 && t.data[at] == indexBlock {
		kind = indexBlock
	}
	return at, kind, nil
}

// checkEnd checks that a block of refs, or the index if it is -1, follows the one that a record of the index names
// with its last ref; without a name, no block.
func (t *refTable) checkEnd(entry tableRecord, block int) error {
	end := 0
	for at, kind := t.index, byte(indexBlock); entry.name != "" && kind == indexBlock; {
		var err error
		if at, kind, err = t.child(entry, at); err != nil {
			return err
		}
		s := blockSearch{name: entry.name}
		if end, err = t.search(&s, at, t.index, kind); err != nil {
			return err
		}
		if s.hit.name != entry.name || s.last != entry.name {
			return errTableIndex
		}
		entry = s.hit
	}
	if end != block && (block >= 0 || t.data[end] != indexBlock) {
		return errTableIndex
	}
	return nil
}

// A blockSearch is the search for a name in one block after another.
type blockSearch struct {
	name    string
	found   bool
	hit     tableRecord       // the first record whose name is not below the wanted one
	isFirst bool              // of its block
	before  tableRecord       // the record before the hit, or before its block
	last    string            // the last name of the block
	visit   func(tableRecord) // may be nil
}

// A tableRecord is a record of a block of refs or of an index.
type tableRecord struct {
	tableRef
	name  string
	child uint64 // of an index: where the block is that ends with the name
}

// search reads a block, whose names come after s.before, to its end. It returns where the next block begins.
func (t *refTable) search(s *blockSearch, at, end int, kind byte) (next int, err error) {
	b, next, err := t.block(at, end, kind)
	if err != nil {
		return 0, err
	}
	name, before := []byte(nil), []byte(s.before.name)
	var last tableRecord
	for isFirst := true; len(b.rest) > 0; isFirst = false {
		var rec tableRecord
		if name, err = b.record(&rec, name); err != nil {
			return 0, fmt.Errorf("%w: a record of the block at %d %w", errTable, at, err)
		}
		if bytes.Compare(name, before) <= 0 {
			return 0, fmt.Errorf("%w: %q is not in order", errTable, clip(string(name)))
		}
		if s.visit != nil {
			rec.name = string(name)
			s.visit(rec)
		}
		if !s.found && string(name) >= s.name {
			s.found, s.hit, s.isFirst = true, rec, isFirst
			s.hit.name = string(name)
			if !isFirst {
				last.name = string(before)
				s.before = last
			}
		}
		last, before = rec, append(before[:0], name...)
	}
	if len(b.restarts) > 0 {
		return 0, fmt.Errorf("%w: the block at %d lists a record that it does not have", errTable, at)
	}
	if s.last = string(before); !s.found {
		last.name = s.last
		s.before = last
	}
	return next, nil
}

// A tableBlock is a block while its records are read.
type tableBlock struct {
	table    *refTable
	kind     byte
	rest     []byte // its records that are not yet read
	at       int    // where the rest begins in the block
	restarts []byte // three bytes for each record with a whole name, where it begins
}

// block opens the block at a place of the file.
func (t *refTable) block(at, end int, kind byte) (b tableBlock, next int, err error) {
	head := at
	if at == 0 {
		head = t.header
	}
	bad := fmt.Errorf("%w: there is no whole block %q at %d", errTable, kind, at)
	const least = 4 + 2 + 3
	if end-head < least || t.data[head] != kind {
		return b, 0, bad
	}
	length := number24(t.data[head+1:])
	if length < head-at+least || length > end-at || kind == refBlock && t.blockSize > 0 && length > t.blockSize {
		return b, 0, bad
	}
	block := t.data[at : at+length]
	restarts := length - 2 - 3*int(binary.BigEndian.Uint16(block[length-2:]))
	b = tableBlock{table: t, kind: kind, at: head - at + 4}
	if restarts < b.at {
		return b, 0, bad
	}
	b.rest, b.restarts = block[b.at:restarts], block[restarts:length-2]
	if len(b.rest) == 0 || len(b.restarts) == 0 || number24(b.restarts) != b.at {
		return b, 0, bad
	}
	if next = at + length; t.blockSize == 0 || next >= end || t.data[next] != 0 {
		return b, next, nil
	}
	padded := min(end, (next+t.blockSize-1)/t.blockSize*t.blockSize)
	if len(bytes.TrimLeft(t.data[next:padded], "\x00")) > 0 {
		return b, 0, bad
	}
	return b, padded, nil
}

// Errors of records, which follow "a record".
var (
	errTableEnd   = errors.New("has no end")
	errTableName  = errors.New("shares the beginning of its name with none")
	errTableValue = errors.New("has no value that a ref can have")
)

// record reads the next record. It overwrites the name of the previous one.
func (b *tableBlock) record(rec *tableRecord, previous []byte) (name []byte, err error) {
	begin := len(b.rest)
	shared, length := b.number(), b.number()
	valueKind := length & 7
	whole := len(b.restarts) > 0 && number24(b.restarts) == b.at
	if whole {
		b.restarts = b.restarts[3:]
	}
	if shared > uint64(len(previous)) || whole && shared > 0 {
		return nil, errTableName
	}
	name = append(previous[:shared], b.take(length>>3)...)
	if b.kind == indexBlock {
		rec.child = b.number()
		if valueKind != 0 {
			err = errTableValue
		}
	} else {
		err = b.value(rec, valueKind)
	}
	if b.rest == nil {
		return nil, errTableEnd
	}
	b.at += begin - len(b.rest)
	return name, err
}

func (b *tableBlock) value(rec *tableRecord, kind uint64) error {
	update := b.number()
	size := uint64(b.table.hashSize)
	switch kind {
	case deletedRef:
	case plainValue:
		rec.hash = b.take(size)
	case peeledValue:
		rec.hash = b.take(size)
		b.take(size)
	case symbolicValue:
		rec.target = string(b.take(b.number()))
	}
	zeros := kind == plainValue || kind == peeledValue
	for _, c := range rec.hash {
		zeros = zeros && c == 0
	}
	if kind > symbolicValue || zeros || kind == symbolicValue && rec.target == "" ||
		update > b.table.newest-b.table.oldest {
		return errTableValue
	}
	return nil
}

// take returns the next n bytes. Beyond the end of the records it sets the rest to nil, and returns nil.
func (b *tableBlock) take(n uint64) []byte {
	if n > uint64(len(b.rest)) || b.rest == nil {
		b.rest = nil
		return nil
	}
	taken := b.rest[:n]
	b.rest = b.rest[n:]
	return taken
}

// number reads a number in the encoding of offset deltas.
func (b *tableBlock) number() uint64 {
	v, n, ok := offsetVarint(b.rest)
	if !ok {
		b.rest = nil
		return 0
	}
	b.rest = b.rest[n:]
	return v
}

func number24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }
