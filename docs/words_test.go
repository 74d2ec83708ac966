package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/regex"
)

// phrases are what no comment, string or page may say, each with what to write instead.
func phrases(t *testing.T) map[*regexp.Regexp]string {
	t.Helper()
	all := map[*regexp.Regexp]string{}
	for line := range strings.Lines(read(t, "testdata/phrases.txt")) {
		phrase, instead, ok := strings.Cut(strings.TrimSpace(line), "   ->   ")
		if !ok {
			t.Fatalf("testdata/phrases.txt: %q has no replacement", line)
		}
		all[regexp.MustCompile(phrase)] = instead
	}
	return all
}

// unclean are the directories that still have such phrases.
var unclean []string

// quoted are parts of lines in which a phrase is quoted from elsewhere.
var quoted = []string{
	"GitLab's folder", "workspaceFolder", "WorkspaceFolders", "rustedFolder", // names of GitLab, editors and Gemini
	"#folder", "folder=terraform", // addresses in the HTML page
	`"folder"`, "`folder`", "group-by folder", "owner,folder", // a value of a flag
	"is none that|", // a phrase of this list
}

// texts returns the lines of a file that are text: of a Go file its comments and strings, of a page what is not in a
// code block. The others are empty.
func texts(t *testing.T, name string) []string {
	t.Helper()
	content := read(t, name)
	lines := make([]string, strings.Count(content, "\n")+2)
	if path.Ext(name) == ".md" {
		code := false
		for i, line := range strings.Split(content, "\n") {
			fence := strings.HasPrefix(strings.TrimLeft(line, " >"), "```")
			if code = code != fence; !code && !fence {
				lines[i] = line
			}
		}
		return lines
	}
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(at token.Pos, text string) {
		first := files.Position(at).Line - 1
		for i, line := range strings.Split(text, "\n") {
			lines[first+i] += line + "\n"
		}
	}
	for _, group := range syntax.Comments {
		for _, c := range group.List {
			add(c.Pos(), c.Text)
		}
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			add(lit.Pos(), lit.Value)
		}
		return true
	})
	return lines
}

// TestPlainWords_Phrases: no comment, string or page has one of the phrases that read foreign.
func TestPlainWords_Phrases(t *testing.T) {
	list, files := phrases(t), 0
	var any []string
	for phrase := range list {
		any = append(any, "(?:"+phrase.String()+")")
	}
	some, err := regex.Compile(strings.Join(any, "|")) // ten times as fast as regexp
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		dir := path.Dir(strings.TrimPrefix(name, "../"))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != ".."):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" && path.Ext(name) != ".md" || slices.Contains(unclean, dir):
			return nil
		}
		files++
		lines := texts(t, name)
		if !some.Match([]byte(strings.Join(lines, "\n"))) {
			return nil
		}
		for i, line := range lines {
			if slices.ContainsFunc(quoted, func(part string) bool { return strings.Contains(line, part) }) {
				continue
			}
			for phrase, instead := range list {
				if found := phrase.FindString(line); found != "" {
					t.Errorf("%s:%d: %q: write %s", name, i+1, found, instead)
				}
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}
