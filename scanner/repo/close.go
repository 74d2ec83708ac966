package repo

import (
	"fmt"

	"github.com/policyscan/policyscan/internal/disk"
)

// At returns the repository that a folder is: a work tree's root, or a bare repository. Unlike by [Find], the folders
// above it are not searched: a folder that is named as a repository, and is none, is an error and not the repository
// around it. What is in the folder is all that decides, so a bare repository may be within a work tree.
func At(dir string) (*Repository, error) {
	dir, err := disk.Real(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: the folder cannot be opened: %v", ErrNotRepository, disk.Cause(err))
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
	return nil, fmt.Errorf("%w: the folder has no .git and is not a bare repository", ErrNotRepository)
}

// Close lets go of the files that were opened, where a program opens many repositories. Nothing that was read from the
// repository may be used, and no goroutine may read from it, from then on: the indexes of packs are unmapped.
func (r *Repository) Close() {
	for _, f := range r.objects.folders {
		for _, p := range f.packs {
			p.close()
		}
	}
	r.packedOnce.Do(func() {})
	unmap(r.packed)
	r.packed = nil
}

func (p *pack) close() {
	p.once.Do(func() {})
	if p.file != nil {
		_ = p.file.Close() // read only: nothing to lose
	}
	unmap(p.idx)
	p.idx, p.file, p.err = nil, nil, fmt.Errorf("%s.pack was closed", p.stem)
}
