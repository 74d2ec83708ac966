package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/reuse"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
)

type reuseFlag struct {
	Reuse string `placeholder:"DIR" help:"@reuse"`
}

// open opens the directory; nil without the flag. See closeReuse.
func (f *reuseFlag) open() (*check.Reuse, error) {
	if f.Reuse == "" {
		return nil, nil
	}
	if err := f.checkPrivateDir(); err != nil {
		return nil, err
	}
	program, err := programSum()
	if err != nil {
		return nil, fmt.Errorf("--reuse: the program's own file cannot be read: %w", disk.Cause(err))
	}
	store, err := reuse.Open(f.Reuse)
	if err != nil {
		return nil, fmt.Errorf("--reuse: %s cannot be used: %w", verdict.Visible(f.Reuse), disk.Cause(err))
	}
	return &check.Reuse{Store: store, Program: program}, nil
}

// checkPrivateDir fails if a change could bring results into the directory, or choose the directory.
func (f *reuseFlag) checkPrivateDir() error {
	environment := gitEnvironment()
	name := filepath.Clean(f.Reuse) + string(filepath.Separator)
	err := output.Tracks(environment.Tracks).ThroughLink("directory", name)
	if err != nil {
		return fmt.Errorf("--reuse: %w", err)
	}
	switch tracked, err := environment.TracksIn(f.Reuse); {
	case err != nil:
		return fmt.Errorf("--reuse: cannot determine whether git tracks files in %s: %w", verdict.Visible(f.Reuse), err)
	case tracked:
		return fmt.Errorf("--reuse: git tracks files in %s, so a change could add results; choose another directory",
			verdict.Visible(f.Reuse))
	}
	return nil
}

func closeReuse(r *check.Reuse) {
	if r != nil {
		_ = r.Store.Close() // nothing was written through the directory itself
	}
}

// notesOnReuse tells how much of a scan came from the cache; nothing without the flag.
func notesOnReuse(r *check.Reuse) []string {
	if r == nil {
		return nil
	}
	reused, again, read := r.Counts()
	notes := []string{fmt.Sprintf("--reuse: %s files from the cache (%s rechecked, all equal), %s bytes read",
		grouped(int(reused)), grouped(int(again)), grouped(int(read)))}
	if err := r.Store.Failed(); err != nil {
		notes = append(notes, fmt.Sprintf("--reuse: %v", disk.Cause(err)))
	}
	return notes
}

// programSum returns the hash of this program's file: a version alone does not identify a build from changed sources.
func programSum() (sum [sha256.Size]byte, err error) {
	name, err := os.Executable()
	if err != nil {
		return sum, err
	}
	f, err := os.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
