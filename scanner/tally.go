package scanner

import (
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/recode"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
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
	job      *job               // what the worker is at; nil: nothing
	chosen   map[string]*chosen // by the rules' indices
	taken    []int              // by the excludes of rule files, as judges.Set.Taken numbers them
	coverage verdict.Coverage
	broken   []brokenRule
	errors   []verdict.Error
}

// chosen is a selection, and how many files of the tally are its.
type chosen struct {
	*selection
	files int
}

// A job is a covered file, and what became of it.
type job struct {
	file tree.File
	past bool // it is not part of what is scanned: that is compared with it
	*chosen
	forbidden []rules.GlobOf // because of which there must be no file of its path
	result
}

// A result is what became of a job. Until it is reached, scanned is false and reason is
// "".
type result struct {
	reached  bool
	scanned  bool
	gone     bool   // it is not a file of the tree after all
	reason   string // why not, a word of the verdict
	bytes    int64
	finds    []*match.Find
	lacks    []lack                 // of what was read
	notes    map[*match.Find]string // on those that are not in the file's own bytes
	forms    map[*match.Find]recode.Form
	most     map[*match.Find]int64 // how often they occur in the form that has most; 0: in no other one more often
	broken   []brokenRule          // once it is settled
	settled  bool
	err      *verdict.Error
	keyed    keyed
	shape    match.Shape // of what was examined
	examined bool
	partly   bool // all that was not checked are items with a key
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

// begin makes j the job of a file that rules select, or that must not be there; false if it is too late.
func (t *tally) begin(j *job, f tree.File, selected []int, forbidden []rules.GlobOf, es *engines) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.listed++
	t.governed++
	var short [64]byte
	key := selectionKey(short[:0], selected)
	c := t.chosen[string(key)]
	if c == nil {
		c = &chosen{selection: es.selection(selected)}
		t.chosen[string(key)] = c
	}
	*j = job{file: f, chosen: c, forbidden: slices.Clone(forbidden)}
	t.job = j
	return true
}

// end takes what became of the job, if it is not too late.
func (t *tally) end(b *rules.Bundle) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.finish(b)
	}
}

// close ends the tally: what comes later does not count. A job that is still under way was
// not reached.
func (t *tally) close(b *rules.Bundle) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.job != nil {
		// the worker writes to the other
		t.job = &job{file: t.job.file, chosen: t.job.chosen, forbidden: t.job.forbidden}
		t.finish(b)
	}
}

func (t *tally) finish(b *rules.Bundle) {
	j := t.job
	t.job = nil
	if j.gone {
		t.listed--
		t.governed--
		return
	}
	t.witness.end(j)
	t.pulse.job(j)
	t.done++
	j.files++
	switch {
	case j.scanned:
		t.coverage.Scanned++
		t.coverage.Bytes += j.bytes
	case j.reached:
		o := verdict.Omission{File: verdict.Path(j.file.Path), Reason: j.reason}
		t.coverage.NotScanned = append(t.coverage.NotScanned, o)
	default: // the error is the cause of the scan's end
		o := verdict.Omission{File: verdict.Path(j.file.Path), Reason: "not-reached"}
		t.coverage.NotScanned = append(t.coverage.NotScanned, o)
	}
	if j.err != nil {
		t.errors = append(t.errors, *j.err)
	}
	// Also where it is allowed that a form of the content is not here: these are of the forms that are.
	t.errors = append(t.errors, j.keyed.errors...)
	if j.keyed.unparsed {
		t.coverage.Unparsed = append(t.coverage.Unparsed, verdict.Path(j.file.Path))
	}
	if j.settled {
		t.broken = append(t.broken, j.broken...)
	} else {
		t.broken = forbiddenPath(j.file.Path, j.forbidden, t.broken)
	}
}

// settle says which rules the file breaks, by all that became of the job.
func (j *job) settle(b *rules.Bundle) {
	j.settled = true
	if j.chosen != nil {
		j.broken = j.judge(j.file.Path, j.finds, b, nil)
		whole := j.scanned || j.partly
		j.broken = j.judgeKeys(j.file.Path, &j.keyed, whole, b, j.broken)
		for i := range j.broken {
			br := &j.broken[i]
			br.note, br.most = j.notes[br.find], j.most[br.find]
		}
		// Of what was not read to the end no one knows what it lacks.
		if len(j.lacks) > 0 && whole && j.file.Kind == worktree.Regular {
			j.lacking(b)
		}
	}
	j.broken = forbiddenPath(j.file.Path, j.forbidden, j.broken)
}

// lacking adds what a file does not have that it must have, the first lack of each item.
func (j *job) lacking(b *rules.Bundle) {
	known := map[int]bool{} // missing items
	for _, l := range j.lacks {
		l.missing = slices.DeleteFunc(slices.Clone(l.missing), func(i int) bool { return known[i] })
		for _, i := range l.missing {
			known[i] = true
		}
		j.broken = j.selection.lacking(j.file.Path, l, b, j.broken)
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
