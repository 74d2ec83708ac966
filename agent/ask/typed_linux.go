package ask

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped discards unread input. If it cannot, earlier input counts.
func forgetTyped(terminal *os.File) {
	_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
