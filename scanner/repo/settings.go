package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// settings are what a config file of git's says: the values of each "section.key", in
// order. Names are in lower case; a section with a subsection is "section.subsection".
type settings map[string][]string

// last returns the value that counts, "" if there is none.
func (s settings) last(name string) string {
	if v := s[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// yes reports whether a setting is switched on.
func (s settings) yes(name string) bool {
	switch strings.ToLower(s.last(name)) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// readSettings reads a config file (git-config(1), "Syntax"); one that is not there has no
// settings. What it includes is not read: none of what matters here may be set there.
//
// go-git's reader refuses what git takes: a key on its section's line, an old style
// subsection, a value that is not UTF-8 (shown with v5.19.3).
func readSettings(file string) (settings, error) {
	text, err := readSmall(file)
	if errors.Is(err, fs.ErrNotExist) {
		return settings{}, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := parseSettings(text)
	if err != nil {
		return nil, fmt.Errorf("%w: the repository's config, %v", ErrFormat, err)
	}
	return s, nil
}

// ModulePaths returns where a .gitmodules file (gitmodules(5)) says that submodules are, as it
// says it, sorted: any text can be there.
func ModulePaths(text []byte) ([]string, error) {
	s, err := parseSettings(text)
	if err != nil {
		return nil, err
	}
	var paths []string
	for name, values := range s {
		if strings.HasPrefix(name, "submodule.") && strings.HasSuffix(name, ".path") {
			paths = append(paths, values...)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

func parseSettings(text []byte) (settings, error) {
	p := settingsParser{rest: bytes.TrimPrefix(text, []byte("\ufeff")), line: 1, out: settings{}}
	if err := p.parse(); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.line, err)
	}
	return p.out, nil
}

type settingsParser struct {
	rest    []byte
	line    int
	section string
	out     settings
}

func (p *settingsParser) parse() error {
	for {
		p.blank()
		switch c := p.peek(); {
		case c == 0 && len(p.rest) == 0:
			return nil
		case c == '\n':
			p.next()
		case c == '#' || c == ';':
			p.comment()
		case c == '[':
			if err := p.header(); err != nil {
				return err
			}
		default:
			if err := p.setting(); err != nil {
				return err
			}
		}
	}
}

func (p *settingsParser) peek() byte {
	if len(p.rest) == 0 {
		return 0
	}
	return p.rest[0]
}

// next takes a byte; a CR before an LF is part of the line's end.
func (p *settingsParser) next() byte {
	if bytes.HasPrefix(p.rest, []byte("\r\n")) {
		p.rest = p.rest[1:]
	}
	c := p.peek()
	if len(p.rest) > 0 {
		p.rest = p.rest[1:]
	}
	if c == '\n' {
		p.line++
	}
	return c
}

func (p *settingsParser) blank() {
	for c := p.peek(); c == ' ' || c == '\t' || c == '\r'; c = p.peek() {
		p.rest = p.rest[1:]
	}
}

func (p *settingsParser) comment() {
	for len(p.rest) > 0 && p.peek() != '\n' {
		p.next()
	}
}

// header reads [section], [section "subsection"] or [section.subsection].
func (p *settingsParser) header() error {
	p.next()
	var name strings.Builder
	for {
		switch c := p.next(); {
		case c == ']':
			p.section = name.String()
			return nil
		case c == ' ' || c == '\t':
			p.blank()
			if p.next() != '"' {
				return errors.New("a section name with a space in it")
			}
			sub, err := p.subsection()
			p.section = name.String() + "." + sub
			return err
		case isKey(c) || c == '.':
			name.WriteByte(lower(c))
		default:
			return errors.New("a section without a name, or with one that is not closed")
		}
	}
}

func (p *settingsParser) subsection() (string, error) {
	var name strings.Builder
	for {
		c := p.next()
		if c == '\\' {
			c = p.next()
		} else if c == '"' {
			break
		}
		if c == 0 || c == '\n' {
			return "", errors.New("a subsection that is not closed")
		}
		name.WriteByte(c)
	}
	if p.next() != ']' {
		return "", errors.New("a section that is not closed")
	}
	return name.String(), nil
}

// setting reads "key", which is "key = true", or "key = value".
func (p *settingsParser) setting() error {
	var key strings.Builder
	for isKey(p.peek()) {
		key.WriteByte(lower(p.next()))
	}
	if key.Len() == 0 {
		return fmt.Errorf("%q, which is not a setting", string(p.peek()))
	}
	name := strings.TrimPrefix(p.section+"."+key.String(), ".")
	p.blank()
	switch p.peek() {
	case '=':
		p.next()
		value, err := p.value()
		p.out[name] = append(p.out[name], value)
		return err
	case '\n', '#', ';', 0:
		p.out[name] = append(p.out[name], "true")
		return nil
	}
	return fmt.Errorf("the key %q without a value", clip(key.String()))
}

// value reads to the end of the line: quotes, escapes, comments and a backslash at the end
// of a line are the syntax's.
func (p *settingsParser) value() (string, error) {
	p.blank()
	var out strings.Builder
	end := 0 // of what is not blank, or quoted
	quoted := false
	for {
		if len(p.rest) == 0 || !quoted && (p.peek() == '#' || p.peek() == ';') || p.peek() == '\n' ||
			bytes.HasPrefix(p.rest, []byte("\r\n")) {
			if quoted {
				return "", errors.New("a quote that is not closed")
			}
			return out.String()[:end], nil
		}
		c := p.next()
		switch {
		case c == '"':
			quoted = !quoted
			end = out.Len()
			continue
		case c == '\\':
			c = p.next()
			switch c {
			case '\n':
				continue
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case '"', '\\':
			default:
				return "", fmt.Errorf("the escape %q", `\`+string(c))
			}
			out.WriteByte(c)
			end = out.Len()
			continue
		}
		out.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			end = out.Len()
		}
	}
}

func isKey(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
