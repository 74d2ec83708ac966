package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict/summary"
)

// fleetOf makes repositories of many kinds in a directory next to bundles, and returns a list of them and their
// number. Their names do not begin with their paths.
func fleetOf(t *testing.T, seed uint64, n int) (g *gitRepo, list string) {
	g = newGit(t)
	r := rand.New(rand.NewPCG(seed, 34))
	g.put("a.tf", "cidr = \"10.0.0.0/8\"\n")
	g.commit("good")
	g.put("deep/b.tf", "cidr = \"0.0.0.0/0\"\n")
	g.commit("bad")
	g.git("tag", "v1")
	g.put(".policyscan/rules/boundaries.yml", strings.ReplaceAll(oneRule, "0.0.0.0/0", "10.0.0.0/8"))
	g.put(".policyscan/rules/invariants.yml", "rules: []\n")
	g.commit("own")
	g.put(".policyscan/rules/invariants.yml", "rules: [\n")
	g.commit("own, broken")
	g.git("worktree", "add", "-q", "--detach", "../linked", "HEAD~1")
	g.gitIn(".", "", "clone", "-q", "--bare", "repo", "bare.git")
	g.gitIn(".", "", "clone", "-q", "--bare", "--depth", "1", "file://"+g.path(""), "shallow.git")
	g.gitIn(".", "", "clone", "-q", "--shared", "--bare", "repo", "shared.git")
	g.gitIn(".", "", "init", "-q", "--bare", "unborn.git")
	g.gitIn(".", "", "clone", "-q", "--bare", "repo", "damaged.git")
	if err := os.RemoveAll(filepath.Join(g.dir, "damaged.git", "objects", "pack")); err != nil {
		t.Fatal(err)
	}
	g.write("nothing/file", "")
	for i := range n {
		path := []string{
			"repo", "linked", "bare.git", "./repo", "shallow.git", "shared.git", "unborn.git", "damaged.git",
			"nothing", "gone",
		}[r.IntN(10)]
		rev := []string{"", "HEAD", "HEAD~1", "HEAD~2", "HEAD~3", "v1", "main", "no-such", "@{1}"}[r.IntN(9)]
		list += fmt.Sprintf("%s\t%s\tteam-%d/x%d\n", path, rev, r.IntN(3), i)
	}
	return g, list
}

// TestFleetIsEach: each verdict of a fleet has the bytes that a scan of that commit writes, however many workers there
// are, and the summary's bytes do not depend on them either.
func TestFleetIsEach(t *testing.T) {
	seeds := uint64(1)
	if *long {
		seeds = 20
	}
	pass, fail, undecided := 0, 0, 0
	for seed := range seeds {
		g, list := fleetOf(t, seed, 40)
		g.write("repos.txt", list)
		for flags, single := range map[string]string{
			"--policy policy": "--policy policy", "--own-policy": "",
			"--policy policy --require-governed --allow empty": "--policy policy --require-governed --allow empty",
		} {
			if !*long && strings.Contains(flags, "governed") {
				continue
			}
			var first string
			var f summary.Fleet
			for _, workers := range []string{"1", "7"} {
				args := []string{"fleet", "--repos", "repos.txt", "--workers", workers}
				e := g.run(append(args, strings.Fields(flags)...)...)
				text := readFile(t, filepath.Join(g.dir, "policyscan-fleet", "fleet.json"))
				f = summary.Fleet{}
				if err := json.Unmarshal([]byte(text), &f); err != nil {
					t.Fatal(err)
				}
				status := exitViolation
				if f.Totals.Fail == 0 { // of 40 drawn ones, some are never decided
					status = exitUndecided
				}
				e.want(t, status)
				if first == "" {
					first = text
				}
				if text != first {
					t.Fatalf("with %s workers the summary has other bytes", workers)
				}
			}
			pass, fail, undecided = pass+f.Totals.Pass, fail+f.Totals.Fail, undecided+f.Totals.Undecided
			if len(f.Repositories) != 40 {
				t.Fatalf("%d repositories", len(f.Repositories))
			}
			known := map[string]string{}
			for _, r := range f.Repositories {
				got := readFile(t, filepath.Join(g.dir, "policyscan-fleet", filepath.FromSlash(r.Name),
					"verdict.json"))
				// a scan names the directory in another way
				if r.Path == "gone" || r.Path == "nothing" || r.Path == "./nothing" {
					var v struct{ Verdict string }
					if err := json.Unmarshal([]byte(got), &v); err != nil || v.Verdict != "FAIL" || !r.Undecided() {
						t.Errorf("%s: %s", r.Path, got)
					}
					continue
				}
				key := r.Path + "\t" + r.Revision
				if known[key] == "" {
					g.run(append([]string{"--rev", r.Revision, "--output", "one.json", "-q", r.Path},
						strings.Fields(single)...)...)
					known[key] = readFile(t, filepath.Join(g.dir, "one.json"))
				}
				if got != known[key] {
					t.Errorf("%s at %s: the fleet has\n%s\na scan\n%s", r.Path, r.Revision, got, known[key])
				}
			}
		}
	}
	if pass == 0 || fail == 0 || undecided == 0 {
		t.Errorf("%d pass, %d fail, %d undecided: the test sees too little", pass, fail, undecided)
	}
}

// TestFleetShards: the shards of a fleet merge to the directory of a single run, byte for byte.
func TestFleetShards(t *testing.T) {
	g, list := fleetOf(t, 7, 25)
	g.write("repos.txt", list)
	args := []string{"fleet", "--repos", "repos.txt", "--policy", "policy", "--policy", "builtin:infra"}
	g.run(append(args, "--output", "one")...).want(t, 1)
	counts := []int{1, 3}
	if *long {
		counts = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	}
	for _, n := range counts {
		out := fmt.Sprint("shards", n)
		for i := range n {
			e := g.run(append(args, "--output", fmt.Sprintf("%s/%d", out, i), "--shard", fmt.Sprintf("%d/%d", i, n),
				"--defer")...)
			if e.status == 1 {
				t.Errorf("shard %d/%d: status 1 in spite of --defer\n%s%s", i, n, e.out, e.err)
			}
		}
		g.run("merge", "--output", "merged", out).want(t, 1)
		if one, merged := filesIn(t, filepath.Join(g.dir, "one")),
			filesIn(t, filepath.Join(g.dir, "merged")); one != merged {
			t.Errorf("%d shards: merged\n%.3000s\nnot\n%.3000s", n, merged, one)
		}
	}

	// A problem with a shard's directory is named, and leaves no verdict.
	shard0 := filepath.Join(g.dir, "shards3", "0")
	verdicts, err := filepath.Glob(filepath.Join(shard0, "*", "*", "verdict.json"))
	if err != nil || len(verdicts) == 0 {
		t.Fatal(verdicts, err)
	}
	for _, damage := range []struct {
		file, text, says string
	}{
		{verdicts[0], "", "is not the one that the shard wrote"},
		{filepath.Join(shard0, "shard.json"), "gone", "shard.json cannot be read"},
	} {
		was := readFile(t, damage.file)
		if damage.text == "gone" {
			if err := os.Remove(damage.file); err != nil {
				t.Fatal(err)
			}
		} else {
			writeFile(t, damage.file, damage.text)
		}
		e := g.run("merge", "--output", "merged", "shards3").want(t, 2)
		if !strings.Contains(e.out, damage.says) || !strings.Contains(e.out, "shards3/0") ||
			!strings.Contains(e.out, "E_SHARD") {
			t.Errorf("%s: %s%s", damage.says, e.out, e.err)
		}
		if text := filesIn(t, filepath.Join(g.dir, "merged")); strings.Contains(text, "PASS") {
			t.Errorf("%s: the merge leaves\n%.3000s", damage.says, text)
		}
		writeFile(t, damage.file, was)
	}
	for _, x := range []struct{ args, says string }{
		{"merge --output shards3 shards3", "is a directory of shards"},
		{"merge --output merged shards3/0 shards3/1", "shard 2/3 is missing"},
		{"merge --output merged policy/rules", "no shard.json"},
		{"fleet --repos repos.txt --policy policy --shard 0/2 --output none", "--output none"},
		{"fleet --repos repos.txt --policy policy --defer", "without --shard"},
	} {
		if e := g.run(strings.Fields(x.args)...).want(t, 2); !strings.Contains(e.out+e.err, x.says) {
			t.Errorf("%s: %s%s", x.args, e.out, e.err)
		}
	}
}

// filesIn returns the names and contents of all files in a directory.
func filesIn(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		fmt.Fprintf(&text, "%s\n%s\n", rel, readFile(t, name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}
