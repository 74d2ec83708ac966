package measured

import (
	"os"
	"path/filepath"
	"testing"
)

func TestParts(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	const text = "# A page\n<!-- measured: a -->\n1\n<!-- end -->\nbetween\n<!-- measured: b -->\n<!-- end -->\nafter\n<!-- measured: c -->\n"
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, with := range map[string]string{"a": "2\n3\n", "b": "4\n"} {
		if err := Write(page, name, with); err != nil {
			t.Error(err)
		}
		if got, err := Part(page, name); got != with || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"c", "d"} { // without an end; not there
		if got, err := Part(page, name); err == nil {
			t.Errorf("%s: %q", name, got)
		}
		if err := Write(page, name, "5\n"); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	const want = "# A page\n<!-- measured: a -->\n2\n3\n<!-- end -->\nbetween\n<!-- measured: b -->\n4\n<!-- end -->\nafter\n<!-- measured: c -->\n"
	if got, err := os.ReadFile(page); string(got) != want || err != nil {
		t.Errorf("the page is %q, %v", got, err)
	}
}
