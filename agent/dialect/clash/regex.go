package clash

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
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

// regexp compiles a regex of the file, or returns nil. Go's syntax is RE2's, and close to Rust's; parts with another
// meaning are translated if possible, and refused otherwise.
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

// The parts of a regex that translate tells apart: outside of [...], and in it.
var (
	outer = late.Regexp(`^(?s:\\[pPx]\{[^}]*\}?|\\.|\[\^?\]?|\{[0-9]+(?:,[0-9]*)?\}|.)`)
	inner = late.Regexp(`^(?s:\\[pPx]\{[^}]*\}?|\\.|\[:(?:\]|.*?:\])|&&|~~|--|.)`)
)

// translate converts a regex of Rust's to Go's. If a part differs between both, problem describes it, and at is its
// byte offset. Rust has classes in classes, and && -- ~~ between them.
func translate(re string) (goes string, at int, problem string) {
	var b strings.Builder
	inClass := false
	for at < len(re) {
		tokens := outer()
		if inClass {
			tokens = inner()
		}
		token := tokens.FindString(re[at:])
		switch {
		case token == `\`:
			return "", at, `a \ with nothing after it`
		case token[0] == '\\':
			out, why := escape(token[1], inClass)
			if why == "" && len(token) > 2 && !strings.HasSuffix(token, "}") {
				why = "a { that is not closed"
			}
			if why != "" {
				return "", at, why
			}
			b.WriteString(out + token[2:])
			at += len(token)
			continue
		case inClass && strings.HasPrefix(re[at:], "[:") && token == "[":
			return "", at, "a [: that is not closed"
		case inClass && (token == "[" || token == "&&" || token == "~~" || token == "--"):
			return "", at, fmt.Sprintf("a %s in [...]", token)
		case !inClass && token == "{":
			return "", at, "a { that is not a repetition"
		case !inClass && token[0] == '[':
			inClass = true
		case token == "]":
			inClass = false
		}
		b.WriteString(token)
		at += len(token)
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
