package policydiff

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

var (
	long  = flag.Bool("long", false, "compare 5,000 pairs of bundles, with 1,000 random files each")
	seed  = flag.Uint64("seed", 1, "of the pairs")
	pairs = flag.Int("pairs", 0, "number of pairs; make history asks for 100,000")
)

// A drawer draws the parts of rules and files.
type drawer struct{ *rand.Rand }

func (d drawer) one(of ...string) string { return of[d.IntN(len(of))] }

func (d drawer) list(most int, of ...string) string {
	var all []string
	for range 1 + d.IntN(most) {
		if s := d.one(of...); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return "[" + strings.Join(all, ", ") + "]"
}

var (
	drawnGlobs = []string{`"**/*.tf"`, `"/*.tf"`, `"**/*.{tf,yml}"`, `"a/**"`, `"**/a/*.yml"`, `"a/**/*.tf"`, `"**"`, `"**/*.yml"`,
		`"**/m?in.tf"`, `"**/[am]*.tf"`, `"**/[!a]*.tf"`, `"**/main.*"`, `"a/b/**"`, `"**/A*.yml"`, `"**/b/**"`, `"**/m*n.yml"`, `"/main.yml"`, `"**/x[!a]y"`, `"**/*.json"`}
	drawnTexts = []string{`key`, `Key`, `"a: x"`, `"b: y1"`, `{text: key, case: ignore}`, `{text: key, words: true}`, `{text: "a: x", spaces: any}`,
		`{text: key, within_lines: 2}`, `{text: key, within_lines: 1}`, `{regex: 'k[e-f]y'}`, `{regex: '\bkey\b'}`, `{regex: 'a: (x|y1)'}`,
		`{regex: 'key', except: 'keyed'}`, `{text: key, only: unparsable}`, `{regex: '^a'}`}
	drawnKeys = []string{`{key: a}`, `{key: a, is: x}`, `{key: a, is: [x, y1]}`, `{key: a, is_not: x}`, `{key: "**.a", is: x}`, `{key: b.a, is: 1}`,
		`{key: [a, b.a], is: x}`, `{key: b.a, above: 2}`, `{key: b.a, below: 2}`, `{key: a, matches: '^x'}`, `{key: a, matches_not: '^x'}`,
		`{key: a, is: x, where: {k: D}}`, `{key: b.a, is: x, if: {k: D}}`, `{key: b.a, is: x, if: {k: {missing: true}}}`,
		`{key: a, is: x, format: yaml}`, `{key: a, is: x, format: json}`, `{key: "**", matches: '^x'}`}
	drawnNeeds = []string{`{key: a, is: x}`, `{key: a}`, `{key: "**.a", is: [x, y1]}`, `{each: b, key: a}`, `{each: b, key: a, is: x}`,
		`{each: b, if: {k: D}, key: a, is: x}`, `{key: a, at_least: 2}`, `{key: a, is: x, where: {k: D}}`, `{key: b.a, is: x, any: true}`}
)

// rule draws a rule, as in [bundleOf]; one that does not load is drawn again.
func (d drawer) rule(kind rules.Type) []string {
	maybe := func(share int, s string) string {
		if d.IntN(share) > 0 {
			return ""
		}
		return s
	}
	all := make([]string, 9)
	texts := slices.Concat(drawnTexts, drawnKeys)
	if kind == rules.Invariant {
		all[0] = maybe(2, "required_patterns: "+d.list(3, slices.Concat(drawnNeeds, drawnTexts)...))
		all[1] = maybe(3, "required_absent: "+d.list(3, texts...))
		all[2] = maybe(3, "required_files: "+d.list(3, drawnGlobs...))
	} else {
		all[1] = maybe(2, "forbidden_patterns: "+d.list(4, texts...))
	}
	if all[0]+all[1] != "" {
		all[3] = "files: " + d.list(3, drawnGlobs...)
		all[4] = maybe(4, "containing: "+d.list(2, texts...))
		all[5] = maybe(4, "unparsable: text")
	}
	all[6] = maybe(4, "forbidden_files: "+d.list(3, drawnGlobs...))
	all[7] = maybe(2, "exclude: "+d.list(2, drawnGlobs...))
	all[8] = maybe(5, "path_case: ignore")
	return all
}

func whole(parts []string) string {
	return "match: {" + strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), ", ") + "}"
}

// pair draws a bundle and a changed one.
func (d drawer) pair() (before, after *rules.Bundle) {
	kind := rules.Type(d.one(string(rules.Boundary), string(rules.Invariant)))
	rule := d.rule(kind)
	changed := slices.Clone(rule)
	for range 1 + d.IntN(2) {
		if other, i := d.rule(kind), d.IntN(len(rule)); d.IntN(3) > 0 && rule[i] != "" && other[i] != "" && i < 8 {
			// more items than before, which may be stronger
			merged := strings.TrimSuffix(rule[i], "]")
			_, items, _ := strings.Cut(strings.TrimSuffix(other[i], "]"), "[")
			if i != 5 {
				changed[i] = merged + ", " + items + "]"
			}
		} else {
			changed[i] = other[i]
		}
	}
	if d.IntN(2) == 0 {
		rule, changed = changed, rule
	}
	extra := whole(d.rule(kind)) // in both bundles, if it loads
	load := func(parts []string) *rules.Bundle {
		if b, err := bundleFrom(kind, whole(parts), extra); err == nil {
			return b
		}
		b, _ := bundleFrom(kind, whole(parts))
		return b
	}
	before, after = load(rule), load(changed)
	return before, after
}

// file draws a file.
func (d drawer) file() verdict.Witness {
	path := d.one("", "", "a/", "a/b/", "b/", "A/", "c/a/") + d.one("main", "a", "A", "Main", "x", "axy", "x/y") +
		d.one(".tf", ".yml", ".yml", ".json", ".TF", "", ".toml")
	value := func() string {
		return d.one("x", "y1", "1", "2", "3", `"x"`, "xx", "D", "[x, z]", "[]", "null", "{a: x}", "[{a: x, k: D}, {a: 3}]", "{a: 1, k: D}", "key", "keyed", "{{ a }}", "{")
	}
	var b strings.Builder
	switch d.IntN(8) {
	case 0:
		b.WriteString(d.one("", "\n", "key", "Key\nkey\n", "{{ a }}\n]:{\nkey", "a:   x", "akeya", "a: x\nb: y1", "keyed key"))
	case 1:
		fmt.Fprintf(&b, `{"a": %s, "b": {"a": %s, "k": %s}, "k": %s}`, d.one(`"x"`, "1", `"y1"`, "null", "[]"),
			d.one(`"x"`, "1", "3"), d.one(`"D"`, `"E"`, "null"), d.one(`"D"`, `"E"`))
	case 2:
		fmt.Fprintf(&b, "a = %s\nk = \"D\"\nb = {a = %s}\n# %s\n", d.one(`"x"`, "1", `"y1"`, "var.x"), d.one(`"x"`, "1", "3"), d.one("key", "Key", "b: y1"))
	default:
		for range d.IntN(5) {
			b.WriteString(d.one("a: ", "b: ", "k: ", "c: ", "# ", "key: ", "Key: ", "b:\n  a: ", "b:\n  k: D\n  a: ", "---\na: ") + value() + "\n")
		}
	}
	return verdict.Witness{File: path, Content: b.String()}
}

// TestProperty: of generated pairs of bundles, the engine confirms each witness, and no random file or tree contradicts
// what is called the same or stronger.
func TestProperty(t *testing.T) {
	n, files := 200, 30
	if *long {
		n, files = 5_000, 1000
	}
	if *pairs > 0 {
		n = *pairs
	}
	counts, weakened := map[verdict.Effect]int{}, 0
	for i := range n {
		d := drawer{rand.New(rand.NewPCG(*seed, uint64(i)))}
		before, after := d.pair()
		for before == nil || after == nil || before.SHA256 == after.SHA256 {
			before, after = d.pair()
		}
		own := func(b *rules.Bundle) door { return doorOf(b.Only(func(r *rules.Rule) bool { return r.ID == "R1" })) }
		effect := verdict.Same
		for _, c := range Rules([]*rules.Bundle{before}, []*rules.Bundle{after}) {
			confirm(t, c, before, after)
			if c.RuleID == "R1" {
				effect = c.Effect
			}
		}
		counts[effect]++
		contradicted := false
		old, now := own(before), own(after)
		random := files
		if effect != verdict.Same && effect != verdict.Stronger {
			random = 30
		}
		for range random {
			w := d.file()
			if d.IntN(10) == 0 {
				w = verdict.Witness{Tree: []string{d.file().File, d.file().File}[:d.IntN(3)]}
			}
			was, is := old.refuses(t, w), now.refuses(t, w)
			if was && !is && (effect == verdict.Same || effect == verdict.Stronger) || effect == verdict.Same && is && !was {
				t.Errorf("pair %d is called %s: %+v\n%+v\n%+v", i, effect, w, old.Rules[0], now.Rules[0])
				break
			}
			contradicted = contradicted || was && !is
		}
		if contradicted && effect == verdict.Unknown {
			weakened++
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d pairs: %v; %d unknown ones that a random file shows to be weaker", n, counts, weakened)
	if counts[verdict.Weaker] < n/10 || counts[verdict.Stronger] < n/10 || counts[verdict.Same] < n/100 {
		t.Errorf("the pairs are of too few kinds: %v", counts)
	}
}
