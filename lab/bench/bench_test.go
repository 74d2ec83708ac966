//go:build linux

// Package bench measures policyscan against its peers and writes lab/results/performance.md. There
// is no code in it: make bench runs its test, which without -measure does nothing.
//
//	policies_test.go  the bundles and the patterns, from a seed
//	corpora_test.go   the trees, the histories and the peers
//	rows_test.go      what is measured against what; how is here
//	parts_test.go     rows of commits, shards, fleets, allowances and reports
//	before_test.go    the program against itself, as it was
//	page_test.go      its parts
package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	measuring  = flag.Bool("measure", false, "measure, which takes an hour, and write ../results/performance.md")
	corporaDir = flag.String("corpora", filepath.Join(os.TempDir(), "policyscan-bench"), "where the trees and the peers are, or are put")
	azurerm    = flag.String("azurerm", "", "a git directory of hashicorp/terraform-provider-azurerm; else it is cloned")
	rails      = flag.String("rails", "", "a git directory of rails/rails; else it is cloned")
	only       = flag.String("rows", "", "measure only the rows whose names hold this text, and write nothing")
	runs       = flag.Int("runs", 11, "how often each of two commands is run")
)

func TestPerformance(t *testing.T) {
	if !*measuring {
		t.Skip("it takes an hour; see make bench")
	}
	w := prepare(t)
	var results []result
	for _, r := range rows(w) {
		if !r.wanted() {
			continue
		}
		res := r.run(t)
		t.Log(res)
		results = append(results, res)
	}
	if *only == "" {
		writePage(t, w, results)
	}
}

// A cost is what one run of a command took.
type cost struct {
	wall, cpu time.Duration
	peak      int64 // KiB
	read      int64 // bytes, of files that are not mapped
}

// run runs a command once, by testdata/measure.c.
func (w *world) run(t *testing.T, c command) cost {
	t.Helper()
	if c.before != nil {
		c.before(t)
	}
	cmd := exec.Command(w.measure, c.args...)
	cmd.Dir = c.dir
	if c.stdin != "" {
		in, err := os.Open(c.stdin)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	out, err := cmd.Output()
	var status int
	var wall, cpu, peak, read int64
	if err == nil {
		_, err = fmt.Sscan(string(out), &status, &wall, &cpu, &peak, &read)
	}
	// 1 is policyscan's FAIL and ripgrep's "nothing found".
	if err != nil || status > 1 {
		t.Fatalf("%s: status %d: %v", strings.Join(c.args, " "), status, err)
	}
	return cost{time.Duration(wall), time.Duration(cpu), peak, read}
}

// A command is one to be run in a directory, "" for any.
type command struct {
	dir   string
	args  []string
	stdin string // a file; "" is nothing

	before func(t *testing.T) // what has to be done each time; nil: nothing
}

// A figure is one number of a row.
type figure int

const (
	wall  figure = iota // of the peer's wall time
	cpu                 // of the peer's processor time
	peak                // memory in MiB
	time1               // wall time in milliseconds
	read1               // bytes that were read, in MiB
)

// median is of the ratios of runs that followed one another, so that what else the machine
// does meets both.
func median(of []float64) float64 {
	of = slices.Clone(of)
	slices.Sort(of)
	return of[len(of)/2]
}

// versus runs two commands in turn and returns the median ratios of their costs, and the medians of ours. A command of
// a few milliseconds runs ten times as often.
func (w *world) versus(t *testing.T, ours, peer command) map[figure]float64 {
	t.Helper()
	first := w.run(t, ours)
	w.run(t, peer)
	turns := *runs
	if first.wall < 50*time.Millisecond {
		turns *= 10
	}
	all := map[figure][]float64{}
	for range turns {
		a, b := w.run(t, ours), w.run(t, peer)
		all[wall] = append(all[wall], float64(a.wall)/float64(b.wall))
		all[cpu] = append(all[cpu], float64(a.cpu)/float64(b.cpu))
		all[peak] = append(all[peak], float64(a.peak)/1024)
		all[time1] = append(all[time1], float64(a.wall)/1e6)
		all[read1] = append(all[read1], float64(a.read)/(1<<20))
	}
	medians := map[figure]float64{}
	for f, list := range all {
		medians[f] = median(list)
	}
	return medians
}
