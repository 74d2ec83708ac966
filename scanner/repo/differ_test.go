package repo

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	long            = flag.Bool("long", false, "do all of the tests that otherwise do a part")
	differHistories = flag.Int("histories", 20,
		"how many generated histories are compared with git; make differ asks for 2,000")
	differReal = flag.String("real", "",
		"git directories, with commas between them, of which pairs of commits are compared with git")
	differPairs = flag.Int("pairs", 1000, "how many pairs of commits of all of them")
)

type compared struct {
	commits, pairs, changes int
	met, bases              int // pairs with compared merge bases, and number of these
	behind                  int // the commits of these pairs that only the first has
}

// compareCommits compares the differences of pairs of commits with git's, and the merge bases of up to met of them.
func (g *gitRepo) compareCommits(t *testing.T, r *Repository, pairs [][2]string, met int) compared {
	t.Helper()
	c := compared{pairs: len(pairs), met: min(met, len(pairs))}
	var stdin strings.Builder
	for _, p := range pairs {
		fmt.Fprintln(&stdin, p[1], p[0]) // a commit, and its parent for the diff
	}
	cmd := exec.Command(cmp.Or(g.tool, "git"), "--no-replace-objects", "diff-tree", "--stdin", "--always", "-r", "-z", "--no-renames")
	cmd.Dir, cmd.Stdin = g.dir, strings.NewReader(stdin.String())
	out, err := cmd.Output()
	must(t, err)
	for i, p := range pairs {
		a, b := p[0], p[1]
		header := []byte(b + "\x00")
		if !bytes.HasPrefix(out, header) {
			t.Fatalf("git says %.100q of %s %s", out, a, b)
		}
		out = out[len(header):]
		end := len(out)
		if i+1 < len(pairs) {
			end = nextHeader(out)
		}
		want := sortRaw(string(out[:end]))
		out = out[end:]
		ha, ta := commitOf(t, r, a)
		hb, tb := commitOf(t, r, b)
		got := sortedChanges(t, func(visit func(Change) error) error { return r.Diff(ta, tb, visit) })
		if got != want {
			t.Fatalf("diff %s %s:\ngot  %.3000q\nwant %.3000q", a, b, got, want)
		}
		c.changes += strings.Count(want, "\x00") / 2
		if i >= met {
			continue
		}
		common := strings.Fields(first(g.try("merge-base", "--all", a, b)))
		slices.Sort(common)
		related, err := r.Relate(ha, hb)
		var bases []string
		for _, h := range related.MergeBases {
			bases = append(bases, h.String())
		}
		if err != nil && !errors.Is(err, ErrNoMergeBase) || !slices.Equal(bases, common) {
			t.Fatalf("merge-base %s %s: got %q, %v, want %q", a, b, bases, err, common)
		}
		c.bases += len(common)
		if err == nil {
			c.behind += g.checkBehind(a, b, related.Behind)
		}
	}
	return c
}

// checkBehind compares the number of commits that a has and b lacks with two lists of git's, which no clock can
// confuse, and returns it.
func (g *gitRepo) checkBehind(a, b string, got int) int {
	g.Helper()
	has := map[string]bool{}
	for _, h := range strings.Fields(g.git("rev-list", b)) {
		has[h] = true
	}
	want := 0
	for _, h := range strings.Fields(g.git("rev-list", a)) {
		if !has[h] {
			want++
		}
	}
	// With wrong clocks, and more commits than the search covers, the number can be too high.
	if got < want || (got == 0) != (want == 0) || got > want && len(has) <= slop {
		g.Fatalf("%s is %d commits behind %s, not %d", b, want, a, got)
	}
	return want
}

// nextHeader returns where the entries of git diff-tree -z end: each is a NUL-ended field that begins with a colon,
// and a path. The name of a commit follows.
func nextHeader(out []byte) int {
	at := 0
	for at < len(out) && out[at] == ':' {
		for range 2 {
			at += bytes.IndexByte(out[at:], 0) + 1
		}
	}
	return at
}

// checkedOut makes a history and checks its last commit out, on main.
func checkedOut(g *gitRepo, r *rand.Rand, commits int) {
	g.Helper()
	importedHistory(g, r, commits)
	g.git("update-ref", "refs/heads/main", fmt.Sprintf("refs/heads/c%d", commits))
	g.git("reset", "-q", "--hard")
}

// importedHistory makes a history by git fast-import, in one process: edits, type and
// mode changes, directories that become files, deletions, odd names, merges of up to four, criss-crosses, other roots,
// and unordered dates. Each commit has a branch.
func importedHistory(g *gitRepo, r *rand.Rand, commits int) {
	g.Helper()
	names := []string{
		"a.tf", "b/c.tf", "b/d/e.yaml", "b", "b.c", "b-/x", "odd \n name", "tab\there", "ü.tf", "--help.tf",
		"deep/er/and/deeper/f",
		"deep", "deep.tf", "deep0", `back\slash`, "\xff.tf", "quo\"te", "m",
	}
	var parts [2]strings.Builder // imported one after the other
	for i := 1; i <= commits; i++ {
		s := &parts[0]
		if i > commits/2 {
			s = &parts[1]
		}
		fmt.Fprintf(s, "commit refs/heads/c%d\nmark :%d\ncommitter a <a@example.com> %d +0000\ndata 1\nm\n", i, i,
			1_700_000_000+r.IntN(40)*3600)
		if i > 1 && r.IntN(25) > 0 {
			parents := map[int]bool{}
			if r.IntN(3) == 0 {
				for range 1 + r.IntN(3) {
					parents[1+r.IntN(i-1)] = true
				}
			}
			from := max(1, i-1-r.IntN(4))
			fmt.Fprintf(s, "from :%d\n", from)
			delete(parents, from)
			for p := range i {
				if parents[p] {
					fmt.Fprintf(s, "merge :%d\n", p)
				}
			}
		}
		if i == 1 { // enough for git to look for deltas
			for k := range 12 {
				fmt.Fprintf(s, "M 100644 inline many/%d.tf\n%s", k,
					data(strings.Repeat(fmt.Sprint("line ", k, "\n"), 20+k)))
			}
		}
		for range r.IntN(5) {
			name := quoted(names[r.IntN(len(names))])
			switch r.IntN(7) {
			case 0:
				fmt.Fprintf(s, "D %s\n", name)
			case 1:
				fmt.Fprintf(s, "M 120000 inline %s\n%s", name, data(fmt.Sprint("target", r.IntN(3))))
			case 2:
				fmt.Fprintf(s, "M 100755 inline %s\n%s", name, data(fmt.Sprint(r.IntN(3))))
			case 3:
				fmt.Fprintf(s, "M 160000 %0*x %s\n", 2*g.format.size(), 1+r.IntN(3), name)
			default:
				fmt.Fprintf(s, "M 100644 inline %s\n%s", name,
					data(strings.Repeat(fmt.Sprint(r.IntN(100)), 1+r.IntN(300))))
			}
		}
	}
	g.git("config", "core.fsync", "none") // which takes most of the time otherwise
	// Loose, in packs, or both.
	limits := [2]string{"100000", "100000"}
	for i := range limits {
		if r.IntN(2) == 0 {
			limits[i] = "0"
		}
	}
	marks := filepath.Join(g.dir, ".git/marks")
	for i, limit := range limits {
		cmd := exec.Command(cmp.Or(g.tool, "git"), "-c", "fastimport.unpackLimit="+limit, "fast-import", "--quiet", "--force",
			"--import-marks-if-exists="+marks, "--export-marks="+marks)
		cmd.Dir, cmd.Stdin = g.dir, strings.NewReader(parts[i].String())
		if out, err := cmd.CombinedOutput(); err != nil {
			g.Fatalf("%v: %s", err, out)
		}
	}
	switch r.IntN(6) {
	case 0:
		g.git("repack", "-q", "-a", "-d", "-f", "--depth=50")
	case 1:
		g.git("repack", "-q", "-d")
		g.git("multi-pack-index", "write")
	case 2:
		g.git("pack-refs", "--all")
	}
}

func data(text string) string { return fmt.Sprintf("data %d\n%s\n", len(text), text) }

// quoted is any path in the syntax of git fast-import.
func quoted(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return `"` + b.String() + `"`
}

// TestDifferential_Histories compares generated histories with git: all differences between two commits, and their
// merge bases.
func TestDifferential_Histories(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	histories := *differHistories
	if !*long {
		histories = min(histories, 3)
	}
	histories *= 2 // once in each format
	seen := make([]compared, histories)
	t.Run("each", func(t *testing.T) {
		for i := range seen {
			seed, f := i/2, []format{formatSHA1, formatSHA256}[i%2]
			t.Run(fmt.Sprint(seed, f), func(t *testing.T) {
				t.Parallel()
				rnd := rand.New(rand.NewPCG(uint64(seed), 13))
				g := newGitOf(t, f)
				importedHistory(g, rnd, 10+rnd.IntN(30))
				seen[i] = g.compareHistory(t, rnd, seed, 15) // one git process for each
			})
		}
	})
	if t.Failed() {
		return
	}
	var all compared
	several := 0
	for _, c := range seen {
		all.commits, all.pairs, all.changes, all.met, all.bases = all.commits+c.commits, all.pairs+c.pairs,
			all.changes+c.changes, all.met+c.met, all.bases+c.bases
		all.behind += c.behind
		if c.bases > c.met {
			several++ // for some pair
		}
	}
	if all.changes < 100*histories || all.bases < all.met/2 || all.behind < all.met || several < histories/20 {
		t.Errorf("too little to say much: %d histories, %+v", histories, all)
	}
	t.Logf("measured: a generated history | `git diff-tree`, `git merge-base --all` | %d | none; "+
		"%d commits; %d changes between %d pairs; %d merge bases of %d pairs",
		histories, all.commits, all.changes, all.pairs, all.bases, all.met)
}

// compareHistory compares 40 pairs of commits of a history with git: with a commit-graph, with an incomplete one, and
// without.
func (g *gitRepo) compareHistory(t *testing.T, rnd *rand.Rand, seed, met int) compared {
	t.Helper()
	list := strings.Fields(g.git("rev-list", "--all"))
	switch seed % 3 {
	case 0:
		g.git("commit-graph", "write", "--reachable")
	case 1:
		g.git("commit-graph", "write", "--reachable", "--split=no-merge")
		list = append(list, g.git("commit-tree", "-m", "not in the graph", "-p", list[1], "-p", list[7],
			list[5]+"^{tree}"))
	}
	r := g.open()
	r.beforeGraph = 0
	if seed%3 < 2 && r.openGraph() == nil {
		t.Fatal("the commit-graph is not used")
	}
	var pairs [][2]string
	for range 40 {
		pairs = append(pairs, [2]string{list[rnd.IntN(len(list))], list[rnd.IntN(len(list))]})
	}
	c := g.compareCommits(t, r, pairs, met)
	c.commits = len(list)
	return c
}

// TestDifferential_Real compares pairs of commits of real repositories with git, near and far apart.
func TestDifferential_Real(t *testing.T) {
	if *differReal == "" {
		t.Skip("-real names no repository to compare with git")
	}
	dirs := strings.Split(*differReal, ",")
	var all compared
	for i, dir := range dirs {
		g := &gitRepo{TB: t, dir: dir}
		r := g.open()
		list := strings.Fields(g.git("rev-list", "HEAD"))
		rnd := rand.New(rand.NewPCG(5, 6))
		var pairs [][2]string
		for k := range (*differPairs + i) / len(dirs) {
			near := rnd.IntN(len(list))
			far := min(len(list)-1, near+rnd.IntN(1+k*4))
			pairs = append(pairs, [2]string{list[far], list[near]})
		}
		c := g.compareCommits(t, r, pairs, len(pairs))
		all.pairs, all.changes, all.bases = all.pairs+c.pairs, all.changes+c.changes, all.bases+c.bases
	}
	if all.changes < 100 || all.bases < all.pairs/2 {
		t.Errorf("too little to say much: %+v", all)
	}
	t.Logf("measured: a pair of commits of %d real repositories "+
		"| `git diff-tree`, `git merge-base --all` | %d | none; "+
		"%d changes, %d merge bases", len(dirs), all.pairs, all.changes, all.bases)
}
