package rules

import (
	"strings"
	"testing"
)

// TestTogether: an id is one rule's, in all bundles that are enforced together.
func TestTogether(t *testing.T) {
	bundle := func(deprecated string, ids ...string) *Bundle {
		var list []Rule
		for _, id := range ids {
			list = append(list, Rule{ID: id, Type: Boundary, Files: []string{"**"}, Patterns: PlainItems("x")})
		}
		return New(list, []Rule{{ID: deprecated}})
	}
	if err := Together([]*Bundle{bundle("D", "A", "B"), nil, bundle("E", "C"), bundle("F", "G")}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		bundles []*Bundle
		want    []string
	}{
		{[]*Bundle{bundle("D", "A", "B"), bundle("E", "C", "A")},
			[]string{`rule "A": two bundles have a rule with this id, number 1 and number 2 of --policy`}},
		{[]*Bundle{bundle("D", "A", "B"), bundle("E", "C"), bundle("B", "C")},
			[]string{`rule "C": two bundles have a rule with this id, number 2 and number 3 of --policy`,
				`rule "B": two bundles have a rule with this id, number 1 and number 3 of --policy`}},
		{[]*Bundle{bundle("D", "A"), nil, bundle("E", "A")},
			[]string{`rule "A": two bundles have a rule with this id, number 1 and number 3 of --policy`}},
	} {
		err := Together(c.bundles)
		if err == nil {
			t.Errorf("%v: no error", c.want)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		for i, want := range c.want {
			if len(lines) != len(c.want) || !strings.HasPrefix(lines[i], want) {
				t.Errorf("%q, want %q", lines, c.want)
				break
			}
		}
	}
}
