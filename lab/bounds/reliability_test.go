//go:build linux

// Package bounds holds policyscan to what docs/reliability.md says. There is no code in it:
// its tests do a sample, and with -measure all of it, and then write the page.
//
//	differ_test.go  the differentials of the rooms, run with all their cases
//	bounds_*_test.go  memory and time, in a memory cgroup
//	same_*_test.go  one verdict, whatever is around a run; one binary, wherever it is built
package bounds

import (
	"flag"
	"os"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/measured"
)

var (
	measuring = flag.Bool("measure", false, "do all of it, which takes long, and write ../../reliability.md")
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
	if err := measured.Write("../../docs/reliability.md", name, text); err != nil {
		t.Fatal(err)
	}
}
