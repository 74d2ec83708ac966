//go:build linux

// Command fleet measures policyscan fleet: it makes many bare repositories from a real one, scans them in one run, and
// some of them by a process each.
//
// A generated repository has one commit, whose tree is a folder of some commit of the real one, and takes the objects
// from there (info/alternates), as forks on a server do. So all have real files and a shared history, and 10,000 of
// them take seconds to make.
package main

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	from := flag.String("from", "..", "the repository to make others from")
	n := flag.Int("n", 10_000, "how many to make")
	each := flag.Int("each", 300, "how many of them to scan by a process each")
	policy := flag.String("policy", "builtin:infra", "the bundle")
	program := flag.String("program", "", "policyscan; empty: it is built")
	keep := flag.String("keep", "", "a folder for the repositories, kept; empty: a temporary one")
	flag.Parse()
	if err := run(*from, *n, *each, *policy, *program, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

func run(from string, n, each int, policy, program, dir string) (err error) {
	work, err := os.MkdirTemp("", "policyscan-fleet")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if program == "" {
		program = filepath.Join(work, "policyscan")
		if out, err := exec.Command("go", "-C", "..", "build", "-o", program, "./cmd/policyscan").CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	if dir == "" {
		dir = filepath.Join(work, "repositories")
	}
	if err := generate(from, dir, n); err != nil {
		return err
	}
	args := []string{"fleet", "--repos", dir, "--policy", policy, "--output", filepath.Join(work, "results")}
	one, err := measure(program, args...)
	if err != nil {
		return err
	}
	fmt.Printf("%d repositories in one run: %s; %.0f a second\n%s\n", n, one, float64(n)/one.wall.Seconds(), one.last)
	var loop usage
	for i := range each {
		name := filepath.Join(dir, nameOf(i*n/each))
		u, err := measure(program, "--rev", "HEAD", "--policy", policy, "-q", "--output", filepath.Join(work, "one.json"), name)
		if err != nil {
			return err
		}
		loop.add(u)
	}
	scale := float64(n) / float64(each)
	fmt.Printf("%d of them by a process each: %s\n", each, loop)
	fmt.Printf("a loop over all takes %.1f times the wall time, and %.1f times the processor time\n",
		loop.wall.Seconds()*scale/one.wall.Seconds(), loop.cpu.Seconds()*scale/one.cpu.Seconds())
	return nil
}

// A usage is what a process took.
type usage struct {
	wall, cpu time.Duration
	memory    int64 // KiB, the most at a time
	last      string
}

func (u usage) String() string {
	return fmt.Sprintf("%.1f s, %.1f s of processors, %d MiB", u.wall.Seconds(), u.cpu.Seconds(), u.memory>>10)
}

func (u *usage) add(o usage) {
	u.wall, u.cpu, u.memory = u.wall+o.wall, u.cpu+o.cpu, max(u.memory, o.memory)
}

func measure(program string, args ...string) (usage, error) {
	cmd := exec.Command(program, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(began)}
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return u, fmt.Errorf("%q: %w\n%.2000s", args, err, out.String())
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.memory = r.Maxrss
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	u.last = lines[len(lines)-1]
	return u, nil
}

// nameOf is the path of a repository: a few hundred in a folder, as on a server.
func nameOf(i int) string { return fmt.Sprintf("team%03d/repo%05d.git", i/100, i) }

// generate makes the repositories.
func generate(from, dir string, n int) error {
	git := func(args ...string) ([]string, error) {
		out, err := exec.Command("git", append([]string{"-C", from}, args...)...).Output()
		return strings.Fields(string(out)), err
	}
	objects, err := git("rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	commits, err := git("rev-list", "--max-count=200", "HEAD")
	if err != nil {
		return err
	}
	var trees []string
	seen := map[string]bool{}
	for _, c := range commits {
		found, err := git("ls-tree", "-r", "-d", "--format=%(objectname)", c)
		if err != nil {
			return err
		}
		for _, tree := range found {
			if !seen[tree] {
				seen[tree] = true
				trees = append(trees, tree)
			}
		}
	}
	for i := range n {
		if err := bare(filepath.Join(dir, nameOf(i)), objects[0], trees[i%len(trees)], i); err != nil {
			return err
		}
	}
	fmt.Printf("%d repositories from %d folders of %d commits\n", n, len(trees), len(commits))
	return nil
}

// bare makes a bare repository of one commit.
func bare(dir, alternate, tree string, i int) error {
	body := fmt.Sprintf("tree %s\nauthor a <a@example.com> %d +0000\ncommitter a <a@example.com> %[2]d +0000\n\nrepository %[3]d\n",
		tree, 1_700_000_000+i, i)
	object := fmt.Sprintf("commit %d\x00%s", len(body), body)
	sum := fmt.Sprintf("%x", sha1.Sum([]byte(object)))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write([]byte(object)); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"HEAD":                               "ref: refs/heads/main\n",
		"config":                             "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
		"refs/heads/main":                    sum + "\n",
		"objects/info/alternates":            alternate + "\n",
		"objects/" + sum[:2] + "/" + sum[2:]: packed.String(),
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
