// Package dialect reads files of call rules in any dialect. It has the one table of the dialects.
package dialect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/clash"
	"github.com/policyscan/policyscan/agent/dialect/claudecube"
	"github.com/policyscan/policyscan/agent/dialect/evaluator"
	"github.com/policyscan/policyscan/agent/dialect/native"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
)

// A Dialect is a way to write call rules.
type Dialect struct {
	Name     string
	Strategy callrules.Strategy
	Files    string // which files are taken to be written in it
	Project  string // where a project has them, from its root; "": nowhere
	User     string // where the user has them, from the home directory; "": nowhere
	read     func(name string, files []*document.Source, define map[string]string) (*callrules.Set, error)
}

// Dialects returns all of them, in the order of the manual.
func Dialects() []Dialect {
	return []Dialect{
		{"native", callrules.AllViolations, "*.yml and *.yaml, except those of claudecube", ".policyscan/calls.yml", "",
			one(native.Read)},
		{sigmashake.Dialect, callrules.PriorityFirst, "*.rules, and directories of them", ".sigmashake/rules", "",
			func(name string, files []*document.Source, _ map[string]string) (*callrules.Set, error) {
				return sigmashake.Read(name, files)
			}},
		{"evaluator", callrules.DenyOverrides, "*.json", "", ".config/rubric/policies.json",
			one(evaluator.Read)},
		{"claudecube", callrules.CategoryFirst,
			"*.yml and *.yaml with \"defaults:\", or with \"version:\" and \"rules:\"",
			"config/rules.yaml", "", one(claudecube.Read)},
		{"clash", callrules.MostSpecific, "*.policy, *.sexpr and *.clash", ".clash/policy.sexpr", ".clash/policy.sexpr",
			clash.Read},
	}
}

func one(read func(*document.Source) (*callrules.Set, error)) func(string, []*document.Source,
	map[string]string) (*callrules.Set, error) {
	return func(_ string, files []*document.Source, _ map[string]string) (*callrules.Set, error) {
		return read(files[0])
	}
}

// Names returns the names of the dialects.
func Names() []string {
	var names []string
	for _, d := range Dialects() {
		names = append(names, d.Name)
	}
	return names
}

// Load reads the call rules in a file, or in a directory of .rules files, which are one set. name is relative to dir,
// "" is the current directory. dialect is their dialect; with "" the name of the file decides, see [Dialect.Files].
// define has the values of (env NAME) in clash. Mistakes in the files are [document.Errors].
func Load(dir, name, dialect string, define map[string]string) (*callrules.Set, error) {
	files, err := sources(dir, name)
	if err != nil {
		return nil, err
	}
	return Read(name, files, dialect, define)
}

// Read is Load for files in memory: the file of that name, or the files of a directory.
func Read(name string, files []*document.Source, dialect string, define map[string]string) (*callrules.Set, error) {
	if dialect == "" {
		if dialect = detect(files[0]); dialect == "" {
			return nil, document.Errors{{Code: document.CodeValue, File: name,
				Found: "its name does not say which dialect it is written in",
				Fix:   "name the dialect with --dialect:  " + strings.Join(Names(), ", ")}}
		}
	}
	if err := known(dialect); err != nil {
		return nil, err
	}
	if len(files) > 1 && dialect != sigmashake.Dialect {
		return nil, document.Errors{{Code: document.CodeRead, File: name, Found: "is a directory",
			Fix: "name the file of the rules in it"}}
	}
	all := Dialects()
	return all[slices.Index(Names(), dialect)].read(name, files, define)
}

func known(dialect string) error {
	if slices.Contains(Names(), dialect) {
		return nil
	}
	return fmt.Errorf("--dialect is %q; choose one of %s", dialect, strings.Join(Names(), ", "))
}

// isClaudecube reports whether a YAML file has keys that no other YAML of call rules has: "defaults", or "version" next
// to "rules". Where the text is not YAML it looks for the first.
func isClaudecube(f *document.Source) bool {
	doc := f.YAML(document.Form{})
	if doc.Root == nil {
		return claudecubeKey().Match(f.Text)
	}
	has := func(key string) bool {
		_, has := doc.Find(doc.Root, key)
		return has
	}
	return has("defaults") || has("version") && has("rules")
}

var claudecubeKey = late.Regexp(`(?m)^["']?defaults["']?[ \t]*:`)

func detect(f *document.Source) string {
	switch strings.ToLower(filepath.Ext(f.Name)) {
	case ".rules":
		return sigmashake.Dialect
	case ".json":
		return "evaluator"
	case ".policy", ".sexpr", ".clash":
		return "clash"
	case ".yml", ".yaml":
		if isClaudecube(f) {
			return "claudecube"
		}
		return "native"
	}
	return ""
}

// sources reads a file, or the .rules files of a directory in the order of their names. Such files deeper down are a
// mistake: they would seem to be in force.
func sources(dir, name string) ([]*document.Source, error) {
	at := disk.Under(dir, name)
	st, err := os.Stat(at)
	if err != nil || !st.IsDir() {
		f, err := rules.ReadSource(at, name)
		if err != nil {
			return nil, err
		}
		return []*document.Source{f}, nil
	}
	var files []*document.Source
	var errs document.Errors
	err = fs.WalkDir(os.DirFS(at), ".", func(rest string, e fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("the directory %s cannot be read: %w", path.Join(name, rest), disk.Cause(err))
		}
		file := path.Join(name, rest)
		switch {
		case e.IsDir() || !strings.EqualFold(path.Ext(rest), ".rules"):
		case path.Dir(rest) != ".": // whether SigmaShake reads it is not known; not to is to let calls through
			errs = append(errs,
				&document.Error{Code: document.CodeRead, File: file, Found: "is in a directory within " + name,
					Fix: "put it next to the others, or name its directory too"})
		default:
			f, err := rules.ReadSource(filepath.Join(at, filepath.FromSlash(rest)), file)
			var mistakes document.Errors
			if err != nil && !errors.As(err, &mistakes) {
				return err
			}
			errs = append(errs, mistakes...)
			files = append(files, f)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch {
	case errs != nil:
		return nil, errs
	case files == nil:
		return nil, document.Errors{{Code: document.CodeMissing, File: name, Found: "the directory has no .rules file",
			Fix: "name a file of call rules, or a directory of .rules files"}}
	}
	return files, nil
}
