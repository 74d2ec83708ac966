package edit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
)

// geminiMarks are what Gemini CLI 0.61.0 takes off a path, or replaces in it, after its hooks have run.
var geminiMarks = late.Regexp(`(?i)^@|^file:|%[0-9a-f]{2}`)

func geminiPath(in *input) string {
	name := in.path("file_path")
	if err := checkGeminiPath(name); err != nil {
		in.fail("%w", err)
	}
	return name
}

// geminiTools are the names of the tools with which Gemini CLI edits files.
func geminiTools() []string { return []string{"write_file", "replace"} }

// checkGeminiPath refuses what Gemini CLI takes for another path.
func checkGeminiPath(name string) error {
	if mark := geminiMarks().FindString(name); mark != "" {
		return fmt.Errorf("the path %q has %s, which Gemini CLI may take for something else after this; "+
			"write the file's own name, and ./ before an @", name, mark)
	}
	return nil
}

func geminiWrites(in *input) []Edit {
	name := geminiPath(in)
	json := slices.Contains([]string{".json", ".ipynb", ".jsonc", ".json5"}, strings.ToLower(path.Ext(name)))
	return []Edit{{Path: name, Change: geminiWrite{in.text("content"), !json}}}
}

func geminiEdits(in *input) []Edit {
	name, r := geminiPath(in), in.replacement()
	g := geminiEdit{old: crlfToLF(r.old), new: crlfToLF(r.new), count: 1}
	several := in.flag("allow_multiple")
	if in.fields["expected_replacements"] != nil {
		if g.count = in.number("expected_replacements"); g.count == 0 {
			in.fail("expected_replacements is 0")
		}
	}
	if several {
		g.count = 0
	}
	return []Edit{{Path: name, Change: g}}
}

func crlfToLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// A geminiWrite is Gemini CLI's write_file.
type geminiWrite struct {
	content  string
	unescape bool // the agent may take escapes out of the content, which it does for some models
}

func (w geminiWrite) After(before []byte, _ bool) ([][]byte, error) {
	all := []string{w.content}
	if w.unescape {
		all = append(all, unescaped(w.content))
	}
	f := file{crlf: strings.Contains(string(before), "\r\n")}
	return f.encodeAll(all)
}

// escapes are what Gemini CLI takes for a character that a model has escaped once too often.
var escapes = late.Regexp("\\\\+(n|t|r|'|\"|`|\\\\|\n)")

func unescaped(s string) string {
	return escapes().ReplaceAllStringFunc(s, func(match string) string {
		switch last := match[len(match)-1:]; last {
		case "n":
			return "\n"
		case "t":
			return "\t"
		case "r":
			return "\r"
		default:
			return last
		}
	})
}

// A geminiEdit is Gemini CLI's replace. It tries the text as it is, then lines whose spaces at both ends
// differ. Of what it tries after those (spaces between words, letters that differ, another model) the
// result is unknown here.
type geminiEdit struct {
	old, new string // with LF
	count    int    // how often old is to be there; 0 is any number
}

func (g geminiEdit) After(before []byte, exists bool) ([][]byte, error) {
	text, err := plain(before)
	if err != nil {
		return nil, err
	}
	switch {
	case g.old == "" && !exists:
		return [][]byte{[]byte(g.new)}, nil
	case g.old == "":
		return nil, errors.New("old_string is empty, and the file is there; name the text to replace")
	case !exists:
		return nil, errors.New("there is no such file; an edit that creates one has an empty old_string")
	case g.old == g.new:
		return nil, errors.New("old_string and new_string are the same, and the agent refuses that")
	}
	f := file{crlf: strings.Contains(text, "\r\n"), body: crlfToLF(text)}
	n := strings.Count(f.body, g.old)
	made, exact := "", n > 0
	if exact {
		made, err = replaceAll(f.body, g.old, g.new, n)
	} else {
		made, n, err = g.byLines(f.body)
	}
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, fmt.Errorf("old_string %s does not occur in the file, nor do its lines with different "+
			"whitespace at their ends; copy the text from the file as it is", quote(g.old))
	case g.count > 0 && n != g.count:
		return nil, fmt.Errorf("old_string %s occurs %d times in the file, not %d; "+
			"add lines around it, or set allow_multiple", quote(g.old), n, g.count)
	}
	all := []string{sameEnd(f.body, made)}
	if exact { // as the releases before the last line's end was restored
		all = append(all, made)
	}
	return f.encodeAll(all)
}

// sameEnd ends a text in LF as the text before did, or not.
func sameEnd(before, after string) string {
	had, has := strings.HasSuffix(before, "\n"), strings.HasSuffix(after, "\n")
	switch {
	case had && !has:
		return after + "\n"
	case has && !had:
		return strings.TrimSuffix(after, "\n")
	}
	return after
}

// byLines replaces the runs of lines that are those of old except for spaces at both ends. The new lines get
// the indentation of the first line that they replace.
func (g geminiEdit) byLines(body string) (string, int, error) {
	if strings.ContainsAny(body, "\r\u2028\u2029") {
		// Here the agent's way to split lines loses text.
		return "", 0, errors.New("the file has a line end that is neither LF nor CRLF, " +
			"and old_string does not occur as it is; copy the text from the file as it is")
	}
	lines := strings.SplitAfter(body, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	want := strings.Split(g.old, "\n")
	for i := range want {
		want[i] = trim(want[i])
	}
	repl := strings.Split(g.new, "\n")
	left := budget(maxSteps)
	var b strings.Builder
	n := 0
	for i := 0; i < len(lines); i++ {
		same := i+len(want) <= len(lines)
		for k := 0; same && k < len(want); k++ {
			if err := left.spend(len(lines[i+k])); err != nil {
				return "", 0, err
			}
			same = trim(lines[i+k]) == want[k]
		}
		if !same {
			b.WriteString(lines[i])
			continue
		}
		n++
		last := lines[i+len(want)-1]
		block := indented(repl, lines[i][:len(lines[i])-len(strings.TrimLeft(lines[i], " \t"))])
		b.WriteString(block)
		if g.new != "" && strings.HasSuffix(last, "\n") && !strings.HasSuffix(block, "\n") {
			b.WriteByte('\n')
		}
		if b.Len() > MaxBytes {
			return "", 0, errTooLarge()
		}
		i += len(want) - 1
	}
	return b.String(), n, nil
}

// indented gives lines an indentation in place of that of the first of them.
func indented(lines []string, by string) string {
	own := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
	made := make([]string, len(lines))
	for i, line := range lines {
		switch {
		case trim(line) == "":
		case strings.HasPrefix(line, own):
			made[i] = by + line[len(own):]
		default:
			made[i] = by + strings.TrimLeftFunc(line, isBlank)
		}
	}
	return strings.Join(made, "\n")
}
