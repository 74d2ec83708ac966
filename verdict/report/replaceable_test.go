package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReplaceable: a report takes the place of one of its format, and of no other file.
func TestReplaceable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report")
	texts := map[string]string{"": "", "mine\n": "no report", "\n": "no report"} // and the format that each is of
	formats := Formats()
	for i := range formats {
		f := &formats[i]
		if err := f.Replaceable(name); err != nil {
			t.Errorf("%s: where nothing is: %v", f.Name, err)
		}
		for _, x := range fixtures() {
			var b bytes.Buffer
			if err := f.Write(&b, x.verdict); err != nil {
				t.Fatal(err)
			}
			if b.Len() > 0 { // annotations of a PASS
				texts[b.String()] = f.Name
			}
		}
	}
	for text, of := range texts {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for i := range formats {
			f := &formats[i]
			may := of == "" || of == f.Name
			if err := f.Replaceable(name); (err == nil) != may || err != nil && !strings.Contains(err.Error(), f.Name+" would overwrite") {
				t.Errorf("%s in place of %.40q (%s): %v", f.Name, text, of, err)
			}
		}
	}
}

// TestReplaceableUnread: what cannot be read is not replaced.
func TestReplaceableUnread(t *testing.T) {
	const name = "/proc/self/mem" // a regular file that opens, and whose first byte nobody can read
	if st, err := os.Lstat(name); err != nil || !st.Mode().IsRegular() {
		t.Skip("SKIPPED: there is no " + name)
	}
	for _, f := range Formats() {
		if err := f.Replaceable(name); err == nil || !strings.Contains(err.Error(), "cannot be read: input/output error") {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
