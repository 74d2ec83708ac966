//go:build linux

package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOutside(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, dir := range []string{"repo/sub/deep", "repo/.git", "other", "repository"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o777))
	}
	for _, file := range []string{"repo/payload", "repo/sub/x", "other/file"} {
		must(t, os.WriteFile(filepath.Join(top, file), nil, 0o666))
	}
	for link, target := range map[string]string{
		"alias": "repo", "other/back": "../repo/sub", "other/on": "/usr", "other/loop": "loop", "other/a": "b", "other/b": top + "/alias", "repo/out": "../other",
		"other/here": ".", "other/empty-way": "nothing/../../repo/payload",
	} {
		must(t, os.Symlink(target, filepath.Join(top, link)))
	}
	t.Chdir(filepath.Join(top, "repo", "sub"))
	repository, err := Open(filepath.Join(top, "repo"))
	must(t, err)
	defer repository.Close()
	sub, err := Open(filepath.Join(top, "repo/sub"))
	must(t, err)
	defer sub.Close()
	for _, c := range []struct {
		root *Root
		name string
		want bool
	}{
		{repository, "../other/file", true},
		{repository, "../other", true},
		{repository, "../repository", true},
		{repository, "../nothing/at/all", true},
		{repository, "../repo-that-will-be", true},
		{repository, "../other/file/x", true},
		{repository, "/usr/bin/python3", true},
		{repository, "/proc/self/environ", true},
		{repository, "/dev/zero", true},
		{repository, "../other/on/share", true},
		{repository, "../other/here/here/file", true},
		{repository, "//usr//bin/", true},
		{repository, top + "/repo/../other/file", true},
		{repository, "../repo/out/file", true},
		{repository, "../other/back/../../other/file", true}, // through the repository
		{repository, "../other/nothing/../file", true},

		{repository, "..", false}, // it holds the repository
		{repository, "../..", false},
		{repository, "/", false},
		{repository, "../repo/payload", false},
		{repository, "../repo/nothing", false},
		{repository, "../repo", false},
		{repository, "../repo/.git/config", false},
		{repository, "../alias/payload", false},
		{repository, "../other/back/x", false},
		{repository, "../other/a/payload", false},
		{repository, "../other/empty-way", false},
		{repository, "../other/loop", false},
		{repository, "../other/nothing/../../repo/payload", false},
		{repository, top + "/repo/payload", false},
		{repository, top + "//repo/./sub/../payload", false},
		{repository, "../" + strings.Repeat("x/", 4000), true},
		{repository, "../" + strings.Repeat("n", 5000), false}, // who can say

		{sub, "../payload", false},
		{sub, "..", false},
		{sub, "../../other", true},
		{sub, "../out/file", true}, // through the repository
		{sub, "../../..", false},
	} {
		if got := c.root.Outside(repository, c.name); got != c.want {
			t.Errorf("%.100s leads out of the repository: %v", c.name, got)
		}
	}
	if _, err := os.Lstat("/proc/self/cwd"); err == nil {
		for _, name := range []string{"/proc/self/cwd/x", "/proc/thread-self/cwd", "/proc/self/root" + top + "/repo/payload"} {
			if repository.Outside(repository, name) {
				t.Errorf("%s leads out of the repository", name)
			}
		}
	}
}
