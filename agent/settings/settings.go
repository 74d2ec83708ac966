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

// Install returns the settings with the hooks that run "PROGRAM hook AGENT" with these arguments before every call of
// a tool, and "PROGRAM hook stop AGENT" at the end of a turn; the same bytes, if they are already installed. The
// program is a path, or "" for policyscan in the PATH. A hook with these arguments and another program is replaced. A
// nil src is a missing file. The error is a [document.Error], with its position if known.
func (t *Target) Install(src *document.Source, program string, args []string) ([]byte, error) {
	program, err := quoteProgram(program)
	if err != nil {
		return nil, err
	}
	quoted, err := quoteAll(args)
	if err != nil {
		return nil, err
	}
	if src == nil {
		text, err := t.begin(program, quoted)
		if err != nil {
			return nil, err
		}
		src = &document.Source{Text: text}
	}
	return t.install(src, program, quoted)
}

func (t *Target) install(src *document.Source, program, args string) ([]byte, error) {
	for _, l := range t.listsFor(args) {
		root, err := parse(src)
		if err == nil {
			err = t.runs(src, root)
		}
		if err != nil {
			return nil, err
		}
		entry, text := l.entry(program, args), src.Text
		switch had, err := t.find(src, root, l); {
		case err != nil:
			return nil, err
		case had == nil:
			text, err = insert(src, root, l.path, entry)
			if err != nil {
				return nil, err
			}
		case had.args != args:
			found := "the hook is there with other arguments:" + cmp.Or(had.args, " none")
			fix := "to change them, first run: policyscan hook uninstall " + t.Agent
			return nil, src.Error(document.CodeDuplicate, had.at.start, found, fix)
		case !reflect.DeepEqual(had.entry, entry):
			text, err = replace(src, root, had.at, entry)
			if err != nil {
				return nil, err
			}
		}
		src = &document.Source{Name: src.Name, Text: text}
	}
	return src.Text, nil
}

// Uninstall returns the settings without the hooks, whatever their arguments: the same bytes if none is installed, nil
// if the file is missing, or created by Install and otherwise empty. A hook that was changed by hand is an error.
func (t *Target) Uninstall(src *document.Source) ([]byte, error) {
	if src == nil {
		return nil, nil
	}
	for _, l := range slices.Backward(t.lists) { // the last one inserted first
		root, err := parse(src)
		if err != nil {
			return nil, err
		}
		had, err := t.find(src, root, l)
		if err != nil {
			return src.Text, err
		}
		if had == nil {
			continue
		}
		only, err := t.begin(had.program, had.args) // as earlier versions wrote it, and what is left of whole
		var whole []byte
		if err == nil {
			whole, err = t.install(&document.Source{Text: only}, had.program, had.args)
		}
		if err != nil || bytes.Equal(whole, src.Text) || bytes.Equal(only, src.Text) {
			return nil, err
		}
		array, _, err := list(src, root, l.path)
		if err != nil {
			return nil, err
		}
		index := slices.IndexFunc(array.items, func(it item) bool { return it.value == had.at })
		src = &document.Source{Name: src.Name, Text: remove(src.Text, root, l.path, index)}
	}
	return src.Text, nil
}

// begin returns a new file with the hook of calls.
func (t *Target) begin(program, args string) ([]byte, error) {
	text, err := style{oneLine: true}.show(t.lists[0].path, t.lists[0].entry(program, args))
	if err != nil {
		return nil, err
	}
	if t.version {
		text = `"version": 1, ` + text
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte("{"+text+"}\n"), "", "  "); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// switches is an error if a file's settings switch hooks off.
func (t *Target) switches(src *document.Source, root *node) error {
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
	return nil
}

// runs is an error if the agent would not run the hooks of a file.
func (t *Target) runs(src *document.Source, root *node) error {
	text := func(n *node) string { return string(src.Text[n.start:n.end]) }
	if err := t.switches(src, root); err != nil {
		return err
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
	at            *node  // where it is
	program, args string // quoted
	entry         hook
}

// find returns the hook of a list if it is there, with any program and arguments, and nil if it is not. What runs
// policyscan and is not as Install wrote it is an error.
func (t *Target) find(src *document.Source, root *node, l entryList) (had *installed, err error) {
	array, _, err := list(src, root, l.path)
	if err != nil || array == nil {
		return nil, err
	}
	for _, it := range array.items {
		raw := src.Text[it.value.start:it.value.end]
		is := l.written(raw)
		switch {
		case is != nil && had != nil:
			const found = "the hook occurs twice"
			return nil, src.Error(document.CodeDuplicate, it.start, found, "remove one of them by hand")
		case is != nil:
			had = is
			had.at = it.value
		case bytes.Contains(raw, []byte(byName)) && bytes.Contains(raw, []byte(" "+l.runs)):
			const found = "this hook runs policyscan, but is not as policyscan wrote it"
			return nil, src.Error(document.CodeValue, it.start, found, "remove it by hand")
		}
	}
	return had, nil
}

// written returns the hook in a JSON text if it is as [Target.Install] writes it, else nil.
func (l *entryList) written(raw []byte) *installed {
	var h hook
	if json.Unmarshal(raw, &h) != nil {
		return nil
	}
	h = each(h)[0]
	before, rest, _ := strings.Cut(h.Command+h.Bash, " "+l.runs)
	if end := strings.IndexAny(rest, "|)"); end >= 0 { // neither can be in an argument
		rest = rest[:end]
	}
	args := strings.TrimSuffix(rest, " ")
	if i := strings.LastIndex(before, "$("); i >= 0 {
		before = before[i+2:]
	}
	if !arguments().MatchString(args) || !isProgram(before) {
		return nil
	}
	entry := l.entry(before, args)
	want, err := encode(entry)
	if err != nil || !sameJSON(raw, []byte(want)) {
		return nil
	}
	return &installed{program: before, args: args, entry: entry}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
