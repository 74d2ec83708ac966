package check

import (
	"context"
	"io"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A Result is the result of a file that rules cover. Until it is Reached, Scanned is false and Reason is "".
type Result struct {
	File      tree.File
	Plan      *Plan          // of the rules that select it; nil if none does
	Forbidden []rules.GlobOf // globs that forbid a file at its path

	Reached        bool
	Scanned        bool   // checked by every rule of the plan
	Vanished       bool   // turned out not to be part of the tree
	OnlyKeysFailed bool   // only key patterns were not checked
	Reason         string // one of the verdict's reasons for not scanning the file
	Bytes          int64  // number of bytes checked
	Err            *verdict.Error
	Findings       []Finding // after Settle
	Settled        bool

	read     int64 // bytes read
	finds    []*match.Find
	missing  []missingItems                    // in the bytes read
	notes    map[*match.Find]string            // for matches found only in another variant
	variants map[*match.Find]checkout.Encoding // the variants with these finds
	most     map[*match.Find]int64             // occurrences in the variant with most; 0: no other variant has more
	keys     keyResult
	nearly   map[rules.Item][]Reason // what variants of items that are not found find; nil if unused
	shape    match.Shape             // of the examined content
	examined bool
}

// KeyErrors returns the errors of key patterns that could not be checked.
func (r *Result) KeyErrors() []verdict.Error { return r.keys.errors }

// TextAlone reports whether the file cannot be parsed, and was checked as text only by a rule that allows that.
func (r *Result) TextAlone() bool { return r.keys.unparsed }

// UndecidedRules returns the rules whose key patterns could not be checked, by their indices in the bundle.
func (r *Result) UndecidedRules() []int { return r.keys.unjudged }

// SelectedBy reports whether a rule, by its index in the bundle, selects the file.
func (r *Result) SelectedBy(rule int) bool {
	return r.Plan != nil && slices.Contains(r.Plan.Rules, rule)
}

// Settle turns everything found in the file into findings.
func (r *Result) Settle(b *rules.Bundle) {
	r.Settled = true
	if r.Plan != nil {
		r.Findings = r.judge(b)
		whole := r.Scanned || r.OnlyKeysFailed
		r.Findings = r.judgeKeys(whole, b, r.Findings)
		for i := range r.Findings {
			br := &r.Findings[i]
			br.Note, br.MaxOccurrences = r.notes[br.Match], r.most[br.Match]
		}
		markSame(r.Findings, b)
		// A required pattern may still occur in the part that was not read.
		if len(r.missing) > 0 && whole && r.File.Kind == worktree.Regular {
			r.lacking(b)
		}
	}
	r.Findings = PathFindings(r.File.Path, r.Forbidden, r.Findings)
}

// lacking adds the missing items of a file, each once.
func (r *Result) lacking(b *rules.Bundle) {
	known := map[int]bool{} // missing items
	for _, l := range r.missing {
		l.missing = slices.DeleteFunc(slices.Clone(l.missing), func(i int) bool { return known[i] })
		for _, i := range l.missing {
			known[i] = true
		}
		r.addMissing(l, b)
	}
}

// ForRereading returns the parts of a result that [Result.Show] needs.
func (r *Result) ForRereading() *Result { return &Result{File: r.File, variants: r.variants} }

// Show reads the content of a match again, for the evidence of one occurrence and for some places, by their numbers.
func (r *Result) Show(
	ctx context.Context, x *match.Examiner, f *match.Find, first int, places []int,
) (*match.Find, []verdict.Place, error) {
	c, err := r.File.Open(false)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	var in io.ReadSeeker = c
	if encoding, written := r.variants[f]; written {
		in = checkout.NewReader(c, encoding)
	}
	return x.Show(ctx, in, f, first, places)
}
