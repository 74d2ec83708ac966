//go:build unix && !linux

package worktree

// noAutomount is Linux's alone.
const noAutomount = 0
