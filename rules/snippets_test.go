package rules

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/rules/document"
)

// said loads a snippet, and returns the errors, or the notes, globs and patterns of its rules. The kind is "pattern"
// for a string among forbidden_patterns, "required" for an item of required_patterns; otherwise it is a whole
// boundaries.yml.
func said(kind, text string) string {
	files := Files{BoundariesFile: []byte(text), InvariantsFile: []byte(goodInvariants)}
	switch kind {
	case "pattern":
		files[BoundariesFile] = []byte(ruleWith("['**']", "["+yamlDouble(text)+"]"))
	case "required":
		files = keyBundle(nil, []string{text})
	}
	b, err := Load(files)
	var all []string
	var errs document.Errors
	if errors.As(err, &errs) {
		for _, e := range errs {
			all = append(all, e.Code+" "+strings.TrimPrefix(e.Error(), "rules/"))
		}
		return strings.Join(all, "\n\t")
	}
	for _, n := range Notes(b) {
		all = append(all, "note: "+strings.TrimPrefix(n.String(), "rules/"))
	}
	for _, r := range b.Rules {
		if r.File == BoundariesFile && kind != "pattern" {
			all = append(all, fmt.Sprintf("loads: %q %q", r.Files, Names(r.Patterns)))
		}
	}
	return strings.Join(all, "\n\t")
}

// TestFault_073_076_078_079_080_081_082_084_091_092_093_097_Snippets: testdata/snippets.txt has rule files with one
// thing that is wrong or unusual, each after the row of the table of faults or its kind, and below it what is said.
func TestFault_073_076_078_079_080_081_082_084_091_092_093_097_Snippets(t *testing.T) {
	const name = "testdata/snippets.txt"
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
		if said := said(kind, text); said != "" {
			got.WriteString("\t" + said + "\n")
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
