package scanner

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
)

var long = flag.Bool("long", false, "do all of the tests that otherwise do a part")

// belowNames are names of directories and files that globs could mistake for others.
var belowNames = []string{"a", "b", "A", "[a]", "a*", "{a,b}", "x.tf", "y.yml", ".policyscan", "rules", "a b", "-"}

func belowRules(r *rand.Rand, root bool) map[string]string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	globs := func() string {
		return pick(`"**"`, `"**/*.tf"`, `"/x.tf"`, `"a/**"`, `"**/.policyscan/**"`, `"{a,b}/**/*.tf"`, `"**/[a-b]/*"`)
	}
	text := "bundle: \"0.2\"\n"
	if root {
		text += "bundles: [" + pick(`"**"`, `"*/**"`, `"a/*", "b/**"`, `"**/a"`, `"/a"`) + "]\n"
	}
	if r.IntN(2) == 0 {
		text += "exclude: [" + globs() + "]\n"
	}
	text += "rules:\n"
	n := 1 + r.IntN(2)
	for i := range n {
		text += fmt.Sprintf("  - id: R%d\n    title: t\n    match:\n", i)
		if r.IntN(3) == 0 {
			text += "      path_case: ignore\n"
		}
		if r.IntN(3) == 0 {
			text += "      exclude: [" + globs() + "]\n"
		}
		if r.IntN(3) == 0 {
			text += "      forbidden_files: [" + globs() + "]\n"
		} else {
			text += "      files: [" + globs() + "]\n      forbidden_patterns: [" + pick("bad", "worse", "R0") + "]\n"
		}
	}
	files := map[string]string{"boundaries.yml": text}
	if r.IntN(2) == 0 && (!root || r.IntN(2) == 0) {
		all := "bundle: \"0.2\"\nallowances:\n"
		for _, file := range []string{"x.tf", "y.yml", "a", "b", "A", `"[a]"`, `"-"`, "a/x.tf", "rules", "b/x.tf", "a/y.yml"} {
			all += fmt.Sprintf("  - {rule: R0, file: %s, at_most: 2, owner: o, reason: r}\n", file)
		}
		files["allowances.yml"] = all
	}
	return files
}

// TestAddingBundlesBelow: bundles in directories never remove a violation of the root's rules, nor an error, whatever
// they contain, and never make a PASS.
func TestAddingBundlesBelow(t *testing.T) {
	trees, added := 400, 0
	if *long {
		trees = 10_000
	}
	dir := t.TempDir()
	for seed := range trees {
		r := rand.New(rand.NewPCG(63, uint64(seed)))
		root := filepath.Join(dir, fmt.Sprint(seed%8))
		if err := os.RemoveAll(root); err != nil {
			t.Fatal(err)
		}
		write := func(name, content string) {
			name = filepath.Join(root, filepath.FromSlash(name))
			if os.MkdirAll(filepath.Dir(name), 0o777) == nil {
				_ = os.WriteFile(name, []byte(content), 0o666) // not where the name is a directory
			}
		}
		name := func() string {
			parts := make([]string, 1+r.IntN(3))
			for i := range parts {
				parts[i] = belowNames[r.IntN(len(belowNames))]
			}
			return path.Join(parts...)
		}
		rules := belowRules(r, true)
		for file, text := range rules {
			write(".policyscan/rules/"+file, text)
		}
		content := func() string { return []string{"bad\n", "worse\n", "bad\nbad\n", "fine\n"}[r.IntN(4)] }
		for range 3 {
			if n := name(); !strings.HasPrefix(n, ".policyscan") {
				write(n, content())
			}
		}
		// The tree before: the same files, and a bundle that names none of the others.
		var below []string
		for range 1 + r.IntN(3) {
			d := name()
			if strings.Contains(d, ".policyscan") {
				continue
			}
			for file, text := range belowRules(r, false) {
				write(d+"/.policyscan/rules/"+file, text)
			}
			below = append(below, d)
			for range 3 {
				write(d+"/"+belowNames[r.IntN(len(belowNames))], content())
			}
		}
		with := scanBelow(t, root)
		lines := strings.Split(rules["boundaries.yml"], "\n")
		write(".policyscan/rules/boundaries.yml", strings.Join(slices.Delete(lines, 1, 2), "\n"))
		before := scanBelow(t, root)
		if len(with.Policy) == 0 { // a mistake in a bundle of a directory
			if with.Complete {
				t.Fatalf("seed %d: no bundle, and %+v", seed, with.Errors)
			}
			continue
		}
		if len(with.Policy) > 1 {
			added++
		}
		key := func(v verdict.Violation) string {
			return fmt.Sprint(v.RuleID, v.File, v.Evidence.Pattern, v.Evidence.Occurrences, v.Evidence.Offset)
		}
		var has []string
		for _, v := range with.Violations {
			has = append(has, key(v))
		}
		for _, v := range before.Violations {
			if !slices.Contains(has, key(v)) {
				t.Fatalf("seed %d: with bundles in %q, %s passes %s:\n%s", seed, below, v.RuleID, v.File, rules["boundaries.yml"])
			}
		}
		for _, e := range before.Errors {
			if !slices.Contains(with.Errors, e) {
				t.Fatalf("seed %d: with bundles in %q there is no error %v", seed, below, e)
			}
		}
		if before.Verdict == "FAIL" && with.Verdict != "FAIL" {
			t.Fatalf("seed %d: a PASS with bundles in %q", seed, below)
		}
	}
	if added < trees/10 {
		t.Errorf("only %d of %d trees had a bundle in a directory", added, trees)
	}
}

func scanBelow(t *testing.T, root string) *verdict.Verdict {
	t.Helper()
	r, err := run.Open(context.Background(), run.Options{Path: root, Policies: []string{""}, Workers: 1, AsOf: "2026-01-01"})
	if err != nil {
		if run.Mistakes(err) == nil {
			t.Fatal(err)
		}
		return r.Undecided(err)
	}
	defer r.Close()
	return Scan(context.Background(), r, nil)
}

// TestMovingBundlesBelow: directories with bundles, whose ids and files can be equal, pass when each is renamed, and fail
// when one with an allowed place becomes several.
func TestMovingBundlesBelow(t *testing.T) {
	trees, copied := 40, 0
	if *long {
		trees = 1000
	}
	var commits testHistory
	var fans []bool
	for seed := range trees {
		r := rand.New(rand.NewPCG(64, uint64(seed)))
		pick := func(list ...string) string { return list[r.IntN(len(list))] }
		base := map[string]string{".policyscan/rules/boundaries.yml": "bundle: \"0.2\"\nbundles: [\"**\"]\nrules:\n" +
			"  - {id: ROOT, title: t, match: {files: [\"**\"], forbidden_patterns: [rootbad]}}\n"}
		dirs := []string{"s/a", "s/b", "s/a/x", "t/a"}[r.IntN(2):]
		for _, dir := range dirs {
			base[dir+"/own"] = dir
			for _, name := range []string{"x.tf", "y.tf"} {
				base[dir+"/"+name] = pick("", "bad\n", "worse\n", "bad\nworse\nbad\n")
			}
		}
		has := map[string]bool{} // an allowed place, by the first two names of the directory
		for _, dir := range dirs {
			id, bad, list := pick("R-1", "R-2"), pick("bad", "worse"), "bundle: \"0.2\"\nallowances:\n"
			all := list
			for name, content := range base {
				n := strings.Count(content, bad)
				if file, in := strings.CutPrefix(name, dir+"/"); in && n > 0 && path.Ext(name) == ".tf" {
					list += fmt.Sprintf("  - {rule: %s, file: %s, at_most: %d, owner: o, reason: r}\n", id, file, n)
					has[dir[:3]] = true
				}
			}
			base[dir+"/.policyscan/rules/boundaries.yml"] = fmt.Sprintf("bundle: \"0.2\"\nrules:\n"+
				"  - {id: %s, title: t, match: {files: [\"**/*.tf\"], forbidden_patterns: [%s]}}\n", id, bad)
			if list != all {
				base[dir+"/.policyscan/rules/allowances.yml"] = list
			}
		}
		head, fan := map[string]string{}, false
		to := map[string][]string{"s/a": {"s/c"}, "s/b": {"t/s/b"}, "t/a": {pick("t/a", "new")}, ".po": {".po"}}
		if seed%2 == 0 {
			old := pick("s/a", "s/b", "t/a")
			to[old], fan = []string{"u/1", "u/2", "v"}[r.IntN(2):], has[old]
		}
		for name, content := range base {
			for _, dir := range to[name[:3]] {
				head[dir+name[3:]] = content
			}
		}
		commits = append(commits, historyCommit{files: base}, historyCommit{[]int{len(commits) + 1}, head})
		fans = append(fans, fan)
	}
	repository, hashes := commits.write(t)
	for i, fan := range fans {
		about, err := run.Open(t.Context(), run.Options{
			Path: repository.WorkTree, Base: hashes[2*i].String(), Head: hashes[2*i+1].String(), Policies: []string{""},
			Workers: 1, Getenv: os.Getenv,
		})
		must(t, err)
		v := Scan(t.Context(), about, nil)
		about.Close()
		if v.Verdict == "PASS" == fan || !v.Complete {
			t.Fatalf("seed %d: %s, and a directory with allowances becomes several: %v\n%v\n%v\n%v",
				i, v.Verdict, fan, v.Errors, v.Violations, about.Notes)
		}
		if fan {
			copied++
		}
	}
	if copied < trees/10 {
		t.Errorf("only %d of %d changes copy allowances", copied, trees)
	}
}
