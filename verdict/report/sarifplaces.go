package report

import (
	"cmp"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// baselineState is the status of a violation as SARIF has it; "" where there was nothing to compare with.
func baselineState(status string) string {
	switch status {
	case introduced:
		return "new"
	case preExisting:
		return "unchanged"
	}
	return ""
}

// newestOf returns at most so many violations, by their indexes and in order. Of more it takes the new ones first: a
// reader of a change must not miss what the change brings.
func newestOf(all []verdict.Violation, most int) []int {
	var kept []int
	for _, older := range []int{0, 1} {
		for i := range all {
			if newFirst(&all[i]) == older && len(kept) < most {
				kept = append(kept, i)
			}
		}
	}
	slices.Sort(kept)
	return kept
}

// relatedLocations are the places of a violation besides the one that its result points to, as whole lines: a verdict
// has their columns in bytes only.
func relatedLocations(v *verdict.Violation) []sarifLocation {
	if !hasPlace(&v.Evidence) {
		return nil
	}
	p := pointed(v)
	var all []sarifLocation
	last := int64(0)
	for i, at := range v.Evidence.Places {
		if i == p.index || at.Line == last || at.Line == p.Line {
			continue
		}
		last = at.Line
		text := "The same is here."
		switch at.Status {
		case introduced:
			text = "The same is here, and it is new."
		case preExisting:
			text = "The same is here, and it was there before."
		}
		e := verdict.Evidence{Line: at.Line, EndLine: at.EndLine, EndColumn: at.EndColumn}
		all = append(all, sarifLocation{
			ID: len(all) + 1, Message: &sarifText{Text: text},
			PhysicalLocation: sarifPlace{
				ArtifactLocation: artifact(v.File), Region: wholeLines(at.Line, lastLineOf(&e)),
			},
		})
	}
	return all
}

// place is the place of a violation that a report points to.
func (s *sarifWriter) place(v *verdict.Violation) sarifPlace {
	p := pointed(v)
	// GitHub wants a file and a region, and validators warn where there is none: what is at no place is at the start.
	place := sarifPlace{ArtifactLocation: artifact(cmp.Or(v.File, noFile)), Region: sarifStart()}
	switch {
	case !hasPlace(&p.Evidence):
	case p.exact:
		place.Region, place.ContextRegion = regions(&p.Evidence)
		if !s.cut.snippets {
			place.Region.Snippet, place.ContextRegion = nil, nil
		}
	default:
		place.Region = wholeLines(p.Line, lastLineOf(&p.Evidence))
	}
	return place
}

// wholeLines is a region without columns.
func wholeLines(first, last int64) *sarifRegion {
	return &sarifRegion{StartLine: max(first, 1), EndLine: max(first, last, 1)}
}

// mostAllowed is how many notifications say what is new but allowed.
const mostAllowed = 100

// allowed says how much allowances accept, and where it is new. These are notifications: as results with suppressions,
// which GitHub does not heed, they would be open alerts, and fail the check of a change that passes.
func (s *sarifWriter) allowed() {
	text := allowedNote(s.Verdict)
	if text == "" {
		return
	}
	in := &s.run.Invocations[0]
	in.Execution = append(in.Execution, sarifNotification{
		Level: "note", Message: sarifText{Text: sarifPlain(full(sentence(text)), 1000)},
	})
	for i, a := range allowedNew(s.Verdict) {
		if i == mostAllowed {
			break // the first says how many there are
		}
		in.Execution = append(in.Execution, sarifNotification{
			Level:     "note",
			Message:   sarifText{Text: sarifPlain(allowedSentence(a), 2000)},
			Locations: []sarifLocation{{PhysicalLocation: s.place(&a.Violation)}},
		})
	}
}
