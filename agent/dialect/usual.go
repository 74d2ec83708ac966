package dialect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
)

// Auto is the name that stands for the call rules in the usual places of all dialects.
const Auto = "auto"

// usual returns the usual places, the project's first, each with its dialect. There need not be files.
func (f Files) usual() []Files {
	var project, user []Files
	for _, d := range Dialects() {
		one := Files{Dialect: d.Name, Define: f.Define}
		if d.Project != "" {
			one.Names = []string{filepath.Join(f.Root, filepath.FromSlash(d.Project))}
			project = append(project, one)
		}
		dir, rest := f.Home, d.User
		if below, ok := strings.CutPrefix(rest, ".config/"); ok && filepath.IsAbs(f.Config) {
			dir, rest = f.Config, below
		}
		if rest != "" && filepath.IsAbs(dir) {
			one.Names = []string{filepath.Join(dir, filepath.FromSlash(rest))}
			user = append(user, one)
		}
	}
	return append(project, user...)
}

// Each returns the files of each set, with what [Auto] finds in its place. If that is nothing, it is an error.
func (f Files) Each(dir string) ([]Files, error) {
	var all []Files
	if f.Levels && !slices.Contains(f.Names, Auto) {
		return []Files{f}, nil
	}
	for _, name := range f.Names {
		if name != Auto {
			one := f
			one.Names = []string{name}
			all = append(all, one)
			continue
		}
		if f.Levels {
			return nil, fmt.Errorf("--levels is given with --calls %s, of which the strictest file decides; "+
				"remove it, or name the files of clash", Auto)
		}
		if f.Dialect != "" {
			return nil, fmt.Errorf("--dialect is given with --calls %s, which knows them; remove one of them", Auto)
		}
		var looked []string
		before := len(all)
		for _, one := range f.usual() {
			looked = append(looked, filepath.ToSlash(one.Names[0]))
			// What cannot be looked at is found, and reading it is an error.
			if _, err := os.Lstat(disk.Under(dir, one.Names[0])); err == nil || !disk.Absent(err) {
				all = append(all, one)
			}
		}
		if len(all) == before {
			return nil, fmt.Errorf("--calls %s finds no call rules; it looks for %s; write one of them, or name a file",
				Auto, strings.Join(looked, ", "))
		}
	}
	return all, nil
}

// UsualNames returns the places of a project in which [Auto] looks, from the root, if it is one of the names.
func (f Files) UsualNames() []string {
	if !slices.Contains(f.Names, Auto) {
		return nil
	}
	var names []string
	for _, d := range Dialects() {
		if d.Project != "" {
			names = append(names, d.Project)
		}
	}
	return names
}
