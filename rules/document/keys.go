package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// A Level is a kind of mapping in a file, and its keys.
type Level struct {
	Name     string // in messages, with its article
	Required []string
	Optional []string
	Wrong    map[string]Wrong // keys that count as other ones

	// Unknown, if set, takes an unknown key with its message, which is then no mistake.
	Unknown func(key *yaml.Node, found, fix string)
}

// A Wrong is a key that was written instead of another one, which then does not count as missing.
type Wrong struct {
	For        string // the key that it counts as
	Found, Fix string // the message, if the level does not have the key
}

func (l Level) keys() []string { return append(slices.Clone(l.Required), l.Optional...) }

// Misplaced refuses a value of the wrong kind. what and form are as in Mapping.
func (d *YAML) Misplaced(n *yaml.Node, what, form string) {
	code, found := CodeType, what+" is "+kindName(n)
	if isNull(n) {
		code, found = CodeValue, what+" is empty"
	}
	d.fail(code, d.Place(n), found, "write "+form)
}

// isOwn reports whether a key is the author's own, which is ignored.
func (d *YAML) isOwn(key string) bool {
	return strings.HasPrefix(key, "x-") && !d.form.Closed
}

// Has reports whether n has a key of a level, even refused or misspelt: its absence would be the same mistake again.
// Another key of the level is not a misspelling.
func (d *YAML) Has(n *yaml.Node, l Level, key string) bool {
	keys := l.keys()
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i].Value
		if d.isOwn(k) {
			continue
		}
		if k == key || l.Wrong[k].For == key ||
			l.Unknown == nil && !slices.Contains(keys, k) && Nearest(k, append(keys, key)) == key {
			return true
		}
	}
	return false
}

// KeyForm shows how to write a key.
func (d *YAML) KeyForm(key string) string {
	if form := d.form.Keys[key]; form != "" {
		return form
	}
	return fmt.Sprintf("%q", key+": …")
}

// maxKeyBytes is the length up to which an unknown key is compared with the known ones.
const maxKeyBytes = 64

func (d *YAML) unknownKey(key string, l Level) (found, fix string) {
	found = fmt.Sprintf("unknown key %s in %s", Quoted(key), l.Name)
	own := `; your own keys must begin with "x-"`
	if d.form.Closed {
		own = ""
	}
	if len(key) > maxKeyBytes {
		return found, cmp.Or(strings.TrimPrefix(own, "; "), "remove it")
	}
	if w, ok := l.Wrong[key]; ok {
		return w.Found, w.Fix
	}
	if near := Nearest(key, l.keys()); near != "" {
		return found, fmt.Sprintf("write %q", near)
	}
	for _, other := range d.form.Levels {
		if near := Nearest(key, other.keys()); near != "" && other.Name != l.Name {
			return found, fmt.Sprintf("%q belongs in %s", near, other.Name)
		}
	}
	if keys := l.keys(); len(keys) > 1 {
		return found, "the keys are " + strings.Join(keys, ", ") + own
	}
	return found, "the key is " + l.Required[0] + own
}

// Nearest returns the word that key was most likely meant to be: equal except for case and separators, or with at most
// a third of its letters different. It returns "" if no word is near, or if key is very long.
func Nearest(key string, words []string) string {
	if len(key) > maxKeyBytes {
		return ""
	}
	plain := normalKey(key)
	best, least := "", 0
	for _, word := range words {
		if normalKey(word) == plain {
			return word
		}
		d := distance(plain, normalKey(word))
		if d <= max(1, len(word)/3) && (best == "" || d < least) {
			best, least = word, d
		}
	}
	return best
}

func normalKey(key string) string {
	withoutSeparators := func(r rune) rune {
		if strings.ContainsRune("-_ :", r) {
			return -1
		}
		return r
	}
	return strings.Map(withoutSeparators, strings.ToLower(key))
}

// distance counts the letters to insert, delete, replace or swap to turn a into b.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}

// isNull reports whether n is empty, "~" or an unquoted null.
func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Style == 0
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	}
	return "a string"
}
