// Package cputime measures the processor time of work, for tests that refuse an algorithm with exploding cost. Unlike
// wall time, it hardly depends on the load of the machine. It also tells whether the race detector runs, which
// changes the use of time and memory.
package cputime

import (
	"runtime"
	"time"
)

// Of runs work on the current goroutine and returns the processor time of its thread, without that of other
// goroutines. On Unix systems other than Linux it is the time of the whole process; on Windows it is 0, and a bound
// always holds.
func Of(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := thread()
	work()
	return thread() - before
}
