package glob

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// A Mistake explains why a glob was refused.
type Mistake struct {
	Found string // what was found
	Fix   string // what to write instead
}

func (m *Mistake) Error() string { return m.Found + "; " + m.Fix }

// Check refuses a glob that is malformed, that can never match what its author meant, or that has an expansion which
// can never match. It returns nil for others.
func Check(glob string) *Mistake {
	if m := checkText(glob); m != nil {
		return m
	}
	tokens, m := scan(glob)
	if m != nil {
		return m
	}
	if m := checkTokens(tokens); m != nil {
		return m
	}
	if groups := strings.Count(kinds(tokens), "{"); groups > MaxBraces {
		return &Mistake{fmt.Sprintf("%d brace groups; the limit is %d", groups, MaxBraces), "write several globs"}
	}
	if m := checkGroups(tokens); m != nil {
		return m
	}
	var all [][]token
	if !expand(tokens, func(e []token) bool { all = append(all, e); return len(all) <= MaxExpansions }) {
		return &Mistake{fmt.Sprintf("braces with more than %d expansions", MaxExpansions), "write several globs"}
	}
	for _, e := range all {
		if m := checkSegments(e); m != nil {
			if strings.Contains(kinds(tokens), "{") {
				m.Found = fmt.Sprintf("the expansion %s has %s", quote(text(e)), m.Found)
			}
			return m
		}
	}
	if !doublestar.ValidatePattern(glob) {
		return &Mistake{"not a glob", "compare it with https://pkg.go.dev/github.com/bmatcuk/doublestar/v4#Match"}
	}
	return nil
}

func checkText(glob string) *Mistake {
	if strings.TrimSpace(glob) == "" {
		return &Mistake{"an empty glob", `write "**" for every file`}
	}
	if len(glob) > MaxBytes {
		return &Mistake{fmt.Sprintf("a glob of %d bytes; the limit is %d", len(glob), MaxBytes), "write several globs"}
	}
	if !utf8.ValidString(glob) {
		return &Mistake{"a glob that is not UTF-8", `write "?" for each byte that is not UTF-8`}
	}
	if strings.ContainsRune(glob, 0) {
		return &Mistake{"a NUL character", "remove it: no path has one"}
	}
	if trimmed := strings.TrimFunc(glob, unicode.IsSpace); trimmed != glob {
		return &Mistake{"white space at an end of the glob",
			fmt.Sprintf(`write %s, or "[ ]" if a name has a space there`, quote(trimmed))}
	}
	if rest, ok := strings.CutPrefix(glob, "!"); ok {
		return &Mistake{`a leading "!": globs do not negate`,
			fmt.Sprintf(`write %s under "exclude", or '\!' for a name that begins with "!"`,
				quote(strings.TrimLeft(rest, "!")))}
	}
	return nil
}

// kinds returns the tokens' kinds as a string, one byte per token.
func kinds(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte(".\\*?[/{,}"[t.kind])
	}
	return b.String()
}

// escapable are the characters that a backslash may precede: the special characters of globs. Elsewhere a backslash is
// likely a Windows separator.
const escapable = `*?[]{},\`

func checkTokens(tokens []token) *Mistake {
	depth := 0
	for i, t := range tokens {
		next := token{}
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		switch t.kind {
		case open:
			depth++
		case closing:
			depth--
		case class:
			if m := checkClass(t.text, depth > 0); m != nil {
				return m
			}
		case escaped:
			c := t.text[1:]
			switch {
			case strings.Contains(escapable, c) && !(c == "*" && next.kind == star):
			case c == "!" && i == 0:
			default:
				return backslash(tokens, t.text)
			}
		case star:
			if i > 0 && tokens[i-1].kind == star && next.text == `\*` {
				return backslash(tokens, `\*`)
			}
		}
		if next.kind == plain && next.text == "(" {
			switch t.text {
			case "@", "!", "+", "?", "*":
				return &Mistake{
					fmt.Sprintf("%q: this kind of group is not supported", t.text+"("),
					`write "{a,b}" for alternatives, "exclude" for a negation, or "[(]" for a bracket`,
				}
			}
		}
	}
	return nil
}

func backslash(tokens []token, found string) *Mistake {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(strings.Replace(t.text, `\`, "/", 1))
	}
	m := &Mistake{quote(found) + `: a backslash does not separate directories`, `write "/" between directories`}
	if slashes := b.String(); Check(slashes) == nil {
		m.Fix = "write " + quote(slashes)
	}
	m.Fix += `, or '\\' for a backslash in a name`
	return m
}

// checkClass refuses a class that does not mean what it looks like.
func checkClass(class string, inBraces bool) *Mistake {
	body := class[1 : len(class)-1]
	for _, c := range []string{":", ".", "="} {
		// A class ends at its first "]", so "[[:alpha:]]" is "[[:alpha:]" and a "]".
		_, name, isPOSIX := strings.Cut(body, "["+c)
		if !isPOSIX && c == ":" {
			name, isPOSIX = strings.CutPrefix(body, c) // "[:alpha:]"
		}
		if isPOSIX && strings.HasSuffix(name, c) {
			return &Mistake{fmt.Sprintf("%s: POSIX classes are not supported", quote(class)),
				`write the characters, as in "[a-z]" or "[0-9]"`}
		}
	}
	if body[0] == '!' || body[0] == '^' {
		body = body[1:]
	}
	last := utf8.MaxRune // the start of a possible range, as doublestar reads it
	for len(body) > 0 {
		r, isEscaped, rest, m := classRune(class, body, inBraces)
		if m != nil {
			return m
		}
		if r == '-' && !isEscaped && last < utf8.MaxRune && rest != "" {
			high, _, after, m := classRune(class, rest, inBraces)
			if m != nil {
				return m
			}
			if high < last {
				return &Mistake{fmt.Sprintf("%s: the range %q is empty", quote(class), string(last)+"-"+string(high)),
					fmt.Sprintf("write %q", string(high)+"-"+string(last))}
			}
			last, body = utf8.MaxRune, after
			continue
		}
		last, body = r, rest
	}
	return nil
}

func classRune(class, body string, inBraces bool) (r rune, isEscaped bool, rest string, m *Mistake) {
	r, n := utf8.DecodeRuneInString(body)
	if r == '\\' {
		isEscaped = true
		body = body[n:]
		r, n = utf8.DecodeRuneInString(body)
		if r == '/' || !strings.ContainsRune(escapable+"!^-", r) {
			return 0, false, "", &Mistake{fmt.Sprintf(`%s: a backslash before %q`, quote(class), r),
				`write '\\' for a backslash in a class, "/" between directories`}
		}
	}
	if r == '/' {
		return 0, false,
			"", &Mistake{fmt.Sprintf(`%s: a class matches one character of a name, which is never "/"`, quote(class)),
				`write "{a,b/c}" for alternatives`}
	}
	if inBraces && !isEscaped && strings.ContainsRune("{},", r) {
		return 0, false, "", &Mistake{fmt.Sprintf("%s: %q in a class within braces", quote(class), r),
			"write " + quote(`\`+string(r))}
	}
	return r, isEscaped, body[n:], nil
}

func checkGroups(tokens []token) *Mistake {
	type group struct {
		text    string // with "{}" for each inner group
		several bool   // it has alternatives
	}
	var groups []group // the open groups
	for _, t := range tokens {
		last := len(groups) - 1
		switch {
		case t.kind == open:
			groups = append(groups, group{})
		case t.kind == comma:
			groups[last].several = true
		case t.kind == closing:
			g := groups[last]
			if groups = groups[:last]; last > 0 {
				groups[last-1].text += "{}"
			}
			switch {
			case g.several:
			case g.text == "":
				return &Mistake{`empty braces "{}"`,
					`write "{a,b}" for alternatives, or '\{\}' for the characters themselves`}
			case strings.Contains(g.text, ".."):
				return &Mistake{fmt.Sprintf("%q: ranges in braces are not supported", "{"+g.text+"}"),
					`write them out, as in "{1,2,3}", or as a class "[1-3]"`}
			}
		case last >= 0:
			groups[last].text += t.text
		}
	}
	return nil
}

func checkSegments(tokens []token) *Mistake {
	if len(tokens) == 0 {
		return &Mistake{"nothing in it", "remove the empty alternative"}
	}
	whole, all := text(tokens), kinds(tokens)
	for start := 0; ; {
		end := start + strings.IndexByte(all[start:], '/')
		last := end < start
		if last {
			end = len(tokens)
		}
		segment := tokens[start:end]
		switch s := text(segment); {
		case s == "" && start == 0:
			return &Mistake{`a leading "/": paths count from the root of the tree`,
				"write " + quote(strings.TrimLeft(whole, "/"))}
		case s == "" && last:
			return &Mistake{`a trailing "/": a glob matches files, not directories`, "write " + quote(whole+"**")}
		case s == "":
			return &Mistake{`"//": no path has an empty segment`, `write a single "/", or "/**/" for any directories`}
		case s == ".":
			return &Mistake{`a segment ".": no path has one`, "remove it"}
		case s == "..":
			return &Mistake{`a segment "..": no path has one`, "write the path from the root of the tree"}
		default:
			if m := checkStars(segment, s); m != nil {
				return m
			}
		}
		if last {
			return nil
		}
		start = end + 1
	}
}

// checkStars refuses "**" next to other characters, where it only means "*".
func checkStars(segment []token, s string) *Mistake {
	if !strings.Contains(s, "**") {
		return nil // fast path: most have none
	}
	first := strings.Index(kinds(segment), "**")
	if first < 0 {
		return nil
	}
	if segment[first+1].at != segment[first].at+1 {
		return &Mistake{`"**" made from two parts`, `write "*" once, or "**" as a whole segment`}
	}
	if len(segment) == 2 {
		return nil
	}
	before, after := text(segment[:first]), strings.TrimLeft(text(segment[first:]), "*")
	fix := "**"
	if before != "" {
		fix = before + "*/" + fix
	}
	if after != "" {
		fix += "/*" + after
	}
	return &Mistake{quote(s) + `: "**" is only special as a whole path segment`, "write " + quote(fix)}
}

// quote shows a part of a glob in YAML: in single quotes if it has a backslash.
func quote(s string) string {
	if q := strconv.Quote(s); !strings.Contains(s, `\`) || strings.Contains(s, "'") ||
		strings.Count(q, `\`) != 2*strings.Count(s, `\`) {
		return q
	}
	return "'" + s + "'"
}
