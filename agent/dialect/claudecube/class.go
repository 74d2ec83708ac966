package claudecube

import (
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/internal/late"
)

var posixClass = late.Regexp(`^\[:([a-z]+):\]`)

// posixClasses are the characters of [:name:], in the form that micromatch gives them.
func posixClasses() map[string]string {
	return map[string]string{
		"alnum": `a-zA-Z0-9`, "alpha": `a-zA-Z`, "ascii": `\x00-\x7F`, "blank": ` \t`, "cntrl": `\x00-\x1F\x7F`,
		"digit": `0-9`, "graph": `\x21-\x7E`, "lower": `a-z`, "print": `\x20-\x7E `,
		"punct": "\\-!\"#$%&'()\\*+,./:;<=>?@[\\]^_`{|}~", "space": ` \t\r\n\v\f`, "upper": `A-Z`,
		"word": `A-Za-z0-9_`, "xdigit": `A-Fa-f0-9`,
	}
}

// class translates a class, and the text of the class itself, which micromatch takes too unless one of its characters
// means something in a regular expression.
func (t *translator) class() {
	var b strings.Builder
	var posix, bracket bool
	i := t.next + 1
	if strings.HasPrefix(t.text[i:], "^") {
		b.WriteString("^")
		i++
	}
	for first := i; ; i++ {
		rest := t.text[i:]
		if rest == "" || strings.HasPrefix(rest, `\\\`) || rest == `\` {
			t.fail("a class without its end", `write '\[' for the character`)
			return
		}
		name := posixClass().FindStringSubmatch(rest)
		switch c := rest[0]; {
		case c == ']' && i == first:
			b.WriteString(`\]`)
		case c == ']':
			t.classEnd(b.String(), posix)
			t.next = i + 1
			return
		case name != nil && posixClasses()[name[1]] != "":
			posix = true
			b.WriteString(posixClasses()[name[1]])
			bracket = bracket || name[1] == "punct"
			i += len(name[0]) - 1
		case c == '[' && strings.HasPrefix(rest, "[:"), c == ':' && bracket:
			t.fail(`"[" and ":" in a class, but no class of POSIX, as in "[[:alpha:]]"`, "write the characters")
			return
		case c == '[':
			bracket = true
			b.WriteString(`\[`)
		case c == '\\' && strings.IndexByte("/.;", rest[1]) >= 0:
		case c == '\\':
			bracket = bracket || rest[1] == '['
			_, size := utf8.DecodeRuneInString(rest[1:])
			b.WriteString(rest[:1+size])
			i += size
		case strings.HasPrefix(rest, "-]"):
			b.WriteString(`\-`)
		default:
			b.WriteByte(c)
		}
	}
}

func (t *translator) classEnd(content string, posix bool) {
	out := "[" + content + "]"
	if strings.HasPrefix(content, "^") && !posix && !strings.Contains(content, "/") {
		out = "[" + content + "/]"
	}
	if !strings.ContainsAny(content, "-*+?.^${}(|)[]") {
		out = "(?:" + escaped(out) + "|" + out + ")"
	}
	if posix {
		t.again = true
		if len(t.tokens) == 1 && t.tokens[0].out == "" {
			t.tokens[0].out = t.read.some
		}
	}
	t.push(class, "[", out)
}
