package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict/output"
)

// verdictName is the name of the verdict's file if --output does not name another.
const verdictName = "verdict.json"

// defaultOutput returns where the verdict goes without --output: into the root of the repository, so that a run in
// one of its folders leaves no second verdict there for the next run to scan. If PATH is given, or there is
// no repository with files (outside of any, or in a bare one), it goes into the current folder.
func (c *scanCmd) defaultOutput() (string, error) {
	if c.Path != "" {
		return verdictName, nil
	}
	if c.inGit() {
		if file, ok := outputByGit(); ok {
			return file, nil
		}
	}
	return outputByFolder()
}

// inGit reports whether the scope is one that asks git what the repository is.
func (c *scanCmd) inGit() bool { return c.DiffBase != "" || c.Staged || c.Tracked }

// outputByGit returns the default output in git's scopes, for which GIT_DIR can name the repository; false if
// no repository can be opened.
func outputByGit() (file string, ok bool) {
	r, err := gitEnvironment().Open("")
	if err != nil {
		return "", false
	}
	p, err := repositoryPlace(r)
	return filepath.Join(p.root, verdictName), err == nil
}

// outputByFolder returns the default output in the other scopes, which look for the repository around the current
// folder.
func outputByFolder() (string, error) {
	cwd, err := disk.Real(".")
	root := ""
	if err == nil {
		root, err = repo.Root(cwd)
	}
	if err != nil {
		return "", fmt.Errorf("the folder for %s cannot be found, and an existing one is STALE: %w; "+
			"name the file with --output", verdictName, disk.Cause(err))
	}
	if rel, err := filepath.Rel(cwd, root); err == nil {
		root = rel
	}
	return filepath.Join(root, verdictName), nil
}

// outputsOf returns where the verdict may go if the arguments cannot be parsed: if they name no output, all the places
// that are possible, since neither PATH nor the scope is known.
func outputsOf(args []string) []string {
	var outputs []string // more than one, if the flag is given twice
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--output="); ok {
			outputs = append(outputs, v)
		} else if a == "--output" && i+1 < len(args) {
			outputs = append(outputs, args[i+1])
		}
	}
	outputs = slices.DeleteFunc(outputs, func(v string) bool { return v == "" })
	if named := os.Getenv("POLICYSCAN_OUTPUT"); len(outputs) == 0 && named != "" {
		outputs = []string{named}
	}
	if len(outputs) > 0 {
		return outputs
	}
	outputs = []string{verdictName}
	if file, err := outputByFolder(); err == nil {
		outputs = append(outputs, file)
	}
	if file, ok := outputByGit(); ok {
		outputs = append(outputs, file)
	}
	slices.Sort(outputs)
	return slices.Compact(outputs)
}

// replaceOldVerdict replaces the verdict of an earlier run if this run's arguments or environment are not valid.
func replaceOldVerdict(outputs ...string) { output.ReplaceOld(version(), outputs...) }
