package gate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/edit"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// maxBytes is the longest file whose edit is checked.
const maxBytes = 64 << 20

var errTooLarge = fmt.Errorf("it has over %d bytes", maxBytes)

// maxPath is the longest path that is followed; systems take no longer ones.
const maxPath = 1 << 15

// A file is one that a call edits.
type file struct {
	edit  edit.Edit
	named string // by the call
	// real is the file's path with symlinks resolved; beside is the path of the symlink itself, if it points
	// elsewhere: an agent that writes a new file and renames it replaces the symlink.
	real, beside string
	from         string // path the old content is read from; "" if that is real
}

// places are the paths at which the file may be written.
func (f *file) places() []string {
	if f.beside != "" {
		return []string{f.real, f.beside}
	}
	return []string{f.real}
}

// A proposal is a call with the files that it edits, which are found once for all gates.
type proposal struct {
	call         *call.Call
	paths, whole func() ([]file, error)
}

func newProposal(c *call.Call) *proposal {
	return &proposal{
		call:  c,
		paths: sync.OnceValues(func() ([]file, error) { return editedFiles(c, edit.Paths) }),
		whole: sync.OnceValues(func() ([]file, error) {
			files, err := editedFiles(c, edit.Of)
			return files, cmp.Or(err, checkDistinct(files))
		}),
	}
}

// files returns the files that the call edits. Their new content is computed only if there is a bundle.
func (p *proposal) files(hasBundle bool) ([]file, error) {
	if hasBundle {
		return p.whole()
	}
	return p.paths()
}

func editedFiles(c *call.Call, read func(*call.Call) ([]edit.Edit, error)) ([]file, error) {
	edits, err := read(c)
	if err != nil {
		return nil, fmt.Errorf("cannot determine what the call of %s would write: %w", verdict.Visible(c.Tool), err)
	}
	files := make([]file, len(edits))
	for i, e := range edits {
		f := &files[i]
		f.edit, f.named = e, e.Path
		if f.real, f.beside, err = locate(e.Path, c.Dir); err != nil {
			return nil, err
		}
		if e.From != "" && e.From != e.Path {
			if f.from, _, err = locate(e.From, c.Dir); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// checkDistinct fails if a call names one file in two ways: each edit would be checked without the other, and the
// combined result not at all.
func checkDistinct(files []file) error {
	if len(files) < 2 {
		return nil
	}
	by := map[string]*file{}
	// The same file has the same size and time, whatever its names are: hard links, or upper and lower case.
	type like struct{ size, time int64 }
	alike := map[like][]fs.FileInfo{}
	for i := range files {
		f := &files[i]
		for _, place := range append(f.places(), f.from) {
			if place == "" {
				continue
			}
			if other := by[place]; other != nil && other != f {
				return fmt.Errorf("the call names one file as %s and as %s; name it once, or make two calls",
					verdict.Visible(other.named), verdict.Visible(f.named))
			}
			if by[place] = f; place == f.beside { // a link, which is not a file itself
				continue
			}
			st, err := os.Lstat(place)
			if err != nil { // a missing file has no other name, and reading it reports other errors
				continue
			}
			k := like{st.Size(), st.ModTime().UnixNano()}
			if slices.ContainsFunc(alike[k], func(other fs.FileInfo) bool { return os.SameFile(st, other) }) {
				return fmt.Errorf("%s is the same file as another that the call names; make two calls",
					verdict.Visible(f.named))
			}
			alike[k] = append(alike[k], st)
		}
	}
	return nil
}

// locate returns the real path of a path.
func locate(name, dir string) (real, beside string, err error) {
	shown := verdict.Visible(name)
	whole := absolute(name, dir)
	clean := filepath.Clean(whole) // as agents do it, before any link is followed
	switch {
	case name == "":
		err = errors.New("the call names no file")
	case !filepath.IsAbs(name) && !filepath.IsAbs(dir):
		err = fmt.Errorf("the call names the file %s, but no absolute working directory to resolve it against", shown)
	case len(whole) > maxPath:
		err = fmt.Errorf("the path of a file is longer than %d bytes", maxPath)
	case dotDotAfterSymlink(whole):
		err = fmt.Errorf("the path %s goes back (..) over a link, and where that leads depends on who follows it; "+
			"write it without that step", shown)
	case isPerProcess(clean):
		err = fmt.Errorf("the path %s leads through /proc, "+
			"where the agent may find another file than its hook does; write where it leads", shown)
	}
	if err != nil {
		return "", "", err
	}
	real, err = follow(clean, 40)
	var parent string
	if err == nil {
		parent, err = follow(filepath.Dir(clean), 40)
	}
	if err != nil {
		return "", "", fmt.Errorf("cannot determine where the file %s is: %w", shown, cause(err))
	}
	if beside = filepath.Join(parent, filepath.Base(clean)); beside == real {
		beside = ""
	}
	return real, beside, nil
}

func absolute(name, dir string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return dir + string(filepath.Separator) + name
}

// dotDotAfterSymlink reports whether a ".." of a path follows a symlink: most agents drop both, the system goes to
// the parent of the target.
func dotDotAfterSymlink(name string) bool {
	for i := range name {
		if !os.IsPathSeparator(name[i]) || i == 0 {
			continue
		}
		next := name[i+1:]
		if next != ".." && !(len(next) > 2 && next[:2] == ".." && os.IsPathSeparator(next[2])) {
			continue
		}
		if st, err := os.Lstat(filepath.Clean(name[:i])); err == nil && st.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// isPerProcess reports whether a path passes, directly or via symlinks, through a per-process directory, such
// as /proc/self/cwd.
func isPerProcess(name string) bool {
	for range 40 {
		if strings.HasPrefix(name, "/proc/") {
			return true
		}
		target := ""
		for i := 1; i <= len(name) && target == ""; i++ {
			if i < len(name) && !os.IsPathSeparator(name[i]) {
				continue
			}
			link, err := os.Readlink(name[:i])
			switch {
			case err != nil:
			case filepath.IsAbs(link):
				target = link + name[i:]
			default:
				target = filepath.Dir(name[:i]) + string(filepath.Separator) + link + name[i:]
			}
		}
		if target == "" {
			return false
		}
		name = filepath.Clean(target)
	}
	return false // no system follows that many symlinks
}

// follow resolves the symlinks of a path, whose end may not exist yet.
func follow(path string, links int) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	parent, base := filepath.Dir(path), filepath.Base(path)
	if parent == path {
		return path, nil
	}
	if parent, err = follow(parent, links); err != nil {
		return "", err
	}
	at := filepath.Join(parent, base)
	target, err := os.Readlink(at)
	switch {
	case err != nil:
		return at, nil // nothing is there
	case links == 0:
		return "", errors.New("it leads through too many links")
	case !filepath.IsAbs(target):
		target = filepath.Join(parent, target)
	}
	return follow(target, links-1)
}

func read(real string) (content []byte, exists bool, err error) {
	root, err := worktree.Open(filepath.Dir(real))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	rd := root.Reader()
	defer rd.Close()
	switch st, err := rd.Stat(filepath.Base(real)); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case st.Kind != worktree.Regular:
		return nil, false, errors.New("it is not a regular file")
	case st.Size > maxBytes: // before anything of it is read
		return nil, false, errTooLarge
	}
	f, err := rd.Open(filepath.Base(real), true)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	var text bytes.Buffer
	text.Grow(int(f.Size()) + bytes.MinRead) // what io.ReadAll would do in many steps
	switch n, err := text.ReadFrom(io.LimitReader(f, maxBytes+1)); {
	case err != nil:
		return nil, false, err
	case n > maxBytes:
		return nil, false, errTooLarge
	}
	return text.Bytes(), true, f.Changed()
}

// A treePath is a place in one of the trees that are checked.
type treePath struct {
	root string // of the tree
	path string // from there, with slashes
}

// trees are the root's work tree and any other work tree of the repository (git worktree) that contains the place.
func (g *Gate) trees(real string) ([]treePath, error) {
	roots := []string{g.Root}
	sibling, err := repo.Sibling(g.Root, filepath.Dir(real))
	if err != nil {
		return nil, fmt.Errorf("cannot determine whether %s is in a work tree of the repository: %w",
			verdict.Visible(real), cause(err))
	}
	if sibling != "" {
		roots = append(roots, sibling)
	}
	var trees []treePath
	for _, root := range roots {
		if rel, ok := relativeTo(root, real); ok && rel != "." {
			trees = append(trees, treePath{root, filepath.ToSlash(rel)})
		}
	}
	return trees, nil
}

// relativeTo returns the path of a place relative to a directory that contains it, through symlinks too.
func relativeTo(dir, place string) (rel string, ok bool) {
	if rel, err := filepath.Rel(dir, place); err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	is, err := os.Stat(dir)
	if err != nil {
		return "", false
	}
	for at := range disk.Upwards(filepath.Dir(place)) {
		if st, err := os.Stat(at); err == nil && os.SameFile(st, is) {
			rel, err := filepath.Rel(at, place)
			return rel, err == nil
		}
	}
	return "", false
}

// cause is [disk.Cause], worded for display.
func cause(err error) error {
	if err = disk.Cause(err); errors.Is(err, syscall.ENOTDIR) {
		return errors.New("it leads through a file")
	}
	return err
}
