package scanner

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/baseline"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

func statusBundle(t testing.TB) *rules.Bundle {
	t.Helper()
	text := "bundle: \"0.2\"\nrules:\n"
	for i, item := range []string{
		`"a b"`, `"ab"`, `{text: "ab", words: true}`, `{text: "a = b", spaces: any}`, `{regex: 'a+b'}`,
	} {
		text += fmt.Sprintf("  - {id: R%d, title: T, enforcement: {mode: fail}, ", i) +
			"match: {files: [\"**\"], forbidden_patterns: [" + item + "]}}\n"
	}
	b, err := rules.Load(rules.Files{rules.BoundariesFile: []byte(text)})
	must(t, err)
	return b
}

// TestStatus: which places of a file are new in a change with two merge bases. The files of a group are compared
// together. lab/naive compares random changes with a second program.
func TestStatus(t *testing.T) {
	const utf16 = "utf-16: "
	rows := []struct{ path, first, second, now, want string }{ // want: LINE:COLUMN of each "ab", + if new
		{"same", "x ab\n", "x ab\n", "x ab\n-\n", "pre_existing 1:3"},
		{"new file", "", "", "ab\n", "introduced 1:1+"},
		{"new in one", "ab\n", "-\n", "ab\n", "introduced 1:1+"},
		{"moved line", "ab 1\nab 2\n", "ab 1\nab 2\n", "ab 2\n-\nab 1\n", "pre_existing 1:1 3:1"},
		{"indented", "  ab\n", "ab\n", "\t\tab \n", "pre_existing 1:3"},
		{"other text", "ab x\n", "ab x\n", "ab y\n", "introduced 1:1+"},
		{"line twice", "ab\n", "ab\n", "ab\nab\n", "introduced 1:1 2:1+"},
		{"place twice", "ab\n", "ab\n", "abab\n", "introduced 1:1+ 1:3+"},
		{"split line", "ab ab\n", "ab ab\n", "ab\nab\n", "introduced 1:1+ 2:1+"},
		{"space in a pattern", "a b\n", "a b\n", "ab\n", "introduced 1:1+"},
		{"one of two", "ab a b\n", "ab a b\n", "ab ab\n", "introduced 1:1 1:4+"},
		{"the better line first", "abab\nab ab\n", "abab\nab ab\n", "ab ab\n", "pre_existing 1:1 1:4"},
		{"in another encoding", "ab\n", "ab\n", utf16 + "ab\nab\n", "introduced 1:3 2:1+"},
		{"many", strings.Repeat("ab\n", 101), strings.Repeat("ab\n", 101), strings.Repeat("ab\n", 101) + "ab !\n",
			"introduced 99 old 102:1+"},
		{"group/a", "ab 1\n", "ab 1\n", "-\n", ""},
		{"group/b", "-\n", "-\n", "ab 1\nab 2\n", "introduced 1:1 2:1+"},
		{"group/c", "ab 3\n", "ab 3\n", "ab 3\nab 1\n", "introduced 1:1 2:1+"},
		{"alone/a", "ab 1\n", "ab 1\n", "-\n", ""},
		{"alone/b", "-\n", "-\n", "ab 1\n", "introduced 1:1+"},
	}
	commits := testHistory{{}, {parents: []int{1}}, {parents: []int{1}}, {parents: []int{2, 3}}, {parents: []int{3, 2}}}
	for i := range commits {
		commits[i].files = map[string]string{"z": fmt.Sprint(i)}
	}
	for _, row := range rows {
		for i, text := range map[int]string{1: row.first, 2: row.second, 4: row.now} {
			if wide, ok := strings.CutPrefix(text, utf16); ok {
				text = utf16LE("\ufeff" + wide)
			}
			if text != "" {
				commits[i].files[strings.ReplaceAll(row.path, " ", "-")] = text
			}
		}
	}
	r, hashes := commits.write(t)
	compared, err := r.Compare(hashes[3].String(), hashes[4].String())
	must(t, err)
	change := tree.Changes(r, compared, "a", "x")
	s := newScan(testOptions{}.run(one(statusBundle(t)), change))
	group := rules.Allowance{Rule: "R1", File: "group/b", AtMost: 9, From: []string{"group/a", "group/c"}}
	s.base = baseline.New(change, s.checker, allowance.Compare(allowance.Comparison{Head: []rules.Allowance{group}}))
	s.checkFiles(t.Context())
	got := map[string]string{}
	for _, x := range s.verdict().Violations {
		if x.RuleID != "R1" {
			continue
		}
		text, old := x.Status, 0
		for _, p := range x.Evidence.Places {
			place := fmt.Sprintf(" %d:%d", p.Line, p.Column)
			switch {
			case p.Status == verdict.Introduced:
				text += place + "+"
			case len(x.Evidence.Places) == verdict.MaxPlaces:
				old++
			default:
				text += place
			}
		}
		if old > 0 {
			text = strings.Replace(text, " ", fmt.Sprintf(" %d old ", old), 1)
		}
		got[x.File] = text
	}
	for _, row := range rows {
		if got := got[strings.ReplaceAll(row.path, " ", "-")]; got != row.want {
			t.Errorf("%s: %s, want %s", row.path, got, row.want)
		}
	}
}

// BenchmarkStatus is a change of 400 of 4,000 files, each of which breaks rules, with and without their baseline. The
// baseline takes 0.45 of this part's processor time, most of it to read the earlier blobs. A whole run of "policyscan
// --diff-base main" in such a repository, with its verdict, took 1.2 to 1.3 times the processor time of one without
// places and labels; it may not take more.
func BenchmarkStatus(b *testing.B) {
	rnd := rand.New(rand.NewPCG(32, 3))
	commits := testHistory{{files: map[string]string{}}, {parents: []int{1}, files: map[string]string{}}}
	for i := range 4000 {
		var lines []string
		for range 150 {
			lines = append(lines, fmt.Sprintf("  n_%d = \"%d\"", rnd.IntN(100), rnd.Uint64()))
		}
		for range 5 {
			lines[rnd.IntN(len(lines))] = "a = b ab"
		}
		name := fmt.Sprintf("m%d/f%d.tf", i%200, i)
		commits[0].files[name] = strings.Join(lines, "\n")
		if i%10 == 0 {
			lines[7] = "  # a comment"
		}
		commits[1].files[name] = strings.Join(lines, "\n")
	}
	r, hashes := commits.write(b)
	dir := r.WorkTree
	if out, err := exec.CommandContext(b.Context(), "git", "-C", dir, "repack", "-adfq").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	bundle := statusBundle(b)
	for _, compares := range []bool{false, true} {
		b.Run(fmt.Sprintf("compares=%v", compares), func(b *testing.B) {
			for range b.N {
				r, err := repo.Find(dir)
				must(b, err)
				compared, err := r.Compare(hashes[0].String(), hashes[1].String())
				must(b, err)
				p := newScan(testOptions{}.run(one(bundle), tree.Changes(r, compared, "a", "x")))
				if !compares {
					p.base = nil
				}
				p.checkFiles(b.Context())
				if v := p.verdict(); len(v.Violations) < 400 {
					b.Fatalf("%d violations, %+v", len(v.Violations), v.Errors)
				}
			}
		})
	}
}
