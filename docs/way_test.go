package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWay: each function in "The way of a scan" is in the file named with it, and each file of the page exists.
func TestWay(t *testing.T) {
	step := regexp.MustCompile("(?s)`([A-Za-z.]+)`\\*{0,2}[^`]{0,60}?\\(`([a-z/]+\\.go)`")
	page := read(t, "../CONTRIBUTING.md")
	all := step.FindAllStringSubmatch(page, -1)
	if len(all) < 6 {
		t.Fatalf("%d functions: %q", len(all), all)
	}
	for _, m := range regexp.MustCompile("`([a-z]+/[a-z/]+\\.go)`").FindAllStringSubmatch(page, -1) {
		read(t, filepath.Join("..", filepath.FromSlash(m[1])))
	}
	for _, m := range all {
		name := m[1][strings.LastIndex(m[1], ".")+1:]
		text := read(t, filepath.Join("..", filepath.FromSlash(m[2])))
		if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + name + `\(`).MatchString(text) {
			t.Errorf("%s is not in %s", m[1], m[2])
		}
	}
}
