// Package checkout predicts what git writes on disk for the files of a commit or of the index, where .gitattributes
// makes it differ from the blob.
//
// A [Checkout] has the [Attributes] of a path. Disks that ignore case, and versions of git, may read some lines in
// different ways: then a path has several encodings, and all count. Where versions of git differ in how a line about
// encodings begins or ends, the encoding is an [UnknownEncoding]. [Encodings] lists how systems read an encoding's
// name, and a [Reader] writes a text in one of them. [EncodingChanges] finds the files whose encodings a change alters
// without touching them. A [FilterReport] lists the files whose checkout is unknown because of a filter or git archive.
//
// It reads git's objects and no disk, and runs no filter. Configuration outside of the tree (info/attributes,
// core.attributesFile) does not count.
package checkout

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// A Snapshot is a commit's tree or the index. The zero one is empty.
type Snapshot struct {
	Tree  repo.Hash
	Index *repo.Index // nil: Tree counts
}

// A Checkout is what git writes on disk for the files of a snapshot. Several goroutines may use it.
type Checkout struct {
	repo     *repo.Repository
	snapshot Snapshot

	mu sync.Mutex // guards the fields below
	// files returns the attributes files of a directory on a disk that ignores case: other names of the file and of
	// the directory count. nil: not yet needed.
	files  func(dir string) ([]attributesFile, error)
	chains map[string]*chain // by directory
}

func New(r *repo.Repository, s Snapshot) *Checkout {
	return &Checkout{repo: r, snapshot: s, chains: map[string]*chain{}}
}

// A chain is the attributes files that count in a directory.
type chain struct {
	lists   []attributeList // of the directories from the root down
	macros  map[string][]setting
	encodes bool // one of the files names working-tree-encoding
	decides bool // one of them names an attribute that counts
	err     error
}

// An UnknownEncoding is the reason why the encoding in which git writes a file is unknown.
type UnknownEncoding struct{ why string }

func (e *UnknownEncoding) Error() string { return e.why }

// Attributes are the attributes that change what git writes for a path.
type Attributes struct {
	Encodings   []string // all possible ones, in order, "" for UTF-8; nil: UTF-8 only
	filters     []string // programs other than Git LFS, in order
	exportSubst bool
}

// Attributes returns the attributes of a path.
func (c *Checkout) Attributes(path string) (Attributes, error) {
	dir, _ := cutLast(path)
	c.mu.Lock()
	ch := c.chain(dir)
	c.mu.Unlock()
	var a Attributes
	if ch.err != nil || !ch.decides {
		return a, ch.err
	}
	all, err := ch.outcomes(path)
	for _, o := range all {
		if enc := encodingOf(o); !slices.Contains(a.Encodings, enc) {
			a.Encodings = append(a.Encodings, enc)
		}
		filter := o[filterName]
		if filter.state == withText && filter.text != "lfs" && !slices.Contains(a.filters, filter.text) {
			a.filters = append(a.filters, filter.text)
		}
		a.exportSubst = a.exportSubst || o[exportSubstName].state == set
	}
	slices.Sort(a.Encodings)
	slices.Sort(a.filters)
	if len(a.Encodings) == 1 && a.Encodings[0] == "" {
		a.Encodings = nil
	}
	return a, err
}

func (ch *chain) outcomes(path string) ([]map[string]value, error) {
	all, ok := outcomes(ch.lists, ch.macros, path)
	if !ok {
		return nil, &UnknownEncoding{fmt.Sprintf("the .gitattributes files above it can be read in more than %d ways",
			maxOutcomes)}
	}
	return all, nil
}

// encodingOf returns the encoding of an outcome, "" for any spelling of UTF-8. Git calls an attribute without a value
// true or false, which are no encodings.
func encodingOf(o map[string]value) string {
	switch v := o[encodingName]; v.state {
	case set:
		return "true"
	case unset:
		return "false"
	default:
		if all, known := Encodings(v.text); known && len(all) == 0 {
			return ""
		}
		return v.text
	}
}

// A Variant is a file's content in git, or a content that git may write on disk for it.
type Variant struct {
	Encoding string // as .gitattributes names it; "" of git's content
	Bytes    int64  // -1: unknown, since policyscan cannot write it
}

// Variants returns a file's content in git and the other contents that git may write on disk. It returns nil if these
// are the same, or if the snapshot has no such file.
func Variants(r *repo.Repository, at Snapshot, path string) ([]Variant, error) {
	var leaf repo.Leaf
	var known bool
	var err error
	if at.Index != nil {
		leaf, known = at.Index.Lookup(path)
	} else {
		leaf, known, err = r.Lookup(at.Tree, path)
	}
	if err != nil || !known || leaf.Mode != repo.File && leaf.Mode != repo.Executable {
		return nil, err
	}
	a, err := New(r, at).Attributes(path)
	if err != nil || a.Encodings == nil {
		return nil, err
	}
	b, err := r.Blob(leaf.Hash)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	all := []Variant{{Bytes: b.Size()}}
	for _, name := range a.Encodings {
		encodings, known := Encodings(name)
		if !known {
			all = append(all, Variant{name, -1})
		}
		for _, enc := range encodings {
			if _, err := b.Seek(0, io.SeekStart); err != nil {
				return nil, err
			}
			n, err := io.Copy(io.Discard, NewReader(b, enc))
			switch {
			case errors.Is(err, ErrUnencodable):
				n = -1
			case err != nil:
				return nil, err
			}
			if v := (Variant{name, n}); !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all, nil
}

// chain returns the chain of a directory. c is locked.
func (c *Checkout) chain(dir string) *chain {
	if ch := c.chains[dir]; ch != nil {
		return ch
	}
	above := &chain{macros: map[string][]setting{}}
	if dir != "" {
		parent, _ := cutLast(dir)
		above = c.chain(parent)
	}
	ch := above
	if above.err == nil {
		var err error
		if ch, err = c.extend(above, dir); err != nil {
			ch = &chain{err: err}
		}
	}
	c.chains[dir] = ch
	return ch
}

func (c *Checkout) extend(above *chain, dir string) (*chain, error) {
	files, err := c.in(dir)
	if err != nil {
		return nil, err
	}
	ch := &chain{slices.Clip(above.lists), above.macros, above.encodes, above.decides, nil}
	var texts [][]byte
	for _, f := range files {
		text, err := c.text(f.path, f.leaf.Hash)
		if err != nil {
			return nil, err
		}
		ch.encodes = ch.encodes || bytes.Contains(text, []byte(encodingName))
		ch.decides = ch.decides || ch.encodes || bytes.Contains(text, []byte(filterName)) ||
			bytes.Contains(text, []byte(exportSubstName))
		texts = append(texts, text)
	}
	if len(files) == 0 || !ch.decides {
		return above, nil // so that most trees have no further cost
	}
	list := attributeList{dir: dir}
	for i, f := range files {
		lines, err := ch.lines(texts[i], dir == "", len(files) > 1 || !f.exact)
		if err != nil {
			return nil, &UnknownEncoding{verdict.Path(f.path) + ": " + err.Error()}
		}
		list.lines = append(list.lines, lines...)
	}
	ch.lists = append(ch.lists, list)
	for i, f := range files {
		switch how, err := ch.rewrites(path.Join(dir, path.Base(f.path)), texts[i]); {
		case err != nil:
			return nil, err
		case how != "":
			return nil, &UnknownEncoding{fmt.Sprintf("%s has %s itself, so that on disk it can say something else",
				verdict.Path(f.path), how)}
		}
	}
	return ch, nil
}

// lines returns the effective lines of a file, and adds its macros, which only the root's file may define. optional
// means that git does not read the file on some disks. It fails if versions of git could read another encoding.
func (ch *chain) lines(text []byte, isRoot, optional bool) ([]line, error) {
	all := parseLines(text)
	for _, l := range all {
		if isRoot && l.macro != "" {
			ch.macros[l.macro] = l.settings
		}
	}
	var counting []line
	for i, l := range all {
		l.optional = optional || l.ambiguous
		isMacro := isRoot && l.macro != ""
		if ch.encodes && (l.ambiguous && ch.concerns(l.raw) || l.optional && isMacro) {
			return nil, fmt.Errorf("not every git reads line %d in the same way", i+1)
		}
		if l.pattern == nil {
			continue
		}
		l.settings = slices.DeleteFunc(l.settings, func(s setting) bool {
			_, isMacro := ch.macros[s.name]
			return !isMacro && !slices.Contains([]string{encodingName, identName, filterName, exportSubstName}, s.name)
		})
		if len(l.settings) > 0 {
			counting = append(counting, l)
		}
	}
	return counting, nil
}

// concerns reports whether a line could set the encoding in any reading.
func (ch *chain) concerns(raw string) bool {
	for name := range ch.macros {
		if strings.Contains(raw, name) {
			return true
		}
	}
	return strings.Contains(raw, encodingName)
}

// rewrites names the attribute by which git may write an attributes file differently on disk; "" if it does not. Then
// checkout, which reads the blob, and other commands, which read the file, disagree.
func (ch *chain) rewrites(path string, text []byte) (string, error) {
	all, err := ch.outcomes(path)
	for _, o := range all {
		switch {
		case encodingOf(o) != "":
			return encodingName, nil
		case o[identName].state == set && bytes.Contains(text, []byte("$Id")):
			return identName, nil
		}
	}
	return "", err
}

// in returns the attributes files of a directory. c is locked.
func (c *Checkout) in(dir string) ([]attributesFile, error) {
	switch {
	case c.files != nil:
	case c.snapshot.Index != nil:
		c.files = newIndexFiles(c.snapshot.Index).in
	default:
		c.files = (&treeFiles{c.repo, c.snapshot.Tree, map[string]*treeDir{}}).in
	}
	return c.files(dir)
}

// maxAttributes is how many bytes an attributes file may have. A longer one is an error of the run.
const maxAttributes = 1 << 20

func (c *Checkout) text(path string, h repo.Hash) ([]byte, error) {
	blob, err := c.repo.Blob(h)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", verdict.Path(path), err)
	}
	defer blob.Close()
	text, err := io.ReadAll(io.LimitReader(blob, maxAttributes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", verdict.Path(path), err)
	case len(text) > maxAttributes:
		return nil, &UnknownEncoding{fmt.Sprintf("%s has more than %d bytes", verdict.Path(path), maxAttributes)}
	case match.StandsFor(text):
		return nil, &UnknownEncoding{verdict.Path(path) +
			" is a Git LFS pointer or encrypted, so what git reads there is unknown"}
	}
	return text, nil
}
