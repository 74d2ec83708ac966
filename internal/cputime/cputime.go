// Package cputime measures how much processor time work takes, for tests that refuse an algorithm whose cost explodes.
// Wall time depends on what else the machine does; processor time hardly does.
package cputime

import (
	"runtime"
	"time"
)

// Of runs work on the current goroutine and returns the processor time that its thread took, without that of other
// goroutines. Where the system does not tell (anything but Linux) it is 0, so that a bound always holds.
func Of(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := thread()
	work()
	return thread() - before
}
