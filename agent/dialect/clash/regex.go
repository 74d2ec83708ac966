package clash

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
)

// The classes that are Unicode's in the regexes of clash (Rust's crate regex) and ASCII's in Go's, as ranges
// for Go. TestClasses holds them to the tables of package unicode.
const (
	digits = `\p{Nd}`
	spaces = `\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}`
	words  = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9}` +
		`\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}`
)

// regexp compiles a regex of the file: nil, if it fails. Go's syntax is RE2's, and close to Rust's; what
// is read by both but means something else is translated where it can be, and refused where not.
func (c *compiler) regexp(n *node, domain string) *regexp.Regexp {
	goes, at, problem := translate(n.text)
	if problem != "" {
		c.fail(document.CodeValue, n.at+1+at, fmt.Sprintf("%s in the regex /%s/", problem, n.text),
			"write the regex without it, so that clash and RE2 read it alike")
		return nil
	}
	re, err := regexp.Compile(goes)
	if domain == "net" && err == nil {
		re, err = regexp.Compile("(?i:" + goes + ")") // hosts know no capital letters
	}
	if err != nil {
		_, why, _ := strings.Cut(err.Error(), ": ") // "error parsing regexp: ..."
		c.fail(document.CodeValue, n.at, fmt.Sprintf("the regex /%s/ does not compile: %s", n.text, why),
			"write it in the syntax of RE2; there are no look-arounds and no back-references")
		return nil
	}
	return re
}

// translate writes a regex of Rust's for Go. If something in it is not the same in both, problem says what, and
// at is the byte where it is.
func translate(re string) (goes string, at int, problem string) {
	var b strings.Builder
	class := -1 // the byte at which the class begins that this is in
	for i := 0; i < len(re); i++ {
		c := re[i]
		switch {
		case c == '\\':
			if i+1 == len(re) {
				return "", i, `a \ with nothing after it`
			}
			i++
			out, why := escape(re[i], class >= 0)
			if why != "" {
				return "", i - 1, why
			}
			b.WriteString(out)
			if strings.IndexByte("pPx", re[i]) >= 0 && i+1 < len(re) && re[i+1] == '{' { // the braces are its own
				end := strings.IndexByte(re[i:], '}')
				if end < 0 {
					return "", i - 1, "a { that is not closed"
				}
				b.WriteString(re[i+1 : i+end+1])
				i += end
			}
		case class >= 0:
			if why := inClass(re[i:]); why != "" {
				return "", i, why
			}
			if strings.HasPrefix(re[i:], "[:") {
				end := strings.Index(re[i:], ":]")
				b.WriteString(re[i : i+end+2])
				i += end + 1
				continue
			}
			if c == ']' && i > class+1 && (re[class+1] != '^' || i > class+2) {
				class = -1
			}
			b.WriteByte(c)
		case c == '[':
			class = i
			b.WriteByte(c)
		case c == '{':
			n := repetition(re[i:])
			if n == 0 {
				return "", i, "a { that is not a repetition"
			}
			b.WriteString(re[i : i+n])
			i += n - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), 0, ""
}

func escape(c byte, class bool) (goes, problem string) {
	switch c {
	case 'd':
		return map[bool]string{false: "[" + digits + "]", true: digits}[class], ""
	case 'D':
		return `\P{Nd}`, ""
	case 's':
		return map[bool]string{false: "[" + spaces + "]", true: spaces}[class], ""
	case 'w':
		return map[bool]string{false: "[" + words + "]", true: words}[class], ""
	case 'S', 'W':
		if class {
			return "", fmt.Sprintf(`a \%c in [...]`, c)
		}
		return "[^" + map[byte]string{'S': spaces, 'W': words}[c] + "]", ""
	case 'b', 'B', '<', '>':
		return "", fmt.Sprintf(`a \%c, which is at the border of a Unicode word (write (^|\W) or (\W|$) in its place)`,
			c)
	case 'A', 'z', 'a', 'f', 't', 'n', 'r', 'v', 'x', 'p', 'P':
		return `\` + string(c), ""
	}
	if c < 0x80 && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
		return `\` + string(c), ""
	}
	return "", fmt.Sprintf(`a \%c`, c)
}

// inClass refuses what Rust has within [...] and Go reads otherwise: classes in classes, and && -- ~~.
func inClass(rest string) string {
	switch {
	case strings.HasPrefix(rest, "[:"):
		if end := strings.Index(rest, ":]"); end < 0 {
			return "a [: that is not closed"
		}
	case rest[0] == '[':
		return "a [ in [...]"
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "~~"), strings.HasPrefix(rest, "--"):
		return fmt.Sprintf("a %s in [...]", rest[:2])
	}
	return ""
}

// repetition returns how long {n}, {n,} or {n,m} is at the beginning of a text; 0 if there is none.
func repetition(s string) int {
	end := strings.IndexByte(s, '}')
	if end < 2 {
		return 0
	}
	from, to, _ := strings.Cut(s[1:end], ",")
	if from == "" || strings.Trim(from+to, "0123456789") != "" {
		return 0
	}
	return end + 1
}
