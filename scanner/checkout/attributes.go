package checkout

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Attributes that change what git writes for a blob.
const (
	encodingName    = "working-tree-encoding" // on checkout: the encoding to write the blob's UTF-8 in
	identName       = "ident"                 // on checkout: "$Id$" is expanded
	filterName      = "filter"                // on checkout: the program that filters the blob
	exportSubstName = "export-subst"          // in an archive: placeholders are replaced
)

// A state is how a file sets an attribute.
type state uint8

const (
	unspecified state = iota // nothing, or "!attr"
	set                      // "attr"
	unset                    // "-attr"
	withText                 // "attr=text"
)

// A value is an attribute's value for a path.
type value struct {
	state state
	text  string // of the state withText
}

// A setting is an attribute's value on a line.
type setting struct {
	name  string
	value value
}

// A line gives attributes to the paths that its pattern matches, or defines a macro.
type line struct {
	pattern   *pattern // nil: no file matches
	macro     string   // "" if the line defines no macro
	settings  []setting
	raw       string
	ambiguous bool // versions of git read it differently
	optional  bool // git does not read it on some disks
}

const (
	blank       = " \t\r\n"
	macroPrefix = "[attr]"
	reserved    = "builtin_" // git 2.44 and later ignores a line whose name has this prefix
	byteMark    = "\ufeff"   // skipped in a file on disk, and part of the first pattern in a blob
	maxLine     = 2048       // bytes: git 2.39.1 and later ignores a line of this length, others read or cut it
)

// parseLines parses the text of an attributes file. Git ignores a line with a mistake. In a blob a NUL byte ends the
// text, in a file the line.
func parseLines(content []byte) []line {
	var all []line
	hasNUL := false
	for raw := range strings.Lines(string(content)) {
		raw = strings.TrimSuffix(raw, "\n")
		hasNUL = hasNUL || strings.Contains(raw, "\x00")
		hasMark := len(all) == 0 && strings.HasPrefix(raw, byteMark)
		l := line{raw: raw}
		l.ambiguous = hasNUL || hasMark || len(raw) >= maxLine || strings.Contains(raw, reserved)
		if hasMark {
			raw = raw[len(byteMark):]
		}
		raw, _, _ = strings.Cut(raw, "\x00")
		raw = strings.TrimLeft(raw, blank)
		if raw != "" && raw[0] != '#' && len(l.raw) < maxLine {
			name, rest, plain := cutPattern(raw)
			l.ambiguous = l.ambiguous || !plain
			l.parse(name, rest)
		}
		all = append(all, l)
	}
	return all
}

// cutPattern cuts a line after its pattern. plain is false if versions of git may read its quotes differently.
func cutPattern(raw string) (name, rest string, plain bool) {
	quoted, err := strconv.QuotedPrefix(raw)
	if raw[0] == '"' && err == nil && utf8.ValidString(quoted) &&
		!strings.Contains(quoted, `\x`) && !strings.Contains(quoted, `\u`) && !strings.Contains(quoted, `\U`) {
		name, err = strconv.Unquote(quoted)
		name, _, _ = strings.Cut(name, "\x00")
		return name, raw[len(quoted):], err == nil
	}
	end := strings.IndexAny(raw, blank)
	if end < 0 {
		end = len(raw)
	}
	return raw[:end], raw[end:], raw[0] != '"'
}

func (l *line) parse(name, rest string) {
	var settings []setting
	for word := range strings.FieldsFuncSeq(rest, func(c rune) bool { return strings.ContainsRune(blank, c) }) {
		name, after, hasValue := strings.Cut(word, "=")
		s := setting{name, value{state: set}}
		switch {
		case strings.HasPrefix(name, "-"):
			s = setting{name[1:], value{state: unset}}
		case strings.HasPrefix(name, "!"):
			s = setting{name[1:], value{}}
		case hasValue:
			s.value = value{withText, after}
		}
		if !isAttribute(s.name) {
			return
		}
		settings = append(settings, s)
	}
	macro, isMacro := strings.CutPrefix(name, macroPrefix)
	switch {
	case isMacro && macro != "":
		macro = strings.TrimLeft(macro, blank)
		if end := strings.IndexAny(macro, blank); end >= 0 {
			macro = macro[:end]
		}
		if isAttribute(macro) {
			l.macro, l.settings = macro, settings
		}
	case !strings.HasPrefix(name, "!"): // git refuses a negative pattern
		l.pattern, l.settings = newPattern(name), settings
	}
}

func isAttribute(name string) bool {
	return name != "" && name[0] != '-' && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && c != '.' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// An attributeList is the effective lines of a directory's attributes files.
type attributeList struct {
	dir   string // "" is the root
	lines []line
}

// maxOutcomes is how many combinations of attributes a path may have. One more is an error of the run.
const maxOutcomes = 16

// outcomes returns the possible combinations of a path's attributes, by the lists of the directories above it, the
// root's first: several if some lines count only in some checkouts. Unspecified attributes are zero. ok is false if
// there are too many.
func outcomes(lists []attributeList, macros map[string][]setting, path string) (all []map[string]value, ok bool) {
	all = []map[string]value{{}}
	for _, list := range slices.Backward(lists) {
		rel := path
		if list.dir != "" {
			rel = path[len(list.dir)+1:]
		}
		for _, l := range slices.Backward(list.lines) {
			always, sometimes := l.pattern.match(rel)
			if !sometimes {
				continue
			}
			var next []map[string]value
			for _, before := range all {
				after := maps.Clone(before)
				apply(after, macros, l.settings)
				next = addOutcome(next, after)
				if l.optional || !always {
					next = addOutcome(next, before)
				}
			}
			if all = next; len(all) > maxOutcomes {
				return nil, false
			}
		}
	}
	return all, true
}

func addOutcome(all []map[string]value, o map[string]value) []map[string]value {
	if slices.ContainsFunc(all, func(other map[string]value) bool { return maps.Equal(o, other) }) {
		return all
	}
	return append(all, o)
}

// apply adds the settings of a matching line, the last first, to those of the lines after it, which win even if they
// unspecify an attribute. A macro that becomes set brings its own settings, before those to its left.
func apply(known map[string]value, macros map[string][]setting, settings []setting) {
	for todo := slices.Clone(settings); len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, decided := known[s.name]; decided {
			continue
		}
		known[s.name] = s.value
		if s.value.state == set {
			todo = append(todo, macros[s.name]...)
		}
	}
}
