package naive

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/scanner/keys"
	parser "github.com/policyscan/policyscan/scanner/keys/formats"
)

// A keySet is an item with a key, and files of a format.
type keySet struct {
	list, item, format string
	files              []keyFile
}

func newKeySet(t *tape) keySet {
	g := t.generator()
	g.newer, g.parsed = true, map[string]*Parsed{}
	s := keySet{format: pick(g, "yaml", "yaml", "json", "hcl", "hcl", "toml", dockerFormat)}
	g.docker = s.format == dockerFormat
	s.list = pick(g, "forbidden_patterns", "required_patterns")
	s.item = g.keyItem(s.list, s.format)
	for range 8 {
		if f := g.keyFile(s.format); f.meant.Starts == nil && f.meant.Code == "" {
			s.files = append(s.files, f)
		}
	}
	return s
}

// TestKeyEngine compares where policyscan finds and lacks keys with this package, without bundles, files and processes
// between them: far more files in the same time than TestSecond.
func TestKeyEngine(t *testing.T) {
	compared, broken, whole, different := 0, map[string]int{}, map[string]int{}, 0
	for n := range 8 * *engines {
		from := tapeOf(n)
		s := newKeySet(from)
		err := s.compare(broken, whole)
		compared += len(s.files)
		if err == nil {
			continue
		}
		differs := func(s keySet) error { return s.compare(map[string]int{}, map[string]int{}) }
		small := smallest(from, newKeySet, differs, err)
		t.Errorf("-seed %d, set %d, as small as it gets: %s %s\n%v", *seed, n, small.list, small.item, differs(small))
		if different++; different == 5 {
			break
		}
	}
	for _, form := range keyForms() {
		if broken[form] < 5 || whole[form] < 20 {
			t.Errorf("items with %q are broken in %d files, and not in %d: too few to say anything", form, broken[form], whole[form])
		}
	}
	t.Logf("measured: %d files, %d differ; items are broken %v, and not %v", compared, different, broken, whole)
}

// compare returns how the programs differ. It counts in how many files items are broken, and in how many not, by their
// forms.
func (s keySet) compare(broken, whole map[string]int) error {
	naively, engine, err := keyItemOf(s.list, s.item)
	if naively == nil || err != nil {
		return err
	}
	required, hits := s.list == "required_patterns", keys.Forbidden
	if required {
		hits = keys.Required
	}
	for _, f := range s.files {
		documents, err := parser.Parse(parser.Format(s.format), []byte(f.content), parser.Limits())
		if err != nil {
			return difference{"the parser", err.Error()}
		}
		var want, got []int
		places, limited := naively.brokenIn(f.meant.Documents, required)
		for _, p := range places {
			want = append(want, max(p.at, 0))
		}
		for _, h := range hits(engine, documents) {
			got = append(got, h.At.Start)
		}
		if beyond := keys.Beyond(engine, documents); (beyond != nil) != limited {
			return difference{"limits", fmt.Sprintf("%v, naively %t in\n%s", beyond, limited, f.content)}
		}
		if !limited && fmt.Sprint(got) != fmt.Sprint(want) {
			return difference{s.list, fmt.Sprintf("%v, naively %v in\n%s", got, want, f.content)}
		}
		counts := whole
		if len(want) > 0 {
			counts = broken
		}
		for _, form := range keyForms() {
			inText := slices.ContainsFunc(places, func(p spot) bool { return strings.Contains(p.sub, "/") })
			if strings.Contains(s.item, form) || form == "in a text" && (inText || len(want) == 0) {
				counts[form]++
			}
		}
	}
	return nil
}

// keyForms are forms by what items have in their text.
func keyForms() []string {
	return []string{"in a text", "where:", "if:", "missing:", "present:", "is_not:", "matches_not:", "below:", "above:", "at_least:", "at_most:",
		"quantity:", "any:", "format: dockerfile"}
}

// keyItemOf is an item with a key of a list, as both programs load it; nil if it is refused.
func keyItemOf(list, item string) (*KeyItem, *keyitem.Item, error) {
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
		return nil, nil, nil
	}
	if len(mistakes) > 0 || err != nil {
		return nil, nil, difference{"the bundle", fmt.Sprintf("%v; naively %+v", err, mistakes)}
	}
	of := bundle.Rules[slices.IndexFunc(bundle.Rules, func(r rules.Rule) bool { return r.ID == "X" })]
	if list == "required_patterns" {
		return file.Rules[0].Required[0].Key, of.Required[0].Key, nil
	}
	return file.Rules[0].Forbidden[0].Key, of.Patterns[0].Key, nil
}
