package keyitem

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the answers of testdata/messages.txt again")

// answer returns the error of a path or a value, or how it is read, with its notes.
func answer(kind, text string) string {
	if kind == "path" {
		path, err := ParsePath(text)
		if err != nil {
			return err.Error()
		}
		return strings.Join(append([]string{spelled(path)}, path.Notes()...), "\nnote: ")
	}
	v, err := ParseValue(text, false)
	if err != nil {
		return fmt.Sprintf("one reading %v; %v", OneReading(text), err)
	}
	return fmt.Sprintf("one reading %v; %s %s", OneReading(text), [...]string{"text", "number", "boolean"}[v.Kind], v.Text)
}

// TestMessages: testdata/messages.txt has quoted paths, and values that are not quoted in their file, each with its
// answer below it.
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
		kind, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatal(line, err)
		}
		got.WriteString(line + "\t" + strings.ReplaceAll(answer(kind, text), "\n", "\n\t") + "\n")
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
