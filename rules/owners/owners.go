// Package owners reads a CODEOWNERS file, in GitHub's or in GitLab's syntax, and answers who owns a path. Owners judge
// nothing: a line that means nothing is skipped. docs/rules.md has the differences of the two syntaxes.
package owners

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules/glob"
)

// MaxBytes is the size from which on GitHub loads no such file.
const MaxBytes = 3 << 20

// Places returns where a tree can have the file, in the order of GitHub and of GitLab. The first one counts.
func Places() []string {
	return []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}
}

// GitLabCI is the file by which a tree is one of GitLab's.
const GitLabCI = ".gitlab-ci.yml"

// A File is a CODEOWNERS file.
type File struct {
	IsGitLab bool  // its syntax
	Skipped  []int // the lines that mean nothing, 1-based

	entries []entry
	index   *glob.Index
	byGlob  [][]int // the entries of each of its globs
}

type entry struct {
	globs, owners []string
	section       string
	exclude       bool
}

const address = `^[\w.+%-]+@[\w-]+(\.[\w-]+)+$` // an owner in both syntaxes

// Parse reads the file at one of [Places]. Outside .github and .gitlab, the syntax is GitLab's if the tree is, or if a
// line is the heading of a section.
func Parse(place, text string, inGitLab bool) *File {
	heading := regexp.MustCompile(`^\^?\[([^\]]+)\](?:\[[^\]]*\])?(?:[ \t]+(.*))?$`)
	parts := regexp.MustCompile(`(?s)^((?:\\.|[^\\ \t])*)(.*)$`) // of a line: a pattern, and owners
	owner := regexp.MustCompile(`^@[\w.-]+(/[\w.-]+)?$|` + address)
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	f := &File{IsGitLab: strings.HasPrefix(place, ".gitlab/")}
	if !f.IsGitLab && !strings.HasPrefix(place, ".github/") {
		f.IsGitLab = inGitLab || slices.ContainsFunc(lines, heading.MatchString)
	}
	if f.IsGitLab {
		owner = regexp.MustCompile(`^@@?[\w.-]+(/[\w.-]+)*$|` + address)
	}
	ownersIn := func(text string) (all []string, ok bool) {
		words := strings.Fields(text)
		if i := slices.IndexFunc(words, isComment); i >= 0 && !f.IsGitLab {
			words = words[:i]
		}
		for _, word := range words {
			if owner.MatchString(word) {
				all = append(all, word)
			}
		}
		return all, f.IsGitLab || len(all) == len(words)
	}
	r, section, defaults := globReplacer(), "", []string(nil)
	for i, line := range lines {
		if line == "" || isComment(line) {
			continue
		}
		if h := heading.FindStringSubmatch(line); h != nil && f.IsGitLab {
			section = strings.ToLower(h[1])
			defaults, _ = ownersIn(h[2])
			continue
		}
		part := parts.FindStringSubmatch(line)
		pattern, e, ok := part[1], entry{section: section}, false
		if e.owners, ok = ownersIn(part[2]); len(e.owners) == 0 {
			e.owners = defaults
		}
		if f.IsGitLab {
			pattern, e.exclude = strings.CutPrefix(pattern, "!")
		}
		e.globs = globs(pattern, f.IsGitLab, r)
		wrong := func(g string) bool { return glob.Check(g) != nil }
		if !ok || len(e.globs) == 0 || !utf8.ValidString(line) || slices.ContainsFunc(e.globs, wrong) {
			f.Skipped = append(f.Skipped, i+1)
			continue
		}
		f.entries = append(f.entries, e)
	}
	var sets [][]string
	for i := range f.entries {
		sets = append(sets, f.entries[i].globs)
	}
	f.index = glob.NewIndex(sets...)
	f.byGlob = make([][]int, f.index.Len())
	for i, set := range sets {
		for _, g := range set {
			n := f.index.Number(g)
			f.byGlob[n] = append(f.byGlob[n], i)
		}
	}
	return f
}

// Of returns the owners of a file, sorted: those of the last line that matches, in each section without an exclusion
// that does. The path is from the root, with slashes.
func (f *File) Of(path string) (all []string) {
	last, excluded := map[string]int{}, map[string]bool{} // by section
	f.index.Match(path, nil).Each(func(n int) {
		for _, i := range f.byGlob[n] {
			e := &f.entries[i]
			excluded[e.section] = excluded[e.section] || e.exclude
			last[e.section] = max(last[e.section], i)
		}
	})
	for section, i := range last {
		if !excluded[section] {
			all = append(all, f.entries[i].owners...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func isComment(text string) bool { return strings.HasPrefix(text, "#") }

// globReplacer makes a part of a pattern a glob's: braces are characters, two stars are one, and a backslash is only
// before what is special.
func globReplacer() *strings.Replacer {
	return strings.NewReplacer(`\\`, `\\`, `\*`, `\*`, `\?`, `\?`, `\[`, `\[`, `\]`, `\]`, `\{`, `\{`, `\}`, `\}`,
		`\`, "", "{", `\{`, "}", `\}`, "**", "*")
}

// globs returns the globs of a pattern, which GitLab compares as Ruby's File.fnmatch does; none if it means nothing.
func globs(pattern string, gitLab bool, r *strings.Replacer) []string {
	name, isDir := strings.CutSuffix(pattern, "/")
	g, isRooted := strings.CutPrefix(name, "/")
	wrong := strings.Contains(g, "[^") || strings.Contains(g, "[!") // which match a slash in a glob
	if !gitLab {
		isRooted = strings.Contains(name, "/")
		wrong = strings.ContainsAny(g, "[]") || strings.HasPrefix(name, "!") || strings.HasPrefix(name, `\#`)
	}
	if wrong || g == "" || strings.Contains(g, "***") {
		return nil
	}
	segments := strings.Split(g, "/")
	last := len(segments) - 1
	for i, s := range segments {
		if s != "**" || gitLab && i == last && !isDir { // there only before a slash
			segments[i] = r.Replace(s)
		}
	}
	if g = strings.Join(segments, "/"); !isRooted {
		g = "**/" + g
	}
	switch {
	case isDir:
		return []string{g + "/**"}
	case gitLab, segments[last] == "*", segments[last] == "**":
		return []string{g}
	}
	return []string{g, g + "/**"}
}
