package verdict

import (
	"strconv"
	"strings"
	"unicode"
)

// Visible makes text of unknown origin safe to print on one line of a terminal or a log. It writes as \u{hex} every
// character that a terminal would obey, reorder or hide: control characters (line ends and tabs included), format
// characters (bidirectional overrides, zero-width and tag characters), line and paragraph separators, private and
// unassigned characters, invisible characters, and every space except U+0020. Bytes that are not UTF-8 become U+FFFD.
func Visible(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = ' ' <= s[i] && s[i] < 0x7f
	}
	if clean {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Shown(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + "}")
		}
	}
	return b.String()
}

// Shown reports whether a terminal draws r as its own mark. Go's table of printable characters skips control, format,
// private and unassigned characters and most spaces; invisible characters are added here.
func Shown(r rune) bool {
	return unicode.IsPrint(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) &&
		!unicode.Is(unicode.Variation_Selector, r) && r != '\u2800' // a Braille cell without a dot
}

// Defuse writes a line so that GitHub's runner and Azure's agent find no command in it. They obey "::name::" at the
// start of a line, after white space, and "##[name]" anywhere in it (actions/runner, ActionCommand.TryParseV2 and
// TryParse), or "##vso[name]", here in any case.
func Defuse(line string) string {
	line = DefuseInside(line)
	if body := strings.TrimLeft(line, " \t"); strings.HasPrefix(body, "::") {
		line = line[:len(line)-len(body)] + `\u{3a}` + body[1:]
	}
	return line
}

// DefuseInside is [Defuse] for the commands that count anywhere in a line.
func DefuseInside(line string) string {
	for i := 0; i+2 < len(line); i++ {
		if rest := line[i:]; strings.HasPrefix(rest, "##[") || len(rest) > 5 && strings.EqualFold(rest[:6], "##vso[") {
			line = line[:i+1] + `\u{23}` + rest[2:]
		}
	}
	return line
}
