package repo

import (
	"bytes"
	"fmt"
	"strings"
)

// A treeEntry is an entry of a tree object, or of a directory of the index.
type treeEntry struct {
	name   []byte // nil: no entry
	mode   Mode
	hash   Hash
	staged []Staged // files in a directory of the index
}

// compare orders entries as git sorts them: by name, a directory as if its name ended in a slash.
func (e *treeEntry) compare(o *treeEntry) int {
	n := min(len(e.name), len(o.name))
	if c := bytes.Compare(e.name[:n], o.name[:n]); c != 0 {
		return c
	}
	return e.after(n) - o.after(n)
}

// after returns the byte after the first n bytes of the name; -1 at its end.
func (e *treeEntry) after(n int) int {
	switch {
	case n < len(e.name):
		return int(e.name[n])
	case e.mode == dirMode:
		return '/'
	}
	return -1
}

// entries iterates over a directory of a tree object or of the index. A malformed entry fails when it is reached, and
// a directory is always read to its end.
type entries struct {
	format  format
	hash    Hash
	content []byte // rest of the tree
	last    treeEntry
	// Names of files that are prefixes of the following names, shortest first: a directory of the same name need not
	// be the next entry.
	files [][]byte

	index  *Index
	prefix string
	staged []Staged // rest of the directory
}

// next returns the next entry; after the last, one without a name.
func (es *entries) next() (treeEntry, error) {
	switch {
	case len(es.staged) > 0:
		return es.nextStaged(), nil
	case len(es.content) == 0:
		return treeEntry{}, nil
	}
	e, rest, err := es.format.parseEntry(es.content)
	if err == nil {
		err = es.check(&e)
	}
	if err != nil {
		return treeEntry{}, wrapObject(es.hash, err)
	}
	es.content, es.last = rest, e
	return e, nil
}

func (f format) parseEntry(content []byte) (e treeEntry, rest []byte, err error) {
	space := bytes.IndexByte(content, ' ')
	if space < 0 {
		return e, nil, fmt.Errorf("%w: it ends within an entry", ErrMalformed)
	}
	if e.mode, err = parseMode(content[:space]); err != nil {
		return e, nil, err
	}
	content = content[space+1:]
	end := bytes.IndexByte(content, 0)
	if end < 0 || len(content) < end+1+f.size() {
		return e, nil, fmt.Errorf("%w: it ends within an entry", ErrMalformed)
	}
	e.name, e.hash = content[:end:end], f.at(content[end+1:])
	if bytes.IndexByte(e.name, '/') >= 0 {
		return e, nil, fmt.Errorf("%w: an entry named %q", ErrMalformed, clip(string(e.name)))
	}
	if err := validName(e.name); err != nil {
		return e, nil, err
	}
	if e.hash.IsZero() {
		return e, nil, fmt.Errorf("%w: the entry %q has no object", ErrMalformed, clip(string(e.name)))
	}
	return e, content[end+1+f.size():], nil
}

// validName refuses a name, which has no slash, that could lead out of its directory.
func validName[text []byte | string](name text) error {
	switch {
	case len(name) == 0:
		return fmt.Errorf("%w: an entry without a name", ErrMalformed)
	case string(name) == ".", string(name) == "..", len(name) == 4 && strings.EqualFold(string(name), ".git"):
		return fmt.Errorf("%w: an entry named %q", ErrMalformed, clip(string(name)))
	}
	return nil
}

// check refuses an entry that is out of order or has a repeated name.
func (es *entries) check(e *treeEntry) error {
	if es.last.name != nil && es.last.compare(e) >= 0 {
		return fmt.Errorf("%w: the entry %q is not in order", ErrMalformed, clip(string(e.name)))
	}
	for len(es.files) > 0 && !bytes.HasPrefix(e.name, es.files[len(es.files)-1]) {
		es.files = es.files[:len(es.files)-1]
	}
	if n := len(es.files); n > 0 && len(es.files[n-1]) == len(e.name) {
		return fmt.Errorf("%w: the entry %q is listed twice", ErrMalformed, clip(string(e.name)))
	}
	if e.mode != dirMode {
		es.files = append(es.files, e.name)
	}
	return nil
}

func (es *entries) nextStaged() treeEntry {
	f := es.staged[0]
	name, _, isDir := strings.Cut(f.Path[len(es.prefix):], "/")
	if !isDir {
		es.staged = es.staged[1:]
		return treeEntry{name: []byte(name), mode: f.Mode, hash: f.Hash}
	}
	within := f.Path[:len(es.prefix)+len(name)+1]
	n := 1
	for n < len(es.staged) && strings.HasPrefix(es.staged[n].Path, within) {
		n++
	}
	e := es.index.dir(strings.TrimSuffix(within, "/"), es.staged[:n])
	e.name = []byte(name)
	es.staged = es.staged[n:]
	return e
}
