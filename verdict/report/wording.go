package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

const (
	ellipsis = "…"
	tabWidth = 4 // columns of a tab in a source line
)

// count is a number and a noun that agrees with it.
func count(n int, thing string) string { return number(n) + " " + noun(n, thing) }

// number is a number with its thousands apart.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// verb is the form of a verb that agrees with a number.
func verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// inOrder is a list in the natural order of its paths.
func inOrder[T any](list []T, path func(T) string) []T {
	return slices.SortedStableFunc(slices.Values(list), func(a, b T) int { return Natural(path(a), path(b)) })
}

// Natural compares paths in natural order: "pkg2" is before "pkg10".
func Natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := len(x)-len(strings.TrimLeft(x, "0123456789")), len(y)-len(strings.TrimLeft(y, "0123456789"))
		if n > 0 && m > 0 {
			p, q := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
			if order := cmp.Or(len(p)-len(q), strings.Compare(p, q)); order != 0 {
				return order
			}
			x, y = x[n:], y[m:]
			continue
		}
		if x[0] != y[0] {
			return int(x[0]) - int(y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(len(x)-len(y), strings.Compare(a, b))
}

func noun(n int, thing string) string {
	if n == 1 {
		return thing
	}
	if stem, ok := strings.CutSuffix(thing, "y"); ok {
		return stem + "ies"
	}
	return thing + "s"
}

func full(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// sentence begins a clause with a capital letter.
func sentence(s string) string {
	if first, n := utf8.DecodeRuneInString(s); n > 0 {
		return string(unicode.ToUpper(first)) + s[n:]
	}
	return s
}

// foldUnparsed returns the errors with one instead of those for files that cannot be parsed and have the same advice,
// which names the rules. prefix is from the current directory to the tree's root.
func foldUnparsed(all []verdict.Error, prefix string) []verdict.Error {
	type fold struct {
		at     int // of the first, in folded
		files  []string
		reason string
		mixed  bool // there are several reasons
	}
	byAdvice, folded := map[string]*fold{}, make([]verdict.Error, 0, len(all))
	for _, e := range all {
		head, rest, _ := strings.Cut(e.Message, fmt.Sprintf(": line %d, column %d: ", e.Line, e.Column))
		advice := strings.LastIndex(rest, "; to check only its text, ") // of a template
		if fix := strings.LastIndex(rest, "exclude it from "); advice < 0 && fix >= 0 {
			advice = strings.LastIndex(rest[:fix], "; ")
		}
		if e.Code != code.Parse || advice < 0 {
			folded = append(folded, e)
			continue
		}
		f := byAdvice[head+rest[advice:]]
		if f == nil {
			f = &fold{at: len(folded), reason: rest[:advice]}
			byAdvice[head+rest[advice:]], folded = f, append(folded, e)
		}
		f.mixed = f.mixed || f.reason != rest[:advice]
		f.files = append(f.files, fmt.Sprintf("%s%s:%d:%d", prefix, e.File, e.Line, e.Column))
		if len(f.files) == 1 {
			continue
		}
		reason := f.reason
		if f.mixed {
			reason = "the first: " + reason
		}
		plural := strings.NewReplacer("it cannot", "cannot", "fix it", "fix them", "exclude it", "exclude them",
			"its text", "their text", "exclude the file", "exclude the files",
			"this looks like a template", "they look like templates")
		folded[f.at] = verdict.Error{Code: e.Code, Message: count(len(f.files), "file") + " " +
			plural.Replace(head) + " (" + firstOf(f.files, 3) + "): " + plural.Replace(reason+rest[advice:])}
	}
	return folded
}

func firstOf(words []string, most int) string {
	if n := len(words); n > most {
		return strings.Join(words[:most], ", ") + " and " + number(n-most) + " more"
	}
	return strings.Join(words, ", ")
}

// unique is an unused name: itself, or with a number from 2. used counts the names.
func unique(used map[string]int, name string) string {
	id := name
	for used[id] > 0 {
		used[name]++
		id = name + "-" + strconv.Itoa(used[name])
	}
	used[id] = 1
	return id
}

// clip cuts s to at most n characters, with an ellipsis.
func clip(s string, n int) string { return shorten(s, n, func(rune) int { return 1 }) }

// cut is [clip] in UTF-16 code units.
func cut(s string, n int) string { return shorten(s, n, utf16Size) }

func shorten(s string, n int, size func(rune) int) string {
	if prefix(s, n, size) == s {
		return s
	}
	return prefix(s, n-1, size) + ellipsis
}

// prefix returns the longest beginning of s with at most the size n.
func prefix(s string, n int, size func(rune) int) string {
	for i, r := range s {
		if n -= size(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// tail returns the longest end of s with at most n columns.
func tail(s string, n int) string {
	skip := columns(s) - n
	for i, r := range s {
		if skip <= 0 && runeColumns(r) > 0 {
			return s[i:]
		}
		skip -= runeColumns(r)
	}
	return ""
}

// utf16Size is the number of UTF-16 code units of a character.
func utf16Size(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

func utf16Len(s string) int64 { return int64(size(s, utf16Size)) }

// columns is the width of s on a terminal.
func columns(s string) int { return size(s, runeColumns) }

func size(s string, of func(rune) int) (n int) {
	for _, r := range s {
		n += of(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// flow joins lines to one. Spaces within a line stay: they may be a pattern's.
func flow(s string) string {
	var lines []string
	isLineEnd := func(r rune) bool { return '\n' <= r && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029 }
	for line := range strings.FieldsFuncSeq(s, isLineEnd) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return verdict.Visible(strings.ReplaceAll(strings.Join(lines, " "), "\t", " "))
}

// drawn is [verdict.Visible] with tabs as spaces.
func drawn(s string) string {
	return verdict.Visible(strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabWidth)))
}

// textLines returns the lines of a text, each safe to print, without blank ones at the start and the end; at least
// one.
func textLines(s string) []string {
	all := strings.Split(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), "\n")
	for i, line := range all {
		all[i] = strings.TrimRight(drawn(line), " ")
	}
	for len(all) > 1 && all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	for len(all) > 1 && all[0] == "" {
		all = all[1:]
	}
	return all
}

// with appends a text, unless it is empty or in the list.
func with(all []string, s string) []string {
	if s == "" || slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}

// namedLines are the [textLines] of a text, after a name.
func namedLines(name, text string) []string {
	lines := textLines(strings.TrimSpace(text))
	lines[0] = name + lines[0]
	return lines
}

// cutLine cuts s at its first line end: LF, CRLF or a lone CR.
func cutLine(s string) (line, rest string, found bool) {
	i := strings.IndexAny(s, "\r\n")
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimPrefix(strings.TrimPrefix(s[i:], "\r"), "\n"), true
}

// wrap breaks a line at its spaces to lines of room columns, at least 20. A longer word stays whole, as an address
// must.
func wrap(line string, room int) []string {
	if words := strings.Fields(line); room >= 20 && columns(line) > room && len(words) > 0 {
		return fill(words, room)
	}
	return []string{line}
}

// fill puts words on lines of room columns.
func fill(words []string, room int) []string {
	var lines []string
	for _, word := range words {
		if n := len(lines) - 1; n >= 0 && columns(lines[n])+1+columns(word) <= room {
			lines[n] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// Fold breaks the lines of a report that are wider than room columns, at a space if there is one. The rest of a line is
// indented by two spaces.
func Fold(text []byte, room int) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		for columns(line) > room+1 { // with its end
			end, used := 0, 0
			for i, r := range line {
				if used += runeColumns(r); used > room {
					end = i
					break
				}
			}
			if space := strings.LastIndexByte(line[:end], ' '); space > room/2 {
				end = space
			}
			out.WriteString(line[:end] + "\n")
			line = "  " + strings.TrimLeft(line[end:], " ")
		}
		out.WriteString(line)
	}
	return out.Bytes()
}
