package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// roomsOf returns the folders of the repository that hold Go code which is no test, from its root, with slashes.
func roomsOf(t *testing.T) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if room := filepath.ToSlash(filepath.Dir(name)); !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !slices.Contains(all, room) {
			all = append(all, room)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// drawn returns the rooms that a drawing shows: those that begin a line, and those of the line "beneath it".
func drawn(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^((?:cmd|docs|rules|scanner|verdict)[a-z/]*)/ `).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	_, beneath, _ := strings.Cut(text, "\n  beneath it:")
	beneath, _, _ = strings.Cut(beneath, "\n")
	for _, m := range regexp.MustCompile(`(?:^|[,;]) *([a-z/]+)`).FindAllStringSubmatch(beneath, -1) {
		all = append(all, "rules/call/"+m[1])
	}
	return all
}

// TestRooms: the drawing has the rooms that there are, on one screen.
func TestRooms(t *testing.T) {
	text := read(t, "architecture.md")
	rooms := roomsOf(t)
	if len(rooms) < 20 {
		t.Fatalf("%d rooms: %q", len(rooms), rooms)
	}
	sameNames(t, drawn(text), rooms)
	if n := strings.Count(text, "\n"); n > 64 {
		t.Errorf("architecture.md has %d lines; it is to be one screen", n)
	}
	// yaml.v3 is where the drawing says.
	var yaml []string
	for _, room := range rooms {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(room), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") && strings.Contains(read(t, file), `"gopkg.in/yaml.v3"`) && !slices.Contains(yaml, room) {
				yaml = append(yaml, room)
			}
		}
	}
	slices.Sort(yaml)
	if want := []string{"rules", "rules/call/claudecube", "rules/call/native"}; !slices.Equal(yaml, want) || !strings.Contains(text, "yaml.v3: here, in call/native and call/claudecube") {
		t.Errorf("yaml.v3 is in %q", yaml)
	}
}

// goName is an exported name of one of our packages, as the pages write it.
var goName = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)\\b")

// TestGoNames: what the pages name of our packages is there.
func TestGoNames(t *testing.T) {
	code := map[string]string{} // of a package, by its name
	for _, room := range roomsOf(t) {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(room), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				code[filepath.Base(room)] += read(t, file)
			}
		}
	}
	named := 0
	for _, page := range pages {
		for _, m := range goName.FindAllStringSubmatch(read(t, page), -1) {
			text, ours := code[m[1]]
			if !ours {
				continue
			}
			named++
			if !regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |\t|const |var )` + m[2] + `\b`).MatchString(text) {
				t.Errorf("%s names %s.%s, which is not there", page, m[1], m[2])
			}
		}
	}
	if named < 8 {
		t.Errorf("%d names were looked for", named)
	}
}
