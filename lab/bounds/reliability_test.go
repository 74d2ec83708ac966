//go:build linux

// Package bounds holds policyscan to what lab/results/reliability.md says. There is no code in it:
// its tests do a sample, and with -measure all of it, and then write the page.
//
//	reliability_test.go   the differentials of the rooms, run with all their cases, and the page
//	bounds_linux_test.go  memory and time, in a memory cgroup
package bounds

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/measured"
)

var (
	measuring = flag.Bool("measure", false, "do all of it, which takes long, and write ../results/reliability.md")
	part      = flag.String("part", "", "with -measure: only this part")
)

// program is the path of policyscan as it is released, built once.
var program string

func TestMain(m *testing.M) {
	os.Exit(build.WithProgram(func(path string) int {
		program = path
		return m.Run()
	}))
}

// wanted skips a test that -part skips.
func wanted(t *testing.T, name string) {
	t.Helper()
	if *measuring && *part != "" && *part != name {
		t.Skipf("-part %s", *part)
	}
}

// writePart puts what was measured into its part of the page, if nothing was found that must not be.
func writePart(t *testing.T, name, text string) {
	t.Helper()
	t.Logf("\n%s", text)
	if !*measuring || t.Failed() {
		return
	}
	if err := measured.Write("../results/reliability.md", name, text); err != nil {
		t.Fatal(err)
	}
}

var (
	differRails     = flag.String("rails", "", "a git directory of rails/rails")
	differAzurerm   = flag.String("azurerm", "", "a git directory of hashicorp/terraform-provider-azurerm")
	differWildmatch = flag.String("wildmatch", "", "git's own t/t3070-wildmatch.sh, which is not ours to keep here")
)

// TestDifferentials runs the differentials of the rooms with all their cases. Each room does a
// sample in go test and fails for a difference.
func TestDifferentials(t *testing.T) {
	wanted(t, "differ")
	if !*measuring {
		t.Skip("each room does a sample; all of it takes some minutes: see make differ")
	}
	if *differRails == "" || *differAzurerm == "" || *differWildmatch == "" {
		t.Fatal("-rails, -azurerm and -wildmatch have to name what is compared")
	}
	absolute := func(name string) string {
		name, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	root, err := build.Root()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| compared | with | how many | differences |\n|---|---|---|---|\n")
	for _, room := range []struct {
		dir, run string
		lines    int
		args     []string
	}{
		{"rules/glob", "^(TestFault_095_162_Differential|TestGitsOwnLines)$", 2, []string{"-pairs", "100000", "-wildmatch", absolute(*differWildmatch)}},
		{"scanner/repo", "^TestDifferential_", 2, []string{"-histories", "2000", "-pairs", "1000", "-real", absolute(*differRails) + "," + absolute(*differAzurerm)}},
	} {
		args := append([]string{"test", "./" + room.dir, "-count=1", "-timeout", "4h", "-v", "-run", room.run, "-args", "-long"}, room.args...)
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", room.dir, err, out)
		}
		lines := 0
		for line := range strings.SplitSeq(string(out), "\n") {
			if _, row, ok := strings.Cut(line, "measured: "); ok {
				b.WriteString("| " + row + " |\n")
				lines++
			}
		}
		if lines != room.lines {
			t.Fatalf("%s: %d results, want %d\n%s", room.dir, lines, room.lines, out)
		}
	}
	writePart(t, "differentials", b.String())
}
