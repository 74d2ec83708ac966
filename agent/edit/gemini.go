package edit

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
)

// geminiMarks are parts of a path that Gemini CLI 0.61.0 removes or replaces after its hooks.
var geminiMarks = late.Regexp(`(?i)^@|^file:|%[0-9a-f]{2}`)

func geminiTools() []string { return []string{"write_file", "replace"} }

// escapes are characters that a model has escaped once too often. Gemini CLI unescapes them for some models, except in
// JSON.
var escapes = late.Regexp("\\\\+(n|t|r|'|\"|`|\\\\|\n)")

func geminiWrites(in *input) []Edit {
	all := []string{in.text("content")}
	if !slices.Contains([]string{".json", ".ipynb", ".jsonc", ".json5"}, strings.ToLower(path.Ext(in.path()))) {
		meant := strings.NewReplacer("n", "\n", "t", "\t", "r", "\r")
		all = append(all, escapes().ReplaceAllStringFunc(all[0], func(match string) string {
			return meant.Replace(match[len(match)-1:])
		}))
	}
	return in.edit(func(before string, _ bool) ([]string, error) {
		return text{crlf: strings.Contains(before, "\r\n")}.encode(slices.Clone(all)...), nil
	})
}

func geminiEdits(in *input) []Edit {
	r := replacement{old: crlfToLF(in.text("old_string")), new: crlfToLF(in.text("new_string")), count: 1}
	if in.fields["expected_replacements"] != nil {
		if r.count = in.number("expected_replacements"); r.count == 0 {
			in.fail("expected_replacements is 0")
		}
	}
	if in.flag("allow_multiple") {
		r.count = 0
	}
	return in.edit(func(before string, exists bool) ([]string, error) {
		t, err := readText(before)
		switch {
		case err != nil:
			return nil, err
		case exists && r.old == "":
			return nil, errors.New("old_string is empty, and the file exists; name the text to replace")
		case !exists && r.old != "":
			return nil, errNoFile()
		}
		made, err := r.apply(t.body)
		if err != nil {
			return nil, err
		}
		if !exists {
			return []string{made}, nil
		}
		// Newer releases keep whether the file ends with a line end.
		same := made
		if has := strings.HasSuffix(made, "\n"); has && !strings.HasSuffix(t.body, "\n") {
			same = strings.TrimSuffix(made, "\n")
		} else if !has && strings.HasSuffix(t.body, "\n") {
			same += "\n"
		}
		return t.encode(same, made), nil
	})
}
