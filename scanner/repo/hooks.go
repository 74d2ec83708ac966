package repo

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
)

// ErrHooks says that the directory of a repository's hooks cannot be determined. It comes with a text that says what
// to do.
var ErrHooks = errors.New("cannot determine the folder of the hooks")

const hooksPath = "core.hookspath"

// Hooks returns the directory in which git looks for the hooks of a work tree, which need not be there: hooks in the
// git directory that all work trees share, or the one that core.hooksPath of the repository's settings names
// (git-config(1)).
//
// A hook in a directory in which git does not look would never run. So what a user's or a machine's settings say, or
// a file that settings include, is looked at too, and if core.hooksPath is set there the directory is an error
// (ErrHooks): it serves other repositories as well, or whether it counts depends on conditions. Not known here:
// settings of a single command (git -c), and those of a machine outside of /etc/gitconfig.
func (r *Repository) Hooks() (string, error) {
	if r.WorkTree == "" {
		return "", fmt.Errorf("%w: a bare repository makes no commits", ErrHooks)
	}
	value, err := r.ownHooksPath()
	if err != nil {
		return "", err
	}
	if value == nil {
		if err := othersHooksPath(); err != nil {
			return "", err
		}
		return filepath.Join(r.commonDir, "hooks"), nil
	}
	switch dir := *value; {
	case dir == "" || dir == "true" || dir[0] == '%' || dir[0] == '~' && !strings.HasPrefix(dir, "~/"):
		return "", fmt.Errorf("%w: core.hooksPath is %q; set it to a folder: git config core.hooksPath FOLDER",
			ErrHooks, dir)
	default: // from where hooks run
		return fromSetting(dir, r.WorkTree), nil
	}
}

// ownHooksPath returns core.hooksPath of the repository's own settings, nil if it is not set.
func (r *Repository) ownHooksPath() (*string, error) {
	shared := filepath.Join(r.commonDir, "config")
	cfg, err := readSettings(shared)
	if err != nil {
		return nil, err
	}
	value, err := hooksPathIn(shared)
	if err != nil || !cfg.yes("extensions.worktreeconfig") {
		return value, err
	}
	own, err := hooksPathIn(filepath.Join(r.gitDir, "config.worktree"))
	return cmp.Or(own, value), err
}

// othersHooksPath is an error if the settings of the user or of the machine have a core.hooksPath.
func othersHooksPath() error {
	for _, file := range othersSettings() {
		value, err := hooksPathIn(file)
		if err == nil && value != nil {
			err = hooksElsewhere(file, *value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hooksPathIn returns core.hooksPath of a file of settings, nil if it is not set. It is an error if a file that these
// settings include, on any condition, sets it.
func hooksPathIn(file string) (value *string, err error) {
	err = walkSettings(file, map[string]bool{}, func(at string, cfg settings, err error) error {
		values := cfg[hooksPath]
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", at, err)
		case len(values) == 0:
		case at != file:
			return hooksElsewhere(at, cfg.last(hooksPath))
		default:
			value = &values[len(values)-1]
		}
		return nil
	})
	return value, err
}

// walkSettings calls visit with the settings of a file, or why they cannot be read, and those of the files that they
// include, on any condition, each once. An error of visit ends the walk.
func walkSettings(file string, seen map[string]bool, visit func(file string, cfg settings, err error) error) error {
	if seen[file] {
		return nil
	}
	seen[file] = true
	cfg, err := readSettings(file)
	if err := visit(file, cfg, err); err != nil {
		return err
	}
	for _, included := range cfg.included(file) {
		if err := walkSettings(included, seen, visit); err != nil {
			return err
		}
	}
	return nil
}

// included returns the files that the settings of a file include, on any condition.
func (s settings) included(file string) []string {
	var all []string
	for name, values := range s {
		if name == "include.path" || strings.HasPrefix(name, "includeif.") && strings.HasSuffix(name, ".path") {
			for _, path := range values {
				all = append(all, fromSetting(path, filepath.Dir(file)))
			}
		}
	}
	return all
}

// fromSetting is the path that a setting names: from the home directory behind ~/, else from dir.
func fromSetting(path, dir string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil { // without one, git does not read it either
			return filepath.Join(home, rest)
		}
	}
	return disk.Under(dir, path)
}

// othersSettings are the files of settings of the user and of the machine, there or not.
func othersSettings() []string {
	var files []string
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, file)
	} else if home, err := os.UserHomeDir(); err == nil {
		folder := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
		files = append(files, filepath.Join(folder, "git", "config"), filepath.Join(home, ".gitconfig"))
	}
	noSystem := settings{"no": {os.Getenv("GIT_CONFIG_NOSYSTEM")}}
	if file, ok := os.LookupEnv("GIT_CONFIG_SYSTEM"); ok {
		files = append(files, file)
	} else if !noSystem.yes("no") {
		files = append(files, "/etc/gitconfig")
	}
	return slices.DeleteFunc(files, func(file string) bool { return file == "" || file == os.DevNull })
}

func hooksElsewhere(file, value string) error {
	return fmt.Errorf("%w: %s sets core.hooksPath to %q, and git ignores this repository's own hooks; "+
		"call policyscan from the hook there, or give this repository its own hooks and try again: "+
		`git config core.hooksPath "$(git rev-parse --path-format=absolute --git-common-dir)/hooks"`, ErrHooks,
		file, value)
}
