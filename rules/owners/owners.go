// Package owners reads a CODEOWNERS file, in GitHub's or in GitLab's syntax, and answers who owns a path. Owners are
// information: no rule is judged by them, so a line that means nothing is skipped, and counted.
//
// # The two syntaxes
//
// A line is a pattern and, after spaces or tabs, the owners: @user, @org/team, an address, and on GitLab a group of any
// depth or a role such as @@maintainer. The last line that matches decides, and one without owners takes them away.
// Upper and lower case differ. A line that begins with # is a comment.
//
//	                     GitHub                          GitLab
//	# behind the owners  a comment                       owners in it count
//	a bad owner          the line is skipped             the owner is skipped
//	dir/a                from the root                   in every directory
//	dir                  also everything beneath         a file of that name
//	dir/**               everything beneath              the files in it
//	!, [a-z], \#         skipped                         exclusion, class, a name with #
//	[^a-z], [!a-z]       skipped                         skipped: no glob says it
//	[Name][2] @default   skipped                         a section
//
// In GitLab's syntax each section is judged by itself, and so are the lines before the first. A file has the owners of
// all. An exclusion is final for its section, wherever it is. Whether a section is optional, or how many must approve,
// changes no owner.
package owners

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules/glob"
)

// MaxBytes is the size from which on GitHub does not load a file; nor does this package.
const MaxBytes = 3 << 20

// Places returns where a tree can have the file; the first one that it has counts. GitHub's order and GitLab's are both
// in this one.
func Places() []string {
	return []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}
}

// GitLabCI is the file that tells a tree of GitLab's.
const GitLabCI = ".gitlab-ci.yml"

// A File is a CODEOWNERS file.
type File struct {
	IsGitLab bool  // its syntax
	Skipped  []int // the lines that mean nothing, 1-based

	entries []entry
	index   *glob.Index
	byGlob  [][]int // the entries of each of its globs, in order
}

type entry struct {
	globs   []string
	owners  []string
	section int
	exclude bool
}

var (
	heading     = regexp.MustCompile(`^\^?\[([^\]]+)\](?:\[[^\]]*\])?(?:[ \t]+(.*))?$`)
	gitHubOwner = regexp.MustCompile(`^@[\w.-]+(/[\w.-]+)?$|^[\w.+%-]+@[\w-]+(\.[\w-]+)+$`)
	gitLabOwner = regexp.MustCompile(`^@@?[\w.-]+(/[\w.-]+)*$|^[\w.+%-]+@[\w-]+(\.[\w-]+)+$`)
)

// Parse reads the file at one of [Places]. inGitLab: the tree has [GitLabCI]. Outside .github and .gitlab, which say
// the syntax, it is GitLab's in such a tree, and where a line is the heading of a section.
func Parse(place, text string, inGitLab bool) *File {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	f := &File{IsGitLab: strings.HasPrefix(place, ".gitlab/")}
	if !f.IsGitLab && !strings.HasPrefix(place, ".github/") {
		f.IsGitLab = inGitLab || slices.ContainsFunc(lines, heading.MatchString)
	}
	sections, section := map[string]int{"": 0}, 0
	var defaults []string
	for i, line := range lines {
		h := heading.FindStringSubmatch(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if f.IsGitLab && h != nil {
			name := strings.ToLower(h[1])
			if _, known := sections[name]; !known {
				sections[name] = len(sections)
			}
			section, defaults = sections[name], f.owners(h[2]).valid
			continue
		}
		e, ok := f.entry(line)
		if !ok {
			f.Skipped = append(f.Skipped, i+1)
			continue
		}
		if e.section = section; len(e.owners) == 0 {
			e.owners = defaults
		}
		f.entries = append(f.entries, e)
	}
	f.build()
	return f
}

func (f *File) build() {
	var sets [][]string
	for i := range f.entries {
		sets = append(sets, f.entries[i].globs)
	}
	f.index = glob.NewIndex(sets...)
	f.byGlob = make([][]int, f.index.Len())
	for i := range f.entries {
		for _, g := range f.entries[i].globs {
			n := f.index.Number(g)
			f.byGlob[n] = append(f.byGlob[n], i)
		}
	}
}

// Of returns the owners of a file, sorted. The path is from the root, with slashes.
func (f *File) Of(path string) []string {
	last, excluded := map[int]int{}, map[int]bool{} // by section
	f.index.Match(path, nil).Each(func(n int) {
		for _, i := range f.byGlob[n] {
			e := &f.entries[i]
			excluded[e.section] = excluded[e.section] || e.exclude
			last[e.section] = max(last[e.section], i)
		}
	})
	var all []string
	for section, i := range last {
		if !excluded[section] {
			all = append(all, f.entries[i].owners...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// entry reads a line; false if it means nothing.
func (f *File) entry(line string) (e entry, ok bool) {
	end := 0
	for end < len(line) && line[end] != ' ' && line[end] != '\t' {
		if line[end] == '\\' && end+1 < len(line) {
			end++
		}
		end++
	}
	pattern, rest := line[:end], line[end:]
	if f.IsGitLab {
		pattern, e.exclude = strings.CutPrefix(pattern, "!")
		e.globs = gitLabGlobs(pattern)
	} else {
		e.globs = gitHubGlobs(pattern)
	}
	owners := f.owners(rest)
	e.owners = owners.valid
	mistaken := func(g string) bool { return glob.Check(g) != nil }
	return e, utf8.ValidString(line) && len(e.globs) > 0 && !slices.ContainsFunc(e.globs, mistaken) &&
		(f.IsGitLab || !owners.isWrong)
}

type ownerList struct {
	valid   []string
	isWrong bool // it has others
}

func (f *File) owners(text string) (l ownerList) {
	form := gitHubOwner
	if f.IsGitLab {
		form = gitLabOwner
	}
	for _, word := range strings.Fields(text) {
		if word[0] == '#' && !f.IsGitLab {
			break
		}
		if form.MatchString(word) {
			l.valid = append(l.valid, word)
		} else {
			l.isWrong = true
		}
	}
	return l
}

// gitHubGlobs returns the globs of a pattern; none if it means nothing.
func gitHubGlobs(pattern string) []string {
	if strings.ContainsAny(pattern, "[]") || strings.HasPrefix(pattern, "!") || strings.HasPrefix(pattern, `\#`) {
		return nil
	}
	name, isDir := strings.CutSuffix(pattern, "/")
	g := translate(strings.TrimPrefix(name, "/"))
	if !strings.Contains(name, "/") {
		g = "**/" + g
	}
	switch last := g[strings.LastIndexByte(g, '/')+1:]; {
	case last == "":
		return nil
	case isDir:
		return []string{g + "/**"}
	case last == "*", last == "**":
		return []string{g}
	}
	return []string{g, g + "/**"}
}

// gitLabGlobs returns the globs of a pattern, which GitLab compares as File.fnmatch of Ruby does.
func gitLabGlobs(pattern string) []string {
	name, isDir := strings.CutSuffix(pattern, "/")
	g, isAnchored := strings.CutPrefix(name, "/")
	switch g = translate(g); {
	case g == "" && !isDir, strings.Contains(g, "[^"), strings.Contains(g, "[!"):
		return nil
	case g == "":
		return []string{"**"}
	case isDir:
		g += "/**"
	case strings.HasSuffix("/"+g, "/**"): // two stars are special before a slash only
		g = g[:len(g)-1]
	}
	if !isAnchored {
		g = "**/" + g
	}
	return []string{g}
}

// translate returns the glob of a pattern: braces are characters, several stars that are not a segment are one, and a
// backslash stands only before what is special.
func translate(pattern string) string {
	segments := strings.Split(pattern, "/")
	for i, s := range segments {
		if s == "**" {
			continue
		}
		var b strings.Builder
		star := false // the last character
		for k := 0; k < len(s); k++ {
			c, was := s[k], star
			star = c == '*'
			switch {
			case c == '\\' && k+1 < len(s):
				if k++; strings.IndexByte(`*?[]{}\`, s[k]) >= 0 {
					b.WriteByte('\\')
				}
				b.WriteByte(s[k])
			case c == '{', c == '}':
				b.WriteString(`\` + string(c))
			case star && was:
			default:
				b.WriteByte(c)
			}
		}
		segments[i] = b.String()
	}
	return strings.Join(segments, "/")
}
