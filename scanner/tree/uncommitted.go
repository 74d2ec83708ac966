package tree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A WorkTree is the files on disk that git tracks, as a commit of all of them would have them. As in git, a file is the
// staged one if it has the size and the times of then, or the content, perhaps with other line ends or in the encoding
// of its attributes. Other contents are read from disk, and no file is read by a filter.
type WorkTree struct {
	// Tracked are the tracked files. A missing one is deleted, unless git has not checked it out.
	Tracked *repo.Index

	repo   *repo.Repository
	root   *worktree.Root
	staged *checkout.Checkout
	mu     sync.Mutex // guards onDisk
	onDisk map[repo.Hash]diskBlob
}

// A diskBlob is a file on disk that is not in git, or the error of reading it.
type diskBlob struct {
	path   string
	status worktree.Status
	err    error
}

// OpenWorkTree reads the files of an index in the work tree of its repository, whose blobs it adds to. It stays open
// with the repository.
func OpenWorkTree(ctx context.Context, r *repo.Repository, dir string, idx *repo.Index) (*WorkTree, func(), error) {
	root, err := worktree.Open(dir)
	if err != nil {
		return nil, nil, worktree.NoRoot(err)
	}
	w := &WorkTree{
		repo: r, root: root, staged: checkout.New(r, checkout.Snapshot{Index: idx}), onDisk: map[repo.Hash]diskBlob{},
	}
	r.AddBlobs(w.open)
	leaves := make([]repo.Leaf, len(idx.Files))
	n := runtime.GOMAXPROCS(0)
	var taken atomic.Int64
	var done sync.WaitGroup
	for range n {
		done.Go(func() {
			rd := root.Reader()
			defer rd.Close()
			for from, to := nextPart(&taken, len(leaves), n); from < to; from, to = nextPart(&taken, len(leaves), n) {
				for i := from; i < to && ctx.Err() == nil; i++ {
					leaves[i] = w.leaf(rd, &idx.Files[i], idx.Written)
				}
			}
		})
	}
	done.Wait()
	files := make([]repo.Staged, 0, len(leaves))
	for i, leaf := range leaves {
		if leaf != (repo.Leaf{}) {
			files = append(files, repo.Staged{Path: idx.Files[i].Path, Leaf: leaf})
		}
	}
	w.Tracked = idx.With(files)
	return w, root.Close, context.Cause(ctx)
}

// With returns the index of the tracked files, and of all others on disk below some directories.
func (w *WorkTree) With(ctx context.Context, dirs []string) (*repo.Index, error) {
	return w.with(ctx, func(path string) bool {
		return !slices.ContainsFunc(dirs, func(dir string) bool {
			return strings.HasPrefix(path+"/", dir+"/") || strings.HasPrefix(dir+"/", path+"/")
		})
	})
}

// WithUntracked returns the index of the tracked files, and of the files that "git add" would add: all on disk that
// git does not ignore, and that are in no other repository.
func (w *WorkTree) WithUntracked(ctx context.Context, root string) (*repo.Index, error) {
	ignored := repo.NewIgnored(root)
	return w.with(ctx, func(path string) bool {
		if leaf, tracked := w.Tracked.Lookup(path); tracked {
			return leaf.Mode == repo.Submodule
		}
		at := filepath.Join(root, filepath.FromSlash(path))
		st, err := os.Lstat(at)
		isDir := err == nil && st.IsDir()
		if isDir {
			if other, err := repo.IsRoot(at); err == nil && other {
				return true
			}
		}
		return ignored.Has(path, isDir)
	})
}

// with returns the index of the tracked files, and of all others on disk that are not skipped.
func (w *WorkTree) with(ctx context.Context, skip func(path string) bool) (*repo.Index, error) {
	files := slices.Clone(w.Tracked.Files)
	rd := w.root.Reader()
	defer rd.Close()
	var failed error
	w.root.Walkers(1)[0].Walk(ctx, worktree.Visitor{
		Skip: func(path string) bool { return IsGitPath(path) || skip(path) },
		File: func(e worktree.Entry, _ *worktree.Reader) {
			if _, tracked := w.Tracked.Lookup(e.Path); tracked {
				return
			}
			if leaf := w.leaf(rd, &repo.Staged{Path: e.Path}, 0); leaf != (repo.Leaf{}) {
				files = append(files, repo.Staged{Path: e.Path, Leaf: leaf})
			}
		},
		Failed:  func(_ string, err error) { failed = err },
		Passing: func(string) bool { return false },
	})
	return w.Tracked.With(files), errors.Join(context.Cause(ctx), failed)
}

// leaf returns a file as it is on disk; the zero Leaf without one. written is when the index was.
func (w *WorkTree) leaf(rd *worktree.Reader, f *repo.Staged, written int64) repo.Leaf {
	st, err := rd.Stat(f.Path)
	switch {
	case f.Mode == repo.Submodule && errors.Is(err, worktree.ErrNotFile):
		return w.submodule(f)
	case isNoFile(err) && f.SkipWorktree:
		return f.Leaf
	case isNoFile(err):
		return repo.Leaf{}
	case err == nil && st.Kind == worktree.Special:
		err = ErrSpecial
	}
	mode := f.Mode
	switch {
	case st.Kind == worktree.Symlink:
		mode = repo.Symlink
	case w.repo.NoSymlinks && mode == repo.Symlink:
	case w.repo.NoExecutables && mode == repo.Executable:
	case st.Executable && !w.repo.NoExecutables:
		mode = repo.Executable
	default:
		mode = repo.File
	}
	if err == nil && mode == f.Mode && st.Mtime == f.Mtime && st.Ctime == f.Ctime && uint32(st.Size) == f.Size &&
		st.Mtime < written && !f.IntentToAdd && !f.Conflict {
		return f.Leaf
	}
	blob := diskBlob{f.Path, st, err}
	var h repo.Hash
	if err == nil {
		var content io.ReadCloser
		var size int64
		if content, size, blob.err = blob.read(rd); blob.err == nil {
			h, blob.err = w.repo.HashBlob(size, content)
			_ = content.Close() // read only: nothing to lose
		}
	}
	switch {
	case blob.err != nil:
		h = noHash(f.Path) // under which [WorkTree.open] finds the error
	case f.IntentToAdd: // the index has the hash of an empty file
	case h == f.Hash, isFile(f.Leaf) && mode != repo.Symlink && w.converted(rd, f, &blob, h):
		return repo.Leaf{Mode: mode, Hash: f.Hash}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onDisk[h] = blob
	return repo.Leaf{Mode: mode, Hash: h}
}

// maxConverted is the size in bytes of a file whose line ends are compared without regard to CR.
const maxConverted = 64 << 20

// converted reports whether a file of a hash is what git writes on disk for a staged one.
func (w *WorkTree) converted(rd *worktree.Reader, f *repo.Staged, b *diskBlob, h repo.Hash) bool {
	if b.status.Size <= maxConverted {
		content, _, err := b.read(rd)
		if err != nil {
			return false
		}
		text, err := io.ReadAll(content)
		_ = content.Close() // read only: nothing to lose
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		if is, _ := w.repo.HashBlob(int64(len(text)), bytes.NewReader(text)); err == nil && is == f.Hash {
			return true
		}
	}
	attributes, err := w.staged.Attributes(f.Path)
	if err != nil {
		return false
	}
	for _, name := range attributes.Encodings {
		encodings, _ := checkout.Encodings(name)
		for _, enc := range encodings {
			blob, err := w.repo.Blob(f.Hash)
			if err != nil {
				return false
			}
			is, err := w.repo.HashBlob(b.status.Size, checkout.NewReader(blob, enc))
			blob.Close()
			if err == nil && is == h {
				return true
			}
		}
	}
	return false
}

// submodule returns the commit that is checked out in a submodule; the staged one without any. One that cannot be read
// has changed.
func (w *WorkTree) submodule(f *repo.Staged) repo.Leaf {
	r, err := repo.At(filepath.Join(w.repo.WorkTree, filepath.FromSlash(f.Path)))
	var head repo.Hash
	if err == nil {
		defer r.Close()
		head, err = r.Commit("HEAD")
	}
	switch {
	case errors.Is(err, repo.ErrNotRepository), errors.Is(err, repo.ErrUnborn):
		return f.Leaf
	case err != nil:
		head = noHash(f.Path)
	}
	return repo.Leaf{Mode: repo.Submodule, Hash: head}
}

// noHash is a hash of no object, for a file that cannot be read.
func noHash(path string) repo.Hash { return sha256.Sum256([]byte("unreadable " + path)) }

// open is for [repo.Repository.AddBlobs].
func (w *WorkTree) open(h repo.Hash) (io.ReadCloser, int64, error) {
	w.mu.Lock()
	b, known := w.onDisk[h]
	w.mu.Unlock()
	if !known {
		return nil, 0, fs.ErrNotExist
	}
	rd := w.root.Reader()
	defer rd.Close()
	return b.read(rd)
}

func (w *WorkTree) has(h repo.Hash) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, found := w.onDisk[h]
	return found
}

// read opens the file; if it is no longer the same, that is [worktree.ErrChanged], then or at the last read.
func (b *diskBlob) read(rd *worktree.Reader) (io.ReadCloser, int64, error) {
	if b.err != nil {
		return nil, 0, b.err
	}
	if b.status.Kind == worktree.Symlink {
		target, err := rd.Readlink(b.path)
		return io.NopCloser(strings.NewReader(target)), int64(len(target)), err
	}
	f, err := rd.Open(b.path, true)
	if err != nil {
		return nil, 0, err
	}
	if st, err := rd.Stat(b.path); err != nil || st != b.status {
		f.Close()
		return nil, 0, worktree.ErrChanged
	}
	return watchedFile{file: f}, b.status.Size, nil
}

// A watchedFile fails at its end if it was written to.
type watchedFile struct{ file *worktree.File }

func (f watchedFile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	if errors.Is(err, io.EOF) {
		if changed := f.file.Changed(); changed != nil {
			return n, changed
		}
	}
	return n, err
}

func (f watchedFile) Close() error {
	f.file.Close()
	return nil
}

// Uncommitted returns the tree of what a work tree has added, modified or renamed since the merge bases of a
// comparison, of scope diff. The comparison is with HEAD, and what is being merged into it.
func Uncommitted(w *WorkTree, c repo.Comparison, base string) Tree {
	t := changesOf(w.repo, c, base, verdict.Uncommitted)
	t.scope.HeadCommit, t.scope.HeadDate, t.empty = "", "", nil
	t.head = func() (*Snapshot, error) {
		s := t.snapshot(checkout.Snapshot{Index: w.Tracked})
		s.workTree = w
		return s, nil
	}
	return t
}
