//go:build linux

// Package bounds holds policyscan to what lab/results/reliability.md says. There is no code in it:
// its tests do a sample, and with -measure all of it, and then write the page.
//
//	reliability_test.go   the page
//	bounds_linux_test.go  memory and time, in a memory cgroup
package bounds

import (
	"flag"
	"os"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/measured"
)

var (
	measuring = flag.Bool("measure", false, "do all of it, which takes long, and write ../results/reliability.md")
)

// program is the path of policyscan as it is released, built once.
var program string

func TestMain(m *testing.M) {
	os.Exit(build.WithProgram(func(path string) int {
		program = path
		return m.Run()
	}))
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
