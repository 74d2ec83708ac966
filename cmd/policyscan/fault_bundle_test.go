package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFault_072_097_BundlesThroughScan: a bundle with a mistake is never a pass: exit
// status 2, and the mistake is in the verdict. The rows are tested in depth in
// package rules.
func TestFault_072_097_BundlesThroughScan(t *testing.T) {
	t.Parallel()
	edit := func(old, new string) string {
		if !strings.Contains(oneRule, old) {
			t.Fatalf("%q is not in the rule", old)
		}
		return strings.Replace(oneRule, old, new, 1)
	}
	long := strings.Repeat("a", 64<<10)
	for _, c := range []struct{ row, boundaries, codes string }{
		{"073 empty", "", "E_POLICY_EMPTY"},
		{"073 comment", "# rules:\n", "E_POLICY_EMPTY"},
		{"073 null", "null\n", "E_POLICY_EMPTY"},
		{"073 mapping", "{}\n", "E_POLICY_EMPTY"},
		{"073 scalar", "rules\n", "E_POLICY_TYPE"},
		{"073 list", "- rules\n", "E_POLICY_TYPE"},
		{"074 no rules", "rules: []\n", "E_NO_RULES"},
		{"075 key", edit("title:", "titel:"), "E_POLICY_KEY"},
		{"075 case", edit("rules:", "Rules:"), "E_POLICY_KEY"},
		{"076 key", edit("title:", "id: NET-2\n    title:"), "E_POLICY_DUPLICATE"},
		{"076 id", oneRule + strings.TrimPrefix(oneRule, "rules:\n"), "E_POLICY_DUPLICATE"},
		{"077 document", oneRule + "---\nrules: []\n", "E_POLICY_SYNTAX"},
		{"077 garbage", oneRule + "...\ngarbage\n", "E_POLICY_SYNTAX"},
		{"078 null item", edit(`["0.0.0.0/0"]`, "[null]"), "E_POLICY_VALUE"},
		{"078 empty item", edit(`["0.0.0.0/0"]`, `[""]`), "E_POLICY_VALUE"},
		{"078 blank item", edit(`["0.0.0.0/0"]`, `["  "]`), "E_POLICY_VALUE"},
		{"078 empty list", edit(`["0.0.0.0/0"]`, `[]`), "E_POLICY_VALUE"},
		{"079 scalar", edit(`["0.0.0.0/0"]`, `"0.0.0.0/0"`), "E_POLICY_TYPE"},
		{"079 nested", edit(`["0.0.0.0/0"]`, `[["0.0.0.0/0"]]`), "E_POLICY_TYPE"},
		{"080 no mode", edit("{mode: fail}", "{}"), "E_POLICY_VALUE"},
		{"080 FAIL", edit("mode: fail", "mode: FAIL"), "E_POLICY_VALUE"},
		{"080 warn", edit("mode: fail", "mode: warn"), "E_POLICY_VALUE"},
		{"081 star", edit(`"0.0.0.0/0"`, "*:*"), "E_POLICY_SYNTAX"},
		{"083 anchor", edit("title: No", "title: &a No"), "E_POLICY_SYNTAX"},
		{"083 alias", edit("title: No ingress from anywhere", "title: &a x\n    owner: *a"), "E_POLICY_SYNTAX E_POLICY_SYNTAX"},
		{"083 tag", edit("title: No", "title: !x No"), "E_POLICY_SYNTAX"},
		{"083 binary", edit(`"0.0.0.0/0"`, "!!binary MC4wLjAuMC8w"), "E_POLICY_SYNTAX"},
		{"084 UTF-16", "\xff\xfer\x00u\x00", "E_POLICY_SYNTAX"},
		{"084 NUL", edit("anywhere", "any\x00where"), "E_POLICY_SYNTAX"},
		{"084 UTF-8", edit("anywhere", "any\xffwhere"), "E_POLICY_SYNTAX"},
		{"084 CR", strings.ReplaceAll(oneRule, "\n", "\r"), "E_POLICY_SYNTAX"},
		{"085 large", oneRule + strings.Repeat("# a comment that makes the file long\n", 120_000), "E_POLICY_LIMIT"},
		{"085 rules", "rules:\n" + manyRules(10_001), "E_POLICY_LIMIT"},
		{"091 pattern", edit("0.0.0.0/0", long+"a"), "E_POLICY_LIMIT"},
		{"092 class", edit("**/*.tf", "[a"), "E_POLICY_GLOB"},
		{"092 brace", edit("**/*.tf", "{a"), "E_POLICY_GLOB"},
		{"093 slash", edit("**/*.tf", "/main.tf"), "E_POLICY_GLOB"},
		{"093 stars", edit("**/*.tf", "**.tf"), "E_POLICY_GLOB"},
		{"094 braces", edit("**/*.tf", strings.Repeat("{a,aa}", 26)), "E_POLICY_GLOB"},
		{"097 backslash", edit("**/*.tf", `**\\*.tf`), "E_POLICY_GLOB"},
	} {
		t.Run(c.row, func(t *testing.T) {
			p := newProgram(t)
			p.write("policy/rules/boundaries.yml", c.boundaries)
			e := p.run("--policy", "policy", "bad").want(t, exitUndecided)
			if got := p.saying(); got != "UNDECIDED "+c.codes {
				t.Errorf("the verdict is %s, want %s\n%s", got, c.codes, e.out)
			}
			if v := p.verdict(); v.Coverage.Files != 0 || len(v.Rules) != 0 {
				t.Errorf("something was scanned: %+v", v.Coverage)
			}
		})
	}

	good := map[string]string{
		"084 BOM":       "\ufeff" + oneRule,
		"084 CRLF":      strings.ReplaceAll(oneRule, "\n", "\r\n"),
		"091 long":      edit(`["0.0.0.0/0"]`, `["`+long+`", "0.0.0.0/0"]`),
		"091 NUL":       edit(`["0.0.0.0/0"]`, `["\0", "0.0.0.0/0"]`),
		"096 no file":   oneRule + strings.NewReplacer("rules:\n", "", "NET-1", "NET-2", "*.tf", "*.none").Replace(oneRule),
		"090 x-comment": "x-note: anything\n" + oneRule,
	}
	for row, boundaries := range good {
		t.Run(row, func(t *testing.T) {
			p := newProgram(t)
			p.write("policy/rules/boundaries.yml", boundaries)
			p.run("--policy", "policy", "bad").want(t, exitViolation)
			if got := p.saying(); got != "FAIL NET-1@main.tf" {
				t.Errorf("the verdict is %s", got)
			}
		})
	}
}

func manyRules(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  - {id: R-%d, title: t, enforcement: {mode: fail}, match: {files: [a], forbidden_patterns: [x]}}\n", i)
	}
	return b.String()
}

// TestFault_072_090_MissingThroughScan: each of the three files that is missing or broken.
func TestFault_072_090_MissingThroughScan(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"boundaries.yml", "invariants.yml"} {
		p := newProgram(t)
		if err := os.Remove(filepath.Join(p.dir, "policy/rules", file)); err != nil {
			t.Fatal(err)
		}
		p.run("--policy", "policy", "good").want(t, exitUndecided)
		if got := p.saying(); got != "UNDECIDED E_POLICY_MISSING" {
			t.Errorf("%s: %s", file, got)
		}
	}
}

func TestFault_090_DeprecatedThroughScan(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.write("policy/rules/deprecated.yml", strings.NewReplacer("NET-1", "OLD-1", "0.0.0.0/0", "10.0.0.0/8").Replace(oneRule))
	p.run("--policy", "policy", "good").want(t, exitPass)
	if v := p.verdict(); v.Policy[0].Deprecated != 1 || len(v.Rules) != 1 {
		t.Errorf("%+v", v.Policy)
	}
	p.write("policy/rules/deprecated.yml", "rules: [\n")
	p.run("--policy", "policy", "good").want(t, exitUndecided)
	if got := p.saying(); got != "UNDECIDED E_POLICY_SYNTAX" {
		t.Error(got)
	}
}

// TestFault_037_086_BundleKinds: a rule file that is anything but a regular
// file, or cannot be read. Nothing hangs.
func TestFault_037_086_BundleKinds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: links and FIFOs are of Unix")
	}
	for kind, make := range map[string]func(name string) error{
		"link":   func(name string) error { return os.Symlink("invariants.yml", name) },
		"folder": func(name string) error { return os.Mkdir(name, 0o777) },
		"FIFO":   func(name string) error { return exec.Command("mkfifo", name).Run() },
		"device": func(name string) error { return os.Symlink("/dev/zero", name) },
	} {
		for _, file := range []string{"boundaries.yml", "invariants.yml", "deprecated.yml"} {
			p := newProgram(t)
			name := filepath.Join(p.dir, "policy/rules", file)
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			if err := make(name); err != nil {
				t.Fatal(err)
			}
			p.run("--policy", "policy", "good").want(t, exitUndecided)
			if got := p.saying(); got != "UNDECIDED E_POLICY_READ" {
				t.Errorf("%s as a %s: %s", file, kind, got)
			}
		}
	}
}
