// Package install has policyscan for the conformance tests, and installs other programs for them, each one once in a
// run of a package's tests. What it installs is deleted when the tests end.
package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

var (
	// root creates the directory of all that is installed.
	root = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "policyscan-conformance") })

	tools sync.Map // functions that install one, and return an error, by its arguments
	apt   sync.Mutex
)

// Main builds policyscan and calls run, for TestMain. Without wanted it only calls run.
func Main(wanted bool, run func() int) int {
	if !wanted {
		return run()
	}
	dir, err := root()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := build.Program(Program()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return run()
}

// Dir is the path of a directory that is deleted when the tests end.
func Dir(name string) string {
	dir, _ := root() // Main has reported the error
	return filepath.Join(dir, name)
}

// Program is the path of policyscan, the only file of its directory.
func Program() string { return Dir("bin/policyscan") }

// NPM installs packages of exact versions, given with options as to npm install, and returns their node_modules.
func NPM(t *testing.T, args ...string) string {
	t.Helper()
	into := Dir("npm-" + strings.NewReplacer("/", "_", " ", "_").Replace(strings.Join(args, " ")))
	once(t, into, func() error {
		if err := os.MkdirAll(into, 0o777); err != nil {
			return err
		}
		return try(into, nil, "npm", append([]string{"install", "--prefix", into, "--no-audit", "--no-fund"}, args...)...)
	})
	return filepath.Join(into, "node_modules")
}

// Go builds a command of an exact version, such as example.com/cmd/x@v1.2.3, and returns its path.
func Go(t *testing.T, pkg string) string {
	t.Helper()
	path, _, _ := strings.Cut(pkg, "@")
	into := Dir("go-" + filepath.Base(path))
	once(t, into, func() error {
		return try(Dir(""), append(os.Environ(), "GOBIN="+into, "GOFLAGS=-mod=mod"), "go", "install", pkg)
	})
	return filepath.Join(into, filepath.Base(path))
}

// Debian installs a package unless its program is installed.
func Debian(t *testing.T, program, pkg string) {
	t.Helper()
	apt.Lock()
	defer apt.Unlock()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	_ = try(".", nil, "apt-get", "update") // the installation reports what is missing
	if err := try(".", nil, "apt-get", "install", "-y", "--no-install-recommends", pkg); err != nil {
		t.Fatalf("%s is not installed: %v", program, err)
	}
}

// once calls install once for a key, and fails the test if it failed.
func once(t *testing.T, key string, install func() error) {
	t.Helper()
	done, _ := tools.LoadOrStore(key, sync.OnceValue(install))
	if err := done.(func() error)(); err != nil {
		t.Fatal(err)
	}
}

func try(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %q: %w\n%s", name, args, err, out)
	}
	return nil
}
