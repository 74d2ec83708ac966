package docs

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// record returns the cells of each line of a measured part of a page of lab/results.
func record(t *testing.T, page, part string) [][]string {
	t.Helper()
	_, text, _ := strings.Cut(read(t, "../lab/results/"+page), "<!-- measured: "+part+" -->\n")
	text, _, ended := strings.Cut(text, "<!-- end -->")
	if !ended {
		t.Fatalf("%s has no part %s", page, part)
	}
	var rows [][]string
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

// TestResults: the short tables of results.md match the records of lab/results.
func TestResults(t *testing.T) {
	missed := map[string][]string{}
	for _, part := range []string{"evasion", "silent"} {
		rows := record(t, "comparison.md", part)
		for column, tool := range rows[0] {
			n := 0
			for _, row := range rows[2:] {
				if strings.HasPrefix(row[column], "**missed**") {
					n++
				}
			}
			missed[tool] = append(missed[tool], strconv.Itoa(n))
		}
	}
	delete(missed, "")
	shown := worked(t, "results.md", "missed", len(missed))
	for _, row := range shown {
		if !slices.Equal(row[1:], missed[row[0]]) {
			t.Errorf("%s misses %q, not %q", row[0], missed[row[0]], row[1:])
		}
	}
	if len(shown) != len(missed) {
		t.Errorf("%d programs are shown, %d were compared", len(shown), len(missed))
	}
	totals := record(t, "policies.md", "totals")
	last := totals[len(totals)-1]
	for i, row := range worked(t, "results.md", "said", 3) {
		if want := []string{totals[0][4+i], last[4+i]}; !slices.Equal(row, want) || last[2] != "126" {
			t.Errorf("%q is said of %s policies, not %q", want, last[2], row)
		}
	}
	rows := record(t, "performance.md", "rows")
	for _, row := range worked(t, "results.md", "rows", 8) {
		if !slices.ContainsFunc(rows, func(r []string) bool {
			figure, _, _ := strings.Cut(r[len(r)-1], " (")
			return slices.Equal(r[:3], row[:3]) && figure == row[3]
		}) {
			t.Errorf("lab/results/performance.md has no row %q", row)
		}
	}
}
