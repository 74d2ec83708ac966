//go:build linux

package bounds

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A memoryGroup is a memory cgroup, of version 2 or 1. To make one takes root.
type memoryGroup struct {
	dir    string
	second bool // version 2
}

// newMemoryGroup makes a group of so much memory, files that the system keeps in memory
// included, and no swap; it skips the test, and says so, where there can be none.
func newMemoryGroup(t *testing.T, limit int64) memoryGroup {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var failed []error
	for line := range strings.SplitSeq(string(mounts), "\n") {
		before, after, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(kind) < 3 || !strings.HasPrefix(kind[0], "cgroup") {
			continue
		}
		g := memoryGroup{filepath.Join(fields[4], fmt.Sprintf("policyscan-test-%d-%d", os.Getpid(), time.Now().UnixNano())), kind[0] == "cgroup2"}
		controllers, _ := os.ReadFile(filepath.Join(fields[4], "cgroup.controllers"))
		if g.second && !strings.Contains(string(controllers), "memory") || !g.second && !strings.Contains(kind[2], "memory") {
			continue
		}
		if err := g.make(limit); err == nil {
			return g
		}
		failed = append(failed, err, os.Remove(g.dir))
	}
	t.Skipf("SKIPPED: no memory cgroup can be made here, and nothing says how much memory a run takes: %v", errors.Join(failed...))
	return memoryGroup{}
}

func (g memoryGroup) make(limit int64) error {
	if g.second {
		// Where this is refused it may be on already.
		_ = os.WriteFile(filepath.Join(filepath.Dir(g.dir), "cgroup.subtree_control"), []byte("+memory"), 0o644)
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return err
	}
	name := "memory.limit_in_bytes"
	if g.second {
		name = "memory.max"
		if err := os.WriteFile(g.file("memory.swap.max"), []byte("0"), 0o644); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.WriteFile(g.file(name), []byte(strconv.FormatInt(limit, 10)), 0o644)
}

func (g memoryGroup) file(name string) string { return filepath.Join(g.dir, name) }

// number reads a file that holds one, or one after a word.
func (g memoryGroup) number(t *testing.T, name, word string) int64 {
	t.Helper()
	text, err := os.ReadFile(g.file(name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		fields := strings.Fields(line)
		if n := len(fields); n == 1 && word == "" || n == 2 && fields[0] == word {
			v, err := strconv.ParseInt(fields[n-1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s has no %q: %s", name, word, text)
	return 0
}

// peak is the most memory that the group had, in bytes.
func (g memoryGroup) peak(t *testing.T) int64 {
	t.Helper()
	if g.second {
		return g.number(t, "memory.peak", "")
	}
	return g.number(t, "memory.max_usage_in_bytes", "")
}

// kills is how often the system killed for want of memory in the group.
func (g memoryGroup) kills(t *testing.T) int64 {
	t.Helper()
	if g.second {
		return g.number(t, "memory.events", "oom_kill")
	}
	return g.number(t, "memory.oom_control", "oom_kill")
}

// remove removes the group, once all that ran in it is gone.
func (g memoryGroup) remove(t *testing.T) {
	t.Helper()
	var err error
	for range 100 {
		if err = os.Remove(g.dir); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(err)
}
