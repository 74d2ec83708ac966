package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/starter"
	"github.com/policyscan/policyscan/scanner/scope"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// initCmd writes a first bundle.
type initCmd struct {
	Path string `arg:"" optional:"" help:"Root of the repository. Default: that of the repository around the current folder, or the current folder."`
}

// Help returns the text below the flags.
func (*initCmd) Help() string {
	return `Writes .policyscan/rules/boundaries.yml and invariants.yml with rules for what the
repository contains: Terraform, Kubernetes, Dockerfiles, GitHub workflows. If it finds
none of them, it writes the rules for all. Writes the schema that editors check them
with to .policyscan/policy.schema.json. Adds /verdict.json, which a scan writes,
to the repository's .gitignore. Overwrites nothing.`
}

// Run writes the starter bundle's rules for the topics that the repository contains.
func (c *initCmd) Run(std streams) error {
	place, err := scope.Find(c.Path)
	if err != nil {
		return err
	}
	if err := noBundleYet(place.Root); err != nil {
		return err
	}
	topics, covered, err := detect(place.Root)
	if err != nil {
		return err
	}
	files := starter.Files(topics...)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)

	dir := filepath.Join(place.Root, ".policyscan")
	if err := os.MkdirAll(filepath.Join(dir, "rules"), 0o777); err != nil {
		return fmt.Errorf("the bundle's folder cannot be created: %w", err)
	}
	for _, name := range names {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := writeNew(file, append([]byte(schemaComment), files[name]...)); err != nil {
			return err
		}
		if err := print(std.out, "wrote %s\n", safe(filepath.ToSlash(file))); err != nil {
			return err
		}
	}
	if err := writeSchema(std, filepath.Join(dir, rules.SchemaFile)); err != nil {
		return err
	}
	ignored, failed := ignoreVerdict(place.Root)
	if ignored != "" {
		ignored += "\n"
	}
	found := "no Terraform, Kubernetes, Dockerfile or GitHub workflow was found,\n" +
		"so the bundle has the rules for all of them"
	if len(topics) > 0 {
		found = "the bundle has the rules for " + strings.Join(titles(topics), ", ")
	}
	todo, command := "read them, change what does not fit", "policyscan"
	if c.Path != "" {
		command += " " + safe(c.Path)
	}
	if !covered {
		found += "\nno file here is covered by a rule yet, so a scan would pass and check nothing"
		todo = `edit the globs under "files:" until they select your files`
		command += " --require-governed"
	}
	err = print(std.out, "%s%s\nnext: %s, then run: %s\n", ignored, found, todo, command)
	return errors.Join(failed, err)
}

// schemaComment is the first line of a rule file: YAML editors take the schema from it, offline.
const schemaComment = "# yaml-language-server: $schema=../" + rules.SchemaFile + "\n"

// writeSchema writes the schema that schemaComment names. It keeps an existing one: validate reports an old one.
func writeSchema(std streams, file string) error {
	shown := safe(filepath.ToSlash(file))
	switch err := writeNew(file, rules.Schema()); {
	case errors.Is(err, fs.ErrExist):
		return print(std.out, "kept the existing %s\n", shown)
	case err != nil:
		return err
	}
	return print(std.out, "wrote %s, the schema for editors\n", shown)
}

// noBundleYet returns an error if a scan would find a bundle in root, since a second one would replace it. It also does
// for a .policyscan that leads elsewhere, and for what looks like a part of a bundle: somebody's rules.
func noBundleYet(root string) error {
	dir, err := rules.Discover(root)
	var none *rules.Error
	switch {
	case err == nil:
		return fmt.Errorf("%s already has the rules of this repository; change them by hand, or move them away",
			safe(filepath.ToSlash(dir)))
	case !errors.As(err, &none) || none.Code != rules.CodeMissing:
		return err
	}
	for _, folder := range []string{"rules", ".policyscan"} {
		entries, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil && !disk.Absent(err) {
			return fmt.Errorf("the folder %s, which may contain rules, cannot be read: %w",
				disk.Shown(filepath.Join(root, folder)), disk.Cause(err))
		}
		for _, e := range entries {
			if isRuleFile(e.Name()) {
				return fmt.Errorf("%s looks like a part of a bundle: "+
					"complete it (%s and %s in a folder \"rules\"), or move it away",
					disk.Shown(filepath.Join(root, folder, e.Name())), path.Base(rules.BoundariesFile), path.Base(rules.InvariantsFile))
			}
		}
	}
	return nil
}

// isRuleFile reports whether a file has the name of a rule file, however it is spelt.
func isRuleFile(name string) bool {
	ext := filepath.Ext(name)
	if !strings.EqualFold(ext, ".yml") && !strings.EqualFold(ext, ".yaml") {
		return false
	}
	files := []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile}
	return slices.ContainsFunc(files, func(file string) bool {
		return strings.EqualFold(strings.TrimSuffix(name, ext), strings.TrimSuffix(path.Base(file), ".yml"))
	})
}

// writeNew writes a file that must not exist yet.
func writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// detect returns the names of the topics that a tree contains, in their order, and whether any of its files is
// covered by the rules for them, or by those for all topics if it contains none.
func detect(dir string) (names []string, covered bool, err error) {
	root, err := worktree.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	held, selected := map[string]bool{}, map[string]bool{}
	all := starter.Topics()
	bundles := map[string]*rules.Bundle{}
	for _, t := range all {
		if bundles[t.Name], err = rules.Load(rules.Files(starter.Files(t.Name))); err != nil {
			return nil, false, err
		}
	}
	var readErr error
	head := make([]byte, starter.HeadBytes)
	err = root.Walk(context.Background(), worktree.Visitor{
		Skip:    func(path string) bool { return path == ".git" },
		Passing: func(string) bool { return false },
		Failed:  func(path string, err error) { readErr = errors.Join(readErr, fmt.Errorf("%s: %w", path, err)) },
		File: func(e worktree.Entry, rd *worktree.Reader) {
			if e.Kind != worktree.Regular || readErr != nil {
				return
			}
			for _, t := range all {
				if !selected[t.Name] {
					selected[t.Name] = len(bundles[t.Name].Selecting(e.Path, nil)) > 0
				}
			}
			if len(held) == len(all) {
				return
			}
			var start []byte
			if strings.HasSuffix(e.Path, ".yaml") || strings.HasSuffix(e.Path, ".yml") {
				start, readErr = readHead(rd, e.Path, head)
			}
			for _, t := range all {
				if !held[t.Name] && t.Holds(e.Path, start) {
					held[t.Name] = true
				}
			}
		},
	})
	if err := errors.Join(err, readErr); err != nil {
		return nil, false, fmt.Errorf("the tree cannot be read: %w", err)
	}
	for _, t := range all {
		if held[t.Name] {
			names = append(names, t.Name)
		}
		if held[t.Name] || len(held) == 0 {
			covered = covered || selected[t.Name]
		}
	}
	return names, covered, nil
}

// readHead returns the beginning of a file, in buf.
func readHead(rd *worktree.Reader, path string, buf []byte) ([]byte, error) {
	f, err := rd.Open(path, true)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, worktree.ErrChanged) {
		return nil, nil // it gives no hint; init only makes a proposal
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return buf[:n], err
}

func titles(names []string) []string {
	var out []string
	for _, t := range starter.Topics() {
		if slices.Contains(names, t.Name) {
			out = append(out, t.Title)
		}
	}
	return out
}
