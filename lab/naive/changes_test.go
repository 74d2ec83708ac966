package naive

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

// TestChanges compares policyscan with this package over generated changes to repositories with allowances: what is a
// violation, what is allowed, the places and their labels, and the exit status.
func TestChanges(t *testing.T) {
	program := *binary
	if program == "" {
		program = filepath.Join(t.TempDir(), "policyscan")
		if err := build.Program(program); err != nil {
			t.Fatal(err)
		}
	}
	counts, different := overPairs(t, 8, func(dir string) comparison {
		c := &changeComparer{comparer: comparer{program, dir}, first: -1}
		return func(n int) (had []string, differs []error) {
			if err := c.have(n); err != nil {
				return nil, []error{err}
			}
			had, err := c.compare(n, newStory(n), c.commits[n])
			if err != nil {
				s := c.shrink(n, newStory(n), err)
				err = errors.Join(c.compareSmaller(n, s), err)
				differs = append(differs, fmt.Errorf("change %d (-seed %d -pairs %d -only %d), small:\n%v\n%w",
					n, *seed, n+1, n, s, err))
			}
			return append(had, "changes"), differs
		}
	})
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%6d %s", counts[what], what)
	}
	t.Logf("measured: %d changes, %d differ", counts["changes"], different)
}

// A changeComparer runs the program on stories. So many of them, by their numbers, are in a repository at a time, which
// takes git one process.
type changeComparer struct {
	comparer
	first   int // the number of the first story in the repository, or -1
	commits map[int]commits
}

const inRepository = 200

// commits are the compared hashes.
type commits struct{ base, head string }

// have makes a repository with the story of a number, and with those after and before it.
func (c *changeComparer) have(n int) error {
	first := n / inRepository * inRepository
	if c.first == first {
		return nil
	}
	repository := filepath.Join(c.dir, "tree")
	err := errors.Join(os.RemoveAll(repository), os.MkdirAll(repository, 0o777),
		git(repository, nil, "init", "--quiet", "--initial-branch=main"))
	if err != nil {
		return err
	}
	var stories []story
	for i := range inRepository {
		stories = append(stories, newStory(first+i))
	}
	made, err := c.bring(stories)
	if err != nil {
		return err
	}
	c.first, c.commits = first, map[int]commits{}
	for i := range made {
		c.commits[first+i] = made[i]
	}
	return nil
}

// bring adds stories to the repository.
func (c *changeComparer) bring(stories []story) ([]commits, error) {
	var stream bytes.Buffer
	for i, s := range stories {
		s.stream(&stream, 10*(i+1))
	}
	repository, marks := filepath.Join(c.dir, "tree"), filepath.Join(c.dir, "marks")
	if err := git(repository, stream.Bytes(), "fast-import", "--quiet", "--force", "--export-marks="+marks); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(marks)
	hashes := map[string]string{}
	for line := range strings.Lines(string(content)) {
		mark, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		hashes[mark] = hash
	}
	var made []commits
	for i := range stories {
		made = append(made, commits{hashes[fmt.Sprintf(":%d", 10*(i+1))], hashes[fmt.Sprintf(":%d", 10*(i+1)+1)]})
	}
	return made, err
}

// compareSmaller judges a story that is not that of its number by both programs.
func (c *changeComparer) compareSmaller(n int, s story) error {
	made, err := c.bring([]story{s})
	if err != nil {
		return err
	}
	_, err = c.compare(n, s, made[0])
	return err
}

// compare judges a story by both programs.
func (c *changeComparer) compare(n int, s story, hashes commits) (had []string, err error) {
	repository, outside := filepath.Join(c.dir, "tree"), filepath.Join(c.dir, "outside")
	args := []string{"--as-of", "2099-06-15"}
	if len(s.outside) > 0 {
		var files []File
		for name, content := range bundleFiles(s.outside, s.list) {
			files = append(files, File{"rules/" + name, content, Regular})
		}
		if err := errors.Join(os.RemoveAll(outside), WriteTree(outside, files)); err != nil {
			return nil, err
		}
		args = append(args, "--policy", outside, "--policy", ".policyscan")
	}
	change := s.change()
	had, err = c.agree(repository, change.Judge(), append(args, "--diff-base", hashes.base, "--head", hashes.head)...)
	if err != nil || n%10 > 1 || len(s.outside) > 0 {
		return had, err
	}
	if n%10 == 1 && s.upToDate {
		err := errors.Join(git(repository, nil, "update-ref", "--no-deref", "HEAD", hashes.base),
			git(repository, nil, "read-tree", hashes.head))
		if err != nil {
			return nil, err
		}
		if _, err := c.agree(repository, change.Judge(), append(args, "--staged")...); err != nil {
			return nil, fmt.Errorf("staged: %w", err)
		}
		had = append(had, "staged")
	}
	if n%10 == 0 {
		whole := filepath.Join(c.dir, "whole")
		if err := errors.Join(os.RemoveAll(whole), WriteTree(whole, change.Head.Tree)); err != nil {
			return nil, err
		}
		if _, err := c.agree(whole, change.JudgeTree(), append(args, ".")...); err != nil {
			return nil, fmt.Errorf("the head by itself: %w", err)
		}
		had = append(had, "trees")
	}
	return had, nil
}

// A found is the compared part of a violation.
type found struct {
	Rule, File, Kind, Pattern string
	Occurrences               int
	Labels                    string
}

// A changeDocument is what is compared of the verdict of a change.
type changeDocument struct {
	document
	Allowed []documentViolation `json:"allowed_violations"`
}

// agree runs the program, and says how its verdict differs from the ruling.
func (c *changeComparer) agree(repository string, want Ruling, args ...string) (had []string, err error) {
	cmd := exec.Command(c.program, append([]string{"scan", "--quiet", "--output", "-"}, args...)...)
	cmd.Dir = repository
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return nil, err
	}
	var d changeDocument
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		return nil, fmt.Errorf("no verdict: %w\n%s%s", err, &out, &said)
	}
	violations, allowed := read(d.Violations), read(d.Allowed)
	var problems []Error
	for _, e := range d.Errors {
		problems = append(problems, Error{e.Code, e.File})
	}
	got := summary(d.Verdict, cmd.ProcessState.ExitCode(), violations, allowed, problems)
	naively := summary(want.Verdict, want.Status, foundOf(want.Violations), foundOf(want.Allowed), want.Errors)
	if got != naively {
		return nil, difference{"the ruling", fmt.Sprintf("policyscan %snaively    %s%s%v", got, naively, &said, d.Errors)}
	}
	had = append(had, d.Verdict)
	if len(allowed) > 0 {
		had = append(had, d.Verdict+" with some allowed")
	}
	if len(problems) > 0 {
		had = append(had, "incomplete")
	}
	for _, v := range append(violations, allowed...) {
		status, places, _ := strings.Cut(v.Labels, " ")
		if strings.Contains(places, ":introduced") && strings.Contains(places, ":pre_existing") {
			status = "partly introduced"
		}
		had = append(had, "violation "+status)
	}
	return had, nil
}

// read is what the verdict says of violations.
func read(violations []documentViolation) []found {
	var all []found
	for _, v := range violations {
		e := v.Evidence
		labels := v.Status
		for _, p := range e.Places {
			if v.Status != "" {
				labels += fmt.Sprintf(" %d:%s", p.Offset, p.Status)
			}
		}
		all = append(all, found{v.RuleID, v.File, e.Kind, e.Pattern, e.Occurrences, labels})
	}
	return all
}

func foundOf(violations []Violation) []found {
	var all []found
	for _, v := range violations {
		all = append(all, found{v.RuleID, v.File, v.Kind, v.Pattern, v.Occurrences, v.Labels})
	}
	return all
}

// summary writes a ruling for comparison and for readers.
func summary(verdict string, status int, violations, allowed []found, problems []Error) string {
	var lines []string
	for _, v := range violations {
		lines = append(lines, fmt.Sprintf("    violation %+v\n", v))
	}
	for _, v := range allowed {
		lines = append(lines, fmt.Sprintf("    allowed   %+v\n", v))
	}
	for _, e := range problems {
		lines = append(lines, fmt.Sprintf("    error     %+v\n", e))
	}
	slices.Sort(lines)
	return fmt.Sprintf("%s, status %d\n%s", verdict, status, strings.Join(lines, ""))
}

// stream writes the commits of a story for git fast-import: the marks are first for the base, first+1 for the head.
func (s story) stream(b *bytes.Buffer, first int) {
	commit := func(mark int, v version, parents ...int) {
		b.WriteString("reset refs/heads/main\n")
		fmt.Fprintf(b, "commit refs/heads/main\nmark :%d\ncommitter a <a@example.com> %d +0000\ndata 0\n", mark, mark)
		for i, p := range parents {
			fmt.Fprintf(b, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], p)
		}
		b.WriteString("deleteall\n")
		for _, f := range v.tree() {
			path := strings.ReplaceAll(f.Path, `\`, `\\`)
			fmt.Fprintf(b, "M 100644 inline \"%s\"\ndata %d\n%s\n", path, len(f.Content), f.Content)
		}
	}
	base, head, root, from, also := first, first+1, first+2, first+3, first+4
	switch {
	case s.upToDate:
		commit(base, s.base)
		commit(head, s.head, base)
	case len(s.bases) == 1:
		commit(from, s.bases[0])
		commit(base, s.base, from)
		commit(head, s.head, from)
	default:
		commit(root, s.bases[0])
		commit(from, s.bases[0], root)
		commit(also, s.bases[1], root)
		commit(base, s.base, from, also)
		commit(head, s.head, from, also)
	}
}

// shrink makes a story smaller as long as the programs differ.
func (c *changeComparer) shrink(n int, s story, err error) story {
	var d difference
	if !errors.As(err, &d) {
		return s
	}
	for again := true; again; {
		again = false
		for smaller := range s.smaller() {
			if smaller.String() == s.String() {
				continue
			}
			if err := c.compareSmaller(n, smaller); errors.As(err, &d) {
				s, again = smaller, true
				break
			}
		}
	}
	return s
}

// smaller gives stories with one thing less: a state, a file, a rule, an entry, a line.
func (s story) smaller() func(yield func(story) bool) {
	return func(yield func(story) bool) {
		if len(s.bases) > 1 && !yield(story{s.base, s.head, s.bases[:1], false, s.outside, s.list}) {
			return
		}
		if !s.upToDate && len(s.bases) == 1 &&
			!yield(story{s.base, s.head, []version{s.base}, true, s.outside, s.list}) {
			return
		}
		if len(s.outside) > 0 && !yield(story{s.base.valid(), s.head.valid(), s.bases, s.upToDate, nil, nil}) {
			return
		}
		for i := range s.list {
			smaller := s
			smaller.list = without(s.list, i)
			if !yield(smaller) {
				return
			}
		}
		all := slices.Concat([]version{s.base, s.head}, s.bases)
		try := func(change func(v version) version) bool {
			t := s
			t.base, t.head = change(s.base.clone()).valid(s.outside...), change(s.head.clone()).valid(s.outside...)
			t.bases = nil
			for _, b := range s.bases {
				t.bases = append(t.bases, change(b.clone()).valid(s.outside...))
			}
			return len(t.base.rules) == 0 || len(t.head.rules) == 0 || yield(t)
		}
		for i := range all {
			only := func(change func(v version) version) func(version) version {
				n := -1
				if s.upToDate && i == 2 {
					return func(v version) version { return v }
				}
				return func(v version) version {
					if n++; n == i || s.upToDate && i == 0 && n == 2 {
						return change(v)
					}
					return v
				}
			}
			for path, content := range all[i].files {
				gone := func(v version) version { delete(v.files, path); return v }
				if !try(gone) || !try(only(gone)) {
					return
				}
				lines := linesIn(path, content)
				for j := range lines {
					shorter := func(v version) version {
						if v.files[path] == content {
							v.files[path] = strings.ReplaceAll(content, strings.Join(lines, "\n"),
								strings.Join(without(lines, j), "\n"))
						}
						return v
					}
					if len(lines) > 1 && !strings.HasSuffix(path, ".json") && (!try(shorter) || !try(only(shorter))) {
						return
					}
				}
			}
			for j := range all[i].list {
				e := fmt.Sprint(all[i].list[j])
				gone := func(v version) version {
					v.list = slices.DeleteFunc(v.list, func(o Allowance) bool { return fmt.Sprint(o) == e })
					return v
				}
				if !try(gone) || !try(only(gone)) {
					return
				}
			}
			for _, r := range all[i].rules {
				gone := func(v version) version {
					v.rules = slices.DeleteFunc(v.rules, func(o ruleLine) bool { return o.id == r.id })
					return v
				}
				if !try(gone) || !try(only(gone)) {
					return
				}
			}
		}
	}
}

func (v version) String() string {
	var b strings.Builder
	for _, r := range v.rules {
		fmt.Fprintf(&b, "    %s %s\n", r.id, r.body)
	}
	for _, e := range v.list {
		fmt.Fprintf(&b, "    %+v\n", e)
	}
	for _, path := range slices.Sorted(maps.Keys(v.files)) {
		fmt.Fprintf(&b, "    %s %q\n", path, v.files[path])
	}
	return b.String()
}

func (s story) String() string {
	var b strings.Builder
	if !s.upToDate {
		for _, v := range s.bases {
			fmt.Fprintf(&b, "merge base\n%v", v)
		}
	}
	fmt.Fprintf(&b, "base\n%vhead\n%v", s.base, s.head)
	if len(s.outside) > 0 {
		fmt.Fprintf(&b, "outside\n%v", version{rules: s.outside, list: s.list})
	}
	return b.String()
}

var histories = flag.Int("histories", 250, "how many histories TestLaws makes")

// TestLaws checks what follows from the page for any change with allowances, by this package alone: [TestChanges] says
// that policyscan rules as it does.
func TestLaws(t *testing.T) {
	passed := 0
	for n := range *histories {
		g := &generator{Rand: rand.New(rand.NewPCG(*seed, uint64(n))), newer: true}
		first := g.plain(g.first())
		s := upToDate(first, g.plain(g.mutate(first)))
		clean := s.base.change(s.base).JudgeTree().Verdict == "PASS"
		sameRules := slices.Equal(s.base.rules, s.head.rules)
		if sameRules {
			g.signed(t, n, s)
		}
		if s.change().Judge().Verdict != "PASS" {
			continue
		}
		passed++
		if what := s.grown(); what != "" {
			t.Errorf("history %d: a change that passes leaves more of %s:\n%v", n, what, s)
		}
		if !sameRules || !clean {
			continue
		}
		// A tree of which the rules cover no file any more is undecided.
		if o := s.base.change(s.head).JudgeTree(); o.Verdict != "PASS" && !slices.Equal(o.Errors, []Error{{"E_EMPTY", ""}}) {
			t.Errorf("history %d: the change passes, and its result does not:\n%v", n, s)
		}
		if fewer := upToDate(s.base, g.fewer(s.head, s.base.list)); fewer.change().Judge().Verdict != "PASS" {
			t.Errorf("history %d: with an occurrence less it fails:\n%v\nas before it passed:\n%v", n, fewer, s)
		}
		g.branch(t, n, first)
	}
	if passed < *histories/5 {
		t.Errorf("%d of %d changes pass: too few to say anything", passed, *histories)
	}
}

// signed checks that a change that fails with the allowances of its base fails with more and higher ones.
func (g *generator) signed(t *testing.T, n int, s story) {
	t.Helper()
	s.head.list = s.base.list
	if s.change().Judge().Verdict == "PASS" {
		return
	}
	if s.head = g.raised(s.head); s.change().Judge().Verdict == "PASS" {
		t.Errorf("history %d: allowances of the change let it pass:\n%v", n, s)
	}
}

// branch makes commits that pass, one after the other, and checks what the branch does as a whole.
func (g *generator) branch(t *testing.T, n int, first version) {
	t.Helper()
	last := first
	moved := false
	for range 6 {
		next := g.plain(g.mutate(last))
		next.rules = first.rules
		next = next.valid()
		if s := upToDate(last, next); s.change().Judge().Verdict != "PASS" {
			continue
		}
		last = next
		moved = moved || slices.ContainsFunc(next.list, func(e Allowance) bool { return len(e.From) > 0 })
	}
	before, after := first.counts(), last.counts()
	for rule := range before {
		if total(after[rule]) > total(before[rule]) {
			t.Errorf("history %d: commits that pass end with more of %s:\n%v", n, rule, upToDate(first, last))
		}
	}
	// Who moves a file again keeps the older paths in "from"; these commits do not.
	if s := upToDate(first, last); !moved && s.change().Judge().Verdict != "PASS" {
		t.Errorf("history %d: each commit passes, and the branch does not:\n%v", n, s)
	}
}

func total(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// upToDate is a change whose base is where it starts.
func upToDate(base, head version) story {
	return story{base: base, head: head, bases: []version{base}, upToDate: true}
}

// change is a change of a version to another.
func (v version) change(head version) Change { return upToDate(v, head).change() }

// plain is a version without exceptions.
func (g *generator) plain(v version) version {
	v = v.clone()
	for i := range v.list {
		v.list[i].MayGrow = false
	}
	return v.valid()
}

// raised is a version with more allowances, and higher ones, without a move.
func (g *generator) raised(v version) version {
	v = v.clone()
	for i := range v.list {
		v.list[i].AtMost += g.IntN(3)
		v.list[i].From = nil
		if g.percent(30) {
			v.list[i].Until = ""
		}
	}
	for _, e := range g.entries(v, 70) {
		if !slices.ContainsFunc(v.list, func(o Allowance) bool { return o.Rule == e.Rule && o.File == e.File }) {
			v.list = append(v.list, e)
		}
	}
	return v.valid()
}

// fewer is a version with one line less, and numbers that are as low as can be. An entry that is not in the base's list
// and that others name in "from" hands its own "from" on to them when it goes, as policyscan allow --tighten does it.
func (g *generator) fewer(v version, base []Allowance) version {
	before := v.counts()
	v = v.clone()
	for path, content := range v.files {
		lines := linesIn(path, content)
		if len(lines) < 2 {
			continue
		}
		smaller := v.clone()
		smaller.files[path] = joinedWell(path, without(lines, g.IntN(len(lines))))
		if after := smaller.counts(); less(after, before) {
			v = smaller
			break
		}
	}
	counts := v.counts()
	for i, gone := range v.list {
		if counts[gone.Rule][gone.File] > 0 || contains(base, gone) {
			continue
		}
		for k := range v.list {
			if e := &v.list[k]; k != i && e.Rule == gone.Rule && slices.Contains(e.From, gone.File) {
				e.From = slices.Concat(e.From, slices.DeleteFunc(slices.Clone(gone.From), func(path string) bool {
					return path == e.File || slices.Contains(e.From, path)
				}))
			}
		}
	}
	list := v.list
	v.list = nil
	for _, e := range list {
		n := counts[e.Rule][e.File]
		e.AtMost = min(e.AtMost, n)
		if n > 0 {
			v.list = append(v.list, e)
		}
	}
	return v.valid()
}

func contains(list []Allowance, e Allowance) bool {
	return slices.ContainsFunc(list, func(o Allowance) bool { return reflect.DeepEqual(o, e) })
}

// less reports whether no count is higher.
func less(after, before map[string]map[string]int) bool {
	for rule := range after {
		for path := range after[rule] {
			if after[rule][path] > before[rule][path] {
				return false
			}
		}
	}
	return true
}

// grown is a rule and a file of which a change leaves more than before, the joined ones together; empty if
// there is no such file.
func (s story) grown() string {
	c := s.change()
	for _, r := range c.Head.Bundle.Enforced() {
		if !slices.ContainsFunc(c.Base.Bundle.Enforced(), func(o Rule) bool { return o.ID == r.ID }) {
			continue
		}
		for path := range s.head.files {
			if c.grew(r, c.group(r.ID, path)) {
				return r.ID + " in " + path
			}
		}
	}
	return ""
}
