//go:build linux || darwin

package output

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// TestStale: an old verdict that can be neither replaced nor removed is said to be one.
func TestStale(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("SKIPPED: every file can be removed here")
	}
	name := filepath.Join(t.TempDir(), "out.json")
	if err := os.WriteFile(name, []byte(verdict.DocumentHead+"1\", an old PASS"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(name), 0o500); err != nil {
		t.Fatal(err)
	}
	f, err := create(name, "1.0", verdict.Scope{})
	if f != nil || err == nil || !strings.Contains(err.Error(), "cannot be written") || !strings.Contains(err.Error(), name+" is STALE") {
		t.Errorf("%v, %v", f, err)
	}
	if err := os.Chmod(filepath.Dir(name), 0o700); err != nil { // so that it can be removed
		t.Fatal(err)
	}
}
