package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/internal/disk"
)

var errNoRef = errors.New("no such ref")

// maxRefs is the length of a chain of symbolic refs, as in git.
const maxRefs = 5

// ref returns the object of a ref by its full name, such as HEAD or refs/heads/main. A symbolic ref is followed; one
// to an unborn branch is errNoRef.
func (r *Repository) ref(name string) (Hash, error) {
	at := name
	for range maxRefs {
		text, err := r.looseRef(at)
		if errors.Is(err, errNoRef) {
			return r.packedRef(at)
		}
		if err != nil {
			return Hash{}, err
		}
		h, target, err := r.objects.format.parseRef(text)
		if err != nil {
			return Hash{}, fmt.Errorf("the ref %s %w", at, err)
		}
		if target == "" {
			return h, nil
		}
		at = target
	}
	return Hash{}, fmt.Errorf("the symbolic ref %s leads to itself, or through too many others", name)
}

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
	case err != nil && (disk.Absent(err) || isDir(file)): // a directory of other refs
		return "", errNoRef
	case err != nil:
		return "", fmt.Errorf("the ref %s cannot be read: %w", name, err)
	}
	return text, nil
}

// parseRef reads the content of a ref's file: a hash, or the target of a symbolic ref.
func (f format) parseRef(text string) (h Hash, target string, err error) {
	text = strings.TrimRight(text, " \t\r\n")
	target, symbolic := strings.CutPrefix(text, "ref:")
	if !symbolic {
		if h, err = f.parse(text); err != nil {
			err = fmt.Errorf("contains %w", err)
		}
		return h, "", err
	}
	// git treats no other characters as spaces, so a branch can end in U+00A0.
	if target = strings.TrimLeft(target, " \t\r\n"); !strings.HasPrefix(target, "refs/") || !validRef(target) {
		return h, "", fmt.Errorf("leads to %q, which is not a ref", clip(target))
	}
	return h, target, nil
}

// packedRef looks a ref up in packed-refs, which is read once. After a header, the file has a line for each ref, its
// hash and its name; a line that begins with ^ is the target of a tag. The text is searched unparsed, as a repository
// can have tens of thousands of refs.
func (r *Repository) packedRef(name string) (Hash, error) {
	r.packedOnce.Do(func() {
		r.packed, r.packedErr = mapped(filepath.Join(r.commonDir, "packed-refs"))
		switch {
		case errors.Is(r.packedErr, fs.ErrNotExist):
			r.packedErr = nil
		case r.packedErr != nil:
			r.packedErr = fmt.Errorf("packed-refs cannot be read: %w", r.packedErr)
		case len(r.packed) > 0 && r.packed[len(r.packed)-1] != '\n':
			r.packedErr = errors.New("packed-refs ends within a line; run git pack-refs --all")
		}
	})
	if r.packedErr != nil {
		return Hash{}, r.packedErr
	}
	h, found, err := r.objects.format.findRef(r.packed, name)
	if err == nil && !found {
		err = errNoRef
	}
	return h, err
}

// findRef looks a ref up in the text of packed-refs. If the header declares the names sorted, as git has written it
// since 2013, it is a binary search: the file can have megabytes.
func (f format) findRef(text []byte, name string) (h Hash, is bool, err error) {
	want := []byte(" " + name + "\n")
	rest := text
	header, lines, _ := bytes.Cut(text, []byte("\n"))
	if traits, is := strings.CutPrefix(string(header), "# pack-refs with:"); is &&
		slices.Contains(strings.Fields(traits), "sorted") {
		rest = inOrder(lines, want)
	}
	for {
		i := bytes.Index(rest, want)
		if i < 0 {
			return h, is, nil
		}
		line := rest[:i]
		if k := bytes.LastIndexByte(line, '\n'); k >= 0 {
			line = line[k+1:]
		}
		if h, err = f.parse(string(line)); err != nil || is {
			return Hash{}, false, fmt.Errorf("packed-refs has %q for %s, or has it twice", clip(string(line)), name)
		}
		is = true
		rest = rest[i+len(want)-1:]
	}
}

// inOrder returns the lines of one name and its tag's target from sorted lines.
func inOrder(lines, want []byte) []byte {
	// first returns the start of the first line whose name is not below the wanted one, or is above it.
	first := func(above bool) int {
		low, high := 0, len(lines)
		for low < high {
			at := low + (high-low)/2
			for at > low && (lines[at-1] != '\n' || lines[at] == '^') {
				at--
			}
			end := at + bytes.IndexByte(lines[at:high], '\n') + 1
			name := lines[at:end]
			for end < high && lines[end] == '^' {
				end += bytes.IndexByte(lines[end:high], '\n') + 1
			}
			if i := bytes.IndexByte(name, ' '); i >= 0 {
				name = name[i:]
			}
			if c := bytes.Compare(name, want); c < 0 || c == 0 && above {
				low = end
			} else {
				high = at
			}
		}
		return low
	}
	return lines[first(false):first(true)]
}

// validRef reports whether a name may be a ref's (git-check-ref-format(1)). Other names never reach the file system.
func validRef(name string) bool {
	if name == "HEAD" {
		return true
	}
	if name == "" || strings.HasSuffix(name, ".") || strings.Contains(name, "..") ||
		strings.Contains(name, "@{") || name == "@" {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name,
		func(c rune) bool { return c < ' ' || c == 0x7f || strings.ContainsRune(" ~^:?*[\\", c) })
}

// clip cuts a text that is too long for a message, after a character.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	end := most
	for end > most-utf8.UTFMax+1 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
