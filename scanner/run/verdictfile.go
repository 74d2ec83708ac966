package run

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/policyscan/policyscan/scanner/repo"
)

// VerdictName is the default name of the verdict's file.
const VerdictName = "verdict.json"

// ShardName returns the default name of a shard's file.
func ShardName(index, count int) string { return fmt.Sprintf("shard-%d-of-%d.json", index, count) }

// VerdictFile returns the default file of the verdict: in the root of the repository, so that a run in a directory
// below leaves no second verdict for the next run to scan. With a PATH, or without a repository with files, it is in
// the current directory.
func (o *Options) VerdictFile() (string, error) {
	if o.Path != "" {
		return VerdictName, nil
	}
	if o.Rev != "" || o.Base != "" || o.Staged || o.Tracked { // git says where the repository is
		if file, ok := verdictByGit(o.Git); ok {
			return file, nil
		}
	}
	return verdictByDir()
}

// VerdictFiles returns the possible files of the verdict of a run whose options are unknown: the named ones without
// "", or else all results of [Options.VerdictFile].
func VerdictFiles(git repo.Environment, named ...string) []string {
	if named = slices.DeleteFunc(slices.Clone(named), func(name string) bool { return name == "" }); len(named) > 0 {
		return named
	}
	all := []string{VerdictName}
	if file, err := verdictByDir(); err == nil {
		all = append(all, file)
	}
	if file, ok := verdictByGit(git); ok {
		all = append(all, file)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// verdictByGit returns the file in git's scopes, for which GIT_DIR can name the repository; false if no repository can
// be opened.
func verdictByGit(git repo.Environment) (file string, ok bool) {
	r, err := git.Open("")
	if err != nil {
		return "", false
	}
	p, err := placeOf(r)
	return filepath.Join(p.Root, VerdictName), err == nil
}

// verdictByDir returns the file in the other scopes, which look for the repository around the current directory.
func verdictByDir() (string, error) {
	root, err := rootHere()
	if err != nil {
		return "", fmt.Errorf("the directory of %s cannot be found, and an existing one is STALE: %w; "+
			"name the file with --output", VerdictName, err)
	}
	return filepath.Join(root, VerdictName), nil
}
