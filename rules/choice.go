package rules

import (
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/rules/glob"
)

// A Choice is what each glob of a rule says of a path. It says the same as [Rule.Selects] and [Rule.Forbids], which
// are faster.
type Choice struct {
	Files       []string // those of Rule.Files that match
	Exclude     string   // the first of Rule.Exclude that matches; "": none
	FileExclude string   // the first of Rule.FileExclude that matches; "": none
	Forbidden   []string // those of Rule.ForbiddenFiles that match
	Required    []string // those of Rule.RequiredFiles that match
}

// Choose says what the globs of the rule say of a path.
func (r *Rule) Choose(path string) Choice {
	matching := func(list []string, folds bool) (all []string) {
		for _, g := range list {
			if newGlobs([]string{g}, folds).match(path) {
				all = append(all, g)
			}
		}
		return all
	}
	first := func(list []string) string {
		for _, g := range list {
			if glob.Compile([]string{g}).Match(path) {
				return g
			}
		}
		return ""
	}
	return Choice{
		Files: matching(r.Files, r.PathCase), Exclude: first(r.Exclude), FileExclude: first(r.FileExclude),
		Forbidden: matching(r.ForbiddenFiles, r.PathCase), Required: matching(r.RequiredFiles, false),
	}
}

// Excluded reports whether an exclude takes the path from the rule, whatever else matches it.
func (c *Choice) Excluded() bool { return c.Exclude != "" || c.FileExclude != "" }

// Selects reports whether the content of the file is asked for.
func (c *Choice) Selects() bool { return len(c.Files) > 0 && !c.Excluded() }

// Forbids reports whether there must be no such file.
func (c *Choice) Forbids() bool { return len(c.Forbidden) > 0 && !c.Excluded() }

// Looks reports whether the rule is about the path, or would be but for an exclude.
func (c *Choice) Looks() bool { return len(c.Files)+len(c.Forbidden)+len(c.Required) > 0 }

// Requires reports whether the file is one that the tree must have.
func (c *Choice) Requires() bool { return len(c.Required) > 0 && !c.Excluded() }

// Reasons are what the globs decide, in words, each with the glob that did.
func (c *Choice) Reasons(r *Rule) []string {
	var all []string
	if c.Looks() && c.Excluded() {
		if c.Exclude != "" {
			return []string{fmt.Sprintf("excluded by %q", c.Exclude)}
		}
		return []string{fmt.Sprintf("excluded by %q of %s", c.FileExclude, r.File)}
	}
	for _, list := range []struct {
		key   string
		globs []string
	}{{"files", c.Files}, {"forbidden_files", c.Forbidden}, {"required_files", c.Required}} {
		if len(list.globs) > 0 {
			all = append(all, list.key+": "+quotedGlobs(list.globs))
		}
	}
	return all
}

func quotedGlobs(globs []string) string {
	var all []string
	for _, g := range globs {
		all = append(all, fmt.Sprintf("%q", g))
	}
	return strings.Join(all, ", ")
}
