//go:build unix

package private

import (
	"fmt"
	"os"
	"syscall"
)

// checkOwner refuses a directory that is another's or that others may write.
func checkOwner(dir, what string, info os.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int64(stat.Uid) != int64(os.Geteuid()) {
		return fmt.Errorf("%s: the directory of %s belongs to another user; "+
			"remove it, or set XDG_STATE_HOME to your own directory", dir, what)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s: others may write the directory of %s (mode %04o); run chmod 700 on it", dir,
			what, info.Mode().Perm())
	}
	return nil
}
