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

// errHooks: the directory of a repository's hooks cannot be determined. Its text tells what to do.
var errHooks = errors.New("cannot determine the directory of the hooks")

const hooksPath = "core.hookspath"

// Hooks returns the directory in which git looks for the hooks of a work tree, which may be missing: hooks in the git
// directory that all work trees share, or core.hooksPath of the repository's config (git-config(1)).
//
// A hook in any other directory would never run. So Hooks fails with errHooks if core.hooksPath is set in the config
// of the user or the machine, or in an included file: that directory serves other repositories too, or depends on
// conditions. The config of a single command (git -c), and of a machine outside of /etc/gitconfig, is unknown here.
func (r *Repository) Hooks() (string, error) {
	if r.WorkTree == "" {
		return "", fmt.Errorf("%w: a bare repository makes no commits", errHooks)
	}
	return r.hooksFrom(r.WorkTree)
}

// ServerHooks is Hooks for the hooks of a push, which run in the git directory.
func (r *Repository) ServerHooks() (string, error) { return r.hooksFrom(r.gitDir) }

// hooksFrom returns the directory of hooks that run in a directory.
func (r *Repository) hooksFrom(from string) (string, error) {
	own := []string{filepath.Join(r.commonDir, "config")}
	cfg, err := readSettings(own[0])
	if cfg.yes("extensions.worktreeconfig") {
		own = append(own, filepath.Join(r.gitDir, "config.worktree"))
	}
	var value *string
	if err == nil {
		value, err = hooksPathIn(own, true)
	}
	if err == nil && value == nil {
		_, err = hooksPathIn(othersSettings(), false)
	}
	switch {
	case err != nil:
		return "", err
	case value == nil:
		return filepath.Join(r.commonDir, "hooks"), nil
	}
	switch dir := *value; {
	case dir == "" || dir == "true" || dir[0] == '%' || dir[0] == '~' && !strings.HasPrefix(dir, "~/"):
		return "", fmt.Errorf("%w: core.hooksPath is %q; set it to a directory: git config core.hooksPath DIR",
			errHooks, dir)
	default:
		return fromSetting(dir, from), nil
	}
}

// hooksPathIn returns the last core.hooksPath of a repository's own config files; nil if it is not set. It fails if
// other files set it, or an included one, on any condition.
func hooksPathIn(files []string, own bool) (value *string, err error) {
	seen := map[string]bool{}
	for _, file := range files {
		err = walkSettings(file, seen, func(at string, cfg settings, err error) error {
			values := cfg[hooksPath]
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", at, err)
			case len(values) == 0:
			case !own || at != file:
				return fmt.Errorf("%w: %s sets core.hooksPath to %q, and git ignores this repository's own hooks; "+
					"call policyscan from the hook there, or give this repository its own: "+
					`git config core.hooksPath "$(git rev-parse --path-format=absolute --git-common-dir)/hooks"`,
					errHooks, at, cfg.last(hooksPath))
			default:
				value = &values[len(values)-1]
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return value, nil
}

// excludeFiles returns the files outside of the tree that list what git ignores in the work tree at root. A later file
// counts more (gitignore(5)).
func excludeFiles(root string) []string {
	gitDirs, err := GitDirs(root)
	if err != nil || len(gitDirs) == 0 {
		return nil
	}
	shared := gitDirs[len(gitDirs)-1]
	var user string
	if home, err := os.UserHomeDir(); err == nil {
		user = filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "ignore")
	}
	seen := map[string]bool{}
	for _, file := range append(othersSettings(), filepath.Join(shared, "config")) {
		_ = walkSettings(file, seen, func(_ string, cfg settings, _ error) error { // which never fails
			if value := cfg.last("core.excludesfile"); value != "" {
				user = fromSetting(value, root)
			}
			return nil
		})
	}
	return []string{user, filepath.Join(shared, "info", "exclude")}
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

// HookPlaces returns the paths that decide which git hooks run in the work tree at root: the directories of
// core.hooksPath in the config of the repository, of the user and of the machine, and the files that these include, on
// any condition. Unreadable files are omitted. If root is not a work tree, it returns nil.
func HookPlaces(root string) []string {
	gitDirs, err := GitDirs(root)
	if err != nil || gitDirs == nil {
		return nil
	}
	files := append(othersSettings(), filepath.Join(gitDirs[len(gitDirs)-1], "config"),
		filepath.Join(gitDirs[0], "config.worktree"))
	var places []string
	seen := map[string]bool{}
	for _, file := range files {
		_ = walkSettings(file, seen, func(file string, cfg settings, _ error) error { // which never fails
			for _, dir := range cfg[hooksPath] {
				if dir != "" {
					places = append(places, fromSetting(dir, root))
				}
			}
			places = append(places, cfg.included(file)...)
			return nil
		})
	}
	return places
}
