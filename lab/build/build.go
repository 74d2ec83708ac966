// Package build builds policyscan for the trials and measurements of this module.
package build

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Root returns the directory of the repository, absolute.
func Root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/policyscan/policyscan").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return filepath.Clean(strings.TrimSpace(string(out))), nil
}

// Program builds policyscan to the file out, as it is released but for its version, with these flags of go build.
func Program(out string, flags ...string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	return At(root, out, flags...)
}

// At is Program for the module in a directory, which may be another commit's.
func At(root, out string, flags ...string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-buildvcs=false"}, flags, []string{"-o", out, "./cmd/policyscan"})...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/policyscan: %w\n%s", err, said)
	}
	return nil
}

// Commit is Program for a commit of the repository.
func Commit(commit, out string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "policyscan")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("sh", "-c", `git archive "$1" | tar -x -C "$2"`, "sh", commit, dir)
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git archive %s: %w\n%s", commit, err, said)
	}
	return At(dir, out)
}

// WithProgram builds policyscan, calls run with the path of the program, deletes it, and returns what run did, or 1 and a line
// on standard error if it cannot be built. It is for TestMain.
func WithProgram(run func(path string) int) int {
	dir, err := os.MkdirTemp("", "policyscan")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "policyscan")
	if err := Program(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return run(path)
}
