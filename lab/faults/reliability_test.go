// Package faults injects every fault that policyscan was designed against, and writes
// the result into lab/results/reliability.md. There is no code in it: make faults runs its
// test, which without -measure does nothing. The tests of the faults themselves are in the
// rooms that they are about.
//
//	run_test.go          the run, and what it means
//	reliability_test.go  what their tests need, what of it this machine has, and the page
//
// The page is the list of the faults, too: to add one, write a row with its number, what it is, and what its tests need
// besides Go (see machine).
package faults

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/measured"
)

var measuring = flag.Bool("measure", false, "inject all faults, which takes some minutes, and write ../results/reliability.md")

// TestFaults runs the tests of every row and writes the page. It fails if a row fails, has
// no test, or was left out although the machine has what it needs.
func TestFaults(t *testing.T) {
	if !*measuring {
		t.Skip("it takes some minutes; see make faults")
	}
	has := machine(t)
	results, complaints := judge(rows(t), run(t), has)
	for _, c := range complaints {
		t.Error(c)
	}
	for _, r := range results {
		for _, s := range r.skipped {
			t.Logf("row %d: %s", r.number, s)
		}
	}
	t.Log(summary(results))
	writePage(t, results, has)
}

// scripts is the directory of the stories. A file is one, named after it, or has several, each after a storyHead.
var scripts = filepath.FromSlash("../../cmd/policyscan/testdata/script")

var storyHead = regexp.MustCompile(`(?m)^=== (\w+) ===$`)

// existing are the tests of rows that there are, by the row.
func existing(t *testing.T) map[int][]string {
	t.Helper()
	all := map[int][]string{}
	add := func(test string) {
		for _, n := range rowsOf(test) {
			all[n] = append(all[n], top(test))
		}
	}
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "../.." && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if script, ok := strings.CutSuffix(d.Name(), ".txtar"); ok && filepath.Dir(name) == scripts {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			heads := storyHead.FindAllStringSubmatch(string(text), -1)
			if len(heads) == 0 {
				add("TestScripts/" + script)
			}
			for _, head := range heads {
				add("TestScripts/" + head[1])
			}
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				add(f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A row is a fault or a hostile input: its number, what it is, and what its tests need besides Go.
type row struct {
	number int
	what   string
	needs  []string
}

// rows returns the faults that the page lists.
func rows(t *testing.T) []row {
	t.Helper()
	text, err := measured.Part(page, "faults")
	if err != nil {
		t.Fatal(err)
	}
	var all []row
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(line, "|\n"), " | ")
		n, err := strconv.Atoi(strings.TrimSpace(cells[0]))
		if err != nil {
			continue // no row
		}
		r := row{number: n, what: cells[1]}
		if needs := strings.TrimSpace(cells[2]); needs != "" {
			r.needs = strings.Split(needs, ", ")
		}
		all = append(all, r)
	}
	return all
}

// TestTable: every row is in the table, once and in words, and has a test; every test of a
// row has one; and the tests that the page names are there.
func TestTable(t *testing.T) {
	const count = 188
	there, known := existing(t), map[int]bool{}
	named := map[string]bool{}
	for _, list := range there {
		for _, test := range list {
			named[test] = true
		}
	}
	table, has := rows(t), machine(t)
	for i, r := range table {
		known[r.number] = true
		if i > 0 && r.number <= table[i-1].number || r.what == "" {
			t.Errorf("row %d (%q) is at place %d", r.number, r.what, i+1)
		}
		if len(there[r.number]) == 0 {
			t.Errorf("row %d (%s) has no test", r.number, r.what)
		}
		for _, need := range r.needs {
			if _, ok := has[need]; !ok {
				t.Errorf("row %d needs %q, which is no need", r.number, need)
			}
		}
	}
	if len(table) != count {
		t.Errorf("%d rows, want %d", len(table), count)
	}
	for n, list := range there {
		if !known[n] {
			t.Errorf("%q: there is no row %d", list, n)
		}
	}
	text, err := measured.Part(page, "faults")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("`(TestFault_\\w+|fault_\\w+)`").FindAllStringSubmatch(text, -1)
	if len(shown) < count {
		t.Errorf("%s names %d tests", page, len(shown))
	}
	for _, m := range shown {
		if !named[m[1]] {
			t.Errorf("%s names %s, which is missing; run make faults", page, m[1])
		}
	}
}

// TestRowsOf: which rows a name has.
func TestRowsOf(t *testing.T) {
	for name, want := range map[string][]int{
		"TestFault_010_BigFile":                {10},
		"TestFault_046_048_060_AnyCallFails":   {46, 48, 60},
		"TestFault_010_BigFile/4_GiB":          {10},
		"TestScripts/fault_131_hostile":        {131},
		"TestFault_010":                        nil,
		"TestFaults":                           nil,
		"TestFault_BigFile":                    nil,
		"TestScripts/output":                   nil,
		"TestManyThings/TestFault_010_BigFile": nil,
	} {
		if got := rowsOf(name); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestJudge: a row that failed, that has no test or that did not run does not count as one
// that held.
func TestJudge(t *testing.T) {
	table := []row{{1, "one", nil}, {2, "two", []string{"root"}}}
	is := func(action, test string) event { return event{Action: action, Package: "p", Test: test} }
	one, two := is("pass", "TestFault_001_A"), is("pass", "TestFault_002_B")
	why := is("output", "TestFault_002_B/part")
	why.Output = "    x_test.go:7: SKIPPED: this needs root\n"
	part := is("skip", "TestFault_002_B/part")
	for name, c := range map[string]struct {
		events     []event
		root       bool
		complaints string // in part
		outcomes   string
	}{
		"all hold":              {[]event{one, two}, true, "", "held, held"},
		"a row failed":          {[]event{is("fail", "TestFault_001_A"), two}, true, "row 1: TestFault_001_A failed", "**failed**, held"},
		"one of two failed":     {[]event{one, is("fail", "TestFault_001_C"), two}, true, "row 1: TestFault_001_C failed", "**failed**, held"},
		"a part failed":         {[]event{is("fail", "TestFault_001_A/x"), two}, true, "row 1: TestFault_001_A/x failed", "**failed**, held"},
		"a row without a test":  {[]event{two}, true, "row 1 has no test", "**no test**, held"},
		"a test without a row":  {[]event{one, two, is("pass", "TestFault_003_C")}, true, "there is no row 3", "held, held"},
		"skipped for a reason":  {[]event{one, why, part, two}, false, "", "held, held except for what needs root"},
		"wholly skipped":        {[]event{one, is("skip", "TestFault_002_B")}, false, "", "held, not run: it needs root"},
		"skipped without one":   {[]event{one, why, part, two}, true, "row 2 did not run whole, though the machine has what it needs: TestFault_002_B/part: this needs root", "held, **not run whole**"},
		"a package failed":      {[]event{one, two, is("fail", "")}, true, "p failed", "held, held"},
		"a package is no build": {[]event{one, two, is("build-fail", "")}, true, "does not build", "held, held"},
		"a test of two rows":    {[]event{is("pass", "TestFault_001_002_A")}, true, "", "held, held"},
	} {
		t.Run(name, func(t *testing.T) {
			results, complaints := judge(table, c.events, map[string]bool{"root": c.root})
			if got := strings.Join(complaints, "\n"); !strings.Contains(got, c.complaints) || (got == "") != (c.complaints == "") {
				t.Errorf("complaints %q, want %q", got, c.complaints)
			}
			if got := results[0].outcome() + ", " + results[1].outcome(); got != c.outcomes {
				t.Errorf("%s, want %s", got, c.outcomes)
			}
		})
	}
	if _, complaints := judge([]row{{1, "one", []string{"luck"}}}, []event{one}, nil); len(complaints) != 1 {
		t.Errorf("an unknown need: %q", complaints)
	}
}

const page = "../results/reliability.md"

// writePage puts the results of the faults into their part of the page.
func writePage(t *testing.T, results []result, has map[string]bool) {
	t.Helper()
	text := "- " + summary(results) + "\n- " + equipment(has) + "\n\n" + table(results)
	if err := measured.Write(page, "faults", text); err != nil {
		t.Fatal(err)
	}
}

// summary counts.
func summary(results []result) string {
	n := map[string]int{}
	for _, r := range results {
		what, _, _ := strings.Cut(strings.Trim(r.outcome(), "*"), ":")
		what, _, _ = strings.Cut(what, " for what")
		n[what]++
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%d %s", n[what], map[bool]string{true: "held in part", false: what}[what == "held but"]))
	}
	return fmt.Sprintf("%d rows: %s", len(results), strings.Join(parts, ", "))
}

// equipment describes the machine.
func equipment(has map[string]bool) string {
	var with, without []string
	for _, need := range slices.Sorted(maps.Keys(has)) {
		if has[need] {
			with = append(with, need)
		} else {
			without = append(without, need)
		}
	}
	s := fmt.Sprintf("%s on %s, with %s", runtime.Version(), runtime.GOARCH, strings.Join(with, ", "))
	if len(without) > 0 {
		s += "; without " + strings.Join(without, ", ")
	}
	return s
}

func table(results []result) string {
	var b strings.Builder
	b.WriteString("| row | what is injected | needs | tests | result |\n|---|---|---|---|---|\n")
	for _, r := range results {
		list := "`" + strings.Join(r.tests, "` `") + "`"
		if len(r.tests) == 0 {
			list = ""
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", r.number, r.what, strings.Join(r.needs, ", "), list, r.outcome())
	}
	return b.String()
}

// TestFuzzed: a row of the fuzzing table is a target that there is, and enough runs of it.
func TestFuzzed(t *testing.T) {
	part, err := measured.Part(page, "fuzzing")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(part), "\n")[2:]
	for _, row := range rows {
		var target string
		var runs int
		if _, err := fmt.Sscanf(row, "| %s | %d |", &target, &runs); err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		dir, name, _ := strings.Cut(strings.Trim(target, "`"), ":")
		found := false
		tests, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range tests {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "\nfunc "+name+"(f *testing.F)")
		}
		if !found || runs < 10_000_000 {
			t.Errorf("%s: is there: %v", row, found)
		}
	}
	if len(rows) < 12 {
		t.Errorf("%d rows", len(rows))
	}
}

// machine reports which of the needs of rows this machine meets.
func machine(t *testing.T) map[string]bool {
	t.Helper()
	has := func(tool string) bool {
		_, err := exec.LookPath(tool)
		return err == nil
	}
	runs := func(words ...string) bool {
		return has(words[0]) && exec.Command(words[0], words[1:]...).Run() == nil
	}
	root := os.Geteuid() == 0
	mounts := root && runs("unshare", "--mount", "true")
	return map[string]bool{
		"Linux":           runtime.GOOS == "linux",
		"root":            root,
		"another user":    runtime.GOOS != "windows" && (!root || has("setpriv")), // whom permissions stop
		"mounts":          mounts,
		"FUSE":            mounts && opens("/dev/fuse"),
		"a memory cgroup": root && memoryGroups(),
		"immutable files": root && immutable(t),
		"strace":          runs("strace", "-o", filepath.Join(t.TempDir(), "log"), "true"),
		"unshare":         root && runs("unshare", "--net", "true"),
		"script":          runs("script", "-qec", "true", filepath.Join(t.TempDir(), "typescript")),
		"git":             has("git"),
		"bash":            has("bash"),
		"prlimit":         has("prlimit"),
		"pre-commit":      has("pre-commit"),
	}
}

func opens(device string) bool {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err == nil {
		err = f.Close()
	}
	return err == nil
}

// memoryGroups reports whether a group of processes can be given a limit of memory.
func memoryGroups() bool {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if parts := strings.Split(strings.TrimSpace(line), ":"); len(parts) == 3 && parts[1] == "memory" {
			if _, err := os.Stat("/sys/fs/cgroup/memory" + parts[2]); err == nil {
				return true // the first version's
			}
		}
	}
	controllers, err := os.ReadFile("/sys/fs/cgroup/cgroup.subtree_control")
	return err == nil && strings.Contains(string(controllers), "memory")
}

// immutable reports whether the disk for temporary files has files that nobody may change.
func immutable(t *testing.T) bool {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("chattr", "+i", name).Run(); err != nil {
		return false
	}
	if out, err := exec.Command("chattr", "-i", name).CombinedOutput(); err != nil {
		t.Fatalf("%s stays immutable: %s", name, out)
	}
	return true
}
