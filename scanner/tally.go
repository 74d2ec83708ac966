package scanner

import (
	"sync"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/verdict"
)

// A tally is what one worker has found. Each has its own, so that they do not wait for one
// another; the collector puts them together. A file that holds nothing leaves nothing behind but
// a count.
type tally struct {
	mu       sync.Mutex // of what follows
	over     bool       // the verdict was written; what comes now comes too late
	listed   int
	governed int
	done     int
	all      listing // the files that were listed, whoever owns them; of a shard
	witness  *witness
	pulse    *pulse
	current  *check.Result       // the file that the worker is checking, as it was begun; nil: none
	plans    map[*check.Plan]int // how many files were checked by each
	taken    []int               // by the excludes of rule files, as judges.Set.Taken numbers them
	coverage verdict.Coverage
	broken   []check.Finding
	errors   []verdict.Error
}

// list counts a file that no rule covers.
func (t *tally) list() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listed++
}

// take counts a path for the excludes of rule files that take it from their rules.
func (t *tally) take(excludes []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range excludes {
		for len(t.taken) <= i {
			t.taken = append(t.taken, 0)
		}
		t.taken[i]++
	}
}

// begin notes the file that the worker checks next; false if the scan has ended.
func (t *tally) begin(r check.Result) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.listed++
	t.governed++
	t.current = &r
	return true
}

// end takes the result of the file, unless the scan has ended.
func (t *tally) end(r *check.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.finish(r)
	}
}

// close ends the tally: what comes later does not count. A file that is still being checked was not reached.
func (t *tally) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.current != nil {
		t.finish(t.current)
	}
}

func (t *tally) finish(r *check.Result) {
	t.current = nil
	if r.Vanished {
		t.listed--
		t.governed--
		return
	}
	t.witness.end(r)
	t.pulse.result(r)
	t.done++
	if r.Plan != nil {
		t.plans[r.Plan]++
	}
	switch {
	case r.Scanned:
		t.coverage.Scanned++
		t.coverage.Bytes += r.Bytes
	case r.Reached:
		o := verdict.Omission{File: verdict.Path(r.File.Path), Reason: r.Reason}
		t.coverage.NotScanned = append(t.coverage.NotScanned, o)
	default: // the error is the cause of the scan's end
		o := verdict.Omission{File: verdict.Path(r.File.Path), Reason: "not-reached"}
		t.coverage.NotScanned = append(t.coverage.NotScanned, o)
	}
	if r.Err != nil {
		t.errors = append(t.errors, *r.Err)
	}
	// Also where it is allowed that a form of the content is not here: these are of the forms that are.
	t.errors = append(t.errors, r.KeyErrors()...)
	if r.TextAlone() {
		t.coverage.Unparsed = append(t.coverage.Unparsed, verdict.Path(r.File.Path))
	}
	if r.Settled {
		t.broken = append(t.broken, r.Findings...)
	} else {
		t.broken = check.PathFindings(r.File.Path, r.Forbidden, t.broken)
	}
}

// Progress can be read while a scan runs.
type Progress struct {
	mu      sync.Mutex
	tallies []*tally
}

// Files returns how many files were listed, how many of them rules govern, and with how many
// of these the scan is done.
func (p *Progress) Files() (listed, governed, done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tallies {
		t.mu.Lock()
		listed, governed, done = listed+t.listed, governed+t.governed, done+t.done
		t.mu.Unlock()
	}
	return listed, governed, done
}

func (p *Progress) watch(t *tally) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tallies = append(p.tallies, t)
}
