// Package cputime measures how much processor time work takes, for tests that refuse an algorithm whose cost explodes.
// Wall time depends on what else the machine does; processor time hardly does.
// It also says whether the race detector runs, under which neither time nor memory is what it is without.
package cputime

import (
	"runtime"
	"time"
)

// Of runs work on the current goroutine and returns the processor time that its thread took, without that of other
// goroutines. Unix systems other than Linux tell only what the whole process took; on Windows it is 0, and a bound
// always holds.
func Of(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := thread()
	work()
	return thread() - before
}
