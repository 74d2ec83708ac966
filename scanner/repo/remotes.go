package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
)

// A remote is another repository that this one fetches from.
type remote struct {
	name  string
	fetch []string // its refspecs: what a fetch stores, and where
}

// remotes returns the remotes of the config, origin first, the others by name. It serves messages only, so an
// unreadable config has no remotes.
func (r *Repository) remotes() []remote {
	cfg, err := readSettings(filepath.Join(r.commonDir, "config"))
	if err != nil {
		return nil
	}
	var all []remote
	for key := range cfg {
		name, ok := strings.CutPrefix(key, "remote.")
		if name, isURL := strings.CutSuffix(name, ".url"); ok && isURL && name != "" {
			all = append(all, remote{name, cfg["remote."+name+".fetch"]})
		}
	}
	slices.SortFunc(all, func(a, b remote) int {
		switch {
		case a.name == "origin":
			return -1
		case b.name == "origin":
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return all
}

// Remotes returns the names of the remotes, origin first, even if the config lacks it.
func (r *Repository) Remotes() []string {
	names := []string{"origin"}
	for _, m := range r.remotes() {
		if m.name != names[0] {
			names = append(names, m.name)
		}
	}
	return names
}

// fetchCommand is the command that makes a branch of the remote a remote-tracking branch here. Unless the config has
// the refspec of git clone, for all branches or for this one, the command includes where to store the branch.
func (m remote) fetchCommand(branch string) string {
	if len(m.fetch) == 1 {
		for _, stored := range []string{"*", branch} {
			if m.fetch[0] == "+refs/heads/"+stored+":refs/remotes/"+m.name+"/"+stored {
				return FetchCommand(m.name, branch)
			}
		}
	}
	return FetchBranchCommand(m.name, m.name, branch)
}

// FetchCommand is the command that fetches something from a remote, quoted for a shell.
func FetchCommand(remote string, what ...string) string {
	line := "git fetch " + shellWord(remote)
	for _, w := range what {
		line += " " + shellWord(w)
	}
	return line
}

// FetchBranchCommand is the command that fetches a branch from a remote, or its URL, and stores it as the
// remote-tracking branch of a remote, whatever the config.
func FetchBranchCommand(from, remote, branch string) string {
	return FetchCommand(from, "+refs/heads/"+branch+":refs/remotes/"+remote+"/"+branch)
}

// shellWord quotes a word for a shell.
func shellWord(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("_./:+@%=-", c)
	}
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !plain(c) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// InCI tells how to get the whole history into a clone of a CI system that is unknown.
const InCI = "actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0"

// unknown is the error of a name that does not exist. It tells how to fetch the most likely meaning.
func (r *Repository) unknown(name string) error {
	if f := r.objects.format; wholeHash(name) && len(name) != 2*f.size() {
		return fmt.Errorf("%w: %q has %d digits, but this repository names commits by %s, with %d; "+
			"write that name, a branch or a tag", ErrSyntax, name, len(name), f, 2*f.size())
	}
	place, hint := "repository", "check the name"
	if remotes := r.remotes(); len(remotes) > 0 {
		place, hint = "clone", r.fetchHint(name, remotes)
	}
	return revisionError(fmt.Sprintf("revision %q is not a branch, tag or commit of this %s; %s", name, place, hint))
}

func (r *Repository) fetchHint(name string, remotes []remote) string {
	run := func(line string) string { return fmt.Sprintf("run %s (%s)", line, InCI) }
	first, short := remotes[0], strings.TrimPrefix(name, "refs/")
	for _, m := range remotes {
		if branch, is := strings.CutPrefix(strings.TrimPrefix(short, "remotes/"), m.name+"/"); is {
			return run(m.fetchCommand(branch))
		}
	}
	tag, isTag := strings.CutPrefix(short, "tags/")
	branch, isBranch := strings.CutPrefix(short, "heads/")
	switch {
	case isTag:
		return run(FetchCommand(first.name, "tag", tag))
	case len(name) == 2*r.objects.format.size() && hexPrefix(name):
		return run(FetchCommand(first.name, name))
	case short != name && !isBranch:
		return run(FetchCommand(first.name, "+"+name+":"+name))
	}
	for _, m := range remotes {
		if _, err := r.ref("refs/remotes/" + m.name + "/" + branch); err == nil {
			return fmt.Sprintf("name the branch of the remote, %s/%s", m.name, branch)
		}
	}
	line := first.fetchCommand(branch)
	if !isBranch {
		line += ", or for a tag " + FetchCommand(first.name, "tag", branch)
	}
	return run(line) + fmt.Sprintf(" and name the branch %s/%s", first.name, branch)
}

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
