package naive

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
			from := tapeOf(n)
			had, err := c.compare(n, newStory(from), c.commits[n])
			if err != nil {
				s := smallest(from, newStory, func(s story) error { return c.compareSmaller(n, s) }, err)
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
		stories = append(stories, newStory(tapeOf(first+i)))
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

// agree runs the program, and says how its verdict differs from the ruling.
func (c *changeComparer) agree(repository string, want Ruling, args ...string) (had []string, err error) {
	d, err := c.program(repository, nil, args...)
	if err != nil {
		return nil, err
	}
	violations, allowed := withLabels(d.Violations), withLabels(d.Allowed)
	got := summary(d.Verdict, d.status, violations, allowed, d.errors())
	naively := summary(want.Verdict, want.Status, want.Violations, want.Allowed, want.Errors)
	if got != naively {
		return nil, difference{"the ruling", fmt.Sprintf("policyscan %snaively    %s%s%v", got, naively, d.said, d.Errors)}
	}
	had = append(had, d.Verdict)
	if len(allowed) > 0 {
		had = append(had, d.Verdict+" with some allowed")
	}
	if len(d.Errors) > 0 {
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

// withLabels is what is compared of violations.
func withLabels(violations []documentViolation) (all []Violation) {
	for _, v := range violations {
		e := v.Evidence
		labels := v.Status
		for _, p := range e.Places {
			if v.Status != "" {
				labels += fmt.Sprintf(" %d:%s", p.Offset, p.Status)
			}
		}
		all = append(all, Violation{RuleID: v.RuleID, File: v.File, Kind: e.Kind, Pattern: e.Pattern,
			Occurrences: e.Occurrences, Labels: labels})
	}
	return all
}

// summary writes a ruling for comparison and for readers.
func summary(verdict string, status int, violations, allowed []Violation, problems []Error) string {
	var lines []string
	add := func(what string, all []Violation) {
		for _, v := range all {
			lines = append(lines, fmt.Sprintf("    %s %s %q: %s %s, %d times, %s\n",
				what, v.RuleID, v.File, v.Kind, v.Pattern, v.Occurrences, v.Labels))
		}
	}
	add("violation", violations)
	add("allowed  ", allowed)
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
