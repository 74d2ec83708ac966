package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFault_177_Damaged: a damaged repository is found, so that its scan is undecided.
func TestFault_177_Damaged(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git makes the repositories")
	}
	source := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", source)
	git("-C", source, "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "--allow-empty", "-m", "x")
	remove := func(names ...string) func(dir string) error {
		return func(dir string) error {
			for _, name := range names {
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	replace := func(name string) func(dir string) error { // a directory by a file, or the reverse
		return func(dir string) error {
			at := filepath.Join(dir, name)
			st, err := os.Stat(at)
			if err == nil {
				err = os.RemoveAll(at)
			}
			if err == nil && st.IsDir() {
				return os.WriteFile(at, nil, 0o600)
			}
			return os.MkdirAll(at, 0o700)
		}
	}
	link := func(name string) func(dir string) error {
		return func(dir string) error {
			at := filepath.Join(dir, name)
			if err := os.RemoveAll(at); err != nil {
				return err
			}
			return os.Symlink("nowhere", at)
		}
	}
	all := []string{"HEAD", "config", "description", "hooks", "info", "objects", "packed-refs", "refs"}
	allBut := func(kept ...string) func(dir string) error {
		return remove(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(kept, s) })...)
	}
	bare := []func(dir string) error{
		remove("HEAD"), remove("objects"), remove("refs"), remove("config"), remove("objects", "refs"),
		remove("HEAD", "objects"), remove("HEAD", "refs"), remove("HEAD", "objects", "refs"),
		remove("config", "objects"),
		allBut("HEAD"), allBut("config"), allBut("objects"), allBut("refs"), allBut("packed-refs"),
		allBut("hooks", "info"),
		replace("HEAD"), replace("objects"), replace("refs"), replace("config"), link("objects"), link("HEAD"),
	}
	trees := []func(dir string) error{
		replace(".git"), link(".git"), allIn(".git", remove("HEAD")), allIn(".git", remove("objects", "refs")),
	}
	for i, damage := range append(bare, trees...) {
		root := t.TempDir()
		dir := filepath.Join(root, "team", "mirror")
		if i < len(bare) {
			git("clone", "-q", "--mirror", source, dir)
		} else {
			git("clone", "-q", source, dir)
		}
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		entries, wrong, err := Find(root)
		if err != nil || len(entries)+len(wrong) != 1 || len(entries) == 1 && entries[0].Name != "team/mirror" {
			inside, _ := os.ReadDir(dir)
			t.Errorf("%d: %v, %v, %v in %v", i, entries, wrong, err, inside)
		}
	}

	// A broken link is named; other directories that share names with git are searched.
	root := t.TempDir()
	for _, dir := range []string{"config/a.git", "hooks/b.git", "x/config/c.git", "empty"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"x/config/README", "x/info"} {
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"gone", "gone.git"} {
		if err := os.Symlink("nowhere", filepath.Join(root, name)); err != nil {
			t.Skip(err)
		}
	}
	entries, wrong, err := Find(root)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	if want := []string{"config/a", "hooks/b", "x/config/c"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	if len(wrong) != 2 || wrong[0].File != "gone" || !strings.HasPrefix(wrong[0].Message,
		"it is a broken symbolic link") {
		t.Errorf("%v", wrong)
	}
}

// allIn damages a directory in another one.
func allIn(name string, damage func(dir string) error) func(dir string) error {
	return func(dir string) error { return damage(filepath.Join(dir, name)) }
}
