package memdir

import "golang.org/x/sys/unix"

// free is how many bytes a file system has left; 0 if it is not there.
func free(dir string) uint64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Bsize < 0 {
		return 0
	}
	return st.Bavail * uint64(st.Bsize)
}
