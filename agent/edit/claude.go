package edit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/policyscan/policyscan/agent/call"
)

// claudeWrites reads Write, which keeps line ends as they are. A file in UTF-16 would stay UTF-16.
func claudeWrites(in *input) []Edit {
	contents := in.variants(in.text("content", "contents"))
	return in.edit(func(before string, _ bool) ([]string, error) {
		if strings.HasPrefix(before, "\xff\xfe") {
			return nil, errors.New("the file is UTF-16; save it as UTF-8, or remove it first")
		}
		return contents, nil
	})
}

func claudeEdits(in *input) []Edit { return in.claudeEdit([]replacement{in.claudeReplacement()}) }

// claudeMultiEdits reads a list of edits, each applied to the result of the one before.
func claudeMultiEdits(in *input) []Edit {
	items := in.fields["edits"].Items()
	if len(items) == 0 {
		in.fail("the field edits is not a list of edits")
	}
	one := form{need: []string{"old_string", "new_string"}, may: []string{"replace_all"}}
	var all []replacement
	for i, item := range items {
		each, err := one.read(&call.Call{Tool: in.tool, Input: item})
		if err == nil {
			all = append(all, each.claudeReplacement())
			err = each.err
		}
		if err != nil {
			in.fail("edit %d: %w", i+1, err)
			break
		}
	}
	return in.claudeEdit(all)
}

func (in *input) claudeReplacement() replacement {
	r := replacement{old: in.text("old_string"), new: in.text("new_string"), count: 1}
	if in.flag("replace_all") {
		r.count = 0
	}
	return r
}

const bom = "\xef\xbb\xbf"

const (
	maxCRLF  = 4096    // the UTF-16 units in which Claude Code looks for CRLF; a longer first line means LF
	maxSteps = 1 << 30 // bytes that the edits of one call may search: a second's work at worst
)

func (in *input) claudeEdit(edits []replacement) []Edit {
	return in.edit(func(before string, exists bool) ([]string, error) {
		before, hasBOM := strings.CutPrefix(before, bom)
		t, err := readText(before)
		switch {
		case err != nil:
			return nil, err
		case !exists && edits[0].old != "":
			return nil, errNoFile()
		case t.crlf:
			line, _, _ := strings.Cut(before, "\n")
			t.crlf = len(utf16.Encode([]rune(line)))+len("\n") <= maxCRLF
		}
		left := maxSteps
		bodies := []string{t.body}
		for i, r := range edits {
			var made []string
			for _, body := range bodies {
				if left -= 2 * len(body); left < 0 {
					return nil, errors.New("there are too many edits for so large a file; make fewer edits in one call")
				}
				next, err := in.claudeContents(r, body)
				if err != nil && len(edits) > 1 {
					err = fmt.Errorf("edit %d: %w", i+1, err)
				}
				if err != nil {
					return nil, err
				}
				for _, content := range next {
					if !slices.Contains(made, content) {
						made = append(made, content)
					}
				}
			}
			if bodies = made; len(bodies) > maxContents {
				return nil, fmt.Errorf("more than %d contents are possible; make fewer edits in one call", maxContents)
			}
		}
		all := t.encode(bodies...)
		for i := range all {
			if hasBOM {
				all[i] = bom + strings.TrimPrefix(all[i], bom)
			}
		}
		return all, nil
	})
}

// claudeContents returns the possible contents after one edit.
func (in *input) claudeContents(r replacement, body string) ([]string, error) {
	if _, err := r.apply(body); err != nil {
		return nil, err
	}
	if r.old == "" {
		return in.variants(r.new), nil
	}
	var all []string
	for _, repl := range in.variants(r.new) {
		all = append(all, strings.ReplaceAll(body, r.old, repl))
		// Without a replacement, Claude Code also removes the end of the line.
		if line := r.old + "\n"; repl == "" && !strings.HasSuffix(r.old, "\n") && strings.Contains(body, line) {
			all = append(all, strings.ReplaceAll(body, line, ""))
		}
	}
	return all, nil
}

// variants are a string as it is and without whitespace at line ends. Claude Code removes that, except in Markdown, in
// some places.
func (in *input) variants(text string) []string {
	if ext := strings.ToLower(path.Ext(in.path())); ext == ".md" || ext == ".mdx" {
		return []string{text}
	}
	return slices.Compact([]string{text, withoutTrailing(text)})
}
