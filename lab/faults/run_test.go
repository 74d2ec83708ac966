package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An event is one of what go test -json prints.
type event struct {
	Action, Package, Test, Output string
}

// tests is what go test is to run: functions and scripts that have a row's number.
const tests = "TestFault_|TestScripts/fault_"

// run runs the tests of all rows with all that they can do, and returns what go test says of them.
func run(t *testing.T) []event {
	t.Helper()
	long, short := packages(t)
	events := append(runIn(t, "../..", append(long, "-long")), runIn(t, "../..", short)...)
	return append(events, runIn(t, "..", []string{"./..."})...)
}

// packages returns the packages whose tests take the flag -long, and the others.
func packages(t *testing.T) (long, short []string) {
	t.Helper()
	const root = "../.."
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "lab" || d.Name() == "testdata" || name != root && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !d.IsDir():
			return nil
		}
		tests, err := filepath.Glob(filepath.Join(name, "*_test.go"))
		if err != nil || len(tests) == 0 {
			return err
		}
		rel, err := filepath.Rel(root, name)
		list := &short
		for _, test := range tests {
			text, err := os.ReadFile(test)
			if err != nil {
				return err
			}
			if strings.Contains(string(text), `flag.Bool("long"`) {
				list = &long
			}
		}
		*list = append(*list, "./"+filepath.ToSlash(rel))
		return err
	})
	if err != nil || len(long) < 5 {
		t.Fatalf("%v; tests with -long: %q", err, long)
	}
	return long, short
}

// runIn runs the tests of rows in the module of a directory.
func runIn(t *testing.T, dir string, args []string) []event {
	t.Helper()
	cmd := exec.Command("go", append([]string{"test", "-json", "-count=1", "-timeout=55m", "-run=" + tests}, args...)...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var events []event
	for dec := json.NewDecoder(out); ; {
		var e event
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v after %d events of go test", err, len(events))
		}
		events = append(events, e)
		if e.Test == "" && (e.Action == "pass" || e.Action == "fail") || e.Action == "fail" {
			t.Log(e.Action, e.Package, e.Test) // so that one sees it go on
		}
	}
	// What failed is judged by the events, which are missing if go test did not come to test.
	if err := cmd.Wait(); err != nil && len(events) == 0 {
		t.Fatalf("go test: %v", err)
	}
	return events
}

// numbered is the name of a function or script that holds rows.
var numbered = regexp.MustCompile(`^(?:TestFault|TestScripts/fault)_((?:\d{3}_)+)\w`)

// rowsOf are the rows that a test's name names.
func rowsOf(test string) []int {
	m := numbered.FindStringSubmatch(test)
	if m == nil {
		return nil
	}
	var list []int
	for _, digits := range strings.Split(strings.TrimSuffix(m[1], "_"), "_") {
		n, err := strconv.Atoi(digits)
		if err != nil {
			panic(err) // they are digits
		}
		list = append(list, n)
	}
	return list
}

// A result is the outcome of a row.
type result struct {
	row
	tests   []string // that ran, in order
	held    int      // how many of them, in part or as a whole
	skipped []string // why some of these, or of their parts, were skipped
	failed  []string
	missing []string // what the row needs and the machine has not
}

// parts of the same name in two packages are told apart by the package.
type place struct{ pkg, test string }

// judge returns the result of each row. complaints are the reasons why the run as a whole
// has failed: rows that failed, that have no test, or that did not run though they could.
func judge(table []row, events []event, has map[string]bool) (results []result, complaints []string) {
	said := map[place]string{}
	byRow := map[int]*result{}
	for _, r := range table {
		byRow[r.number] = &result{row: r}
		for _, need := range r.needs {
			met, known := has[need]
			if !known {
				complaints = append(complaints, fmt.Sprintf("row %d needs %q, which reliability_test.go does not know", r.number, need))
			}
			if !met {
				byRow[r.number].missing = append(byRow[r.number].missing, need)
			}
		}
	}
	for _, e := range events {
		at := place{e.Package, e.Test}
		switch e.Action {
		case "output":
			said[at] += e.Output
			continue
		case "build-fail":
			complaints = append(complaints, "a package does not build")
			continue
		case "pass", "fail", "skip":
		default:
			continue
		}
		if e.Test == "" {
			if e.Action == "fail" {
				complaints = append(complaints, e.Package+" failed")
			}
			continue
		}
		for _, n := range rowsOf(e.Test) {
			r := byRow[n]
			if r == nil {
				complaints = append(complaints, fmt.Sprintf("%s: there is no row %d", e.Test, n))
				continue
			}
			name := top(e.Test)
			if !slices.Contains(r.tests, name) {
				r.tests = append(r.tests, name)
			}
			switch e.Action {
			case "pass":
				r.held++
			case "fail":
				r.failed = append(r.failed, e.Test)
			case "skip":
				r.skipped = append(r.skipped, e.Test+": "+reason(said[at]))
			}
		}
	}
	for _, row := range table {
		r := byRow[row.number]
		slices.Sort(r.tests)
		switch {
		case len(r.tests) == 0:
			complaints = append(complaints, fmt.Sprintf("row %d has no test", r.number))
		case len(r.failed) > 0:
			complaints = append(complaints, fmt.Sprintf("row %d: %s failed", r.number, strings.Join(r.failed, ", ")))
		case len(r.skipped) > 0 && len(r.missing) == 0:
			complaints = append(complaints, fmt.Sprintf("row %d did not run whole, though the machine has what it needs: %s", r.number, strings.Join(r.skipped, "; ")))
		}
		results = append(results, *r)
	}
	return results, complaints
}

// top is the function or story that a part belongs to.
func top(test string) string {
	parts := strings.Split(test, "/")
	if parts[0] == "TestScripts" && len(parts) > 1 {
		return parts[1]
	}
	return parts[0]
}

// logged is the place in the code before what a test says.
var logged = regexp.MustCompile(`(?m)^ +\w+\.go:\d+: (?:SKIPPED: )?(.*)$`)

// reason is why a test was skipped, of all that it printed.
func reason(output string) string {
	if all := logged.FindAllStringSubmatch(output, -1); all != nil {
		return all[len(all)-1][1]
	}
	return "it does not say why"
}

// outcome is a result in a word or a few.
func (r result) outcome() string {
	switch {
	case len(r.tests) == 0:
		return "**no test**"
	case len(r.failed) > 0:
		return "**failed**"
	case len(r.skipped) == 0:
		return "held"
	case len(r.missing) == 0:
		return "**not run whole**"
	}
	needs := strings.Join(r.missing, ", ")
	if r.held == 0 {
		return "not run: it needs " + needs
	}
	return "held except for what needs " + needs
}
