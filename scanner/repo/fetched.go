package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
)

// A Fetched is a ref of a remote as a fetch found it.
type Fetched struct {
	Commit Hash   // or a tag
	Ref    string // its remote name: "refs/heads/main", "HEAD", or the requested hash
	URL    string // of the remote, without a password, and without .git at its end
}

// Fetched returns what the last git fetch into this work tree fetched, in the order of the file FETCH_HEAD; nil if
// nothing was fetched. Each fetch rewrites the file, so it includes unchanged refs and excludes remote-tracking
// branches left by an earlier run.
func (r *Repository) Fetched() ([]Fetched, error) {
	text, err := readSmall(filepath.Join(r.gitDir, "FETCH_HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("FETCH_HEAD cannot be read: %w", disk.Cause(err))
	}
	all, err := r.objects.format.parseFetched(text)
	if err != nil {
		return nil, fmt.Errorf("FETCH_HEAD: %w", err)
	}
	return all, nil
}

// fetchedKinds are the words before a name in FETCH_HEAD, and the refs they mean.
var fetchedKinds = []struct{ word, refs string }{
	{"branch '", "refs/heads/"},
	{"tag '", "refs/tags/"},
	{"remote-tracking branch '", "refs/remotes/"},
	{"'", ""},
}

// parseFetched reads FETCH_HEAD, which has a line for each ref:
//
//	HASH TAB [not-for-merge] TAB [[branch|tag|remote-tracking branch] 'NAME' of ]URL
func (f format) parseFetched(text string) ([]Fetched, error) {
	var all []Fetched
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, whole := strings.CutSuffix(line, "\n")
		fields := strings.SplitN(line, "\t", 3)
		switch {
		case !whole:
			return nil, fmt.Errorf("line %d has no end", n)
		case len(fields) != 3, fields[1] != "" && fields[1] != "not-for-merge":
			return nil, fmt.Errorf("line %d is %q, not a fetched ref", n, clip(line))
		}
		h, err := f.parse(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d begins with %w", n, err)
		}
		ref, url, err := fetchedFrom(fields[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, Fetched{h, ref, url})
	}
	return all, nil
}

// fetchedFrom splits the third column of FETCH_HEAD. A name of a ref has no spaces in it, so it ends where the first
// "' of " begins. Without a name it is the remote's HEAD.
func fetchedFrom(text string) (ref, url string, err error) {
	ref, url = "HEAD", text
	for _, kind := range fetchedKinds {
		rest, ok := strings.CutPrefix(text, kind.word)
		if !ok {
			continue
		}
		if ref, url, ok = strings.Cut(rest, "' of "); !ok {
			return "", "", fmt.Errorf("%q has a name without an end", clip(text))
		}
		ref = kind.refs + ref
		break
	}
	if !validRef(ref) || url == "" {
		return "", "", fmt.Errorf("%q does not name a ref and a remote", clip(text))
	}
	return ref, url, nil
}
