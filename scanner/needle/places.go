package needle

import (
	"bytes"
	"slices"
)

// Places calls at for every place of content where a needle occurs, with the index of the needle; where one occurs
// may overlap another. The places of a needle come from the left. It may give up where a long needle almost occurs too
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
	vain := 0 // bytes of long needles that were compared
	for some := range slices.Chunk(few, maxTeddy) {
		t := newTeddy(needles, some)
		t.each(&t.masks, content, func(bucket, place int) {
			for i := range t.buckets[bucket] {
				c := &t.buckets[bucket][i]
				if (fourAt(content, place)|c.bits)&c.mask != c.gram || vain > patience*len(content) {
					continue
				}
				n, start := needles[c.needle], place-c.at
				if len(n.text) > shortest {
					vain += len(n.text)
				}
				if n.isAt(content, start) {
					at(c.needle, start)
				}
			}
		})
		if vain > patience*len(content) {
			return false
		}
		vain = 0
	}
	return true
}
