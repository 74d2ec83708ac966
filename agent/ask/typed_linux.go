package ask

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped discards unread input of a terminal. If it cannot, earlier input counts.
func forgetTyped(terminal io.Reader) {
	if f, ok := terminal.(*os.File); ok {
		_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH)
	}
}
