package allowance

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// MaxCompared is the largest size in bytes of a file that is compared with others.
const MaxCompared = 32 << 20

// A History is the files' contents in a commit, and now: on disk, or in a later commit. Paths are as in the verdict.
type History struct {
	repo   *repo.Repository // nil: nothing is known
	finder *repo.Finder
	before []repo.Hash // the trees of rev and of the commits that the change starts from
	within string      // from the root of the repository to that of the scan: "", or a path that ends in /
	root   *worktree.Root
	reader *worktree.Reader
	now    repo.Hash // the tree of the later commit; zero: the disk
	note   string    // what was not searched, and why
}

// OpenHistory returns the history of rev since a commit; the rev "" is HEAD, compared with the disk. It fails in a
// sparse checkout, and if the commit cannot be related to rev.
func OpenHistory(git repo.Environment, root, rev, base string) (*History, error) {
	p := &History{}
	r, err := git.Open(root)
	switch {
	case errors.Is(err, repo.ErrNotRepository) && base == "":
		p.note = "there is no git repository here, so renames were not looked for"
		return p, nil
	case err != nil:
		return nil, err
	case r.WorkTree == "":
		return nil, errors.New("a bare repository has no files; run this in a work tree of it")
	}
	if err := p.place(r.WorkTree, root); err != nil {
		return nil, err
	}
	if rev == "" {
		if err := p.refuseSparse(r); err != nil {
			return nil, err
		}
	}
	head, err := r.Commit(cmp.Or(rev, "HEAD"))
	if errors.Is(err, repo.ErrUnborn) && base == "" {
		p.note = "there is no commit yet, so renames were not looked for"
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	since, err := began(r, head, cmp.Or(rev, "HEAD"), base)
	if err != nil {
		return nil, err
	}
	for _, commit := range append([]repo.Hash{head}, since...) {
		tree, err := r.Tree(commit)
		if err != nil {
			return nil, err
		}
		p.before = append(p.before, tree)
	}
	p.repo, p.finder = r, r.Finder()
	if rev != "" {
		p.now = p.before[0]
		return p, nil
	}
	if p.root, err = worktree.Open(root); err != nil {
		return nil, worktree.NoRoot(err)
	}
	p.reader = p.root.Reader()
	return p, nil
}

// Close closes the open directory.
func (p *History) Close() {
	if p.root != nil {
		p.reader.Close()
		p.root.Close()
	}
}

// place finds the scan's root in the repository.
func (p *History) place(workTree, root string) error {
	real, err := disk.Real(root)
	if err != nil {
		return worktree.NoRoot(err)
	}
	path, in, err := worktree.PathIn(workTree, filepath.Join(real, "x"))
	if err == nil && !in {
		err = fmt.Errorf("the directory to scan is not in the work tree %s", workTree)
	}
	p.within = strings.TrimSuffix(path, "x")
	return err
}

// refuseSparse returns an error if a file of the scan is not checked out: it would look empty.
func (p *History) refuseSparse(r *repo.Repository) error {
	idx, err := r.Index()
	if err != nil {
		return err
	}
	for _, f := range idx.Files {
		if !f.SkipWorktree || !strings.HasPrefix(f.Path, p.within) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(r.WorkTree, filepath.FromSlash(f.Path))); err != nil {
			return fmt.Errorf("the checkout is sparse, and %q is not in it, so what is there cannot be counted; "+
				"run this in a full checkout (git sparse-checkout disable)", f.Path)
		}
	}
	return nil
}

// began returns where head, for display called name, left a commit's history, or the default branch's if base is "".
func began(r *repo.Repository, head repo.Hash, name, base string) ([]repo.Hash, error) {
	from, err := base, error(nil)
	if base == "" {
		if from, err = defaultBranch(r); err != nil || from == "" {
			return []repo.Hash{head}, err
		}
	}
	commit, err := r.Commit(from)
	if err != nil {
		return nil, err
	}
	related, err := r.Relate(commit, head)
	switch {
	case errors.Is(err, repo.ErrNoMergeBase) && base == "":
		return []repo.Hash{head}, nil
	case err != nil && base == "":
		return nil, fmt.Errorf("cannot determine where %s left the default branch: %w; "+
			"name the commit that it is compared with by --base, such as --base %s", name, err, name)
	}
	return related.MergeBases, err
}

// defaultBranch returns the default branch, if the clone shows it: the remote's HEAD, or main or master, if only one
// of them exists; else "".
func defaultBranch(r *repo.Repository) (string, error) {
	for _, names := range [][]string{
		{"refs/remotes/origin/HEAD"},
		{"refs/remotes/origin/main", "refs/remotes/origin/master"},
		{"refs/heads/main", "refs/heads/master"},
	} {
		var found []string
		for _, name := range names {
			switch _, err := r.Ref(name); {
			case err == nil:
				found = append(found, name)
			case !errors.Is(err, repo.ErrUnknown):
				return "", err
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	return "", nil
}

// gone reports whether a path does not exist now.
func (p *History) gone(file string) bool {
	if p.repo == nil {
		return false
	}
	if !p.now.IsZero() {
		leaf, found, err := p.finder.Lookup(p.now, p.within+verdict.RawPath(file))
		return err == nil && (!found || !leaf.Mode.IsLeaf())
	}
	_, err := p.reader.Stat(verdict.RawPath(file))
	return disk.Absent(err) || errors.Is(err, worktree.ErrNotFile) || errors.Is(err, worktree.ErrPath)
}

// isNew reports whether a file was missing in one of the commits.
func (p *History) isNew(file string) (bool, error) {
	for _, tree := range p.before {
		if _, found, err := p.finder.Lookup(tree, p.within+verdict.RawPath(file)); !found || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// contentBefore returns the earlier content of the first of some files that is in a commit; "" if it cannot be
// compared.
func (p *History) contentBefore(files []string) (string, error) {
	for _, file := range files {
		for _, tree := range p.before {
			if content, err := p.contentIn(tree, file); content != "" || err != nil {
				return content, err
			}
		}
	}
	return "", nil
}

// contentIn returns the content of a file in a tree; "" if it cannot be compared.
func (p *History) contentIn(tree repo.Hash, file string) (string, error) {
	leaf, found, err := p.finder.Lookup(tree, p.within+verdict.RawPath(file))
	if err != nil || !found || leaf.Mode != repo.File && leaf.Mode != repo.Executable {
		return "", err
	}
	b, err := p.repo.Blob(leaf.Hash)
	if err != nil {
		return "", err
	}
	defer b.Close()
	return plain(b, b.Size())
}

// contentNow returns the current content of a file; "" if it cannot be compared.
func (p *History) contentNow(file string) string {
	if !p.now.IsZero() {
		content, _ := p.contentIn(p.now, file) // the scan has read it
		return content
	}
	f, err := p.reader.Open(verdict.RawPath(file), true)
	if err != nil {
		return ""
	}
	defer f.Close()
	content, _ := plain(f, f.Size())
	return content
}

// plain returns a content with LF for CRLF, which git may have written on checkout; "" for one that is too long.
func plain(r io.Reader, size int64) (string, error) {
	if size > MaxCompared {
		return "", nil
	}
	content, err := io.ReadAll(io.LimitReader(r, MaxCompared))
	return strings.ReplaceAll(string(content), "\r\n", "\n"), err
}
