package faults

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/measured"
)

const page = "../../docs/reliability.md"

// writePage puts what came of the faults into their part of the page.
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

// equipment says what the machine had.
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
		folder, name, _ := strings.Cut(strings.Trim(target, "`"), ":")
		found := false
		tests, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
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
