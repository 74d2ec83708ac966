package rules

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/rules/document"
)

var (
	update = flag.Bool("update", false, "write the expected errors of testdata/bad again")
	long   = flag.Bool("long", false, "do all of the tests that otherwise do a part")
)

// goodRule is a valid rule file, the default of a case.
const (
	goodBoundaries = "rules:\n  - {id: GOOD-1, title: t, enforcement: {mode: fail}, match: {files: [\"**/*.txt\"], " +
		"forbidden_patterns: [a]}}\n"
	goodInvariants = "rules:\n  - {id: GOOD-2, title: t, enforcement: {mode: fail}, match: {files: [\"**/*.txt\"], " +
		"required_absent: [a]}}\n"
)

// A golden is a case in a file of testdata: a comment, rule files, and "want". A missing rule file is a valid one,
// unless the comment says "without" it.
type golden struct {
	file  string // in testdata
	name  string // unique in the file; "" for the only case of a file
	head  string // everything before "want"
	files Files
	want  string
}

// readGoldens reads the cases of a file, each after a line "=== NAME ===".
func readGoldens(file string) ([]golden, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	first, rest, _ := strings.Cut("\n"+string(content), "\n=== ")
	if rest == "" {
		g, err := readGolden(file, "", string(content))
		return []golden{g}, err
	}
	if first != "" {
		return nil, fmt.Errorf("%s: %q is in no case", file, first)
	}
	var list []golden
	for part := range strings.SplitSeq(rest, "\n=== ") {
		name, text, ok := strings.Cut(part, " ===\n")
		if !ok {
			return nil, fmt.Errorf("%s: no name of a case in %q", file, part)
		}
		g, err := readGolden(file, name, strings.TrimSuffix(text, "\n")+"\n")
		if err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

// readGolden reads a case: a comment, then files, each after a line "-- NAME --".
func readGolden(file, name, content string) (golden, error) {
	head, want, _ := strings.Cut(content, wantLine)
	g := golden{file: file, name: name, head: head, files: Files{}, want: want}
	parts := strings.Split("\n"+head, "\n-- ")
	for _, path := range []string{BoundariesFile, InvariantsFile} {
		if !strings.Contains(parts[0], "without "+path) {
			g.files[path] = []byte(map[string]string{BoundariesFile: goodBoundaries,
				InvariantsFile: goodInvariants}[path])
		}
	}
	for _, part := range parts[1:] {
		path, text, ok := strings.Cut(part, " --\n")
		if !ok {
			return golden{}, fmt.Errorf("%s: no file name in %q", file, part)
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		g.files[path] = []byte(text)
	}
	return g, nil
}

const wantLine = "-- want --\n"

func goldens(t testing.TB, dir string) []golden {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	var list []golden
	for _, name := range names {
		cases, err := readGoldens(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, cases...)
	}
	return list
}

// shown is an error with its line, and a mark under the column.
func shown(e *document.Error) string {
	line, caret := e.Source()
	if line == "" {
		return e.Error() + "\n"
	}
	text := fmt.Sprintf("%s\n%5d | %s\n", e, e.Line, strings.ReplaceAll(line, "\t", "    "))
	if caret >= 0 {
		before := strings.ReplaceAll(line[:caret], "\t", "    ")
		text += "      | " + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^\n"
	}
	return text
}

// TestBadBundles compares the message, position and code of each mistake.
func TestBadBundles(t *testing.T) {
	updated := map[string]string{}
	for _, g := range goldens(t, "bad") {
		t.Run(g.name, func(t *testing.T) {
			b, err := Load(g.files)
			var errs document.Errors
			if b != nil || !errors.As(err, &errs) || len(errs) == 0 {
				t.Fatalf("Load = %v, %v; want Errors", b, err)
			}
			var got strings.Builder
			for _, e := range errs {
				got.WriteString(e.Code + " " + shown(e))
			}
			if *update {
				updated[g.file] += "=== " + g.name + " ===\n" + g.head + wantLine + got.String()
				return
			}
			if diff := cmp.Diff(g.want, got.String()); diff != "" {
				t.Errorf("%s: errors (-want +got):\n%s", g.file, diff)
			}
		})
	}
	for file, text := range updated {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGoodBundles: valid files have no errors or notes.
func TestGoodBundles(t *testing.T) {
	for _, g := range goldens(t, "good") {
		if b, err := Load(g.files); err != nil || len(b.Rules) == 0 {
			t.Errorf("%s: %s: %v", g.file, g.name, err)
		}
	}
}

// TestEveryErrorSaysWhatToDo checks the form of all messages.
func TestEveryErrorSaysWhatToDo(t *testing.T) {
	codes := map[string]bool{}
	for _, g := range goldens(t, "bad") {
		_, err := Load(g.files)
		for _, e := range err.(document.Errors) {
			codes[e.Code] = true
			if e.Found == "" || e.Fix == "" || strings.HasSuffix(e.Fix, ".") || strings.Contains(e.Error(), "\n") {
				t.Errorf("%s: %s: %+v", g.file, g.name, e)
			}
		}
	}
	for _, code := range []string{document.CodeMissing, document.CodeEmpty, document.CodeNoRules, document.CodeSyntax,
		document.CodeType, document.CodeKey, document.CodeValue, document.CodeDuplicate, document.CodeGlob,
		document.CodeRegex, document.CodeUnread} {
		if !codes[code] {
			t.Errorf("no case in testdata/bad has the code %s", code)
		}
	}
}
