//go:build linux

// Package compare compares policyscan with the programs that a team would otherwise use, and
// writes docs/comparison.md. There is no code in it: make compare runs TestComparison,
// which without -measure does nothing. TestPage always runs: what the page says of
// policyscan is what policyscan does.
//
//	tools_test.go      the programs: where they come from, how each is configured and called
//	repository_test.go a repository with a change, its checkout, and a run over it
//	evasions_test.go   rows: the change hides the text
//	faults_test.go     rows: the run cannot do its work
//	blind_test.go      rows: what others see
//	page_test.go       what becomes of it
package compare

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	measuring = flag.Bool("measure", false, "run all tools, which it installs, and write ../comparison.md")
	folder    = flag.String("tools", filepath.Join(os.TempDir(), "policyscan-compare"), "where the tools are, or are put")
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
