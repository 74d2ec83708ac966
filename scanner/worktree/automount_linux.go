package worktree

import "golang.org/x/sys/unix"

// noAutomount has a look at a name mount nothing.
const noAutomount = unix.AT_NO_AUTOMOUNT
