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

// roomsOf returns the directories of the repository with Go code other than tests, from its root, with slashes. lab/
// is one room, and a module.
func roomsOf(t *testing.T) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || name == "lab" || name != "." && strings.HasPrefix(d.Name(), ".")) {
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

// drawnRoom is a line of the drawing that begins with directories, each with a final slash. The indentation shows
// their parent.
var drawnRoom = regexp.MustCompile(`^( *)((?:[a-z]+/)+(?: (?:[a-z]+/)+)*)(?: |$)`)

// drawn returns the directories in a drawing, from the root.
func drawn(text string) []string {
	_, text, _ = strings.Cut(text, "```\n")
	text, _, _ = strings.Cut(text, "\n```")
	var all, above []string // above: the parent directories of the line, outermost first
	for line := range strings.Lines(text) {
		m := drawnRoom.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		above = above[:min(len(m[1])/2, len(above))]
		for _, name := range strings.Fields(m[2]) {
			all = append(all, strings.Join(append(slices.Clone(above), strings.TrimSuffix(name, "/")), "/"))
		}
		above = append(above, strings.TrimSuffix(strings.Fields(m[2])[0], "/"))
	}
	return all
}

// TestRooms: the drawing has exactly the existing rooms, on one screen.
func TestRooms(t *testing.T) {
	text := read(t, "architecture.md")
	rooms := roomsOf(t)
	if len(rooms) < 20 {
		t.Fatalf("%d rooms: %q", len(rooms), rooms)
	}
	shown := drawn(text)
	for _, room := range rooms {
		if !slices.Contains(shown, room) {
			t.Errorf("the drawing does not show %s", room)
		}
	}
	for _, dir := range shown {
		if st, err := os.Stat(filepath.Join("..", filepath.FromSlash(dir))); err != nil || !st.IsDir() {
			t.Errorf("the drawing shows %s, which is not a directory", dir)
		}
	}
	if n := strings.Count(text, "\n"); n > 80 {
		t.Errorf("architecture.md has %d lines; it is to be one screen", n)
	}
	// Only the rooms that the page names import yaml.v3.
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
	var said []string
	if m := regexp.MustCompile(`yaml\.v3 in ([^.]*)\.`).FindStringSubmatch(text); m != nil {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[1], -1) {
			said = append(said, name[1])
		}
	}
	slices.Sort(said)
	if len(yaml) < 3 || !slices.Equal(said, yaml) {
		t.Errorf("yaml.v3 is in %q, and the page says %q", yaml, said)
	}
}

// goName matches an exported name of one of our packages in the pages.
var goName = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)\\b")

// TestGoNames: the Go names in the pages exist.
func TestGoNames(t *testing.T) {
	code := map[string]string{} // by package name
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
				t.Errorf("%s names %s.%s, which does not exist", page, m[1], m[2])
			}
		}
	}
	if named < 8 {
		t.Errorf("%d names were looked for", named)
	}
}
