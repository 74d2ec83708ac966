//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package private

import (
	"errors"
	"os"
)

// TryLock cannot lock here, so there is no state of sessions, no log and no question elsewhere.
func TryLock(*os.File) (bool, error) {
	return false, errors.New("policyscan knows no file lock on this system; " +
		"leave the loop guard and the circuit breaker off, and ask at the terminal")
}
