package repo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/policyscan/policyscan/internal/disk"
)

var errNoRef = errors.New("no such ref")

// maxRefs is the length of a chain of symbolic refs, as in git.
const maxRefs = 5

// refs are where a repository has its refs: in files, or in reftables.
type refs struct {
	tables bool
	// Of this work tree, and of all: the git directories, unless the config names another one.
	own, shared string
	// Their reftables; the same of a work tree that is not linked.
	ownTables, sharedTables *refStack

	packedOnce sync.Once
	packed     []byte // packed-refs
	packedErr  error
}

// findRefs finds the refs by GIT_REFERENCE_BACKEND or else extensions.refStorage: a format, or format://directory. The
// files HEAD and refs/heads that git leaves beside reftables are not read.
func (r *Repository) findRefs(cfg settings) error {
	storage := cmp.Or(os.Getenv("GIT_REFERENCE_BACKEND"), cfg.last("extensions.refstorage"), "files")
	format, dir, elsewhere := strings.Cut(storage, "://")
	r.refs.own, r.refs.shared = r.gitDir, r.commonDir
	if elsewhere {
		r.refs.shared = disk.Under(r.commonDir, dir)
		r.refs.own = r.refs.shared
		if r.gitDir != r.commonDir {
			r.refs.own = filepath.Join(r.refs.shared, "worktrees", filepath.Base(r.gitDir))
		}
	}
	switch format {
	case "files":
		return nil
	case "reftable":
	default:
		return fmt.Errorf("%w: its refs are stored as %s; a full scan needs no git", ErrFormat, clip(format))
	}
	r.refs.tables = true
	r.refs.sharedTables = &refStack{dir: filepath.Join(r.refs.shared, "reftable")}
	if r.refs.ownTables = r.refs.sharedTables; r.gitDir != r.commonDir {
		r.refs.ownTables = &refStack{dir: filepath.Join(r.refs.own, "reftable")}
	}
	return nil
}

// ofWorkTree reports whether each work tree has its own ref of a name.
func ofWorkTree(name string) bool {
	return !strings.HasPrefix(name, "refs/") || strings.HasPrefix(name, "refs/worktree/") ||
		strings.HasPrefix(name, "refs/bisect/") || strings.HasPrefix(name, "refs/rewritten/")
}

// ref returns the object of a ref by its full name, such as HEAD or refs/heads/main. A symbolic ref is followed; one
// to an unborn branch is errNoRef.
func (r *Repository) ref(name string) (Hash, error) {
	h, _, err := r.follow(name)
	return h, err
}

// follow also returns the full name of the ref that a symbolic ref leads to, or else the name itself.
func (r *Repository) follow(name string) (h Hash, at string, err error) {
	at = name
	for range maxRefs {
		h, target, err := r.readRef(at)
		if errors.Is(err, errNoRef) && at != name {
			err = cmp.Or(r.refs.unfinished(), err)
		}
		if err != nil || target == "" {
			return h, at, err
		}
		at = target
	}
	return Hash{}, at, fmt.Errorf("the symbolic ref %s leads to itself, or through too many others", name)
}

// Target returns the full name of the ref that a symbolic ref leads to, or else the name itself. It may be unborn.
func (r *Repository) Target(name string) (string, error) {
	_, at, err := r.follow(name)
	if errors.Is(err, errNoRef) {
		err = nil
	}
	return at, err
}

// readRef returns a ref's hash, or the target of a symbolic ref. All refs are read here.
func (r *Repository) readRef(name string) (h Hash, target string, err error) {
	if r.refs.tables {
		return r.tableRef(name)
	}
	text, err := r.looseRef(name)
	if errors.Is(err, errNoRef) {
		if h, err = r.packedRef(name); err == nil {
			err = r.refs.unfinished()
		}
		return h, "", err
	}
	if err == nil {
		if h, target, err = r.objects.format.parseRef(text); err != nil {
			err = cmp.Or(r.refs.unfinished(), fmt.Errorf("the ref %s %w", name, err))
		}
	}
	return h, target, err
}

// Refs returns the objects of all refs below refs/ by their full names, as git for-each-ref does: those of all work
// trees, and those of this one. Symbolic refs are followed, and those to unborn branches omitted. A ref that cannot be
// read is an error.
func (r *Repository) Refs() (map[string]Hash, error) {
	found := map[string]Hash{}
	linked := r.gitDir != r.commonDir
	add := func(name string, own bool) error {
		if !IsRef(name) || linked && ofWorkTree(name) != own {
			return nil
		}
		h, err := r.ref(name)
		if errors.Is(err, errNoRef) { // it was removed since it was listed, or leads to an unborn branch
			return nil
		}
		found[name] = h
		return err
	}
	list := func(dir string, tables *refStack, own bool) error {
		if !r.refs.tables {
			return looseRefs(dir, func(name string) error { return add(name, own) })
		}
		names, err := tables.all(r.objects.format.size())
		for name := range names {
			err = cmp.Or(err, add(name, own))
		}
		return err
	}
	err := list(r.refs.shared, r.refs.sharedTables, false)
	if linked {
		err = cmp.Or(err, list(r.refs.own, r.refs.ownTables, true))
	}
	if !r.refs.tables { // read last: git packs a ref before it removes its file
		err = cmp.Or(err, r.packedRefs(found))
	}
	return found, cmp.Or(err, r.refs.unfinished())
}

func looseRefs(dir string, add func(name string) error) error {
	return filepath.WalkDir(filepath.Join(dir, "refs"), func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if disk.Absent(err) { // git removes empty directories
				err = nil
			}
			return err
		}
		name, err := filepath.Rel(dir, file)
		return cmp.Or(err, add(filepath.ToSlash(name)))
	})
}

// packedRefs adds the refs of packed-refs that are not loose.
func (r *Repository) packedRefs(found map[string]Hash) error {
	if _, err := r.packedRef("refs"); !errors.Is(err, errNoRef) {
		return err
	}
	for line := range strings.Lines(string(r.refs.packed)) {
		hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "^") {
			continue
		}
		h, err := r.objects.format.parse(hash)
		if err != nil || !strings.HasPrefix(name, "refs/") {
			return fmt.Errorf("packed-refs has the line %q, which is not that of a ref", clip(line))
		}
		if _, is := found[name]; !is {
			found[name] = h
		}
	}
	return nil
}

// unfinished fails if git is changing the format of refs in files, or has been interrupted. It removes loose refs
// first, so that those in packed-refs can be old.
func (s *refs) unfinished() error {
	if s.tables {
		return nil
	}
	entries, err := os.ReadDir(s.shared)
	if err != nil {
		return disk.Cause(err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, "ref_migration.") ||
			name == "reftable" && exists(filepath.Join(s.shared, name, tablesList)) {
			return fmt.Errorf("git refs migrate has not finished: there is %s; "+
				"finish it as its message says, or remove what its --dry-run left", filepath.Join(s.shared, name))
		}
	}
	return nil
}

func (r *Repository) tableRef(name string) (h Hash, target string, err error) {
	stack := r.refs.sharedTables
	if ofWorkTree(name) {
		stack = r.refs.ownTables
	}
	ref, err := stack.ref(name, r.objects.format.size())
	switch {
	case errors.Is(err, errNoRef) && name == "HEAD":
		err = stack.failed("", errors.New("its tables have no HEAD"))
	case ref.target != "" && !IsRef(ref.target):
		err = fmt.Errorf("the ref %s leads to %q, which is not a ref", name, clip(ref.target))
	}
	if err != nil || ref.target != "" {
		return h, ref.target, err
	}
	copy(h[:], ref.hash)
	return h, "", nil
}

func (r *Repository) looseRef(name string) (string, error) {
	dir := r.refs.shared
	if ofWorkTree(name) {
		dir = r.refs.own
	}
	file := filepath.Join(dir, filepath.FromSlash(name))
	if target, err := os.Readlink(file); err == nil { // as git wrote symbolic refs long ago
		return "ref: " + target, nil
	}
	text, err := readSmall(file)
	switch {
	case err != nil && (disk.Absent(err) || isDir(file)): // a directory of other refs
		return "", errNoRef
	case err != nil:
		return "", fmt.Errorf("the ref %s cannot be read: %w", name, err)
	}
	return text, nil
}

// parseRef reads the content of a ref's file: a hash, or the target of a symbolic ref.
func (f format) parseRef(text string) (h Hash, target string, err error) {
	text = strings.TrimRight(text, " \t\r\n")
	target, symbolic := strings.CutPrefix(text, "ref:")
	if !symbolic {
		if h, err = f.parse(text); err != nil {
			err = fmt.Errorf("contains %w", err)
		}
		return h, "", err
	}
	// git treats no other characters as spaces, so a branch can end in U+00A0.
	if target = strings.TrimLeft(target, " \t\r\n"); !IsRef(target) {
		return h, "", fmt.Errorf("leads to %q, which is not a ref", clip(target))
	}
	return h, target, nil
}

// IsRef reports whether a text can be the full name of a ref below refs/.
func IsRef(name string) bool { return strings.HasPrefix(name, "refs/") && validRef(name) }

// packedRef looks a ref up in packed-refs, which is read once. After a header, the file has a line for each ref, its
// hash and its name; a line that begins with ^ is the target of a tag. The text is searched unparsed, as a repository
// can have tens of thousands of refs.
func (r *Repository) packedRef(name string) (Hash, error) {
	s := &r.refs
	s.packedOnce.Do(func() {
		s.packed, s.packedErr = mapped(filepath.Join(s.shared, "packed-refs"))
		switch {
		case errors.Is(s.packedErr, fs.ErrNotExist):
			s.packedErr = nil
		case s.packedErr != nil:
			s.packedErr = fmt.Errorf("packed-refs cannot be read: %w", s.packedErr)
		case len(s.packed) > 0 && s.packed[len(s.packed)-1] != '\n':
			s.packedErr = errors.New("packed-refs ends within a line; run git pack-refs --all")
		}
	})
	if s.packedErr != nil {
		return Hash{}, s.packedErr
	}
	h, found, err := r.objects.format.findRef(s.packed, name)
	if err == nil && !found {
		err = errNoRef
	}
	return h, err
}

// findRef looks a ref up in the text of packed-refs. If the header declares the names sorted, as git has written it
// since 2013, it is a binary search: the file can have megabytes.
func (f format) findRef(text []byte, name string) (h Hash, is bool, err error) {
	want := []byte(" " + name + "\n")
	rest := text
	header, lines, _ := bytes.Cut(text, []byte("\n"))
	if traits, is := strings.CutPrefix(string(header), "# pack-refs with:"); is &&
		slices.Contains(strings.Fields(traits), "sorted") {
		rest = inOrder(lines, want)
	}
	for {
		i := bytes.Index(rest, want)
		if i < 0 {
			return h, is, nil
		}
		line := rest[:i]
		if k := bytes.LastIndexByte(line, '\n'); k >= 0 {
			line = line[k+1:]
		}
		if h, err = f.parse(string(line)); err != nil || is {
			return Hash{}, false, fmt.Errorf("packed-refs has %q for %s, or has it twice", clip(string(line)), name)
		}
		is = true
		rest = rest[i+len(want)-1:]
	}
}

// inOrder returns the lines of one name and its tag's target from sorted lines.
func inOrder(lines, want []byte) []byte {
	// first returns the start of the first line whose name is not below the wanted one, or is above it.
	first := func(above bool) int {
		low, high := 0, len(lines)
		for low < high {
			at := low + (high-low)/2
			for at > low && (lines[at-1] != '\n' || lines[at] == '^') {
				at--
			}
			end := at + bytes.IndexByte(lines[at:high], '\n') + 1
			name := lines[at:end]
			for end < high && lines[end] == '^' {
				end += bytes.IndexByte(lines[end:high], '\n') + 1
			}
			if i := bytes.IndexByte(name, ' '); i >= 0 {
				name = name[i:]
			}
			if c := bytes.Compare(name, want); c < 0 || c == 0 && above {
				low = end
			} else {
				high = at
			}
		}
		return low
	}
	return lines[first(false):first(true)]
}

// validRef reports whether a name may be a ref's (git-check-ref-format(1)). Other names never reach the file system.
func validRef(name string) bool {
	if name == "HEAD" {
		return true
	}
	if name == "" || strings.HasSuffix(name, ".") || strings.Contains(name, "..") ||
		strings.Contains(name, "@{") || name == "@" {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name,
		func(c rune) bool { return c < ' ' || c == 0x7f || strings.ContainsRune(" ~^:?*[\\", c) })
}

// close unmaps what was read. Afterwards no ref can be read.
func (s *refs) close() {
	s.packedOnce.Do(func() {})
	unmap(s.packed)
	s.packed = nil
	for _, stack := range []*refStack{s.ownTables, s.sharedTables} {
		if stack != nil {
			stack.once.Do(func() {})
			stack.close()
		}
	}
}

// clip cuts a text that is too long for a message, after a character.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	end := most
	for end > most-utf8.UTFMax+1 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
