package formats

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/scanner/keys"
)

// A dockerLine is an instruction without continuations, comments and here-documents.
type dockerLine struct {
	text string
	at   keys.Span
}

// A dockerLines cuts a Dockerfile into instructions, as BuildKit's parser does.
type dockerLines struct {
	*meter
	at     int // the text is read up to here
	escape byte
	begun  bool            // something other than a directive was read
	seen   map[string]bool // directives
}

// next returns the next line with its end, and its offset; nil after the last one.
func (d *dockerLines) next() (line []byte, start int, err error) {
	start = d.at
	rest := d.text[start:]
	if len(rest) == 0 {
		return nil, start, nil
	}
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end+1]
	}
	d.at += len(rest)
	if len(bytes.TrimSuffix(rest, []byte("\n"))) >= bufio.MaxScanTokenSize {
		return nil, start, d.bad(start, "not a Dockerfile: a line of 64 KiB or more")
	}
	return rest, start, nil
}

func withoutEnd(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }

func withoutIndent(line []byte) []byte { return bytes.TrimLeftFunc(line, unicode.IsSpace) }

// instruction returns the next instruction, without its here-documents; nil after the last one.
func (d *dockerLines) instruction() (*dockerLine, error) {
	for {
		line, start, err := d.next()
		if line == nil {
			return nil, err
		}
		text := withoutIndent(withoutEnd(line))
		start += len(line) - len(withoutIndent(line))
		if err := d.directive(text, start); err != nil {
			return nil, err
		}
		if bytes.HasPrefix(text, []byte("#")) {
			continue
		}
		text, more := d.continued(text)
		if len(text) == 0 && !more {
			continue
		}
		return d.joined(text, start, more)
	}
}

// joined returns the instruction that begins with a text and has more lines, or not.
func (d *dockerLines) joined(text []byte, start int, more bool) (*dockerLine, error) {
	all := bytes.Clone(text)
	end, blank := start+len(text), len(withoutIndent(text)) == 0
	for more {
		line, offset, err := d.next()
		if err != nil {
			return nil, err
		}
		if line == nil {
			break
		}
		content := withoutIndent(withoutEnd(line))
		if len(content) == 0 || content[0] == '#' {
			continue
		}
		if text, more = d.continued(withoutEnd(line)); blank && len(withoutIndent(text)) > 0 {
			start, blank = offset+len(text)-len(withoutIndent(text)), false
		}
		all = append(all, text...)
		end = offset + len(text)
	}
	at := keys.Span{Start: start, End: max(start, end)}
	return &dockerLine{text: strings.ToValidUTF8(string(all), "\ufffd"), at: at}, nil
}

// continued returns a line without the escape character at its end that joins the next one to it.
func (d *dockerLines) continued(line []byte) (text []byte, more bool) {
	text = bytes.TrimRight(line, " \t")
	i := len(text) - 1
	if i < 0 || text[i] != d.escape || i > 0 && text[i-1] == d.escape {
		return line, false
	}
	return text[:i], true
}

// directive reads a line that may be "# NAME=VALUE", which only lines at the start are.
func (d *dockerLines) directive(line []byte, at int) error {
	if d.begun {
		return nil
	}
	const blanks = " \t\n\f\r"
	line, comment := bytes.CutPrefix(line, []byte("#"))
	key, value, _ := bytes.Cut(withoutIndent(line), []byte("="))
	assigns := len(value) > 0
	key, value = bytes.TrimRight(key, blanks), bytes.Trim(value, blanks)
	i := slices.IndexFunc([]string{"syntax", "escape", "check"}, func(name string) bool {
		return len(key) == len(name) && asciiEqualFold(string(key), name)
	})
	if !comment || !assigns || i < 0 {
		d.begun = true
		return nil
	}
	name := strings.ToLower(string(key))
	switch {
	case d.seen[name]:
		return d.bad(at, "not a Dockerfile: the directive %q is there twice", name)
	case name == "escape" && string(value) != "`" && string(value) != `\`:
		return d.bad(at, "not a Dockerfile: the escape character %q, which is neither \\ nor `", value)
	case name == "escape":
		d.escape = value[0]
	}
	d.seen[name] = true
	return nil
}

// readHeredocs returns the contents of the here-documents that begin in an instruction.
func (d *dockerLines) readHeredocs(i *dockerLine) (contents []string, err error) {
	lexer := dockerLexer{text: i.text, escape: '\\', levels: d.bounds.Levels, keepQuotes: true, keepEscapes: true}
	if err := lexer.lex(); err == errDockerLevels {
		return nil, d.tooDeep(i.at)
	} else if err != nil {
		return nil, nil // as BuildKit, which then has no words
	}
	if err := d.counted(i, len(lexer.words)); err != nil {
		return nil, err
	}
	for _, word := range lexer.words {
		name, tabs, ok, err := d.heredoc(i.at, word)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		content, err := d.content(i, name, tabs)
		if err != nil {
			return nil, err
		}
		contents = append(contents, content)
	}
	return contents, nil
}

// content reads the lines of a here-document up to its name.
func (d *dockerLines) content(i *dockerLine, name string, tabs bool) (string, error) {
	var content []byte
	for {
		line, _, err := d.next()
		if err != nil {
			return "", err
		}
		if line == nil {
			return "", d.bad(i.at.Start, "not a Dockerfile: the here-document %q without its end", name)
		}
		end := withoutEnd(line)
		if tabs {
			end, line = bytes.TrimLeft(end, "\t"), bytes.TrimLeft(line, "\t")
		}
		if string(end) == name {
			return strings.ToValidUTF8(string(content), "\ufffd"), nil
		}
		content = append(content, line...)
	}
}

// heredoc returns the name of the here-document that a word begins, and whether its lines lose their leading tabs.
func (d *dockerLines) heredoc(at keys.Span, word string) (name string, tabs, ok bool, err error) {
	word, ok = strings.CutPrefix(strings.TrimLeft(word, decimals), "<<")
	if !ok {
		return "", false, false, nil
	}
	word, tabs = strings.CutPrefix(word, "-")
	word = strings.TrimLeft(word, " \t\n\f\r")
	if word == "" || strings.Contains(word, "<") {
		return "", false, false, nil
	}
	lexer := dockerLexer{text: word, escape: '\\', levels: d.bounds.Levels}
	if err := lexer.lex(); err == errDockerLevels {
		return "", false, false, d.tooDeep(at)
	} else if err != nil {
		return "", false, false, d.bad(at.Start, "not a Dockerfile: %v, in %q", err, word)
	}
	if len(lexer.words) != 1 {
		return "", false, false, nil
	}
	return lexer.words[0], tabs, true, nil
}

func (d *dockerLines) tooDeep(at keys.Span) error { return d.deeper(d.bounds.Levels+1, at.Start) }
