package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
)

// A stray is something in the folder of the rule files that is not read, and could be meant to be.
type stray struct {
	name string // from the bundle's folder
	what string // what it is, if it is not a file; "" for one
	err  error  // why it cannot be looked at
	read bool   // it is a rule file that need not be there, and is read
}

// maxListed is how many files and folders are looked at for strays.
const maxListed = 10_000

// strays returns them, at any depth, in the order of their names. What is not there has none.
func strays(fsys fs.FS) []stray {
	var all []stray
	listed := 0
	err := fs.WalkDir(fsys, path.Dir(BoundariesFile), func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			all = append(all, stray{name: name, err: err})
			return fs.SkipDir
		}
		if listed++; listed > maxListed {
			err := fmt.Errorf("it has more than %d files and folders", maxListed)
			all = append(all, stray{name: path.Dir(BoundariesFile), err: err})
			return fs.SkipAll
		}
		if name == DeprecatedFile {
			all = append(all, stray{name: name, read: true})
		}
		link := e.Type()&fs.ModeSymlink != 0
		if s := (stray{name: name}); !slices.Contains(ruleFiles(), name) && !e.IsDir() &&
			(link || LooksLikeRules(name)) {
			if !e.Type().IsRegular() {
				s.what = kindOf(e.Type())
			}
			all = append(all, s)
		}
		return nil
	})
	if err != nil { // the functions above return none
		all = append(all, stray{name: path.Dir(BoundariesFile), err: err})
	}
	return all
}

// ruleFiles are the names of those that are read.
func ruleFiles() []string { return []string{BoundariesFile, InvariantsFile, DeprecatedFile} }

// LooksLikeRules reports whether a file of that name could be meant as a rule file.
func LooksLikeRules(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yml" || ext == ".yaml"
}

// IsRuleFile reports whether a file has the name of a rule file, without a folder and however it is spelt.
func IsRuleFile(name string) bool {
	return LooksLikeRules(name) && slices.ContainsFunc(ruleFiles(), func(file string) bool {
		return strings.EqualFold(strings.TrimSuffix(name, path.Ext(name)), strings.TrimSuffix(path.Base(file), ".yml"))
	})
}

// mistake is the error that a stray is. A link is one whatever its name: it could lead to a folder of rules.
func (s *stray) mistake() *document.Error {
	switch {
	case s.err != nil:
		e := unreadable(s.name, s.err)
		e.Fix = "make it readable: a rule file in it would not be read"
		return e
	case s.what != "":
		return &document.Error{
			Code: document.CodeUnread, File: s.name,
			Found: "is " + s.what + ", which is neither followed nor read",
			Fix:   "replace it with the file itself, or remove it",
		}
	}
	return &document.Error{
		Code: document.CodeUnread, File: s.name,
		Found: "this file is not read: rules/ can only have boundaries.yml, invariants.yml and deprecated.yml",
		Fix:   "move its rules into one of these, or move it out of rules/",
	}
}
