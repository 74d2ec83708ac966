package scanner

import (
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
)

// TestTryExamples: the mistake in each example and, if both kinds are demanded, the rules without one.
func TestTryExamples(t *testing.T) {
	const rule = "    enforcement: {mode: fail}\n    match: {files: [\"**/*.tf\"], forbidden_patterns: [bad]}\n"
	const boundaries = "rules:\n" +
		"  - id: BOTH\n    title: Both kinds\n" + rule + `    examples:
      - {path: a.tf, content: bad, violates: true}
      - {path: a.tf, content: good, violates: false}
` +
		"  - id: DIRTY\n    title: Only dirty ones\n" + rule + `    examples:
      - {path: a.tf, content: good, violates: true}
      - {path: a.txt, content: bad, violates: true}
` +
		"  - id: CLEAN\n    title: Only a clean one\n" + rule + `    examples:
      - {path: a.tf, content: bad, violates: false}
` +
		"  - id: BARE\n    title: None\n" + rule
	b, err := rules.Load(rules.Files{
		rules.BoundariesFile: []byte(boundaries), rules.InvariantsFile: []byte("rules: []\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	const dirty1, dirty2 = "nothing in it violates the rule", "the rule does not select \"a.txt\""
	const clean = "it contains \"bad\", but it says that it does not"
	for _, c := range []struct {
		both bool
		want []string
	}{
		{false, []string{dirty1, dirty2, clean}},
		{true, []string{
			"no example that does not violate it", dirty1, dirty2, "no example that violates it", clean,
			"it has no example; write",
		}},
	} {
		tally, err := RunExamples(b, c.both)
		n, wrong := len(c.want), 3
		if err != nil || tally.Ran != 5 || tally.Untested != 1 || tally.Failed != wrong || len(tally.Mistakes) != n {
			t.Fatalf("%v: %+v, %v", c.both, tally, err)
		}
		for i, m := range tally.Mistakes {
			if !strings.Contains(m.Error(), c.want[i]) {
				t.Errorf("%v: got %q, want %q", c.both, m, c.want[i])
			}
		}
	}
}

// TestExamples02: an example shows required patterns and forbidden paths; it is not a tree.
func TestExamples02(t *testing.T) {
	b, err := rules.Load(rules.Files{"rules/boundaries.yml": []byte(`bundle: "0.2"
rules:
  - id: KEY
    title: No keys
    enforcement: {mode: fail}
    match: {forbidden_files: ["**/*.pem"]}
    examples:
      - {path: a.pem, content: x, violates: true}
      - {path: a.txt, content: x, violates: false}
      - {path: b.pem, content: x, violates: false}
      - {path: b.txt, content: x, violates: true}
`), "rules/invariants.yml": []byte(`bundle: "0.2"
rules:
  - id: OWNED
    title: Owned
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], required_patterns: [owner, {text: "a b", spaces: any}]}
    examples:
      - {path: a.tf, content: "owner a b", violates: false}
      - {path: a.tf, content: owner, violates: true}
      - {path: b.tf, content: owner, violates: false}
      - {path: b.tf, content: "a b", violates: false}
      - {path: b.tf, content: "owner a b", violates: true}
      - {path: a.txt, content: x, violates: true}
  - id: DOC
    title: A licence
    enforcement: {mode: fail}
    match: {required_files: ["/LICENSE"]}
    examples:
      - {path: LICENSE, content: x, violates: false}
      - {path: README, content: x, violates: true}
`)})
	if err != nil {
		t.Fatal(err)
	}
	tally, err := RunExamples(b, true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range tally.Mistakes {
		got = append(got, m.Rule+": "+m.Found)
	}
	want := []string{
		`KEY: example 3: its path matches "**/*.pem", but it says that it does not violate the rule`,
		`KEY: example 4: the rule does not forbid the path "b.txt", but it says that it violates the rule`,
		`OWNED: example 3: it does not have what is required: "a b", with any spaces, ` +
			"but it says that it does not violate the rule",
		`OWNED: example 4: it does not have what is required: "owner", but it says that it does not violate the rule`,
		"OWNED: example 5: nothing in it violates the rule, but it says so",
		`OWNED: example 6: the rule does not select "a.txt", but it says that it violates the rule`,
		"DOC: example 2: the rule only requires files, so no example can violate it, but it says that it does",
	}
	if !slices.Equal(got, want) || tally.Ran != 12 || tally.Failed != 7 {
		t.Errorf("%+v\ngot\n%s\nwant\n%s", tally, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
