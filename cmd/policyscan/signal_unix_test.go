//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// signalOf is the number of the signal that ended a program.
func signalOf(err *exec.ExitError) int {
	status, ok := err.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return 0
	}
	return int(status.Signal())
}
