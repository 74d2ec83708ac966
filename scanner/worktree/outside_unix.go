//go:build unix

package worktree

import (
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxFollowed is how many symlinks one path may follow, as on Linux.
const maxFollowed = 40

// Outside reports whether a path that leaves the tree, absolute or beginning with "..", certainly leaves the
// repository as well: its target is neither in the repository's directory nor above it. It is false if this is
// unknown, or depends on the program that follows the path.
//
// Nothing is opened: names are looked up, and symlinks read.
func (r *Root) Outside(repository *Root, name string) bool {
	w, root := way{from: r.h, at: "."}, way{from: repository.h, at: "."}
	if !w.follow(name) {
		return false
	}
	around, ok := w.above()
	aroundRoot, okRoot := root.above()
	if !ok || !okRoot {
		return false
	}
	isWithin := slices.Contains(around, aroundRoot[0])
	isAbove := w.missing == 0 && slices.Contains(aroundRoot, around[0])
	return !isWithin && !isAbove
}

// A way is a path followed on disk, one name after another.
type way struct {
	from     handle
	at       string // the directory reached: a path from the handle without symlinks, or an absolute one
	missing  int    // number of further names, which do not exist
	followed int
}

// follow goes along a path. It is false if the target is uncertain.
func (w *way) follow(rest string) bool {
	rest = w.begin(rest)
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch {
		case name == "" || name == ".":
		case name == "..":
			w.up()
		case w.missing > 0:
			w.missing++
		default:
			target, ok := w.down(name)
			if !ok {
				return false
			}
			if target != "" {
				rest = w.begin(target) + "/" + rest
			}
		}
	}
	return true
}

func (w *way) begin(name string) (rest string) {
	rest = strings.TrimLeft(name, "/")
	if rest != name {
		w.at, w.missing = "/", 0
	}
	return rest
}

func (w *way) up() {
	switch base := path.Base(w.at); {
	case w.missing > 0:
		w.missing--
	case base == "/":
	case base == "." || base == "..":
		w.at += "/.."
	default:
		w.at = path.Dir(w.at)
	}
}

// down enters a directory, or returns the target of a symlink.
func (w *way) down(name string) (target string, ok bool) {
	full := path.Join(w.at, name)
	if strings.HasSuffix(w.at, "..") || w.at == "." {
		full = w.at + "/" + name // which Join would shorten
	}
	st, err := statAt(w.from, full, noAutomount)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EACCES):
		w.missing = 1
		return "", true
	case err != nil:
		return "", false
	case kindOf(uint32(st.Mode)) == directory:
		w.at = full
		return "", true
	case kindOf(uint32(st.Mode)) != Symlink:
		w.missing = 1
		return "", true
	}
	if name == "cwd" { // of /proc/self, which depends on the process
		if proc, err := statAt(w.from, "/proc", noAutomount); err == nil && proc.Dev == st.Dev {
			return "", false
		}
	}
	w.followed++
	target, err = w.from.readlink(full)
	return target, err == nil && target != "" && w.followed < maxFollowed
}

// above returns the directory reached and its parents, up to the system's root.
func (w *way) above() ([]FileID, bool) {
	var ids []FileID
	for at := w.at; ; at += "/.." {
		st, err := statAt(w.from, at, noAutomount)
		if err != nil {
			return nil, false
		}
		id := FileID{uint64(st.Dev), uint64(st.Ino)}
		if len(ids) > 0 && ids[len(ids)-1] == id {
			return ids, true
		}
		ids = append(ids, id)
	}
}
