package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// packageInit is what Go says of the tables of one package that were made before main.
var packageInit = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)

// TestStart: the tables that packages make before main, at each start of the program, stay as few as they are. They
// were 1,573 allocations, 360 of them of encoding/gob, which came with go-git's patterns of .gitignore.
func TestStart(t *testing.T) {
	file, err := released()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	all, ours := 0, 0
	var list []string
	for _, m := range packageInit.FindAllStringSubmatch(said.String(), -1) {
		n, err := strconv.Atoi(m[3])
		if err != nil {
			t.Fatal(err)
		}
		all += n
		if strings.HasPrefix(m[1], "github.com/policyscan/") {
			ours += n
		}
		list = append(list, fmt.Sprintf("%6d %s", n, m[1]))
	}
	slices.Sort(list)
	if ours == 0 || all > 1200 || ours > 170 {
		t.Errorf("%d allocations before main, of which ours are %d; at most 1,200 and 170:\n%s\nmake a table when it is "+
			"first used, as internal/late does, or import less", all, ours, strings.Join(list, "\n"))
	}
}
