package run

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/verdict"
)

// AllowanceNotes returns notes on the allowances of bundles that loaded together, a list for each bundle: on entries
// for rules that no bundle enforces for their file, and for files that no longer exist in the bundle's tree.
func (all RuleSources) AllowanceNotes() [][]document.Note {
	bundles := all.Bundles()
	_, notes := rules.CheckAllowances(bundles)
	enforced := map[string]*rules.Rule{}
	for _, b := range bundles {
		for i := range b.Rules {
			enforced[b.Rules[i].ID] = &b.Rules[i]
		}
	}
	for i, b := range bundles {
		if len(b.Allowances) == 0 {
			continue
		}
		root, shown := all.treeOf(&all[i])
		for k := range b.Allowances {
			a := &b.Allowances[k]
			path, r := verdict.RawPath(a.File), enforced[a.Rule]
			note := ""
			switch {
			case r == nil || r.NeverAllowed:
			case strings.ContainsAny(path, "*?") && (root == "" || gone(filepath.Join(root, filepath.FromSlash(path)))):
				note = "the file of an allowance is a path, not a glob, so nothing is allowed; " +
					"write an entry for each file"
			case !r.Selects(path) && !r.Forbids(path):
				note = "the rule does not look at this file, so nothing is allowed; correct the path, " +
					"or remove the entry"
			case root == "" || !gone(filepath.Join(root, filepath.FromSlash(path))):
			case a.MayGrow:
				note = fmt.Sprintf("there is no such file in %q yet: this exception is for a change that adds it; "+
					"if none will, remove the entry", shown)
			default:
				note = fmt.Sprintf("there is no such file in %q, so nothing is allowed; remove the entry, or, if the "+
					`file was moved, write its new path and name the old one with "from"`, shown)
			}
			if note != "" {
				notes[i] = append(notes[i], b.AllowanceNote(k, note))
			}
		}
	}
	return notes
}

// gone reports whether nothing exists at a path. It is false on other errors.
func gone(name string) bool {
	_, err := os.Lstat(name)
	return disk.Absent(err)
}

// treeOf returns the root of the tree that a bundle's allowances apply to, and its name for display; "" if unknown. It
// is the directory with .policyscan, or the tree around the current directory, if the bundle is in that or another one
// is enforced, too.
func (all RuleSources) treeOf(s *RuleSource) (root, shown string) {
	if s.Dir == "" {
		return "", ""
	}
	dir, err := disk.Real(s.Dir)
	if err != nil {
		return "", ""
	}
	if s.Below != "" {
		up := strings.TrimSuffix(filepath.ToSlash(filepath.Dir(dir)), s.Below)
		return filepath.FromSlash(up), path.Clean(strings.TrimSuffix(s.Name, s.Below+"/"+rules.HiddenBundle))
	}
	if filepath.Base(dir) == rules.HiddenBundle {
		return filepath.Dir(dir), path.Dir(s.Name)
	}
	place, err := Find("")
	if err != nil {
		return "", ""
	}
	if root, err = disk.Real(place.Root); err != nil {
		return "", ""
	}
	if rel, err := filepath.Rel(root, dir); len(all.OfTree()) == 1 && (err != nil || !filepath.IsLocal(rel)) {
		return "", ""
	}
	return root, place.Shown
}
