package scanner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"syscall"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A Tree is the files that a run is about: a path for each, and a way to read its
// bytes.
type Tree interface {
	// Scope says how the files were chosen.
	Scope() verdict.Scope
	// walk hands each of the tree's files to one of the visitors, several at once. The
	// error is the context's; other failures go to the visitors.
	walk(ctx context.Context, visitors []visitor) error
}

// An entry is a file of a tree.
type entry struct {
	worktree.Entry
	blob     repo.Hash          // its content, if that is git's
	checkout *checkout.Checkout // what git writes in its place; nil: the content is what is on disk
	sparse   bool               // git says that it is not checked out
	watch    bool               // it is to be seen whether it changes while it is read
	past     bool               // it is not part of what is scanned: that is compared with it
}

// A visitor is what a tree reports to.
type visitor struct {
	skip  func(path string) bool                 // what is left out on disk: a folder with all that is in it
	inUse func(path string, leaf repo.Leaf) bool // and in git's objects
	// owns reports whether this run is to look at a file. It is asked once of each file that is listed, before that is
	// looked at; content is a number that differs where it is known that the files do.
	owns      func(path string, content uint64) bool
	visit     func(entry, opener)
	place     func(entry)            // a submodule whose files are visited
	deleted   func()                 // a file that the change deletes
	fail      func(verdict.Error)    // what cannot be listed
	temporary func(path string) bool // whether it is another run's on disk, which comes and goes
	uniform   func() bool            // whether the rules select the same beneath every folder
	touched   func() []string        // paths that are part of a change, whether it changes them or not, in order

	// Of git's objects all files are reported as well, whether they are part of what is scanned or not, and then that
	// these were all. nil: no one asks.
	required    func(path string, leaf repo.Leaf)
	requiredAll func()
}

type opener interface {
	open(entry) (content, error)
	look(path string) (there, error)
	// present reports whether a regular file that is not empty is at a path of a tree on disk.
	present(path string) (bool, error)
	// outside says what is wrong with a link whose target is a path that leaves the tree; "" if that leads, for
	// certain, to what is not the repository's.
	outside(path string) (wrong string)
	close()
}

// batch is how many files a visitor is handed at a time, at least: those of a folder follow one another, and an opener
// keeps the folder open.
const batch = 32

// share hands the files that list finds to the visitors, each with its own opener.
// list runs in the caller's goroutine.
func share(
	ctx context.Context, visitors []visitor, newOpener func() opener, list func(found func(entry)) error,
) error {
	batches := make(chan []entry, 2*len(visitors))
	var done sync.WaitGroup
	for _, v := range visitors {
		done.Go(func() {
			o := newOpener()
			defer o.close()
			for b := range batches {
				for _, e := range b {
					if ctx.Err() == nil {
						v.visit(e, o)
					}
				}
			}
		})
	}
	var next []entry
	sent := 0
	send := func() {
		sent += len(next)
		select {
		case batches <- next:
		case <-ctx.Done():
		}
		next = nil
	}
	err := list(func(e entry) {
		// To wake a visitor costs more than to look at a few files that no rule covers. The last part is no more than
		// a sixteenth of the files, so that no visitor waits long for another.
		if next = append(next, e); len(next) >= max(batch, min(sent/16, 16*batch)) {
			send()
		}
	})
	send()
	close(batches)
	done.Wait()
	return err
}

// A content is a file's bytes, to be read more than once.
type content interface {
	io.ReadSeeker
	Size() int64    // in bytes, if it is known before it is read; it may be less or more
	Changed() error // not nil if the bytes may not have been the same all the time
	Close()
}

// Folder returns the tree of all files under a folder, of scope full.
func Folder(root *worktree.Root) Tree { return &folderTree{root, root, ""} }

// folderIn is [Folder] for one within the work tree of a repository, at the
// path: where submodules are is in its root.
func folderIn(root, repository *worktree.Root, path string) Tree {
	return &folderTree{root, repository, path + "/"}
}

type folderTree struct {
	root, repository *worktree.Root
	within           string // root's path in the repository, with a slash behind it; "" if they are the same
}

// submodules returns the submodules beneath the root. around says that the root is in one, or is one, that is not
// checked out: what else is in it is not known.
func (t *folderTree) submodules(fail func(verdict.Error)) (found modules, around bool) {
	found = modules{}
	for at, m := range submodules(t.repository, func(file string, err error) {
		rel, beneath := strings.CutPrefix(file, t.within)
		if !beneath {
			rel, err = "", fmt.Errorf("%s of the repository that it is in: %s", verdict.Path(file), disk.Cause(err))
		}
		fail(fileError(rel, err))
	}) {
		switch rel, beneath := strings.CutPrefix(at, t.within); {
		case beneath:
			found[rel] = m
		case strings.HasPrefix(t.within, at+"/") && !m.copied && !m.out.Load():
			around = true
		}
	}
	return found, around
}

func (t *folderTree) Scope() verdict.Scope { return verdict.Scope{Mode: "full"} }

func (t *folderTree) walk(ctx context.Context, visitors []visitor) error {
	modules, around := t.submodules(visitors[0].fail)
	var walkers []worktree.Visitor
	for _, v := range visitors {
		o := &diskOpener{root: t.root, repository: t.repository, temporary: v.temporary}
		defer o.closeLooker()
		walkers = append(walkers, worktree.Visitor{
			Skip: v.skip,
			File: func(e worktree.Entry, rd *worktree.Reader) {
				modules.checkedOut(e.Path)
				o.Reader = rd // always the same
				if v.owns(e.Path, uint64(e.Kind)) {
					v.visit(entry{Entry: e}, o)
				}
			},
			Failed:  func(dir string, err error) { v.fail(fileError(dir, err)) },
			Passing: v.temporary,
		})
	}
	if err := t.root.Walk(ctx, walkers...); err != nil {
		return err
	}
	out, missing := modules.places()
	if around {
		missing = append(missing, ".")
	}
	v := visitors[0]
	at := func(paths []string, visit func(entry)) {
		for _, path := range paths {
			if !v.skip(path) && v.owns(path, uint64(worktree.Submodule)) {
				visit(entry{Entry: worktree.Entry{Path: path, Kind: worktree.Submodule}})
			}
		}
	}
	at(out, v.place)
	at(missing, func(e entry) { v.visit(e, nil) })
	return nil
}

type diskOpener struct {
	*worktree.Reader
	root, repository *worktree.Root
	// looker is of look, since the other one keeps a folder open that is being listed; nil: not yet needed.
	looker    *worktree.Reader
	temporary func(path string) bool // nil: none is
}

// errPassed says that a file was another run's, which has put it in its verdict's place.
var errPassed = errors.New("it was another run's, and is gone")

func (o *diskOpener) close() {
	o.Close()
	o.closeLooker()
}

func (o *diskOpener) closeLooker() {
	if o.looker != nil {
		o.looker.Close()
	}
}

func (o *diskOpener) outside(path string) string {
	if o.root.Outside(o.repository, path) {
		return ""
	}
	return outOfTree + ", and perhaps back into the repository"
}

func (o *diskOpener) look(path string) (there, error) {
	if o.looker == nil {
		o.looker = o.root.Reader()
	}
	st, err := o.looker.Stat(path)
	switch {
	case isNoFile(err), errors.Is(err, syscall.ENAMETOOLONG):
		return there{}, nil // a folder, or nothing that could be read under that name
	case err != nil:
		return there{}, err
	case st.Kind != worktree.Symlink:
		return there{file: st.Kind == worktree.Regular}, nil
	}
	target, err := o.looker.Readlink(path)
	return there{link: true, target: target}, err
}

func (o *diskOpener) present(path string) (bool, error) {
	if o.looker == nil {
		o.looker = o.root.Reader()
	}
	st, err := o.looker.Stat(path)
	if isNoFile(err) {
		return false, nil
	}
	return err == nil && st.Kind == worktree.Regular && st.Size > 0, err
}

func (o *diskOpener) open(e entry) (content, error) {
	if e.Kind == worktree.Symlink {
		target, err := o.Readlink(e.Path)
		return inMemory([]byte(target)), err
	}
	f, err := o.Open(e.Path, e.watch)
	if errors.Is(err, worktree.ErrGone) && o.temporary != nil && o.temporary(e.Path) {
		err = errPassed
	}
	if err != nil {
		return nil, err // not f, which as a content would not be nil
	}
	return f, nil
}

// listed returns the tree of the files that a list names, of scope files. Entries
// are paths from the root; "./" and the like is cleaned away, and a file that is
// named twice counts once. What is not a file of the tree is an error of the run.
func listed(root *worktree.Root, entries []string) Tree { return &listTree{root, root, entries} }

// listedIn is [listed] for a root within the work tree of a repository.
func listedIn(root, repository *worktree.Root, entries []string) Tree {
	return &listTree{root, repository, entries}
}

type listTree struct {
	root, repository *worktree.Root
	entries          []string
}

func (t *listTree) Scope() verdict.Scope { return verdict.Scope{Mode: "files"} }

func (t *listTree) walk(ctx context.Context, visitors []visitor) error {
	return share(ctx, visitors, func() opener {
		return &diskOpener{Reader: t.root.Reader(), root: t.root, repository: t.repository}
	}, func(found func(entry)) error {
		return t.list(ctx, visitors[0], found)
	})
}

func (t *listTree) list(ctx context.Context, v visitor, found func(entry)) error {
	rd := t.root.Reader()
	defer rd.Close()
	seen := make(map[string]bool, len(t.entries))
	for _, named := range t.entries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		name, err := cleanEntry(named)
		if err != nil {
			v.fail(verdict.Error{Code: code.FilesFrom, Message: err.Error()})
			continue
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		if !v.owns(name, 0) {
			continue
		}
		st, err := rd.Stat(name)
		if err != nil {
			what := "the list names it, but it " + noFile(named, err)
			v.fail(verdict.Error{Code: code.FilesFrom, File: verdict.Path(name), Message: what})
			continue
		}
		if !v.skip(name) {
			found(entry{Entry: worktree.Entry{Path: name, Kind: st.Kind}})
		}
	}
	return nil
}

// cleanEntry returns the path that an entry of a list means.
func cleanEntry(entry string) (string, error) {
	name := path.Clean(entry)
	switch {
	case entry == "":
		return "", errors.New("the list has an empty entry; one path on each line, or NUL-separated paths")
	case strings.HasPrefix(name, "/"):
		return "", fmt.Errorf("the list names %q, an absolute path; write paths from the root of the tree",
			verdict.Path(entry))
	case name == ".." || strings.HasPrefix(name, "../"):
		return "", fmt.Errorf("the list names %q, a path outside the tree; write paths from the root of the tree",
			verdict.Path(entry))
	}
	return name, nil
}

// noFile says why a listed path is not a file of the tree, and what is often behind it.
func noFile(entry string, err error) string {
	what := "cannot be inspected: " + disk.Cause(err).Error()
	switch {
	case errors.Is(err, worktree.ErrNotFile):
		return "is a folder; name the files in it"
	case errors.Is(err, worktree.ErrPath):
		return err.Error()
	case disk.Absent(err):
		what = "does not exist; paths count from the root of the tree"
	}
	switch {
	case strings.HasSuffix(entry, "\r"):
		what += " (the entry ends in a carriage return: write the list with LF line ends, or NUL-separated)"
	case strings.HasPrefix(entry, `"`) && strings.HasSuffix(entry, `"`):
		what += " (git quotes unusual names unless it is called with -z)"
	}
	return what
}

// CleanPath returns the path, from the root of a tree, that a person means by another spelling of it.
func CleanPath(path string) (string, error) {
	name, err := cleanEntry(path)
	if err != nil || name == "." {
		return "", fmt.Errorf("%q is not the path of a file in the tree; "+
			"name one from its root, such as deploy/main.tf", path)
	}
	return name, nil
}

// Single returns a tree of one file, whose bytes are given, of scope stdin.
func Single(path string, content []byte) (Tree, error) {
	name, err := CleanPath(path)
	if err != nil {
		return nil, err
	}
	return &singleTree{name, content}, nil
}

type singleTree struct {
	path    string
	content []byte
}

func (t *singleTree) Scope() verdict.Scope { return verdict.Scope{Mode: "stdin"} }

func (t *singleTree) close() {}

func (t *singleTree) open(entry) (content, error) { return inMemory(t.content), nil }

func (t *singleTree) look(path string) (there, error) { return there{file: path == t.path}, nil }

func (t *singleTree) present(string) (bool, error) { return false, nil }

func (t *singleTree) outside(string) string { return outOfTree }

func (t *singleTree) walk(_ context.Context, visitors []visitor) error {
	if v := visitors[0]; !v.skip(t.path) && v.owns(t.path, 0) {
		v.visit(entry{Entry: worktree.Entry{Path: t.path}}, t)
	}
	return nil
}

// memory is a content that is at hand.
type memory struct{ *bytes.Reader }

func inMemory(b []byte) content { return memory{bytes.NewReader(b)} }

func (memory) Changed() error { return nil }
func (memory) Close()         {}
