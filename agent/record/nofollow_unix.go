//go:build unix

package record

import "syscall"

// noFollow makes opening a symlink fail, and opening a FIFO not wait.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
