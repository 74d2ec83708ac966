package scanner

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"pgregory.net/rapid"
)

// The words for random patterns and contents: they contain, begin and overlap one another.
var words = []string{
	"a", "ab", "aba", "b\n", "\r\n", "\n", "key", "0.0.0.0/0", " ", "é", "\U0001f600", "\xff", "\x00", "a\x00b\x00",
	"\ufeff",
}

func drawText(t *rapid.T, label string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, most).Draw(t, label), "")
}

// drawRules returns up to most rules, boundaries first, whose ids begin with prefix.
func drawRules(t *rapid.T, prefix string, most int) []rules.Rule {
	globs := []string{"**", "**/*.tf", "a/**", "*.yml", "b/*", "**/x*"}
	var list []rules.Rule
	for i := range rapid.IntRange(1, most).Draw(t, prefix+" rules") {
		r := testRule(fmt.Sprint(prefix, "-", i))
		if rapid.Bool().Draw(t, "invariant") {
			r.Type = rules.Invariant
		}
		r.Files = rapid.SliceOfNDistinct(rapid.SampledFrom(globs), 1, 3, rapid.ID[string]).Draw(t, "files")
		r.Exclude = rapid.SliceOfNDistinct(rapid.SampledFrom(globs[1:]), 0, 1, rapid.ID[string]).Draw(t, "exclude")
		r.Redact = rapid.Bool().Draw(t, "redact")
		for len(r.Patterns) == 0 {
			for range rapid.IntRange(1, 4).Draw(t, "patterns") {
				p := strings.ToValidUTF8(drawText(t, "pattern", 3), "?")
				if strings.TrimSpace(p) != "" && !slices.Contains(r.Patterns, rules.Plain(p)) {
					r.Patterns = append(r.Patterns, rules.Plain(p))
				}
			}
		}
		list = append(list, r)
	}
	return inOrder(list)
}

// drawRules02 returns rules that do more than forbid literals.
func drawRules02(t *rapid.T, prefix string, most int) []rules.Rule {
	list := drawRules(t, prefix, most)
	globs := []string{"**/*.TF", "a/**", "**/X*", "b/c d/*", "**/*[0-4].yml"}
	some := func(label string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(globs), 0, 2, rapid.ID[string]).Draw(t, label)
	}
	for i := range list {
		r := &list[i]
		for range rapid.IntRange(0, 2).Draw(t, "required") {
			p := strings.ToValidUTF8(drawText(t, "required", 2), "?")
			if strings.TrimSpace(p) != "" && !slices.Contains(r.Required, rules.Plain(p)) {
				r.Required = append(r.Required, rules.Plain(p))
			}
		}
		r.PathCase = rapid.Bool().Draw(t, "path_case")
		r.ForbiddenFiles, r.RequiredFiles, r.FileExclude = some("forbidden_files"), some("required_files"),
			some("exclude of the file")
		if rapid.Bool().Draw(t, "without files") {
			r.Files, r.Patterns, r.Required = nil, nil, nil
		}
	}
	return list
}

// inOrder is the order of a bundle: boundaries, then invariants.
func inOrder(list []rules.Rule) []rules.Rule {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b rules.Rule) int { return strings.Compare(string(a.Type), string(b.Type)) })
	return list
}

// drawTree writes up to most files.
func drawTree(t *rapid.T, dir string, most int) []string {
	var names []string
	for i := range rapid.IntRange(1, most).Draw(t, "files") {
		one := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "part") }
		name := fmt.Sprint(one("", "a/", "a/b/", "b/", "b/c d/"), one("", "x"), i, one(".tf", ".yml", ""))
		content := drawText(t, "content", 12)
		if rapid.IntRange(0, 40).Draw(t, "big") == 0 {
			content = strings.Repeat("line\n", 60_000) + content
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func inTempDir(t *testing.T, rt *rapid.T, do func(dir string)) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		rt.Fatal(err)
	}
	do(dir)
	if err := os.RemoveAll(dir); err != nil {
		rt.Fatal(err)
	}
}

// TestOneVerdict: a tree has one verdict, byte for byte, for any number of workers and any order of its files; it has
// what [check.File] finds in each file, and the rules of two bundles together find what each finds alone.
func TestOneVerdict(t *testing.T) {
	old := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(old)
	rapid.Check(t, func(rt *rapid.T) {
		list := inOrder(append(drawRules02(rt, "R", 4), drawRules02(rt, "S", 4)...))
		for i := range list {
			list[i].RequiredFiles = nil // only a whole tree can lack them
			if len(list[i].Files)+len(list[i].ForbiddenFiles) == 0 {
				list[i].ForbiddenFiles = []string{"**/X*"}
			}
		}
		b := rules.New(list, nil)
		inTempDir(t, rt, func(dir string) {
			names := drawTree(rt, dir, 60)
			v := scanDir(t, dir, b, testOptions{Workers: 1})
			first := encoded(t, v)
			for _, workers := range []int{2, 5} {
				runtime.GOMAXPROCS(1 + workers%4)
				if again := encoded(t, scanDir(t, dir, b, testOptions{Workers: workers})); !bytes.Equal(first, again) {
					rt.Fatalf("%d workers: %s", workers, cmp.Diff(string(first), string(again)))
				}
			}
			shuffled := rapid.Permutation(names).Draw(rt, "order")
			entries := append(shuffled, names[0], "./"+names[0])
			listed := scanTree(t, b, tree.List(openRoot(t, dir), entries), testOptions{})
			listed.Scope = v.Scope
			if again := encoded(t, listed); !bytes.Equal(first, again) {
				rt.Fatalf("listed in another order: %s", cmp.Diff(string(first), string(again)))
			}
			var want []verdict.Violation
			for i := range list {
				alone := rules.New(list[i:i+1], nil)
				for _, name := range slices.Sorted(slices.Values(names)) {
					data, err := os.ReadFile(filepath.Join(dir, name))
					if err != nil {
						rt.Fatal(err)
					}
					found, err := check.File(t.Context(), alone, name, data)
					if err != nil {
						rt.Fatal(err)
					}
					want = append(want, found...)
				}
			}
			if d := cmp.Diff(want, v.Violations, cmpopts.EquateEmpty()); d != "" || t.Failed() {
				rt.Fatalf("-each rule and file alone +scan: %s", d)
			}
		})
	})
}

// More different sets of rules than the plan cache holds.
func TestManySelections(t *testing.T) {
	const n = 10
	var list []rules.Rule
	for i := range n {
		r := testRule(fmt.Sprint("R-", i), fmt.Sprint("key", i), "common")
		r.Files = []string{fmt.Sprintf("**/*%d*", i)}
		list = append(list, r)
	}
	input := fakeFiles(func(path string) (tree.Content, error) {
		return tree.InMemory([]byte("key1 key3 key5 common " + path)), nil
	})
	want := 0
	for set := range 1 << n {
		name := "f"
		for i := range n {
			if set>>i&1 == 1 {
				name += fmt.Sprint(i)
				want++ // common
				if i == 1 || i == 3 || i == 5 {
					want++
				}
			}
		}
		input.files = append(input.files, tree.File{Path: name})
	}
	v := scanTree(t, rules.New(list, nil), input, testOptions{})
	if len(v.Violations) != want || v.Coverage.Governed != 1<<n-1 {
		t.Errorf("%d violations, want %d; %+v", len(v.Violations), want, v.Coverage)
	}
	for _, r := range v.Rules {
		if r.Files != 1<<(n-1) {
			t.Errorf("%s selects %d files, want %d", r.ID, r.Files, 1<<(n-1))
		}
	}
}
