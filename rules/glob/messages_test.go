package glob

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMessages: testdata/messages.txt has quoted globs, and below each its error, or its notes where a glob cannot be
// anchored. A glob that a 0.2 file refuses has that error, too.
func TestMessages(t *testing.T) {
	const name = "testdata/messages.txt"
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(want)) {
		if line[0] == '\t' {
			continue
		}
		glob, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(line, err)
		}
		got.WriteString(line)
		if err := Check(glob); err != nil {
			got.WriteString("\t" + err.Error() + "\n")
		} else {
			for _, note := range NotesPlain(glob) {
				got.WriteString("\tnote: " + note + "\n")
			}
		}
		if m := Ambiguous(glob); m != nil {
			got.WriteString("\tin 0.2: " + m.Error() + "\n")
		}
	}
	if *update {
		err = os.WriteFile(name, []byte(got.String()), 0o666)
	} else if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err != nil {
		t.Fatal(err)
	}
}
