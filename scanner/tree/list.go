package tree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// List returns the tree of the files of a list, of scope files. Entries are paths from the root; "./" and the like are
// cleaned, and a repeated file counts once. An entry that is not a file of the tree is an error of the run.
func List(root *worktree.Root, entries []string) Tree {
	return &listTree{"files", diskRoots{root, root, ""}, entries}
}

type listTree struct {
	diskScope
	diskRoots
	entries []string
}

func (t *listTree) Files(ctx context.Context, n int, q Query) []iter.Seq2[File, error] {
	return Batches(ctx, n, func() (Source, func()) {
		s := &diskSource{root: t.root, repository: t.repository, files: t.root.Reader()}
		return s, s.close
	}, func(found func(File, error)) { t.list(ctx, &q, found) })
}

func (t *listTree) list(ctx context.Context, q *Query, found func(File, error)) {
	rd := t.root.Reader()
	defer rd.Close()
	fail := func(f File, message string) {
		found(f, &verdict.Error{Code: code.FilesFrom, File: verdict.Path(f.Path), Message: message})
	}
	seen := make(map[string]bool, len(t.entries))
	for _, named := range t.entries {
		if ctx.Err() != nil {
			return
		}
		name, err := cleanEntry(named)
		if err != nil {
			fail(File{}, err.Error())
			continue
		}
		if link := linkBeforeParent(rd, named); link != "" {
			fail(File{Path: name}, fmt.Sprintf("the list names %q, which goes back (..) over the link %q; "+
				"write it without ..", verdict.Path(named), verdict.Path(link)))
			continue
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		if q.elsewhere(name) {
			found(File{Path: name, State: Elsewhere}, nil)
			continue
		}
		f, out := q.leftOut(name)
		f.Named = true
		st, err := rd.Stat(name)
		switch {
		case err != nil:
			fail(f, "the list names it, but it "+noFile(named, err))
		case out:
			found(f, nil)
		case q.LeadsTo(name):
			found(File{Path: name, Kind: st.Kind}, nil)
		}
	}
}

// linkBeforeParent returns the first link of an entry that a ".." follows, so that the text does not say where it
// leads; "" without one.
func linkBeforeParent(rd *worktree.Reader, entry string) string {
	parts := strings.Split(entry, "/")
	for i, part := range parts {
		before := path.Join(parts[:i]...)
		if part != ".." || before == "" || before == "." {
			continue
		}
		if st, err := rd.Stat(before); err == nil && st.Kind == worktree.Symlink {
			return before
		}
	}
	return ""
}

func cleanEntry(entry string) (string, error) {
	name := path.Clean(entry)
	switch {
	case entry == "":
		return "", errors.New("the list has an empty entry; one path on each line, or NUL-separated paths")
	case name == ".." || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/") || filepath.IsAbs(entry):
		return "", fmt.Errorf("the list names %q, a path outside the tree; write paths from the root of the tree",
			verdict.Path(entry))
	}
	return name, nil
}

// noFile returns why a listed path is not a file of the tree, with the common causes.
func noFile(entry string, err error) string {
	what := "cannot be inspected: " + disk.Cause(err).Error()
	switch {
	case errors.Is(err, worktree.ErrNotFile):
		return "is a directory; name the files in it"
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

// CleanPath returns the path from the root of a tree for another spelling of it.
func CleanPath(path string) (string, error) {
	name, err := cleanEntry(path)
	if err != nil || name == "." {
		return "", fmt.Errorf("%q is not the path of a file in the tree; "+
			"name one from its root, such as deploy/main.tf", path)
	}
	return name, nil
}
