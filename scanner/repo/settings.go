package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// settings are the entries of a git config file: the values of each "section.key", in order. Names are in lower case;
// a section with a subsection is "section.subsection".
type settings map[string][]string

// last returns the last value, which counts; "" if it is not set.
func (s settings) last(name string) string {
	if v := s[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

func (s settings) yes(name string) bool {
	switch strings.ToLower(s.last(name)) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

func (s settings) no(name string) bool { return len(s[name]) > 0 && !s.yes(name) && s.last(name) != "" }

// readSettings reads a config file (git-config(1), "Syntax"); a missing file has no settings. Included files are not
// read: the settings used here may not be set in them.
//
// go-git's reader refuses config that git accepts: a key on its section's line, an old style subsection, a value that
// is not UTF-8 (shown with v5.19.3).
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

// ModulePaths returns the paths of the submodules in a .gitmodules file (gitmodules(5)), unchecked and sorted.
func ModulePaths(text []byte) ([]string, error) {
	s, err := parseSettings(string(text))
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

func parseSettings(text string) (settings, error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	p := settingsParser{rest: text, line: 1, out: settings{}}
	if err := p.parse(); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.line, err)
	}
	return p.out, nil
}

// A settingsParser reads the text of a config file, whose lines end in LF.
type settingsParser struct {
	rest    string
	line    int
	section string
	out     settings
}

func (p *settingsParser) parse() error {
	for {
		p.blank()
		var err error
		switch c := p.peek(); {
		case p.rest == "":
			return nil
		case c == '\n':
			p.next()
		case c == '#' || c == ';':
			_, p.rest, _ = strings.Cut(p.rest, "\n")
			p.line++
		case c == '[':
			err = p.header()
		default:
			err = p.setting()
		}
		if err != nil {
			return err
		}
	}
}

// peek returns the next byte, 0 at the end.
func (p *settingsParser) peek() byte {
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// next takes a byte, 0 at the end.
func (p *settingsParser) next() byte {
	c := p.peek()
	if p.rest != "" {
		p.rest = p.rest[1:]
	}
	if c == '\n' {
		p.line++
	}
	return c
}

func (p *settingsParser) blank() { p.rest = strings.TrimLeft(p.rest, " \t\r") }

// name takes the name of a section or key in lower case. others are further characters it may have.
func (p *settingsParser) name(others string) string {
	end := len(p.rest)
	for i, c := range p.rest {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '-' && !strings.ContainsRune(others, c) {
			end = i
			break
		}
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	return strings.ToLower(name)
}

// header reads [section], [section "subsection"] or [section.subsection].
func (p *settingsParser) header() error {
	p.next()
	p.section = p.name(".")
	switch p.next() {
	case ']':
		return nil
	case ' ', '\t':
		p.blank()
		if p.next() != '"' {
			return errors.New("a section name with a space in it")
		}
		sub, err := p.subsection()
		p.section += "." + sub
		return err
	}
	return errors.New("a section without a name, or with one that is not closed")
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

func (p *settingsParser) setting() error {
	key := p.name("")
	if key == "" {
		return fmt.Errorf("%q, which is not a setting", string(p.peek()))
	}
	name := strings.TrimPrefix(p.section+"."+key, ".")
	p.blank()
	value, err := "true", error(nil)
	switch p.peek() {
	case '=':
		p.next()
		value, err = p.value()
	case '\n', '#', ';', 0:
	default:
		return fmt.Errorf("the key %q without a value", clip(key))
	}
	p.out[name] = append(p.out[name], value)
	return err
}

// value reads to the end of the line, with quotes, escapes, comments and a backslash at the end of a line.
func (p *settingsParser) value() (string, error) {
	p.blank()
	var out strings.Builder
	end := 0 // of the last character that is quoted or not blank
	quoted := false
	for {
		c := p.peek()
		if p.rest == "" || c == '\n' || !quoted && (c == '#' || c == ';') {
			if quoted {
				return "", errors.New("a quote that is not closed")
			}
			return out.String()[:end], nil
		}
		p.next()
		escaped := c == '\\'
		if escaped {
			c = p.next()
		}
		switch {
		case escaped && c == '\n':
			continue
		case escaped:
			i := strings.IndexByte(`ntb"\`, c)
			if i < 0 {
				return "", fmt.Errorf("the escape %q", `\`+string(c))
			}
			out.WriteByte("\n\t\b\"\\"[i])
		case c == '"':
			quoted = !quoted
		default:
			out.WriteByte(c)
		}
		if escaped || quoted || c != ' ' && c != '\t' {
			end = out.Len()
		}
	}
}
