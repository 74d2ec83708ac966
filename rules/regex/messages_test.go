package regex

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the answers of testdata/messages.txt again")

// TestMessages: testdata/messages.txt has quoted regexes, and below each its literals in a file or the error; for a
// value only where it differs.
func TestMessages(t *testing.T) {
	answer := func(compile func(string) (*Expr, error), source string) string {
		e, err := compile(source)
		switch {
		case err != nil:
			return err.Error()
		case e.Slow():
			return "slow: " + show(e.Literals())
		}
		return "literals: " + show(e.Literals())
	}
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
		source, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(line, err)
		}
		file, value := answer(Compile, source), answer(CompileValue, source)
		got.WriteString(line + "\t" + file + "\n")
		if value != file {
			got.WriteString("\tvalue: " + value + "\n")
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
