//go:build unix

package reuse

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestFault_178_NoFile: a FIFO, a socket, a device or a link instead of an entry counts as missing, at once.
func TestFault_178_NoFile(t *testing.T) {
	dir := t.TempDir()
	s, k := open(t, dir), Key{4}
	s.Put(k, []byte("y"))
	at := file(dir, k)
	for name, put := range map[string]func() error{
		"a FIFO": func() error { return syscall.Mkfifo(at, 0o600) },
		"a socket": func() error {
			short := filepath.Join(dir, "s")
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			l.Close()
			return os.Rename(short, at)
		},
		"a device":    func() error { return syscall.Mknod(at, syscall.S_IFCHR|0o600, 1<<8|5) }, // /dev/zero
		"a link":      func() error { return os.Symlink("/dev/zero", at) },
		"a directory": func() error { return os.Mkdir(at, 0o700) },
	} {
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Logf("%s: %v", name, err) // a device takes root
			continue
		}
		found := getLater(s, k)
		select {
		case ok := <-found:
			if ok {
				t.Errorf("%s is an entry", name)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s is waited for", name)
		}
	}
}

// getLater reads an entry in a goroutine, which may wait forever.
func getLater(s *Store, k Key) <-chan bool {
	found := make(chan bool, 1)
	go func() {
		_, ok := s.Get(k)
		found <- ok
	}()
	return found
}
