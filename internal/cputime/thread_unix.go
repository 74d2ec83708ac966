//go:build unix

package cputime

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

func thread() time.Duration {
	who := unix.RUSAGE_SELF
	if runtime.GOOS == "linux" {
		who = 1 // RUSAGE_THREAD
	}
	var used unix.Rusage
	if err := unix.Getrusage(who, &used); err != nil {
		panic(err) // it cannot fail with these arguments
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
