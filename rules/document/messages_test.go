package document

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the answers of testdata/messages.txt again")

// TestFault_077_083_084_Messages: testdata/messages.txt has quoted texts with their errors, and mappings of a rule with
// their values and errors.
func TestFault_077_083_084_Messages(t *testing.T) {
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
		got.WriteString(line)
		var errs Errors
		if kind == "rule" {
			d := (&Source{Name: "f", Text: []byte("rules: [{" + text + "}]\n")}).YAML(testForm())
			got.WriteString("\t" + strings.Join(readRules(d), " ") + "\n")
			errs = d.errs
		} else {
			errs = refused(text)
		}
		for _, e := range errs {
			got.WriteString("\t" + e.Code + " " + e.Error() + "\n")
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
