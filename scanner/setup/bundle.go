package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/starter"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// schemaComment is the first line of a rule file: YAML editors read the schema offline by it.
const schemaComment = "# yaml-language-server: $schema=../" + rules.SchemaFile + "\n"

// A Bundle is the first bundle as written.
type Bundle struct {
	Files      []string // files written, also before an error: the user's rules, then one for each of Packs
	Packs      []Chosen
	Schema     string // the schema for editors; "" if not written
	KeptSchema bool   // the schema existed, and may be outdated
	Covered    bool   // a rule covers an existing file
}

// WriteBundle writes the packs for the tree into root, and a file for the user's rules. It fails if root has a bundle,
// or something like one.
func WriteBundle(root string) (Bundle, error) {
	var b Bundle
	if err := noBundleYet(root); err != nil {
		return b, err
	}
	tree, err := worktree.Open(root)
	if err != nil {
		return b, err
	}
	defer tree.Close()
	if b.Packs, err = choose(tree); err != nil {
		return b, err
	}
	dir := filepath.Join(root, rules.HiddenBundle)
	if err := os.MkdirAll(filepath.Join(dir, "rules"), 0o777); err != nil {
		return b, fmt.Errorf("the bundle's directory cannot be created: %w", err)
	}
	written := record{}
	writeFile := func(name string, text []byte) error {
		file := filepath.Join(dir, filepath.FromSlash(name))
		err := writeNew(file, append([]byte(schemaComment), text...), 0o666)
		if err == nil {
			b.Files = append(b.Files, file)
		}
		return err
	}
	if err := writeFile(rules.BoundariesFile, starter.Files()[rules.BoundariesFile]); err != nil {
		return b, err
	}
	for _, c := range b.Packs {
		b.Covered = b.Covered || c.selects
		text := starter.Files(c.Name)[packFile(c.Name)]
		written[c.Name] = hashes(text)
		if err := writeFile(packFile(c.Name), withExcludes(text, c.Excluded)); err != nil {
			return b, err
		}
	}
	if err := written.write(dir); err != nil {
		return b, err
	}
	file := filepath.Join(dir, rules.SchemaFile)
	err = writeNew(file, rules.Schema(), 0o666)
	if b.KeptSchema = errors.Is(err, fs.ErrExist); err == nil || b.KeptSchema {
		b.Schema, err = file, nil
	}
	return b, err
}

// A Pack is a file of rules in the program.
type Pack struct {
	Name  string `json:"name"` // builtin:infra, or builtin: and the name of its file
	Rules int    `json:"rules"`
	About string `json:"about"`
}

// Packs returns the packs in the program, and builtin:infra, which is several of them.
func Packs() ([]Pack, error) {
	var all []Pack
	var infra []string
	add := func(name, about string) error {
		bundle, err := rules.Load(rules.Files(starter.Files(starter.Names(name)...)))
		if err == nil {
			all = append(all, Pack{"builtin:" + name, len(bundle.Rules), about})
		}
		return err
	}
	for _, p := range starter.Packs() {
		if err := add(p.Name, p.About); err != nil {
			return nil, err
		}
		if slices.Contains(starter.Names("infra"), p.Name) {
			infra = append(infra, p.Name)
		}
	}
	err := add("infra", strings.Join(infra, ", "))
	return all, err
}

func packFile(name string) string { return "rules/" + name + ".yml" }

// withExcludes adds paths to the exclude of a pack's file, as globs.
func withExcludes(text []byte, paths []string) []byte {
	const own = `exclude: ["**/.policyscan/**"] # this bundle itself` + "\n"
	if len(paths) == 0 {
		return text
	}
	var list strings.Builder
	list.WriteString("exclude:\n  - \"**/.policyscan/**\" # this bundle itself\n" +
		"  # Cannot be parsed, or are links to what these rules are not about: nothing of them is checked here.\n")
	var globs []string
	for _, p := range paths {
		globs = append(globs, globOf(p))
	}
	slices.Sort(globs)
	for _, glob := range slices.Compact(globs) {
		fmt.Fprintf(&list, "  - '%s'\n", glob)
	}
	return bytes.Replace(text, []byte(own), []byte(list.String()), 1)
}

// globOf returns the glob of a path, in which ? is a placeholder for what globs or YAML's quotes could read otherwise.
func globOf(name string) string {
	return "/" + strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`*?[]{}\'!`, r) {
			return '?'
		}
		return r
	}, name)
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
