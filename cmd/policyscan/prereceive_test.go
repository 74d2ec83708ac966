//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// shortHash is a commit in the pusher's view. Those of SHA-256 are as long.
var shortHash = regexp.MustCompile(`\b[0-9a-f]{7}\b`)

// TestPushes: what pushers see of a server with the hook, at 80 columns. lab/pushes does many more pushes.
func TestPushes(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "testdata/pushes.sh", t.TempDir())
	cmd.Env = slices.Concat(os.Environ(), gitEnv())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 && strings.HasPrefix(line, "remote: ") {
			t.Errorf("over 80 columns: %s", line)
		}
	}
	got := shortHash.ReplaceAllString(string(out), "#######")
	if strings.Contains(got, "WRONG") {
		t.Error(got)
	}
	golden := filepath.Join("testdata", "pushes.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("%v: pushers see\n%s\nwant\n%s", err, got, want)
	}
}
