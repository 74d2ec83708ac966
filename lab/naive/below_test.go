package naive

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

// TestBelow compares policyscan with this package over generated trees whose directories have bundles: there globs
// begin with the directory, here paths lose it.
func TestBelow(t *testing.T) {
	run := func(program string) int {
		counts, different := overPairs(t, 5, func(dir string) comparison {
			return func(n int) ([]string, []error) {
				had, err := comparer{program, dir}.below(tapeOf(n).generator())
				if err != nil {
					return had, []error{fmt.Errorf("pair %d (-seed %d): %w", n, *seed, err)}
				}
				return had, nil
			}
		})
		t.Logf("measured: %d trees, %d differ; %v", counts["trees"], different, counts)
		if counts["below"] < counts["trees"]/10 {
			t.Error("too few violations of bundles in directories")
		}
		return 0
	}
	if *binary != "" {
		run(*binary)
	} else if status := build.WithProgram(run); status != 0 {
		t.Fatal("policyscan cannot be built")
	}
}

// below judges a tree by both programs.
func (c comparer) below(g *generator) (had []string, err error) {
	g.newer, g.parsed = true, map[string]*Parsed{}
	root := g.bundle()
	root[0].version = "0.2"
	root[0].head = append(root[0].head, "bundles: ["+pick(g, `"**"`, `"*/**", "*/*"`, `"/a", "/b"`, `"a/**", "/a"`, `"/A"`)+"]")
	have := map[string]bool{}
	var tree []File
	for range 3 + g.IntN(6) {
		if f := g.file(); !have[f.Path] {
			have[f.Path], tree = true, append(tree, f)
		}
	}
	dirs := map[string]bool{}
	for _, f := range slices.Clone(tree) {
		dir := path.Dir(f.Path)
		if dir == "." || dirs[dir] || g.percent(30) {
			continue
		}
		dirs[dir] = true
		for name, content := range contents(g.bundle()) {
			tree = append(tree, File{dir + "/.policyscan/rules/" + name, content, Regular})
		}
	}
	at := filepath.Join(c.dir, "tree")
	if err := errors.Join(os.RemoveAll(at), WriteTree(at, append(inTreeOf(root), tree...))); err != nil {
		return nil, err
	}
	b, mistakes := Load(contents(root))
	all, wrong := b.WithBelow(tree)
	got, err := c.program(at, nil)
	if err != nil {
		return nil, err
	}
	if mistakes = append(mistakes, wrong...); len(mistakes) > 0 {
		if got.Verdict != "FAIL" || got.status != 2 {
			return nil, difference{"it is not refused", fmt.Sprint(mistakes)}
		}
		return []string{"trees", "refused"}, nil
	}
	if len(got.Errors) > 0 && got.Errors[0].ofBundle() {
		return nil, difference{"policyscan refuses a bundle", fmt.Sprint(got.Errors)}
	}
	want := Judge(all, Scan{Tree: tree, Parsed: g.parsed})
	if want.Unknown {
		return []string{"unknown"}, nil
	}
	// The root's bundle must cover a file by itself.
	if alone := Judge(b, Scan{Tree: tree, Found: true, Parsed: g.parsed}); slices.Contains(alone.Errors, Error{"E_EMPTY", ""}) {
		return []string{"empty"}, nil
	}
	had = []string{"trees"}
	for _, v := range want.Violations {
		if r := all.Enforced(); slices.ContainsFunc(r, func(r Rule) bool { return r.ID == v.RuleID && r.Below != "" }) {
			had = append(had, "below")
			break
		}
	}
	return had, got.differs(want, true)
}
