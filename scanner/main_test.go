//go:build linux

package scanner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A childScan is a scan in its own process, for tests that measure memory, scan as another user or expect a crash.
type childScan struct {
	Dir      string
	Entries  []string // not nil: Listed
	Patterns []string
	MaxBytes int64
	Panic    bool // in Exclude, at the second file
	UID      uint32
}

// childEnv is the environment variable of a child process with a childScan as JSON.
const childEnv = "SCANNER_TEST_CHILD"

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		if err := childMain(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		return
	}
	// A rapid failure is repeated from its log; its files could be committed by mistake.
	flag.Parse()
	checks := flag.Lookup("rapid.checks")
	if !*long && checks.Value.String() == checks.DefValue {
		checks.Value.Set("30")
	}
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// childMain scans and prints its peak memory and the verdict.
func childMain(text string) error {
	var c childScan
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	o := testOptions{MaxFileBytes: c.MaxBytes}
	if c.Panic {
		n := 0
		o.Exclude = func(string) bool {
			if n++; n == 2 {
				panic("at the second file")
			}
			return false
		}
	}
	root, err := worktree.Open(c.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	input := tree.Dir(root)
	if c.Entries != nil {
		input = tree.List(root, c.Entries)
	}
	v := scanWith(context.Background(), testBundle(c.Patterns...), input, o)
	out, err := v.Encode()
	if err != nil {
		return err
	}
	kib, err := peakMemory()
	if err != nil {
		return err
	}
	_, err = fmt.Printf("%d\n%s", kib, out)
	return err
}

// peakMemory returns this process's largest resident set in KiB. The ru_maxrss that a parent gets differs: on Linux it
// begins with the parent's.
func peakMemory() (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")))
		}
	}
	return 0, fmt.Errorf("no VmHWM in %q", status)
}

// scanInChild returns the verdict of a scan in its own process, and its peak memory in MiB.
func scanInChild(t *testing.T, c childScan) (*verdict.Verdict, int) {
	t.Helper()
	out, err := runChild(t, c)
	must(t, err)
	r := bufio.NewReader(bytes.NewReader(out))
	first, err := r.ReadString('\n')
	must(t, err)
	kib, err := strconv.Atoi(strings.TrimSpace(first))
	must(t, err)
	var v verdict.Verdict
	must(t, json.NewDecoder(r).Decode(&v))
	checkVerdict(t, testBundle(c.Patterns...), &v)
	return &v, kib >> 10
}

// runChild returns the output of a child. Its error contains the child's messages.
func runChild(t *testing.T, c childScan) ([]byte, error) {
	t.Helper()
	text, err := json.Marshal(c)
	must(t, err)
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	if c.UID != 0 {
		// The go command keeps the test's binary where others cannot reach it.
		dir := reachable(t)
		data, err := os.ReadFile(exe)
		must(t, err)
		must(t, os.WriteFile(dir+"/scanner.test", data, 0o755))
		cmd.Path, cmd.Dir = dir+"/scanner.test", dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.UID, Gid: c.UID}}
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("the child: %w: %.2000s", err, errs.String())
	}
	return out, err
}

// reachable returns a directory that every user can reach.
func reachable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "scanner")
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}
