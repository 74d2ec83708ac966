package editor

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
)

// A ruleFile is a rule file for the requests about it.
type ruleFile struct {
	path     string
	text     *text
	encoding encoding
	outline  *outline
}

// The kinds of the protocol that are used.
const (
	completionProperty = 10
	completionValue    = 12
	symbolObject       = 19
)

type hover struct {
	Contents markup    `json:"contents"`
	Range    textRange `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func plain(text string) markup { return markup{"plaintext", text} }

// nodeAt returns the node at a position, and its path; nil without one.
func (f *ruleFile) nodeAt(p position) (*node, string) {
	at := f.outline.at(f.text.offset(p, f.encoding))
	if at < 0 {
		return nil, ""
	}
	return &f.outline.nodes[at], f.outline.path(at)
}

func (f *ruleFile) rangeOf(n *node) textRange { return f.text.between(n.start, n.end, f.encoding) }

// hover returns the schema's text about the key at a position, or nil.
func (f *ruleFile) hover(p position) any {
	n, path := f.nodeAt(p)
	if n == nil || !n.isKey {
		return nil
	}
	_, parts := schemaAt(f.path, f.outline, path)
	about := description(parts)
	if about == "" {
		return nil
	}
	if closed := values(parts); len(closed) > 0 {
		about += "\n\nOne of: " + strings.Join(closed, ", ")
	}
	return hover{plain(about), f.rangeOf(n)}
}

// globAt returns the glob at a position, or nil, and whether it ignores case.
func (f *ruleFile) globAt(p position) (n *node, folds bool) {
	n, path := f.nodeAt(p)
	lists := []string{"files", "forbidden_files", "exclude", "required_files"} // path_case is for the first two
	at := slices.Index(lists, strings.TrimPrefix(path, "rules match "))
	if at < 0 || n.isKey {
		return nil, false
	}
	match := f.outline.nodes[n.parent].parent
	return n, at < 2 && slices.ContainsFunc(f.outline.nodes, func(n node) bool {
		return n.text == "path_case" && n.parent == match
	})
}

// aboutGlob says how many files of a tree a glob selects.
func aboutGlob(ctx context.Context, pattern string, folds bool, o run.Options) (text string, err error) {
	defer recovered(&err)
	check := glob.Check
	if folds {
		check = glob.CheckFolded
	}
	if m := check(pattern); m != nil {
		return m.Error(), nil
	}
	opened, err := run.Open(ctx, o)
	if err != nil {
		return "the files are not counted: the rules cannot be loaded", nil
	}
	defer opened.Close()
	one := &rules.New([]rules.Rule{{Files: []string{pattern}, PathCase: folds}}, nil).Rules[0]
	paths, wrong := scanner.Files(ctx, opened, func(f *tree.File) bool { return one.Selects(f.Path) })
	text = fmt.Sprintf("matches %d files of the repository", len(paths))
	if len(paths) == 1 {
		text = "matches 1 file of the repository"
	}
	if len(wrong) > 0 {
		text += ", which could not be listed completely: " + wrong[0].Error()
	}
	const shown = 5
	for _, path := range paths[:min(len(paths), shown)] {
		text += "\n" + path
	}
	if len(paths) > shown {
		text += "\n…"
	}
	return text, nil
}

type completion struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Documentation string   `json:"documentation,omitempty"`
	Edit          textEdit `json:"textEdit"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

// complete returns the keys, or the closed values, that can be written at a position.
func (f *ruleFile) complete(p position) []completion {
	at := f.text.offset(p, f.encoding)
	lineStart, lineEnd := f.text.line(f.text.position(at, f.encoding).Line)
	before := readOutline(f.text.bytes[:at])
	typed := bytes.TrimLeft(f.text.bytes[lineStart:at], " \t-")
	word, key := at, -1 // where the word before the cursor begins; the key that it is below
	last := len(before.nodes) - 1
	isOnLine := last >= 0 && before.nodes[last].start >= lineStart
	switch {
	case isOnLine && !before.nodes[last].isKey && before.nodes[last].end == at:
		word, key = before.nodes[last].start, before.nodes[last].parent
	case len(before.flow) > 0:
		in := before.flow[len(before.flow)-1]
		if key = in.key; in.current >= 0 {
			key = in.current
		}
	case len(typed) == 0:
		key = before.above(at - lineStart)
	case isOnLine && before.nodes[last].isKey:
		key = last
	default:
		return nil
	}
	s, parts := schemaAt(f.path, f.outline, before.path(key))
	edit, all := f.text.between(word, at, f.encoding), []completion{}
	for _, value := range values(parts) {
		all = append(all, completion{value, completionValue, "", textEdit{edit, value}})
	}
	isValue := key >= 0 && before.nodes[key].start >= lineStart
	if n := len(before.flow); len(all) > 0 || isValue && (n == 0 || before.flow[n-1].current >= 0) {
		return all
	}
	colon := ": "
	if bytes.HasPrefix(f.text.bytes[at:lineEnd], []byte(":")) {
		colon = ""
	}
	texts := s.keys(parts)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, completion{name, completionProperty, texts[name], textEdit{edit, name + colon}})
	}
	return all
}

// ids returns the ids of the rules of the file, in order.
func (f *ruleFile) ids() (all []node) {
	for i, n := range f.outline.nodes {
		if !n.isKey && f.outline.path(i) == "rules id" {
			all = append(all, n)
		}
	}
	return all
}
