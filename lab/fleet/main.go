//go:build linux

// Command fleet measures policyscan fleet: it makes many bare repositories from real ones, scans them in one run, some
// of them by a process each, and all of them on two nights with --reuse, between which some of them change. That each
// run has the same results, byte for byte, with --reuse and without, is checked.
//
// A generated repository is a directory of a real one, as it was at one of 200 commits: see sources. It takes the objects
// from there (info/alternates), as forks on a server do, or with -packs has its own history and pack, as mirrors
// have.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A plan is what the flags say.
type plan struct {
	from            string
	n, each, files  int
	packs           bool
	changed, rounds int
	policy, program string
	keep            string

	work  string // a directory of this run
	names []string
}

func main() {
	var p plan
	flag.StringVar(&p.from, "from", "..", "the repositories to make others from, with commas between them")
	flag.IntVar(&p.n, "n", 10_000, "how many to make")
	flag.IntVar(&p.files, "files", 2048, "how many files one has at most")
	flag.BoolVar(&p.packs, "packs", false, "each has its own history and pack")
	flag.IntVar(&p.each, "each", 300, "how many of them to scan by a process each")
	flag.IntVar(&p.changed, "changed", 3, "percent of them that have a new commit on the second night; 0: no nights")
	flag.IntVar(&p.rounds, "rounds", 1, "how often to measure; the least time counts")
	flag.StringVar(&p.policy, "policy", "builtin:infra", "the bundle")
	flag.StringVar(&p.program, "program", "", "policyscan; empty: it is built")
	flag.StringVar(&p.keep, "keep", "", "an empty directory for the repositories, kept; empty: a temporary one")
	flag.Parse()
	if err := p.run(); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

func (p *plan) run() (err error) {
	if p.work, err = os.MkdirTemp("", "policyscan-fleet"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(p.work)) }()
	if p.program == "" {
		p.program = filepath.Join(p.work, "policyscan")
		build := exec.Command("go", "-C", "..", "build", "-o", p.program, "./cmd/policyscan")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	if p.keep == "" {
		p.keep = filepath.Join(p.work, "repositories")
	}
	if err := p.generate(); err != nil {
		return err
	}
	size, files, err := sizeOf(p.keep)
	if err != nil {
		return err
	}
	fmt.Printf("%d repositories, %d MiB in %d files\n", len(p.names), size>>20, files)
	if p.changed == 0 {
		plain, err := p.fleet("plain", "")
		if err != nil {
			return err
		}
		fmt.Printf("in one run: %s\n", plain)
		return p.loop(plain)
	}
	first, err := p.night("the first night", "")
	if err != nil {
		return err
	}
	if err := p.loop(first.plain); err != nil {
		return err
	}
	changed, err := p.change()
	if err != nil {
		return err
	}
	fmt.Printf("%d repositories have a new commit\n", changed)
	second, err := p.night("the second night", filepath.Join(p.work, "kept"))
	if err != nil {
		return err
	}
	fmt.Printf("the second night takes %.2f of the processor time of the first with --reuse, and %.2f of that without\n",
		ratio(second.reuse.cpu, first.reuse.cpu), ratio(second.reuse.cpu, first.plain.cpu))
	fmt.Printf("and reads %.2f %% of the file bytes of the first one with --reuse, and %.2f %% of those without\n",
		100*float64(second.reuse.read)/float64(first.reuse.read), 100*float64(second.reuse.read)/float64(first.plain.read))
	return nil
}

func ratio(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }

// A night is a run without --reuse and one with it.
type night struct{ plain, reuse usage }

// night scans all with --reuse and without, by turns. What an earlier night kept is in a directory; "": it is the first.
// What this one keeps is then in the directory "kept".
func (p *plan) night(name, kept string) (n night, err error) {
	for i := range p.rounds {
		plain, err := p.fleet("plain", "")
		if err != nil {
			return n, err
		}
		cache := filepath.Join(p.work, fmt.Sprint("kept", i))
		if kept != "" {
			if out, err := exec.Command("cp", "-a", kept, cache).CombinedOutput(); err != nil {
				return n, fmt.Errorf("%w\n%s", err, out)
			}
		}
		reuse, err := p.fleet("reuse", cache)
		if err != nil {
			return n, err
		}
		if out, err := exec.Command("diff", "-rq", p.results("plain"), p.results("reuse")).CombinedOutput(); err != nil {
			return n, fmt.Errorf("with --reuse the results are others: %w\n%.2000s", err, out)
		}
		n.plain.least(plain, i)
		n.reuse.least(reuse, i)
		if i+1 < p.rounds {
			if err := os.RemoveAll(cache); err != nil {
				return n, err
			}
			continue
		}
		if err := errors.Join(os.RemoveAll(filepath.Join(p.work, "kept")),
			os.Rename(cache, filepath.Join(p.work, "kept"))); err != nil {
			return n, err
		}
	}
	bytes, entries, err := sizeOf(filepath.Join(p.work, "kept"))
	if err != nil {
		return n, err
	}
	rate := func(u usage) string {
		return fmt.Sprintf("%s\n    %.0f repositories for each second of processors, %.0f of wall", u,
			float64(len(p.names))/u.cpu.Seconds(), float64(len(p.names))/u.wall.Seconds())
	}
	fmt.Printf("%s\n  without --reuse: %s\n  %s\n  with --reuse: %s\n  %s\n", name, rate(n.plain), n.plain.last,
		rate(n.reuse), n.reuse.note)
	fmt.Printf("  %.2f times the processor time; the results are the same; the directory has %d entries, %d KiB\n",
		ratio(n.reuse.cpu, n.plain.cpu), entries, bytes>>10)
	return n, nil
}

func (p *plan) results(name string) string { return filepath.Join(p.work, name) }

// fleet scans all of them in one run.
func (p *plan) fleet(name, reuse string) (usage, error) {
	args := []string{"fleet", "--repos", p.keep, "--policy", p.policy, "--output", p.results(name)}
	if reuse != "" {
		args = append(args, "--reuse", reuse)
	}
	if err := os.RemoveAll(p.results(name)); err != nil { // to remove it is not the scan's work
		return usage{}, err
	}
	return measure(p.program, args...)
}

// loop scans some of them by a process each, and says what all of them would take.
func (p *plan) loop(one usage) error {
	var loop usage
	for i := range p.each {
		u, err := measure(p.program, "--rev", "HEAD", "--policy", p.policy, "-q", "--output",
			filepath.Join(p.work, "one.json"), filepath.Join(p.keep, p.names[i*len(p.names)/p.each]))
		if err != nil {
			return err
		}
		loop.wall, loop.cpu, loop.memory = loop.wall+u.wall, loop.cpu+u.cpu, max(loop.memory, u.memory)
	}
	if p.each == 0 {
		return nil
	}
	scale := float64(len(p.names)) / float64(p.each)
	fmt.Printf("%d of them by a process each: %.1f s, %.1f s of processors, %d MiB\n", p.each, loop.wall.Seconds(),
		loop.cpu.Seconds(), loop.memory>>10)
	fmt.Printf("a loop over all takes %.1f times the wall time of one run, and %.1f times its processor time\n",
		scale*ratio(loop.wall, one.wall), scale*ratio(loop.cpu, one.cpu))
	return nil
}

// sizeOf returns how many bytes and files a directory has.
func sizeOf(dir string) (size int64, files int, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err == nil {
			size, files = size+st.Size(), files+1
		}
		return err
	})
	return size, files, err
}

// nameOf is the path of a repository: a few hundred in a directory, as on a server.
func nameOf(i int) string { return fmt.Sprintf("team%03d/repo%05d.git", i/100, i) }

// git runs git in a directory and returns the lines that it prints.
func git(dir, input string, args ...string) ([]string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %.1000s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("git %.200q in %s: %w", args, dir, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), nil
}
