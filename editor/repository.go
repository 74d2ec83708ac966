package editor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
)

// A repository is the tree around a file, and the rules for it: those on disk.
type repository struct {
	root   string // absolute, without symlinks
	dirs   []string
	below  []string            // globs of the directories whose bundles add rules
	digest [sha256.Size]byte   // of the rule files
	run    *run.Run            // for [run.Run.ForContent]; nil: there are no rules
	failed error               // why; nil: there is no bundle
	rules  map[string]location // where each rule begins, by id
}

// repositories loads the rules of each root once, and again when their files have changed.
type repositories struct {
	version  string
	policies []string // names of bundles; "" is the one in the root
	byRoot   map[string]*repository
}

// check adds what a scan says of the text of a file. It returns the repository around the file, which is empty for a
// path "", whether its rules were loaded again, and why the file is not checked.
func (all *repositories) check(
	ctx context.Context, f *findings, path string, folders []string,
) (r *repository, changed bool, err error) {
	defer recovered(&err)
	r = &repository{}
	if path == "" {
		return r, false, nil
	}
	root, err := rootOf(filepath.Dir(path), folders)
	if err != nil {
		return r, false, err
	}
	dirs, digest := all.look(root)
	known := all.byRoot[root]
	for tries := 0; tries < 3 && (all.byRoot[root] == nil || all.byRoot[root].digest != digest); tries++ {
		r = &repository{root: root, dirs: dirs, digest: digest, rules: map[string]location{}}
		r.load(all)
		all.byRoot[root] = r
		dirs, digest = all.look(root) // it may have changed while it was read
	}
	r = all.byRoot[root]
	return r, known != nil && r != known, r.check(ctx, f, path)
}

// rootOf returns the root of the git repository around a directory; outside of any, the nearest of the client's
// directories, or dir.
func rootOf(dir string, folders []string) (string, error) {
	root, err := repo.Root(dir)
	if is, _ := repo.IsRoot(root); is || err != nil {
		return root, err
	}
	nearest := ""
	for _, folder := range folders {
		if rel, err := filepath.Rel(folder, dir); err == nil && filepath.IsLocal(rel) && len(folder) > len(nearest) {
			nearest = folder
		}
	}
	return cmp.Or(nearest, dir), nil
}

// look finds the bundles of a root, and hashes everything on disk that they are loaded from.
func (all *repositories) look(root string) (dirs []string, digest [sha256.Size]byte) {
	h := sha256.New() // which takes everything
	for _, name := range all.policies {
		dir, err := filepath.Abs(name)
		if name == "" {
			dir, err = rules.Discover(root)
		}
		if fmt.Fprintf(h, "%q %v\n", dir, err); err != nil || run.IsBuiltin(name) {
			continue
		}
		dir = realPath(dir)
		dirs = append(dirs, dir)
	}
	if known := all.byRoot[root]; known != nil {
		below, err := run.DirsWithBundle(root, known.below)
		fmt.Fprintf(h, "%v\n", err)
		for _, dir := range below {
			dirs = append(dirs, filepath.Join(root, filepath.FromSlash(dir), rules.HiddenBundle))
		}
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(dir, "rules"), func(path string, e fs.DirEntry, err error) error {
			fmt.Fprintf(h, "%q %v\n", path, err)
			if err == nil && e.Type().IsRegular() && rules.LooksLikeRules(path) {
				source, err := rules.ReadSource(path, path)
				if fmt.Fprintf(h, "%v\n", err); err == nil {
					fmt.Fprintf(h, "%d %s", len(source.Text), source.Text)
				}
			}
			return nil
		})
		fmt.Fprintf(h, "%v\n", err)
	}
	return dirs, [sha256.Size]byte(h.Sum(nil))
}

// load loads the rules as a scan of the root does.
func (r *repository) load(all *repositories) {
	_, err := rules.Discover(r.root)
	var none *document.Error
	if len(all.policies) == 1 && all.policies[0] == "" && errors.As(err, &none) && none.Code == document.CodeMissing {
		r.failed = run.SparseBundle(r.root, err)
		return
	}
	known, _ := run.LoadRules(all.policies, r.root) // the error is Open's
	r.below = known.NamesBelow()
	opened, err := run.Open(context.Background(), all.options(r.root))
	if r.failed = err; err != nil {
		return
	}
	opened.Close()
	r.run = opened
	for _, source := range opened.Sources {
		for _, rule := range source.Bundle.Rules {
			if dir, err := filepath.Abs(source.Dir); err == nil && source.Dir != "" {
				at := textRange{position{Line: rule.Line - 1}, position{Line: rule.Line - 1}}
				r.rules[rule.ID] = location{uriOf(filepath.Join(realPath(dir), filepath.FromSlash(rule.File))), at}
			}
		}
	}
}

func (all *repositories) options(root string) run.Options {
	return run.Options{
		Version: all.version, Path: root, Policies: all.policies, Workers: 1,
		Getenv: func(string) string { return "" },
	}
}

// bundleOf returns the directory of the bundle that a rule file belongs to; "" for any other file.
func bundleOf(path string) string {
	if dir := filepath.Dir(path); rules.InBundle(dir, filepath.Base(path)) {
		return filepath.Dir(dir)
	}
	return ""
}

// isBelow reports whether a bundle is for a directory below the root of a repository.
func isBelow(bundle string) bool {
	dir := realPath(filepath.Dir(bundle))
	root, err := repo.Root(dir)
	is, _ := repo.IsRoot(root)
	return filepath.Base(bundle) == rules.HiddenBundle && err == nil && is && realPath(root) != dir
}

// ruleTexts returns the texts of a bundle's rule files by path: unsaved ones, or else those on disk. A file that
// cannot be read is left out.
func ruleTexts(dir string, unsaved rules.Files) map[string]*text {
	all := map[string]*text{}
	for name, content := range unsaved {
		all[filepath.Join(dir, filepath.FromSlash(name))] = newText(content)
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "rules"))
	for _, e := range entries {
		path := filepath.Join(dir, "rules", e.Name())
		if source, err := rules.ReadSource(path, path); err == nil && all[path] == nil && rules.LooksLikeRules(path) {
			all[path] = newText(source.Text)
		}
	}
	return all
}
