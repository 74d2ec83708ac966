package keyitem

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxSegments is the limit for the segments of a path.
const MaxSegments = 63

// A Path has 1 to MaxSegments segments. There are no two Deep segments in a row, which would mean the same as one.
type Path []Segment

// A Segment is one step of a path.
type Segment struct {
	Kind   SegmentKind
	Name   string // of a Name segment: the key, quotes and escapes resolved
	Quoted bool   // the segment was in quotes
}

// String returns the path in the syntax of a rule.
func (p Path) String() string {
	var text strings.Builder
	for i, s := range p {
		if i > 0 {
			text.WriteByte('.')
		}
		switch {
		case s.Kind == Any:
			text.WriteByte('*')
		case s.Kind == Deep:
			text.WriteString("**")
		case s.Quoted:
			text.WriteString(quote(s.Name))
		default:
			text.WriteString(s.Name)
		}
	}
	return text.String()
}

func quote(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// SegmentKind is the kind of a Segment.
type SegmentKind uint8

// The kinds of segment.
const (
	Name SegmentKind = iota // the key Name
	Any                     // "*": any one segment
	Deep                    // "**": any number of segments, including none
)

// ParsePath reads a path. Its errors are of type [*Error].
func ParsePath(text string) (Path, error) {
	if text == "" {
		return nil, &Error{"an empty path", "write the keys that lead to the value, such as spec.hostNetwork"}
	}
	var path Path
	for rest, more := text, true; more; {
		var segment Segment
		var err *Error
		if strings.HasPrefix(rest, `"`) {
			segment, rest, more, err = quotedSegment(rest)
		} else {
			var plain string
			plain, rest, more = strings.Cut(rest, ".")
			segment, err = plainSegment(plain, text)
		}
		if err != nil {
			return nil, err
		}
		if segment.Kind == Deep && len(path) > 0 && path[len(path)-1].Kind == Deep {
			continue
		}
		if path = append(path, segment); len(path) > MaxSegments {
			return nil, &Error{fmt.Sprintf("a path of more than %d segments", MaxSegments),
				"write ** for the segments between the ends"}
		}
	}
	return path, nil
}

// quotedSegment reads a segment in double quotes and the dot after it, and reports whether there is a dot.
func quotedSegment(text string) (segment Segment, rest string, more bool, err *Error) {
	var name strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			rest, more = strings.CutPrefix(text[i+1:], ".")
			if rest != "" && !more {
				return segment, "", false, &Error{
					"text after the closing quote in " + shown(text),
					"write a dot there, or put the whole segment in quotes",
				}
			}
			return Segment{Name: name.String(), Quoted: true}, rest, more, nil
		case c != '\\':
			name.WriteByte(c)
		case i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			name.WriteByte(text[i])
		default:
			_, size := utf8.DecodeRuneInString(text[i+1:])
			return segment, "", false, &Error{"the escape " + text[i:i+1+size] + " in the quotes of a path",
				`write \\ for a backslash and \" for a quote; every other character stands for itself`}
		}
	}
	return segment, "", false, &Error{"a segment without its closing quote: " + shown(text), `write the "`}
}

func plainSegment(text, path string) (Segment, *Error) {
	switch text {
	case "":
		return Segment{}, emptySegment(path)
	case "*":
		return Segment{Kind: Any}, nil
	case "**":
		return Segment{Kind: Deep}, nil
	}
	switch {
	case text == "$" && path[0] == '$':
		return Segment{}, &Error{"a path that begins with $",
			"begin with a key: a path starts at the top of the document"}
	case text[0] == '$':
		return Segment{}, &Error{shown(text) + ", a segment that begins with $", inQuotes(text)}
	case text[0] == '/':
		return Segment{}, &Error{shown(text) + ", a segment that begins with /",
			"write the keys with dots between them, or, if the key has the slash, " + inQuotes(text)}
	}
	if i := strings.IndexFunc(text, isRefused); i >= 0 {
		return Segment{}, refused(text, i, path)
	}
	if strings.Contains(text, "*") {
		return Segment{}, &Error{shown(text) + ", a segment with * next to other characters",
			"write * alone for any one segment or ** for any number of them, or, if the key has the star, " +
				inQuotes(text)}
	}
	return Segment{Name: text}, nil
}

func isRefused(r rune) bool {
	return strings.ContainsRune(`"'\,[](){}<>`, r) || unicode.IsSpace(r) || unicode.IsControl(r)
}

func emptySegment(path string) *Error {
	switch {
	case strings.HasPrefix(path, "."):
		return &Error{"a path that begins with a dot: " + shown(path), "begin with a key"}
	case strings.HasSuffix(path, ".") && !strings.Contains(path, ".."):
		return &Error{"a path that ends with a dot: " + shown(path), "end with a key"}
	}
	return &Error{"two dots in a row in " + shown(path),
		"write one, or .**. for any number of segments; a key without characters is \"\""}
}

// refused returns the error about the character at i of a segment, which needs quotes.
func refused(segment string, i int, path string) *Error {
	c, _ := utf8.DecodeRuneInString(segment[i:])
	found := fmt.Sprintf("%q in the path %s", c, shown(path))
	fix := inQuotes(segment)
	switch c {
	case '[', ']':
		fix = "remove the brackets: a path that comes to a list means each of its items; if the key has them, " + fix
		if strings.HasPrefix(segment[i:], `["`) || strings.HasPrefix(segment[i:], `['`) {
			fix = `write the key with a dot before it and in double quotes: a."b.c" for a["b.c"]`
		}
	case '{', '}', '(', ')', '<', '>':
		fix = "write a list of paths for several; if the key has it, " + fix
	case ',':
		fix = "write a list for several paths: [a, b]; if the key has it, " + fix
	case '\'', '"':
		fix = `put the whole segment in double quotes, such as metadata."app.kubernetes.io/name"`
	case '\\':
		fix = `put the segment in double quotes, such as metadata."app.kubernetes.io/name"`
	case '\n', '\r':
		fix = "write the path on one line"
	case ' ', '\t':
		if strings.TrimSpace(segment) != segment {
			fix = "remove it; if the key has it, " + fix
		}
	}
	return &Error{found, fix}
}

func inQuotes(segment string) string {
	if len(segment) > shownBytes {
		return "put the segment in double quotes"
	}
	return "write the segment in double quotes, " + quote(segment)
}

// shownBytes is roughly the length up to which a message shows a path.
const shownBytes = 60

// shown returns a path or a part of it for a message.
func shown(text string) string {
	if len(text) <= shownBytes {
		return text
	}
	cut := shownBytes
	for cut > shownBytes-utf8.UTFMax && !utf8.RuneStart(text[cut]) { // it may not be UTF-8
		cut--
	}
	return text[:cut] + "…"
}

// Notes returns the lint notes of a path.
func (p Path) Notes() []string {
	var notes []string
	for i, s := range p {
		if s.Kind != Name || s.Quoted {
			continue
		}
		if i > 0 && p[i-1].Kind == Name && !p[i-1].Quoted && isDomainEnd(s.Name) {
			notes = append(notes, fmt.Sprintf("the path has %s.%s, which may be part of one key: "+
				`a key with dots needs quotes, such as metadata.labels."app.kubernetes.io/name"`, p[i-1].Name, s.Name))
		} else if parts := strings.Split(s.Name, "/"); len(parts) > 1 && !slices.ContainsFunc(parts, notIdentifier) {
			notes = append(notes, fmt.Sprintf(`the segment %s of the path is one key: a "." separates segments; `+
				"write %s, or put it in quotes", s.Name, strings.Join(parts, ".")))
		}
		if strings.Trim(s.Name, "0123456789") == "" {
			notes = append(notes, fmt.Sprintf("the segment %s of the path is a key: lists have no index, and a path "+
				"that comes to a list means each of its items", s.Name))
		}
	}
	return notes
}

// notIdentifier reports whether a string has a character other than letters, digits and underscores.
func notIdentifier(s string) bool {
	return s == "" || strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// isDomainEnd reports whether a segment ends a domain, as in kubernetes.io/name.
func isDomainEnd(segment string) bool {
	end, _, hasName := strings.Cut(segment, "/")
	return hasName || slices.Contains([]string{"com", "io", "net", "org"}, end)
}
