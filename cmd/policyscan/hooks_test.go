package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// A hookRepo is a program and, in the directory work next to it, a real git repository whose pre-commit hook checks
// the commits with the repository's bundle.
//
// Every file has two contents: the one to be committed, and a decoy elsewhere: on disk, or in another index than the
// commit's. The rule forbids one of them, so reading the wrong one gives the wrong verdict.
type hookRepo struct {
	program
	work   string   // the worktree, a directory in program.dir
	gitEnv []string // in addition to gitEnv
	mark   string   // in the content to commit
	lure   string   // in the decoy
}

// hookMark is the text that the rule forbids in every file.
const hookMark = "MARK"

func newHookRepo(t testing.TB) *hookRepo {
	t.Helper()
	needs(t, "git")
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: links and modes are not those of git here")
	}
	h := &hookRepo{program: program{t: t, dir: t.TempDir()}, work: "repo", mark: hookMark, lure: "mend"}
	h.mkdir("left")
	h.mkdir("repo")
	h.git("init", "-q", "-b", "main", "--template=") // without sample hooks, which take their time
	return h
}

func (h *hookRepo) mkdir(name string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Join(h.dir, name), 0o777); err != nil {
		h.t.Fatal(err)
	}
}

// tryGit runs git in a directory of the worktree.
func (h *hookRepo) tryGit(sub, stdin string, args ...string) ending {
	h.t.Helper()
	file, err := exec.LookPath("git")
	if err != nil {
		h.t.Fatal(err)
	}
	git := program{t: h.t, dir: filepath.Join(h.dir, h.work, sub), file: file, stdin: stdin}
	const date = "1700000000 +0000"
	git.env = slices.Concat(gitEnv(), []string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}, h.gitEnv)
	return git.run(args...)
}

// git runs git in the worktree and returns its output, without the last line feed.
func (h *hookRepo) git(args ...string) string {
	h.t.Helper()
	e := h.tryGit(".", "", args...)
	if e.status != 0 {
		h.t.Fatalf("git %q: status %d\n%s%s", args, e.status, e.out, e.err)
	}
	return strings.TrimSuffix(e.out, "\n")
}

// put writes a file of the work tree, whatever stood there.
func (h *hookRepo) put(name, content string) {
	h.t.Helper()
	h.remove(name)
	writeFile(h.t, filepath.Join(h.dir, h.work, name), content)
}

func (h *hookRepo) remove(name string) {
	h.t.Helper()
	if err := os.RemoveAll(filepath.Join(h.dir, h.work, name)); err != nil {
		h.t.Fatal(err)
	}
}

// content is a file's with a mark in it, at an offset that tells it from other files'.
func (h *hookRepo) content(name, mark string) string {
	return strings.Repeat("-", len(name)) + mark + " " + filepath.Base(name)
}

// judged writes files as they are to be committed.
func (h *hookRepo) judged(names ...string) {
	h.t.Helper()
	for _, name := range names {
		h.put(name, h.content(name, h.mark)+"\n")
	}
}

// decoy writes files as they must not be read.
func (h *hookRepo) decoy(names ...string) {
	h.t.Helper()
	for _, name := range names {
		h.put(name, "decoy\n"+h.content(name, h.lure)+"\n")
	}
}

const (
	hookRule = `rules:
  - id: ALL-1
    title: Nowhere
    enforcement: {mode: fail}
    match: {files: ["**"], forbidden_patterns: ["MARK"]}
`
	// hookOdd is a name that reports and lists must not break at.
	hookOdd = "odd \"näme\"\n\\.tf"
)

// base writes the files of a first commit. Most violate the rule: a commit that does not change them must not report
// them.
func (h *hookRepo) base() {
	h.t.Helper()
	h.put(".policyscan/rules/boundaries.yml", hookRule)
	h.put(".policyscan/rules/invariants.yml", "rules: []\n")
	for _, name := range []string{"untouched.tf", "main.tf", "gone.tf", "kind", "far/away.tf", "far/deep/down.tf",
		"near/by.tf"} {
		h.put(name, "before "+hookMark+"\n")
	}
	h.judged("tool.sh", "from.tf") // which a change of mode or a rename leaves as they are
	h.symlink("nowhere "+hookMark, "link")
}

func (h *hookRepo) symlink(target, name string) {
	h.t.Helper()
	h.remove(name)
	if err := os.Symlink(target, filepath.Join(h.dir, h.work, name)); err != nil {
		h.t.Fatal(err)
	}
}

// begin makes the first commit, and then puts the hook in place.
func (h *hookRepo) begin() {
	h.t.Helper()
	h.base()
	h.git("add", "-A")
	h.git("commit", "-q", "-m", "base")
	h.hook()
}

// hook installs the hook. It leaves the verdict, and then git's own tree: writing a tree can write the index, which
// must not help the program.
func (h *hookRepo) hook() {
	h.t.Helper()
	h.hookNamed("pre-commit")
}

func (h *hookRepo) hookNamed(name string) {
	h.t.Helper()
	tool, err := exec.LookPath("policyscan")
	if err == nil {
		tool, err = filepath.Abs(tool)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	script := strings.NewReplacer("POLICYSCAN", tool, "LEFT", filepath.Join(h.dir, "left")).Replace(`#!/bin/sh
'POLICYSCAN' scan --staged --output 'LEFT/verdict.json' >'LEFT/report' 2>&1
status=$?
printf %s "$GIT_INDEX_FILE" >'LEFT/index'
git --no-replace-objects write-tree >'LEFT/tree' || exit 99
exit $status
`)
	file := h.git("rev-parse", "--path-format=absolute", "--git-path", "hooks/"+name)
	writeFile(h.t, file, script)
	if err := os.Chmod(file, 0o777); err != nil {
		h.t.Fatal(err)
	}
}

// left is the hook's output in a file, without the last line feed.
func (h *hookRepo) left(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, "left", name))
	if err != nil {
		h.t.Fatalf("the hook did not run: %v", err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

// judgement is the verdict of the hook's run.
func (h *hookRepo) judgement() *verdictFile {
	h.t.Helper()
	v, err := readVerdict([]byte(h.left("verdict.json") + "\n"))
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

// head is the commit of HEAD, "" before the first one.
func (h *hookRepo) head() string {
	h.t.Helper()
	return strings.TrimSpace(h.tryGit(".", "", "rev-parse", "-q", "--verify", "HEAD").out)
}

// hookChange is the change of a commit according to git.
type hookChange struct {
	names   []string // covered by a rule, in byte order
	found   []string // for each violating file, the places
	bytes   int64    // of them all
	rules   []string // rule files in the change
	deleted int
}

// change asks git for what differs between a commit ("": none) and a tree.
func (h *hookRepo) change(commit, tree string) (c hookChange) {
	h.t.Helper()
	emptyTree := strings.TrimSpace(h.git("hash-object", "-t", "tree", os.DevNull))
	list := h.git("--no-replace-objects", "diff-tree", "-r", "-z", "--no-renames", cmp.Or(commit, emptyTree), tree)
	fields := strings.Split(list, "\x00")
	var blobs strings.Builder
	for i := 0; i+1 < len(fields); i += 2 { // ":100644 120000 hash hash T", then the path
		entry, name := strings.Fields(fields[i]), fields[i+1]
		switch {
		case entry[4] == "D":
			c.deleted++
		case strings.HasPrefix(name, ".policyscan/rules/"):
			c.rules = append(c.rules, name)
		default:
			c.names = append(c.names, name)
			blobs.WriteString(entry[3] + "\n")
		}
	}
	contents := h.tryGit(".", blobs.String(), "--no-replace-objects", "cat-file", "--batch").want(h.t, 0).out
	for _, name := range c.names {
		head, rest, _ := strings.Cut(contents, "\n") // "hash blob size", and after the content a line feed
		words := strings.Fields(head)
		size, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			h.t.Fatalf("git cat-file: %q", head)
		}
		content := rest[:size]
		contents = rest[size+1:]
		c.bytes += int64(size)
		if at := strings.Index(content, hookMark); at >= 0 {
			line := content[strings.LastIndex(content[:at], "\n")+1:]
			line, _, _ = strings.Cut(line, "\n")
			c.found = append(c.found, fmt.Sprintf("%s at %d: %s", verdict.Path(name), at, line))
		}
	}
	slices.Sort(c.names)
	slices.Sort(c.found)
	return c
}

// check compares the verdict of the hook's run, from a commit on, with the commit that git would have made; the names
// are the known changes. The commit is refused if it violates the rule, and made otherwise.
func (h *hookRepo) check(before string, commit ending, names ...string) {
	h.t.Helper()
	tree := h.left("tree")
	want := h.change(before, tree)
	report := func() string { return commit.out + commit.err + h.left("report") }
	slices.Sort(names)
	if !slices.Equal(want.names, names) {
		h.t.Fatalf("the commit changes %q, want %q\n%s", want.names, names, report())
	}

	v := h.judgement()
	var found []string
	for i := range v.Violations {
		e := v.Violations[i].Evidence
		found = append(found, fmt.Sprintf("%s at %d: %s", v.Violations[i].File, e.Offset, e.Excerpt))
	}
	slices.Sort(found)
	if !slices.Equal(found, want.found) {
		h.t.Errorf("judged\n%q\nto be committed\n%q\n%s", found, want.found, report())
	}
	n := len(want.names)
	if c := v.Coverage; !v.Complete || c.Files != n || c.Scanned != n || c.Bytes != want.bytes ||
		c.Deleted != want.deleted || len(c.LeftOut) != len(want.rules) {
		h.t.Errorf("complete: %v, %+v; to be committed: %+v\n%s", v.Complete, c, want, report())
	}
	if v.Scope.Mode != "staged" || v.Scope.BaseCommit != before {
		h.t.Errorf("scope %+v, HEAD was %q", v.Scope, before)
	}

	after := h.head()
	if len(want.found) > 0 {
		if commit.status == 0 || after != before || v.Verdict.Verdict != verdict.Fail {
			h.t.Errorf("the commit was not refused: status %d, HEAD %q, was %q, %s\n%s", commit.status, after, before,
				v.Verdict.Verdict, report())
		}
		return
	}
	if commit.status != 0 || v.Verdict.Verdict != verdict.Pass {
		h.t.Fatalf("the commit was refused: status %d, %s\n%s", commit.status, v.Verdict.Verdict, report())
	}
	if made := h.git("rev-parse", "HEAD^{tree}"); after == before || made != tree {
		h.t.Errorf("HEAD was %s and is %s, of tree %s; the hook saw %s", before, after, made, tree)
	}
}

// everything makes a change of every kind on disk, and returns the names in it.
func (h *hookRepo) everything() []string {
	h.t.Helper()
	h.judged("main.tf", "new/added.tf", hookOdd)
	h.remove("gone.tf")
	if err := os.Chmod(filepath.Join(h.dir, h.work, "tool.sh"), 0o755); err != nil {
		h.t.Fatal(err)
	}
	h.symlink(h.content("kind", h.mark), "kind")
	h.remove("from.tf")
	h.put("to.tf", h.content("from.tf", h.mark)+"\n")
	h.judged("link")
	return []string{"main.tf", "new/added.tf", hookOdd, "tool.sh", "kind", "to.tf", "link"}
}

// distract writes unstaged content to disk.
func (h *hookRepo) distract() {
	h.t.Helper()
	h.decoy("main.tf", "new/added.tf", "untouched.tf", "untracked.tf")
	h.remove("to.tf")
}

// commit commits in the worktree and checks the verdict.
func (h *hookRepo) commit(names []string, args ...string) {
	h.t.Helper()
	before := h.head()
	h.check(before, h.tryGit(".", "", append([]string{"commit", "-q", "-m", "x"}, args...)...), names...)
}

// usesIndex fails unless git handed an index of such a name to the hook: the case is then
// not the one that it is said to be.
func (h *hookRepo) usesIndex(pattern string) {
	h.t.Helper()
	if ok, err := filepath.Match(pattern, filepath.Base(h.left("index"))); err != nil || !ok {
		h.t.Errorf("GIT_INDEX_FILE was %q, want %s", h.left("index"), pattern)
	}
}

// parts begins with a file of two parts, far enough from each other to be two hunks, and
// writes the first of them as it is to be committed.
func (h *hookRepo) parts() {
	h.t.Helper()
	h.base()
	h.put("near/by.tf", h.parted("a", "b"))
	h.git("add", "-A")
	h.git("commit", "-q", "-m", "base")
	h.hook()
	h.put("near/by.tf", h.parted(h.mark, "b"))
}

func (h *hookRepo) parted(first, second string) string {
	return first + "\n" + strings.Repeat("line\n", 20) + second + "\n"
}
