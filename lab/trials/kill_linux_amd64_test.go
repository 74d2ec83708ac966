package trials

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// What a run leaves that was killed.
const (
	before      = "the old outputs: no file of the bundle or the tree was touched yet"
	marker      = "E_IN_PROGRESS"
	interrupted = "E_INTERRUPTED"
	whole       = "the whole verdict"
	untorn      = "each report absent, old or whole"
	untraced    = "the old outputs; nobody saw what was touched"
)

func remains() []string { return []string{before, untraced, marker, interrupted, whole, untorn} }

// killed returns what a run left that was ended by a signal which it did not catch. calls are
// the calls that it made, nil if they are unknown.
func (s *scene) killed(e ending, calls []call) (string, error) {
	if crash := crashed(e.err); crash != "" {
		return "", fmt.Errorf("it says %q", crash)
	}
	for _, name := range s.outputs() {
		text, there := e.files[name]
		if name != "verdict.json" && there && !bytes.Equal(text, s.old[name]) && !bytes.Equal(text, s.clean.files[name]) {
			return "", fmt.Errorf("%s is partial", name)
		}
	}
	if s.noFile {
		return untorn, nil
	}
	text, there := e.files["verdict.json"]
	switch {
	case !there:
		return "", errors.New("verdict.json is absent")
	case bytes.Equal(text, s.old["verdict.json"]):
		if calls == nil {
			return untraced, nil
		}
		for _, c := range calls {
			if c.name == "renameat" || c.name == "renameat2" || judged(c.path) {
				return "", fmt.Errorf("the old PASS is there, after %s", c)
			}
		}
		return before, nil
	}
	for _, name := range s.outputs() {
		if there := e.files[name]; there != nil && bytes.Equal(there, s.old[name]) {
			return "", fmt.Errorf("the old %s is there, the old verdict is not", name)
		}
	}
	if bytes.Equal(text, s.clean.files["verdict.json"]) {
		return whole, nil
	}
	v, err := verdict.Decode(text)
	switch {
	case err != nil:
		return "", err
	case v.Verdict != verdict.Fail || len(v.Errors) != 1 || v.Errors[0].Code != code.InProgress:
		return "", fmt.Errorf("verdict.json is neither the marker nor the verdict:\n%s", text)
	}
	return marker, nil
}

// judged reports whether a path is one of a rule file or of a file that is scanned.
func judged(name string) bool {
	return slices.Contains([]string{".yml", ".tf", ".yaml"}, path.Ext(name))
}

// A death is a signal at one of a run's calls.
type death struct {
	scene  *scene
	roots  []string
	at     int
	signal syscall.Signal
}

// asked are the signals that ask a program to end.
func asked() []syscall.Signal {
	return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
}

// TestKill: over the outputs of an old run that passed, a run is killed before each call that
// touches files, and asked to end before each. No old PASS is there once the run has touched
// a file of the bundle or of the tree, nor is anything partial.
func TestKill(t *testing.T) {
	wanted(t, "kill")
	began := time.Now()
	all := scenes(t)
	var trials []death
	for _, s := range all {
		roots := s.copies(t, workers())
		calls := cleanTraces(t, s, roots[0])
		for at := 1; at <= len(calls); at++ {
			if at%4 == 0 || !strings.HasSuffix(s.name, "violations") {
				trials = append(trials, death{s, roots, at, syscall.SIGKILL})
			}
			if at%4 == 0 {
				trials = append(trials, death{s, roots, at, asked()[at/4%3]})
			}
		}
	}
	n := tally{t: t}
	each(sample(trials, 75), workers(), func(worker int, d death) {
		root := d.roots[worker]
		what := fmt.Sprintf("%s: %s before call %d", d.scene.name, name(d.signal), d.at)
		err := d.scene.reset(root)
		var tr trace
		if err == nil {
			tr, err = d.scene.traced(root, deed{at: d.at, signal: d.signal})
		}
		if err != nil {
			n.fault("%s: %v", what, err)
			return
		}
		if !tr.hit {
			n.add("not reached", "missed")
			return
		}
		what += ", " + tr.calls[d.at-1].String()
		made := tr.calls[:d.at-1] // the last need not have been made
		outcome, err := d.scene.ended(tr.ending, d.signal, made)
		if err != nil {
			n.fault("%s: %v\n%s%s", what, err, tr.out, tr.err)
			return
		}
		n.add(outcome, name(d.signal)+": "+d.scene.name, name(d.signal))
	})
	sudden(t, &n, all)
	if *measuring {
		for row, atLeast := range map[string]int{"SIGKILL": 500, "moments": 1000} {
			if n.total(row) < atLeast {
				t.Errorf("%s: %d trials, of %d at least", row, n.total(row), atLeast)
			}
		}
	}
	if n.counts["SIGKILL"][before] == 0 || n.counts["SIGKILL"][marker] == 0 || *measuring && (n.counts["SIGKILL"][whole] == 0 || n.counts["moments"][interrupted] == 0) {
		t.Errorf("some outcome never came: %v", n.counts)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs killed by SIGKILL, %d asked to end by SIGINT, SIGTERM or SIGHUP before a call, %d at a random moment (seed %d); %s in all.\n\n",
		n.total("SIGKILL"), n.total("SIGINT")+n.total("SIGTERM")+n.total("SIGHUP"), n.total("moments"), *seed, rounded(began))
	b.WriteString(n.table("SIGKILL: ", "SIGKILL before each call", remains()) + "\n")
	var other tally
	for _, row := range []string{"SIGINT", "SIGTERM", "SIGHUP", "moments"} {
		for outcome, k := range n.counts[row] {
			for range k {
				other.add(outcome, map[bool]string{true: "any of the three, at random moments", false: row + " before a call"}[row == "moments"])
			}
		}
	}
	b.WriteString(other.table("", "other signals", append([]string{same}, remains()...)))
	writePart(t, "kill", b.String())
}

func name(sig syscall.Signal) string {
	return map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}[sig]
}

// ended returns what a run left that a signal came to.
func (s *scene) ended(e ending, sig syscall.Signal, calls []call) (string, error) {
	switch {
	case !e.signaled && e.status == s.clean.status && s.asClean(e) && sig != syscall.SIGKILL:
		return same, nil // it came after the end
	case e.status != 128+int(sig):
		return "", fmt.Errorf("status %d", e.status)
	case e.signaled:
		return s.killed(e, calls)
	case s.asClean(e):
		return whole, nil
	case crashed(e.err) != "":
		return "", fmt.Errorf("it says %q", crashed(e.err))
	}
	text, there := e.files["verdict.json"]
	if !there {
		return "", errors.New("verdict.json is absent")
	}
	if err := s.verdictOf(e, text); err != nil {
		return "", err
	}
	v, err := verdict.Decode(text)
	if err != nil {
		return "", err
	}
	// Errors are in the order of their files, so those of a file come after this one.
	if !slices.ContainsFunc(v.Errors, func(e verdict.Error) bool { return e.Code == code.Interrupted }) {
		return "", fmt.Errorf("no error of verdict.json is %s:\n%s", code.Interrupted, text)
	}
	return interrupted, s.reportsOf(e)
}

// sudden sends signals at random moments of runs that nobody traces.
func sudden(t *testing.T, n *tally, all []*scene) {
	t.Helper()
	trials := 36
	if *measuring {
		trials = 1000
	}
	// One run after the other, so that a moment is the same part of a run each time.
	rnd := rand.New(rand.NewPCG(*seed, 2))
	lengths := map[*scene]time.Duration{}
	for _, s := range all {
		lengths[s] = limit
		for range 5 {
			if err := s.reset(s.root); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if _, err := s.run(s.root); err != nil {
				t.Fatal(err)
			}
			lengths[s] = min(lengths[s], time.Since(began)) // so that few signals come after the end
		}
	}
	for i := range trials {
		s, sig := all[i%len(all)], asked()[i/len(all)%3]
		delay := time.Duration(rnd.Int64N(int64(lengths[s])))
		what := fmt.Sprintf("%s: %s after %s", s.name, name(sig), delay)
		if err := s.reset(s.root); err != nil {
			t.Fatal(err)
		}
		e, err := s.signaled(sig, delay)
		if err != nil {
			n.fault("%s: %v", what, err)
			continue
		}
		outcome, err := s.ended(e, sig, nil)
		if err != nil {
			n.fault("%s: %v\n%s%s", what, err, e.out, e.err)
			continue
		}
		n.add(outcome, "moments")
	}
	// What a kill left does no harm: the next run is as without, but for temporary files, which it
	// scans, as it would be blind to whatever had such a name otherwise.
	for _, s := range all {
		if err := s.tidy(s.root); err != nil {
			t.Fatal(err)
		}
		if e, err := s.run(s.root); err != nil || e.status != s.clean.status || !s.asClean(e) {
			t.Errorf("%s: after the signals another run, status %d, %v, %s", s.name, e.status, err, s.differs(e))
		}
	}
}

// signaled does a run that gets a signal after a time.
func (s *scene) signaled(sig syscall.Signal, delay time.Duration) (e ending, err error) {
	cmd := exec.Command(program, s.words()...)
	cmd.Dir, cmd.Env = s.at(s.root), environment(s.root)[:3] // with all processors
	cmd.Stdin = strings.NewReader(s.stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return e, err
	}
	timer := time.AfterFunc(delay, func() { _ = cmd.Process.Signal(sig) }) // which may have ended
	ended := watch(func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // its status is judged
	timer.Stop()
	if ended() {
		return e, fmt.Errorf("it did not end within %s", limit)
	}
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	e = ending{status: ws.ExitStatus(), out: out.String(), err: errs.String()}
	if ws.Signaled() {
		e.status, e.signaled = 128+int(ws.Signal()), true
	}
	return e, s.look(s.root, &e)
}
