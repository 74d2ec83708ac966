package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// machine reports which of the needs of rows this machine meets.
func machine(t *testing.T) map[string]bool {
	t.Helper()
	has := func(tool string) bool {
		_, err := exec.LookPath(tool)
		return err == nil
	}
	runs := func(words ...string) bool {
		return has(words[0]) && exec.Command(words[0], words[1:]...).Run() == nil
	}
	root := os.Geteuid() == 0
	mounts := root && runs("unshare", "--mount", "true")
	return map[string]bool{
		"Linux":           runtime.GOOS == "linux",
		"root":            root,
		"another user":    runtime.GOOS != "windows" && (!root || has("setpriv")), // whom permissions stop
		"mounts":          mounts,
		"FUSE":            mounts && opens("/dev/fuse"),
		"a memory cgroup": root && memoryGroups(),
		"immutable files": root && immutable(t),
		"strace":          runs("strace", "-o", filepath.Join(t.TempDir(), "log"), "true"),
		"unshare":         root && runs("unshare", "--net", "true"),
		"script":          runs("script", "-qec", "true", filepath.Join(t.TempDir(), "typescript")),
		"git":             has("git"),
		"bash":            has("bash"),
		"prlimit":         has("prlimit"),
		"pre-commit":      has("pre-commit"),
	}
}

func opens(device string) bool {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err == nil {
		err = f.Close()
	}
	return err == nil
}

// memoryGroups reports whether a group of processes can be given a limit of memory.
func memoryGroups() bool {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if parts := strings.Split(strings.TrimSpace(line), ":"); len(parts) == 3 && parts[1] == "memory" {
			if _, err := os.Stat("/sys/fs/cgroup/memory" + parts[2]); err == nil {
				return true // the first version's
			}
		}
	}
	controllers, err := os.ReadFile("/sys/fs/cgroup/cgroup.subtree_control")
	return err == nil && strings.Contains(string(controllers), "memory")
}

// immutable reports whether the disk for temporary files has files that nobody may change.
func immutable(t *testing.T) bool {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("chattr", "+i", name).Run(); err != nil {
		return false
	}
	if out, err := exec.Command("chattr", "-i", name).CombinedOutput(); err != nil {
		t.Fatalf("%s stays immutable: %s", name, out)
	}
	return true
}
