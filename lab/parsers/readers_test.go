package parsers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
	kubernetes "sigs.k8s.io/yaml"
)

// A reading is what one parser reads in one file.
type reading struct {
	File      int
	Reader    string
	Documents []any
}

// readYAMLv3 reads as Go programs do with gopkg.in/yaml.v3.
func readYAMLv3(text []byte) (documents []any) {
	defer func() { _ = recover() }() // what it read before counts
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var v any
		if d.Decode(&v) != nil {
			return documents
		}
		documents = append(documents, v)
	}
}

// readKubectl reads as kubectl does: of a file that begins as JSON, one value after the other; any other file it splits
// at lines of --- before goyaml v2 sees it.
func readKubectl(text []byte) (documents []any) {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); bytes.HasPrefix(trimmed, []byte("{")) {
		d := json.NewDecoder(bytes.NewReader(trimmed))
		d.UseNumber()
		for v := any(nil); d.Decode(&v) == nil; v = nil {
			documents = append(documents, v)
		}
	}
	var part []byte
	read := func() {
		defer func() { part = nil; _ = recover() }()
		var v any
		if text, err := kubernetes.YAMLToJSON(part); err == nil && decode(text, &v) == nil {
			documents = append(documents, v)
		}
	}
	for line := range bytes.Lines(text) {
		rest, ok := strings.CutPrefix(string(line), "---")
		if rest = strings.TrimSpace(rest); ok && (rest == "" || rest[0] == '#') {
			read()
			continue
		}
		part = append(part, line...)
	}
	read()
	return documents
}

func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

// items returns the forbidden items that have to find what a parser read below a path, as JSON in ASCII.
func items(path string, v any, depth int) (found []string) {
	below := func(key string, v any) {
		if !elsewhere.MatchString(key) {
			segment := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
			found = append(found, items(strings.TrimPrefix(path+"."+segment, "."), v, depth+1)...)
		}
	}
	is := ""
	switch v := v.(type) {
	case map[string]any:
		for key, v := range v {
			below(key, v)
		}
	case map[any]any:
		for key, v := range v {
			if key, ok := key.(string); ok {
				below(key, v)
			}
		}
	case []any:
		for i := 0; i < len(v) && depth < 20; i++ { // an alias may be within what it stands for
			found = append(found, items(path, v[i], depth+1)...)
		}
	case string:
		if strings.TrimSpace(v) != "" { // of blanks at the end of a file, parsers keep more or less
			is = `,"is":` + ascii(v)
		}
	case bool, int, int64, uint64, json.Number:
		is = `,"is":` + fmt.Sprint(v)
	case float64:
		if text, err := json.Marshal(v); err == nil {
			is = `,"is":` + string(text)
		}
	}
	if len(found) > 0 || path == "" {
		return found
	}
	return []string{`{"key":` + ascii(path) + is + "}"}
}

// elsewhere are keys of which the readings do not say how they are written, those of a merge for a parser that knows
// none, and those to which a parser gives a byte order mark that belongs to no key.
var elsewhere = regexp.MustCompile(`(?s)^(|null|true|false|[\[{].*|[-+.]?\d.*|<<|\x{FEFF}.*)$`)

// ascii is a text as JSON and YAML both read it.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < ' ' || r > '~' && r <= 0xFFFF || r == '"' || r == '\\' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
