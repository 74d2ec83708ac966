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
)

// schemaComment is the first line of a rule file: YAML editors take the schema from it, offline.
const schemaComment = "# yaml-language-server: $schema=../" + rules.SchemaFile + "\n"

// A Bundle is a first bundle, as it was written.
type Bundle struct {
	Files      []string // files written, also before an error
	Schema     string   // the schema for editors; "" if it did not come to write it
	KeptSchema bool     // it was there already, and may be an old one
	Topics     []string // the titles of the topics that the bundle has rules for; none: for all, as none was found
	Covered    bool     // whether a rule covers any file that is there
}

// WriteBundle writes into root the starter bundle's rules for the topics that the tree contains. A tree that has
// a bundle, or something that looks like one, is an error.
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
		return b, fmt.Errorf("the bundle's folder cannot be created: %w", err)
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

// noBundleYet returns an error if a scan would find a bundle in root, since a second one would replace it. It also
// does for a .policyscan that leads elsewhere, and for what looks like a part of a bundle: somebody's rules.
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
	for _, folder := range []string{"rules", rules.HiddenBundle} {
		entries, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil && !disk.Absent(err) {
			return fmt.Errorf("the folder %s, which may contain rules, cannot be read: %w",
				disk.Shown(filepath.Join(root, folder)), disk.Cause(err))
		}
		for _, e := range entries {
			if rules.IsRuleFile(e.Name()) {
				return fmt.Errorf("%s looks like a part of a bundle: "+
					"complete it (%s and %s in a folder \"rules\"), or move it away",
					disk.Shown(filepath.Join(root, folder, e.Name())), path.Base(rules.BoundariesFile),
					path.Base(rules.InvariantsFile))
			}
		}
	}
	return nil
}
