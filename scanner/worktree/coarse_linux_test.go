package worktree

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWalkCoarseTimes: a tmpfs has the same time for all that is done to a folder within some
// milliseconds, so that the folder's time does not tell that it was written to again.
func TestWalkCoarseTimes(t *testing.T) {
	const shared = "/dev/shm"
	var st unix.Statfs_t
	if err := unix.Statfs(shared, &st); err != nil || st.Type != unix.TMPFS_MAGIC {
		t.Skipf("SKIPPED: no tmpfs in %s: %v", shared, err)
	}
	dir, err := os.MkdirTemp(shared, "policyscan")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	defer os.RemoveAll(dir)
	walkFolderGoes(t, dir)
}
