package attributes

import (
	"bytes"
	"slices"
	"strings"
)

// Read returns the readings of an attributes file's text, each of which some git makes of it; nearly always there is
// one. root says that it is the file of the tree's root, which alone may define macros.
//
// Readings differ in:
//
//   - Where the text is from. A blob ends at its first NUL byte, and a byte order mark belongs to its first pattern. In
//     a file on disk a NUL ends the line, and a byte order mark is skipped. Checkout reads the blob of the index, most
//     other commands the file.
//   - Lines of 2,048 bytes or more. Git 2.39.1 and later ignores them. Before, a blob's were read, and a file's cut
//     into
//     lines of 2,047 bytes.
//   - Names of attributes that begin with "builtin_". Git 2.44 and later ignores a line that has one.
//   - Two stars next to other characters, as in "a**/b": see [starStyle].
func Read(text []byte, root bool) []*File {
	texts := []reader{{}}
	if bytes.HasPrefix(text, []byte(mark)) || bytes.IndexByte(text, 0) >= 0 {
		texts = append(texts, reader{disk: true})
	}
	if longest(text) >= maxLine {
		texts = []reader{{}, {disk: true}, {long: true}, {long: true, disk: true}}
	}
	if bytes.Contains(text, []byte(reserved)) {
		for _, r := range slices.Clone(texts) {
			r.reserved = true
			texts = append(texts, r)
		}
	}
	var files []*File
	seen := map[string]bool{}
	for _, r := range texts {
		lines := r.lines(text)
		// What decides is the lines, and whether a reserved name counts. Two readings of the same are one.
		key := strings.Join(lines, "\n")
		if r.reserved {
			key += "\n\n"
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		file := r.file(lines, root)
		files = append(files, file)
		for r.style = strictStars + 1; file.odd && r.style < starStyles; r.style++ {
			files = append(files, r.file(lines, root))
		}
	}
	return files
}

const (
	mark     = "\ufeff"
	reserved = "builtin_"
	maxLine  = 2048 // bytes: so long a line is ignored
)

// longest returns the length of the longest line, in bytes, its LF not counted.
func longest(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		n = max(n, len(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return n
}

// A reader is one way to read a text. See [Read].
type reader struct {
	disk     bool // a file on disk, not a blob
	long     bool // long lines count
	reserved bool // reserved names are taken
	style    starStyle
}

// lines cuts a text into the lines that count.
func (r reader) lines(text []byte) []string {
	if !r.disk {
		text, _, _ = bytes.Cut(text, []byte{0})
	}
	var lines []string
	for raw := range bytes.Lines(text) {
		raw = bytes.TrimSuffix(raw, []byte("\n"))
		for {
			piece := raw
			if r.disk && r.long && len(raw) >= maxLine {
				piece = raw[:maxLine-1]
			}
			if line := string(piece); r.disk {
				if len(lines) == 0 {
					line = strings.TrimPrefix(line, mark)
				}
				if !r.long {
					line = strings.TrimSuffix(line, "\r")
				}
				line, _, _ = strings.Cut(line, "\x00")
				lines = append(lines, line)
			} else {
				lines = append(lines, line)
			}
			if raw = raw[len(piece):]; len(raw) == 0 {
				break
			}
		}
	}
	if !r.long {
		for i, line := range lines {
			if len(line) >= maxLine {
				lines[i] = ""
			}
		}
	}
	return lines
}

const (
	blank       = " \t\r\n"
	macroPrefix = "[attr]"
)

// file parses the lines of a reading. A line with a mistake counts for nothing, as in git.
func (r reader) file(lines []string, root bool) *File {
	f := &File{}
	for _, text := range lines {
		text = strings.TrimLeft(text, blank)
		if text == "" || text[0] == '#' {
			continue
		}
		name, states, quoted := unquote(text)
		if !quoted {
			end := strings.IndexAny(text, blank)
			if end < 0 {
				end = len(text)
			}
			name, states = text[:end], text[end:]
		}
		macro := ""
		if len(name) > len(macroPrefix) && strings.HasPrefix(name, macroPrefix) {
			macro = strings.TrimLeft(name[len(macroPrefix):], blank)
			if end := strings.IndexAny(macro, blank+"\x00"); end >= 0 {
				macro = macro[:end]
			}
			if !root || !r.valid(macro) {
				continue
			}
		}
		settings, ok := r.settings(states)
		if !ok {
			continue
		}
		if macro != "" {
			if f.macros == nil {
				f.macros = map[string][]setting{}
			}
			f.macros[macro] = settings
			continue
		}
		name, _, _ = strings.Cut(name, "\x00") // which a quoted one can hold
		if strings.HasPrefix(name, "!") {
			continue // git refuses it: a pattern that takes back
		}
		p, odd := newPattern(name, r.style)
		f.lines, f.odd = append(f.lines, line{p, settings}), f.odd || odd
	}
	return f
}

// settings parses what follows the pattern of a line.
func (r reader) settings(text string) (settings []setting, ok bool) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(blank, c) }) {
		name, value, hasValue := strings.Cut(word, "=")
		s := setting{value: Value{State: Set}}
		switch {
		case strings.HasPrefix(name, "-"):
			name, s.value.State = name[1:], Unset
		case strings.HasPrefix(name, "!"):
			name, s.value.State = name[1:], Unspecified
		case hasValue:
			s.value = Value{Text, value}
		}
		if s.name = name; !r.valid(name) {
			return nil, false
		}
		settings = append(settings, s)
	}
	return settings, true
}

// valid reports whether an attribute may have this name.
func (r reader) valid(name string) bool {
	if name == "" || name[0] == '-' || strings.HasPrefix(name, reserved) && !r.reserved {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case c == '-', c == '.', c == '_', '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		default:
			return false
		}
	}
	return true
}

// unquote returns the string that text begins with, as C and git write it, and what follows it. ok is false if text
// begins with none.
func unquote(text string) (value, rest string, ok bool) {
	if text[0] != '"' {
		return "", "", false
	}
	var out []byte
	for i := 1; i < len(text); i++ {
		c := text[i]
		if c == '"' {
			return string(out), text[i+1:], true
		}
		if c == '\\' {
			if i++; i == len(text) {
				break
			}
			switch c = text[i]; c {
			case '"', '\\':
			case '0', '1', '2', '3':
				if i+2 >= len(text) || !octal(text[i+1]) || !octal(text[i+2]) {
					return "", "", false
				}
				c = (c-'0')<<6 | (text[i+1]-'0')<<3 | (text[i+2] - '0')
				i += 2
			default:
				at := strings.IndexByte("abfnrtv", c)
				if at < 0 {
					return "", "", false
				}
				c = "\a\b\f\n\r\t\v"[at]
			}
		}
		out = append(out, c)
	}
	return "", "", false
}

func octal(c byte) bool { return '0' <= c && c <= '7' }
