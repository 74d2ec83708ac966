//go:build linux

package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/measured"
)

const page = "../../docs/comparison.md"

// writePart puts what was run into its part of the page.
func writePart(t *testing.T, name, text string) {
	t.Helper()
	if err := measured.Write(page, name, text); err != nil {
		t.Fatal(err)
	}
}

// setups are the files and commands of the tools; tools that share files are shown together.
func setups(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i, tool := range tools() {
		if i == 0 || !maps.Equal(tool.files, tools()[i-1].files) {
			for _, name := range slices.Sorted(maps.Keys(tool.files)) {
				fmt.Fprintf(&b, "`%s`:\n\n```%s\n%s```\n\n", name, language(name), tool.files[name])
			}
		}
		fmt.Fprintf(&b, "%s:\n\n```sh\n%s\n```\n\n", tool.name, tool.script)
		if tool.hook != "" {
			fmt.Fprintf(&b, "as a hook:\n\n```sh\n%s\n```\n\n", tool.hook)
		}
	}
	return b.String()
}

// language is that of a block, of those that the tests of the manual know.
func language(name string) string {
	switch {
	case strings.HasSuffix(name, ".json"):
		return "json"
	case name == ".policyscan/rules/boundaries.yml":
		return "yaml"
	}
	return ""
}

// table is a matrix as the page shows it.
func table(t *testing.T, m matrix, rows [][]string) string {
	t.Helper()
	var b strings.Builder
	head := append([]string{""}, m.head()...)
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, row := range rows {
		if !m.differ || differs(m, row, rowsOf(t, "evasion")) {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
	}
	return b.String()
}

// differs reports whether a variant says otherwise than the tool that it is one of.
func differs(m matrix, row []string, evasion map[string][]string) bool {
	for i, variant := range m.tools {
		for k, tool := range tools() {
			if tool.name == variant.of && evasion[row[0]][k] != row[i+1] {
				return true
			}
		}
	}
	return false
}

// partOf returns what is in a part of the page.
func partOf(t *testing.T, name string) string {
	t.Helper()
	text, err := measured.Part(page, name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// rowsOf returns the cells of a table of the page, by the name of the row; the head is "".
func rowsOf(t *testing.T, name string) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for i, line := range strings.Split(strings.TrimSpace(partOf(t, name)), "\n") {
		if i == 1 { // between the head and the rows
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
		if _, twice := rows[cells[0]]; twice {
			t.Errorf("%s: the row %q is there twice", name, cells[0])
		}
		rows[cells[0]] = cells[1:]
	}
	return rows
}
