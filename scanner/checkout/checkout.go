// Package checkout says what git writes on disk in the place of the files of a commit or of the index, where their
// .gitattributes files have it write something else than the blob.
//
// A [Checkout] gives the encodings that are possible for a path. Letter case may count on the disk or not, and
// versions of git read some attributes files in different ways, so that there may be several, and all count. What
// cannot be determined is an [UnknownEncoding]. A [Recoding] finds the files that a change does not touch, and whose
// encodings differ because an attributes file above them changed. [Rewritten] names the files for which no one knows
// what git writes, since a filter or git archive does it.
//
// It reads git's objects and no disk, runs no filter, and encodes nothing: that is scanner/recode. What is configured
// outside of the tree does not count.
package checkout

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/policyscan/policyscan/scanner/attributes"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// A Snapshot is what a repository holds at a time: a commit's tree, or the index. The zero one is empty.
type Snapshot struct {
	Tree  repo.Hash
	Index *repo.Index // nil: Tree counts
}

// A Checkout says what git writes on disk in the place of the files of a snapshot. Several goroutines may use it.
type Checkout struct {
	repo     *repo.Repository
	snapshot Snapshot

	mu     sync.Mutex // of what follows
	files  attributesFiles
	chains map[string]*chain // by folder
}

// New returns the checkout of a snapshot of a repository. It has read nothing yet.
func New(r *repo.Repository, s Snapshot) *Checkout {
	return &Checkout{repo: r, snapshot: s, chains: map[string]*chain{}}
}

// Limits on attributes files. What is over one makes a file's encoding unknown, which is an error of the run.
const (
	maxAttributes = 1 << 20 // bytes of a file
	maxWays       = 16      // ways in which the files above a file can be read together
	maxEncodings  = 16      // of one file
)

// A chain is the attributes files that count for the files of a folder.
type chain struct {
	ways    [][]attributes.Frame // each what some git reads
	decides bool                 // one of them names an attribute that is asked for
	err     error
}

// An UnknownEncoding says why the encoding in which git writes a file is not known.
type UnknownEncoding struct{ why string }

func (e *UnknownEncoding) Error() string { return e.why }

// Written is what git writes in the place of a blob.
type Written struct {
	Encodings []attributes.Value // all that are possible, in order, Unspecified for UTF-8; nil: that alone
	filters   []string           // in order
	subst     bool               // an archive has placeholders replaced
}

// Written returns what git writes in the place of the blob at a path.
func (c *Checkout) Written(path string) (Written, error) {
	folder, _ := cutLast(path)
	c.mu.Lock()
	ch := c.chain(folder)
	c.mu.Unlock()
	var w Written
	if ch.err != nil || !ch.decides {
		return w, ch.err
	}
	for _, frames := range ch.ways {
		for _, fold := range []bool{false, true} {
			v := attributes.Values(frames, path, fold, attributes.Encoding, attributes.Filter, attributes.ExportSubst)
			if enc := encodingOf(v[0]); !slices.Contains(w.Encodings, enc) {
				w.Encodings = append(w.Encodings, enc)
			}
			filter := v[1]
			if filter.State == attributes.Text && filter.Text != "lfs" && !slices.Contains(w.filters, filter.Text) {
				w.filters = append(w.filters, filter.Text)
			}
			w.subst = w.subst || v[2].State == attributes.Set
		}
	}
	if len(w.Encodings) > maxEncodings {
		return w, &UnknownEncoding{fmt.Sprintf("its .gitattributes files can be read in ways that give it more than "+
			"%d encodings", maxEncodings)}
	}
	slices.SortFunc(w.Encodings, func(a, b attributes.Value) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Text, b.Text))
	})
	if len(w.Encodings) == 1 && w.Encodings[0] == (attributes.Value{}) {
		w.Encodings = nil
	}
	slices.Sort(w.filters)
	return w, nil
}

// A Variant is what git stores of a file, or may write on disk for it.
type Variant struct {
	Encoding string // as .gitattributes names it; "" of what git stores
	Bytes    int64  // -1: unknown, since policyscan cannot write it
}

// Variants returns what git stores of a file of a snapshot, and what else it may write on disk for it. It returns nil
// if git writes what it stores, and if the snapshot has no such file.
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
	w, err := New(r, at).Written(path)
	if err != nil || w.Encodings == nil {
		return nil, err
	}
	b, err := r.Blob(leaf.Hash)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	all := []Variant{{Bytes: b.Size()}}
	for _, value := range w.Encodings {
		encodings, known := Encodings(value.Text)
		if !known || value.State == attributes.Set || value.State == attributes.Unset {
			all = append(all, Variant{value.Text, -1})
			continue
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
			if v := (Variant{value.Text, n}); !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all, nil
}

// encodingOf returns a value of working-tree-encoding, Unspecified for the ways to say UTF-8.
func encodingOf(v attributes.Value) attributes.Value {
	if v.State == attributes.Text {
		if all, known := Encodings(v.Text); known && len(all) == 0 {
			return attributes.Value{}
		}
	}
	return v
}

// chain returns the chain of a folder. c is locked.
func (c *Checkout) chain(folder string) *chain {
	if ch := c.chains[folder]; ch != nil {
		return ch
	}
	above := &chain{ways: [][]attributes.Frame{nil}}
	if folder != "" {
		parent, _ := cutLast(folder)
		above = c.chain(parent)
	}
	ch := above
	if above.err == nil {
		ch = c.extend(above, folder)
	}
	c.chains[folder] = ch
	return ch
}

// extend returns the chain of a folder, by that of the folder above.
func (c *Checkout) extend(above *chain, folder string) *chain {
	files, err := c.in(folder)
	if err != nil {
		return &chain{err: err}
	}
	if len(files) == 0 {
		return above
	}
	ch := &chain{decides: above.decides}
	var texts [][]byte
	for _, f := range files {
		text, err := c.text(f.leaf.Hash)
		var unknown *UnknownEncoding
		switch {
		case errors.As(err, &unknown):
			return &chain{err: &UnknownEncoding{verdict.Path(f.path) + " " + unknown.why}}
		case err != nil:
			return &chain{err: fmt.Errorf("%s: %w", verdict.Path(f.path), err)}
		}
		if match.StandsFor(text) {
			return &chain{err: &UnknownEncoding{verdict.Path(f.path) +
				" is a Git LFS pointer or encrypted, so what git reads there is unknown"}}
		}
		ch.decides = ch.decides || decides(text)
		texts = append(texts, text)
	}
	if !ch.decides {
		return above // so that most trees cost nothing more
	}
	var readings []*attributes.File
	if !slices.ContainsFunc(files, func(f attributesFile) bool { return f.exact }) {
		readings = []*attributes.File{nil} // where letter case counts there is none
	}
	for _, text := range texts {
		readings = append(readings, attributes.Read(text, folder == "")...)
	}
	if len(above.ways)*len(readings) > maxWays {
		return &chain{err: &UnknownEncoding{
			fmt.Sprintf("the .gitattributes files above it can be read in more than %d ways", maxWays),
		}}
	}
	for _, way := range above.ways {
		for _, f := range readings {
			next := way
			if f != nil {
				next = append(way[:len(way):len(way)], attributes.Frame{Folder: folder, File: f})
			}
			ch.ways = append(ch.ways, next)
		}
	}
	for i, f := range files {
		if rewritten, how := ch.rewrites(f.path, texts[i]); rewritten {
			return &chain{err: &UnknownEncoding{
				fmt.Sprintf("%s has %s itself, so that on disk it can say something else", verdict.Path(f.path), how),
			}}
		}
	}
	return ch
}

// rewrites reports whether git may write something else on disk than the text of an attributes file, and by which
// attribute. Then checkout, which reads the blob, and other commands, which read the file, do not agree.
func (ch *chain) rewrites(path string, text []byte) (rewritten bool, how string) {
	for _, frames := range ch.ways {
		for _, fold := range []bool{false, true} {
			v := attributes.Values(frames, path, fold, attributes.Encoding, attributes.Ident)
			switch {
			case encodingOf(v[0]) != (attributes.Value{}):
				return true, attributes.Encoding
			case v[1].State == attributes.Set && bytes.Contains(text, []byte("$Id")):
				return true, attributes.Ident
			}
		}
	}
	return false, ""
}

// decides reports whether a text could say of an attribute that is asked for: attributes and macros are named as they
// are, so that a name that is nowhere is said of nothing.
func decides(text []byte) bool {
	names := []string{attributes.Encoding, attributes.Filter, attributes.ExportSubst}
	return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(text, []byte(name)) })
}

// attributesIn returns the attributes files of a folder.
func (c *Checkout) attributesIn(folder string) ([]attributesFile, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.in(folder)
}

// in returns the attributes files of a folder. c is locked.
func (c *Checkout) in(folder string) ([]attributesFile, error) {
	if c.files == nil {
		if c.snapshot.Index != nil {
			c.files = newIndexFiles(c.snapshot.Index)
		} else {
			files, err := newTreeFiles(c.repo, c.snapshot.Tree)
			if err != nil {
				return nil, err
			}
			c.files = files
		}
	}
	return c.files.in(folder)
}

// text returns the text of an attributes file.
func (c *Checkout) text(h repo.Hash) ([]byte, error) {
	blob, err := c.repo.Blob(h)
	if err != nil {
		return nil, err
	}
	defer blob.Close()
	text, err := io.ReadAll(io.LimitReader(blob, maxAttributes+1))
	if err == nil && len(text) > maxAttributes {
		err = &UnknownEncoding{fmt.Sprintf("has more than %d bytes", maxAttributes)}
	}
	return text, err
}
