package repo

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A refMap has the values of refs: a hash, "ref: " and a target, or "deleted".
type refMap map[string]string

// tableWriter writes reftables by git's description of the format.
type tableWriter struct {
	version, hashSize int
	blockSize         int  // of a block at most
	aligned           bool // each block at a multiple of it
	restart           int  // every so many records a whole name
	top               int  // so many blocks of an index need no level above; 0: there is no index
	oldest, newest    uint64
	others            bool // blocks of objects and logs follow
	omitted           int  // the index lacks this block of refs, from 1
}

func varint(v uint64) []byte {
	out := []byte{byte(v & 0x7f)}
	for v >>= 7; v > 0; v >>= 7 {
		v--
		out = append([]byte{byte(v&0x7f) | 0x80}, out...)
	}
	return out
}

func (w tableWriter) head(kind string) []byte {
	out := append([]byte(kind), byte(w.version))
	size := w.blockSize
	if !w.aligned {
		size = 0
	}
	out = append(out, byte(size>>16), byte(size>>8), byte(size))
	out = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(out, w.oldest), w.newest)
	if w.version == 2 {
		out = append(out, map[int]string{20: "sha1", 32: "s256"}[w.hashSize]...)
	}
	return out
}

// A builtRecord is a record except for its name; its kind is below the length of the name.
type builtRecord struct {
	name  string
	kind  uint64
	value []byte
}

// blocks appends blocks of records, and returns the records of the index above.
func (w tableWriter) blocks(out []byte, kind byte, records []builtRecord) (_ []byte, above []builtRecord) {
	for len(records) > 0 {
		if w.aligned {
			for len(out) > 28 && len(out)%w.blockSize != 0 {
				out = append(out, 0)
			}
		}
		at := len(out)
		if at <= 28 { // the first block begins with the header
			at = 0
		}
		body, last := []byte(nil), ""
		var restarts []int
		n := 0
		for n < len(records) {
			r := records[n]
			shared := 0
			if n%w.restart != 0 {
				for shared < min(len(last), len(r.name)) && last[shared] == r.name[shared] {
					shared++
				}
			}
			text := slices.Concat(varint(uint64(shared)), varint(uint64(len(r.name)-shared)<<3|r.kind), []byte(r.name[shared:]),
				r.value)
			begin := len(out) - at + 4 + len(body)
			if n > 0 && begin+len(text)+3*(len(restarts)+1)+2 > w.blockSize {
				break
			}
			if n%w.restart == 0 {
				restarts = append(restarts, begin)
			}
			body, last = append(body, text...), r.name
			n++
		}
		length := len(out) - at + 4 + len(body) + 3*len(restarts) + 2
		out = append(out, kind, byte(length>>16), byte(length>>8), byte(length))
		out = append(out, body...)
		for _, r := range restarts {
			out = append(out, byte(r>>16), byte(r>>8), byte(r))
		}
		out = binary.BigEndian.AppendUint16(out, uint16(len(restarts)))
		above = append(above, builtRecord{last, 0, varint(uint64(at))})
		records = records[n:]
	}
	return out, above
}

func (w tableWriter) table(refs refMap) []byte {
	var records []builtRecord
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		value, kind := refs[name], uint64(plainValue)
		text := varint((w.newest - w.oldest) / 2)
		target, symbolic := strings.CutPrefix(value, "ref: ")
		switch hash, _ := hex.DecodeString(value); {
		case value == "deleted":
			kind = deletedRef
		case symbolic:
			kind, text = symbolicValue, slices.Concat(text, varint(uint64(len(target))), []byte(target))
		default:
			if text = append(text, hash...); hash[0]%4 == 0 {
				kind, text = peeledValue, append(text, hash...)
			}
		}
		records = append(records, builtRecord{name, kind, text})
	}
	out, index := w.blocks(w.head("REFT"), refBlock, records)
	if w.omitted > 0 {
		index = slices.Delete(index, w.omitted-1, w.omitted)
	}
	var positions [5]uint64
	for w.top > 0 && len(index) > 0 {
		at := len(out)
		if w.aligned {
			at = (at + w.blockSize - 1) / w.blockSize * w.blockSize
		}
		positions[0] = uint64(at)
		if out, index = w.blocks(out, indexBlock, index); len(index) <= w.top {
			break
		}
	}
	if w.others && len(records) > 0 {
		positions[1] = uint64(len(out))<<5 | 4
		out = append(out, "o\x00\x00\x10 of objects "...)
	}
	if w.others {
		positions[3] = uint64(len(out))
		out = append(out, "g\x00\x00\x10 of logs"...)
	}
	footer := w.head("REFT")
	for _, at := range positions {
		footer = binary.BigEndian.AppendUint64(footer, at)
	}
	return append(out, binary.BigEndian.AppendUint32(footer, crc32.ChecksumIEEE(footer))...)
}

// naiveTable reads all refs of a table, one after the other, by git's description of the format alone. What is wrong
// in any place that a reader of refs can see is a panic.
func naiveTable(file []byte, hashSize int) (refs refMap, failed any) {
	defer func() { failed = recover() }()
	want := func(ok bool) {
		if !ok {
			panic("malformed")
		}
	}
	header := map[byte]int{1: 24, 2: 28}[file[4]]
	want(header > 0 && string(file[:4]) == "REFT")
	footer := file[len(file)-header-44:]
	end := len(file) - len(footer)
	want(end >= header && bytes.Equal(footer[:header], file[:header]))
	want(crc32.ChecksumIEEE(footer[:header+40]) == binary.BigEndian.Uint32(footer[header+40:]))
	hash := "sha1"
	if header == 28 {
		hash = string(file[24:28])
	}
	want(hash == "sha1" && hashSize == 20 || hash == "s256" && hashSize == 32)
	blockSize := int(file[5])<<16 | int(file[6])<<8 | int(file[7])
	updates := binary.BigEndian.Uint64(file[16:]) - binary.BigEndian.Uint64(file[8:])
	want(updates <= binary.BigEndian.Uint64(file[16:]))
	last := 0
	for i := range 5 {
		at := int(binary.BigEndian.Uint64(footer[header+8*i:]))
		if i == 1 {
			at >>= 5
		}
		want(at == 0 || at > last && at >= header && at < end)
		if at > 0 {
			last = at
		}
	}
	refs = refMap{}
	text := file[:end]
	name, previous := "", ""
	at := header
	if end == header || file[at] == 'g' {
		want(binary.BigEndian.Uint64(footer[header:]) == 0)
		return refs, nil
	}
	want(file[at] == 'r')
	for at < end && file[at] == 'r' {
		start := at
		if at == header {
			start = 0
		}
		length := int(text[at+1])<<16 | int(text[at+2])<<8 | int(text[at+3])
		want(blockSize == 0 || length <= blockSize)
		block := text[start : start+length]
		count := int(block[length-2])<<8 | int(block[length-1])
		records := length - 2 - 3*count
		var restarts []int
		for i := range count {
			restarts = append(restarts, int(block[records+3*i])<<16|int(block[records+3*i+1])<<8|int(block[records+3*i+2]))
		}
		pos := at - start + 4
		number := func() (v uint64) {
			want(pos < records)
			c := block[pos]
			pos++
			v = uint64(c & 0x7f)
			for c&0x80 != 0 {
				want(pos < records && v < 1<<55)
				c = block[pos]
				pos++
				v = (v+1)<<7 | uint64(c&0x7f)
			}
			return v
		}
		bytes := func(n uint64) string {
			want(n <= uint64(records-pos))
			s := string(block[pos : pos+int(n)])
			pos += int(n)
			return s
		}
		want(pos < records && count > 0 && restarts[0] == pos && slices.IsSorted(restarts))
		name = ""
		for pos < records {
			whole := len(restarts) > 0 && restarts[0] == pos
			if whole {
				restarts = restarts[1:]
			}
			shared, length := number(), number()
			want(shared <= uint64(len(name)) && (!whole || shared == 0))
			name = name[:shared] + bytes(length>>3)
			want(name > previous)
			previous = name
			want(number() <= updates)
			switch length & 7 {
			case 0:
				refs[name] = "deleted"
			case 1, 2:
				h := bytes(uint64(hashSize))
				refs[name] = hex.EncodeToString([]byte(h))
				want(strings.Trim(h, "\x00") != "")
				if length&7 == 2 {
					bytes(uint64(hashSize))
				}
			case 3:
				target := bytes(number())
				want(target != "")
				refs[name] = "ref: " + target
			default:
				want(false)
			}
		}
		want(len(restarts) == 0)
		at = start + length
		if at < end && text[at] == 0 && blockSize > 0 {
			for at < end && at%blockSize != 0 {
				want(text[at] == 0)
				at++
			}
		}
	}
	if first := binary.BigEndian.Uint64(footer[header:]); first == 0 {
		for i := 1; i < 5 && end == len(text); i++ {
			p := binary.BigEndian.Uint64(footer[header+8*i:])
			if i == 1 {
				p >>= 5
			}
			if p != 0 {
				end = int(p)
			}
		}
		want(at == end)
	}
	return refs, nil
}

// value is what find says of a ref, as in a refMap; "" if it is not in the table.
func (t *refTable) value(name string) (string, error) {
	ref, found, err := t.find(name)
	switch {
	case err != nil || !found:
		return "", err
	case ref.target != "":
		return "ref: " + ref.target, nil
	case ref.hash == nil:
		return "deleted", nil
	}
	return hex.EncodeToString(ref.hash), nil
}

// asRead fails unless a table has the refs that the second reader reads, and lacks names near them, or is an error.
func asRead(t testing.TB, file []byte, hashSize int, names ...string) {
	t.Helper()
	table, err := newRefTable(file, hashSize)
	if err != nil {
		return
	}
	want, failed := naiveTable(file, hashSize)
	for name, value := range want {
		names = append(names, name, name+"0", name[:len(name)-1])
		got, err := table.value(name)
		if failed == nil && got != value && (err == nil || table.index == 0) {
			t.Fatalf("%q is %q, %v; want %q, in %x", name, got, err, value, file)
		}
	}
	for _, name := range names {
		got, err := table.value(name)
		if failed == nil && got != want[name] && err == nil {
			t.Fatalf("%q is %q, want %q, in %x", name, got, want[name], file)
		}
	}
	// A name after all others is looked for in every block.
	if got, err := table.value("\xff"); failed != nil && err == nil && table.index == 0 {
		t.Fatalf("it is well-formed, and %q; the second reader says %v of %x", got, failed, file)
	}
}

// someTable is a table of random refs in a random layout.
func someTable(rnd *rand.Rand, refs int) (tableWriter, refMap) {
	w := tableWriter{version: 1 + rnd.IntN(2), hashSize: 20, blockSize: 160 + rnd.IntN(400), aligned: rnd.IntN(2) == 0,
		restart: 1 + rnd.IntN(20), top: rnd.IntN(4), oldest: rnd.Uint64N(300), others: rnd.IntN(2) == 0}
	w.newest = w.oldest + rnd.Uint64N(300)
	if w.version == 2 && rnd.IntN(2) == 0 {
		w.hashSize = 32
	}
	all := refMap{}
	for range refs {
		name := fmt.Sprintf("refs/%s/%d", []string{"heads", "tags", "h", "heads/a/b"}[rnd.IntN(4)], rnd.IntN(4*refs))
		hash := make([]byte, w.hashSize)
		for i := range hash {
			hash[i] = byte(1 + rnd.IntN(255))
		}
		all[name] = hex.EncodeToString(hash)
		switch rnd.IntN(8) {
		case 0:
			all[name] = "deleted"
		case 1:
			all[name] = "ref: refs/heads/" + name
		}
	}
	return w, all
}

// TestRefTable: a ref of a generated table has its value, in any layout, and no other name has one.
func TestRefTable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	deepest := 0
	for i := range 400 {
		w, refs := someTable(rnd, i%97)
		if i == 0 {
			w, refs = someTable(rnd, 1500)
			w.blockSize, w.top, w.restart = 160, 1, 16
		}
		file := w.table(refs)
		if read, failed := naiveTable(file, w.hashSize); failed != nil || !maps.Equal(read, refs) {
			t.Fatalf("%+v: the second reader reads %v, %v, want %v", w, read, failed, refs)
		}
		table, err := newRefTable(file, w.hashSize)
		must(t, err)
		for name, value := range refs {
			if got, err := table.value(name); got != value || err != nil {
				t.Fatalf("%+v: %s is %q, %v, want %q", w, name, got, err, value)
			}
			for _, other := range []string{name + "\x00", name[:len(name)-1], name + "0", "", "refs/zzz"} {
				if got, err := table.value(other); got != refs[other] || err != nil {
					t.Fatalf("%+v: %q is %q, %v, want %q", w, other, got, err, refs[other])
				}
			}
		}
		if table.index != 0 {
			deepest = max(deepest, table.levels(t))
		}
	}
	if deepest < 3 {
		t.Errorf("no index has more than %d levels", deepest)
	}
}

// damaged is a file with damage of one of several kinds, of which few are noticed by a checksum.
func damaged(rnd *rand.Rand, file []byte) []byte {
	file = bytes.Clone(file)
	if len(file) == 0 {
		return []byte{byte(rnd.IntN(256))}
	}
	at := rnd.IntN(len(file))
	n := min(len(file)-at, 1+rnd.IntN(40))
	switch rnd.IntN(7) {
	case 0:
		file[at] ^= 1 << rnd.IntN(8)
	case 1:
		file[at] = byte(rnd.IntN(256))
	case 2:
		return file[:at]
	case 3:
		clear(file[at : at+n])
	case 4:
		copy(file[at:], file[rnd.IntN(len(file)):][:1])
	case 5:
		return slices.Delete(file, at, at+n)
	default:
		from := rnd.IntN(len(file))
		copy(file[at:at+n], bytes.Clone(file[from:min(len(file), from+n)]))
	}
	return file
}

// sealTable makes the footer of a damaged table right.
func sealTable(file []byte) []byte {
	header := 24
	if len(file) > 4 && file[4] == 2 {
		header = 28
	}
	if len(file) < 2*header+44 {
		return file
	}
	file = bytes.Clone(file)
	footer := file[len(file)-header-44:]
	copy(footer, file[:header])
	binary.BigEndian.PutUint32(footer[header+40:], crc32.ChecksumIEEE(footer[:header+40]))
	return file
}

// TestFault_182_Damage: a lookup in a damaged table is an error, or as a second reader reads all of the table.
func TestFault_182_Damage(t *testing.T) {
	trials := 2000
	if *long {
		trials = 100_000
	}
	rnd := rand.New(rand.NewPCG(9, 10))
	for range trials {
		w, refs := someTable(rnd, rnd.IntN(60))
		asRead(t, sealTable(damaged(rnd, w.table(refs))), w.hashSize)
	}
}

// TestFault_182_Index: with any byte of an index changed, a lookup is an error or right.
func TestFault_182_Index(t *testing.T) {
	w := tableWriter{version: 1, hashSize: 20, blockSize: 110, restart: 1, top: 1, newest: 1}
	refs := refMap{}
	for i := range 30 {
		refs[fmt.Sprintf("refs/heads/%c%c", 'a'+i%3, 'c'+i/3*2)] = strings.Repeat("01", 20)
	}
	whole := w.table(refs)
	table, err := newRefTable(whole, 20)
	must(t, err)
	if read, failed := naiveTable(whole, 20); table.levels(t) < 2 || len(read) != len(refs) {
		t.Fatalf("the index has %d levels; %d refs, %v", table.levels(t), len(read), failed)
	}
	first := bytes.IndexByte(whole, indexBlock)
	for at := first; at < table.indexEnd; at++ {
		for _, c := range []byte{whole[at] - 1, whole[at] + 1, whole[at] ^ 2, whole[at] ^ 4, 0} {
			file := bytes.Clone(whole)
			file[at] = c
			asRead(t, file, 20, "refs/heads/ano", "refs/heads/cz", "refs/heads/d", "refs/heads/bmm", "a")
		}
	}
	for w.omitted = 1; w.omitted <= len(refs)/2; w.omitted++ {
		asRead(t, w.table(refs), 20)
	}
}

// TestFault_182_Malformed: what git never writes in a block of refs is an error.
func TestFault_182_Malformed(t *testing.T) {
	w := tableWriter{version: 1, hashSize: 20, blockSize: 200, restart: 1}
	hash := strings.Repeat("01", 20)
	whole := w.table(refMap{"refs/a": hash, "refs/b": hash})
	second := bytes.Index(whole, []byte("refs/b")) - 2
	for name, change := range map[string]func(file []byte){
		"nothing":                        func([]byte) {},
		"a hash of zeros":                func(file []byte) { clear(file[second-20 : second]) },
		"a restart with a shared name":   func(file []byte) { file[second] = 1 },
		"a block longer than its file's": func(file []byte) { file[7] = 40 },
		"an unknown kind of value":       func(file []byte) { file[second+1] |= 7 },
		"an update after the last":       func(file []byte) { file[second-21] = 9 },
	} {
		file := bytes.Clone(whole)
		change(file)
		table, err := newRefTable(sealTable(file), 20)
		must(t, err)
		if got, err := table.value("refs/b"); (err == nil) != (name == "nothing") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// FuzzRefTable: a lookup in any bytes is an error, or as a second reader reads all of the table.
func FuzzRefTable(f *testing.F) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for i := range 20 {
		w, refs := someTable(rnd, 3*i)
		f.Add(w.table(refs), "refs/heads/1", w.hashSize == 32)
	}
	f.Fuzz(func(t *testing.T, file []byte, name string, is256 bool) {
		size := 20
		if is256 {
			size = 32
		}
		asRead(t, file, size, name)
		asRead(t, sealTable(file), size, name)
	})
}
