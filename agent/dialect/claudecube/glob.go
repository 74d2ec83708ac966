package claudecube

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/rules/glob"
)

// A class with the same meaning in micromatch and doublestar. Without a hyphen, such as [id], it also matches its own
// text in micromatch, and a negated class does not match a slash.
var sameClass = late.Regexp(`^\[[A-Za-z0-9_]*(-[A-Za-z0-9_]*)+\]`)

// globMistake describes an error in a glob: malformed, without any match, or with a different meaning in micromatch,
// which the document names, than in doublestar.
func globMistake(text string) (found, fix string) {
	if strings.HasPrefix(text, "!") {
		return `a leading "!", which negates the glob in micromatch`, "write a rule for what is meant"
	}
	var mistake *glob.Mistake
	if err := glob.Check(strings.TrimPrefix(text, "/")); errors.As(err, &mistake) {
		return mistake.Found, mistake.Fix
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i++; text[i] == '\\' {
				return "a backslash as a character", "write a regex"
			}
		case '[':
			class := sameClass().FindString(text[i:])
			if class == "" {
				return "a class that micromatch reads in its own way",
					`write letters, digits and "_" with a range among them, as in "[a-z]"; ` +
						`'\[' for the character; "{a,b}" for either`
			}
			i += len(class) - 1
			if strings.HasPrefix(text[i+1:], "+") {
				return `"+" after a class, which repeats it in micromatch`, `write a regex`
			}
		case '(', ')', '|', '"', '^', '$':
			return fmt.Sprintf("%q, which has its own meaning in micromatch", c), "write a regex"
		case '+':
			if i > 0 && text[i-1] == '}' {
				return `"+" after braces, which repeats them in micromatch`, "write a regex"
			}
			if i > 0 && text[i-1] == '+' {
				return `"++", which is any number of "+" in micromatch`, "write a regex"
			}
		case '{':
			depth++
		case '}':
			depth--
		case '.':
			if depth > 0 && strings.HasPrefix(text[i:], "..") {
				return `".." in braces, which is a range in micromatch`, "write a regex"
			}
		case '*':
			if depth > 0 && strings.HasPrefix(text[i:], "**") {
				return `"**" in braces, which micromatch reads in its own way`, "write several globs"
			}
		}
	}
	if _, ok := expand(text); !ok {
		return "braces with one alternative, which are characters in micromatch",
			`write "{a,b}", or a backslash before each brace`
	}
	return "", ""
}

// expand returns the globs without braces that a glob means; false, if braces have no comma.
// The glob passed glob.Check, so its braces are closed, and its expansions few.
func expand(text string) ([]string, bool) {
	open := -1
	for i := 0; i < len(text) && open < 0; i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			open = i
		}
	}
	if open < 0 {
		return []string{text}, true
	}
	var parts []string
	depth, start, end := 0, open+1, open
	for i := open; end == open; i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '{':
			depth++
		case c == '}' && depth > 1:
			depth--
		case c == ',' && depth == 1 || c == '}':
			parts = append(parts, text[start:i])
			start = i + 1
			if c == '}' {
				end = i
			}
		}
	}
	var all []string
	for _, p := range parts {
		list, ok := expand(text[:open] + p + text[end+1:])
		if !ok {
			return nil, false
		}
		all = append(all, list...)
	}
	return all, len(parts) > 1
}

// globbed lowers a glob. A rule that denies has its globs as doublestar matches them, which is wider than micromatch:
// names that begin with a dot are matched too. A rule that allows or escalates matches what micromatch does, where a
// wildcard does not begin a name with a dot; and it is narrower in that it matches no text with a line's end in it,
// and none that ends with a slash; nor does a wildcard match "." or "..". X/** matches X as well, but in such a rule
// not if X ends in a star: src/*/** does not match src/a, nor test*/** testing.tf; nor does /**/a match /a. The text
// of the glob itself is matched by all, as in micromatch.
func globbed(test *callrules.Test, text string, effect callrules.Effect) callrules.Predicate {
	expansions, _ := expand(text)
	same := *test
	same.Op, same.Text = callrules.Equals, text
	either := []callrules.Predicate{{Test: &same}}
	if effect == callrules.Deny {
		for _, e := range expansions {
			expansions = append(expansions, e+"/")
			if x := dirOf(e); x != e {
				expansions = append(expansions, x+"/")
			}
		}
		test.Op, test.Globs = callrules.Globs, glob.CompileWide(expansions)
		return callrules.Predicate{Any: append(either, callrules.Predicate{Test: test})}
	}
	compile, single := glob.CompileWide, []callrules.Predicate(nil)
	if onlyBelow(text) {
		compile = glob.Compile
		slashes := *test // two of them enclose an empty name, which no star matches
		slashes.Op, slashes.Text, slashes.Not = callrules.Contains, "//", true
		single = []callrules.Predicate{{Test: &slashes}}
	}
	globs := map[int][]string{} // by how many segments begin with a dot
	var dots []int
	for _, e := range expansions {
		if rest, ok := strings.CutPrefix(e, "/**/"); ok {
			e = "/*/**/" + rest // at its beginning this ** means one directory at least
		}
		n := strings.Count("/"+e, "/.")
		if globs[n] == nil {
			dots = append(dots, n)
		}
		globs[n] = append(globs[n], e)
	}
	for _, n := range dots {
		matched, shaped, ended := *test, *test, *test
		matched.Op, matched.Globs = callrules.Globs, compile(globs[n])
		shaped.Op, shaped.Regexp = callrules.Matches, dotted(n)
		ended.Op, ended.Regexp = callrules.Matches, regexp.MustCompile(`[^/]\z`)
		either = append(either,
			callrules.Predicate{All: append([]callrules.Predicate{{Test: &matched}, {Test: &shaped}, {Test: &ended}},
				single...)})
	}
	return callrules.Predicate{Any: either}
}

// onlyBelow reports whether a glob is X/** and does not match X itself in micromatch: where X ends in a star.
func onlyBelow(text string) bool {
	x := dirOf(text)
	rest, star := strings.CutSuffix(x, "*")
	escapes := len(rest) - len(strings.TrimRight(rest, `\`))
	return x != text && star && escapes%2 == 0
}

// dirOf is the X of X/** and X/**/**; else the glob.
func dirOf(text string) string {
	for strings.HasSuffix(text, "/**") {
		text = strings.TrimSuffix(text, "/**")
	}
	return text
}

// dotted matches the paths of one line with exactly this number of segments that begin with a dot. Where a glob
// matches a path, each of its dotted segments matches one of the path's; with equal numbers, no wildcard has matched
// another.
func dotted(dots int) *regexp.Regexp {
	const (
		other = `[^/\n\r\x{2028}\x{2029}]`
		plain = `(?:[^./\n\r\x{2028}\x{2029}]` + other + `*)?`
		dot   = `\.(?:[^./\n\r\x{2028}\x{2029}]` + other + `*|\.` + other + `+)` // not . or .. itself
	)
	if dots == 0 {
		return regexp.MustCompile(`\A` + plain + `(?:/` + plain + `)*\z`)
	}
	return regexp.MustCompile(fmt.Sprintf(`\A(?:%s/)*%s(?:/%s)*(?:/%s(?:/%s)*){%d}\z`, plain,
		dot, plain, dot, plain, dots-1))
}
