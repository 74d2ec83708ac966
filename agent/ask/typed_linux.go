package ask

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped throws away what was typed and not yet read. If it cannot, what was typed early counts.
func forgetTyped(terminal *os.File) {
	_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
