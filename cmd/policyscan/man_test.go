package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/cmd/policyscan/manual"
)

// pageOf is the manual page, as the program prints it.
func pageOf(t *testing.T) string {
	t.Helper()
	e := program{t: t, dir: t.TempDir()}.run("man", "--date", "2026-01-02")
	if e.status != 0 || e.err != "" {
		t.Fatalf("status %d: %s", e.status, e.err)
	}
	return e.out
}

// TestManual: the page has the sections that a reader looks for, in the order that mdoc(7)
// gives, and every command and flag of the program.
func TestManual(t *testing.T) {
	page := pageOf(t)
	var sections []string
	for _, m := range regexp.MustCompile(`(?m)^\.Sh (.*)$`).FindAllStringSubmatch(page, -1) {
		sections = append(sections, m[1])
	}
	if want := []string{"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO"}; !slices.Equal(sections, want) {
		t.Errorf("the sections are %q, not %q", sections, want)
	}
	parser, err := newParser(&commands{}, streams{})
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	for _, cmd := range parser.Model.Children {
		if !strings.Contains(page, "\n.It Cm "+cmd.Name) {
			t.Errorf("the command %s is not there", cmd.Name)
		}
		for _, f := range cmd.Flags {
			flags++
			if !regexp.MustCompile(`(?m)^\.It (Fl \w , )?Fl \\-` + strings.ReplaceAll(f.Name, "-", `\\-`) + `( |$)`).MatchString(page) {
				t.Errorf("the flag --%s of %s is not there", f.Name, cmd.Name)
			}
		}
	}
	if flags < 20 {
		t.Errorf("%d flags were looked for", flags)
	}
	for _, want := range []string{".Dd January 2, 2026\n", ".It 128+n\n", ".It 2\nCould not decide, ", ".It Ic \"policyscan \\-\\-diff\\-base origin/main\"\nWhat this branch changes.\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not there", want)
		}
	}
	for i, line := range strings.Split(page, "\n") {
		if len(line) >= 80 && !strings.HasPrefix(line, ".") {
			t.Errorf("line %d has %d bytes: %s", i+1, len(line), line)
		}
	}
}

// TestManualAlone: no variable of the environment and no clock gets into the page.
func TestManualAlone(t *testing.T) {
	page := pageOf(t)
	other := program{t: t, dir: t.TempDir(), env: []string{"COLUMNS=20", "NO_COLOR=1", "SOURCE_DATE_EPOCH=1", "LANG=de_DE.UTF-8", "GITHUB_ACTIONS=true"}}
	if got := other.run("man", "--date", "2026-01-02").out; got != page {
		t.Errorf("another environment, another page:\n%s", got)
	}
	for _, date := range []string{"2026-13-01", "2026-1-2", "today", "2026-01-02\n.Sh X"} {
		if e := other.run("man", "--date", date); e.status != 2 || e.out != "" || !strings.Contains(e.err, "write it as 2006-01-02") {
			t.Errorf("%q: status %d: %s%s", date, e.status, e.out, e.err)
		}
	}
	parser, err := newParser(&commands{}, streams{})
	if err != nil {
		t.Fatal(err)
	}
	if got := manual.Page(parser.Model, "devel", time.Time{}); !strings.Contains(got, "\n.Dd undated\n") {
		t.Errorf("a page without a date begins with %.200s", got)
	}
}

// TestReleaseVersion: a release says the version that .goreleaser.yaml hands to the linker.
func TestReleaseVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policyscan")
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X main.release=v1.2.3-rc.1", "-o", file, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := program{t: t, file: file, dir: t.TempDir()}
	if got := p.run("--version").out; got != "policyscan v1.2.3-rc.1\n" {
		t.Errorf("--version says %q", got)
	}
	if got := p.run("man").out; !strings.Contains(got, "\n.Os policyscan v1.2.3\\-rc.1\n") {
		t.Errorf("the manual page begins with %.200s", got)
	}
}
