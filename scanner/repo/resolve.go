package repo

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Errors of names. Each comes with a text that tells what to do.
var (
	ErrSyntax    = errors.New("not a name that policyscan resolves")
	ErrAmbiguous = errors.New("ambiguous")
	ErrUnknown   = errors.New("unknown")
	ErrUnborn    = error(revisionError("HEAD has no commit yet"))
)

// A revisionError is an [ErrUnknown] whose text says all.
type revisionError string

func (e revisionError) Error() string { return string(e) }

func (revisionError) Is(err error) bool { return err == ErrUnknown }

// Commit returns the commit of a name: HEAD, a full ref or a name under refs/, a tag, a branch, a remote branch, a
// hash or its beginning, followed by any number of ~N, ^ and ^N. Tags are followed to the commit. An ambiguous name is
// an error ([ErrAmbiguous]), and so is all other syntax of git ([ErrSyntax]): @{...}, :path, ^{...}, a..b.
func (r *Repository) Commit(name string) (Hash, error) {
	base, steps, err := parseName(name)
	if err != nil {
		return Hash{}, err
	}
	h, err := r.named(base)
	if err != nil {
		return Hash{}, err
	}
	if h, err = r.Peel(h); err != nil {
		return Hash{}, fmt.Errorf("%q: %w", name, err)
	}
	past := &r.past
	for _, s := range steps {
		if h, err = past.step(h, s); err != nil {
			return Hash{}, fmt.Errorf("%q: %w", name, err)
		}
	}
	return h, nil
}

// A step goes from a commit to another: ~n is the n-th ancestor by first parents, ^n the n-th parent (^0 the commit
// itself).
type step struct {
	mark byte
	n    int
}

func parseName(name string) (base string, steps []step, err error) {
	i := strings.IndexAny(name+"~", "~^")
	base, rest := name[:i], name[i:]
	why := ""
	switch {
	case strings.TrimSpace(name) == "":
		why = "it is empty"
	case strings.HasPrefix(name, "-"):
		why = "it begins with a dash"
	case strings.Trim(name, "0") == "" && len(name) >= 40:
		why = "zeros do not name a commit"
	case base == "@":
		why = "write HEAD for @"
	case !validRef(base):
		why = "it has characters that no ref can have"
	case strings.Trim(rest, "~^0123456789") != "":
		why = "only a number can follow ~ and ^"
	}
	for rest != "" && why == "" {
		s := step{mark: rest[0], n: 1}
		rest = rest[1:]
		if digits := len(rest) - len(strings.TrimLeft(rest, "0123456789")); digits > 0 {
			if s.n, err = strconv.Atoi(rest[:digits]); err != nil {
				why = "a number is too large"
			}
			rest = rest[digits:]
		}
		steps = append(steps, s)
	}
	if why != "" {
		return "", nil, fmt.Errorf("%w: %q: %s; name a branch, a tag or a commit", ErrSyntax, clip(name), why)
	}
	return base, steps, nil
}

// named returns the one object of a name without steps.
func (r *Repository) named(name string) (Hash, error) {
	if name == "HEAD" {
		head, err := r.ref("HEAD")
		if errors.Is(err, errNoRef) {
			err = ErrUnborn
		}
		return head, err
	}
	places := []string{"refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name,
		"refs/remotes/" + name + "/HEAD"}
	if strings.HasPrefix(name, "refs/") {
		places = append(places, name)
	}
	if len(name) == 2*r.objects.format.size() && hexPrefix(name) {
		places = nil // a full hash is a commit, even if a pusher named a tag like it
	}
	var found []Hash
	var names []string
	for _, full := range places {
		switch h, err := r.ref(full); {
		case err == nil:
			found, names = append(found, h), append(names, full)
		case !errors.Is(err, errNoRef):
			return Hash{}, err
		}
	}
	if hexPrefix(name) && len(name) >= 4 && len(name) <= 2*r.objects.format.size() {
		commits, err := r.commitsWithPrefix(name)
		if err != nil {
			return Hash{}, err
		}
		for _, h := range commits {
			found, names = append(found, h), append(names, "commit "+h.String())
		}
	}
	const most = 5
	switch {
	case len(found) == 0:
		return Hash{}, r.unknown(name)
	case len(found) == 1:
		return found[0], nil
	case len(found) > most:
		names = append(names[:most], "…")
	}
	return Hash{}, fmt.Errorf("%w: %q could be %s; write one of them in full", ErrAmbiguous, name,
		strings.Join(names, " or "))
}

// Ref returns the commit of a ref by its full name alone, such as refs/remotes/origin/main: no other ref, such as a
// tag of that name, makes it ambiguous. A missing ref is [ErrUnknown].
func (r *Repository) Ref(full string) (Hash, error) {
	if !IsRef(full) {
		return Hash{}, fmt.Errorf("%w: %q is not the full name of a ref", ErrSyntax, clip(full))
	}
	found, err := r.ref(full)
	if errors.Is(err, errNoRef) {
		return Hash{}, revisionError("this clone does not have the ref " + full)
	}
	if err != nil {
		return Hash{}, err
	}
	return r.Peel(found)
}

// commitsWithPrefix returns the commits, and the tags of commits, whose hash has a prefix. Like git, it ignores trees
// and blobs.
func (r *Repository) commitsWithPrefix(prefix string) ([]Hash, error) {
	all, err := r.objects.withPrefix(prefix)
	if err != nil {
		return nil, err
	}
	var commits []Hash
	for _, h := range all {
		k, err := r.objects.kindOf(h)
		if err != nil {
			return nil, err
		}
		if k == plumbing.CommitObject || k == plumbing.TagObject || len(prefix) == 2*r.objects.format.size() {
			commits = append(commits, h)
		}
	}
	return commits, nil
}

// maxTags is the length of a chain of tags.
const maxTags = 100

// A KindError says that an object is neither a commit nor a tag of one.
type KindError struct {
	Hash Hash
	Kind string // tree or blob
}

func (e *KindError) Error() string {
	return fmt.Sprintf("object %s is a %s; name a commit", e.Hash, e.Kind)
}

// Peel returns the commit of an object: that itself, or the one of a tag, or of a tag's tag. Anything else is a
// [KindError].
func (r *Repository) Peel(h Hash) (Hash, error) {
	for range maxTags {
		k, err := r.objects.kindOf(h)
		if err != nil {
			return Hash{}, err
		}
		switch k {
		case plumbing.CommitObject:
			return h, nil
		case plumbing.TagObject:
			if h, err = r.tagged(h); err != nil {
				return Hash{}, err
			}
		default:
			return Hash{}, &KindError{h, k.String()}
		}
	}
	return Hash{}, fmt.Errorf("%w: more than %d tags of tags", ErrLimit, maxTags)
}

func (past *history) step(h Hash, s step) (Hash, error) {
	times, parent := s.n, 1
	if s.mark == '^' {
		times, parent = min(s.n, 1), s.n
	}
	for range times {
		c, err := past.commit(h)
		if err != nil {
			return Hash{}, err
		}
		if h, err = past.repo.parent(h, c, parent); err != nil {
			return Hash{}, err
		}
	}
	return h, nil
}

func (r *Repository) parent(h Hash, c *commit, n int) (Hash, error) {
	if n > len(c.parents) {
		if r.shallow[h] {
			return Hash{}, &ShallowError{h}
		}
		return Hash{}, revisionError(fmt.Sprintf("commit %s has %d parents", Short(h), len(c.parents)))
	}
	p := c.parents[n-1]
	if r.shallow[h] {
		if _, err := r.objects.kindOf(p); errors.Is(err, ErrMissing) {
			return Hash{}, &ShallowError{h}
		}
	}
	return p, nil
}

// A Finder looks up many paths and caches the directories it has read. It is safe for concurrent use.
type Finder struct {
	repo *Repository
	dirs cache[Hash, map[string]Leaf]
}

// maxFound is how many entries of directories a [Finder] caches, each of some 100 bytes.
const maxFound = 200_000

func (r *Repository) Finder() *Finder {
	return &Finder{repo: r, dirs: cache[Hash, map[string]Leaf]{limit: maxFound}}
}

// Lookup returns the leaf or directory at a path of a tree; false if the path does not exist.
func (f *Finder) Lookup(tree Hash, path string) (Leaf, bool, error) {
	at := Leaf{dirMode, tree}
	for name := range strings.SplitSeq(path, "/") {
		if at.Mode != dirMode {
			return Leaf{}, false, nil
		}
		leaves, known := f.dirs.get(at.Hash)
		if !known {
			leaves = map[string]Leaf{}
			err := f.repo.Entries(at.Hash, func(name []byte, leaf Leaf) { leaves[string(name)] = leaf })
			if err != nil {
				return Leaf{}, false, err
			}
			f.dirs.put(at.Hash, leaves, len(leaves))
		}
		if at = leaves[name]; at == (Leaf{}) {
			return Leaf{}, false, nil
		}
	}
	return at, true, nil
}

// Lookup is [Finder.Lookup] for one path.
func (r *Repository) Lookup(tree Hash, path string) (Leaf, bool, error) {
	return r.Finder().Lookup(tree, path)
}

// Entries calls visit with the entries of a tree, in its order: leaves, and directories, whose mode is not IsLeaf.
// name is overwritten later. A malformed entry is an error, after visit was called with the entries before it.
func (r *Repository) Entries(tree Hash, visit func(name []byte, leaf Leaf)) error {
	w := walk{repo: r, distinct: map[Hash]struct{}{}}
	entries, err := w.open("", treeEntry{hash: tree}, 0)
	for err == nil {
		var e treeEntry
		if e, err = entries.next(); e.name == nil {
			break
		}
		visit(e.name, Leaf{e.mode, e.hash})
	}
	return err
}
