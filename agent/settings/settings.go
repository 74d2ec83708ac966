// Package settings adds policyscan's hook to the settings of coding agents, and removes it again.
//
// Agents keep their hooks in JSON files that also hold other settings and are often committed. So an edit is a
// splice: it keeps every existing byte and adds the hook in the style of the text next to it, and removing the hook
// restores the original bytes. No JSON library was found that does this: libraries that keep order and whitespace
// (such as github.com/tidwall/sjson) edit invalid JSON without an error, write the new part on one line, and cannot
// remove the parents that they created.
//
// An ambiguous edit is refused, with its line: text that the agent may not read, a duplicate name, a value of another
// type than a list, a hook of policyscan that was changed by hand, a setting that switches hooks off.
//
// # Limits
//
// A comment, or a comma at the end of a list, is an error: with either, Claude Code and Codex read nothing of the
// file and run no hook. The command of a hook runs in any shell that finds sh (Codex and Copilot have separate lines
// for Windows). docs/cli.md lists the limits of such a line (a time limit, an agent that does not read the file).
// [Target.Install] and [Target.Uninstall] take and return bytes; a [File] reads and writes them.
package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
)

// Install returns the settings with the hook that runs "PROGRAM hook AGENT" with these arguments before every call of
// a tool; the same bytes, if it is already installed. The program is a path, or "" for policyscan in the PATH. A hook
// with these arguments and another program is replaced. A nil src is a missing file. The error is a [document.Error],
// with its position if known.
func (t *Target) Install(src *document.Source, program string, args []string) ([]byte, error) {
	program, err := quoteProgram(program)
	if err != nil {
		return nil, err
	}
	quoted, err := quoteAll(args)
	if err != nil {
		return nil, err
	}
	entry := t.entry(program, quoted)
	if src == nil {
		return t.fresh(entry)
	}
	root, err := parse(src)
	if err != nil {
		return nil, err
	}
	if err := t.runs(src, root); err != nil {
		return nil, err
	}
	switch had, err := t.find(src, root); {
	case err != nil:
		return nil, err
	case had == nil:
		return insert(src, root, t.path, entry)
	case had.args != quoted:
		found := "the hook is there with other arguments:" + cmp.Or(had.args, " none")
		fix := "to change them, first run: policyscan hook uninstall " + t.Agent
		return nil, src.Error(document.CodeDuplicate, had.at.start, found, fix)
	case !reflect.DeepEqual(had.entry, entry):
		return replace(src, root, had.at, entry)
	}
	return src.Text, nil
}

// Uninstall returns the settings without the hook, whatever its arguments: the same bytes if it is not installed, nil
// if the file is missing, or created by Install and otherwise empty. A hook that was changed by hand is an error.
func (t *Target) Uninstall(src *document.Source) ([]byte, error) {
	if src == nil {
		return nil, nil
	}
	root, err := parse(src)
	if err != nil {
		return nil, err
	}
	had, err := t.find(src, root)
	if err != nil || had == nil {
		return src.Text, err
	}
	whole, err := t.fresh(had.entry)
	if err != nil || bytes.Equal(whole, src.Text) {
		return nil, err
	}
	array, _, err := list(src, root, t.path)
	if err != nil {
		return nil, err
	}
	index := slices.IndexFunc(array.items, func(it item) bool { return it.value == had.at })
	return remove(src.Text, root, t.path, index), nil
}

func (t *Target) fresh(entry hook) ([]byte, error) {
	text, err := style{oneLine: true}.show(t.path, entry)
	if err != nil {
		return nil, err
	}
	if t.version {
		text = `"version": 1, ` + text
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte("{"+text+"}"), "", "  "); err != nil {
		return nil, err
	}
	return append(b.Bytes(), '\n'), nil
}

// runs is an error if the agent would not run the hooks of a file.
func (t *Target) runs(src *document.Source, root *node) error {
	text := func(n *node) string { return string(src.Text[n.start:n.end]) }
	for _, path := range t.off {
		if n := root.at(path); n != nil && text(n) != "false" {
			return t.switchedOff(src, n, path)
		}
	}
	if n := root.at(t.on); t.on != nil && n != nil && text(n) != "true" {
		return t.switchedOff(src, n, t.on)
	}
	if n := root.at(t.names); t.names != nil && n != nil {
		for _, it := range n.items {
			if text(it.value) == `"policyscan"` {
				return t.switchedOff(src, it.value, t.names)
			}
		}
	}
	if n := root.at([]string{"version"}); t.version && (n == nil || text(n) != "1") {
		where := root
		if n != nil {
			where = n
		}
		found := "there is no \"version\": 1, without which " + t.Title + " reads no hooks"
		return src.Error(document.CodeValue, where.start, found, "add it")
	}
	for _, it := range root.items {
		if t.only != nil && !slices.Contains(t.only, it.name) {
			found := fmt.Sprintf("there is %q, and %s refuses a file that has more than %q", it.name, t.Title, t.only)
			return src.Error(document.CodeKey, it.start, found, "remove it")
		}
	}
	return nil
}

func (t *Target) switchedOff(src *document.Source, n *node, path []string) error {
	value := src.Text[n.start:n.end]
	found := fmt.Sprintf("%q is %s: %s would not run the hook", strings.Join(path, "."), value, t.Title)
	return src.Error(document.CodeValue, n.start, found, "remove it")
}

// An installed hook is one that is as Install wrote it.
type installed struct {
	at    *node // where it is
	args  string
	entry hook
}

// find returns the hook if it is there, with any program and arguments, and nil if it is not. What runs policyscan
// and is not as Install wrote it is an error.
func (t *Target) find(src *document.Source, root *node) (had *installed, err error) {
	array, _, err := list(src, root, t.path)
	if err != nil || array == nil {
		return nil, err
	}
	for _, it := range array.items {
		raw := src.Text[it.value.start:it.value.end]
		args, entry, ok := t.written(raw)
		switch {
		case ok && had != nil:
			const found = "the hook occurs twice"
			return nil, src.Error(document.CodeDuplicate, it.start, found, "remove one of them by hand")
		case ok:
			had = &installed{it.value, args, entry}
		case bytes.Contains(raw, []byte(byName)) && bytes.Contains(raw, []byte(" hook "+t.Agent)):
			const found = "this hook runs policyscan, but is not as policyscan wrote it"
			return nil, src.Error(document.CodeValue, it.start, found, "remove it by hand")
		}
	}
	return had, nil
}

// written reports whether a JSON text is the hook as [Target.Install] writes it, and returns its arguments.
func (t *Target) written(raw []byte) (args string, entry hook, ok bool) {
	var h hook
	if json.Unmarshal(raw, &h) != nil {
		return "", hook{}, false
	}
	if len(h.Hooks) > 0 {
		h = h.Hooks[0]
	}
	before, rest, _ := strings.Cut(h.Command+h.Bash, " hook "+t.Agent)
	end := strings.IndexAny(rest, "|)") // neither can be in an argument
	if end < 0 {
		return "", hook{}, false
	}
	args = strings.TrimSuffix(rest[:end], " ")
	if !arguments().MatchString(args) {
		return "", hook{}, false
	}
	i := strings.LastIndex(before, "$(")
	if i < 0 || !isProgram(before[i+2:]) {
		return "", hook{}, false
	}
	entry = t.entry(before[i+2:], args)
	want, err := encode(entry)
	return args, entry, err == nil && sameJSON(raw, []byte(want))
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
