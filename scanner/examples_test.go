package scanner

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/policyscan/policyscan/rules"
)

// TestTryExamples: what is wrong with each example and, if both kinds are demanded, which rules lack one.
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
	b, err := rules.Load(fstest.MapFS{
		rules.BoundariesFile: {Data: []byte(boundaries)}, rules.InvariantsFile: {Data: []byte("rules: []\n")},
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
		tally, err := TryExamples(b, c.both)
		n := len(c.want)
		if err != nil || tally.Ran != 5 || tally.Bare != 1 || tally.Wrong != n || len(tally.Mistakes) != n {
			t.Fatalf("%v: %+v, %v", c.both, tally, err)
		}
		for i, m := range tally.Mistakes {
			if !strings.Contains(m.Error(), c.want[i]) {
				t.Errorf("%v: got %q, want %q", c.both, m, c.want[i])
			}
		}
	}
}
