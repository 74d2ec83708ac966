// Package attributes says what .gitattributes files give a path, as git check-attr does.
//
// It is pure: it knows texts and paths, and no files and no git. [Read] makes a [File] of a text, [Values] asks the
// files of the folders above a path.
//
// Versions of git read some texts in different ways, and one version reads a file on disk and a blob in different ways:
// see [Read], which returns every reading. The builtin macro "binary" is known. What is configured outside of the tree
// (info/attributes, core.attributesFile) is not.
package attributes

import (
	"strings"
)

// Name is the name of an attributes file. See [IsFile].
const Name = ".gitattributes"

// Attributes that say what git writes in the place of a blob.
const (
	Encoding    = "working-tree-encoding" // on checkout: the encoding that the UTF-8 of the blob is written in
	Ident       = "ident"                 // on checkout: "$Id$" is expanded
	Filter      = "filter"                // on checkout: the program that the blob is sent through
	ExportSubst = "export-subst"          // in an archive: placeholders are replaced
)

// IsFile reports whether a file of this name is an attributes file in some checkout: on a disk that folds letter case
// (macOS, Windows), .GITATTRIBUTES is opened as .gitattributes. HFS+ ignores some characters besides.
func IsFile(name string) bool {
	if len(name) < len(Name) { // as nearly all names are
		return false
	}
	if len(name) == len(Name) {
		return name[0] == '.' && strings.EqualFold(name, Name)
	}
	return strings.EqualFold(strings.Map(visible, name), Name)
}

// visible returns -1 for the characters that HFS+ ignores in a name, which are those that git's utf8.c lists.
func visible(r rune) rune {
	if 0x200c <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x206a <= r && r <= 0x206f || r == 0xfeff {
		return -1
	}
	return r
}

// A State is what is known of an attribute.
type State uint8

// The states. The zero one is that of an attribute of which nothing is said, or "!attr".
const (
	Unspecified State = iota
	Set               // "attr"
	Unset             // "-attr"
	Text              // "attr=text"
)

// A Value is what a path has for an attribute.
type Value struct {
	State State
	Text  string // of the state Text
}

// A File is one reading of an attributes file.
type File struct {
	lines  []line
	macros map[string][]setting // in a root's file; of several of one name the last
	odd    bool                 // another style of stars makes another file
}

// A line gives attributes to the paths that its pattern matches.
type line struct {
	pattern  pattern
	settings []setting
}

// A setting is what a line says of one attribute.
type setting struct {
	name  string
	value Value
}

// A Frame is an attributes file and the folder that it is in.
type Frame struct {
	Folder string // "" is the root; no slash at its end
	File   *File
}

// Values returns what a path has for the named attributes, by the files of the folders above it, the root's first.
// With fold, patterns match without letter case, as git has it with core.ignoreCase: of ASCII letters.
func Values(frames []Frame, path string, fold bool, names ...string) []Value {
	e := evaluation{known: map[string]Value{}}
	for _, f := range frames {
		if f.Folder == "" {
			e.macros = f.File.macros
		}
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(frames) - 1; i >= 0; i-- {
		beneath := path
		if folder := frames[i].Folder; folder != "" {
			beneath = path[len(folder)+1:]
		}
		lines := frames[i].File.lines
		for k := len(lines) - 1; k >= 0; k-- {
			if lines[k].pattern.matches(beneath, base, fold) {
				e.take(lines[k].settings)
			}
		}
	}
	values := make([]Value, len(names))
	for i, name := range names {
		values[i] = e.known[name]
	}
	return values
}

// An evaluation goes from the line that decides first to the one that decides last: what is known of an attribute
// stays, even that nothing is to be said of it.
type evaluation struct {
	macros map[string][]setting
	known  map[string]Value
}

// take takes what a line says that matches, the last setting first. An attribute that is a macro and becomes set brings
// its own settings, before those to its left.
func (e *evaluation) take(settings []setting) {
	for todo := append([]setting(nil), settings...); len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, known := e.known[s.name]; known {
			continue
		}
		e.known[s.name] = s.value
		if s.value.State == Set {
			todo = append(todo, e.macro(s.name)...)
		}
	}
}

// macro returns the settings of a macro, none if the attribute is not one.
func (e *evaluation) macro(name string) []setting {
	settings, known := e.macros[name]
	if !known && name == "binary" {
		return []setting{{"diff", Value{State: Unset}}, {"merge", Value{State: Unset}}, {"text", Value{State: Unset}}}
	}
	return settings
}
