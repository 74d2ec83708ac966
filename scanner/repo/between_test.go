package repo

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBetween compares generated histories, whose dates have no order, with their definition: which commits tips reach
// and ends do not, in which order, and what each brings. Git lists the commits' parents, dates and files.
func TestBetween(t *testing.T) {
	histories, commits, brought, merges := 6, 0, 0, 0
	if *long {
		histories = 300
	}
	for seed := range histories {
		rnd := rand.New(rand.NewPCG(uint64(seed), 61))
		g := newGitOf(t, []format{formatSHA1, formatSHA256}[seed%2])
		importedHistory(g, rnd, 10+rnd.IntN(30))
		if seed%3 == 0 {
			g.git("commit-graph", "write", "--reachable")
		}
		r := g.open()
		r.beforeGraph = 0
		known := map[string]naiveCommit{}
		for line := range strings.Lines(g.git("log", "--all", "--format=%H %ct %P")) {
			fields := strings.Fields(line)
			known[fields[0]] = naiveCommit{fields[1], fields[2:], map[string]string{}}
			for entry := range strings.SplitSeq(g.git("ls-tree", "-r", "-z", fields[0]), "\x00") {
				if about, path, found := strings.Cut(entry, "\t"); found {
					kind := strings.Fields(about)
					known[fields[0]].files[path] = kind[0] + " " + kind[2]
				}
			}
		}
		list := slices.Sorted(maps.Keys(known))
		some := func(most int) (all []string) {
			for range rnd.IntN(most) {
				all = append(all, list[rnd.IntN(len(list))])
			}
			return all
		}
		for range 20 {
			tips, ends := append(some(3), list[rnd.IntN(len(list))]), some(4)
			got, err := r.Between(hashesOf(t, tips), hashesOf(t, ends))
			must(t, err)
			if want := naiveBetween(known, tips, ends); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("history %d: %q ^%q\n%v, want\n%v", seed, tips, ends, got, want)
			}
			commits += len(got)
		}
		for _, h := range list {
			got := map[string]string{}
			must(t, r.Brought(mustHash(t, h), func(path string, leaf Leaf) error {
				got[path] = fmt.Sprintf("%06o %s", leaf.Mode, leaf.Hash)
				return nil
			}))
			if want := naiveBrought(known, h); !maps.Equal(got, want) {
				t.Fatalf("history %d: %s brings %q, want %q", seed, h, got, want)
			}
			if brought += len(got); len(known[h].parents) > 1 && len(got) > 0 {
				merges++
			}
		}
	}
	if commits < 50*histories || brought < 40*histories || merges < histories/4 {
		t.Errorf("too little to say much: %d commits, %d brought files, %d merges with some", commits, brought, merges)
	}
}

type naiveCommit struct {
	date    string
	parents []string
	files   map[string]string // mode and hash
}

func naiveBetween(known map[string]naiveCommit, tips, ends []string) []string {
	reached := func(from []string) map[string]bool {
		all := map[string]bool{}
		for len(from) > 0 {
			h := from[0]
			from = from[1:]
			if !all[h] {
				all[h] = true
				from = append(from, known[h].parents...)
			}
		}
		return all
	}
	wanted := reached(tips)
	for h := range reached(ends) {
		delete(wanted, h)
	}
	var all []string
	for len(wanted) > 0 {
		first := ""
		for h := range wanted {
			ready := !slices.ContainsFunc(known[h].parents, func(p string) bool { return wanted[p] })
			if ready && (first == "" || known[h].date+h < known[first].date+first) { // dates have as many digits
				first = h
			}
		}
		delete(wanted, first)
		all = append(all, first)
	}
	return all
}

func naiveBrought(known map[string]naiveCommit, h string) map[string]string {
	all := maps.Clone(known[h].files)
	for _, p := range known[h].parents {
		maps.DeleteFunc(all, func(path, leaf string) bool { return known[p].files[path] == leaf })
	}
	return all
}

func hashesOf(t *testing.T, names []string) (all []Hash) {
	for _, name := range names {
		all = append(all, mustHash(t, name))
	}
	return all
}

// A history that is cut off, by a shallow clone or a missing object, is an error where it matters, never a shorter
// list; the ends may be cut off.
func TestBetweenCutOff(t *testing.T) {
	g := newGit(t)
	var commits []string
	for i := range 60 {
		g.write("f", fmt.Sprint(i))
		commits = append(commits, g.commit("c"))
	}
	clone := filepath.Join(t.TempDir(), "clone")
	g.git("clone", "-q", "--no-local", "--depth=10", "file://"+g.dir, clone)
	r, err := Find(clone)
	must(t, err)
	defer r.Close()
	tip := hashesOf(t, commits[59:])
	var shallow *ShallowError
	for _, ends := range [][]Hash{nil, hashesOf(t, commits[49:50])} {
		if got, err := r.Between(tip, ends); err == nil || len(ends) == 0 && !errors.As(err, &shallow) {
			t.Errorf("ends %v: %d commits, %v", ends, len(got), err)
		}
	}
	if got, err := r.Between(tip, hashesOf(t, commits[50:51])); err != nil || len(got) != 9 {
		t.Errorf("%d commits, %v", len(got), err)
	}
	if err := r.Brought(mustHash(t, commits[50]), nil); !errors.As(err, &shallow) {
		t.Errorf("the boundary's files: %v", err)
	}
	must(t, os.Remove(filepath.Join(g.dir, ".git/objects", commits[30][:2], commits[30][2:])))
	var lost *ObjectError
	if got, err := g.open().Between(tip, hashesOf(t, commits[:1])); !errors.As(err, &lost) {
		t.Errorf("%d commits, %v", len(got), err)
	}
}

// TestBetweenCost: the search ends soon after the oldest commit of the result, however many ends and commits there are.
func TestBetweenCost(t *testing.T) {
	g := newGit(t)
	var in bytes.Buffer
	const n = 3000
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&in, "commit refs/heads/main\nmark :%d\ncommitter a <a@b> %d +0000\ndata 0\n", i, 1_700_000_000+i)
	}
	g.git("config", "core.fsync", "none")
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = g.dir, &in
	must(t, cmd.Run())
	r := g.open()
	list := hashesOf(t, strings.Fields(g.git("rev-list", "main")))
	got, err := r.Between(list[:1], list[5:])
	if err != nil || len(got) != 5 {
		t.Fatalf("%d commits, %v", len(got), err)
	}
	r = g.open()
	if got, err = r.Between(list[:1], list[5:6]); err != nil || len(got) != 5 || r.past.asked > 5+slop+5 {
		t.Errorf("%d commits, %v, %d read", len(got), err, r.past.asked)
	}
}
