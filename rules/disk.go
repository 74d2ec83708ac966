package rules

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules/document"
)

// LoadDir reads the bundle in the directory dir, as Load does. It never blocks and follows no symlink below dir: it
// refuses a rules directory or a rule file that is a symlink, a FIFO, a device or a directory instead. dir itself may
// be a symlink, since the user named it.
func LoadDir(dir string) (*Bundle, error) { return LoadUnsaved(dir, nil) }

// LoadUnsaved is LoadDir with the unsaved content of some files.
func LoadUnsaved(dir string, unsaved Files) (*Bundle, error) {
	rulesDir := filepath.Join(dir, "rules")
	stat, err := os.Lstat(rulesDir)
	switch {
	case disk.Absent(err):
		return nil, noRulesDir(dir)
	case err != nil:
		return nil, document.Errors{unreadable("rules", err)}
	case !stat.IsDir():
		return nil, document.Errors{notDir("rules", stat, "put a directory with the rule files there")}
	}
	read := func(name string) ([]byte, error) {
		if _, is := unsaved[name]; is {
			return unsaved.read(name)
		}
		return readDisk(filepath.Join(dir, filepath.FromSlash(name)))
	}
	listed := straysOf(os.DirFS(cmp.Or(dir, ".")))
	for _, s := range unsaved.strays() {
		if !slices.ContainsFunc(listed, func(known stray) bool { return known.name == s.name }) {
			listed = append(listed, s)
		}
	}
	return load(read, listed)
}

// InBundle reports whether a file belongs to a bundle with the rule directory dir: by its name, or because it would be
// read as a 0.2 rule file.
func InBundle(dir, name string) bool {
	if filepath.Base(dir) != "rules" || IsRuleFile(name) || !MayBeRead("rules/"+name) {
		return filepath.Base(dir) == "rules" && IsRuleFile(name)
	}
	_, err := os.Stat(filepath.Join(dir, filepath.Base(BoundariesFile)))
	return err == nil
}

func notDir(name string, stat fs.FileInfo, fix string) *document.Error {
	what := kindOf(stat.Mode())
	if stat.Mode().IsRegular() {
		what = "a file"
	}
	return newError(document.CodeRead, name, "is "+what, fix)
}

func noRulesDir(dir string) document.Errors {
	e := newError(document.CodeMissing, "rules", "no such directory in the bundle",
		`name the directory that holds rules/, or run "policyscan init" for a first one`)
	if stat, err := os.Stat(dir); err == nil && !stat.IsDir() {
		e.File, e.Found, e.Fix = "", "a file, not the directory of a bundle", "name the directory that holds rules/"
	}
	if _, err := os.Lstat(filepath.Join(dir, "boundaries.yml")); err == nil {
		e.Fix = "name the directory that holds rules/, not rules/ itself"
	}
	return document.Errors{e}
}

func readDisk(name string) ([]byte, error) {
	stat, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, errNotRegular{kindOf(stat.Mode())} // not even opened: opening can block or have side effects
	}
	f, err := openNoFollow(name)
	if err != nil {
		return nil, err
	}
	data, err := readRegular(f)
	return data, errors.Join(err, f.Close())
}

// ReadSource reads a file of rules outside a bundle, as [LoadDir] does: it refuses a symlink, a FIFO, a device, a
// directory and a file over [document.MaxFileBytes]. shown is the file's name in messages.
func ReadSource(name, shown string) (*document.Source, error) {
	text, err := readDisk(name)
	if err != nil {
		return nil, document.Errors{unreadable(shown, err)}
	}
	if len(text) > document.MaxFileBytes {
		return nil, document.Errors{newError(document.CodeLimit, shown,
			fmt.Sprintf("the file is larger than %d bytes", document.MaxFileBytes), "split it")}
	}
	return &document.Source{Name: shown, Text: bytes.TrimPrefix(text, []byte("\uFEFF"))}, nil
}

// Discover returns the directory of root's bundle: root/.policyscan if root/.policyscan/rules exists, root if
// root/rules/boundaries.yml exists. It fails if both exist: adding one of them must not switch the other off. It also
// fails if .policyscan is a symlink, which could point anywhere, or not a directory. The bundle need not be valid;
// LoadDir checks it.
func Discover(root string) (string, error) {
	hidden, err := hasHidden(root)
	if err != nil {
		return "", err
	}
	plain, err := exists(filepath.Join(root, filepath.FromSlash(BoundariesFile)))
	if err != nil {
		return "", unreadable(BoundariesFile, err)
	}
	switch {
	case hidden && plain:
		return "", TwoBundles("the root")
	case hidden:
		return filepath.Join(root, HiddenBundle), nil
	case plain:
		return root, nil
	}
	return "", newError(document.CodeMissing, "",
		"no bundle: neither .policyscan/rules nor "+BoundariesFile+" is in the root",
		`run "policyscan init", name one with --policy DIR, or use --policy builtin:infra`)
}

// HiddenBundle is the directory in a tree's root where discovery looks first.
const HiddenBundle = ".policyscan"

// TwoBundles is the error about a tree with a bundle at both places of discovery. where names the tree.
func TwoBundles(where string) *document.Error {
	return newError(document.CodeTwo, "", "two bundles: "+where+" has both .policyscan/rules and "+BoundariesFile,
		"keep one of them, or choose one with --policy")
}

// hasHidden reports whether a directory has a bundle in .policyscan. It fails if that is a symlink or a file.
func hasHidden(root string) (bool, error) {
	hidden := filepath.Join(root, HiddenBundle)
	stat, err := os.Lstat(hidden)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, unreadable(HiddenBundle, err)
	case !stat.IsDir():
		return false, notDir(HiddenBundle, stat, "make it a directory, or name the bundle with --policy")
	}
	found, err := exists(filepath.Join(hidden, "rules"))
	if err != nil {
		return false, unreadable(".policyscan/rules", err)
	}
	return found, nil
}

func exists(name string) (bool, error) {
	_, err := os.Lstat(name)
	if disk.Absent(err) {
		return false, nil
	}
	return err == nil, err
}
