package edit

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
)

func claudeWrites(in *input) []Edit {
	name := in.path("file_path", "path")
	return []Edit{{Path: name, Change: claudeWrite{in.text("content", "contents"), stripped(name)}}}
}

func claudeEdits(in *input) []Edit {
	name := in.path("file_path", "path")
	return []Edit{{Path: name, Change: claudeEdit{[]replacement{in.replacement()}, stripped(name)}}}
}

func claudeMultiEdits(in *input) []Edit {
	name := in.path("file_path", "path")
	items := in.fields["edits"].Items()
	if len(items) == 0 {
		in.fail("the field edits is not a list of edits")
	}
	one := form{need: []string{"old_string", "new_string"}, may: []string{"replace_all"}}
	var all []replacement
	for i, item := range items {
		each, err := one.read(&call.Call{Tool: in.tool, Input: item})
		if err != nil {
			in.fail("edit %d: %w", i+1, err)
			break
		}
		all = append(all, each.replacement())
		if each.err != nil {
			in.fail("edit %d: %w", i+1, each.err)
			break
		}
	}
	return []Edit{{Path: name, Change: claudeEdit{all, stripped(name)}}}
}

// A replacement is one edit of Claude Code.
type replacement struct {
	old, new string
	all      bool
}

func (in *input) replacement() replacement {
	return replacement{in.text("old_string"), in.text("new_string"), in.flag("replace_all")}
}

// stripped reports whether Claude Code removes spaces from the ends of the lines that it writes to a
// file. It does so before its hooks see the call, but not everywhere.
func stripped(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext != ".md" && ext != ".mdx"
}

// variants are a text as it is, and without spaces at line ends if those may be removed.
func variants(text string, strip bool) []string {
	if strip {
		if s := withoutTrailing(text); s != text {
			return []string{text, s}
		}
	}
	return []string{text}
}

// A claudeWrite is Claude Code's Write. What it writes is what it is given, line ends included; a file in
// UTF-16 stays one.
type claudeWrite struct {
	content string
	strip   bool
}

func (w claudeWrite) After(before []byte, _ bool) ([][]byte, error) {
	f := file{}
	if strings.HasPrefix(string(before[:min(2, len(before))]), utf16LE) {
		f.mark = utf16LE
	}
	return f.encodeAll(variants(w.content, w.strip))
}

// A claudeEdit is Claude Code's Edit, or its MultiEdit, whose edits build on each other.
type claudeEdit struct {
	edits []replacement
	strip bool
}

func (c claudeEdit) After(before []byte, exists bool) ([][]byte, error) {
	f, err := decode(before)
	if err != nil {
		return nil, err
	}
	if !exists && c.edits[0].old != "" {
		return nil, errors.New("there is no such file; an edit that creates one has an empty old_string")
	}
	left := budget(maxSteps)
	bodies := []string{f.body}
	for i, r := range c.edits {
		if err := c.overlap(i, &left); err != nil {
			return nil, err
		}
		bodies, err = each(bodies, func(body string) ([]string, error) {
			if err := left.spend(2 * len(body)); err != nil {
				return nil, err
			}
			return r.apply(body, c.strip)
		})
		if err != nil {
			if len(c.edits) > 1 {
				err = fmt.Errorf("edit %d: %w", i+1, err)
			}
			return nil, err
		}
	}
	if exists && len(bodies) == 1 && bodies[0] == f.body && f.body != "" {
		return nil, errors.New("the edits together change nothing, and the agent refuses them")
	}
	return f.encodeAll(bodies)
}

// overlap refuses an edit of what an edit before it has written, as Claude Code does.
func (c claudeEdit) overlap(i int, left *budget) error {
	old := strings.TrimRight(c.edits[i].old, "\n")
	for k, r := range c.edits[:i] {
		if err := left.spend(len(r.new)); err != nil {
			return err
		}
		if old != "" && strings.Contains(r.new, old) {
			return fmt.Errorf("edit %d: old_string is part of the new_string of edit %d, which the agent refuses; "+
				"combine them into one edit", i+1, k+1)
		}
	}
	return nil
}

// apply makes one edit of a text.
func (r replacement) apply(body string, strip bool) ([]string, error) {
	switch {
	case r.old == r.new && (r.old != "" || body != ""):
		return nil, errors.New("old_string and new_string are the same, and the agent refuses that")
	case r.old == "" && trim(body) != "":
		return nil, errors.New("old_string is empty, and the file is not; name the text to replace")
	case r.old == "":
		return variants(r.new, strip), nil
	}
	n := strings.Count(body, r.old)
	switch {
	case n == 0:
		return nil, fmt.Errorf("old_string %s does not occur in the file; copy the text from the file as it is",
			quote(r.old))
	case n > 1 && !r.all:
		return nil, fmt.Errorf("old_string %s occurs %d times in the file; "+
			"add lines around it until it is the only one, or set replace_all", quote(r.old), n)
	}
	var made []string
	for _, repl := range variants(r.new, strip) {
		s, err := replaceAll(body, r.old, repl, n)
		if err != nil {
			return nil, err
		}
		made = append(made, s)
		// With nothing in its place the end of the line goes too, and only where there is one.
		if line := r.old + "\n"; repl == "" && !strings.HasSuffix(r.old, "\n") && strings.Contains(body, line) {
			made = append(made, strings.ReplaceAll(body, line, ""))
		}
	}
	return made, nil
}
