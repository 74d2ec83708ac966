package allowance

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
)

// Two files are one that was renamed if so much of the larger one is the same, in percent.
const alike = 50

// maxPairs is how many pairs of files are compared each with each, and mostSources with how many others a file is
// compared where there are more.
const (
	maxPairs    = 100_000
	mostSources = 5
)

// chunkHashes are the parts of a content, by their hashes: how many bytes each makes up. A part is a line, or 64 bytes
// of a longer one.
type chunkHashes struct {
	bytes map[uint64]int
	size  int
}

func chunksOf(content []byte) chunkHashes {
	const longest = 64
	p := chunkHashes{bytes: map[uint64]int{}, size: len(content)}
	for len(content) > 0 {
		n := min(longest, len(content))
		if end := bytes.IndexByte(content[:n], '\n'); end >= 0 {
			n = end + 1
		}
		p.bytes[fnv(content[:n])] += n
		content = content[n:]
	}
	return p
}

// fnv is the hash FNV-1a.
func fnv(text []byte) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for _, c := range text {
		h = (h ^ uint64(c)) * prime
	}
	return h
}

// similarity is how much of the larger of two contents is in both, in percent. Nothing is like an empty one.
func (p chunkHashes) similarity(q chunkHashes) int {
	if len(p.bytes) > len(q.bytes) {
		p, q = q, p
	}
	same := 0
	for h, n := range p.bytes {
		same += min(n, q.bytes[h])
	}
	return same * 100 / max(p.size, q.size, 1)
}

// A rename is a file that is gone and one that is new, and how much they are alike.
type rename struct {
	from, to   string
	similarity int
}

// best orders renames: those that are most alike first.
func (r rename) best(o rename) int {
	sameBase := func(r rename) int {
		if path.Base(r.from) == path.Base(r.to) {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(o.similarity, r.similarity), cmp.Compare(sameBase(r), sameBase(o)),
		cmp.Compare(r.from, o.from), cmp.Compare(r.to, o.to))
}

// A renameDetector finds renames.
type renameDetector struct {
	before, after map[string]chunkHashes // of the files that are gone, and of those that are new
	found         []rename
}

// newRenameDetector reads the contents that are compared.
func (t *tightener) newRenameDetector(p *History, gone, isNew []string) (*renameDetector, error) {
	r := &renameDetector{before: map[string]chunkHashes{}, after: map[string]chunkHashes{}}
	for _, file := range gone {
		content, err := t.lastContent(p, file)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be compared with what it was: %w", file, err)
		}
		if len(content) > 0 {
			r.before[file] = chunksOf(content)
		}
	}
	for _, file := range isNew {
		if content := p.contentNow(file); len(content) > 0 {
			r.after[file] = chunksOf(content)
		}
	}
	return r, nil
}

// lastContent returns what a file had last. One that no commit has, since it was renamed twice between two of them, had
// what the paths of its "from" had.
func (t *tightener) lastContent(p *History, file string) ([]byte, error) {
	all, err := p.versions(file)
	if err != nil || len(all) > 0 {
		return slices.Concat(all[:min(1, len(all))]...), err
	}
	for _, from := range t.origins[file] {
		content, err := p.contentBefore(from)
		if err != nil {
			return nil, err
		}
		all = append(all, content)
	}
	return slices.Concat(all...), nil
}

// renames returns the renames, of which no two have a file in common, the most alike first.
func (r *renameDetector) renames() []rename {
	r.compare(sameContent, inOrder)
	r.compare(func(file string, _ chunkHashes) string { return path.Base(file) }, r.byRarePieces)
	r.compare(func(string, chunkHashes) string { return "" }, r.byRarePieces)
	slices.SortFunc(r.found, rename.best)
	return r.found
}

// sameContent is a key that files have in common if they have the same chunkHashes.
func sameContent(_ string, p chunkHashes) string {
	sum := uint64(p.size)
	for h, n := range p.bytes {
		sum += h * uint64(n) // in whatever order
	}
	return fmt.Sprint(sum)
}

// compare finds the renames between files with the same key, and takes their files out. Where there are too many, the
// pairs that are compared are those that many returns.
func (r *renameDetector) compare(key func(file string, p chunkHashes) string, many func(olds, news []string) []rename) {
	olds, news := byKey(r.before, key), byKey(r.after, key)
	var all []rename
	for k := range olds {
		pairs := everyPair
		if len(olds[k])*len(news[k]) > maxPairs {
			pairs = many
		}
		for _, one := range pairs(olds[k], news[k]) {
			if one.similarity = r.before[one.from].similarity(r.after[one.to]); one.similarity >= alike {
				all = append(all, one)
			}
		}
	}
	slices.SortFunc(all, rename.best)
	for _, one := range all {
		_, isThere := r.before[one.from]
		if _, free := r.after[one.to]; isThere && free {
			delete(r.before, one.from)
			delete(r.after, one.to)
			r.found = append(r.found, one)
		}
	}
}

// byKey returns files by a key, in order.
func byKey(files map[string]chunkHashes, key func(file string, p chunkHashes) string) map[string][]string {
	all := map[string][]string{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		k := key(file, files[file])
		all[k] = append(all[k], file)
	}
	return all
}

func everyPair(olds, news []string) []rename {
	var all []rename
	for _, from := range olds {
		for _, to := range news {
			all = append(all, rename{from: from, to: to})
		}
	}
	return all
}

// inOrder pairs the first with the first, and so on: those of a folder that was renamed stay in order.
func inOrder(olds, news []string) []rename {
	var all []rename
	for i := range min(len(olds), len(news)) {
		all = append(all, rename{from: olds[i], to: news[i]})
	}
	return all
}

// byRarePieces pairs each new file with the old ones, at most [mostSources], that have most of it in chunkHashes that
// no other old one has.
func (r *renameDetector) byRarePieces(olds, news []string) []rename {
	owner := map[uint64]string{}
	for _, from := range olds {
		for h := range r.before[from].bytes {
			if _, taken := owner[h]; taken {
				owner[h] = ""
			} else {
				owner[h] = from
			}
		}
	}
	var all []rename
	for _, to := range news {
		has := map[string]int{}
		for h, n := range r.after[to].bytes {
			if from := owner[h]; from != "" {
				has[from] += n
			}
		}
		sources := slices.SortedFunc(maps.Keys(has), func(a, b string) int {
			return cmp.Or(cmp.Compare(has[b], has[a]), cmp.Compare(a, b))
		})
		for _, from := range sources[:min(len(sources), mostSources)] {
			all = append(all, rename{from: from, to: to})
		}
	}
	return all
}
