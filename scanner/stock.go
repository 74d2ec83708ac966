package scanner

import (
	"slices"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
)

// occurrences are the lines in which a rule is broken, in the order of the file. What is at no place of a file is one
// line of no text.
type occurrences struct {
	lines  []occurringLine
	placed bool // they are at places of the file
	marked int  // how many occurrences are in these lines
	known  int  // how many there are, as far as they are known
}

// marks returns, for each occurrence, whether it can have been there before: those of which too little is known cannot.
func (o *occurrences) marks(compared bool) []bool {
	was := make([]bool, o.known)
	for k := range was {
		was[k] = compared && k < o.marked
	}
	return was
}

// An occurringLine is a line with occurrences.
type occurringLine struct {
	text  [16]byte // a hash, without spaces and tabs
	at    []int64  // where in that text the occurrences begin, ascending
	first int      // the number of the first of them
}

// linesOf returns the lines in which a rule is broken.
func linesOf(br *check.Finding) (o occurrences) {
	if br.Match == nil || br.Match.Known() == 0 {
		return occurrences{lines: []occurringLine{{at: []int64{0}}}, marked: 1, known: 1}
	}
	o.placed, o.marked, o.known = true, len(br.Match.Marks), br.Match.Known()
	var last *match.Mark
	for i := range br.Match.Marks {
		m := &br.Match.Marks[i]
		if last == nil || m.Start != last.Start || m.Line != last.Line || m.At < last.At {
			o.lines = append(o.lines, occurringLine{text: m.Line, first: i})
		}
		l := &o.lines[len(o.lines)-1]
		l.at = append(l.at, m.At)
		last = m
	}
	return o
}

// A stock is the lines that a file had, by their text. Each is taken once.
type stock map[[16]byte][]stockLine

// A stockLine is lines of one text with occurrences at the same places of it.
type stockLine struct {
	at   []int64
	left int
}

func newStock(o occurrences) stock {
	s := stock{}
	for _, l := range o.lines {
		same := func(k stockLine) bool { return slices.Equal(k.at, l.at) }
		if i := slices.IndexFunc(s[l.text], same); i >= 0 {
			s[l.text][i].left++
		} else {
			s[l.text] = append(s[l.text], stockLine{l.at, 1})
		}
	}
	return s
}

// A taking is which lines of a file were in a stock.
type taking struct {
	*occurrences
	taken []bool // by line
	had   []bool // by occurrence
}

func newTaking(o *occurrences) *taking {
	return &taking{o, make([]bool, len(o.lines)), make([]bool, o.known)}
}

// from takes a line of a stock for each line that has none yet, if there is one. Those that have the same occurrences
// come first.
func (t *taking) from(s stock) {
	for _, same := range []bool{true, false} {
		for i, l := range t.lines {
			if !t.taken[i] {
				t.taken[i] = s.take(l, t.had, same)
			}
		}
	}
}

// take takes the line that has most of the occurrences of another one (all of them and no more, if it is to be the
// same), and notes which, by their numbers.
func (s stock) take(l occurringLine, had []bool, same bool) bool {
	all := s[l.text]
	best, most := -1, 0
	for i := range all {
		if all[i].left == 0 {
			continue
		}
		n := common(l.at, all[i].at, nil)
		if same && (n < len(l.at) || n < len(all[i].at)) {
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
	common(l.at, all[best].at, func(i int) { had[l.first+i] = true })
	return true
}

// common returns how many of the places a are among b, each as often as it is there, and hands on the numbers of those.
func common(a, b []int64, each func(int)) (n int) {
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
