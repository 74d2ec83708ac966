//go:build linux

// Package bounds holds policyscan to what docs/reliability.md says. There is no code in it:
// its tests do a sample, and with -measure all of it, and then write the page.
//
//	differ_test.go  the differentials of the rooms, run with all their cases
//	bounds_*_test.go  memory and time, in a memory cgroup
//	same_*_test.go  one verdict, whatever stands around a run; one binary, wherever it is built
package bounds

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	measuring = flag.Bool("measure", false, "do all of it, which takes long, and write ../../reliability.md")
	part      = flag.String("part", "", "with -measure: only this part")
)

// program is the path of policyscan as it is released, built once.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "policyscan-reliability")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "policyscan")
		build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "../../../cmd/policyscan")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// wanted skips a test that -part leaves out.
func wanted(t *testing.T, name string) {
	t.Helper()
	if *measuring && *part != "" && *part != name {
		t.Skipf("-part %s", *part)
	}
}

const page = "../../reliability.md"

// writePart puts what was measured into the page, between the marks of its name, if nothing
// was found that must not be.
func writePart(t *testing.T, name, text string) {
	t.Helper()
	t.Logf("\n%s", text)
	if !*measuring || t.Failed() {
		return
	}
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- measured: "+name+" -->\n", "<!-- end -->\n"
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no part %q", page, name)
	}
	if err := os.WriteFile(page, []byte(before+begin+text+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
