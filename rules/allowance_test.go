package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/verdict"
)

// FuzzAllowances: any file is read without a panic and twice with the same result. Valid entries are within the
// limits, survive writing and reading, and an edit without changes keeps the file.
func FuzzAllowances(f *testing.F) {
	for _, dir := range []string{"good", "bad"} {
		for _, g := range goldens(f, dir) {
			if text := g.files[AllowancesFile]; text != nil {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		loadTwice(t, Files{BoundariesFile: []byte("bundle: \"0.2\"\n" + goodBoundaries), AllowancesFile: text})
		file, err := readAllowances(text)
		if err != nil {
			return
		}
		list := file.loader.allowances
		for _, a := range list {
			paths := append([]string{a.File}, a.From...)
			for i, path := range paths {
				raw := verdict.RawPath(path)
				inTree := raw != "." && !strings.HasPrefix(raw, "/") && !slices.ContainsFunc(strings.Split(raw, "/"),
					func(part string) bool { return part == "" || part == ".." })
				if verdict.Path(raw) != path || !inTree || slices.Index(paths, path) != i {
					t.Fatalf("the paths %q", paths)
				}
			}
			day, err := time.Parse("2006-01-02", a.Until)
			if a.Until != "" && (err != nil || day.Format("2006-01-02") != a.Until) {
				t.Fatalf("the day %q", a.Until)
			}
			if a.Rule == "" || a.Owner == "" || a.Reason == "" || a.AtMost < 1 {
				t.Fatalf("%#v", a)
			}
		}
		if diff := cmp.Diff(sorted(list), entriesOf(t, FormatAllowances(list)), ignorePlace...); diff != "" {
			t.Fatalf("(-read +written)\n%s", diff)
		}
		same, err := EditAllowances(text, func(a Allowance) (Allowance, bool) { return a, true }, nil)
		if err != nil || !bytes.Equal(same, text) {
			t.Fatalf("nothing changes, and it is\n%q\nand not\n%q: %v", same, text, err)
		}
		i, one := 0, Allowance{Rule: "M", File: "m", AtMost: 1, Owner: "o", Reason: "r"}
		edited, err := EditAllowances(text, func(a Allowance) (Allowance, bool) {
			i++
			a.AtMost, a.Until, a.MayGrow, a.From = 7, "2030-01-01", !a.MayGrow, append(slices.Clone(a.From), "\n")
			return a, i%2 == 0
		}, []Allowance{one})
		if err == nil && !slices.ContainsFunc(entriesOf(t, edited), one.Same) {
			t.Fatalf("the new entry is not in\n%q", edited)
		}
	})
}

// TestCheckAllowances: an entry for an unknown or never allowed rule is a mistake in one bundle and a note in several,
// once per rule, at its first entry.
func TestCheckAllowances(t *testing.T) {
	load := func(list string, ids ...string) *Bundle {
		t.Helper()
		text := "bundle: \"0.2\"\nrules:\n"
		for _, id := range ids {
			text += "  - {id: " + id + ", title: t, enforcement: {mode: fail}, match: {files: [\"**/*.tf\"], forbidden_patterns: [a]}"
			if strings.HasPrefix(id, "NEVER") {
				text += ", allowances: never"
			}
			text += "}\n"
		}
		if len(ids) == 0 {
			text = "bundle: \"0.2\"\nrules: []\n"
		}
		files := Files{BoundariesFile: []byte(text), DeprecatedFile: []byte(
			"rules:\n  - {id: OLD" + strings.Join(ids, "") + ", title: t, enforcement: {mode: fail}, match: {files: [a/b], required_absent: [a]}}\n")}
		if list != "" {
			files[AllowancesFile] = []byte("bundle: \"0.2\"\nallowances:\n" + list)
		}
		b, err := Load(files)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	entry := func(rule string) string {
		return "  - {file: a.tf, rule: " + rule + ", at_most: 1, owner: o, reason: r}\n"
	}
	list := entry("NET-1") + entry("OLDNET-1NEVER-1") + entry("NET-2") + entry("NEVER-1") + entry("NET-2") + entry("SHOP-1")
	team := load(list, "NET-1", "NEVER-1")
	const other = "if another one has it, such as your organisation's, name that, too, with --policy or " +
		"POLICYSCAN_POLICY; else "
	const one = `rules/allowances.yml:5:24: rule "NET-2": the bundle has no rule with this id; ` + other + `write "NET-1", or remove the 2 entries for it
rules/allowances.yml:6:24: rule "NEVER-1": the rule says "allowances: never"; remove the entry, or that line of the rule
rules/allowances.yml:8:24: rule "SHOP-1": the bundle has no rule with this id; ` + other + `remove the entry`
	if err := Together([]*Bundle{team}); err == nil || err.Error() != one {
		t.Errorf("of one bundle:\n%v", err)
	}
	mistakes, notes := CheckAllowances([]*Bundle{load("", "SHOP-1"), team, nil})
	var got []string
	for i, list := range notes {
		for _, n := range list {
			got = append(got, fmt.Sprint(i, " ", n))
		}
	}
	want := []string{
		`1 rules/allowances.yml:5:24: rule "NET-2": no bundle of --policy has a rule with this id, so nothing is allowed; write "NET-1", or remove the 2 entries for it`,
		`1 rules/allowances.yml:6:24: rule "NEVER-1": the rule says "allowances: never", so nothing is allowed; remove the entry, or that line of the rule`,
	}
	if diff := cmp.Diff(want, got); diff != "" || mistakes != nil {
		t.Errorf("of several bundles: %v\n%s", mistakes, diff)
	}
	for _, joined := range []*Bundle{Join(team, load("", "SHOP-2")), New(team.Rules, nil)} {
		if mistakes, notes := CheckAllowances([]*Bundle{joined}); mistakes != nil || joined.joined && len(notes[0]) != 3 {
			t.Errorf("joined, or made: %v, %v", mistakes, notes)
		}
	}

	// A bundle with only allowances needs another one.
	legacy := load(entry("SHOP-1"))
	empty, err := Load(Files{BoundariesFile: []byte("bundle: \"0.2\"\nrules: []\n"), "rules/x.yml": []byte(
		"bundle: \"0.2\"\ntype: deprecated\nrules:\n  - {id: A, title: t, enforcement: {mode: fail}, " +
			"match: {files: [a/b], forbidden_patterns: [a]}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bundles []*Bundle
		want    string
	}{
		{[]*Bundle{legacy, load("", "SHOP-1")}, ""},
		{[]*Bundle{nil, nil}, ""},
		{[]*Bundle{legacy}, "rules: the bundle has allowances and no enforced rule; name the bundle that has the rules with " +
			"another --policy, or write a rule in rules/boundaries.yml or rules/invariants.yml"},
		{[]*Bundle{empty, load("", "SHOP-1")}, ""},
		{[]*Bundle{empty}, "rules: the bundle has no enforced rule; name the bundle that has the rules with another " +
			"--policy, or write a rule in rules/boundaries.yml or rules/invariants.yml"},
		{[]*Bundle{empty, legacy}, "no bundle of --policy has an enforced rule; write one in one of them"},
		{[]*Bundle{nil, legacy}, "no bundle of --policy has an enforced rule; write one in one of them"},
	} {
		if err := Together(c.bundles); fmt.Sprint(err) != c.want && (err != nil || c.want != "") {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
