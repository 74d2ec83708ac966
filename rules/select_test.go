package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/glob"
	"pgregory.net/rapid"
)

// naive returns the rules that select a path, the globs that forbid or require it, and the files' excludes that remove
// it, one glob after another.
func naive(list []Rule, excludes []fileExclude, path string) (selected []int, forbidden, required []GlobOf, taken []int) {
	matches := func(g, path string) bool { return glob.Compile([]string{g}).Match(path) }
	lower := func(s string) string {
		return strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r + 32
			}
			return r
		}, s)
	}
	has := func(globs []string, fold bool) bool {
		return slices.ContainsFunc(globs, func(g string) bool {
			return fold && matches(lower(g), lower(path)) || !fold && matches(g, path)
		})
	}
	wouldBe := map[string]bool{}
	for i, r := range list {
		own := has(r.Exclude, false)
		if !own && (has(r.Files, r.PathCase) || has(r.ForbiddenFiles, r.PathCase)) {
			wouldBe[r.File] = true
		}
		if own || has(r.FileExclude, false) {
			continue
		}
		if has(r.Files, r.PathCase) {
			selected = append(selected, i)
		}
		for k, g := range r.ForbiddenFiles {
			if has([]string{g}, r.PathCase) {
				forbidden = append(forbidden, GlobOf{i, k})
			}
		}
		for k, g := range r.RequiredFiles {
			if has([]string{g}, false) {
				required = append(required, GlobOf{i, k})
			}
		}
	}
	for i, e := range excludes {
		if has(e.Globs, false) && wouldBe[e.File] {
			taken = append(taken, i)
		}
	}
	return selected, forbidden, required, taken
}

type fileExclude struct {
	File  string
	Globs []string
}

func TestSelectors(t *testing.T) {
	globs := []string{"**", "**/*.tf", "**/*.TF", "A/**", "a/*", "**/Id_rsa", "**/[A-C]*.pem", "LICENSE*", "{a,B}/**/x.pem", "a/b/c.tf", "É.tf", "**/*.tf.json"}
	names := []string{"a", "A", "b", "B", "c.tf", "C.TF", "id_rsa", "ID_RSA", "x.pem", "X.pem", "LICENSE", "license.md", "É.tf", "é.tf", "main.tf.json"}
	rapid.Check(t, func(t *rapid.T) {
		some := func(label string, most int) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(globs), 0, most, rapid.ID[string]).Draw(t, label)
		}
		excludes := []fileExclude{{"rules/a.yml", some("exclude of a", 2)}, {"rules/b.yml", some("exclude of b", 1)}}
		var list []Rule
		for i := range rapid.IntRange(1, 8).Draw(t, "rules") {
			of := rapid.SampledFrom(excludes).Draw(t, "file")
			list = append(list, Rule{
				ID: fmt.Sprint(i), File: of.File, FileExclude: of.Globs, PathCase: rapid.Bool().Draw(t, "path_case"),
				Files: some("files", 3), Exclude: some("exclude", 1), ForbiddenFiles: some("forbidden_files", 2), RequiredFiles: some("required_files", 2),
			})
		}
		b := New(slices.Clone(list), nil)
		b.FileExcludes = []string{excludes[0].File, excludes[1].File}
		for range 20 {
			path := strings.Join(rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "path"), "/")
			selected, forbidden, required, taken := naive(list, excludes, path)
			if got := b.Selecting(path, nil); !slices.Equal(got, selected) {
				t.Fatalf("%q is selected by %v, not %v", path, got, selected)
			}
			if got := b.Forbidding(path, nil); !slices.Equal(got, forbidden) {
				t.Fatalf("%q is forbidden by %v, not %v", path, got, forbidden)
			}
			if got := b.Requiring(path, nil); !slices.Equal(got, required) {
				t.Fatalf("%q answers %v, not %v", path, got, required)
			}
			if got := b.TakenByFile(path, nil); !slices.Equal(got, taken) {
				t.Fatalf("%q is taken by %v, not %v", path, got, taken)
			}
			below := b.SelectingBelow(strings.Split(path, "/")[0], nil)
			for i := range list {
				r := &b.Rules[i]
				c := r.Choose(path)
				if c.Selects() != r.Selects(path) || c.Forbids() != r.Forbids(path) ||
					c.Requires() != slices.ContainsFunc(required, func(g GlobOf) bool { return g.Rule == i }) ||
					len(c.Reasons(r)) == 0 && (c.Looks() || c.Selects() || c.Forbids()) {
					t.Fatalf("rule %d: %q: %+v", i, path, c)
				}
				if r.Selects(path) != slices.Contains(selected, i) || r.Forbids(path) != slices.ContainsFunc(forbidden, func(g GlobOf) bool { return g.Rule == i }) {
					t.Fatalf("rule %d: %q: %t, %t", i, path, r.Selects(path), r.Forbids(path))
				}
				if strings.Contains(path, "/") && (r.Selects(path) || r.Forbids(path)) && !slices.Contains(below, i) {
					t.Fatalf("rule %d asks for %q, which is below its directory: %v", i, path, below)
				}
			}
		}
	})
}

// TestTogether: an id is unique in all bundles that are enforced together.
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
