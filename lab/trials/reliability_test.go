//go:build linux

// Package trials breaks what surrounds policyscan, on purpose and one thing at a
// time, and holds each run to the same: status 0 only with the verdict of the run that
// nothing was done to, byte for byte. There is no code in it: its tests do a few hundred
// trials, make inject, kill and corrupt do all of them and write lab/results/reliability.md.
//
//	scene_test.go     the runs, and what one may leave behind
//	tracer_*_test.go  ptrace: the calls of a run, and how one of them fails or is the last
//	inject_*_test.go  each call that touches files fails, with each error
//	kill_*_test.go    SIGKILL before each call, other signals at any moment
//	corrupt_*_test.go flips, cuts and swaps in git's files and in the bundle
package trials

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"time"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/measured"
)

var (
	measuring = flag.Bool("measure", false, "do all trials, which takes half an hour, and write ../results/reliability.md")
	part      = flag.String("part", "", "with -measure: only inject, kill or corrupt")
	turns     = flag.Int("errors", 6, "with -measure: how many of the six errors each call fails with, which take turns")
	seed      = flag.Uint64("seed", 1, "of random choices")
)

// program is the path of policyscan as it is released, built once.
var program string

func TestMain(m *testing.M) {
	os.Exit(build.WithProgram(func(path string) int {
		program = path
		return m.Run()
	}))
}

// wanted skips a test that -part skips.
func wanted(t *testing.T, name string) {
	t.Helper()
	if *measuring && *part != "" && *part != name {
		t.Skipf("-part %s", *part)
	}
}

// sample returns n of all trials, chosen by the seed; all of them if all are to be measured.
func sample[T any](all []T, n int) []T {
	if *measuring {
		return all
	}
	if testing.Short() {
		n /= 3
	}
	all = slices.Clone(all)
	rnd := rand.New(rand.NewPCG(*seed, 1))
	rnd.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all[:min(n, len(all))]
}

// each does all trials, by a few workers at once, each of which has a number.
func each[T any](all []T, workers int, do func(worker int, trial T)) {
	var done sync.WaitGroup
	next := make(chan T)
	for w := range workers {
		done.Go(func() {
			for trial := range next {
				do(w, trial)
			}
		})
	}
	for _, trial := range all {
		next <- trial
	}
	close(next)
	done.Wait()
}

// workers is how many runs there are at once.
func workers() int { return min(runtime.NumCPU(), 8) + 1 }

// A tally counts outcomes, by the row that they belong to.
type tally struct {
	t      *testing.T
	mu     sync.Mutex
	counts map[string]map[string]int
	faults int
}

func (c *tally) add(outcome string, rows ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]map[string]int{}
	}
	for _, row := range rows {
		if c.counts[row] == nil {
			c.counts[row] = map[string]int{}
		}
		c.counts[row][outcome]++
	}
}

// fault fails for what must not be.
func (c *tally) fault(format string, args ...any) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.faults++; c.faults <= 40 || *measuring {
		c.t.Errorf(format, args...)
	}
}

// total is how many outcomes a row has.
func (c *tally) total(row string) int {
	n := 0
	for _, k := range c.counts[row] {
		n += k
	}
	return n
}

// table is a Markdown table of some rows: those with a prefix, which is not shown.
func (c *tally) table(prefix, first string, outcomes []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | trials |", first)
	for _, o := range outcomes {
		fmt.Fprintf(&b, " %s |", o)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(outcomes)+1) + "\n")
	for _, row := range slices.Sorted(maps.Keys(c.counts)) {
		name, ok := strings.CutPrefix(row, prefix)
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "| %s | %d |", name, c.total(row))
		for _, o := range outcomes {
			fmt.Fprintf(&b, " %s |", few(c.counts[row][o]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func few(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func rounded(began time.Time) string { return time.Since(began).Round(time.Second).String() }

// writePart puts what was measured into its part of the page, if nothing was found that must not be.
func writePart(t *testing.T, name, text string) {
	t.Helper()
	t.Logf("\n%s", text)
	if !*measuring || t.Failed() {
		return
	}
	if err := measured.Write("../results/reliability.md", name, text); err != nil {
		t.Fatal(err)
	}
}
