//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A usage is what a process took.
type usage struct {
	wall, cpu time.Duration
	memory    int64  // KiB, the most at a time
	calls     int64  // bytes that its calls of read and pread returned: packs, results, all but mapped indexes
	read      int64  // bytes of files that it judged by their content, as it says
	last      string // the last line that it printed
	note      string // what it says of --reuse
}

func (u usage) String() string {
	return fmt.Sprintf("%.1f s, %.1f s of processors, %d MiB of memory, %.1f MB of files, %.1f MB by read calls",
		u.wall.Seconds(), u.cpu.Seconds(), u.memory>>10, float64(u.read)/1e6, float64(u.calls)/1e6)
}

// least takes what another run of the same took, if that is less time; the more memory.
func (u *usage) least(o usage, i int) {
	memory := max(u.memory, o.memory)
	if i == 0 || o.cpu < u.cpu {
		*u = o
	}
	u.memory = memory
}

var (
	scannedBytes = regexp.MustCompile(`, ([0-9]+) bytes scanned, `)
	readBytes    = regexp.MustCompile(`; ([0-9]+) bytes of files were read$`)
)

func measure(program string, args ...string) (usage, error) {
	cmd := exec.Command(program, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	// The counters are there until the process is waited for.
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return usage{}, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
		}
	}
	u := usage{wall: time.Since(began)}
	counters, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", cmd.Process.Pid))
	if err != nil {
		return u, errors.Join(err, cmd.Wait())
	}
	if _, err := fmt.Sscanf(string(counters), "rchar: %d", &u.calls); err != nil {
		return u, errors.Join(err, cmd.Wait())
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return u, fmt.Errorf("%q: %w\n%.2000s", args, err, out.String())
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.memory = r.Maxrss
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	u.last = lines[len(lines)-1]
	if m := scannedBytes.FindStringSubmatch(u.last); m != nil {
		u.read, _ = strconv.ParseInt(m[1], 10, 64) // digits
	}
	for _, line := range lines {
		if m := readBytes.FindStringSubmatch(line); m != nil {
			u.note = line
			u.read, _ = strconv.ParseInt(m[1], 10, 64)
		}
	}
	return u, nil
}
