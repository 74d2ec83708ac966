package editor

import (
	"syscall"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/cputime"
)

// TestKeystroke: a change in a file of 100 KB with 200 rules takes at most 5 ms of processor time, of all threads.
func TestKeystroke(t *testing.T) {
	if cputime.RaceDetector {
		t.Skip("the race detector takes most of the time")
	}
	change := keystrokes(t, false, ".tf")
	change()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	const times, most = 40, 5 * time.Millisecond
	before := used()
	for range times {
		change()
	}
	if each := (used() - before) / times; each > most {
		t.Errorf("%v for a change, over %v", each, most)
	} else {
		t.Logf("%v for a change", each)
	}
}
