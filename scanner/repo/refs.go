package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A ref is a name for an object, as the repository stores it.
type ref struct {
	name string // such as "HEAD" or "refs/heads/main"
	hash Hash
}

// errNoRef says that there is no ref of a name.
var errNoRef = errors.New("no such ref")

// maxSymrefs is how many symbolic refs may lead to one another; git follows five.
const maxSymrefs = 5

// ref returns the ref of a full name. A symbolic ref is followed. An unborn branch
// is errNoRef.
func (r *Repository) ref(name string) (ref, error) {
	at := name
	for range maxSymrefs + 1 {
		text, err := r.looseRef(at)
		if errors.Is(err, errNoRef) {
			h, ok, err := r.packedRef(at)
			if err != nil {
				return ref{}, err
			}
			if !ok {
				return ref{}, errNoRef
			}
			return ref{name, h}, nil
		}
		if err != nil {
			return ref{}, err
		}
		target, symbolic := strings.CutPrefix(text, "ref:")
		if !symbolic {
			if !plumbing.IsHash(text) {
				return ref{}, fmt.Errorf("the ref %s holds %q, which is no hash", at, clip(text))
			}
			return ref{name, plumbing.NewHash(text)}, nil
		}
		if at = strings.TrimSpace(target); !strings.HasPrefix(at, "refs/") || !validRef(at) {
			return ref{}, fmt.Errorf("the symbolic ref %s leads to %q, which is no ref", name, clip(at))
		}
	}
	return ref{}, fmt.Errorf("the symbolic ref %s leads to itself, or through more than %d others", name, maxSymrefs)
}

// looseRef returns the text of a ref that has a file of its own.
func (r *Repository) looseRef(name string) (string, error) {
	dir := r.commonDir
	if name == "HEAD" || strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/bisect/") {
		dir = r.gitDir
	}
	file := filepath.Join(dir, filepath.FromSlash(name))
	if target, err := os.Readlink(file); err == nil { // as git wrote symbolic refs long ago
		return "ref: " + target, nil
	}
	text, err := readSmall(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), notFolder(err):
		return "", errNoRef
	case err != nil:
		if isFolder(file) {
			return "", errNoRef // other refs begin so
		}
		return "", fmt.Errorf("the ref %s cannot be read: %w", name, err)
	}
	return strings.TrimRight(string(text), " \t\r\n"), nil
}

// packedRef looks a ref up in packed-refs, which is read once.
func (r *Repository) packedRef(name string) (Hash, bool, error) {
	r.packedOnce.Do(func() { r.packed, r.packedErr = readPackedRefs(filepath.Join(r.commonDir, "packed-refs")) })
	h, ok := r.packed[name]
	return h, ok, r.packedErr
}

func readPackedRefs(file string) (map[string]Hash, error) {
	text, err := readSmall(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("packed-refs cannot be read: %w", err)
	}
	refs := map[string]Hash{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' || line[0] == '^' { // a header; what a tag leads to
			continue
		}
		hash, name, ok := strings.Cut(line, " ")
		if !ok || !plumbing.IsHash(hash) || !validRef(name) {
			return nil, fmt.Errorf("packed-refs holds %q, which is no ref", clip(line))
		}
		refs[name] = plumbing.NewHash(hash)
	}
	return refs, nil
}

// validRef reports whether a name may be a ref's (git-check-ref-format(1)). What may
// not be one never reaches the file system.
func validRef(name string) bool {
	if name == "HEAD" {
		return true
	}
	if name == "" || strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") || name == "@" {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f || strings.ContainsRune(" ~^:?*[\\", c) })
}

// clip shortens a text for a message.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}
