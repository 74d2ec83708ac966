package scanner

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/baseline"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// statusRules are line patterns, and others.
var statusRules = []struct{ item, expression string }{
	{`"a b"`, `a b`},
	{`"ab"`, `ab`},
	{`{text: "ab", words: true}`, `\bab\b`},
	{`{text: "a = b", spaces: any}`, `a[ \t]*=[ \t]*b`},
	{`{regex: 'a+b'}`, `a+b`},
}

func statusBundle(t testing.TB) *rules.Bundle {
	t.Helper()
	var text strings.Builder
	text.WriteString("bundle: \"0.2\"\nrules:\n")
	for i, r := range statusRules {
		fmt.Fprintf(&text, "  - {id: R%d, title: T, enforcement: {mode: fail}, match: {files: [\"**\"], forbidden_patterns: [%s]}}\n", i, r.item)
	}
	b, err := rules.Load(rules.Files{rules.BoundariesFile: []byte(text.String())})
	must(t, err)
	return b
}

// A naiveLine is a line with matches of an expression.
type naiveLine struct {
	number int
	text   string // without spaces and tabs
	at     []int  // of each match in that
	column []int
}

func naiveLines(content, expression string) (lines []naiveLine) {
	x := regexp.MustCompile(expression)
	squeeze := strings.NewReplacer(" ", "", "\t", "").Replace
	for i, line := range strings.Split(content, "\n") {
		l := naiveLine{number: i + 1, text: squeeze(line)}
		for _, m := range x.FindAllStringIndex(line, -1) {
			l.at, l.column = append(l.at, len(squeeze(line[:m[0]]))), append(l.column, m[0]+1)
		}
		if len(l.at) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

// naiveHad returns which of the places a line had before, and their number: each earlier place is used once.
func naiveHad(now, there naiveLine) (n int, which []bool) {
	left := slices.Clone(there.at)
	for _, at := range now.at {
		i := slices.Index(left, at)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
			n++
		}
		which = append(which, i >= 0)
	}
	return n, which
}

// naiveStatus returns which matches of the lines were in a file before. Each earlier line of the same text is used
// once: first by a line with the same matches, then by the one that shares most, among these the one with the fewest
// others.
func naiveStatus(now, before []naiveLine) (was [][]bool) {
	was = make([][]bool, len(now))
	naiveTake(now, before, make([]bool, len(before)), was)
	return naiveRest(now, was)
}

// naiveRest marks the lines without an earlier line as new.
func naiveRest(now []naiveLine, was [][]bool) [][]bool {
	for i := range was {
		if was[i] == nil {
			was[i] = make([]bool, len(now[i].at))
		}
	}
	return was
}

// naiveTake pairs unpaired lines with unused earlier ones.
func naiveTake(now, before []naiveLine, used []bool, was [][]bool) {
	for _, same := range []bool{true, false} {
		for i, l := range now {
			best, most := -1, 0
			for k, there := range before {
				n, _ := naiveHad(l, there)
				if was[i] != nil || used[k] || there.text != l.text || n == 0 || same && !slices.Equal(l.at, there.at) {
					continue
				}
				if n > most || n == most && len(there.at) < len(before[best].at) {
					best, most = k, n
				}
			}
			if best >= 0 {
				used[best] = true
				_, was[i] = naiveHad(l, before[best])
			}
		}
	}
}

// naivePlaces formats the status of a file and of its places, at most 100 of them.
func naivePlaces(now string, expression string, before []string) string {
	lines := naiveLines(now, expression)
	type place struct {
		text string
		old  bool
	}
	var all []place
	var states [][][]bool
	for _, b := range before {
		states = append(states, naiveStatus(lines, naiveLines(b, expression)))
	}
	status, fresh := verdict.PreExisting, 0
	for i, l := range lines {
		for k := range l.at {
			old := true
			for _, was := range states {
				old = old && was[i][k]
			}
			if !old {
				status = verdict.Introduced
				fresh++
			}
			all = append(all, place{fmt.Sprintf("%d:%d", l.number, l.column[k]), old})
		}
	}
	out := status
	room := max(100-fresh, 0)
	shown := 0
	first := true
	for _, p := range all {
		if p.old {
			if room--; room < 0 {
				continue
			}
			out += " " + p.text
		} else if shown < 100 {
			shown++
			out += " " + p.text + "+"
			if first {
				number := strings.Split(p.text, ":")[0]
				out += number
			}
			first = false
		}
	}
	return out
}

// TestStatusAgainstNaive: new findings in files that change at random, with one or two merge bases.
func TestStatusAgainstNaive(t *testing.T) {
	rnd := rand.New(rand.NewPCG(32, 1))
	pieces := []string{"a b", "ab", "a = b", "a=b", "aab", "ab ab", "x", " ", "\t", "abab", "ab  a b", "y = "}
	drawLine := func() string {
		var b strings.Builder
		for range 1 + rnd.IntN(4) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		return b.String()
	}
	drawFile := func() []string { // its first line, after a BOM, is read in other byte orders, too
		lines := []string{"-"}
		for range rnd.IntN(7) {
			lines = append(lines, slices.Repeat([]string{drawLine()}, []int{1, 1, 2, 120}[rnd.IntN(40)/13])...)
		}
		return lines
	}
	change := func(lines []string) []string {
		lines = slices.Clone(lines)
		for range rnd.IntN(4) {
			at := 1 + rnd.IntN(len(lines))
			switch rnd.IntN(5) {
			case 0:
				lines = slices.Insert(lines, at, drawLine())
			case 1:
				lines = append(lines, lines[at:]...)
			case 2:
				for i, l := range lines[1:] {
					lines[1+i] = []string{"\t", "  ", ""}[rnd.IntN(3)] + strings.TrimSpace(l)
				}
			case 3:
				rnd.Shuffle(len(lines)-1, func(i, k int) { lines[1+i], lines[1+k] = lines[1+k], lines[1+i] })
			case 4:
				if at < len(lines) {
					lines[at] = strings.ReplaceAll(lines[at], []string{" ", "b", "="}[rnd.IntN(3)], []string{"", "\t ", "ab"}[rnd.IntN(3)])
				}
			}
		}
		return lines
	}
	encode := func(lines []string) string {
		text := strings.Join(lines, "\n")
		if rnd.IntN(8) == 0 {
			return string(oracleEncodeAll(1, "\ufeff"+text))
		}
		return text
	}
	b := statusBundle(t)
	rounds := 6
	if *long {
		rounds = 200
	}
	for range rounds {
		commits := history{{}, {parents: []int{1}}, {parents: []int{1}}, {parents: []int{2, 3}}, {parents: []int{3, 2}}}
		for i := range commits {
			commits[i].files = map[string]string{"z": fmt.Sprint(i)}
		}
		texts := map[string][3]string{} // now, and before
		for i := range 60 {
			name := fmt.Sprintf("f%02d", i)
			first := drawFile()
			second, now := first, change(first)
			if rnd.IntN(2) == 0 {
				second = change(first)
			}
			texts[name] = [3]string{strings.Join(now, "\n"), strings.Join(first, "\n"), strings.Join(second, "\n")}
			commits[1].files[name], commits[2].files[name], commits[4].files[name] = encode(first), encode(second), encode(now)
			if rnd.IntN(10) == 0 {
				delete(commits[2].files, name)
				texts[name] = [3]string{texts[name][0], texts[name][1], ""}
			}
		}
		r, hashes := commits.write(t)
		compared, err := r.Compare(hashes[3].String(), hashes[4].String())
		must(t, err)
		if len(compared.MergeBases) != 2 {
			t.Fatalf("%d merge bases", len(compared.MergeBases))
		}
		v := scanWith(t.Context(), b, tree.Changes(r, compared, "a", "x"), testOptions{})
		wantOutcome(t, v, "F")
		for i := range v.Violations {
			x := &v.Violations[i]
			got := x.Status
			first := true
			for _, p := range x.Evidence.Places {
				column := p.Column
				if x.Evidence.Encoding != "utf-8" {
					column = (column-1)/2 + 1
					if p.Line == 1 {
						column-- // the BOM
					}
				}
				got += fmt.Sprintf(" %d:%d", p.Line, column)
				if p.Status == verdict.Introduced {
					got += "+"
					if first {
						line := strings.Split(texts[x.File][0], "\n")[p.Line-1]
						if p.LineHash == "" || p.Excerpt != line {
							t.Errorf("%s: %q is shown for line %d, %q", x.File, p.Excerpt, p.Line, line)
						}
						got += fmt.Sprint(p.Line)
					}
					first = false
				} else if p.Excerpt+p.LineHash != "" {
					t.Errorf("%s: %+v", x.File, p)
				}
			}
			of := statusRules[x.RuleID[1]-'0']
			if want := naivePlaces(texts[x.File][0], of.expression, []string{texts[x.File][1], texts[x.File][2]}); got != want {
				t.Fatalf("%s in\n%q\nwas\n%q\nand\n%q\ngot  %s\nwant %s", of.item, texts[x.File][0], texts[x.File][1], texts[x.File][2], got, want)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// TestJoinedStatus: each line of a group of files is used once, by its own file first.
func TestJoinedStatus(t *testing.T) {
	rnd := rand.New(rand.NewPCG(32, 2))
	b := statusBundle(t)
	const expression = "ab"
	rounds := 8
	if *long {
		rounds = 200
	}
	for range rounds {
		// In each directory five files, some of which change, appear or vanish, and the first four are a group.
		commits := history{{files: map[string]string{}}, {parents: []int{1}, files: map[string]string{"z": ""}}}
		draw := func() (text string) {
			for range rnd.IntN(6) {
				text += []string{"ab", " ab", "xab", "ab ab", "a b ab", "y"}[rnd.IntN(6)] + "\n"
			}
			return text
		}
		for folder := range 20 {
			for i := range 5 {
				name := fmt.Sprintf("%02d/%d", folder, i)
				before, now := draw(), draw()
				if rnd.IntN(3) == 0 {
					now = before
				}
				if rnd.IntN(5) > 0 {
					commits[0].files[name] = before
				}
				if rnd.IntN(5) > 0 {
					commits[1].files[name] = now
				}
			}
		}
		r, hashes := commits.write(t)
		compared, err := r.Compare(hashes[0].String(), hashes[1].String())
		must(t, err)
		change := tree.Changes(r, compared, "a", "x")
		p := newScan(testOptions{}.run(one(b), change))
		joined := func(path string) (all []string) {
			for i := range 4 {
				all = append(all, fmt.Sprint(path[:3], i))
			}
			if !slices.Contains(all, path) {
				return nil
			}
			return all
		}
		var entries []rules.Allowance
		for folder := range 20 {
			for i := range statusRules {
				e := rules.Allowance{Rule: fmt.Sprint("R", i), File: fmt.Sprintf("%02d/0", folder), AtMost: 1000}
				e.From = joined(e.File)[1:]
				entries = append(entries, e)
			}
		}
		p.base = baseline.New(change, p.checker, allowance.Compare(allowance.Comparison{Head: entries}))
		p.checkFiles(t.Context())
		v := p.verdict()
		for i := range v.Violations {
			x := &v.Violations[i]
			if x.RuleID != "R1" {
				continue
			}
			files := joined(x.File)
			if files == nil {
				files = []string{x.File}
			}
			was := map[string][][]bool{}
			used := map[string][]bool{}
			before, now := map[string][]naiveLine{}, map[string][]naiveLine{}
			for _, f := range files {
				before[f], now[f] = naiveLines(commits[0].files[f], expression), naiveLines(commits[1].files[f], expression)
				was[f], used[f] = make([][]bool, len(now[f])), make([]bool, len(before[f]))
				naiveTake(now[f], before[f], used[f], was[f])
			}
			for _, f := range files {
				for _, other := range files {
					naiveTake(now[f], before[other], used[other], was[f])
				}
			}
			var want, got []bool
			for _, w := range naiveRest(now[x.File], was[x.File]) {
				want = append(want, w...)
			}
			for _, p := range x.Evidence.Places {
				got = append(got, p.Status == verdict.PreExisting)
			}
			if !slices.Equal(got, want) || (x.Status == verdict.PreExisting) == slices.Contains(want, false) {
				t.Fatalf("%s: %v %s, want %v\n%q\n%q", x.File, got, x.Status, want, commits[0].files, commits[1].files)
			}
		}
	}
}

// BenchmarkStatus is a change of 400 of 4,000 files, each of which breaks rules, with and without their baseline. The
// baseline takes 0.45 of this part's processor time, most of it to read the earlier blobs. A whole run of "policyscan
// --diff-base main" in such a repository, with its verdict, took 1.2 to 1.3 times the processor time of one without
// places and labels; it may not take more.
func BenchmarkStatus(b *testing.B) {
	rnd := rand.New(rand.NewPCG(32, 3))
	commits := history{{files: map[string]string{}}, {parents: []int{1}, files: map[string]string{}}}
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
