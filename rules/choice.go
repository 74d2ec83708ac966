package rules

import (
	"cmp"
	"fmt"
	"strings"
)

// A Choice lists the globs of a rule that match a path. It agrees with [Rule.Selects] and [Rule.Forbids], which are
// faster.
type Choice struct {
	Files       []string // matching globs of Rule.Files
	Exclude     string   // the first matching glob of Rule.Exclude, or ""
	FileExclude string   // the first matching glob of Rule.FileExclude, or ""
	Forbidden   []string // matching globs of Rule.ForbiddenFiles
	Required    []string // matching globs of Rule.RequiredFiles
}

// Choose returns the globs of the rule that match a path.
func (r *Rule) Choose(path string) Choice {
	matching := func(list []string, folds bool) (all []string) {
		for _, g := range list {
			if newGlobs([]string{g}, folds).match(path) {
				all = append(all, g)
			}
		}
		return all
	}
	return Choice{
		Files:       matching(r.Files, r.PathCase),
		Exclude:     cmp.Or(matching(r.Exclude, false)...),
		FileExclude: cmp.Or(matching(r.FileExclude, false)...),
		Forbidden:   matching(r.ForbiddenFiles, r.PathCase),
		Required:    matching(r.RequiredFiles, false),
	}
}

// Excluded reports whether an exclude removes the path from the rule.
func (c *Choice) Excluded() bool { return c.Exclude != "" || c.FileExclude != "" }

// Selects reports whether the rule checks the content of the file.
func (c *Choice) Selects() bool { return len(c.Files) > 0 && !c.Excluded() }

// Forbids reports whether the rule forbids the file.
func (c *Choice) Forbids() bool { return len(c.Forbidden) > 0 && !c.Excluded() }

// Looks reports whether the rule covers the path, or would without an exclude.
func (c *Choice) Looks() bool { return len(c.Files)+len(c.Forbidden)+len(c.Required) > 0 }

// Requires reports whether the rule requires the file.
func (c *Choice) Requires() bool { return len(c.Required) > 0 && !c.Excluded() }

// Reasons describes the result in words, each time with the deciding glob.
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
		var quoted []string
		for _, g := range list.globs {
			quoted = append(quoted, fmt.Sprintf("%q", g))
		}
		if len(quoted) > 0 {
			all = append(all, list.key+": "+strings.Join(quoted, ", "))
		}
	}
	return all
}
