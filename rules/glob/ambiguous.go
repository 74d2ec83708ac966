package glob

import (
	"fmt"
	"strings"
)

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
