package rules

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/policyscan/policyscan/rules/document"
)

// asNobody runs f without root's right to read everything.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with its changed identity
		if err := syscall.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

func TestFault_086_Unreadable(t *testing.T) {
	dir := diskBundle(t)
	name := filepath.Join(dir, BoundariesFile)
	if err := os.Chmod(name, 0); err != nil {
		t.Fatal(err)
	}
	load := func() document.Errors {
		var err error
		asNobody(t, func() { _, err = LoadDir(dir) })
		var errs document.Errors
		errors.As(err, &errs)
		return errs
	}
	// Others must not be able to enter the parent directories.
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, load(), document.CodeRead, "rules/boundaries.yml: cannot be read: permission denied")
	if err := os.Chmod(filepath.Join(dir, "rules"), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(dir, "rules"), 0o755)
	wantCode(t, load(), document.CodeRead, "permission denied")
	asNobody(t, func() {
		if found, err := Discover(dir); err == nil {
			t.Errorf("Discover cannot know, and says %q", found)
		}
	})
}
