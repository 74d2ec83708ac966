// Package policies measures what the rules of a bundle can say: make policies runs the rules for policies that were
// drawn from public tools (drawn.txt), and writes lab/results/policies.md. There is no code in it.
//
// The directory is a bundle. A rule has the policy's id, and what the policy asks as its title; x-says is nearly if an
// example, x-policy, is judged otherwise by the policy, and x-why says by what. x-aside is an accident of the policy's
// code that its documentation does not mean. x-trees are examples of several files, and x-not has the policies without
// a rule.
package policies

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/measured"
)

var measure = flag.Bool("measure", false, "write lab/results/policies.md")

const page = "../results/policies.md"

// A source is a repository with policies.
type source struct {
	name, repository, commit string
	expr                     map[string]string // path, not, names: see drawn.txt
	policies                 []policy
}

// A policy is what is drawn, and what it asks, or why it is outside: not one about files.
type policy struct {
	id, about string
	outside   bool
}

// A said is a rule, or a policy without one.
type said struct {
	ID, Title string
	Says      string `yaml:"x-says"` // nearly, or "" for exactly
	Why       string `yaml:"x-why"`
	Aside     string `yaml:"x-aside"`
	Examples  []example
	Trees     []example `yaml:"x-trees"`
}

type example struct {
	Content  string
	Files    map[string]string
	Violates bool
	Policy   *bool `yaml:"x-policy"` // what the policy says, if it is not what the rule says
}

// sources reads drawn.txt.
func sources(t *testing.T) []source {
	t.Helper()
	text, err := os.ReadFile("drawn.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []source
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		id, about, drawn := strings.Cut(line, "\t")
		key, value, _ := strings.Cut(line, " ")
		switch {
		case key == "#" || key == "":
		case key == "=":
			words := strings.Fields(value)
			list = append(list, source{name: words[0], repository: words[1], commit: words[2], expr: map[string]string{}})
		case drawn:
			last := &list[len(list)-1]
			last.policies = append(last.policies, policy{id, about, strings.HasPrefix(about, "outside: ")})
		default:
			list[len(list)-1].expr[key] = value
		}
	}
	return list
}

// bundle returns what the files of rules/ say of each policy.
func bundle(t *testing.T) map[string]said {
	t.Helper()
	files, err := filepath.Glob("rules/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]said{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			Rules []said
			Not   []said `yaml:"x-not"`
		}
		if err := yaml.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for i := range f.Not {
			f.Not[i].Says = "not"
		}
		for _, s := range slices.Concat(f.Rules, f.Not) {
			if _, twice := all[s.ID]; twice {
				t.Errorf("%s: %s is there twice", file, s.ID)
			}
			if s.Says == "" {
				s.Says = "exactly"
			}
			all[s.ID] = s
		}
	}
	return all
}

// checkSaid checks that a policy's examples show what is said of it.
func checkSaid(t *testing.T, s said) {
	t.Helper()
	seen, differs := map[bool]bool{}, false
	for _, e := range slices.Concat(s.Examples, s.Trees) {
		verdict := e.Violates
		if e.Policy != nil {
			verdict, differs = *e.Policy, differs || s.Says == "not" || *e.Policy != e.Violates
		}
		seen[verdict] = true
	}
	if !seen[true] || !seen[false] {
		t.Errorf("%s: it needs an example that violates the policy, and one that does not", s.ID)
	}
	if differs != (s.Says != "exactly") || (s.Why != "") != differs {
		t.Errorf("%s: it is said %s, and that is not what its examples or x-why show", s.ID, s.Says)
	}
}

// TestPolicies: each drawn policy is there with its verdict, the program judges all examples so, and the page says it.
func TestPolicies(t *testing.T) {
	program := filepath.Join(t.TempDir(), "policyscan")
	if err := build.Program(program); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"test", "."}, {"validate", "--alive", "--examples-only", "."}} {
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			t.Errorf("policyscan %s: %v\n%s", args[0], err, out)
		}
	}
	all, list, drawn := bundle(t), sources(t), 0
	for _, s := range list {
		for _, p := range s.policies {
			got, there := all[s.name+"/"+p.id]
			if there == p.outside || there && got.Says != "not" && got.Title != p.about {
				t.Errorf("%s/%s: drawn.txt and the bundle do not agree", s.name, p.id)
			}
			if there {
				drawn++
				checkSaid(t, got)
			}
			for i, tree := range got.Trees {
				checkTree(t, program, got.ID, i, tree)
			}
		}
	}
	if drawn != len(all) {
		t.Errorf("%d of %d in the bundle are drawn", drawn, len(all))
	}
	parts := map[string]string{"totals": totals(list, all), "why": reasons(all), "policies": table(list, all)}
	for name, text := range parts {
		old, err := measured.Part(page, name)
		if *measure {
			err = measured.Write(page, name, text)
		} else if old != text {
			err = errors.Join(err, fmt.Errorf("part %q of %s is out of date; run make policies", name, page))
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// checkTree checks a rule in a tree of several files.
func checkTree(t *testing.T, program, id string, number int, e example) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range e.Files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(content), 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "scan", "--policy", ".", "--rule", id, "--allow", "partial", "--output", "none", dir)
	out, err := cmd.CombinedOutput()
	if status := cmd.ProcessState.ExitCode(); status > 1 || status == 1 != e.Violates {
		t.Errorf("%s: tree %d: exit status %d, %v\n%s", id, number+1, status, err, out)
	}
}

// totals counts the verdicts of each source, and of all.
func totals(list []source, all map[string]said) string {
	text := "| source | commit | drawn | outside | exactly | nearly | not |\n|---|---|---|---|---|---|---|\n"
	sum := map[string]int{}
	for _, s := range list {
		count := map[string]int{}
		for _, p := range s.policies {
			says := cmp.Or(all[s.name+"/"+p.id].Says, "outside")
			count[says]++
			sum[says]++
		}
		text += fmt.Sprintf("| %s | `%.7s` of %s | %d | %d | %d | %d | %d |\n", s.name, s.commit, s.repository,
			each, count["outside"], count["exactly"], count["nearly"], count["not"])
	}
	n := each * len(list)
	text += fmt.Sprintf("| all | | %d | %d |", n, sum["outside"])
	for _, says := range []string{"exactly", "nearly", "not"} {
		text += fmt.Sprintf(" %d, %.0f %% |", sum[says], 100*float64(sum[says])/float64(n))
	}
	return text + "\n"
}

// reasons counts what comes before the colon of each x-why.
func reasons(all map[string]said) string {
	count := map[string]map[string]int{}
	for _, s := range all {
		if name, _, ok := strings.Cut(s.Why, ":"); ok {
			if count[name] == nil {
				count[name] = map[string]int{}
			}
			count[name][s.Says]++
		}
	}
	text := "| what cannot be said | nearly | not |\n|---|---|---|\n"
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]["nearly"]+count[b]["not"]-count[a]["nearly"]-count[a]["not"], strings.Compare(a, b))
	})
	for _, name := range names {
		text += fmt.Sprintf("| %s | %d | %d |\n", name, count[name]["nearly"], count[name]["not"])
	}
	return text
}

// table has a line for each policy.
func table(list []source, all map[string]said) string {
	text := "| policy | what it asks | said | why |\n|---|---|---|---|\n"
	for _, s := range list {
		for _, p := range s.policies {
			if got := all[s.name+"/"+p.id]; !p.outside {
				why := got.Why
				if got.Aside != "" {
					why = "aside: " + got.Aside
				}
				text += fmt.Sprintf("| %s | %s | %s | %s |\n", got.ID, p.about, got.Says, why)
			}
		}
	}
	return text
}
