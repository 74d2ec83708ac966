//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package session

import (
	"errors"
	"os"
)

// tryLock cannot lock here, so there is no state of sessions.
func tryLock(*os.File) (bool, error) {
	return false, errors.New("policyscan knows no file lock on this system; " +
		"leave the loop guard and the circuit breaker off")
}
