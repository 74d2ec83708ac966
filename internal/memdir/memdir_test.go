package memdir

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestUse: a folder in memory is used only where there is one with room, and is gone afterwards.
func TestUse(t *testing.T) {
	t.Setenv("TMPDIR", "/elsewhere")
	if err := Use(0)(); err != nil || os.TempDir() != "/elsewhere" {
		t.Errorf("%s: %v", os.TempDir(), err)
	}
	t.Setenv("TMPDIR", "")
	if err := Use(math.MaxUint64)(); err != nil || os.Getenv("TMPDIR") != "" {
		t.Errorf("without room: %s, %v", os.Getenv("TMPDIR"), err)
	}
	if free(memory) == 0 {
		t.Skip("SKIPPED: there is no " + memory)
	}
	remove := Use(1)
	dir := os.TempDir()
	if filepath.Dir(dir) != memory {
		t.Errorf("temporary folders are in %s", dir)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Error(err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}
