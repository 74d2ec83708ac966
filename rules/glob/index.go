package glob

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Index matches a path against many sets of globs at once: each distinct glob once, and most by a look-up. It is
// safe for concurrent use.
type Index struct {
	numbers map[string]int // each distinct glob

	anything []int            // "**"
	exact    map[string][]int // by path
	named    map[string][]int // by last segment
	ext      map[string][]int // "**/*.ext", by ".ext"
	suffixed []entry          // "**/*END" with another END
	under    map[string][]int // by directory
	lengths  []int            // lengths of these directories, ascending, distinct

	// The others, by the ".ext" of their paths, or by "" if it is unknown. They are tried one after the other.
	general map[string][]entry
}

type entry struct {
	matcher matcher
	number  int
	prefix  string // of each path
	stem    string // beginning of each path's last segment
	suffix  string // end of each path
}

// NewIndex returns an index of the globs of all sets. Each glob must have passed Check.
func NewIndex(sets ...[]string) *Index {
	x := &Index{
		numbers: map[string]int{},
		exact:   map[string][]int{},
		named:   map[string][]int{},
		ext:     map[string][]int{},
		under:   map[string][]int{},
		general: map[string][]entry{},
	}
	for _, globs := range sets {
		for _, g := range globs {
			if _, known := x.numbers[g]; known {
				continue
			}
			number := len(x.numbers)
			x.numbers[g] = number
			for _, e := range expansions(g) {
				if slow {
					x.general[""] = append(x.general[""], entry{matcher: slowMatcher(e), number: number})
				} else {
					x.add(newMatcher(e), number)
				}
			}
		}
	}
	return x
}

func (x *Index) add(m matcher, number int) {
	switch m.shape {
	case anything:
		x.anything = append(x.anything, number)
	case exact:
		x.exact[m.text] = append(x.exact[m.text], number)
	case named:
		x.named[m.text] = append(x.named[m.text], number)
	case suffixed:
		if strings.LastIndexByte(m.text, '.') == 0 {
			x.ext[m.text] = append(x.ext[m.text], number)
		} else {
			x.suffixed = append(x.suffixed, entry{matcher: m, number: number})
		}
	case under:
		x.under[m.text] = append(x.under[m.text], number)
		if i, known := slices.BinarySearch(x.lengths, len(m.text)); !known {
			x.lengths = slices.Insert(x.lengths, i, len(m.text))
		}
	default:
		e := entry{m, number, literalPrefix(m.text), literalStem(m.text), literalSuffix(m.text)}
		ext := ""
		if dot := strings.LastIndexByte(e.suffix, '.'); dot >= 0 && !strings.Contains(e.suffix[dot:], "/") {
			ext = e.suffix[dot:]
		}
		x.general[ext] = append(x.general[ext], e)
	}
}

// slowMatcher returns a matcher that leaves the glob to doublestar.
func slowMatcher(glob string) matcher {
	if rest, inDir := withoutLastStars(glob); inDir {
		glob = rest + "/**/*"
	}
	return matcher{general, glob}
}

// literalPrefix returns the common prefix of the paths that a general matcher's text matches: the part before the
// first glob character.
func literalPrefix(glob string) string {
	prefix := glob
	if i := strings.IndexAny(glob, `*?[\`); i >= 0 {
		prefix = glob[:i]
	}
	if strings.ContainsRune(prefix, utf8.RuneError) {
		return "" // it matches any byte that is not UTF-8
	}
	return prefix
}

// literalStem returns the common prefix of the last segments of these paths.
func literalStem(glob string) string {
	last := base(glob)
	if strings.Contains(last, "**") || strings.Contains(glob, "[") {
		return "" // it matches no segment or several; a class can match a slash
	}
	return literalPrefix(last)
}

// literalSuffix returns the common suffix of these paths: "**/a" matches "a".
func literalSuffix(glob string) string {
	suffix := glob
	if i := strings.LastIndexAny(glob, `*?]\`); i >= 0 {
		suffix = strings.TrimPrefix(glob[i+1:], "/")
		if glob[i] == '\\' {
			return "" // the next character is escaped
		}
	}
	if strings.ContainsRune(suffix, utf8.RuneError) {
		return ""
	}
	return suffix
}

// Len returns the number of distinct globs of x. They are numbered from 0.
func (x *Index) Len() int { return len(x.numbers) }

// Number returns the number of a glob of x, or -1.
func (x *Index) Number(glob string) int {
	if n, ok := x.numbers[glob]; ok {
		return n
	}
	return -1
}

// Match returns the numbers of all globs that match path. It clears and reuses into, and allocates only if that is too
// small.
func (x *Index) Match(path string, into Bits) Bits {
	into = into.Cleared(len(x.numbers))
	into.Add(x.anything)
	into.Add(x.exact[path])
	last := base(path)
	into.Add(x.named[last])
	if dot := strings.LastIndexByte(last, '.'); dot >= 0 {
		into.Add(x.ext[last[dot:]])
		into.try(x.general[last[dot:]], path)
	}
	for _, n := range x.lengths {
		if n >= len(path)-1 {
			break
		}
		if path[n] == '/' {
			into.Add(x.under[path[:n]])
		}
	}
	into.try(x.suffixed, path)
	into.try(x.general[""], path)
	return into
}

// Bits is a set of small numbers.
type Bits []uint64

// Has reports whether n is in b.
func (b Bits) Has(n int) bool {
	return n>>6 < len(b) && b[n>>6]&(1<<(n&63)) != 0
}

// Each calls f with each number of b, in order.
func (b Bits) Each(f func(n int)) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			f(i<<6 + bits.TrailingZeros64(word))
		}
	}
}

// Cleared returns an empty set with room for the numbers below n, in b's memory if it fits.
func (b Bits) Cleared(n int) Bits {
	words := (n + 63) >> 6
	if cap(b) < words {
		return make(Bits, words)
	}
	b = b[:words]
	clear(b)
	return b
}

func (b Bits) set(n int) { b[n>>6] |= 1 << (n & 63) }

// Add adds numbers, which must be below the n of Cleared.
func (b Bits) Add(numbers []int) {
	for _, n := range numbers {
		b.set(n)
	}
}

func (b Bits) try(entries []entry, path string) {
	if len(entries) == 0 {
		return
	}
	last := base(path)
	for i := range entries {
		e := &entries[i]
		if strings.HasPrefix(last, e.stem) && strings.HasSuffix(path, e.suffix) && strings.HasPrefix(path, e.prefix) &&
			!b.Has(e.number) && e.matcher.match(path) {
			b.set(e.number)
		}
	}
}
