package runners

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

// root is the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := build.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// must runs a program in a folder and returns all that it printed. It must end with status 0.
func must(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// goTool builds a program of a Go module, of an exact version, and returns its path.
func goTool(t *testing.T, pkg string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "install", pkg)
	cmd.Dir = dir // outside of this module
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", pkg, err, out)
	}
	return theOnly(t, dir)
}

// theOnly is the one file of a folder.
func theOnly(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s holds %q: %v", dir, files, err)
	}
	return files[0]
}

// npmPrograms installs packages of exact versions, and returns the folder of their programs.
func npmPrograms(t *testing.T, packages ...string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, dir, "npm", append([]string{"install", "--prefix", dir, "--no-audit", "--no-fund"}, packages...)...)
	return filepath.Join(dir, "node_modules", ".bin")
}

// built builds policyscan and returns its path.
func built(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policyscan")
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	if err := build.Program(file); err != nil {
		t.Fatal(err)
	}
	return file
}
