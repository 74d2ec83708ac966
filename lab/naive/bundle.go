package naive

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Bundle is the rule files, in the order in which they are enforced; deprecated ones last.
type Bundle struct {
	Files []RuleFile
}

// A RuleFile is a file of rules/.
type RuleFile struct {
	Name    string // in rules/
	Type    string // boundary, invariant, deprecated
	Version string // 0.1 or 0.2
	Exclude []string
	Bundles []string // globs of directories whose bundles add rules
	Rules   []Rule
}

// A Rule is an entry of a rule file.
type Rule struct {
	ID                          string
	Files, Exclude, FileExclude []string
	IgnorePathCase              bool
	Forbidden, Absent, Required []Item
	Containing                  []Item // only files in which one of these is found are checked
	ForbiddenFiles              []string
	RequiredFiles               []string
	UnparsableText              bool // what cannot be parsed is judged by the other items alone
	TextAlone                   bool // its items with a key only decide which files the others are checked in
	NeverAllowed                bool // allowances: never

	Below string // the directory from which its globs count; "" for the root
}

// A Mistake is why a bundle is refused, and where.
type Mistake struct {
	File string // in rules/, or empty for the bundle as a whole
	Line int    // 1-based; 0 for the file as a whole
	What string
}

// Enforced returns the rules that judge, in their order.
func (b *Bundle) Enforced() []Rule {
	var rules []Rule
	for _, f := range b.Files {
		if f.Type != "deprecated" {
			rules = append(rules, f.Rules...)
		}
	}
	return rules
}

// Both is the bundle that judges a change: the rules of the base's and of the head's, a rule that is the same in both
// once.
func Both(base, head *Bundle) *Bundle {
	both := Bundle{Files: slices.Clone(base.Files)}
	same := func(r Rule) func(Rule) bool {
		return func(old Rule) bool { return reflect.DeepEqual(r.whole(), old.whole()) }
	}
	for _, f := range head.Files {
		f.Rules = slices.DeleteFunc(slices.Clone(f.Rules), func(r Rule) bool {
			return slices.ContainsFunc(base.Enforced(), same(r))
		})
		both.Files = append(both.Files, f)
	}
	return &both
}

// whole is the rule with the exclude of its file as its own, its expressions and keys by their names alone, and its
// texts without the names, which depend on the version of the file.
func (r Rule) whole() Rule {
	r.Exclude = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Exclude, r.FileExclude))))
	r.FileExclude = nil
	for _, items := range []*[]Item{&r.Forbidden, &r.Absent, &r.Required, &r.Containing} {
		*items = slices.Clone(*items)
		for i := range *items {
			if (*items)[i].Regexp == nil && (*items)[i].Key == nil {
				(*items)[i].Name = ""
			}
			(*items)[i].Regexp, (*items)[i].Except, (*items)[i].Key = nil, nil, nil
		}
	}
	return r
}

// Selects reports whether the rule's items are about a path.
func (r Rule) Selects(path string) bool {
	return slices.ContainsFunc(r.Files, func(glob string) bool { return r.matches(glob, path) }) && !r.excludes(path)
}

// excludes reports whether an exclude takes a path from the rule, or it is a rule file of the rule's own directory.
func (r Rule) excludes(path string) bool {
	if r.Below == "" {
		return anyMatch(r.Exclude, path) || anyMatch(r.FileExclude, path)
	}
	path, in := strings.CutPrefix(path, r.Below+"/")
	name, own := strings.CutPrefix(path, ".policyscan/rules/")
	own = own && strings.HasSuffix(name, ".yml") && !strings.Contains(name, "/")
	return in && (own || anyMatch(r.Exclude, path) || anyMatch(r.FileExclude, path))
}

// matches is for files and forbidden_files, which may ignore case.
func (r Rule) matches(glob, path string) bool {
	below := r.Below
	if r.IgnorePathCase {
		glob, path, below = lower(glob), lower(path), lower(below)
	}
	if below == "" {
		return Match(glob, path)
	}
	path, in := strings.CutPrefix(path, below+"/")
	return in && Match(glob, path)
}

// written is a glob as it would be in the root's bundle. The names of directories have no character of globs here.
func (r Rule) written(glob string) string {
	if r.Below == "" {
		return glob
	}
	return r.Below + "/" + glob
}

// WithBelow adds the bundles of the directories that the bundle names in a tree.
func (b *Bundle) WithBelow(tree []File) (*Bundle, []Mistake) {
	rules := map[string]map[string]string{} // by directory and name
	var mistakes []Mistake
	var named []string
	for _, f := range b.Files {
		named = append(named, f.Bundles...)
	}
	for _, f := range tree {
		dir, name, is := strings.Cut(f.Path, "/.policyscan/rules/")
		if is && anyMatch(named, dir) {
			if rules[dir] == nil {
				rules[dir] = map[string]string{}
			}
			rules[dir][name] = f.Content
		}
	}
	all := &Bundle{Files: slices.Clone(b.Files)}
	for _, dir := range slices.Sorted(maps.Keys(rules)) {
		for other := range rules {
			if other != dir && lower(other) == lower(dir) {
				mistakes = append(mistakes, Mistake{"", 0, dir + " in two cases"})
			}
		}
		below, wrong := Load(rules[dir])
		mistakes = append(mistakes, wrong...)
		for _, f := range below.Files {
			for i := range f.Rules {
				f.Rules[i].ID, f.Rules[i].Below = dir+":"+f.Rules[i].ID, dir
			}
			all.Files = append(all.Files, f)
			if f.Bundles != nil {
				mistakes = append(mistakes, Mistake{f.Name, 0, "only the root names directories"})
			}
		}
	}
	return all, mistakes
}

// Load reads a bundle: the files below rules/ by their path there.
func Load(files map[string]string) (*Bundle, []Mistake) {
	var mistakes []Mistake
	var b Bundle
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		switch {
		case !strings.HasSuffix(name, ".yml") && !strings.HasSuffix(name, ".yaml"):
			continue
		case strings.Contains(name, "/"), strings.HasSuffix(name, ".yaml"):
			mistakes = append(mistakes, Mistake{name, 0, "not read"})
			continue
		}
		file, wrong := loadFile(name, files[name])
		mistakes = append(mistakes, wrong...)
		b.Files = append(b.Files, file)
	}
	mistakes = append(mistakes, b.versions()...)
	mistakes = append(mistakes, b.ids()...)
	slices.SortStableFunc(b.Files, func(a, b RuleFile) int { return cmp.Compare(a.place(), b.place()) })
	if len(mistakes) == 0 && len(b.Enforced()) == 0 {
		mistakes = append(mistakes, Mistake{"", 0, "no rule"})
	}
	return &b, mistakes
}

// place orders the files: each type has its first file, then the others by their names.
func (f RuleFile) place() string {
	switch f.Name {
	case "boundaries.yml":
		return "0"
	case "invariants.yml":
		return "2"
	case "deprecated.yml":
		return "4"
	}
	return map[string]string{"boundary": "1", "invariant": "3", "deprecated": "5"}[f.Type] + f.Name
}

// versions are the mistakes about which files there are, and what they say they are.
func (b *Bundle) versions() []Mistake {
	var mistakes []Mistake
	version := map[string]string{}
	newer := false
	for _, f := range b.Files {
		version[f.Name] = f.Version
		newer = newer || f.Version == "0.2"
	}
	if version["boundaries.yml"] == "" {
		mistakes = append(mistakes, Mistake{"boundaries.yml", 0, "missing"})
	}
	if version["invariants.yml"] == "" && !newer {
		mistakes = append(mistakes, Mistake{"invariants.yml", 0, "missing"})
	}
	if newer && version["boundaries.yml"] == "0.1" {
		mistakes = append(mistakes, Mistake{"boundaries.yml", 0, `another file says bundle: "0.2"`})
	}
	for _, f := range b.Files {
		if !standard(f.Name) && f.Version == "0.1" {
			mistakes = append(mistakes, Mistake{f.Name, 0, `it does not say bundle: "0.2"`})
		}
	}
	return mistakes
}

// ids are the mistakes about ids that occur twice.
func (b *Bundle) ids() []Mistake {
	var mistakes []Mistake
	seen := map[string]bool{}
	for _, f := range b.Files {
		for _, r := range f.Rules {
			if seen[r.ID] {
				mistakes = append(mistakes, Mistake{"", 0, "the id " + r.ID + " twice"})
			}
			seen[r.ID] = true
		}
	}
	return mistakes
}

// standard reports whether the name of a file says its type.
func standard(name string) bool {
	return name == "boundaries.yml" || name == "invariants.yml" || name == "deprecated.yml"
}
