package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrHooks says that the folder of a repository's hooks cannot be determined. It comes with a
// text that says what to do.
var ErrHooks = errors.New("cannot determine the folder of the hooks")

// hooksPath is the setting that names another folder for hooks.
const hooksPath = "core.hookspath"

// Hooks returns the folder in which git looks for the hooks of a work tree, which need
// not be there: hooks in the git folder that all work trees share, or the one that
// core.hooksPath of the repository's settings names (git-config(1)).
//
// A hook in a folder in which git does not look would never run. So what a user's or a
// machine's settings say, or a file that settings include, is looked at too, and if
// core.hooksPath is set there the folder is an error (ErrHooks): it serves other
// repositories as well, or whether it counts depends on conditions. Not known here:
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
	case dir[0] == '~':
		home, err := os.UserHomeDir()
		return filepath.Join(home, dir[2:]), err
	case filepath.IsAbs(dir):
		return dir, nil
	default: // from where hooks run
		return filepath.Join(r.WorkTree, dir), nil
	}
}

// ownHooksPath returns core.hooksPath of the repository's own settings, nil if it is not
// set.
func (r *Repository) ownHooksPath() (*string, error) {
	shared := filepath.Join(r.commonDir, "config")
	files := []string{shared}
	cfg, err := readSettings(shared)
	if err != nil {
		return nil, err
	}
	if cfg.yes("extensions.worktreeconfig") {
		files = append(files, filepath.Join(r.gitDir, "config.worktree"))
	}
	var value *string
	for _, file := range files {
		cfg, err := readSettings(file)
		if err == nil {
			err = includedHooksPath(file, cfg, 0)
		}
		if err != nil {
			return nil, err
		}
		if values := cfg[hooksPath]; len(values) > 0 {
			value = &values[len(values)-1]
		}
	}
	return value, nil
}

// othersHooksPath is an error if the settings of the user or of the machine have a
// core.hooksPath.
func othersHooksPath() error {
	for _, file := range othersSettings() {
		cfg, err := readSettings(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if len(cfg[hooksPath]) > 0 {
			return hooksElsewhere(file, cfg.last(hooksPath))
		}
		if err := includedHooksPath(file, cfg, 0); err != nil {
			return err
		}
	}
	return nil
}

// othersSettings are the files of settings of the user and of the machine, there or not.
func othersSettings() []string {
	var files []string
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, file)
	} else if home, err := os.UserHomeDir(); err == nil {
		folder := os.Getenv("XDG_CONFIG_HOME")
		if folder == "" {
			folder = filepath.Join(home, ".config")
		}
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

// includedHooksPath is an error if a file that settings include, on any condition, has a
// core.hooksPath.
func includedHooksPath(file string, cfg settings, depth int) error {
	for name, values := range cfg {
		if !includes(name) {
			continue
		}
		for _, included := range values {
			included, err := fromSetting(included, filepath.Dir(file))
			if err != nil {
				return err
			}
			if depth == 10 { // git's own limit
				return fmt.Errorf("%w: %s includes more than ten deep", ErrHooks, file)
			}
			more, err := readSettings(included)
			if err != nil {
				return fmt.Errorf("%s: %w", included, err)
			}
			if len(more[hooksPath]) > 0 {
				return hooksElsewhere(included, more.last(hooksPath))
			}
			if err := includedHooksPath(included, more, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// includes reports whether a setting names another file of settings.
func includes(name string) bool {
	return name == "include.path" || strings.HasPrefix(name, "includeif.") && strings.HasSuffix(name, ".path")
}

// fromSetting is the path that a setting names: from the home folder behind ~/, else from dir.
func fromSetting(path, dir string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		return filepath.Join(home, rest), err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path, nil
}
