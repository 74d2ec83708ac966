package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/starter"
	"github.com/policyscan/policyscan/scanner/run"
)

// schemaComment is the first line of a rule file: YAML editors read the schema offline by it.
const schemaComment = "# yaml-language-server: $schema=../" + rules.SchemaFile + "\n"

// A Bundle is the first bundle as written.
type Bundle struct {
	Files      []string // files written, also before an error
	Schema     string   // the schema for editors; "" if not written
	KeptSchema bool     // the schema existed, and may be outdated
	Topics     []string // titles of the topics with rules; nil: all topics, as none was found
	Covered    bool     // a rule covers an existing file
}

// WriteBundle writes the starter bundle's rules for the topics of the tree into root. It fails if root has a bundle,
// or something like one.
func WriteBundle(root string) (Bundle, error) {
	var b Bundle
	if err := noBundleYet(root); err != nil {
		return b, err
	}
	topics, covered, err := detect(root)
	if err != nil {
		return b, err
	}
	b.Covered = covered
	var names []string
	for _, t := range topics {
		names, b.Topics = append(names, t.Name), append(b.Topics, t.Title)
	}
	files := starter.Files(names...)
	dir := filepath.Join(root, rules.HiddenBundle)
	if err := os.MkdirAll(filepath.Join(dir, "rules"), 0o777); err != nil {
		return b, fmt.Errorf("the bundle's directory cannot be created: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := writeNew(file, append([]byte(schemaComment), files[name]...), 0o666); err != nil {
			return b, err
		}
		b.Files = append(b.Files, file)
	}
	file := filepath.Join(dir, rules.SchemaFile)
	err = writeNew(file, rules.Schema(), 0o666)
	if b.KeptSchema = errors.Is(err, fs.ErrExist); err == nil || b.KeptSchema {
		b.Schema, err = file, nil
	}
	return b, err
}

// noBundleYet fails if a scan would find a bundle in root, since a second one would replace it. It also fails for a
// .policyscan that is a symlink, and for parts of a bundle: these may be a user's rules.
func noBundleYet(root string) error {
	dir, err := rules.Discover(root)
	var none *document.Error
	switch {
	case err == nil:
		return fmt.Errorf("%s already has the rules of this repository; change them by hand, or move them away",
			filepath.ToSlash(dir))
	case !errors.As(err, &none) || none.Code != document.CodeMissing:
		return err
	}
	if err := run.SparseBundle(root, err); err != nil { // a second bundle would replace it
		return err
	}
	for _, dir := range []string{"rules", rules.HiddenBundle} {
		entries, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil && !disk.Absent(err) {
			return fmt.Errorf("the directory %s, which may contain rules, cannot be read: %w",
				disk.Shown(filepath.Join(root, dir)), disk.Cause(err))
		}
		for _, e := range entries {
			if rules.IsRuleFile(e.Name()) {
				return fmt.Errorf("%s looks like a part of a bundle: "+
					"complete it (%s and %s in a directory \"rules\"), or move it away",
					disk.Shown(filepath.Join(root, dir, e.Name())), path.Base(rules.BoundariesFile),
					path.Base(rules.InvariantsFile))
			}
		}
	}
	return nil
}
