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

// ErrHooks: the directory of a repository's hooks cannot be determined. Its text tells what to do.
var ErrHooks = errors.New("cannot determine the directory of the hooks")

const hooksPath = "core.hookspath"

// Hooks returns the directory in which git looks for the hooks of a work tree, which may be missing: hooks in the git
// directory that all work trees share, or core.hooksPath of the repository's config (git-config(1)).
//
// A hook in any other directory would never run. So Hooks fails with ErrHooks if core.hooksPath is set in the config
// of the user or the machine, or in an included file: that directory serves other repositories too, or depends on
// conditions. The config of a single command (git -c), and of a machine outside of /etc/gitconfig, is unknown here.
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
		return "", fmt.Errorf("%w: core.hooksPath is %q; set it to a directory: git config core.hooksPath DIR",
			ErrHooks, dir)
	default: // hooks run from here
		return fromSetting(dir, r.WorkTree), nil
	}
}

// ownHooksPath returns core.hooksPath of the repository's own config; nil if it is not set.
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

// othersHooksPath fails if the config of the user or of the machine has a core.hooksPath.
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

// hooksPathIn returns core.hooksPath of a config file; nil if it is not set. It fails if an included file sets it, on
// any condition.
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

// walkSettings calls visit once with each config file, from file on through all includes, whatever their condition;
// with the error of an unreadable file. An error of visit ends the walk.
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

// included returns the files that a config file includes, on any condition.
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

// fromSetting resolves a path of the config: from the home directory after ~/, else from dir.
func fromSetting(path, dir string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil { // without one, git does not read it either
			return filepath.Join(home, rest)
		}
	}
	return disk.Under(dir, path)
}

// othersSettings are the possible config files of the user and of the machine.
func othersSettings() []string {
	var files []string
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, file)
	} else if home, err := os.UserHomeDir(); err == nil {
		dir := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
		files = append(files, filepath.Join(dir, "git", "config"), filepath.Join(home, ".gitconfig"))
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
