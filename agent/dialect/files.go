package dialect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/clash"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules/document"
)

// Files are the call rules that a command uses.
type Files struct {
	Names   []string          // of files, or of directories of .rules files; or [Auto]
	Dialect string            // that they are written in; "" if the names of the files tell
	Define  map[string]string // values of (env NAME) in clash; a relative PWD counts from the directory of the names
	Levels  bool              // they are the levels of one clash policy, the lowest first

	// Of Auto: the project's root, from the directory of the names, and two directories of the user's, or "".
	Root, Home, Config string
}

// Load reads the files, relative to dir; "" is the current directory. Mistakes in the files are [document.Errors],
// joined for all files.
func (f Files) Load(dir string) ([]*callrules.Set, error) {
	if f.Dialect != "" {
		if err := known(f.Dialect); err != nil {
			return nil, err
		}
	}
	define, err := f.defined(dir)
	if err != nil {
		return nil, err
	}
	each, err := f.Each(dir)
	if err != nil {
		return nil, err
	}
	var sets []*callrules.Set
	var mistakes document.Errors
	for _, one := range each {
		s, err := one.set(dir, define)
		var list document.Errors
		if errors.As(err, &list) {
			mistakes = append(mistakes, list...)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the call rules cannot be read: %w", err)
		}
		sets = append(sets, s)
	}
	if mistakes != nil {
		return nil, mistakes
	}
	if dir == "" {
		shell, err := os.Getwd() // as it is spelled there
		if err != nil {
			return nil, fmt.Errorf("the current directory cannot be found: %w", err)
		}
		sets = f.Respelled(sets, "", []string{shell})
	}
	return sets, nil
}

func clean(name string) string { return filepath.ToSlash(filepath.Clean(name)) }

// set reads the files of one set.
func (f Files) set(dir string, define map[string]string) (*callrules.Set, error) {
	if f.Levels {
		return f.loadLevels(dir, define)
	}
	return Load(dir, clean(f.Names[0]), f.Dialect, define)
}

// loadLevels reads the files as the levels of one clash policy.
func (f Files) loadLevels(dir string, define map[string]string) (*callrules.Set, error) {
	if len(f.Names) < 2 {
		return nil, errors.New("--levels needs two or more files of clash; name them with --calls, the lowest first")
	}
	var names []string
	var files []*document.Source
	var mistakes document.Errors
	for _, name := range f.Names {
		name = clean(name)
		names = append(names, name)
		all, err := sources(dir, name)
		var list document.Errors
		switch {
		case errors.As(err, &list):
			mistakes = append(mistakes, list...)
		case err != nil:
			return nil, err
		case len(all) > 1 || cmp.Or(f.Dialect, detect(all[0])) != "clash":
			return nil, fmt.Errorf("%s: --levels is for files of clash alone; remove it, and the strictest file wins",
				name)
		}
		files = append(files, all...)
	}
	if mistakes != nil {
		return nil, mistakes
	}
	return clash.Read(strings.Join(names, " + "), files, define)
}

// defined returns the definitions, with a relative PWD resolved from dir, without links.
func (f Files) defined(dir string) (map[string]string, error) {
	if !f.relativePWD() {
		return f.Define, nil
	}
	real, err := disk.Real(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot find the directory from which --define PWD=%s counts: %w",
			f.Define["PWD"], disk.Cause(err))
	}
	define := maps.Clone(f.Define)
	define["PWD"] = filepath.Join(real, f.Define["PWD"])
	return define, nil
}

// relativePWD reports whether PWD is defined as a relative path, so that it is the same directory under each of its
// names.
func (f Files) relativePWD() bool {
	pwd := f.Define["PWD"]
	_, absolute := call.Resolve("", pwd)
	return pwd != "" && !absolute
}

// Respelled makes rules for files in a directory also match other names of the directory, if PWD is relative to it.
// dirs are known names of directories in it.
func (f Files) Respelled(sets []*callrules.Set, root string, dirs []string) []*callrules.Set {
	if !f.relativePWD() {
		return sets
	}
	real, err := disk.Real(root)
	if err != nil {
		return sets
	}
	names := spellings(real, dirs)
	if len(names) == 0 {
		return sets
	}
	again := make([]*callrules.Set, len(sets))
	for i, s := range sets {
		again[i] = s.Respelled(real, names)
	}
	return again
}

// spellings returns other names of a real directory, derived from the names of directories in it: if /home/me/app/src
// points to its src, /home/me/app is the directory.
func spellings(root string, dirs []string) []string {
	var names []string
	for _, dir := range dirs {
		real, err := disk.Real(dir)
		if dir == "" || err != nil {
			continue
		}
		rel, err := filepath.Rel(root, real)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		name := filepath.Clean(dir)
		if inner := string(filepath.Separator) + rel; strings.HasSuffix(name, inner) {
			name = strings.TrimSuffix(name, inner)
		} else if rel != "." { // a link in the directory
			continue
		}
		if name != root && filepath.IsAbs(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Places returns where the files and directories are, without links, and where those of [Auto] would be. Their names
// count from dir.
func (f Files) Places(dir string) ([]string, error) {
	var places []string
	for _, name := range f.Names {
		if name == Auto {
			for _, one := range f.usual() {
				places = append(places, disk.Under(dir, one.Names[0]))
			}
			continue
		}
		name = disk.Under(dir, name)
		real, err := disk.Real(name)
		if err != nil {
			return nil, fmt.Errorf("cannot determine where %s is: %w", name, disk.Cause(err))
		}
		places = append(places, real)
	}
	return places, nil
}

// Sigmashake reports whether name and flags of a file show that it is sigmashake's. A directory is always, because no
// other dialect has directories.
func (f Files) Sigmashake() bool {
	return f.Dialect == sigmashake.Dialect || slices.ContainsFunc(f.Names, func(name string) bool {
		st, err := os.Stat(name)
		return err == nil && st.IsDir() || f.Dialect == "" && strings.EqualFold(filepath.Ext(name), ".rules")
	})
}

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
