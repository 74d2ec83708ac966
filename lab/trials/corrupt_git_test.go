//go:build linux

package trials

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/verdict"
)

// classes are the files that are damaged, by what is in them.
func classes() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"pack":             regexp.MustCompile(`^\.git/objects/pack/.*\.pack$`),
		"pack index":       regexp.MustCompile(`^\.git/objects/pack/.*\.idx$`),
		"multi-pack-index": regexp.MustCompile(`^\.git/objects/pack/multi-pack-index$`),
		"loose object":     regexp.MustCompile(`^\.git/objects/[0-9a-f]{2}/`),
		"commit-graph":     regexp.MustCompile(`^\.git/objects/info/commit-graph$`),
		"ref":              regexp.MustCompile(`^\.git/refs/`),
		"packed-refs":      regexp.MustCompile(`^\.git/packed-refs$`),
		"reftable":         regexp.MustCompile(`^\.git/reftable/`),
		"HEAD":             regexp.MustCompile(`^\.git/HEAD$`),
		"config":           regexp.MustCompile(`^\.git/config$`),
		"shallow":          regexp.MustCompile(`^\.git/shallow$`),
		"index":            regexp.MustCompile(`^\.git/index$`),
		"shared index":     regexp.MustCompile(`^\.git/sharedindex\.`),
		"bundle":           regexp.MustCompile(`^\.policyscan/rules/`),
	}
}

// A plan is how often files of a class are damaged before runs of a scope.
type plan struct {
	scope, class string
	trials       int
}

func plans() []plan {
	return []plan{
		{"diff", "pack", 1500}, {"diff", "pack index", 900}, {"diff", "loose object", 1200}, {"diff", "commit-graph", 500},
		{"diff", "ref", 300}, {"diff", "packed-refs", 500}, {"diff", "HEAD", 200}, {"diff", "config", 400},
		{"many packs", "multi-pack-index", 900}, {"many packs", "pack", 300},
		{"shallow", "shallow", 400}, {"shallow", "pack", 300}, {"shallow", "pack index", 200},
		{"staged", "index", 1200}, {"staged", "pack", 300}, {"staged", "loose object", 600}, {"staged", "pack index", 200},
		{"staged", "HEAD", 200}, {"staged", "ref", 200}, {"staged", "packed-refs", 100}, {"staged", "config", 200},
		{"tracked", "index", 800}, {"tracked", "HEAD", 100}, {"tracked", "config", 200},
		{"full", "index", 200}, {"full", "bundle", 900}, {"tracked", "bundle", 300},
		{"split", "index", 500}, {"split", "shared index", 500}, {"tables", "reftable", 1200},
	}
}

// A damage is a change of one file, or of two that change places.
type damage struct {
	what  string
	files map[string][]byte // by path from the directory
}

// spoil damages a file of a class: a bit, the rest of it, two parts that change places, or
// two files that do.
func spoil(rnd *rand.Rand, root string, names []string) (damage, error) {
	name := names[rnd.IntN(len(names))]
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil || len(text) == 0 {
		return damage{}, fmt.Errorf("%s: nothing to damage: %v", name, err)
	}
	d := damage{files: map[string][]byte{}}
	spoiled := bytes.Clone(text)
	switch kind := rnd.IntN(8); {
	case kind < 4:
		at, bit := rnd.IntN(len(text)), rnd.IntN(8)
		spoiled[at] ^= 1 << bit
		d.what = fmt.Sprintf("%s: bit %d of byte %d of %d", name, bit, at, len(text))
	case kind < 6:
		spoiled = spoiled[:rnd.IntN(len(text))]
		d.what = fmt.Sprintf("%s: cut to %d of %d bytes", name, len(spoiled), len(text))
	case kind == 6 && len(names) > 1:
		other := names[rnd.IntN(len(names))]
		if spoiled, err = os.ReadFile(filepath.Join(root, other)); err != nil {
			return d, err
		}
		d.files[other] = text
		d.what = fmt.Sprintf("%s and %s change places", name, other)
	default:
		size := 1 + rnd.IntN(min(32, max(1, len(text)/2)))
		a, b := rnd.IntN(len(text)-size+1), rnd.IntN(len(text)-size+1)
		copy(spoiled[a:a+size], text[b:])
		copy(spoiled[b:b+size], text[a:a+size])
		d.what = fmt.Sprintf("%s: %d bytes at %d and at %d change places", name, size, a, b)
	}
	d.files[name] = spoiled
	return d, nil
}

// apply writes the damage; undo puts back what was there.
func (d damage) apply(root string) (undo func() error, err error) {
	old := map[string][]byte{}
	for name, text := range d.files {
		file := filepath.Join(root, name)
		if old[name], err = os.ReadFile(file); err != nil {
			return nil, err
		}
		if err := os.Chmod(file, 0o666); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return nil, err
		}
	}
	return func() error {
		for name, text := range old {
			if err := os.WriteFile(filepath.Join(root, name), text, 0o666); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// history makes a repository whose merge base is 80 commits back, so that the commit-graph is
// read, with packs, loose objects and refs of both kinds.
func (b *builder) history(bad bool) {
	b.Helper()
	b.repository(bad)
	b.git("reset", "-q", "--hard")
	b.write("k8s/other.yaml", "kind: Service\n")
	b.commit("five")
	tree, at := b.git("rev-parse", "HEAD^{tree}"), b.git("rev-parse", "HEAD")
	for i := range 80 {
		b.now++
		at = b.git("commit-tree", "-p", at, "-m", fmt.Sprint(i), tree)
	}
	b.git("reset", "-q", "--hard", at)
	b.git("tag", "-a", "-m", "tag", "v1")
	b.git("gc", "-q")
	b.git("commit-graph", "write", "--reachable")
	b.write("infra/dns.tf", "name = \"dns\"\n")
	b.commit("last")
	b.git("update-ref", "refs/heads/main", "main~0")
	b.git("branch", "loose", "main")
	b.write("infra/staged.tf", "cidr = \"10.0.0.0/8\"\n")
	if bad {
		b.write("infra/staged.tf", "cidr = \"0.0.0.0/0\"\n")
	}
	b.git("add", "-A")
}

// damaged are the scenes of the plans, by scope. Half of them are in a repository of SHA-256.
func damaged(t *testing.T) map[string][]*scene {
	t.Helper()
	all := map[string][]*scene{}
	for i := range 4 {
		bad, suffix, status := i%2 == 1, "", 0
		if bad {
			suffix, status = ", violations", 1
		}
		b := newBuilder(t)
		if i >= 2 {
			b.hash, suffix = "sha256", suffix+", SHA-256"
		}
		b.history(bad)
		packs := &builder{TB: t, dir: copied(t, b.dir)}
		packs.git("repack", "-q", "-d")
		packs.git("multi-pack-index", "write")
		for _, name := range of(t, packs.dir, "pack index") { // so that only the multi-pack-index is read
			if err := os.Remove(filepath.Join(packs.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		near := &builder{TB: t, dir: copied(t, b.dir)}
		near.git("reset", "-q", "--hard")
		clone := &builder{TB: t, dir: filepath.Join(t.TempDir(), "clone")}
		near.git("clone", "-q", "--depth", "3", "--no-tags", "file://"+near.dir, clone.dir)
		for _, s := range []*scene{
			{name: "diff", args: []string{"--diff-base", "main"}},
			{name: "staged", args: []string{"--staged"}},
			{name: "tracked", args: []string{"--tracked"}},
			{name: "full"},
			{name: "shallow", args: []string{"--diff-base", "HEAD~1"}},
			{name: "many packs", args: []string{"--diff-base", "main"}},
		} {
			s.root, s.reports, s.status = b.dir, []string{"sarif"}, status
			switch s.name {
			case "shallow":
				s.root = clone.dir
			case "many packs":
				s.root = packs.dir
			}
			s.root = copied(t, s.root)
			scope := s.name
			if scope == "shallow" && bad {
				continue // what the last commit changes has no violation
			}
			s.name += suffix
			s.prepare(t)
			all[scope] = append(all[scope], s)
		}
		split := &builder{TB: t, dir: copied(t, b.dir)}
		split.git("update-index", "--split-index")
		split.write("infra/later.tf", "later\n")
		split.git("add", "-A")
		tables := copied(t, b.dir)
		for _, s := range []*scene{
			{name: "split", args: []string{"--staged"}, root: split.dir},
			{name: "tables", args: []string{"--diff-base", "main"}, root: tables},
		} {
			if s.root == tables && exec.Command(os.Getenv("GIT"), "-C", tables, "refs", "migrate",
				"--ref-format=reftable").Run() != nil {
				continue // GIT names no git that writes reftables
			}
			scope := s.name
			s.name, s.reports, s.status = scope+suffix, []string{"sarif"}, status
			s.prepare(t)
			all[scope] = append(all[scope], s)
		}
	}
	return all
}

// of returns the files of a class in a directory, in order.
func of(t *testing.T, root, class string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if rel, _ := filepath.Rel(root, file); d.Type().IsRegular() && classes()[class].MatchString(filepath.ToSlash(rel)) {
			names = append(names, rel)
		}
		return nil
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: no file: %v", class, err)
	}
	return names
}

// A corruption is a damage before a run of a scene.
type corruption struct {
	plan
	scene *scene
	roots []string
	names []string
	seed  uint64
}

// Outcomes of a run over damaged files, in addition to the others.
const (
	another = "of the commits it names" // in the undamaged repository
	byNaive = "of the bundle it names"  // as lab/naive judges by it
)

// TestCorrupt: files of git's and of the bundle are damaged, and restored after a run. Statuses 0
// and 1 come with the verdict of the undamaged files alone; or with one that names the commits
// that a ref without a checksum has come to name, and is the verdict of these commits; or with one
// that names the bundle that the damage has made, and is what another implementation says.
func TestCorrupt(t *testing.T) {
	wanted(t, "corrupt")
	began := time.Now()
	scenesOf := damaged(t)
	roots := map[*scene][]string{}
	names := map[string][]string{}
	var trials []corruption
	for _, p := range plans() {
		if len(scenesOf[p.scope]) == 0 {
			t.Logf("SKIPPED: %s: GIT names no git that writes reftables (2.45 or later)", p.class)
			continue
		}
		for i := range p.trials {
			s := scenesOf[p.scope][i%len(scenesOf[p.scope])]
			if roots[s] == nil {
				roots[s] = s.copies(t, workers())
			}
			key := s.name + p.class
			if names[key] == nil {
				names[key] = of(t, s.root, p.class)
			}
			trials = append(trials, corruption{p, s, roots[s], names[key], uint64(len(trials))})
		}
	}
	n := tally{t: t}
	each(sample(trials, 100), workers(), func(worker int, c corruption) {
		outcome, what, err := c.try(c.roots[worker])
		if err != nil {
			n.fault("%s, trial %d: %s: %v", c.scene.name, c.seed, what, err)
			return
		}
		n.add(outcome, fmt.Sprintf("row %s, %s", c.class, c.scope), "all")
	})
	if n.counts["all"][same] == 0 || n.counts["all"][undecided] == 0 {
		t.Errorf("some outcome never came: %v", n.counts["all"])
	}
	if *measuring && n.total("all") < 10_000 {
		t.Errorf("%d trials, of 10,000 at least", n.total("all"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d damages in %s (seed %d), a run of the program after each.\n\n", n.total("all"), rounded(began), *seed)
	b.WriteString(n.table("row ", "damaged, and the scope", []string{same, found, undecided, another, byNaive}))
	writePart(t, "corruption", b.String())
}

// try does one damage, one run, and fixes.
func (c *corruption) try(root string) (outcome, what string, err error) {
	if err := c.scene.reset(root); err != nil {
		return "", "", err
	}
	d, err := spoil(rand.New(rand.NewPCG(*seed, c.seed)), root, c.names)
	if err != nil {
		return "", "", err
	}
	undo, err := d.apply(root)
	if err != nil {
		return "", d.what, err
	}
	e, err := c.scene.run(root)
	if err == nil {
		outcome, err = c.verdict(root, e)
	}
	if uerr := undo(); uerr != nil {
		err = uerr
	}
	return outcome, d.what, err
}

// verdict returns the outcome of a run over damaged files.
func (c *corruption) verdict(root string, e ending) (string, error) {
	if c.class == "bundle" {
		return c.byBundle(root, e)
	}
	outcome, err := c.scene.judge(e)
	if err == nil || e.status > 1 || slices.Contains([]string{"pack", "pack index", "multi-pack-index",
		"loose object", "commit-graph", "index", "shared index"}, c.class) {
		return outcome, err
	}
	// What has no checksum can come to name other commits.
	if oerr := c.ofOthers(e); oerr != nil {
		return "", fmt.Errorf("%w; nor %w\n%s%s", err, oerr, e.out, e.err)
	}
	return another, nil
}

// ofOthers is an error unless a verdict is, except for the name of its base, the one that an
// undamaged repository has for the commits that it names.
func (c *corruption) ofOthers(e ending) error {
	got, err := verdict.Decode(e.files["verdict.json"])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "undamaged")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	scope := got.Scope
	fresh := &scene{root: c.scene.root, args: []string{"--output", filepath.Join(dir, "verdict.json")}}
	switch {
	case c.scope != "staged" && scope.HeadCommit == "":
		return errors.New("it names no commit")
	case c.scope != "staged":
		fresh.args = append(fresh.args, "--diff-base", scope.BaseCommit, "--head", scope.HeadCommit)
	default: // of the commit that HEAD names or, before the first, of none
		fresh.root, fresh.args = filepath.Join(dir, "copy"), append(fresh.args, "--staged")
		if out, err := exec.Command("cp", "-a", c.scene.root, fresh.root).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		head := cmp.Or(scope.BaseCommit, "ref: refs/heads/unborn") + "\n"
		if err := os.WriteFile(filepath.Join(fresh.root, ".git", "HEAD"), []byte(head), 0o666); err != nil {
			return err
		}
	}
	clean, err := fresh.run(fresh.root)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "verdict.json"))
	if err != nil {
		return err
	}
	want, err := verdict.Decode(text)
	if err != nil {
		return err
	}
	want.Scope.Base = scope.Base
	if clean.status != e.status || asText(want) != asText(got) {
		return fmt.Errorf("that of %s..%s", scope.BaseCommit, scope.HeadCommit)
	}
	return nil
}
