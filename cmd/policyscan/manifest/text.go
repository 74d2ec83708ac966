package manifest

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"
)

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"quote": quote, "indent": indent, "literal": literal, "base64": base64.StdEncoding.EncodeToString,
	"pod": func() string { return podText }, "run": func() string { return runText },
	"confined": func() string { return confinedText },
}).Parse(objectsText + scanText + mergeText))

// quote writes a text in double quotes, as JSON does, which YAML reads alike.
func quote(text string) (string, error) {
	quoted, err := json.Marshal(text)
	return string(quoted), err
}

// indent puts spaces before every line of a text that has one.
func indent(spaces int, text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", spaces) + line
		}
	}
	return strings.Join(lines, "\n")
}

// plain reports whether YAML gives a text back from a literal block as it was: printable text, LF only, one LF at its
// end, and no space at the beginning, which would count as indentation.
func plain(content []byte) bool {
	text := string(content)
	return utf8.Valid(content) && strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\n\n") &&
		!strings.ContainsAny(text[:1], " \n\t") && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && !unicode.IsPrint(r)
	})
}

// literal is a text as the lines of a literal block.
func literal(spaces int, content []byte) string { return indent(spaces, string(content)) }

// Meta returns the metadata of an object.
func (o objects) Meta(name string) string {
	text := "name: " + name + "\n"
	if o.Namespace != "" {
		text += "namespace: " + o.Namespace + "\n"
	}
	return text + "labels:\n  app.kubernetes.io/name: policyscan\n  app.kubernetes.io/instance: " + o.Name
}

// Scan returns the spec of the scan's Job.
func (o objects) Scan() (string, error) { return o.part("scan") }

// Merge returns the spec of the merge's Job.
func (o objects) Merge() (string, error) { return o.part("merge") }

// part writes a template by its name.
func (o objects) part(name string) (string, error) {
	var text strings.Builder
	err := templates.ExecuteTemplate(&text, name, o)
	return text.String(), err
}

// Texts returns the files that a literal block gives back as they are.
func (m configMap) Texts() []entry { return m.some(true) }

// Bytes returns the others, which are written in base64.
func (m configMap) Bytes() []entry { return m.some(false) }

func (m configMap) some(text bool) []entry {
	var some []entry
	for _, e := range m.Entries {
		if plain(e.Content) == text {
			some = append(some, e)
		}
	}
	return some
}
