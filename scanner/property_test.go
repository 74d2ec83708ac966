package scanner

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
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
var words = []string{"a", "ab", "aba", "b\n", "\r\n", "\n", "key", "0.0.0.0/0", " ", "é", "\U0001f600", "\xff", "\x00", "a\x00b\x00", "\ufeff"}

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
		r.ForbiddenFiles, r.RequiredFiles, r.FileExclude = some("forbidden_files"), some("required_files"), some("exclude of the file")
		if rapid.Bool().Draw(t, "without files") {
			r.Files, r.Patterns, r.Required = nil, nil, nil
		}
	}
	return list
}

// A tree's violations are the oracle's, of every kind; missing files come first in their rule.
func TestOracle02(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := drawRules02(rt, "R", 6)
		b := rules.New(slices.Clone(list), nil)
		inTempDir(t, rt, func(dir string) {
			names := slices.Sorted(slices.Values(drawTree(rt, dir)))
			v := scanFolder(t, dir, b, testOptions{})
			var want, ofFiles []verdict.Violation
			governed := map[string]bool{}
			for i := range list {
				for _, g := range list[i].RequiredFiles {
					there := slices.ContainsFunc(names, func(name string) bool {
						st, err := os.Stat(filepath.Join(dir, name))
						exact := list[i]
						exact.PathCase = false
						return err == nil && st.Size() > 0 && oraclePath(&exact, []string{g}, name)
					})
					if !there {
						want = append(want, oracleAt(&list[i], "", "missing", g, "no file that is not empty matches "+strconv.Quote(g)+", and one is required"))
					}
				}
				for _, name := range names {
					data, err := os.ReadFile(filepath.Join(dir, name))
					if err != nil {
						rt.Fatal(err)
					}
					if oraclePath(&list[i], append(slices.Clone(list[i].Files), list[i].ForbiddenFiles...), name) {
						governed[name] = true
					}
					if len(data) < 10_000 {
						found := oracleFile(list[i:i+1], name, data)
						want, ofFiles = append(want, found...), append(ofFiles, found...)
					}
				}
			}
			small := func(all []verdict.Violation) []verdict.Violation {
				return slices.DeleteFunc(slices.Clone(all), func(v verdict.Violation) bool {
					st, err := os.Stat(filepath.Join(dir, v.File))
					return v.File != "" && (err != nil || st.Size() >= 10_000)
				})
			}
			if d := cmp.Diff(want, small(v.Violations), cmpopts.EquateEmpty()); d != "" {
				rt.Fatalf("-oracle +got: %s", d)
			}
			if v.Coverage.Governed != len(governed) || v.Coverage.Scanned != len(governed) || !v.Complete {
				rt.Fatalf("%+v, and %d files are covered", v.Coverage, len(governed))
			}
			some := scanTree(t, b, tree.List(openRoot(t, dir), names), testOptions{})
			if d := cmp.Diff(ofFiles, small(some.Violations), cmpopts.EquateEmpty()); d != "" {
				rt.Fatalf("listed: -oracle +got: %s", d)
			}
			for i := range list {
				for _, g := range list[i].RequiredFiles {
					if !slices.Contains(some.Coverage.LeftOut, verdict.Omission{File: g, Reason: "required-file"}) {
						rt.Fatalf("%s was not looked for, and the verdict does not say so: %+v", g, some.Coverage.LeftOut)
					}
				}
			}
			c := check.NewContentChecker(b)
			for _, name := range names {
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || len(data) >= 10_000 {
					continue
				}
				got, err := c.Check(t.Context(), name, data)
				if d := cmp.Diff(oracleFile(list, name, data), got); err != nil || d != "" && len(got) > 0 {
					rt.Fatalf("Check of %s: %v -oracle +got: %s", name, err, d)
				}
			}
		})
	})
}

// inOrder is the order of a bundle: boundaries, then invariants.
func inOrder(list []rules.Rule) []rules.Rule {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b rules.Rule) int { return strings.Compare(string(a.Type), string(b.Type)) })
	return list
}

// drawTree writes up to 80 files.
func drawTree(t *rapid.T, dir string) []string {
	var names []string
	for i := range rapid.IntRange(1, 80).Draw(t, "files") {
		name := fmt.Sprint(rapid.SampledFrom([]string{"", "a/", "a/b/", "b/", "b/c d/"}).Draw(t, "folder"), rapid.SampledFrom([]string{"", "x"}).Draw(t, "x"), i, rapid.SampledFrom([]string{".tf", ".yml", ""}).Draw(t, "ending"))
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

// A tree has one verdict, byte for byte, for any number of workers and any order of its files, and it is the oracle's.
func TestOneVerdict(t *testing.T) {
	old := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(old)
	rapid.Check(t, func(rt *rapid.T) {
		list := drawRules(rt, "R", 6)
		b := rules.New(list, nil)
		inTempDir(t, rt, func(dir string) {
			names := drawTree(rt, dir)
			v := scanFolder(t, dir, b, testOptions{Workers: 1})
			first := encoded(t, v)
			for _, workers := range []int{2, 3, 5, 8} {
				runtime.GOMAXPROCS(1 + workers%4)
				if again := encoded(t, scanFolder(t, dir, b, testOptions{Workers: workers})); !bytes.Equal(first, again) {
					rt.Fatalf("%d workers: %s", workers, cmp.Diff(string(first), string(again)))
				}
			}
			shuffled := rapid.Permutation(names).Draw(rt, "order")
			listed := scanTree(t, b, tree.List(openRoot(t, dir), append(shuffled, names[0], "./"+names[0])), testOptions{})
			listed.Scope = v.Scope
			if again := encoded(t, listed); !bytes.Equal(first, again) {
				rt.Fatalf("listed in another order: %s", cmp.Diff(string(first), string(again)))
			}

			var want []verdict.Violation
			for i := range list {
				for _, name := range slices.Sorted(slices.Values(names)) {
					data, err := os.ReadFile(filepath.Join(dir, name))
					if err != nil {
						rt.Fatal(err)
					}
					if list[i].Selects(name) && len(data) < 10_000 {
						want = append(want, oracle(list[i:i+1], name, data)...)
					}
				}
			}
			got := slices.DeleteFunc(v.Violations, func(v verdict.Violation) bool {
				st, err := os.Stat(filepath.Join(dir, v.File))
				return err != nil || st.Size() >= 10_000
			})
			if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
				rt.Fatalf("-oracle +got: %s", d)
			}
			if t.Failed() {
				rt.Fatal("see above")
			}
		})
	})
}

// Adding rules never removes a violation, and two bundles together find the sum of each alone.
func TestUnionOfBundles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		one, two := drawRules(rt, "ONE", 4), drawRules(rt, "TWO", 4)
		both := inOrder(append(slices.Clone(one), two...))
		inTempDir(t, rt, func(dir string) {
			drawTree(rt, dir)
			set := func(list []rules.Rule) map[string]verdict.Violation {
				found := map[string]verdict.Violation{}
				for _, v := range scanFolder(t, dir, rules.New(list, nil), testOptions{}).Violations {
					found[v.RuleID+"\x00"+v.File+"\x00"+v.Evidence.Pattern] = v
				}
				return found
			}
			want := set(one)
			for k, v := range set(two) {
				want[k] = v
			}
			if d := cmp.Diff(want, set(both)); d != "" {
				rt.Fatalf("-each alone +together: %s", d)
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

var lineEnds = regexp.MustCompile("\r\n|\r|\n")

// The evidence points at the pattern in the file.
func TestEvidencePoints(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := drawRules(rt, "R", 3)
		content := []byte(drawText(rt, "content", 60))
		path := "a/x.tf"
		got, err := check.File(t.Context(), rules.New(list, nil), path, content)
		if err != nil {
			rt.Fatal(err)
		}
		for _, v := range got {
			e := v.Evidence
			enc := slices.IndexFunc(oracleEncodings, func(o oracleEncoding) bool { return o.name == e.Encoding })
			lf := strings.ReplaceAll(e.Pattern, "\r\n", "\n")
			ok := strings.Count(lf, "\n") > 1 // whose line ends may differ
			for _, form := range []string{lf, strings.ReplaceAll(lf, "\n", "\r\n")} {
				ok = ok || bytes.HasPrefix(content[e.Offset:], oracleEncodeAll(enc, form))
			}
			if !ok {
				rt.Fatalf("%q is not at %d of %q", e.Pattern, e.Offset, content)
			}
			if e.Encoding == "utf-8" {
				starts := []int64{0}
				for _, end := range lineEnds.FindAllIndex(content, -1) {
					starts = append(starts, int64(end[1]))
				}
				if starts[e.Line-1]+e.Column-1 != e.Offset {
					rt.Fatalf("line %d, column %d of %q is not offset %d", e.Line, e.Column, content, e.Offset)
				}
			}
		}
	})
}
