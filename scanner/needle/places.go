package needle

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Places calls at for every place of content where a needle occurs, with the index of the needle; where one occurs may
// overlap another. The places of a needle come from the left. It may give up where a long needle almost occurs too
// often, and returns false then.
func Places(content []byte, needles []*Needle, at func(needle, place int)) bool {
	return places(content, needles, vectors() && !slow, at)
}

func places(content []byte, needles []*Needle, vectors bool, at func(needle, place int)) bool {
	x := Seen{}
	var few []int
	for i, n := range needles {
		if vectors && len(n.text) >= teddyLen {
			few = append(few, i)
			continue
		}
		in := content
		if n.fold {
			in = x.lower(content)
		}
		vain := 0
		for from := 0; ; from++ {
			k := bytes.Index(in[from:], n.text)
			if k < 0 {
				break
			}
			from += k
			at(i, from)
			if len(n.text) > shortest {
				vain += len(n.text)
			}
			if vain > patience*len(content) {
				return false
			}
		}
	}
	for len(few) > 0 {
		some := few[:min(len(few), maxTeddy)]
		few = few[len(some):]
		s := placeScan{teddy: newTeddy(needles, some), content: content, needles: needles, at: at}
		rest := s.scan(content, 0)
		var end [2*blockLen + gramLen]byte // as in teddy.find
		copy(end[:], content[rest:])
		s.scan(end[:], rest)
		if s.vain > patience*len(content) {
			return false
		}
	}
	return true
}

type placeScan struct {
	*teddy
	content []byte
	needles []*Needle
	at      func(needle, place int)
	vain    int // bytes of long needles that were compared
}

// scan searches text, which begins at a place of the content, up to its last whole block. It returns how far it came.
func (s *placeScan) scan(text []byte, base int) int {
	var found [blockLen]byte
	at := 0
	for len(text)-at >= blockRead && s.vain <= patience*len(s.content) {
		n, ok := scanBlocks(&s.masks, &text[at], len(text)-at, &found)
		at += n
		if !ok {
			break
		}
		for w := 0; w < blockLen; w += 8 {
			for v := binary.LittleEndian.Uint64(found[w:]); v != 0; v &= v - 1 {
				bit := bits.TrailingZeros64(v)
				s.compare(s.buckets[bit%8], base+at+w+bit/8)
			}
		}
		at += blockLen
	}
	return at
}

// compare compares the needles of a bucket whose gram may be at a place.
func (s *placeScan) compare(bucket []candidate, place int) {
	for i := range bucket {
		c := &bucket[i]
		if place+gramLen <= len(s.content) &&
			(binary.LittleEndian.Uint32(s.content[place:])|c.bits)&c.mask != c.gram {
			continue
		}
		n, start := s.needles[c.needle], place-c.at
		if start < 0 || start+len(n.text) > len(s.content) {
			continue
		}
		if len(n.text) > shortest {
			s.vain += len(n.text)
		}
		if there := s.content[start : start+len(n.text)]; string(there) == string(n.text) ||
			n.fold && equalFold(there, n.text) {
			s.at(c.needle, start)
		}
	}
}
