package run

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/policyscan/policyscan/scanner/repo"
)

// VerdictName is the name of the verdict's file if no other is named.
const VerdictName = "verdict.json"

// VerdictFile returns where the verdict goes if no other file is named: into the root of the repository, so that a run
// in one of its folders leaves no second verdict there for the next run to scan. If a folder is named, or there is
// no repository with files (outside of any, or in a bare one), it goes into the current folder.
func (o *Options) VerdictFile() (string, error) {
	if o.Path != "" {
		return VerdictName, nil
	}
	if o.Rev != "" || o.Base != "" || o.Staged || o.Tracked { // these ask git what the repository is
		if file, ok := verdictByGit(o.Git); ok {
			return file, nil
		}
	}
	return verdictByFolder()
}

// VerdictFiles returns where the verdict of a run may be whose request is not known: in the files that are named, of
// which "" names none, or else in all that [Options.VerdictFile] could return.
func VerdictFiles(git repo.Environment, named ...string) []string {
	if named = slices.DeleteFunc(slices.Clone(named), func(name string) bool { return name == "" }); len(named) > 0 {
		return named
	}
	all := []string{VerdictName}
	if file, err := verdictByFolder(); err == nil {
		all = append(all, file)
	}
	if file, ok := verdictByGit(git); ok {
		all = append(all, file)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// verdictByGit returns the file in git's scopes, for which GIT_DIR can name the repository; false if
// no repository can be opened.
func verdictByGit(git repo.Environment) (file string, ok bool) {
	r, err := git.Open("")
	if err != nil {
		return "", false
	}
	p, err := placeOf(r)
	return filepath.Join(p.Root, VerdictName), err == nil
}

// verdictByFolder returns the file in the other scopes, which look for the repository around the current folder.
func verdictByFolder() (string, error) {
	root, err := rootHere()
	if err != nil {
		return "", fmt.Errorf("the folder for %s cannot be found, and an existing one is STALE: %w; "+
			"name the file with --output", VerdictName, err)
	}
	return filepath.Join(root, VerdictName), nil
}
