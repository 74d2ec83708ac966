//go:build unix

package record

import "syscall"

// noFollow makes the opening of a link fail, and that of a FIFO that took the file's place not wait.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
