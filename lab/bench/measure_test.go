//go:build linux

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// A cost is what one run of a command took.
type cost struct {
	wall, cpu time.Duration
	peak      int64 // KiB
}

// run runs a command once, by testdata/measure.c.
func (w *world) run(t *testing.T, c command) cost {
	t.Helper()
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
	var wall, cpu, peak int64
	if err == nil {
		_, err = fmt.Sscan(string(out), &status, &wall, &cpu, &peak)
	}
	// 1 is policyscan's FAIL and ripgrep's "nothing found".
	if err != nil || status > 1 {
		t.Fatalf("%s: status %d: %v", strings.Join(c.args, " "), status, err)
	}
	return cost{time.Duration(wall), time.Duration(cpu), peak}
}

// A command is one to be run in a folder, "" for any.
type command struct {
	dir   string
	args  []string
	stdin string // a file; "" is nothing
}

// A figure is one number of a row.
type figure int

const (
	wall  figure = iota // of the peer's wall time
	cpu                 // of the peer's processor time
	peak                // memory in MiB
	time1               // wall time in milliseconds
)

// median is of the ratios of runs that followed one another, so that what else the machine
// does meets both.
func median(of []float64) float64 {
	of = slices.Clone(of)
	slices.Sort(of)
	return of[len(of)/2]
}

// versus runs two commands in turn and returns the median ratios of their costs, and the
// medians of ours.
func (w *world) versus(t *testing.T, ours, peer command) map[figure]float64 {
	t.Helper()
	w.run(t, ours)
	w.run(t, peer)
	all := map[figure][]float64{}
	for range *runs {
		a, b := w.run(t, ours), w.run(t, peer)
		all[wall] = append(all[wall], float64(a.wall)/float64(b.wall))
		all[cpu] = append(all[cpu], float64(a.cpu)/float64(b.cpu))
		all[peak] = append(all[peak], float64(a.peak)/1024)
		all[time1] = append(all[time1], float64(a.wall)/1e6)
	}
	medians := map[figure]float64{}
	for f, list := range all {
		medians[f] = median(list)
	}
	return medians
}
