package scanner

import (
	"sync"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/verdict"
)

// A sum is the results of one worker. Each worker has its own to avoid waiting. A file without findings only adds to
// the counters.
type sum struct {
	mu       sync.Mutex          // guards the fields below
	closed   bool                // later results are dropped
	done     int                 // number of covered files done
	digest   digest              // of the listed files of all shards; only used by shards
	current  *check.Result       // the file being checked: begun, or nil
	begun    check.Result        // as it was before the check, for close
	plans    map[*check.Plan]int // number of files checked by each
	paths    map[int]int         // by rule: number of files that only its forbidden_files match
	excluded []int               // by the excludes of rule files, numbered as in run.RuleSet.Excluding
	coverage verdict.Coverage
	findings []check.Finding
	errors   []verdict.Error
}

func (s *scan) newSum() *sum {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &sum{closed: s.closed, plans: map[*check.Plan]int{}, paths: map[int]int{}}
	s.sums = append(s.sums, t)
	s.progress.watch(t)
	return t
}

func (t *sum) countUncovered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.coverage.Files++
}

// countExcluded counts a path for the excludes of rule files that remove it from their rules.
func (t *sum) countExcluded(excludes []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range excludes {
		for len(t.excluded) <= i {
			t.excluded = append(t.excluded, 0)
		}
		t.excluded[i]++
	}
}

// begin records the file that the worker checks next. It returns false if the scan has ended.
func (t *sum) begin(r *check.Result) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.coverage.Files++
	t.coverage.Governed++
	t.begun = *r
	t.current = &t.begun
	return true
}

func (t *sum) add(r *check.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.count(r)
	}
}

// close drops later results. A file in progress counts as not reached.
func (t *sum) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.current != nil {
		t.count(t.current)
	}
}

func (t *sum) count(r *check.Result) {
	t.current = nil
	if r.Vanished {
		t.coverage.Files--
		t.coverage.Governed--
		return
	}
	t.done++
	if r.Plan != nil {
		t.plans[r.Plan]++
	}
	for i, g := range r.Forbidden { // in order of the rules
		if !r.SelectedBy(g.Rule) && (i == 0 || g.Rule != r.Forbidden[i-1].Rule) {
			t.paths[g.Rule]++
		}
	}
	switch {
	case r.Scanned:
		t.coverage.Scanned++
		t.coverage.Bytes += r.Bytes
	default:
		o := verdict.Omission{File: verdict.Path(r.File.Path), Reason: r.Reason}
		if !r.Reached { // the error is the cause of the scan's end
			o.Reason = "not-reached"
		}
		t.coverage.NotScanned = append(t.coverage.NotScanned, o)
	}
	if r.Err != nil {
		t.errors = append(t.errors, *r.Err)
	}
	// Errors of readable variants also count where a missing variant is allowed.
	t.errors = append(t.errors, r.KeyErrors()...)
	if r.TextAlone() {
		t.coverage.Unparsed = append(t.coverage.Unparsed, verdict.Path(r.File.Path))
	}
	if r.Settled {
		t.findings = append(t.findings, r.Findings...)
	} else {
		t.findings = check.PathFindings(r.File.Path, r.Forbidden, t.findings)
	}
}

// Progress counts files; it can be read during a scan.
type Progress struct {
	mu   sync.Mutex // guards sums
	sums []*sum
}

// Files returns the number of files listed, covered by rules, and done.
func (p *Progress) Files() (listed, covered, done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.sums {
		t.mu.Lock()
		listed, covered, done = listed+t.coverage.Files, covered+t.coverage.Governed, done+t.done
		t.mu.Unlock()
	}
	return listed, covered, done
}

func (p *Progress) watch(t *sum) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sums = append(p.sums, t)
}
