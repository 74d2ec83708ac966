// Package naive is a second policyscan, written from the specification of bundles 0.1 and 0.2 alone, to compare with
// the first: what it finds in a tree, at which places, and which bundles it refuses.
//
// It is as simple as it can be: whole contents in memory, each encoding at each position by itself, Go's regexp on
// each line. So it is slow, and easy to check against the page by reading.
//
// It knows texts with their options, regular expressions, keys, required and forbidden files, and the ways to choose
// files, and allowances (a [Change]). It reads no YAML, JSON, HCL or TOML: whoever writes a file gives its meaning (a
// [Parsed]). It reads Dockerfiles, as Docker's documentation describes them, and JSON in a text.
// It does not know submodules, or links to what is not a regular file of the tree; nor all that a bundle 0.1 refuses
// (tags, anchors, globs that can never match), since the first program is compared with that elsewhere.
package naive

import (
	"cmp"
	"slices"
	"strings"
)

// A File is what a path of the tree has.
type File struct {
	Path    string
	Content string // of a link its target
	Kind    Kind
}

// A Kind is what a path of the tree is.
type Kind string

const (
	Regular Kind = "regular"
	Link    Kind = "link"
	FIFO    Kind = "fifo"
)

// A Scan is what is judged.
type Scan struct {
	Tree []File
	// Changed has the paths of the tree that are scanned, if it is not nil: the others only count as required files.
	Changed map[string]bool
	// WithoutRequiredFiles is for the scopes that do not see the whole tree.
	WithoutRequiredFiles bool
	// EmptyIsFine is for changes: nothing to scan is then no error.
	EmptyIsFine bool
	// Found says that the bundle was found in the tree, all of which is scanned: then it must cover something.
	Found bool
	// Parsed is what the files mean to items with keys, by [Meant].
	Parsed map[string]*Parsed
	// Allow accepts unavailable content, links to what is not selected, and that there is no file.
	Allow bool
}

// An Outcome is what the program has to report.
type Outcome struct {
	Verdict    string // PASS or FAIL
	Status     int    // the exit status
	Violations []Violation
	Errors     []Error
	Excluded   []Excluded
	// Unknown says that an item with a key applies to a content of unknown meaning: nothing follows.
	Unknown bool
}

// A Violation has the members of the verdict that have these names, but for Path.
type Violation struct {
	RuleID, File, Kind, Pattern              string
	Offset, Line, Column, EndLine, EndColumn int
	Encoding                                 string
	Occurrences                              int
	Places                                   string // the offsets of all; a verdict lists a hundred
	Labels                                   string // of a change: the status, and that of each place
}

// An Error is a code, and the file that it is about, as the verdict writes it.
type Error struct {
	Code, File string
}

// Excluded is how many paths the exclude of a rule file took from its rules.
type Excluded struct {
	File  string
	Count int
}

// Judge returns what the bundle finds in the tree.
func Judge(b *Bundle, s Scan) Outcome {
	files := slices.SortedFunc(slices.Values(s.Tree), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	var scanned []File
	for _, f := range files {
		if s.Changed == nil || s.Changed[f.Path] {
			scanned = append(scanned, f)
		}
	}
	var o Outcome
	for _, r := range b.Enforced() {
		if !s.WithoutRequiredFiles {
			o.Violations = append(o.Violations, missingFiles(r, files)...)
		}
		for _, f := range scanned {
			asked := r
			if f.Kind == Link && undecided(b, f, files) != nil { // what it has is not known
				asked.Containing = nil
			}
			o.Violations = append(o.Violations, judgeFile(asked, f, s.Parsed)...)
		}
	}
	if len(scanned) == 0 && !s.EmptyIsFine && !s.Allow {
		o.Errors = append(o.Errors, Error{"E_EMPTY", ""})
	} else if s.Found && !s.Allow && !slices.ContainsFunc(b.Enforced(), func(r Rule) bool { return r.looksAt(scanned) }) {
		o.Errors = append(o.Errors, Error{"E_EMPTY", ""})
	}
	for _, f := range scanned {
		if !s.Allow {
			o.Errors = append(o.Errors, undecided(b, f, files)...)
		}
		for _, code := range unparsed(b, f, s.Parsed) {
			o.Errors = append(o.Errors, Error{code, Written(f.Path)})
			o.Unknown = o.Unknown || code == unknown
		}
	}
	for _, file := range b.Files {
		if len(file.Exclude) > 0 {
			o.Excluded = append(o.Excluded, Excluded{"rules/" + file.Name, countExcluded(file, scanned)})
		}
	}
	o.Verdict, o.Status = "PASS", 0
	if len(o.Errors) > 0 {
		o.Verdict, o.Status = "FAIL", 2
	}
	if len(o.Violations) > 0 {
		o.Verdict, o.Status = "FAIL", 1
	}
	return o
}

// looksAt reports whether a rule looks at one of the files: at its content, or at the path of each.
func (r Rule) looksAt(files []File) bool {
	return len(r.ForbiddenFiles) > 0 || len(r.RequiredFiles) > 0 ||
		slices.ContainsFunc(files, func(f File) bool { return r.Selects(f.Path) })
}

// judgeFile returns the violations of one rule in one file.
func judgeFile(r Rule, f File, known map[string]*Parsed) []Violation {
	var found []Violation
	if has, _ := r.contains(f, known); has && r.Selects(f.Path) && f.Kind != FIFO {
		passesOver := func(item Item) bool { return item.OnlyUnparsable && !r.isUnparsable(f, known) }
		for _, item := range append(slices.Clone(r.Forbidden), r.Absent...) {
			if item.Key != nil && r.TextAlone {
				continue
			}
			if item.Key != nil {
				places, p, _ := ask(item, false, f, known)
				found = append(found, broken("key", item, f, p, places)...)
				continue
			}
			if finds := item.Find(f.Content); len(finds) > 0 && !passesOver(item) {
				v := at(f.Content, evidence(item, f.Content, finds))
				v.Kind, v.Pattern, v.Occurrences = item.Kind(), item.Name, len(finds)
				v.Places = places(item, f.Content, finds, v.Offset)
				found = append(found, v)
			}
		}
		for _, item := range r.Required {
			if item.Key != nil {
				places, p, _ := ask(item, true, f, known)
				found = append(found, broken("missing", item, f, p, places)...)
				continue
			}
			if f.Kind == Regular && !isPointer(f.Content) && !item.IsIn(f.Content) && !passesOver(item) {
				v := missingIn(f.Content)
				v.Kind, v.Pattern, v.Occurrences = "missing", item.Name, 1
				found = append(found, v)
			}
		}
	}
	for _, glob := range r.ForbiddenFiles {
		if r.matches(glob, f.Path) && !r.excludes(f.Path) {
			v := start()
			v.Kind, v.Pattern, v.Occurrences = "file", r.written(glob), 1
			found = append(found, v)
		}
	}
	for i := range found {
		found[i].RuleID, found[i].File = r.ID, Written(f.Path)
	}
	return found
}

// missingFiles returns a violation for each glob of required_files without a file.
func missingFiles(r Rule, tree []File) []Violation {
	var missing []Violation
	for _, glob := range r.RequiredFiles {
		there := slices.ContainsFunc(tree, func(f File) bool {
			path, in := f.Path, true
			if r.Below != "" {
				path, in = strings.CutPrefix(path, r.Below+"/")
			}
			return f.Kind == Regular && f.Content != "" && in && Match(glob, path) && !r.excludes(f.Path)
		})
		if !there {
			v := start()
			v.RuleID, v.Kind, v.Pattern, v.Occurrences = r.ID, "missing", r.written(glob), 1
			missing = append(missing, v)
		}
	}
	return missing
}

// undecided returns the errors about one file: unavailable content, and links to what is not selected.
func undecided(b *Bundle, f File, tree []File) []Error {
	for _, r := range b.Enforced() {
		if !r.Selects(f.Path) {
			continue
		}
		switch {
		case f.Kind == FIFO:
			return []Error{{"E_NOT_REGULAR", Written(f.Path)}}
		case f.Kind == Regular && isPointer(f.Content):
			return []Error{{"E_UNAVAILABLE", Written(f.Path)}}
		case f.Kind == Link && !r.Selects(resolve(f, tree)):
			return []Error{{"E_LINK", Written(f.Path)}}
		}
	}
	return nil
}

// isPointer reports whether a content is a Git LFS pointer: what it says is matched, but the file is elsewhere.
func isPointer(content string) bool {
	return strings.HasPrefix(content, "version https://git-lfs.github.com/spec/")
}

// resolve returns the path to which a link leads: a file in the same directory.
func resolve(link File, tree []File) string {
	dir := link.Path[:strings.LastIndex(link.Path, "/")+1]
	target := dir + link.Content
	for _, f := range tree {
		if f.Path == target && f.Kind == Link {
			return resolve(f, tree)
		}
	}
	return target
}

// countExcluded counts the paths that a rule of the file would have selected if the file had no exclude. What is
// deprecated selects nothing.
func countExcluded(file RuleFile, scanned []File) int {
	count := 0
	if file.Type == "deprecated" {
		return 0
	}
	for _, f := range scanned {
		would := slices.ContainsFunc(file.Rules, func(r Rule) bool {
			r.FileExclude = nil
			matches := func(glob string) bool { return r.matches(glob, f.Path) }
			return r.Selects(f.Path) || slices.ContainsFunc(r.ForbiddenFiles, matches) && !r.excludes(f.Path)
		})
		if would && anyMatch(file.Exclude, f.Path) {
			count++
		}
	}
	return count
}

// Written is a path as the verdict writes it.
func Written(path string) string {
	var b strings.Builder
	for i, r := range path {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == 0xFFFD && path[i] != 0xEF:
			const digits = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(digits[path[i]>>4])
			b.WriteByte(digits[path[i]&15])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
