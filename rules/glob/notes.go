package glob

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// NotesPlain returns the lint notes of a glob that passed [Check], where globs cannot be anchored: the mistakes of
// [Ambiguous], which are errors elsewhere, and [Notes].
func NotesPlain(glob string) []string {
	var notes []string
	if !strings.Contains(glob, "/") && glob != "**" {
		notes = append(notes,
			fmt.Sprintf("%s matches in the root directory only; write %s for every directory",
				quote(glob), quote("**/"+glob)))
	}
	if m := separators(glob); m != nil {
		notes = append(notes, m.Error())
	}
	return append(notes, Notes(glob)...)
}

// Notes returns the lint notes of a glob that passed [Check].
func Notes(glob string) []string {
	var notes []string
	tokens, mistake := scan(glob)
	if mistake != nil {
		return notes
	}
	for _, e := range expansions(glob) {
		if n := dirNote(e); n != "" {
			notes = append(notes, n)
			break
		}
	}
	for i, t := range tokens {
		switch {
		case t.kind == plain && t.text == "," && i > 0 && i+1 < len(tokens) && tokens[i+1].text != " ":
			notes = append(notes, fmt.Sprintf("%s has a comma outside braces, which is a character of the path; "+
				"if two globs are meant, put each in its own quotes", quote(glob)))
		case t.kind == escaped && strings.Contains(`*?[{`, t.text[1:]):
			notes = append(notes,
				fmt.Sprintf(`%s matches the character %q itself; directories are separated by "/"`, quote(t.text),
					t.text[1:]))
		case t.kind == class && classMatchesSlash(t.text):
			notes = append(notes,
				fmt.Sprintf(`the class %s matches "/" as well, so the glob can reach into other directories`,
					quote(t.text)))
		}
	}
	return notes
}

// dirNote notes a glob X/** without braces that does not match files named X, if they could have been meant: X ends
// in a wildcard, or in the name of a file.
func dirNote(glob string) string {
	x, inDir := withoutLastStars(glob)
	if !inDir {
		return ""
	}
	name := base(x)
	switch {
	case strings.ContainsAny(name, "*?["):
		return fmt.Sprintf("%s matches what is in a directory that %s matches, but not a file with such a name; "+
			"to match both, also list %s", quote(glob), quote(x), quote(x))
	case looksLikeFile(name):
		return fmt.Sprintf("%s matches what is in a directory %s; for the file itself write %s",
			quote(glob), quote(name), quote(x))
	}
	return ""
}

// looksLikeFile reports whether a name is typical of files and rare for directories. Endings of directories such as
// conf.d and node.js do not count.
func looksLikeFile(name string) bool {
	names := []string{"Dockerfile", "Containerfile", "Makefile", "Jenkinsfile", "Vagrantfile", "Procfile", "Gemfile",
		"Tiltfile", "go.mod", "go.sum"}
	endings := []string{"tf", "tfvars", "hcl", "yml", "yaml", "json", "toml", "ini", "env", "xml", "tpl", "tmpl", "sh",
		"py", "go", "rb", "java", "ts", "md", "txt"}
	dot := strings.LastIndexByte(name, '.')
	return slices.Contains(names, name) || dot > 0 && slices.Contains(endings, name[dot+1:])
}

// classMatchesSlash reports whether a class that passed Check matches a slash: it is negated or a range spans it.
func classMatchesSlash(class string) bool {
	negated := class[1] == '!' || class[1] == '^'
	for low, high := range ranges(class) {
		if low < high && low <= '/' && '/' <= high {
			return !negated
		}
	}
	return negated // no class that passed Check names the slash itself
}

// ranges yields the ranges of a class that passed Check. A single character is a range of one.
func ranges(class string) iter.Seq2[rune, rune] {
	body := class[1 : len(class)-1]
	if body[0] == '!' || body[0] == '^' {
		body = body[1:]
	}
	return func(yield func(low, high rune) bool) {
		for len(body) > 0 {
			low, _, rest, _ := classRune(class, body, false)
			high := low
			if len(rest) > 1 && rest[0] == '-' {
				high, _, rest, _ = classRune(class, rest[1:], false)
			}
			if body = rest; !yield(low, high) {
				return
			}
		}
	}
}

// Ambiguous explains why a glob that passed [Check] may be misread, and how to write each meaning; nil if it is clear.
// The glob may begin with the anchoring slash.
func Ambiguous(glob string) *Mistake {
	if m := separators(glob); m != nil {
		return m
	}
	for _, e := range expansions(glob) {
		if e != "**" && !strings.Contains(e, "/") {
			return &Mistake{fmt.Sprintf("the glob %s has no slash", quote(e)),
				fmt.Sprintf("write %s for every directory, or %s for the root only",
					quote("**/"+glob), quote("/"+glob))}
		}
	}
	return nil
}

// separators finds a comma or a space that was likely meant to separate two globs, or two alternatives.
func separators(glob string) *Mistake {
	if !strings.ContainsAny(glob, ", ") {
		return nil
	}
	tokens, mistake := scan(glob)
	if mistake != nil {
		return mistake
	}
	if text := strings.Trim(glob, ","); text != glob && !strings.HasSuffix(text, `\`) {
		return &Mistake{"a comma at an end of the glob",
			fmt.Sprintf(`write %s, or "[,]" if a name has a comma there`, quote(text))}
	}
	type group struct{ start, commas int }
	var groups []group // the open groups
	for i, t := range tokens {
		before, after := kind(-1), kind(-1)
		if i > 0 {
			before = tokens[i-1].kind
		}
		if i+1 < len(tokens) {
			after = tokens[i+1].kind
		}
		first, last := before == open || before == comma, after == comma || after == closing
		switch {
		case t.kind == open:
			groups = append(groups, group{start: i + 1})
		case t.kind == closing:
			groups = groups[:len(groups)-1]
		case t.text == " " && len(groups) > 0 && (first || last):
			return &Mistake{"a space next to a comma or a brace",
				`remove it, or write "[ ]" if a name has a space there`}
		case t.kind == comma:
			g := &groups[len(groups)-1]
			start := g.start
			g.commas++
			optional := g.commas == 1 && after == closing && !strings.HasSuffix(text(tokens[:start]), ".{") // {x,}
			if !last || optional {
				continue
			}
			without := text(tokens[start:i]) + text(tokens[i+1:])
			return &Mistake{"a comma in braces with nothing after it",
				fmt.Sprintf("write %s, or %s if it may be empty",
					quote(text(tokens[:start])+without), quote(text(tokens[:start])+","+without))}
		case t.text == "," && t.kind == plain && after == plain && tokens[i+1].text == " ":
			return &Mistake{`a ", " outside braces, which is a part of the path`,
				"write two globs, each in its own quotes"}
		}
	}
	return nil
}
