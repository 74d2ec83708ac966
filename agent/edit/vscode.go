package edit

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
)

func codeFields() []string { return []string{"filePath", "oldString", "newString"} }

// codeCreates reads create_file, which joins the lines of the content with the ends that are set for new files.
func codeCreates(in *input) []Edit {
	contents := slices.Compact([]string{in.codeText("content"), in.text("content")})
	in.codePath()
	return in.edit(func(before string, _ bool) ([]string, error) {
		if before != "" {
			return nil, errors.New("the file already exists, and the agent's create_file refuses that; edit it")
		}
		return contents, nil
	})
}

func codeEdits(in *input) []Edit {
	return []Edit{{Path: in.codePath(), change: codeChange([]replacement{in.codeReplacement()})}}
}

// codeMultiEdits reads a list of replacements in several files. Each is searched in the file as it is before all of
// them.
func codeMultiEdits(in *input) []Edit {
	items := in.fields["replacements"].Items()
	if len(items) == 0 {
		in.fail("the field replacements is not a list of replacements")
	}
	var paths []string
	byPath := map[string][]replacement{}
	for i, item := range items {
		each, err := form{need: codeFields()}.read(&call.Call{Tool: in.tool, Input: item})
		name, r := "", replacement{}
		if err == nil {
			name, r = each.codePath(), each.codeReplacement()
			err = each.err
		}
		if err != nil {
			in.fail("replacement %d: %w", i+1, err)
			break
		}
		if byPath[name] == nil {
			paths = append(paths, name)
		}
		byPath[name] = append(byPath[name], r)
	}
	var edits []Edit
	for _, name := range paths {
		if slices.ContainsFunc(edits, func(e Edit) bool { return path.Clean(e.Path) == path.Clean(name) }) {
			in.fail("it names the file %q in two ways; write the same path in each replacement", name)
		}
		edits = append(edits, Edit{Path: name, change: codeChange(byPath[name])})
	}
	return edits
}

// codePath is the path of a file. Visual Studio Code reads another than an absolute one as a URI.
func (in *input) codePath() string {
	name := in.path()
	switch {
	case in.err != nil:
	case !isAbsolute(name):
		in.fail("the path %q is not absolute; write it as in /work/a.tf", name)
	case strings.EqualFold(path.Ext(name), ".ipynb"):
		in.fail("edits of a notebook's cells are not computed; let a person edit it")
	}
	return name
}

func (in *input) codeReplacement() replacement {
	r := replacement{old: in.codeText("oldString"), new: in.codeText("newString"), count: 1}
	if r.old != "" && trim(r.old) == "" {
		in.fail("the old text is only whitespace; add lines around it")
	}
	return r
}

// codeText is a text with LF. Of one with a comment that names the file, Visual Studio Code removes that line.
func (in *input) codeText(name string) string {
	text := crlfToLF(in.text(name))
	switch first, _, ok := strings.Cut(text, "\n"); {
	case ok && strings.Contains(first, "filepath:"):
		in.fail("the field %s begins with a line with filepath:, which the agent may remove; leave that line out", name)
	case strings.Contains(text, "\r"):
		in.fail("the field %s has a CR that is not followed by LF; write LF", name)
	}
	return text
}

// codeChange replaces several texts at once: each must occur once in the file, and where one differs from its new text
// no other may.
func codeChange(all []replacement) change {
	type span struct {
		from, to int
		text     string
	}
	return func(before string, exists bool) ([]string, error) {
		before, hasBOM := strings.CutPrefix(before, bom)
		t, err := readText(before)
		switch {
		case err != nil:
			return nil, err
		case strings.Contains(t.body, "\r"):
			return nil, errors.New("the file has a CR that is not followed by LF; edit it by hand")
		case !exists && all[0].old != "":
			return nil, errNoFile()
		case len(all) > 1 && len(all)*len(t.body) > maxSteps:
			return nil, errors.New("there are too many edits for so large a file; make fewer edits in one call")
		}
		var spans []span
		for i, r := range all {
			if _, err := r.apply(t.body); err != nil {
				return nil, fmt.Errorf("replacement %d: %w", i+1, err)
			}
			head, tail := common(r.old, r.new)
			at := strings.Index(t.body, r.old)
			spans = append(spans, span{at + head, at + len(r.old) - tail, r.new[head : len(r.new)-tail]})
		}
		slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.from-b.from, a.to-b.to) })
		var b strings.Builder
		end := 0
		for i, s := range spans {
			if i > 0 && (s.from < end || s.from == end && (s.from == s.to || spans[i-1].from == end)) {
				return nil, errors.New("two of the replacements change the same place; make them in two calls")
			}
			b.WriteString(t.body[end:s.from] + s.text)
			end = s.to
		}
		made := t.encode(b.String() + t.body[end:])
		if hasBOM {
			made[0] = bom + made[0]
		}
		return made, nil
	}
}

// common returns how many bytes two texts have in common at their beginning, and at the end of the rest.
func common(a, b string) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}
