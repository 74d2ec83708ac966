//go:build linux

package scanner

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"golang.org/x/sys/unix"
)

// ends fails the test unless do ends.
func ends(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		t.Fatal("it hangs")
	}
}

func writeLink(t *testing.T, target, path string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must(t, os.Symlink(target, path))
}

// writeFIFO creates a FIFO, and reports at the end of the test if anything opened it.
func writeFIFO(t *testing.T, path string) {
	t.Helper()
	must(t, syscall.Mkfifo(path, 0o666))
	stop, opened := make(chan struct{}), make(chan bool)
	go func() {
		for {
			// Without a reader, opening it to write fails at once.
			fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
			if err == nil {
				_ = syscall.Close(fd)
				opened <- true
				return
			}
			select {
			case <-stop:
				opened <- false
				return
			default:
				time.Sleep(20 * time.Microsecond)
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		if <-opened {
			t.Errorf("the FIFO %s was opened", path)
		}
	})
}

// The content of a link is its target string; the target is never read.
func TestFault_030_LinkOutside(t *testing.T) {
	outside := writeTree(t, map[string]string{"secret": "key", "dir/secret": "key"})
	writeFIFO(t, filepath.Join(outside, "fifo"))
	dir := t.TempDir()
	for i, target := range []string{
		outside + "/secret", outside + "/dir", outside + "/fifo", "/proc/self/environ", "/dev/zero", "/dev/stdin",
		"/dev/tty", "/proc/self/fd/0",
	} {
		writeLink(t, target, fmt.Sprint(dir, "/link", i, ".tf"))
	}
	ends(t, func() {
		v := scanDir(t, dir, testBundle("key", "PATH="), testOptions{})
		wantOutcome(t, v, "P")
		if c := v.Coverage; c.Files != 8 || c.Scanned != 8 {
			t.Errorf("%+v", c)
		}
		v = scanDir(t, dir, testBundle("/dev/zero", outside), testOptions{})
		wantOutcome(t, v, "F")
		if len(v.Violations) != 4 || v.Violations[3].Evidence.Excerpt != "/dev/zero" ||
			v.Violations[3].File != "link4.tf" {
			t.Errorf("%+v", v.Violations)
		}
	})
}

func TestFault_031_LinkInside(t *testing.T) {
	dir := writeTree(t, map[string]string{"real.tf": "key", "dir/a": "key"})
	writeLink(t, "real.tf", dir+"/link.tf")
	writeLink(t, "dir", dir+"/linked-dir")
	writeLink(t, "../real.tf", dir+"/dir/up.tf")
	v := scanDir(t, dir, testBundle("key"), testOptions{})
	if got := violated(v); !slices.Equal(got, []string{"dir/a", "real.tf"}) || v.Coverage.Files != 5 ||
		v.Coverage.Scanned != 5 {
		t.Errorf("%q of %+v", got, v.Coverage)
	}
	v = scanDir(t, dir, testBundle("real"), testOptions{})
	if got := violated(v); !slices.Equal(got, []string{"dir/up.tf", "link.tf"}) {
		t.Errorf("%q", got)
	}
}

func TestFault_032_LinkLoopsDangling(t *testing.T) {
	dir := t.TempDir()
	writeLink(t, "b", dir+"/a")
	writeLink(t, "a", dir+"/b")
	writeLink(t, "self", dir+"/self")
	writeLink(t, "sub/../self/x", dir+"/through-self")
	writeLink(t, ".", dir+"/sub/loop")
	writeLink(t, "..", dir+"/sub/up")
	writeLink(t, "nowhere/at/all", dir+"/dangling")
	writeLink(t, strings.Repeat("k/", 2047), dir+"/long")
	v := scanDir(t, dir, testBundle("key"), testOptions{})
	wantOutcome(t, v, "I(E_LINK)") // those in a circle
	if c := v.Coverage; c.Files != 8 || c.Scanned != 4 || len(c.NotScanned) != 4 || len(v.Errors) != 4 ||
		c.Bytes != 1+2+14+4094 {
		t.Errorf("%+v, %+v", c, v.Errors)
	}
	wantOutcome(t, scanDir(t, dir, testBundle("key"), testOptions{Allow: []string{check.AllowSymlink}}), "P")
	wantOutcome(t, scanDir(t, dir, testBundle("k/k/"), testOptions{}), "F")
	// The string of every link is matched.
	if got := violated(scanDir(t, dir, testBundle("self", "nowhere"),
		testOptions{Allow: []string{check.AllowSymlink}})); !slices.Equal(got,
		[]string{"dangling", "self", "through-self"}) {
		t.Errorf("%q", got)
	}
}

func TestFault_033_LinkOnThePath(t *testing.T) {
	outside := writeTree(t, map[string]string{"ok.tf": "key", "deep/ok.tf": "key"})
	dir := writeTree(t, map[string]string{"real/ok.tf": "x", "real/sub/ok.tf": "x"})
	writeLink(t, ".", dir+"/loop")
	writeLink(t, outside, dir+"/out")
	writeLink(t, "../real", dir+"/real/again")
	wantOutcome(t, scanDir(t, dir, testBundle("key"), testOptions{}), "P")
	root := openRoot(t, dir)
	for _, entry := range []string{"loop/ok.tf", "out/ok.tf", "out/deep/ok.tf", "real/again/ok.tf",
		"real/again/sub/ok.tf", "real/ok.tf/x", "loop/loop/loop/real/ok.tf"} {
		v := scanTree(t, testBundle("key"), tree.List(root, []string{entry}), testOptions{})
		wantOutcome(t, v, "I(E_FILES_FROM)")
	}
	// Listed as a file of a directory, which is a link by the time it is opened.
	rd := root.Reader()
	defer rd.Close()
	for _, path := range []string{"out/ok.tf", "out/deep/ok.tf", "loop/real/ok.tf", "out"} {
		if f, err := rd.Open(path, true); !errors.Is(err, worktree.ErrChanged) || f != nil {
			t.Errorf("open %s: %v", path, err)
		}
		if target, err := rd.Readlink(path); path != "out" && !errors.Is(err, worktree.ErrChanged) {
			t.Errorf("readlink %s: %q, %v", path, target, err)
		}
	}
}

func TestFault_035_FIFO(t *testing.T) {
	dir := writeTree(t, map[string]string{"a.tf": "x"})
	writeFIFO(t, dir+"/pipe.tf")
	scanSpecial(t, dir, "pipe.tf")
}

func TestFault_036_SocketAndDevice(t *testing.T) {
	dir := writeTree(t, map[string]string{"a.tf": "x"})
	t.Chdir(dir) // the path of a socket is short
	l, err := net.Listen("unix", "socket.tf")
	must(t, err)
	defer l.Close()
	scanSpecial(t, dir, "socket.tf")

	t.Run("devices", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("only root makes devices")
		}
		for name, mode := range map[string]uint32{"char.tf": unix.S_IFCHR, "block.tf": unix.S_IFBLK} {
			dir := writeTree(t, map[string]string{"a.tf": "x"})
			// 1,5 is /dev/zero as a character device, and a RAM disk as a block device.
			if err := unix.Mknod(filepath.Join(dir, name), mode|0o666, int(unix.Mkdev(1, 5))); err != nil {
				t.Skipf("mknod: %v", err)
			}
			scanSpecial(t, dir, name)
		}
	})
}

// scanSpecial scans a tree with a.tf and one file that must not be opened.
func scanSpecial(t *testing.T, dir, name string) {
	t.Helper()
	ends(t, func() {
		for _, input := range []tree.Tree{tree.Dir(openRoot(t, dir)),
			tree.List(openRoot(t, dir), []string{"a.tf", name})} {
			v := scanTree(t, testBundle("key"), input, testOptions{})
			wantOutcome(t, v, "I(E_NOT_REGULAR)")
			want := []verdict.Omission{{File: name, Reason: check.AllowSpecialFile}}
			if !slices.Equal(v.Coverage.NotScanned, want) || v.Coverage.Scanned != 1 || v.Errors[0].File != name {
				t.Errorf("%+v, errors %+v", v.Coverage, v.Errors)
			}
			v = scanTree(t, testBundle("key"), input, testOptions{Allow: []string{check.AllowSpecialFile}})
			wantOutcome(t, v, "P")
			if !slices.Equal(v.Coverage.NotScanned, want) || !slices.Equal(v.Allowed,
				[]string{check.AllowSpecialFile}) {
				t.Errorf("%+v, allowed %q", v.Coverage, v.Allowed)
			}
			v = scanTree(t, testBundle("x"), input, testOptions{})
			if wantOutcome(t, v, "F"); v.Complete {
				t.Errorf("a violation hides the file that was not opened")
			}
			// Not covered: not an error.
			r := testRule("T-1", "key")
			r.Files = []string{"a.tf"}
			wantOutcome(t, scanTree(t, newBundle(r), input, testOptions{}), "P")
		}
	})
}

func TestFault_038_Depth(t *testing.T) {
	deepest := 5000
	if !*long {
		deepest = 1500
	}
	for _, depth := range []int{300, deepest} {
		dir := t.TempDir()
		path := writeDeep(t, dir, depth, "d", "key")
		v := scanDir(t, dir, testBundle("key"), testOptions{})
		wantOutcome(t, v, "F")
		if len(v.Violations) != 2 || v.Violations[0].File != path || v.Violations[1].File != "top.tf" {
			t.Errorf("depth %d: %d violations, errors %.300v", depth, len(v.Violations), v.Errors)
		}
		wantOutcome(t, scanTree(t, testBundle("key"), tree.List(openRoot(t, dir), []string{path}), testOptions{}), "F")
	}
	// Names of 255 bytes: every cut of the path falls within one.
	dir := t.TempDir()
	path := writeDeep(t, dir, 40, strings.Repeat("n", 255), "key")
	v := scanDir(t, dir, testBundle("key"), testOptions{})
	if len(v.Violations) != 2 || v.Violations[0].File != path {
		t.Errorf("%d violations, errors %.300v", len(v.Violations), v.Errors)
	}
}

// writeDeep writes a file many directories down, with a path too long for any system call, and another in dir; it
// removes them at the end.
func writeDeep(t *testing.T, dir string, depth int, name, text string) string {
	t.Helper()
	writeFile(t, dir+"/top.tf", text)
	at, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	for range depth {
		must(t, unix.Mkdirat(at, name, 0o777))
		next, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		must(t, err)
		must(t, unix.Close(at))
		at = next
	}
	fd, err := unix.Openat(at, "deep.tf", unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o666)
	must(t, err)
	_, err = unix.Write(fd, []byte(text))
	must(t, err)
	must(t, errors.Join(unix.Close(fd), unix.Close(at)))
	return strings.Repeat(name+"/", depth) + "deep.tf"
}
