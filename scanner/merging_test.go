package scanner

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
)

// mergedEntries is the numbers that the entries of a side permit: at most one entry for each.
type mergedEntries map[string]mergedEntry

type mergedEntry struct {
	atMost int
	from   string // "" without one
}

func (m mergedEntries) bundle(t rapid.TB) *rules.Bundle {
	files := rules.Files{rules.BoundariesFile: []byte(`bundle: "0.2"
rules:
  - {id: NET, title: T, enforcement: {mode: fail}, match: {files: ["/*.tf"], forbidden_patterns: [key]}}
`)}
	text := "bundle: \"0.2\"\nallowances:\n"
	for _, f := range mergedFiles {
		if e, ok := m[f]; ok {
			from := ""
			if e.from != "" {
				from = "from: " + e.from + ", "
			}
			text += fmt.Sprintf("  - {rule: NET, file: %s, %sat_most: %d, owner: o, reason: r}\n", f, from, e.atMost)
		}
	}
	if len(m) > 0 {
		files[rules.AllowancesFile] = []byte(text)
	}
	b, err := rules.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var mergedFiles = []string{"a.tf", "b.tf", "c.tf"}

// naiveMerged reports whether a staged file may have its count, by the manual: counts are those of HEAD, the index and
// the merged commits, by file; contents are equal if their counts are.
func naiveMerged(file string, head, index map[string]int, merged []map[string]int, base, own mergedEntries) bool {
	joined := map[string]bool{file: true}
	for range mergedFiles {
		for f, e := range own {
			if e.from != "" && base[f] != e && (joined[f] || joined[e.from]) {
				joined[f], joined[e.from] = true, true
			}
		}
	}
	now, before, number := 0, 0, 0
	for f := range joined {
		had, least := head[f], base[f].atMost
		for _, m := range merged {
			n, there := m[f]
			if k, staged := index[f]; there && staged && n == k {
				had, least = k, max(base[f].atMost, own[f].atMost)
			}
		}
		now, before, number = now+index[f], before+had, number+least
	}
	most := 0
	for _, side := range append([]map[string]int{head}, merged...) {
		together := 0
		for f := range joined {
			together += side[f]
		}
		most = max(most, together)
	}
	if len(joined) > 1 && now > most {
		return false
	}
	return now <= before && now <= number && index[file] <= own[file].atMost
}

// TestMergedIsNaive: during a merge, a scan of the index allows exactly as in the manual, for any HEAD, index, merged
// commits and lists of both sides.
func TestMergedIsNaive(t *testing.T) {
	var all testHistory
	var counts []map[string]int
	var add func(files map[string]int)
	add = func(files map[string]int) {
		if k := len(files); k < len(mergedFiles) { // -1: no file
			for n := -1; n < 4; n++ {
				next := map[string]int{mergedFiles[k]: n}
				for f, m := range files {
					next[f] = m
				}
				add(next)
			}
			return
		}
		c := historyCommit{files: map[string]string{"x": "x"}}
		for f, n := range files {
			if n < 0 {
				delete(files, f)
				continue
			}
			c.files[f] = strings.Repeat("key\n", n)
		}
		all, counts = append(all, c), append(counts, files)
	}
	add(map[string]int{})
	r, commits := all.write(t)
	var indexes []*repo.Index
	for _, c := range commits {
		input, err := r.Tree(c)
		must(t, err)
		idx := &repo.Index{}
		must(t, r.Diff(repo.Hash{}, input, func(c repo.Change) error {
			idx.Files = append(idx.Files, repo.Staged{Path: c.Path, Leaf: c.New})
			return nil
		}))
		indexes = append(indexes, idx)
	}
	drawList := func(t *rapid.T, name string) mergedEntries {
		m := mergedEntries{}
		for i, f := range mergedFiles {
			if n := rapid.IntRange(0, 4).Draw(t, name); n > 0 {
				e := mergedEntry{atMost: n}
				if rapid.IntRange(0, 3).Draw(t, "from") == 0 {
					e.from = mergedFiles[(i+1)%len(mergedFiles)]
				}
				m[f] = e
			}
		}
		return m
	}
	tried := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		state := rapid.IntRange(0, len(commits)-1)
		head, index := state.Draw(t, "head"), state.Draw(t, "index")
		var merges []repo.Hash
		var merged []map[string]int
		for range rapid.IntRange(0, 2).Draw(t, "merges") {
			m := state.Draw(t, "merge")
			if rapid.Bool().Draw(t, "as it is") {
				m = index
			}
			merges, merged = append(merges, commits[m]), append(merged, counts[m])
		}
		base := drawList(t, "base")
		own := base
		if rapid.Bool().Draw(t, "other") {
			own = drawList(t, "own")
		}
		before, after := base.bundle(t), own.bundle(t)
		input := tree.Staged(r, indexes[index], commits[head], func() ([]repo.Hash, error) { return merges, nil })
		o := testOptions{Starts: [][]rules.Allowance{before.Allowances}, Workers: 1}
		sources := []run.RuleSource{{From: "base", Bundle: before}, {From: "index", Bundle: after}}
		v := Scan(context.Background(), o.run(sources, input), nil)
		if !v.Complete {
			t.Fatalf("%+v", v.Errors)
		}
		allowed := map[string]bool{}
		for i := range v.Violations {
			allowed[v.Violations[i].File] = false
		}
		for i := range v.AllowedViolations {
			allowed[v.AllowedViolations[i].File] = true
		}
		for _, f := range mergedFiles {
			got, judged := allowed[f]
			if was, there := counts[head][f]; !judged && counts[index][f] > 0 && (!there || was != counts[index][f]) {
				t.Fatalf("%s was not judged", f)
			}
			if want := naiveMerged(f, counts[head], counts[index], merged, base, own); judged && got != want {
				t.Fatalf("%s: allowed %v, want %v: HEAD %v, index %v, merged %v, base %v, own %v\n%+v", f, got, want,
					counts[head],
					counts[index], merged, base, own, v.Violations)
			}
			if judged && len(merges) > 0 {
				tried[got]++
			}
		}
	})
	if tried[true] == 0 || tried[false] == 0 {
		t.Errorf("%v: nothing was tried", tried)
	}
}
