package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"
)

var errLink = errors.New("its link to the shared index is damaged; remove the index and run git reset")

// join completes a split index, whose file has the changes of a shared one: it replaces some of its entries, by
// entries without a name, removes others, and adds the rest. The link has the checksum of the shared index, which its
// file is named by, and the sets of removed and of replaced entries.
func (f format) join(x *Index, dirs ...string) error {
	size := f.size()
	if len(x.link) < size {
		return errLink
	}
	sum, sets := x.link[:size], x.link[size:]
	if sum == string(make([]byte, size)) {
		return nil // there is no shared index
	}
	shared, err := f.readShared(dirs, sum)
	if err != nil {
		return err
	}
	var removed, replaced []int
	if sets != "" {
		var ok, ok2 bool
		removed, sets, ok = setBits(sets, len(shared))
		replaced, sets, ok2 = setBits(sets, len(shared))
		if !ok || !ok2 || sets != "" || len(replaced) > len(x.Files) {
			return errLink
		}
	}
	for i, at := range replaced {
		e := x.Files[i]
		if _, both := slices.BinarySearch(removed, at); both || e.Path != "" {
			return errLink
		}
		e.Path = shared[at].Path
		shared[at] = e
	}
	added := x.Files[len(replaced):]
	x.Files = make([]Staged, 0, len(shared)+len(added))
	for at, e := range shared {
		if len(removed) > 0 && removed[0] == at {
			removed = removed[1:]
			continue
		}
		for len(added) > 0 && added[0].Path < e.Path {
			x.Files, added = append(x.Files, added[0]), added[1:]
		}
		x.Files = append(x.Files, e)
	}
	x.Files = append(x.Files, added...)
	return nil
}

// readShared returns the entries of a shared index with a checksum from the first of the directories that has it.
func (f format) readShared(dirs []string, sum string) ([]Staged, error) {
	name := fmt.Sprintf("sharedindex.%x", sum)
	for _, dir := range dirs {
		content, err := readText(filepath.Join(dir, name), maxIndex)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var shared *Index
		if err == nil {
			shared, err = f.parseIndexFile(content)
		}
		if err == nil && (shared.link != "" || !strings.HasSuffix(content, sum)) {
			err = errors.New("it is another index")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return shared.Files, nil
	}
	return nil, fmt.Errorf("its other part, %s, does not exist; remove the index and run git reset", name)
}

// setBits reads a bitmap in the EWAH format (git's bitmap-format, appendix A). It returns the bits that are set, in
// order, which are below limit.
func setBits(text string, limit int) (set []int, rest string, ok bool) {
	const wordBits, fixed = 64, 4 + 4 + 4 // how many bits, how many words; where the last run is
	if len(text) < fixed {
		return nil, "", false
	}
	size := 8 * uint64(number32(text[4:]))
	if size > uint64(len(text)-fixed) {
		return nil, "", false
	}
	words, rest := text[8:8+size], text[fixed+size:]
	word := func() uint64 {
		w := uint64(number32(words))<<32 | uint64(number32(words[4:]))
		words = words[8:]
		return w
	}
	most, at := uint64(limit), uint64(0)
	for words != "" {
		// A run of equal words, all ones or all zeros, and words as they are.
		head := word()
		ones, run, plain := head&1 == 1, head>>1&(1<<32-1), head>>33
		end := at + run*wordBits
		if ones && end > most || plain > uint64(len(words)/8) {
			return nil, "", false
		}
		for ; ones && at < end; at++ {
			set = append(set, int(at))
		}
		at = min(end, most) // so that it cannot overflow
		for range plain {
			for w := word(); w != 0; w &= w - 1 {
				bit := at + uint64(bits.TrailingZeros64(w))
				if bit >= most {
					return nil, "", false
				}
				set = append(set, int(bit))
			}
			at += wordBits
		}
	}
	return set, rest, true
}
