package repo

import "golang.org/x/sys/unix"

// hasRoom reports whether a file system has so many bytes left.
func hasRoom(dir string, bytes uint64) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Bavail*uint64(st.Bsize) >= bytes
}
