//go:build linux

// Package compare compares policyscan with the programs that a team would otherwise use, and
// writes lab/results/comparison.md. There is no code in it: make compare runs TestComparison,
// which without -measure does nothing. TestPage always runs: what the page says of
// policyscan is what policyscan does.
//
//	compare_test.go    the run, and the page
//	tools_test.go      the programs: where they come from, how each is configured and called
//	repository_test.go a repository with a change, its checkout, and a run over it
//	evasions_test.go   rows: the change hides the text, and what others see
//	faults_test.go     rows: the run cannot do its work
package compare

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/measured"
)

var (
	measuring = flag.Bool("measure", false, "run all tools, which it installs, and write ../results/comparison.md")
	toolsDir  = flag.String("tools", filepath.Join(os.TempDir(), "policyscan-compare"), "where the tools are, or are put")
	one       = flag.String("matrix", "", "run and write only this one: evasion, silent, blind or variants")
	only      = flag.String("rows", "", "run only the rows whose names hold this text, and write nothing")
)

// anyCell is all that a cell can say.
var anyCell = regexp.MustCompile(`^(n/a|\*\*hung\*\*|(caught|refused|\*\*missed\*\*)(, \d+)?)$`)

// A matrix is one table of the page.
type matrix struct {
	name   string // of its place in the page
	rows   []scenario
	tools  []tool
	status bool // cells show the exit status
	differ bool // only the rows in which a tool is not as the first of its family
}

// head is the names of its columns.
func (m matrix) head() (names []string) {
	for _, tool := range m.tools {
		names = append(names, tool.name)
	}
	return names
}

func matrices() []matrix {
	inCI := slices.DeleteFunc(evasions(), func(s scenario) bool { return s.hook || s.edits != nil })
	return []matrix{
		{name: "evasion", rows: evasions(), tools: tools()},
		{name: "silent", rows: faults(), tools: tools(), status: true},
		{name: "blind", rows: blind(), tools: tools()},
		{name: "variants", rows: inCI, tools: variants(), differ: true},
	}
}

func TestComparison(t *testing.T) {
	if !*measuring {
		t.Skip("it installs programs of others; see make compare")
	}
	path := install(t)
	clean := scenario{name: "nothing forbidden", change: func(r *repository) { r.write("main.tf", bucket("private")) }}
	for _, m := range matrices() {
		if *one != "" && m.name != *one {
			continue
		}
		var rows [][]string
		for _, tool := range m.tools {
			if r := clean.run(t, tool, path); r.what != missed {
				t.Fatalf("%s does not let a clean change pass: %s\n%s", tool.name, r, r.output)
			}
		}
		for _, s := range m.rows {
			if !strings.Contains(s.name, *only) {
				continue
			}
			row := []string{s.name}
			for _, tool := range m.tools {
				r := s.run(t, tool, path)
				t.Logf("%s: %s: %s: %s\n%s", m.name, s.name, tool.name, r, r.output)
				row = append(row, r.cell(m.status))
			}
			rows = append(rows, row)
		}
		if *only == "" {
			writePart(t, m.name, table(t, m, rows))
		}
	}
	if *only == "" {
		writePart(t, "versions", "- "+strings.Join(versions(t, path), "\n- ")+"\n")
		writePart(t, "setups", setups(t))
	}
}

// TestPage: the page has every row of the matrices, shows the tools' files and commands as
// they are, and says of policyscan what it does.
func TestPage(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	path := programs(t)
	if shown := partOf(t, "setups"); shown != setups(t) {
		t.Errorf("the page shows other files and commands than\n%s", setups(t))
	}
	ran := 0
	for _, m := range matrices() {
		page := rowsOf(t, m.name)
		if head := page[""]; !slices.Equal(head, m.head()) {
			t.Errorf("%s: the page has the columns %q, not %q", m.name, head, m.head())
		}
		delete(page, "")
		var names []string
		for _, s := range m.rows {
			names = append(names, s.name)
			for i, tool := range m.tools {
				if tool.family != "policyscan" || s.large && testing.Short() {
					continue
				}
				row, ok := page[s.name]
				if m.differ && !ok {
					continue
				}
				ran++
				r := s.run(t, tool, path)
				if s.killed && r.what == caught && ok { // it may have found the line before the signal came
					row[i] = strings.Replace(row[i], "refused", "caught", 1)
				}
				if !ok || row[i] != r.cell(m.status) {
					t.Errorf("%s: %s: %s: %q; the page says %q\n%s", m.name, s.name, tool.name, r.cell(m.status), row, r.output)
				}
			}
		}
		for name, row := range page {
			if !slices.Contains(names, name) {
				t.Errorf("%s: the page has %q, which is no row", m.name, name)
			}
			for _, cell := range row {
				if !anyCell.MatchString(cell) {
					t.Errorf("%s: %s: %q is no cell", m.name, name, cell)
				}
			}
		}
	}
	if ran < 120 {
		t.Errorf("%d cells were compared", ran)
	}
}

const page = "../results/comparison.md"

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

// language is the language of a block that the tests of the manual know.
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
