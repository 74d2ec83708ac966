//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// started is a run that has written its marker.
type started struct {
	program
	cmd *exec.Cmd
	out bytes.Buffer
}

// start starts a run over an old PASS, and waits for the marker.
func (p program) start(args ...string) *started {
	p.t.Helper()
	p.write("old/main.tf", "cidr = \"10.0.0.0/8\"\n")
	p.run("--policy", "policy", "old").want(p.t, exitPass)
	pass := p.verdict().text
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	p.t.Cleanup(cancel)
	s := &started{program: p, cmd: p.command(ctx, args...)}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	if strings.Contains(strings.Join(args, " "), "--files-from -") ||
		strings.Contains(strings.Join(args, " "), "--stdin ") {
		r, w, err := os.Pipe() // which nothing is written to, and no one closes
		if err != nil {
			p.t.Fatal(err)
		}
		p.t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
		s.cmd.Stdin = r
	}
	// Under nohup the program would be started with SIGHUP ignored, and a signal that comes early would be lost.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	p.t.Cleanup(func() { signal.Stop(caught) })
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	for {
		text, err := os.ReadFile(filepath.Join(p.dir, "verdict.json"))
		if err != nil {
			p.t.Fatal(err)
		}
		if !bytes.Equal(text, pass) {
			return s
		}
		if ctx.Err() != nil {
			p.t.Fatal("it hangs: there is no marker")
		}
		time.Sleep(time.Millisecond)
	}
}

func (s *started) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// TestFault_063_SignalMidScan: the run reads a file of many GiB, all of it a hole.
func TestFault_063_SignalMidScan(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for _, tree := range []string{"good", "bad"} {
			p := newProgram(t)
			p.hole(tree+"/zz.tf", 1<<40)
			s := p.start("--policy", "policy", tree)
			s.waitForScan()
			s.signal(sig)
			if got, want := exitOf(s.cmd.Wait()), 128+int(sig); got != want {
				t.Errorf("%s, %s: status %d, want %d", sig, tree, got, want)
			}
			// Whether the violation is found first depends on the directory's order.
			if got := s.saying(); got != "UNDECIDED E_INTERRUPTED" &&
				(tree == "good" || got != "FAIL NET-1@main.tf E_INTERRUPTED") {
				t.Errorf("%s, %s: %s", sig, tree, got)
			}
			if left := s.leftovers(); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		}
	}
}

// waitForScan waits until the run has zz.tf open, where the system can tell.
func (s *started) waitForScan() {
	s.t.Helper()
	fds := fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid)
	if !exists("/proc/self/fd") {
		time.Sleep(time.Second)
		return
	}
	for range 10_000 {
		entries, err := os.ReadDir(fds)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range entries {
			if target, err := os.Readlink(filepath.Join(fds, e.Name())); err == nil &&
				strings.HasSuffix(target, "/zz.tf") {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
	s.t.Fatal("the run does not come to scan")
}

func (p program) hole(name string, size int64) {
	p.t.Helper()
	p.write(name, "")
	if err := os.Truncate(filepath.Join(p.dir, name), size); err != nil {
		p.t.Skipf("SKIPPED: no file of %d bytes here: %v", size, err)
	}
}

// TestFault_063_SignalAnyTime: at random moments after the marker, the old PASS never comes back, and the output is
// whole.
func TestFault_063_SignalAnyTime(t *testing.T) {
	t.Parallel()
	trials := 4
	if *long {
		trials = 1000
	}
	p := newProgram(t)
	for i := range 300 {
		p.write("bad/"+strings.Repeat("x", i%7)+"/"+string(rune('a'+i%26))+strings.Repeat("y", i/26)+".tf",
			"cidr = \"0.0.0.0/0\"\n")
	}
	p.run("--policy", "policy", "bad").want(t, exitViolation)
	final := p.verdict().text
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL}
	counts := map[string]int{}
	for i := range trials {
		sig := signals[i%len(signals)]
		s := p.start("--policy", "policy", "bad")
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		s.signal(sig)
		status := exitOf(s.cmd.Wait())
		v := s.verdict()
		what := "whole"
		if !bytes.Equal(v.text, final) {
			what = v.Errors[len(v.Errors)-1].Code
		}
		counts[what]++
		switch {
		case v.Verdict.Verdict != "FAIL":
			t.Errorf("%s: %s", sig, v.text)
		case what == "whole", what == "E_INTERRUPTED", what == "E_IN_PROGRESS":
		default:
			t.Errorf("%s: status %d: %s", sig, status, v.text)
		}
		if status != 128+int(sig) && what != "whole" {
			t.Errorf("%s: status %d with %s", sig, status, what)
		}
	}
	t.Logf("left behind: %v", counts)
	// A killed run's temporary file does not harm the next run.
	p.run("--policy", "policy", "bad").want(t, exitViolation)
	if !bytes.Equal(p.verdict().text, final) {
		t.Error("the run after the kills has another verdict")
	}
}

// TestFault_063_SecondSignal: who presses Ctrl-C twice is not kept waiting.
func TestFault_063_SecondSignal(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.hole("good/zz.tf", 1<<40)
	s := p.start("--policy", "policy", "good")
	s.waitForScan()
	s.signal(syscall.SIGINT)
	s.signal(syscall.SIGINT)
	if got := exitOf(s.cmd.Wait()); got != 130 {
		t.Errorf("status %d, want 130", got)
	}
	if got := s.verdict(); got.Verdict.Verdict != "FAIL" {
		t.Errorf("%s", got.text)
	}
}

// TestFault_140_Timeout: a limit that the user sets ends a run that does not end, be it
// scanning or waiting for an input.
func TestFault_140_Timeout(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.hole("good/zz.tf", 1<<40)
	p.run("--policy", "policy", "--timeout", "200ms", "good").want(t, exitUndecided)
	if got := p.saying(); got != "UNDECIDED E_TIMEOUT" {
		t.Error(got)
	}

	p = newProgram(t)
	s := p.start("--policy", "policy", "--timeout", "200ms", "--files-from", "-", "good")
	if got := exitOf(s.cmd.Wait()); got != exitUndecided {
		t.Errorf("status %d", got)
	}
	if got := s.saying(); got != "UNDECIDED E_TIMEOUT" {
		t.Error(got)
	}
}
