//go:build unix && !linux

package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

func thread() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		panic(err) // it cannot fail with these arguments
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
