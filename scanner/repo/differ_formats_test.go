//go:build unix

package repo

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tablesGit is a git that writes reftables, which the variable GIT names; "" without one.
func tablesGit(t *testing.T) string {
	t.Helper()
	tool := os.Getenv("GIT")
	if tool == "" || exec.Command(tool, "init", "-q", "--ref-format=reftable", t.TempDir()).Run() != nil {
		return ""
	}
	return tool
}

// TestDifferential_Formats compares generated histories with git in each format of objects, refs and indexes: changes,
// merge bases, refs while they change, what is staged, and blobs.
func TestDifferential_Formats(t *testing.T) {
	tool := tablesGit(t)
	if tool == "" {
		t.Skip("SKIPPED: GIT names no git that writes reftables (2.45 or later)")
	}
	histories := *differHistories
	if !*long {
		histories = min(histories, 8)
	}
	seen := make([]compared, histories)
	refs, staged, blobs := make([]int, histories), make([]int, histories), make([]int, histories)
	t.Run("each", func(t *testing.T) {
		for seed := range seen {
			f, refFormat := []format{formatSHA1, formatSHA256}[seed%2], []string{"files", "reftable"}[seed/2%2]
			split := []string{"false", "true"}[seed/4%2]
			t.Run(fmt.Sprint(seed, " ", f, " ", refFormat, " split ", split), func(t *testing.T) {
				t.Parallel()
				rnd := rand.New(rand.NewPCG(uint64(seed), 17))
				g := &gitRepo{TB: t, dir: t.TempDir(), format: f, clock: 1_700_000_000, tool: tool}
				g.git("init", "-q", "-b", "main", "--object-format="+f.setting(), "--ref-format="+refFormat)
				g.git("config", "reftable.blockSize", fmt.Sprint(256<<rnd.IntN(5)))
				g.git("config", "core.splitIndex", split)
				g.git("config", "splitIndex.maxPercentChange", fmt.Sprint(rnd.IntN(2)*100))
				importedHistory(g, rnd, 10+rnd.IntN(30))
				seen[seed] = g.compareHistory(t, rnd, seed, 10)
				refs[seed] = g.compareRefs(rnd)
				staged[seed], blobs[seed] = g.compareStaged(rnd, split == "true")
			})
		}
	})
	if t.Failed() {
		return
	}
	var all compared
	sums := [3]int{}
	for i, c := range seen {
		all.changes, all.pairs, all.bases = all.changes+c.changes, all.pairs+c.pairs, all.bases+c.bases
		sums[0], sums[1], sums[2] = sums[0]+refs[i], sums[1]+staged[i], sums[2]+blobs[i]
	}
	if min(all.changes, sums[0], sums[1]) < 20*histories || sums[2] < 5*histories {
		t.Errorf("too little to say much: %+v, %v", all, sums)
	}
	t.Logf("measured: a generated history, its objects named by SHA-1 or SHA-256, its refs in files or tables, its index "+
		"whole or split | `git diff-tree`, `git for-each-ref`, `git ls-files`, `git cat-file` | %d | none; "+
		"%d changes between %d pairs; %d refs; %d staged files; %d blobs",
		histories, all.changes, all.pairs, sums[0], sums[1], sums[2])
}

// compareRefs changes refs in all ways, and compares each with git's, while another one changes. It returns how many.
func (g *gitRepo) compareRefs(rnd *rand.Rand) (n int) {
	g.Helper()
	commits := strings.Fields(g.git("rev-list", "--all"))
	pool := []string{"refs/heads/a", "refs/heads/b/c", "refs/tags/v1", "refs/tags/many/1", "refs/tags/many/11", "refs/worktree/w",
		"refs/bisect/x", "refs/remotes/origin/main", "refs/remotes/origin/HEAD", "refs/heads/moving", "refs/x"}
	moving := [2]string{commits[0], commits[len(commits)-1]}
	for range 6 {
		for range 1 + rnd.IntN(8) {
			name, to := pool[rnd.IntN(len(pool))], commits[rnd.IntN(len(commits))]
			switch rnd.IntN(6) {
			case 0:
				g.git("update-ref", "--no-deref", "-d", name)
			case 1:
				g.git("symbolic-ref", name, pool[rnd.IntN(3)])
			case 2:
				g.git("tag", "-f", "-a", "-m", "x", fmt.Sprint("annotated", rnd.IntN(3)), to)
			case 3:
				var lines strings.Builder
				for i := range 200 {
					fmt.Fprintf(&lines, "update refs/tags/many/%d %s\n", 100+7*i, commits[rnd.IntN(len(commits))])
				}
				cmd := exec.Command(g.tool, "update-ref", "--stdin")
				cmd.Dir, cmd.Stdin = g.dir, strings.NewReader(lines.String())
				must(g, cmd.Run())
			default:
				g.git("update-ref", "--no-deref", name, to)
			}
		}
		if rnd.IntN(2) == 0 {
			g.git("pack-refs", "--all")
		}
		g.git("update-ref", "--no-deref", "refs/heads/moving", moving[0])
		n += g.sameRefs(pool)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 6 {
				cmd := exec.Command(g.tool, "update-ref", "refs/heads/moving", moving[i%2])
				cmd.Dir = g.dir
				_ = cmd.Run() // it may find the lock of another one
			}
		}()
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			r := g.open()
			if h, err := r.Ref("refs/heads/moving"); err != nil || !slices.Contains(moving[:], h.String()) {
				g.Fatalf("while it changes it is %v, %v", h, err)
			}
			r.Close()
		}
		g.git("update-ref", "refs/heads/moving", moving[0])
		n += g.sameRefs(pool)
	}
	return n
}

// sameRefs compares all refs, and the names of pool that do not exist, with git's.
func (g *gitRepo) sameRefs(pool []string) int {
	g.Helper()
	r := g.open()
	defer r.Close()
	want := map[string]string{}
	for line := range strings.Lines(g.git("for-each-ref", "--format=%(refname) %(objectname) %(*objectname)")) {
		fields := strings.Fields(line)
		want[fields[0]] = fields[len(fields)-1]
	}
	want["HEAD"] = first(g.try("rev-parse", "-q", "--verify", "HEAD"))
	for name, hash := range want {
		hash = strings.TrimSpace(hash)
		h, err := r.Commit(name)
		if (err == nil) != (hash != "") || err == nil && h.String() != hash {
			g.Fatalf("%s is %v, %v; git says %q", name, h, err, hash)
		}
	}
	for _, name := range pool {
		// A symbolic ref to nothing is in git's list no more than a missing one.
		if _, err := r.Ref(name); want[name] == "" && !errors.Is(err, ErrUnknown) &&
			!strings.Contains(fmt.Sprint(err), "leads to itself") {
			g.Fatalf("%s does not exist: %v", name, err)
		}
	}
	return len(want)
}

// compareStaged stages changes of all kinds, and compares the index with git's, and some blobs. It returns how many
// files and blobs.
func (g *gitRepo) compareStaged(rnd *rand.Rand, split bool) (files, blobs int) {
	g.Helper()
	list := strings.Fields(g.git("rev-list", "--all"))
	g.git("checkout", "-q", "-f", "--detach", list[rnd.IntN(len(list))])
	sometimesSplit := 0
	for step := range 10 {
		var names []string
		for _, name := range strings.Split(g.git("ls-files", "-z"), "\x00") {
			if name != "" && !strings.Contains(name, "\n") && !strings.Contains(name, "\xff") {
				names = append(names, name)
			}
		}
		name := fmt.Sprintf("new/%d.tf", step)
		if len(names) > 0 && rnd.IntN(3) > 0 {
			name = names[rnd.IntN(len(names))]
		}
		full := filepath.Join(g.dir, name)
		st, err := os.Lstat(full)
		isFile := err == nil && st.Mode().IsRegular()
		// git refuses some of these, and they then change nothing.
		switch op := rnd.IntN(8); {
		case op == 0 && len(names) > 0:
			_, _ = g.try("rm", "-q", "-r", "-f", "--cached", "--", name)
		case op == 1 && isFile:
			must(g, os.Chmod(full, 0o755))
			_, _ = g.try("add", "--", name)
		case op == 2:
			g.write(fmt.Sprintf("later/%d", step), "later")
			_, _ = g.try("add", "-N", "later")
		case op == 3 && isFile:
			_, _ = g.try("mv", "--", name, fmt.Sprintf("moved%d", step))
		case op == 4:
			_, _ = g.try("checkout", "-q", "-f", "--detach", list[rnd.IntN(len(list))])
		case op == 5:
			_, _ = g.try("update-index", "--index-version", fmt.Sprint(2+rnd.IntN(3)))
		case op == 6 && !split:
			_, _ = g.try("sparse-checkout", "set", "--cone", "--sparse-index", []string{"many", "b", "deep"}[rnd.IntN(3)])
		default:
			if err == nil && !isFile {
				continue
			}
			if os.MkdirAll(filepath.Dir(full), 0o777) != nil {
				continue // a file is there
			}
			must(g, os.WriteFile(full, fmt.Appendf(nil, "%d %d", step, rnd.IntN(99)), 0o666))
			_, _ = g.try("add", "--sparse", "-f", "--", name)
		}
		_ = os.Remove(g.indexPath() + ".lock") // 2.55 can abort over a sparse index
		if strings.Contains(string(g.indexBytes()), "link") {
			sometimesSplit++
		}
		idx := g.sameIndex()
		files += len(idx.Files)
		for _, f := range idx.Files {
			if f.Mode != File || rnd.IntN(10) > 0 {
				continue
			}
			b, err := g.open().Blob(f.Hash)
			must(g, err)
			got, err := io.ReadAll(b)
			must(g, err)
			b.Close()
			if want, err := g.try("cat-file", "blob", f.Hash.String()); err != nil || want != string(got) {
				g.Fatalf("%s is %q, %v, want %q", f.Path, got, err, want)
			}
			blobs++
		}
	}
	if split && sometimesSplit == 0 {
		g.Fatal("the index was never split")
	}
	return files, blobs
}
