package trials

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// errnos are what calls fail with. ENOENT is for what a listing had named alone: a file that
// nobody promised may be absent.
func errnos() map[string]syscall.Errno {
	return map[string]syscall.Errno{
		"EIO": syscall.EIO, "EACCES": syscall.EACCES, "ENOSPC": syscall.ENOSPC, "EMFILE": syscall.EMFILE,
		"ENOMEM": syscall.ENOMEM, "EINTR": syscall.EINTR, "ENOENT": syscall.ENOENT,
	}
}

// always are the errors that any call can have.
var always = []string{"EIO", "EACCES", "ENOSPC", "EMFILE", "ENOMEM", "EINTR"}

// An injection is one error at one call of a scene.
type injection struct {
	scene *scene
	roots []string
	at    int
	errno string
}

// cleanTraces does a scene's run under the tracer twice, with nothing done to it, and returns
// the longer list of calls.
func cleanTraces(t *testing.T, s *scene, root string) []call {
	t.Helper()
	var lists [2][]call
	for i := range lists {
		if err := s.reset(root); err != nil {
			t.Fatal(err)
		}
		tr, err := s.traced(root, deed{})
		if errnoIs(err, syscall.EPERM) {
			t.Skipf("SKIPPED: no ptrace here: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if what, err := s.judge(tr.ending); err != nil || what != same {
			t.Fatalf("%s: under the tracer it is another run: %s, %v\n%s", s.name, what, err, tr.err)
		}
		if len(tr.strange) > 0 {
			t.Fatalf("%s: calls that are in no list: %v; say whether they touch files", s.name, tr.strange)
		}
		if len(tr.calls) < 50 {
			t.Fatalf("%s: only %d calls: %v", s.name, len(tr.calls), tr.calls)
		}
		lists[i] = tr.calls
	}
	if a, b := counted(lists[0]), counted(lists[1]); !maps.Equal(a, b) {
		t.Logf("%s: two clean runs make other calls: %v, %v", s.name, a, b)
	}
	if len(lists[1]) > len(lists[0]) {
		return lists[1]
	}
	return lists[0]
}

func errnoIs(err error, errno syscall.Errno) bool { return err == errno }

func counted(calls []call) map[string]int {
	n := map[string]int{}
	for _, c := range calls {
		n[c.name]++
	}
	return n
}

// beyond is how many calls after the last of a clean run are tried too: where the order of
// goroutines is another, a run makes a few more.
const beyond = 3

// TestInject: each call that touches files fails once, with each error. Status 0 comes with
// the outputs of the clean run alone; otherwise it is 2, or 1 with violations that are there;
// and no old PASS is left, unless the message says that it is stale.
func TestInject(t *testing.T) {
	wanted(t, "inject")
	began := time.Now()
	var trials []injection
	perRun := map[string]int{}
	for _, s := range scenes(t) {
		roots := s.copies(t, workers())
		calls := cleanTraces(t, s, roots[0])
		perRun[s.name] = len(calls)
		for at := 1; at <= len(calls)+beyond; at++ {
			turns := *turns
			if strings.HasSuffix(s.name, "violations") {
				turns = 1
			}
			for k, name := range always {
				if (at+k)%len(always) < turns {
					trials = append(trials, injection{s, roots, at, name})
				}
			}
			if at <= len(calls) && calls[at-1].listed {
				trials = append(trials, injection{s, roots, at, "ENOENT"})
			}
		}
	}
	n := tally{t: t}
	each(sample(trials, 90), workers(), func(worker int, i injection) {
		what := fmt.Sprintf("%s: call %d fails with %s", i.scene.name, i.at, i.errno)
		root := i.roots[worker]
		if err := i.scene.reset(root); err != nil {
			n.fault("%s: %v", what, err)
			return
		}
		tr, err := i.scene.traced(root, deed{at: i.at, errno: errnos()[i.errno], listed: i.errno == "ENOENT"})
		if !tr.hit && err == nil {
			n.add("not reached", "missed")
			return
		}
		if !tr.hit {
			n.fault("%s: %v", what, err)
			return
		}
		c := tr.calls[i.at-1]
		what = fmt.Sprintf("%s: call %d, %s, fails with %s", i.scene.name, i.at, c, i.errno)
		if err != nil {
			n.fault("%s: %v", what, err)
			return
		}
		if crashed(tr.err) != "" && beforeMain(tr.calls[:i.at]) && i.scene.untouched(tr.ending) && tr.status == 2 {
			n.add(notBegun, "run "+i.scene.name, "call "+c.name, "errno "+i.errno, "all")
			return
		}
		outcome, err := i.scene.judge(tr.ending)
		if err != nil {
			n.fault("%s: %v\n%s%s", what, err, tr.out, tr.err)
			return
		}
		n.add(outcome, "run "+i.scene.name, "call "+c.name, "errno "+i.errno, "all")
	})
	if n.counts["all"][same] == 0 || n.counts["all"][undecided] == 0 || *measuring && n.counts["all"][found] == 0 {
		t.Errorf("some outcome never came: %v", n.counts["all"])
	}
	if *measuring && n.total("all") < 5000 {
		t.Errorf("%d injections, of 5,000 at least", n.total("all"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d injections in %s, each into a separate run, each call with %d of the six errors; in %d more trials the run ended before the call. Clean runs make these calls that touch files: %s.\n\n",
		n.total("all"), rounded(began), *turns, n.total("missed"), listOf(perRun))
	b.WriteString(n.table("run ", "run", outcomes()) + "\n" + n.table("call ", "call", outcomes()) + "\n" + n.table("errno ", "error", outcomes()))
	writePart(t, "injection", b.String())
}

// beforeMain reports whether a run made no other calls than those by which Go's runtime looks
// at its standard streams and at the system's pages: if they fail it ends the program.
func beforeMain(calls []call) bool {
	return !slices.ContainsFunc(calls, func(c call) bool {
		return !slices.Contains([]string{"openat", "read", "close", "fcntl"}, c.name) || len(calls) > 6
	})
}

// untouched reports whether all outputs are those of the run before.
func (s *scene) untouched(e ending) bool {
	for _, name := range s.outputs() {
		if text, there := e.files[name]; !there || !bytes.Equal(text, s.old[name]) {
			return false
		}
	}
	return true
}

func listOf(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, "; ")
}
