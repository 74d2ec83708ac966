package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/scanner/run"
)

// TestListing: the boundaries of all bundles come first, in their order, then the invariants, and no rule is missing.
func TestListing(t *testing.T) {
	const oneRule = `rules:
  - id: ID
    title: No word
    enforcement: {mode: fail}
    match: {files: ["*.txt"], forbidden_patterns: [word]}
`
	dir := t.TempDir()
	for _, id := range []string{"A-1", "B-1"} {
		if err := os.MkdirAll(filepath.Join(dir, id, "rules"), 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"boundaries.yml": strings.Replace(oneRule, "ID", id, 1), "invariants.yml": "rules: []\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, id, "rules", name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	names := []string{filepath.Join(dir, "B-1"), run.Builtin, filepath.Join(dir, "A-1")}
	all, err := run.LoadRules(names, dir)
	if err != nil {
		t.Fatal(err)
	}
	rules := listing(all, "")
	if rules[0].ID != "B-1" || len(rules) != len(all[1].Bundle.Rules)+2 {
		t.Errorf("%d rules, %+v first", len(rules), rules[0])
	}
	if i := slices.IndexFunc(rules, func(r listedRule) bool { return r.Type == "invariant" }); i < 0 ||
		slices.ContainsFunc(rules[i:], func(r listedRule) bool { return r.Type == "boundary" }) {
		t.Errorf("the first invariant is the rule %d of %d", i, len(rules))
	}
}
