//go:build linux

package bounds

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

var (
	differRails     = flag.String("rails", "", "a git directory of rails/rails")
	differAzurerm   = flag.String("azurerm", "", "a git directory of hashicorp/terraform-provider-azurerm")
	differWildmatch = flag.String("wildmatch", "", "git's own t/t3070-wildmatch.sh, which is not ours to keep here")
)

// TestDifferentials runs the differentials of the rooms with all their cases. Each room does a
// sample of its own in go test; what is compared, and that a difference fails, is there.
func TestDifferentials(t *testing.T) {
	wanted(t, "differ")
	if !*measuring {
		t.Skip("each room does a sample of its own; all of it takes some minutes: see make differ")
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
		folder, run string
		lines       int
		args        []string
	}{
		{"scanner", "^TestDifferential$", 1, []string{"-pairs", "1000000"}},
		{"rules/glob", "^(TestFault_095_Differential|TestGitsOwnLines)$", 2, []string{"-pairs", "100000", "-wildmatch", absolute(*differWildmatch)}},
		{"scanner/repo", "^TestDifferential_", 2, []string{"-histories", "2000", "-pairs", "1000", "-real", absolute(*differRails) + "," + absolute(*differAzurerm)}},
	} {
		args := append([]string{"test", "./" + room.folder, "-count=1", "-timeout", "4h", "-v", "-run", room.run, "-args", "-long"}, room.args...)
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", room.folder, err, out)
		}
		lines := 0
		for line := range strings.SplitSeq(string(out), "\n") {
			if _, row, ok := strings.Cut(line, "measured: "); ok {
				b.WriteString("| " + row + " |\n")
				lines++
			}
		}
		if lines != room.lines {
			t.Fatalf("%s: %d results, want %d\n%s", room.folder, lines, room.lines, out)
		}
	}
	writePart(t, "differentials", b.String())
}
