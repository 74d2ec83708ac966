//go:build unix

package needle

import (
	"testing"

	"golang.org/x/sys/unix"
)

// No byte behind a content is read: it is at the end of a page, and the next one may not be touched.
func TestReadsNothingBehind(t *testing.T) {
	page := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	if err := unix.Mprotect(mem[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	needles := [][]byte{[]byte("ab"), []byte("wxyz"), []byte("abcdefgh"), []byte("\x00\x00\x00")}
	for length := 0; length <= 200; length++ {
		content := mem[page-length : page : page]
		for i := range content {
			content[i] = '.'
		}
		copy(content, "wxy")
		want := []bool{false, false, false, false}
		if length >= 2 {
			copy(content[length-2:], "ab")
			want[0] = true
		}
		for i, got := range find(t, needles, nil, content) {
			if got != want[i] {
				t.Errorf("%d bytes: needle %q: %v", length, needles[i], got)
			}
		}
	}
}
