package tree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"
	"sync"
	"syscall"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Dir returns the tree of all files under a directory, of scope full.
func Dir(root *worktree.Root) Tree { return &dirTree{"full", diskRoots{root, root, ""}, nil} }

type dirTree struct {
	diskScope
	diskRoots
	paths []string // the part of the directory; nil: all of it
}

func (t *dirTree) Absent(path string) string {
	rd := t.root.Reader()
	defer rd.Close()
	_, err := rd.Stat(path)
	switch {
	case err == nil:
		return "is not in the tree"
	case disk.Absent(err):
		return "does not exist" // the user named it from the current directory
	}
	return noFile(path, err)
}

func (t *dirTree) Files(ctx context.Context, n int, q Query) []iter.Seq2[File, error] {
	submodules, around, wrong := t.submodules()
	part, wrongPaths := t.part()
	wrong = append(wrong, wrongPaths...)
	var met sync.Map // the paths of the part that were listed
	walkers := t.root.Walkers(n)
	all := make([]iter.Seq2[File, error], n)
	for i := range all {
		all[i] = func(yield func(File, error) bool) {
			more := true
			give := func(f File, err error) { more = more && yield(f, err) }
			if i == 0 {
				for _, err := range wrong {
					give(File{}, err)
				}
			}
			t.walk(ctx, walkers[i], &q, part, &met, submodules, give)
			if i == 0 && ctx.Err() == nil { // all walkers have listed the whole tree
				t.places(&q, part, submodules, around, give)
				part.unmet(&q, &met, give)
			}
		}
	}
	return all
}

func (t *dirTree) walk(
	ctx context.Context, walker *worktree.Walker, q *Query, part Part, met *sync.Map, submodules submoduleMap,
	give func(File, error),
) {
	source := &diskSource{root: t.root, repository: t.repository, isTemporary: q.isTemporary}
	defer source.closeLookups()
	given := map[string]bool{} // skipped files: a directory may be listed twice
	walker.Walk(ctx, worktree.Visitor{
		Skip: func(path string) bool {
			if !q.LeadsTo(path) || !part.leadsTo(path) {
				return true
			}
			if part[path] {
				met.Store(path, nil)
			}
			f, out := q.leftOut(path)
			if out && !given[path] {
				given[path] = true
				give(f, nil)
			}
			return out
		},
		File: func(e worktree.Entry, rd *worktree.Reader) {
			for at, module := range submodules {
				if module.noGitDir && strings.HasPrefix(e.Path, at+"/") {
					module.checkedOut.Store(true)
				}
			}
			source.files = rd // always the same
			f := File{Path: e.Path, Kind: e.Kind, Key: uint64(e.Kind), Source: source}
			if q.elsewhere(e.Path) {
				f.State = Elsewhere
			}
			give(f, nil)
		},
		Failed:  func(dir string, err error) { give(File{}, failed(dir, err)) },
		Passing: q.isTemporary,
	})
}

func (t *dirTree) places(
	q *Query, part Part, submodules submoduleMap, around bool, give func(File, error),
) {
	at := func(path string, state State) {
		if path != "." && !part.Has(path) {
			return
		}
		f := File{Path: path, Kind: worktree.Submodule, State: state, Key: uint64(worktree.Submodule)}
		if f, listed := q.entry(f); listed {
			give(f, nil)
		}
	}
	for path, m := range submodules {
		if m.checkedOut.Load() {
			at(path, CheckedOut)
		} else {
			at(path, Listed)
		}
	}
	if around {
		at(".", Listed)
	}
}

// submodules returns the submodules under the root. around reports whether the root is, or lies in, a submodule
// without a checkout, whose other files are unknown.
func (t *dirTree) submodules() (found submoduleMap, around bool, wrong []error) {
	found = submoduleMap{}
	for at, m := range submodules(t.repository, func(file string, err error) {
		rel, under := strings.CutPrefix(file, t.within)
		if !under {
			rel, err = "", fmt.Errorf("%s of the repository that it is in: %s", verdict.Path(file), disk.Cause(err))
		}
		wrong = append(wrong, failed(rel, err))
	}) {
		switch rel, under := strings.CutPrefix(at, t.within); {
		case under:
			found[rel] = m
		case strings.HasPrefix(t.within, at+"/") && !m.noGitDir && !m.checkedOut.Load():
			around = true
		}
	}
	return found, around, wrong
}

// A Part is the paths that a tree is restricted to, and those of the directories above them (false); nil: all paths.
type Part map[string]bool

// PartOf returns the part of some paths; nil for nil.
func PartOf(paths []string) Part {
	if paths == nil {
		return nil
	}
	p := Part{}
	for _, at := range paths {
		for p[at] = true; at != "."; {
			at = path.Dir(at)
			if _, known := p[at]; !known {
				p[at] = false
			}
		}
	}
	return p
}

// Holding returns the paths of the part that are a path, or a directory above it.
func (p Part) Holding(file string) (all []string) {
	for at := file; ; at = path.Dir(at) {
		if p[at] {
			all = append(all, at)
		}
		if at == "." {
			return all
		}
	}
}

// Has reports whether a path is in the part.
func (p Part) Has(file string) bool { return p == nil || len(p.Holding(file)) > 0 }

// leadsTo reports whether a path is in the part, or a directory above it.
func (p Part) leadsTo(file string) bool {
	_, known := p[file]
	return known || p.Has(file)
}

// unmet gives an error for each path that was found, but not listed: a disk that ignores case finds it under another
// name.
func (p Part) unmet(q *Query, met *sync.Map, give func(File, error)) {
	for path, named := range p {
		_, listed := met.Load(path)
		if _, out := q.leftOut(path); named && !listed && !out && path != "." {
			give(File{}, pathError(path, "its directory lists no such name; write it as listed"))
		}
	}
}

func pathError(path, message string) error {
	return &verdict.Error{Code: code.FilesFrom, File: verdict.Path(path), Message: message}
}

// part returns the tree's part without the paths that are errors.
func (t *dirTree) part() (_ Part, wrong []error) {
	if t.paths == nil {
		return nil, nil
	}
	rd := t.root.Reader()
	defer rd.Close()
	found := []string{}
	for _, path := range t.paths {
		st, err := rd.Stat(path)
		message := ""
		switch {
		case err == nil && st.Kind == worktree.Special:
			message = "it is a FIFO, a socket or a device; name files and directories"
		case disk.Absent(err):
			message = "it does not exist; check the path"
		case err != nil && !errors.Is(err, worktree.ErrNotFile):
			message = "it " + noFile(path, err)
		}
		if message == "" {
			found = append(found, path)
			continue
		}
		wrong = append(wrong, pathError(path, message))
	}
	return PartOf(found), wrong
}

type diskSource struct {
	root, repository *worktree.Root
	files            *worktree.Reader
	// lookups serves Lookup, since the other reader keeps a listed directory open; nil: not yet needed.
	lookups     *worktree.Reader
	isTemporary func(path string) bool // nil: none is
}

// ErrTemporary: a file was another run's, which has renamed it to its verdict.
var ErrTemporary = errors.New("it was another run's, and is gone")

func (s *diskSource) close() {
	s.files.Close()
	s.closeLookups()
}

func (s *diskSource) closeLookups() {
	if s.lookups != nil {
		s.lookups.Close()
	}
}

func (s *diskSource) Outside(path string) string {
	if s.root.Outside(s.repository, path) {
		return ""
	}
	return OutsideTree + ", and perhaps back into the repository"
}

func (s *diskSource) stat(path string) (worktree.Status, error) {
	if s.lookups == nil {
		s.lookups = s.root.Reader()
	}
	return s.lookups.Stat(path)
}

func (s *diskSource) Lookup(path string) (PathInfo, error) {
	st, err := s.stat(path)
	switch {
	case isNoFile(err), errors.Is(err, syscall.ENAMETOOLONG):
		return PathInfo{}, nil // a directory, or not readable under that name
	case err != nil:
		return PathInfo{}, err
	case st.Kind != worktree.Symlink:
		return PathInfo{IsFile: st.Kind == worktree.Regular}, nil
	}
	target, err := s.lookups.Readlink(path)
	return PathInfo{IsLink: true, Target: target}, err
}

func (s *diskSource) IsPresent(path string) (bool, error) {
	st, err := s.stat(path)
	if isNoFile(err) {
		return false, nil
	}
	return err == nil && st.Kind == worktree.Regular && st.Size > 0, err
}

func (s *diskSource) Open(f File, watched bool) (Content, error) {
	if f.Kind == worktree.Symlink {
		target, err := s.files.Readlink(f.Path)
		return InMemory([]byte(target)), err
	}
	file, err := s.files.Open(f.Path, watched)
	if errors.Is(err, worktree.ErrGone) && s.isTemporary != nil && s.isTemporary(f.Path) {
		err = ErrTemporary
	}
	if err != nil {
		return nil, err // not file, which as a Content would not be nil
	}
	return file, nil
}
