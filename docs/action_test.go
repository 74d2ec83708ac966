package docs

import (
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestActionTables: the manual's tables of inputs and outputs are those of action.yml, in its
// order.
func TestActionTables(t *testing.T) {
	var doc struct{ Inputs, Outputs yaml.Node }
	if err := yaml.Unmarshal([]byte(read(t, "../action.yml")), &doc); err != nil {
		t.Fatal(err)
	}
	for kind, node := range map[string]yaml.Node{"inputs": doc.Inputs, "outputs": doc.Outputs} {
		var want [][]string
		for i := 0; i+1 < len(node.Content); i += 2 {
			var p struct{ Description, Default string }
			if err := node.Content[i+1].Decode(&p); err != nil {
				t.Fatal(err)
			}
			row := []string{"`" + node.Content[i].Value + "`", p.Description}
			if kind == "inputs" && p.Default != "" {
				row = append(row, "`"+p.Default+"`")
			} else if kind == "inputs" {
				row = append(row, "")
			}
			want = append(want, row)
		}
		got := worked(t, "github-action.md", kind, 10)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: the manual has\n%q\naction.yml has\n%q", kind, got, want)
		}
	}
}
