//go:build linux

package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

// A world is all that is measured, and with what.
type world struct {
	policies map[string]policy

	scan     string // policyscan
	rg       string // ripgrep
	conftest string
	measure  string // testdata/measure.c

	linux, azurerm, tiny, line string // trees
	manifests                  string // a tree of YAML
	many                       string // a tree with 50,000 violations
	fleet                      string // a directory of bare repositories
	edited                     string // a tree of one file, of 100 KB
	edit                       string // the call of an agent that edits it
	checkout                   string // azurerm with its .git
	azurermGit, railsGit       string
}

// prepare makes what is missing: the trees, the programs and the peers. What it cannot have ends the test.
func prepare(t *testing.T) *world {
	t.Helper()
	w, dir := corpora(t)
	w.scan = filepath.Join(dir, "policyscan")
	if err := build.Program(w.scan + ".linked"); err != nil {
		t.Fatal(err)
	}
	// The linker maps what it writes, and the system keeps such a file in small pieces: to start it takes up to half
	// as long again as to start one that was copied, as an installation does.
	shell(t, "", "cp", w.scan+".linked", w.scan)
	w.measure = filepath.Join(dir, "measure")
	shell(t, "", "gcc", "-O2", "-pthread", "-o", w.measure, filepath.Join("testdata", "measure.c"))
	w.rg = filepath.Join(dir, "ripgrep", "package", "bin", "rg")
	once(t, w.rg, func() {
		to := filepath.Join(dir, "ripgrep")
		mkdir(t, to)
		shell(t, to, "sh", "-c", "npm pack --silent @vscode/ripgrep-linux-x64@"+ripgrep+" && tar xzf *.tgz")
	})
	w.conftest = filepath.Join(dir, "conftest")
	once(t, w.conftest, func() {
		shell(t, "", "env", "CGO_ENABLED=0", "GOBIN="+dir, "go", "install", "github.com/open-policy-agent/conftest@"+conftest)
	})
	return w
}

// corpora makes missing bundles, trees and histories. It returns the directory that they are in.
func corpora(t *testing.T) (*world, string) {
	t.Helper()
	dir, err := filepath.Abs(*corporaDir)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{policies: policies(t, filepath.Join(dir, "policies"))}
	w.linux = filepath.Join(dir, "linux", "linux-source-6.1")
	once(t, w.linux, func() {
		to := filepath.Join(dir, "linux")
		mkdir(t, to)
		shell(t, to, "sh", "-c", "apt-get download linux-source-6.1 && dpkg-deb -x linux-source-6.1*.deb . && tar xf usr/src/linux-source-6.1.tar.xz")
	})
	w.azurermGit = history(t, dir, *azurerm, "hashicorp/terraform-provider-azurerm")
	w.railsGit = history(t, dir, *rails, "rails/rails")
	w.checkout = filepath.Join(dir, "azurerm-checkout")
	once(t, w.checkout, func() {
		shell(t, "", "git", "clone", "--quiet", "--shared", "--no-checkout", w.azurermGit, w.checkout)
		out, err := exec.Command("git", "-C", w.checkout, "checkout", "--quiet", "HEAD").CombinedOutput()
		if err != nil { // a mirror can lack its largest files
			t.Logf("git checkout: %v\n%s", err, out)
		}
	})
	w.azurerm = filepath.Join(dir, "azurerm")
	once(t, w.azurerm, func() {
		shell(t, "", "cp", "-r", w.checkout, w.azurerm)
		if err := os.RemoveAll(filepath.Join(w.azurerm, ".git")); err != nil {
			t.Fatal(err)
		}
	})
	w.line = filepath.Join(dir, "line")
	once(t, w.line, func() { oneLine(t, filepath.Join(w.line, "one.json")) })
	w.manifests = filepath.Join(dir, "manifests")
	once(t, w.manifests, func() { writeManifests(t, w.manifests) })
	w.many = filepath.Join(dir, "many")
	once(t, w.many, func() { writeMany(t, w.many) })
	w.fleet = filepath.Join(dir, "fleet")
	once(t, w.fleet, func() { writeFleet(t, w.fleet, w.azurermGit) })
	w.tiny = filepath.Join(dir, "tiny")
	write(t, filepath.Join(w.tiny, "main.tf"), "terraform {}\n")
	w.edited, w.edit = filepath.Join(dir, "edited"), filepath.Join(dir, "edit.json")
	writeEdit(t, w)
	return w, dir
}

// writeEdit writes a file of 100 KB and the call of an agent that edits a line in its middle.
func writeEdit(t *testing.T, w *world) {
	t.Helper()
	var b strings.Builder
	g := newGenerator()
	line := ""
	for i := 0; b.Len() < 100_000; i++ {
		text := fmt.Sprintf("  %s_%s_%d = \"%s %s\"\n", g.one(words), g.one(words), i, g.one(words), g.one(words))
		if b.Len() < 50_000 {
			line = text
		}
		b.WriteString(text)
	}
	file := filepath.Join(w.edited, "main.tf")
	write(t, file, b.String())
	call, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": w.edited, "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Edit",
		"tool_input": map[string]any{"file_path": file, "old_string": line, "new_string": "  changed = true\n"},
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, w.edit, string(call))
}

// ripgrep is the version of the peer; it is 15.0.0 itself.
const ripgrep = "1.18.0"

const conftest = "v0.71.1"

// oneLine writes 422 MB without a line end.
func oneLine(t *testing.T, name string) {
	t.Helper()
	mkdir(t, filepath.Dir(name))
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	b := bufio.NewWriterSize(f, 1<<20)
	g := newGenerator()
	for n := 0; n < 422_000_000; {
		k, err := fmt.Fprintf(b, `{"%s": "%s", "%s": %d}, `, g.one(words), g.one(words), g.one(words), g.IntN(1e6))
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// history returns a git directory, which is cloned if none is named.
func history(t *testing.T, dir, named, repository string) string {
	t.Helper()
	if named != "" {
		return named
	}
	path := filepath.Join(dir, filepath.Base(repository)+".git")
	once(t, path, func() {
		shell(t, "", "git", "clone", "--quiet", "--bare", "https://github.com/"+repository, path)
	})
	return path
}

// once calls do if there is nothing at path.
func once(t *testing.T, path string, do func()) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	t.Log("making ", path)
	do()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// shell runs a command in a directory and returns what it prints.
func shell(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return strings.TrimSpace(string(out))
}

// files returns the paths of a tree's regular files, and their bytes.
func files(t *testing.T, tree string) (paths []string, bytes int64) {
	t.Helper()
	tree, err := filepath.EvalSymlinks(tree)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		paths, bytes = append(paths, strings.TrimPrefix(path, tree+"/")), bytes+info.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths, bytes
}

// machine describes the machine and the programs.
func (w *world) machine(t *testing.T) []string {
	t.Helper()
	processor := shell(t, "", "sh", "-c", "sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1")
	trees := func(name, tree string) string {
		paths, bytes := files(t, tree)
		return fmt.Sprintf("%s: %d files, %d MB", name, len(paths), bytes/1e6)
	}
	histories := func(name, dir string) string {
		return fmt.Sprintf("%s: %s commits, %s objects in packs, no commit-graph", name,
			shell(t, "", "git", "-C", dir, "rev-list", "--count", "HEAD"),
			shell(t, "", "sh", "-c", "git -C "+dir+" count-objects -v | sed -n 's/^in-pack: //p'"))
	}
	first := func(text string) string { line, _, _ := strings.Cut(text, "\n"); return line }
	return []string{
		fmt.Sprintf("%d cores of an %s, Linux %s, warm cache", runtime.NumCPU(), processor, shell(t, "", "uname", "-r")),
		"policyscan built with " + runtime.Version() + "; " + first(shell(t, "", w.rg, "--version")) + "; conftest " + conftest + "; " + shell(t, "", "git", "--version"),
		trees("the Linux source 6.1 of Debian", w.linux),
		trees("terraform-provider-azurerm", w.azurerm) + "; " + histories("its history", w.azurermGit),
		histories("the history of rails", w.railsGit),
	}
}
