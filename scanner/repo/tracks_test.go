//go:build unix

package repo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFault_128_SHA256: whether git tracks a file is known even if nothing else is.
func TestFault_128_SHA256(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "3", "4"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			g := newGitOf(t, formatSHA256)
			for _, name := range []string{"a.tf", "deep/er/b.tf", "deep/verdict.json"} {
				g.write(name, name)
			}
			g.commit("one")
			g.write("later.tf", "later")
			if version == "3" {
				g.git("add", "-N", "later.tf")
			}
			g.git("update-index", "--index-version", version)
			if got := fmt.Sprint(g.indexBytes()[7]); got != version {
				t.Fatalf("the index has version %s", got)
			}
			g.tracks(map[string]bool{"a.tf": true, "deep/er/b.tf": true, "deep/verdict.json": true,
				"verdict.json": false, "deep": true, "later.tf": version == "3"})
			config := filepath.Join(g.dir, ".git/config")
			readable, err := os.ReadFile(config)
			must(t, err)
			g.write(".git/config", "[")
			g.tracks(map[string]bool{"a.tf": true, "verdict.json": false})
			must(t, os.WriteFile(config, readable, 0o666))
			g.git("config", "extensions.unknown", "true")
			g.tracks(map[string]bool{"a.tf": true, "verdict.json": false})
			_, err = Find(g.dir)
			wantError(t, "all the rest", err, ErrFormat)

			whole := g.indexBytes()
			for _, at := range []int{0, 13, 60, 90, len(whole) - 40, len(whole) - 1} {
				spoiled := bytes.Clone(whole)
				spoiled[at] ^= 4
				for _, content := range [][]byte{spoiled, whole[:at]} {
					g.setIndex(content)
					_, err := tracks(filepath.Join(g.dir, "a.tf"))
					wantIndexError(t, fmt.Sprint("spoiled at ", at), err, "")
				}
			}
		})
	}
}

// tracks fails unless git is said to track these files, and no others.
func (g *gitRepo) tracks(files map[string]bool) {
	g.Helper()
	for name, want := range files {
		if got, err := tracks(filepath.Join(g.dir, name)); err != nil || got != want {
			g.Errorf("%s: tracked: %v, %v, want %v", name, got, err, want)
		}
	}
}

func TestTracks(t *testing.T) {
	t.Parallel()
	t.Run("a work tree", func(t *testing.T) {
		t.Parallel()
		g := indexed(t)
		g.git("update-index", "--skip-worktree", "far.tf")
		g.write("later.tf", "")
		g.git("add", "-N", "later.tf")
		g.git("rm", "-q", "same.tf")
		want := map[string]bool{
			"a.tf": true, "near/added.tf": true, "far.tf": true, "far/deep/down.tf": true, "later.tf": true,
			"z": false, "same.tf": false, "far": true, "far/deep": true, "none": false, "far/none": false,
			"a.tf/none":    false,
			"near/../a.tf": true, "none/none/none": false, "far/deep/down.tfx": false, "far/deep/down.t": false,
			".git/index": false,
		}
		g.tracks(want)
		g.git("update-index", "--index-version", "4")
		g.tracks(want)
	})
	t.Run("a linked work tree", func(t *testing.T) {
		t.Parallel()
		g := indexed(t)
		linked := &gitRepo{TB: t, dir: filepath.Join(g.dir, "linked")} // in a directory of the other
		g.git("worktree", "add", "-q", "--detach", linked.dir)
		linked.tracks(map[string]bool{"a.tf": true, "z": true, "near/by.tf": true, "near/added.tf": false})
		linked.git("rm", "-q", "a.tf")
		linked.tracks(map[string]bool{"a.tf": false})
		g.tracks(map[string]bool{"a.tf": true, "z": false, "near/added.tf": true})
	})
	t.Run("a submodule", func(t *testing.T) {
		t.Parallel()
		g, inner := indexed(t), indexed(t)
		g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "file://"+inner.dir, "inner")
		g.tracks(map[string]bool{"inner/a.tf": true, "inner/near/by.tf": true, "inner/near/added.tf": false,
			"inner/verdict.json": false, "inner": true, "inner/inner": false})
	})
	t.Run("a repository within", func(t *testing.T) {
		t.Parallel()
		g := indexed(t)
		inner := &gitRepo{TB: t, dir: filepath.Join(g.dir, "near/inner")}
		inner.write("own.tf", "x")
		inner.git("init", "-q")
		inner.tracks(map[string]bool{"own.tf": false})
		inner.git("add", "-A")
		inner.tracks(map[string]bool{"own.tf": true, "a.tf": false, "../by.tf": true})
	})
	t.Run("a separate git directory", func(t *testing.T) {
		t.Parallel()
		g := indexed(t)
		g.git("init", "-q", "--separate-git-dir", filepath.Join(t.TempDir(), "git"))
		g.tracks(map[string]bool{"a.tf": true, "z": false, "near/added.tf": true})
		for text, ok := range map[string]bool{"gitdir: none\n": true, "": false, "gitdir: \n": false,
			"elsewhere\n": false} {
			g.write(".git", text) // a missing git directory has no index
			if tracked, err := tracks(filepath.Join(g.dir, "a.tf")); tracked || (err == nil) != ok {
				t.Errorf("%q: %v, %v", text, tracked, err)
			}
		}
	})
	t.Run("no index", func(t *testing.T) {
		t.Parallel()
		g := newGit(t)
		g.write("a.tf", "x")
		g.tracks(map[string]bool{"a.tf": false})
		bare := filepath.Join(t.TempDir(), "bare.git")
		g.git("clone", "-q", "--bare", g.dir, bare)
		if tracked, err := tracks(filepath.Join(bare, "HEAD")); tracked || err != nil {
			t.Errorf("%v, %v", tracked, err)
		}
	})
	t.Run("an index that no file can be", func(t *testing.T) {
		t.Parallel()
		g := indexed(t)
		for name, make := range map[string]func() error{
			"a directory": func() error { return os.Mkdir(g.indexPath(), 0o777) },
			"a FIFO":      func() error { return syscall.Mkfifo(g.indexPath(), 0o666) },
			"empty":       func() error { return os.WriteFile(g.indexPath(), nil, 0o666) },
		} {
			must(t, errors.Join(os.RemoveAll(g.indexPath()), make()))
			ends(t, name, func() {
				tracked, err := tracks(filepath.Join(g.dir, "a.tf"))
				if tracked {
					t.Errorf("%s: tracked", name)
				}
				wantIndexError(t, name, err, "")
			})
		}
	})
	t.Run("a sparse index", func(t *testing.T) {
		t.Parallel()
		g := indexed(t)
		g.git("sparse-checkout", "set", "--cone", "--sparse-index", "near")
		g.tracks(map[string]bool{"a.tf": true, "near/by.tf": true, "near/none": false, "none": false, "far": true})
		const command = "git sparse-checkout reapply --no-sparse-index"
		for _, name := range []string{"far/away.tf", "far/deep/down.tf", "far/none"} {
			_, err := tracks(filepath.Join(g.dir, name))
			wantIndexError(t, name, err, command)
		}
		g.git(strings.Fields(command)[1:]...)
		g.tracks(map[string]bool{"far/away.tf": true, "far/none": false})
	})
}
