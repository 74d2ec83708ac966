package glob

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Notes says what of a glob that passed Check is often a slip.
func Notes(glob string) []string {
	var notes []string
	if !strings.Contains(glob, "/") && glob != "**" {
		notes = append(notes, fmt.Sprintf("%s matches in the root folder only; write %s for every folder", quote(glob), quote("**/"+glob)))
	}
	tokens, mistake := scan(glob)
	if mistake != nil {
		return notes
	}
	for _, t := range tokens {
		switch {
		case t.kind == escaped && strings.Contains(`*?[{`, t.text[1:]):
			notes = append(notes, fmt.Sprintf(`%s matches the character %q itself; folders are separated by "/"`, quote(t.text), t.text[1:]))
		case t.kind == class && classMatchesSlash(t.text):
			notes = append(notes, fmt.Sprintf(`the class %s matches "/" as well, so the glob can reach into other folders`, quote(t.text)))
		}
	}
	return notes
}

// classMatchesSlash reports whether a class, which passed Check, matches a slash:
// it is negated or a range spans it.
func classMatchesSlash(class string) bool {
	body := class[1 : len(class)-1]
	negated := body[0] == '!' || body[0] == '^'
	if negated {
		body = body[1:]
	}
	last := utf8.MaxRune
	for len(body) > 0 {
		r, isEscaped, rest, _ := classRune(class, body, false)
		if r == '-' && !isEscaped && last < utf8.MaxRune && rest != "" {
			high, _, after, _ := classRune(class, rest, false)
			if last <= '/' && '/' <= high {
				return !negated
			}
			last, body = utf8.MaxRune, after
			continue
		}
		last, body = r, rest
	}
	return negated // no class that passed Check names the slash itself
}
