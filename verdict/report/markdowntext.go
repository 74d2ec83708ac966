package report

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/verdict"
)

// Untrusted text in Markdown is code or plain words, and never begins a line. It has no backslash escapes: renderers
// differ in which characters need one, and link mentions, issues, commit hashes and mail addresses after resolving
// them.
//
//   - In code, GitHub and GitLab link and replace nothing. Only the backtick and, in a table, the pipe have a meaning;
//     both are written outside, as entities. (cmark-gfm gives up at runs of 80 backticks.)
//   - Plain words are letters or a short number, with punctuation around them. All other words are code.

// codeMarkdown writes s as a code span, "" as nothing.
func codeMarkdown(s string) string {
	var b strings.Builder
	for rest := inert(s); rest != ""; {
		n := strings.IndexAny(rest, "`|")
		if n == 0 {
			fmt.Fprintf(&b, "&#%d;", rest[0])
			rest = rest[1:]
			continue
		}
		if n < 0 {
			n = len(rest)
		}
		span, pad := rest[:n], ""
		if span[0] == ' ' && span[n-1] == ' ' && strings.Trim(span, " ") != "" {
			pad = " " // a space at both ends is removed, once
		}
		b.WriteString("`" + pad + span + pad + "`")
		rest = rest[n:]
	}
	return b.String()
}

// codeHTML writes s as an HTML element, for places without Markdown.
func codeHTML(s string) string {
	s = inert(s)
	if s == "" {
		return ""
	}
	return "<code>" + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s) + "</code>"
}

// inert is [verdict.Visible] for a text that GitHub's runner or Azure's agent may print, too.
func inert(s string) string { return verdict.DefuseInside(verdict.Visible(s)) }

// lines writes prose of several lines: each as [prose] does, with its indentation.
func lines(s string) string {
	var all []string
	for line := range strings.Lines(strings.TrimSpace(s)) {
		body := strings.TrimLeft(line, " ")
		indent := strings.Repeat("&nbsp;", min(len(line)-len(body), 16))
		all = append(all, indent+prose(body, codeMarkdown))
	}
	return strings.Join(all, "<br>")
}

// prose writes s on one line: plain words as they are, runs of other words by asCode.
func prose(s string, asCode func(string) string) string {
	var b strings.Builder
	code := "" // pending words
	flush := func() {
		b.WriteString(asCode(code))
		code = ""
	}
	for i, word := range strings.Fields(s) {
		lead, core, trail := affixes(verdict.Visible(word))
		if core != "" && code != "" && lead == "" {
			code += " " + core
		} else {
			flush()
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(lead)
			code = core
		}
		if trail != "" {
			flush()
			b.WriteString(trail)
		}
	}
	flush()
	return b.String()
}

// affixes cuts a word into the part that must be code and the punctuation around it. A plain word is all lead.
func affixes(word string) (lead, core, trail string) {
	const before, after = "(\"'\u201c\u2018\u00ab", ".,;:?!)\"'\u2013\u2014\u2026"
	if !beginsEmoji(word) && plain(strings.TrimRight(strings.TrimLeft(word, before), after)) {
		return word, "", ""
	}
	core = strings.TrimRight(word, ".,;:?!")
	for _, pair := range []string{"()", `""`, "''", "()"} {
		if len(core) > 2 && core[0] == pair[0] && core[len(core)-1] == pair[1] {
			core = core[1 : len(core)-1]
			lead += pair[:1]
		}
	}
	// A bracket whose partner is in another word.
	if strings.HasPrefix(core, "(") && !strings.Contains(core, ")") {
		core, lead = core[1:], lead+"("
	}
	if strings.HasSuffix(core, ")") && !strings.Contains(core, "(") {
		core = core[:len(core)-1]
	}
	trail = word[len(lead)+len(core):]
	if beginsEmoji(trail) {
		return "", word, ""
	}
	return lead, core, trail
}

// beginsEmoji reports whether s, or s and a colon after it, can have an emoji such as ":x:".
func beginsEmoji(s string) bool {
	i := strings.IndexByte(s, ':')
	return i >= 0 && i < len(s)-1
}

// plain reports whether a word has no meaning in any renderer: letters of any script, with single hyphens, apostrophes
// and the points of "e.g." between them; or a number. Seven hexadecimal digits may be a commit, "GH-1" an issue,
// "www.x" an address, "_x_" emphasis.
func plain(word string) bool {
	if strings.Trim(word, "0123456789,") == "" {
		n, err := strconv.Atoi(strings.ReplaceAll(word, ",", ""))
		return len(word) < 7 && !strings.Contains(word, ",") || err == nil && word == number(n)
	}
	hex, single, last := 0, true, '-' // single: no two letters are next to each other
	for _, r := range word {
		letter := unicode.IsLetter(r) || r > unicode.MaxASCII && last != '-' && unicode.In(r, unicode.M, unicode.P)
		switch {
		case letter && unicode.Is(unicode.ASCII_Hex_Digit, r):
			hex++
		case letter:
			hex = 0
		case (r == '-' || r == '\'' || r == '.') && unicode.In(last, unicode.L, unicode.M):
			hex = 0
		default:
			return false
		}
		if hex >= 7 {
			return false
		}
		if letter && unicode.IsLetter(last) {
			single = false
		}
		last = r
	}
	return last > '.' && (single || !strings.Contains(word, "."))
}

// link writes a link around text, which is Markdown, or only text if the address is not safe.
func link(text, address string) string {
	if text == "" || !isSafeURL(address) {
		return text
	}
	return "[" + text + "](<" + strings.ReplaceAll(address, "&", "&amp;") + ">)"
}

// isSafeURL reports whether an address may be a link: https, a host without a user name, and only characters of RFC
// 3986 that have no meaning in Markdown and HTML.
func isSafeURL(address string) bool {
	for i := range len(address) {
		if !isAlphanumeric(address[i]) && strings.IndexByte("-._~:/?#@!&'()*+,;=%", address[i]) < 0 {
			return false
		}
	}
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && len(address) <= 1000
}
