package naive

import (
	"fmt"
	"slices"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/scanner/keys"
	parser "github.com/policyscan/policyscan/scanner/keys/formats"
)

// TestKeyEngine compares where policyscan finds and lacks keys with this package, without bundles, files and processes
// between them: far more files in the same time than TestSecond.
func TestKeyEngine(t *testing.T) {
	compared, found := 0, 0
	for n := range 8 * *engines {
		g := tapeOf(n).generator()
		g.newer, g.parsed = true, map[string]*Parsed{}
		format := pick(g, "yaml", "yaml", "json", "hcl", "toml")
		if g.docker = g.has("dockerfile") && g.percent(20); g.docker {
			format = dockerFormat
		}
		list := pick(g, "forbidden_patterns", "required_patterns")
		item := g.keyItem(list, format)
		naively, engine := keyItemOf(t, list, item)
		if naively == nil {
			continue
		}
		for range 8 {
			f := g.keyFile(format)
			if f.meant.Starts != nil || f.meant.Code != "" {
				continue
			}
			documents, err := parser.Parse(parser.Format(format), []byte(f.content), parser.Limits())
			if err != nil {
				t.Fatalf("set %d: %v\n%s", n, err, f.content)
			}
			required, hits := list == "required_patterns", keys.Forbidden
			if required {
				hits = keys.Required
			}
			var want, got []int
			places, _ := naively.brokenIn(f.meant.Documents, required)
			for _, p := range places {
				want = append(want, max(p.at, 0))
			}
			for _, h := range hits(engine, documents) {
				got = append(got, h.At.Start)
			}
			compared++
			found += len(want)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("-seed %d, set %d: %s %s: %v, naively %v in\n%s", *seed, n, list, item, got, want, f.content)
			}
		}
	}
	if found < compared/10 {
		t.Errorf("%d places in %d files", found, compared)
	}
}

// keyItemOf is an item with a key of a list, as both programs load it; nil if it is refused.
func keyItemOf(t *testing.T, list, item string) (*KeyItem, *keyitem.Item) {
	t.Helper()
	r := ruleWith("X", "invariant", item)
	r.lists[1].key = list
	text, name := ruleText{version: "0.2", rules: []ruleYAML{r}}.yaml(), "invariants.yml"
	files := rules.Files{"rules/boundaries.yml": []byte(ruleText{version: "0.2",
		rules: []ruleYAML{plainRule("PLAIN", "boundary")}}.yaml())}
	if list == "forbidden_patterns" {
		name = "boundaries.yml"
	}
	files["rules/"+name] = []byte(text)
	file, mistakes := loadFile(name, text)
	bundle, err := rules.Load(files)
	if len(mistakes) > 0 && err != nil {
		return nil, nil
	}
	if len(mistakes) > 0 || err != nil {
		t.Fatalf("%s: %v; naively %+v", item, err, mistakes)
	}
	of := bundle.Rules[slices.IndexFunc(bundle.Rules, func(r rules.Rule) bool { return r.ID == "X" })]
	if list == "required_patterns" {
		return file.Rules[0].Required[0].Key, of.Required[0].Key
	}
	return file.Rules[0].Forbidden[0].Key, of.Patterns[0].Key
}
