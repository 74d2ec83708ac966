package match

import (
	"context"
	"io"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

type placed struct {
	match
	enc encoding
}

type kept struct {
	most int
	list []placed
}

func (k *kept) wants() bool { return len(k.list) < k.most }

func (k *kept) add(enc encoding, m match) {
	if k.wants() {
		k.list = append(k.list, placed{m, enc})
	}
}

// from returns the list from the evidence's place on.
func (k *kept) from(enc encoding, m match) []placed {
	if len(k.list) > 0 {
		k.list[0] = placed{m, enc}
	}
	return k.list
}

// nextUnit returns the first offset at or after a place at which a unit of an encoding begins, counted from the first
// byte.
func nextUnit(enc encoding, at int64) int64 {
	unit := int64(enc.unit())
	return (at + unit - 1) / unit * unit
}

// A located is a place of a find other than the first.
type located struct {
	*placed
	start, end spot
	place      *verdict.Place
}

// Show returns the evidence of one occurrence of a find, as if it were the only one, with the places of several. They
// are indices of known occurrences: see [Find.Known]. The content is the one with the find.
func (x *Examiner) Show(
	ctx context.Context, content io.ReadSeeker, f *Find, first int, places []int,
) (*Find, []verdict.Place, error) {
	k := f.kept[first]
	shown := newFind(f.Pattern, f.Evidence.Kind, k.enc, k.match, 1)
	shown.kept = append(shown.kept, k)
	for _, i := range places {
		shown.kept = append(shown.kept, f.kept[i])
	}
	shown.all = true
	reads, limit := 0, x.Limit
	x.Limit = 0 // the content was read
	err := x.show(ctx, content, []*Find{shown}, &reads)
	x.Limit = limit
	if err != nil {
		return nil, nil, err
	}
	return shown, shown.Evidence.Places[1:], nil
}

// Known is the number of occurrences, from the first on, that a find knows: a few more than have marks.
func (f *Find) Known() int { return len(f.kept) }

// A Span is the bytes of an occurrence.
type Span struct {
	Start, End int64 // from the start of the content
	Unit       int64 // bytes of a code unit of its encoding
}

// Spans returns the first occurrences that the find knows, as many as a verdict lists.
func (f *Find) Spans() []Span {
	var all []Span
	for _, k := range f.kept[:min(len(f.kept), verdict.MaxPlaces)] {
		all = append(all, Span{k.start, k.end, int64(k.enc.unit())})
	}
	return all
}

// Forget forgets all occurrences except the places of the evidence.
func (f *Find) Forget() { f.kept, f.Marks = nil, nil }

// locateRest returns the remaining places of a find to locate, and makes room for them.
func (f *Find) locateRest() []*located {
	n := len(f.kept)
	if !f.all {
		n = min(n, verdict.MaxPlaces)
	}
	if n == 0 {
		return nil
	}
	f.Evidence.Places = make([]verdict.Place, n)
	rest := make([]*located, n-1)
	for i := range rest {
		k := &f.kept[i+1]
		rest[i] = &located{
			placed: k, start: spot{offset: k.start}, end: spot{offset: k.end}, place: &f.Evidence.Places[i+1],
		}
	}
	return rest
}

func (l *located) fill() {
	*l.place = verdict.Place{
		Offset: l.match.start, Line: l.start.line, Column: l.match.start - l.start.lineStart + 1,
		EndLine: l.end.line, EndColumn: l.match.end - l.end.lineStart + 1,
	}
}

func (f *Find) fillFirst() {
	if e := &f.Evidence; len(e.Places) > 0 {
		e.Places[0] = verdict.Place{
			Offset: e.Offset, Line: e.Line, Column: e.Column, EndLine: e.EndLine, EndColumn: e.EndColumn,
		}
	}
}

// A text is a content in one encoding, from one alignment on.
type text struct {
	enc   encoding
	align int64
}

func textOf(enc encoding, start int64) text { return text{enc, start % int64(enc.unit())} }

// A group is located in one text, in its order.
type group struct {
	finds []*Find
	rest  []*located
}

func groups(finds []*Find) map[text]*group {
	all := map[text]*group{}
	of := func(t text) *group {
		if all[t] == nil {
			all[t] = &group{}
		}
		return all[t]
	}
	for _, f := range finds {
		g := of(textOf(f.enc, f.match.start))
		g.finds = append(g.finds, f)
		for _, l := range f.locateRest() {
			g := of(textOf(l.enc, l.match.start))
			g.rest = append(g.rest, l)
		}
	}
	for _, g := range all {
		slices.SortFunc(g.finds, func(a, b *Find) int { return a.match.before(b.match) })
		slices.SortFunc(g.rest, func(a, b *located) int { return a.match.before(b.match) })
	}
	return all
}
