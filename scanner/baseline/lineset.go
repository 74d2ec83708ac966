package baseline

import (
	"slices"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
)

// matchedLines are the lines of a file with matches of a pattern, in order. A finding without a place is one empty
// line.
type matchedLines struct {
	lines  []matchedLine
	placed bool // they are places in the file
	hashed int  // number of occurrences in these lines
	total  int  // number of all occurrences, if known
}

// A matchedLine is a line with occurrences.
type matchedLine struct {
	text  [16]byte // a hash, without spaces and tabs
	at    []int64  // the offsets of the occurrences in that text, ascending
	first int      // the number of its first occurrence
}

// labels returns whether each occurrence can have existed before; without a known line it cannot.
func (l *matchedLines) labels(compared bool) []bool {
	existed := make([]bool, l.total)
	for k := range existed {
		existed[k] = compared && k < l.hashed
	}
	return existed
}

func linesOf(f *check.Finding) (l matchedLines) {
	if f.Match == nil || f.Match.Known() == 0 {
		return matchedLines{lines: []matchedLine{{at: []int64{0}}}, hashed: 1, total: 1}
	}
	l.placed, l.hashed, l.total = true, len(f.Match.Marks), f.Match.Known()
	var last *match.Mark
	for i := range f.Match.Marks {
		m := &f.Match.Marks[i]
		if last == nil || m.Start != last.Start || m.Line != last.Line || m.At < last.At {
			l.lines = append(l.lines, matchedLine{text: m.Line, first: i})
		}
		line := &l.lines[len(l.lines)-1]
		line.at = append(line.at, m.At)
		last = m
	}
	return l
}

// A lineSet is the matched lines of a file in a snapshot, by their text. Each can be taken once.
type lineSet map[[16]byte][]equalLines

// equalLines are lines of one text with occurrences at the same offsets.
type equalLines struct {
	at   []int64
	left int
}

func newLineSet(l matchedLines) lineSet {
	s := lineSet{}
	for _, line := range l.lines {
		same := func(e equalLines) bool { return slices.Equal(e.at, line.at) }
		if i := slices.IndexFunc(s[line.text], same); i >= 0 {
			s[line.text][i].left++
		} else {
			s[line.text] = append(s[line.text], equalLines{line.at, 1})
		}
	}
	return s
}

// A lineMatch records which lines of a file also stood in a snapshot.
type lineMatch struct {
	lines   *matchedLines
	matched []bool // by line
	existed []bool // by occurrence
}

func newLineMatch(l *matchedLines) *lineMatch {
	return &lineMatch{l, make([]bool, len(l.lines)), make([]bool, l.total)}
}

// take takes a line of a set for each unmatched line. Those with the same occurrences come first.
func (m *lineMatch) take(s lineSet) {
	for _, same := range []bool{true, false} {
		for i, line := range m.lines.lines {
			if !m.matched[i] {
				m.matched[i] = s.take(line, m.existed, same)
			}
		}
	}
}

// take takes the line that shares most occurrences with another one (with same: exactly its occurrences), and sets
// which of these existed.
func (s lineSet) take(line matchedLine, existed []bool, same bool) bool {
	all := s[line.text]
	best, most := -1, 0
	for i := range all {
		if all[i].left == 0 {
			continue
		}
		n := intersect(line.at, all[i].at, nil)
		if same && (n < len(line.at) || n < len(all[i].at)) {
			continue
		}
		if n > most || n == most && best >= 0 && len(all[i].at) < len(all[best].at) {
			best, most = i, n
		}
	}
	if best < 0 {
		return false
	}
	all[best].left--
	intersect(line.at, all[best].at, func(i int) { existed[line.first+i] = true })
	return true
}

// intersect returns how many of the offsets a are in b, each up to its number in b, and calls each with their indices.
func intersect(a, b []int64, each func(int)) (n int) {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i] < b[k]:
			i++
		case a[i] > b[k]:
			k++
		default:
			if each != nil {
				each(i)
			}
			n, i, k = n+1, i+1, k+1
		}
	}
	return n
}
