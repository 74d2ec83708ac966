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

// A stray is an entry of the rules directory that is a rule file, or could be meant as one but is not read.
type stray struct {
	name string // from the bundle's directory
	what string // its kind; "" for a file
	err  error  // why it cannot be inspected
}

// isNamed reports whether it is no stray, but a rule file with a fixed name.
func (s *stray) isNamed() bool { return s.err == nil && isNamed(s.name) }

// isOther reports whether it is a rule file of a 0.2 bundle; in a 0.1 bundle, it is a stray.
func (s *stray) isOther() bool { return s.err == nil && s.what == "" && isOther(s.name) }

const maxListed = 10_000

// straysOf returns the strays of a directory on disk, at any depth, by name. A missing directory has none.
func straysOf(fsys fs.FS) []stray {
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
			err := fmt.Errorf("it has more than %d files and directories", maxListed)
			all = append(all, stray{name: path.Dir(BoundariesFile), err: err})
			return fs.SkipAll
		}
		if s, ok := strayOf(name, e.Type()); ok {
			all = append(all, s)
		}
		return nil
	})
	if err != nil { // the callbacks above return no error
		all = append(all, stray{name: path.Dir(BoundariesFile), err: err})
	}
	return all
}

// strayOf returns the stray at a path below the rules directory, if it is one.
func strayOf(name string, mode fs.FileMode) (s stray, ok bool) {
	switch {
	case isNamed(name):
		return stray{name: name}, true
	case mode.IsDir() || mode&fs.ModeSymlink == 0 && !LooksLikeRules(name):
		return stray{}, false
	case !mode.IsRegular():
		return stray{name: name, what: kindOf(mode)}, true
	}
	return stray{name: name}, true
}

func namedFiles() []string {
	return []string{BoundariesFile, InvariantsFile, DeprecatedFile, AllowancesFile}
}

// mayEnforce reports whether a rule file of that name could have enforced rules.
func mayEnforce(name string) bool { return name != DeprecatedFile && name != AllowancesFile }

func isNamed(name string) bool { return slices.Contains(namedFiles(), name) }

// isOther reports whether a path in a bundle is a rule file without a fixed name. A fixed name in another case does
// not count: some disks ignore case.
func isOther(name string) bool {
	return path.Dir(name) == path.Dir(BoundariesFile) && strings.HasSuffix(name, ".yml") && !IsRuleFile(path.Base(name))
}

// MayBeRead reports whether [Load] reads a file at this path in a 0.2 bundle.
func MayBeRead(name string) bool { return isNamed(name) || isOther(name) }

// LooksLikeRules reports whether a file of that name could be meant as a rule file.
func LooksLikeRules(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yml" || ext == ".yaml"
}

// IsRuleFile reports whether a base name is a fixed name of a bundle's files, in any case.
func IsRuleFile(name string) bool {
	return LooksLikeRules(name) && slices.ContainsFunc(namedFiles(), func(file string) bool {
		return strings.EqualFold(strings.TrimSuffix(name, path.Ext(name)), strings.TrimSuffix(path.Base(file), ".yml"))
	})
}

// mistake returns the error about a stray. A symlink is always one: it could point to a directory of rules.
func (s *stray) mistake(is02 bool) *document.Error {
	e := &document.Error{Code: document.CodeUnread, File: s.name}
	switch {
	case s.err != nil:
		e := unreadable(s.name, s.err)
		e.Fix = "make it readable: a rule file in it would not be read"
		return e
	case s.what != "":
		e.Found = "is " + s.what + ", which is neither followed nor read"
		e.Fix = "replace it with the file itself, or remove it"
	case !is02:
		e.Found = "this file is not read: rules/ can only have boundaries.yml, invariants.yml and deprecated.yml"
		e.Fix = "move its rules into one of these, or move it out of rules/"
	case path.Dir(s.name) != path.Dir(BoundariesFile):
		e.Found = "this file is not read: a rule file is in rules/ itself"
		e.Fix = "move it to rules/, or move the directory out of rules/"
	default:
		e.Found = "this file is not read: the name of a rule file ends in .yml, and the fixed names are in lower case"
		e.Fix = fmt.Sprintf("name it %q, or move it out of rules/", ymlName(path.Base(s.name)))
	}
	return e
}

func ymlName(name string) string {
	stem := strings.TrimSuffix(name, path.Ext(name))
	if IsRuleFile(name) {
		stem = strings.ToLower(stem)
	}
	return stem + ".yml"
}
