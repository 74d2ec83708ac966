package repo

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

// fetchLine is the command that makes a branch of the remote a remote-tracking branch here. Unless the config has the
// refspec of git clone, for all branches or for this one, the command includes where to store the branch.
func (m remote) fetchLine(branch string) string {
	if len(m.fetch) == 1 {
		for _, stored := range []string{"*", branch} {
			if m.fetch[0] == "+refs/heads/"+stored+":refs/remotes/"+m.name+"/"+stored {
				return FetchLine(m.name, branch)
			}
		}
	}
	return FetchBranchLine(m.name, m.name, branch)
}

// FetchLine is the command that fetches something from a remote, quoted for a shell.
func FetchLine(remote string, what ...string) string {
	line := "git fetch " + shellWord(remote)
	for _, w := range what {
		line += " " + shellWord(w)
	}
	return line
}

// FetchBranchLine is the command that fetches a branch from a remote, or its URL, and stores it as the remote-tracking
// branch of a remote, whatever the config.
func FetchBranchLine(from, remote, branch string) string {
	return FetchLine(from, "+refs/heads/"+branch+":refs/remotes/"+remote+"/"+branch)
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

// inCI tells how to get the whole history into a clone of a CI system.
const inCI = "actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0"

// unknown is the error of a name that does not exist. It tells how to fetch the most likely meaning.
func (r *Repository) unknown(name string) error {
	remotes := r.remotes()
	hash := len(name) == 40 && hexPrefix(name)
	what := fmt.Sprintf("%q is not a branch, tag or commit of this", name)
	if hash {
		what = "commit " + name + " is not in this"
	}
	switch {
	case len(remotes) == 0 && hash:
		what += " repository, which has no remote to fetch it from; check the hash"
	case len(remotes) == 0:
		what += " repository, which has no remote to fetch it from; check the name"
	case hash:
		what += fmt.Sprintf(" clone; fetch it (%s; %s)", FetchLine(remotes[0].name, name), inCI)
	default:
		what += " clone; " + r.fetching(name, remotes)
	}
	return fmt.Errorf("%w: %s", ErrUnknown, what)
}

func (r *Repository) fetching(name string, remotes []remote) string {
	fetch := func(lines string) string { return fmt.Sprintf("fetch it (%s; %s)", lines, inCI) }
	first := remotes[0]
	short := strings.TrimPrefix(name, "refs/")
	// A branch of a remote: the longest remote name counts, since it can have slashes.
	var of *remote
	track, tracking := strings.CutPrefix(short, "remotes/")
	for i, m := range remotes {
		if (track == m.name || strings.HasPrefix(track, m.name+"/")) && (of == nil || len(m.name) > len(of.name)) {
			of = &remotes[i]
		}
	}
	tag, isTag := strings.CutPrefix(short, "tags/")
	branch, isBranch := strings.CutPrefix(short, "heads/")
	switch {
	case of != nil && (track == of.name || track == of.name+"/HEAD"):
		const head = "it would be the default branch of the remote: set it (git remote set-head %s --auto), " +
			"or name the branch"
		return fmt.Sprintf(head, shellWord(of.name))
	case of != nil:
		return fetch(of.fetchLine(strings.TrimPrefix(track, of.name+"/")))
	case tracking:
		return fmt.Sprintf("no remote of this clone has such branches; name one of %[1]s, such as %[1]s/main",
			first.name)
	case isTag:
		return fetch(FetchLine(first.name, "tag", tag))
	case !isBranch && short != name:
		return fetch(FetchLine(first.name, "+"+name+":"+name))
	}
	for _, m := range remotes {
		if _, err := r.ref("refs/remotes/" + m.name + "/" + branch); err == nil {
			return fmt.Sprintf("name the branch of the remote, %s/%s", m.name, branch)
		}
	}
	const least = 7 // characters of a hash that people write
	line := first.fetchLine(branch)
	switch {
	case !isBranch && len(branch) >= least && hexPrefix(branch):
		return fetch(FetchLine(first.name) + "; by the full hash of a commit " + FetchLine(first.name) + " HASH")
	case !isBranch:
		line += "; for a tag " + FetchLine(first.name, "tag", branch)
	}
	return fetch(line) + fmt.Sprintf(" and name the branch %s/%s", first.name, branch)
}
