// Package repo reads git repositories: commits, trees, blobs and the index, from git's files only. It runs no program,
// uses no network, writes nothing and executes nothing that a repository configures.
//
// Anything missing is an error, never an empty answer: a missing, truncated or unreadable object, content with another
// hash, a malformed tree, the boundary of a shallow clone. Objects are looked up in place: in loose files, and in packs
// of any name by their indexes of version 2, here and in the alternates. Deltas are applied within a bound.
//
// Objects are named by SHA-1 or SHA-256, and refs are in files or in reftables, as the config says. Replace refs and
// grafts are ignored. Repositories with an unknown extension are refused ([ErrFormat]).
package repo

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/internal/disk"

	"github.com/go-git/go-git/v5/plumbing"
)

// Errors of a repository as a whole.
var (
	ErrNotRepository = errors.New("not a git repository")
	ErrFormat        = errors.New("a repository format that policyscan cannot read")
)

// A Repository is a git repository, open for reading. It may be used by several goroutines at once.
type Repository struct {
	WorkTree string // its directory; "" for a bare repository
	// The config says that the work tree's files lack the executable bit, or that symlinks there are files with the
	// target as content.
	NoExecutables, NoSymlinks bool
	// Stopped returns why no further commit is read: searches of the history can be long. May be nil.
	Stopped func() error

	gitDir    string // HEAD and the index of this work tree
	commonDir string // refs and objects; differs from gitDir in a linked work tree
	objects   objects
	trees     cache[Hash, []byte]
	emptyTree Hash          // which git has built in, and may not have written
	shallow   map[Hash]bool // commits at which history ends
	merging   []string      // of the Environment that it was opened by

	past        history
	beforeGraph int // how many commits a search reads before it opens the commit-graph

	refs refs
}

// Find returns the repository around a directory, whose path has no symlinks: the nearest directory with a .git,
// itself included. A bare repository is found only outside of work trees: inside of one it consists of files, which a
// change could add.
func Find(dir string) (*Repository, error) {
	bare := ""
	for at := range disk.Upwards(dir) {
		gitDir, err := gitDirOf(at)
		switch {
		case err != nil:
			return nil, err
		case gitDir != "":
			return open(gitDir, at)
		case bare == "" && LooksBare(at):
			bare = at
		}
	}
	if bare != "" {
		return open(bare, "")
	}
	return nil, fmt.Errorf("%w: neither this directory nor one above it has a .git", ErrNotRepository)
}

// BareAround returns the bare repository that is or contains a directory, whose path has no symlinks, if [Find] treats
// it as files of the work tree of r.
func (r *Repository) BareAround(dir string) (bare string, found bool) {
	for at := range disk.Upwards(dir) {
		if gitDir, err := gitDirOf(at); err != nil || gitDir != "" || disk.Same(at, r.gitDir) {
			break
		}
		if LooksBare(at) {
			return at, true
		}
	}
	return "", false
}

// At returns the repository at a directory: a work tree's root, or a bare repository. Unlike [Find], it does not
// search the directories above: a directory that is not a repository is an error. Only the content of the directory
// counts, so a bare repository may be within a work tree.
func At(dir string) (*Repository, error) {
	dir, err := disk.Real(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: the directory cannot be opened: %v", ErrNotRepository, disk.Cause(err))
	}
	gitDir, err := gitDirOf(dir)
	switch {
	case err != nil:
		return nil, err
	case gitDir != "":
		return open(gitDir, dir)
	case LooksBare(dir):
		return open(dir, "")
	}
	return nil, fmt.Errorf("%w: the directory has no .git and is not a bare repository", ErrNotRepository)
}

// openNamed returns the repository with a git directory, as in GIT_DIR, and a work tree, as in GIT_WORK_TREE; without
// one, it is the config's, or the current directory.
func openNamed(gitDir, workTree string) (*Repository, error) {
	gitDir, err := filepath.Abs(gitDir)
	if err != nil {
		return nil, err
	}
	if !isDir(gitDir) {
		if gitDir, err = gitFile(gitDir); err != nil {
			return nil, fmt.Errorf("%w: GIT_DIR: %v", ErrNotRepository, err)
		}
	}
	if workTree == "" {
		return open(gitDir, ".")
	}
	r, err := open(gitDir, "")
	if err == nil {
		r.WorkTree = workTree
	}
	return r, err
}

// gitDirOf returns the git directory of the work tree dir: its .git directory, or the target of its .git file; "" if
// dir is not a work tree.
func gitDirOf(dir string) (string, error) {
	dot := filepath.Join(dir, ".git")
	st, err := os.Stat(dot)
	switch {
	case disk.Absent(err):
		return "", nil
	case err != nil:
		return "", err
	case st.IsDir():
		return dot, nil
	}
	return gitFile(dot)
}

func gitFile(dot string) (string, error) {
	text, err := readSmall(dot)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "gitdir: ")
	if !ok || target == "" {
		return "", fmt.Errorf("%w: %s is a file, but names no git directory", ErrNotRepository, dot)
	}
	return disk.Under(filepath.Dir(dot), target), nil
}

// LooksBare reports whether a directory is a bare repository or a .git.
func LooksBare(dir string) bool {
	return isDir(filepath.Join(dir, "objects")) && isDir(filepath.Join(dir, "refs")) &&
		!isDir(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "HEAD"))
}

func open(gitDir, workTree string) (*Repository, error) {
	r := &Repository{WorkTree: workTree, gitDir: gitDir, beforeGraph: beforeGraph, shallow: map[Hash]bool{}}
	r.past.repo, r.trees.limit, r.objects.bases.limit = r, maxTrees, maxBases
	if err := r.findCommon(); err != nil {
		return nil, err
	}
	if !exists(filepath.Join(gitDir, "HEAD")) {
		return nil, fmt.Errorf("%w: %s has no HEAD", ErrNotRepository, gitDir)
	}
	cfg, err := readSettings(filepath.Join(r.commonDir, "config"))
	if err != nil {
		return nil, err
	}
	if r.objects.format, err = formatOf(cfg); err != nil {
		return nil, err
	}
	if err := r.findRefs(cfg); err != nil {
		return nil, err
	}
	r.emptyTree = sumHash(r.objects.format.sum(plumbing.TreeObject, 0))
	if err := r.place(cfg); err != nil {
		return nil, err
	}
	r.NoExecutables, r.NoSymlinks = cfg.no("core.filemode") || runtime.GOOS == "windows", cfg.no("core.symlinks")
	if r.objects.dirs, err = r.objects.open(filepath.Join(r.commonDir, "objects")); err != nil {
		return nil, err
	}
	if err := r.quarantine(); err != nil {
		return nil, err
	}
	ends, err := r.objects.format.readHashes(filepath.Join(r.commonDir, "shallow"))
	for _, h := range ends {
		r.shallow[h] = true
	}
	return r, err
}

// quarantine adds the directory in which git keeps pushed objects during a pre-receive hook. git tells the hook this
// directory and its repository.
func (r *Repository) quarantine() error {
	if os.Getenv("GIT_QUARANTINE_PATH") == "" || os.Getenv("GIT_DIR") == "" {
		return nil
	}
	return r.AddPushed()
}

// AddPushed adds the directories of objects that git's variables name: in a pre-receive hook those of the push. Servers
// that run the hook themselves, such as GitLab, do not set GIT_QUARANTINE_PATH. Like git it omits alternates that do
// not exist: an object that is only there is missing then.
func (r *Repository) AddPushed() error {
	dirs := filepath.SplitList(os.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"))
	for i, dir := range append([]string{os.Getenv("GIT_OBJECT_DIRECTORY")}, dirs...) {
		known := func(d *objectDir) bool { return disk.Same(d.dir, dir) }
		if dir == "" || slices.ContainsFunc(r.objects.dirs, known) {
			continue
		}
		more, err := r.objects.open(dir)
		if err != nil && i == 0 {
			return err
		}
		r.objects.dirs = append(r.objects.dirs, more...)
	}
	return nil
}

// findCommon finds the directory that linked work trees share.
func (r *Repository) findCommon() error {
	text, err := readSmall(filepath.Join(r.gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		r.commonDir = r.gitDir
		return nil
	}
	r.commonDir = disk.Under(r.gitDir, strings.TrimRight(text, "\r\n"))
	return err
}

// extensions are known, and most have no effect on this package. With compatObjectFormat, objects have a second name,
// which only other repositories use.
var extensions = map[string]bool{
	"noop": true, "noop-v1": true, "preciousobjects": true, "partialclone": true,
	"worktreeconfig": true, "relativeworktrees": true, "compatobjectformat": true,
	"refstorage": true, // see findRefs
}

// formatOf returns the format of the objects. It refuses a config with a storage format that is unknown here.
func formatOf(cfg settings) (format, error) {
	f, isSHA256 := formatSHA1, strings.EqualFold(cfg.last("extensions.objectformat"), formatSHA256.setting())
	if isSHA256 {
		f = formatSHA256
	}
	version := cmp.Or(cfg.last("core.repositoryformatversion"), "0")
	if version != "0" && version != "1" {
		return f, fmt.Errorf("%w: core.repositoryFormatVersion is %q", ErrFormat, clip(version))
	}
	for _, full := range slices.Sorted(maps.Keys(cfg)) {
		name, ok := strings.CutPrefix(full, "extensions.")
		if !ok {
			continue
		}
		value := cfg.last(full)
		switch {
		case extensions[name]:
		case name == "objectformat" && (isSHA256 && version == "1" || strings.EqualFold(value, formatSHA1.setting())):
		case name == "objectformat" && isSHA256:
			return f, fmt.Errorf("%w: extensions.objectFormat is %s, but core.repositoryFormatVersion is not 1; "+
				"run git config core.repositoryFormatVersion 1", ErrFormat, value)
		case name == "objectformat":
			return f, fmt.Errorf("%w: its objects are named by %s, not SHA-1 or SHA-256; a full scan needs no git",
				ErrFormat, clip(value))
		case version == "1":
			return f, fmt.Errorf("%w: the extension %q; a full scan needs no git", ErrFormat, clip(name))
		}
	}
	return f, nil
}

// place finds the work tree by the config: core.worktree names another directory than that of the .git, and a bare
// repository has none. A linked work tree is already found.
func (r *Repository) place(cfg settings) error {
	if r.commonDir != r.gitDir {
		return nil
	}
	if cfg.yes("extensions.worktreeconfig") {
		own, err := readSettings(filepath.Join(r.gitDir, "config.worktree"))
		if err != nil {
			return err
		}
		for name, values := range own { // they override
			cfg[name] = append(cfg[name], values...)
		}
	}
	workTree := cfg.last("core.worktree")
	switch {
	case workTree != "":
		r.WorkTree = disk.Under(r.gitDir, workTree)
		switch st, err := os.Stat(r.WorkTree); {
		case err != nil && !disk.Absent(err):
			return err
		case err != nil || !st.IsDir(): // another machine's; the commits are here
			r.WorkTree = ""
		}
	case cfg.yes("core.bare"):
		r.WorkTree = ""
	}
	return nil
}

// readHashes returns the hashes of a file, one on each line; nil if the file is missing.
func (f format) readHashes(file string) ([]Hash, error) {
	text, err := readSmall(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Hash
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		h, err := f.parse(line)
		if err != nil {
			return nil, fmt.Errorf("%s contains %w", filepath.Base(file), err)
		}
		all = append(all, h)
	}
	return all, err
}

// Shallow reports whether the clone is shallow: its history ends before the first commit.
func (r *Repository) Shallow() bool { return len(r.shallow) > 0 }

// Tree returns the tree of a commit.
func (r *Repository) Tree(commit Hash) (Hash, error) {
	c, err := r.commit(commit)
	if err != nil {
		return Hash{}, err
	}
	return c.tree, nil
}

// Date returns the committer's date of a commit, as in RFC 3339, in UTC; "" if it is not a date of that format.
func (r *Repository) Date(commit Hash) (string, error) {
	c, err := r.commit(commit)
	if err != nil || c.date <= 0 || c.date > maxDate {
		return "", err
	}
	return time.Unix(c.date, 0).UTC().Format(time.RFC3339), nil
}

// Parents returns the parents of a commit. In a shallow clone they may be missing.
func (r *Repository) Parents(commit Hash) ([]Hash, error) {
	c, err := r.commit(commit)
	if err != nil {
		return nil, err
	}
	return c.parents, nil
}

// Close closes the files, for programs that open many repositories. Afterwards nothing read from the repository may be
// used, and no goroutine may read from it: the indexes of packs are unmapped.
func (r *Repository) Close() {
	for _, f := range r.objects.dirs {
		for _, p := range f.packs {
			p.close()
		}
	}
	r.refs.close()
}

func isDir(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
