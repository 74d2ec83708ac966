//go:build linux

package bounds

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestFault_158_Ratios: what is found costs little processor time compared with the scan itself, wherever it
// is and however often. The violations' own share (the reports of 400 of them take longer than a scan
// of 5 MB) is that of a file with nothing else in it.
func TestFault_158_Ratios(t *testing.T) {
	wanted(t, "bounds")
	var many []string
	for i := range 400 {
		many = append(many, fmt.Sprintf("pattern%03d!", i))
	}
	all := strings.Join(many, " ")
	wide := func(text string) string {
		return strings.Join(strings.Split(text, ""), "\x00") + "\x00"
	}
	for _, c := range []struct {
		name     string
		patterns []string
		end      string
		fill     func(s boundScene, end string)
	}{
		{"400 patterns behind 5 MB of spaces", many, all, func(s boundScene, end string) { s.fill("tree/a", 5<<20, " ", end) }},
		{"400 patterns behind 5 MB of spaces in UTF-16", many, wide(all), func(s boundScene, end string) { s.fill("tree/a", 5<<20, " \x00", end) }},
		{"a hit behind 200 MB of LF", many[:1], many[0], func(s boundScene, end string) { s.fill("tree/a", 200<<20+int64(len(end)), "\n", end) }},
		{"a hit behind 200 MB of CRLF", many[:1], many[0], func(s boundScene, end string) { s.fill("tree/a", 200<<20+int64(len(end)), "\r\n", end) }},
		{"a hit behind 200 MB of CR", many[:1], many[0], func(s boundScene, end string) { s.fill("tree/a", 200<<20+int64(len(end)), "\r", end) }},
		{"a hit behind a hole of 3 GiB", many[:1], many[0], func(s boundScene, end string) { s.hole("tree/a", 3<<30, end) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := boundScene{t, t.TempDir()}
			s.patterns([]string{"**"}, append([]string{}, c.patterns...))
			s.write("policy/rules/invariants.yml", "rules: []\n")
			s.must(os.MkdirAll(s.path("tree"), 0o777))
			s.write("tree/a", c.end)
			alone := s.processorTime(1)
			for attempt := 1; ; attempt++ {
				c.fill(s, strings.Repeat("x", len(c.end)))
				without := s.processorTime(0)
				c.fill(s, c.end)
				with := s.processorTime(1)
				t.Logf("%v, without a hit %v, the hits alone %v: %.1f times", with, without, alone, float64(with)/float64(without))
				if with <= 3*without+alone {
					return
				}
				if attempt == attempts {
					t.Fatalf("%v of processor time; without a hit %v, and the hits alone %v", with, without, alone)
				}
			}
		})
	}
}

// attempts is how often a scan with hits may take too long before its test fails: what else a machine does costs
// a scan processor time, too, and that of one pair of scans is no evidence. What the test is there for took a
// hundred times as long, each time.
const attempts = 10

// processorTime is the least that two scans of the tree take, which end with a status.
func (s boundScene) processorTime(status int) time.Duration {
	s.Helper()
	least := time.Hour
	for range 2 {
		cmd := exec.Command(program, "scan", "--policy", "policy", "--output", "none", "tree")
		cmd.Dir = s.dir
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != status {
			s.Fatalf("status %d, want %d: %.500s", cmd.ProcessState.ExitCode(), status, out)
		}
		least = min(least, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return least
}
