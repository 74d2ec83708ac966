package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// All scopes check the same content in the same way: in commits, in the index and on disk. Random histories, scanned
// twice, test that.

// hookRounds is a quarter of n, or with -long many more.
func hookRounds(n int) int {
	if *long {
		return 40 * n
	}
	return max(1, n/4)
}

// hookBundles are the bundles of the tests below, by their versions: boundaries and invariants. That of 0.2 has items
// of each form, and path globs.
func hookBundles(t testing.TB) map[string][2]string {
	t.Helper()
	all, texts := map[string][2]string{}, sections(readFile(t, "testdata/scopes.txt"))
	for _, version := range []string{"0.1", "0.2"} {
		all[version] = [2]string{texts[version+"/boundaries.yml"] + "\n", texts[version+"/invariants.yml"] + "\n"}
	}
	return all
}

// hookContent is text with no or many violations, in several encodings, at its ends and across reads.
func hookContent(rnd *rand.Rand) string {
	words := []string{"alpha", "beta", "beta\r\ngamma", "beta\ngamma", "gamma", "delta ", "harmless", "\x00",
		"\xff\xfe", "a\x00l\x00p\x00h\x00a\x00", "\x00b\x00e\x00t\x00a", "\n", "\r\n", "    "}
	if rnd.IntN(4) == 0 {
		return "harmless\n"
	}
	var b strings.Builder
	for range rnd.IntN(6) {
		b.WriteString(words[rnd.IntN(len(words))])
		if rnd.IntN(3) == 0 {
			b.WriteString("\n")
		}
	}
	if rnd.IntN(20) == 0 {
		return strings.Repeat("a line of no harm\n", 1+rnd.IntN(5000)) + b.String()
	}
	return b.String()
}

// edit changes some files on disk: their content, mode and kind, or whether they are there.
func (h *hookRepo) edit(rnd *rand.Rand) {
	h.t.Helper()
	names := []string{"a.tf", "b/c.tf", "b/d/e.yaml", "b", "b.tf", "b-/x.tf", hookOdd, "tab\there", "ü.tf",
		"--help.tf", "deep/er/and/deeper/f.tf", "deep/g", "not \xff UTF-8.tf"}
	for range 1 + rnd.IntN(4) {
		name := names[rnd.IntN(len(names))]
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			if st, err := os.Lstat(filepath.Join(h.dir, h.work, dir)); err == nil && !st.IsDir() {
				h.remove(dir)
			}
		}
		switch rnd.IntN(8) {
		case 0:
			h.remove(name)
		case 1:
			h.mkdir(filepath.Join(h.work, filepath.Dir(name)))
			h.symlink([]string{"alpha", "../beta", "none"}[rnd.IntN(3)], name)
		case 2:
			h.put(name, hookContent(rnd))
			if err := os.Chmod(filepath.Join(h.dir, h.work, name), 0o755); err != nil {
				h.t.Fatal(err)
			}
		default:
			h.put(name, hookContent(rnd))
		}
	}
}

// history makes commits on several branches, with merges.
func (h *hookRepo) history(rnd *rand.Rand, commits int) {
	h.t.Helper()
	h.git("commit", "-q", "--allow-empty", "-m", "root")
	branches := []string{"main"}
	for i := range commits {
		switch rnd.IntN(6) {
		case 0:
			branches = append(branches, fmt.Sprint("b", i))
			h.git("checkout", "-q", "-b", fmt.Sprint("b", i))
		case 1:
			h.git("checkout", "-q", branches[rnd.IntN(len(branches))])
		case 2:
			h.git("merge", "-q", "-s", "ours", "--no-edit", branches[rnd.IntN(len(branches))])
		}
		h.editAndCommit(rnd)
	}
}

func (h *hookRepo) editAndCommit(rnd *rand.Rand) {
	h.t.Helper()
	h.edit(rnd)
	h.git("add", "-A")
	h.git("commit", "-q", "--allow-empty", "-m", "x")
}

// crissCross makes branches x and y, each merged into the other: they have two merge bases.
func (h *hookRepo) crissCross(rnd *rand.Rand) {
	h.t.Helper()
	from := h.head()
	for _, branch := range []string{"x", "y"} {
		h.git("checkout", "-q", "-b", branch, from)
		h.editAndCommit(rnd)
	}
	h.git("merge", "-q", "-s", "ours", "--no-edit", "x")
	h.editAndCommit(rnd)
	h.git("checkout", "-q", "x")
	h.git("merge", "-q", "-s", "ours", "--no-edit", "y^^") // as y was
	h.editAndCommit(rnd)
}

// policy writes a bundle outside of the repository.
func (h *hookRepo) policy(bundle [2]string) {
	h.t.Helper()
	h.write("policy/rules/boundaries.yml", bundle[0])
	h.write("policy/rules/invariants.yml", bundle[1])
}

// judge runs the program and returns its verdict, whatever it is.
func (h *hookRepo) judge(args ...string) *verdictFile {
	h.t.Helper()
	if err := os.RemoveAll(filepath.Join(h.dir, "verdict.json")); err != nil { // of the run before
		h.t.Fatal(err)
	}
	e := h.run(args...)
	v := h.verdict()
	if e.status != exitStatus(&v.Verdict) {
		h.t.Fatalf("%q: status %d\n%s%s", args, e.status, e.out, e.err)
	}
	return v
}

// hookFound are a verdict's violations, one line each, in their order: of some files, or
// of all.
func hookFound(v *verdictFile, of func(file string) bool) []string {
	lines := []string{}
	for i := range v.Violations {
		o := v.Violations[i]
		if !of(o.File) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s %q at %d, %d times, %s", o.RuleID, o.File, o.Evidence.Pattern,
			o.Evidence.Offset, o.Evidence.Occurrences, o.Fingerprint))
	}
	return lines
}

// checkout checks a commit out into a new directory, and returns it.
func (h *hookRepo) checkout(commit string) string {
	h.t.Helper()
	dir, err := os.MkdirTemp(h.dir, "clean")
	if err != nil {
		h.t.Fatal(err)
	}
	h.git("worktree", "add", "-q", "--detach", dir, commit)
	return filepath.Base(dir)
}

func hookAny(string) bool { return true }

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (h *hookRepo) commits() []string {
	h.t.Helper()
	return strings.Fields(h.git("rev-list", "--all"))
}

// TestFault_106_DiffWithinFull: a change has the violations of its head in the changed files: no other, no new and no
// missing one.
func TestFault_106_DiffWithinFull(t *testing.T) {
	t.Parallel()
	for version, bundle := range hookBundles(t) {
		if !*long && version != "0.2" {
			continue
		}
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(0, 127))
			h := newHookRepo(t)
			h.policy(bundle)
			h.history(rnd, 20)
			h.crissCross(rnd)
			commits := h.commits()
			some := func() string { return commits[rnd.IntN(len(commits))] }
			heads := []string{"x", "y"}
			for range hookRounds(4) {
				heads = append(heads, some())
			}
			within, beside, several := 0, 0, 0
			for _, head := range heads {
				clean := h.checkout(head)
				full := h.judge("--policy", "policy", clean)
				for _, base := range []string{"x", "y", some(), some()} {
					diff := h.judge("--policy", "policy", "--diff-base", base, "--head", head, "--allow",
						"empty,symlink", "repo")
					if !diff.Complete {
						t.Fatalf("%+v", diff.Errors)
					}
					changed := map[string]bool{"": true} // missing files are looked for in the whole tree
					mergeBases := strings.Fields(h.git("merge-base", "--all", base, head))
					if len(mergeBases) > 1 {
						several++
					}
					for _, mergeBase := range mergeBases {
						for _, name := range h.change(mergeBase, head+"^{tree}").names {
							changed[verdict.Path(name)] = true
						}
					}
					want := hookFound(full, func(file string) bool { return changed[file] })
					if got := hookFound(diff, hookAny); !slices.Equal(got, want) {
						t.Errorf("%s to %s: judged\n%s\nof the head's files that differ\n%s", base, head,
							strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
					within, beside = within+len(want), beside+len(full.Violations)-len(want)
				}
			}
			if several < 2 {
				t.Errorf("%d comparisons with several merge bases", several)
			}
			if within == 0 || beside == 0 {
				t.Errorf("%d violations of changes, %d of other files: nothing was tried", within, beside)
			}
		})
	}
}

// TestTrackedIsFull: in a clean checkout git tracks all files. Only a full scan covers untracked files.
func TestTrackedIsFull(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 127))
	h := newHookRepo(t)
	h.policy(hookBundles(t)["0.2"])
	h.history(rnd, 15)
	commits := h.commits()
	found := 0
	for range hookRounds(5) {
		clean := h.checkout(commits[rnd.IntN(len(commits))])
		full := h.judge("--policy", "policy", "--allow", "empty,symlink", clean)
		tracked := h.judge("--policy", "policy", "--allow", "empty,symlink", "--tracked", clean)
		same(t, "tracked", hookFound(tracked, hookAny), hookFound(full, hookAny))
		if a, b := tracked.Coverage, full.Coverage; !tracked.Complete || !full.Complete || a.Files != b.Files ||
			a.Scanned != b.Scanned || a.Bytes != b.Bytes || !slices.Equal(a.NotScanned, b.NotScanned) {
			t.Errorf("tracked %v, %+v\nfull %v, %+v", tracked.Complete, a, full.Complete, b)
		}
		found += len(full.Violations)
		h.write("list", h.git("-C", "../"+clean, "ls-files", "-z"))
		inFiles := func(file string) bool { return file != "" } // a list does not show what a tree lacks
		listed := h.judge("--policy", "policy", "--allow", "empty,symlink", "--files-from", "list", clean)
		same(t, "listed", hookFound(listed, inFiles), hookFound(full, inFiles))

		h.write(clean+"/untracked.tf", "alpha\n")
		beside := h.judge("--policy", "policy", "--allow", "empty,symlink", "--tracked", clean)
		same(t, "next to an untracked file", hookFound(beside, hookAny), hookFound(tracked, hookAny))
		more := h.judge("--policy", "policy", clean)
		if n := len(hookFound(more, func(file string) bool { return file == "untracked.tf" })); n == 0 {
			t.Error("a full scan does not judge an untracked file")
		}
		others := func(file string) bool { return file != "untracked.tf" && file != "" } // the tree may lack less
		same(t, "with one more file", hookFound(more, others), hookFound(full, others))
	}
	if found == 0 {
		t.Error("no violation: nothing was tried")
	}
}

// TestStagedIsDiff: staged files, and those on disk, are checked as in the commit made of them, by the same bundles,
// which such changes change as well; with --staged unstaged content is not checked.
func TestStagedIsDiff(t *testing.T) {
	t.Parallel()
	bundles := hookBundles(t)
	for version, bundle := range bundles {
		if !*long && version != "0.2" {
			continue
		}
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			boundaries := []string{
				bundle[0], bundle[0], bundles["0.1"][0], bundles["0.2"][0], "rules: []\n", "rules: [\n",
				strings.Replace(bundle[0], "lpha", "armless", 1), strings.Replace(bundle[0], `"**"`, `"*"`, 1),
				strings.Replace(bundle[0], "path_case: ignore", "", 1), strings.Replace(bundle[0], "TF-1", "HAS-2", 1),
			}
			rnd := rand.New(rand.NewPCG(0, 128))
			h := newHookRepo(t)
			h.put(".policyscan/rules/boundaries.yml", bundle[0])
			h.put(".policyscan/rules/invariants.yml", bundle[1])
			h.git("add", "-A")
			h.git("commit", "-q", "-m", "base")
			judged := 0
			for range hookRounds(14) {
				h.edit(rnd)
				switch rnd.IntN(5) {
				case 0:
					h.put(".policyscan/rules/boundaries.yml", boundaries[rnd.IntN(len(boundaries))])
				case 1:
					h.remove(".policyscan")
				case 2:
					h.put(".policyscan/rules/boundaries.yml", bundle[0])
					h.put(".policyscan/rules/invariants.yml", bundle[1])
				}
				h.git("add", "-A")
				h.edit(rnd) // which stays out of it, till the next round
				bundleFile := filepath.Join(h.dir, h.work, ".policyscan/rules/boundaries.yml")
				if _, err := os.Stat(bundleFile); err == nil && rnd.IntN(3) == 0 {
					h.put(".policyscan/rules/boundaries.yml", boundaries[rnd.IntN(len(boundaries))])
				}
				uncommitted := h.judge("--diff-base", "HEAD", "--uncommitted", "repo")
				all := h.judge("--diff-base", "HEAD", "--head", h.commitOnDisk(), "--allow", "empty", "repo")
				if a, b := hookSaid(uncommitted)+hookLabels(uncommitted), hookSaid(all)+hookLabels(all); a != b {
					t.Errorf("uncommitted\n%s\ncommitted\n%s", a, b)
				}
				staged := h.judge("--staged", "repo")
				h.git("commit", "-q", "--allow-empty", "-m", "x")
				diff := h.judge("--diff-base", "HEAD~1", "repo")
				if a, b := hookSaid(staged), hookSaid(diff); a != b {
					t.Errorf("staged\n%s\ncommitted\n%s", a, b)
				}
				judged += len(diff.Violations)
			}
			if judged == 0 {
				t.Error("no violation: nothing was tried")
			}
		})
	}
}

// commitOnDisk returns a commit of the tracked files as they are on disk, and leaves HEAD and the index as they are.
func (h *hookRepo) commitOnDisk() string {
	h.t.Helper()
	index := filepath.Join(h.dir, h.work, ".git/index")
	staged := readFile(h.t, index)
	st, err := os.Stat(index)
	if err != nil {
		h.t.Fatal(err)
	}
	h.git("add", "-u")
	commit := h.git("commit-tree", "-p", "HEAD", "-m", "x", h.git("write-tree"))
	if err := os.WriteFile(index, []byte(staged), 0o600); err != nil {
		h.t.Fatal(err)
	}
	// With a later time git would take a file that changed just after it wrote the index as unchanged.
	if err := os.Chtimes(index, st.ModTime(), st.ModTime()); err != nil {
		h.t.Fatal(err)
	}
	return commit
}

// hookLabels are the labels of a verdict's violations and their places.
func hookLabels(v *verdictFile) string {
	var b strings.Builder
	for i := range v.Violations {
		fmt.Fprintf(&b, "\n%s", v.Violations[i].Status)
		for _, p := range v.Violations[i].Evidence.Places {
			fmt.Fprintf(&b, " %d %s", p.Line, p.Status)
		}
	}
	return b.String()
}

// hookSaid is all of a verdict that does not name the scope.
func hookSaid(v *verdictFile) string {
	lines := append(hookFound(v, hookAny), fmt.Sprintf("%s, complete: %v, %+v", v.Verdict.Verdict, v.Complete,
		v.Coverage))
	for i := range v.Rules {
		lines = append(lines, fmt.Sprint(v.Rules[i].ID, v.Rules[i].Files))
	}
	for _, p := range v.Policy {
		lines = append(lines, p.SHA256)
	}
	for _, e := range v.Errors {
		lines = append(lines, e.Code+" "+e.File)
	}
	return strings.Join(lines, "\n")
}
