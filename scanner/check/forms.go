package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// foundCheckedOut begins the note on a match that only another variant of a file has.
const foundCheckedOut = "found in the file as git checks it out"

// examineWrittenForms examines a blob in each other variant that git may write on disk. A pattern in the blob gets the
// larger number of occurrences; a pattern that only a variant has is added, with a note. It returns false if ctx
// ended.
func (c *Checker) examineWrittenForms(ctx context.Context, x *match.Examiner, r *Result) bool {
	attributes, err := r.File.Checkout.Attributes(r.File.Path)
	var unknown *checkout.UnknownEncoding
	switch {
	case errors.As(err, &unknown):
		c.incomplete(r, AllowEncoding, code.Encoding, "working-tree-encoding is unknown: "+unknown.Error()+
			"; simplify .gitattributes, or use --allow encoding")
		return true
	case err != nil:
		r.unread(fmt.Errorf("the attributes that git checks it out by: %w", err))
		return true
	}
	c.FilterReport.Add(r.File.Path, attributes)
	known := map[int]*match.Find{} // by pattern
	for _, f := range r.finds {
		known[f.Pattern] = f
	}
	for _, name := range attributes.Encodings {
		if r.File.OnDisk {
			c.incomplete(r, AllowEncoding, code.Encoding, "it is changed on disk, and git stores it in another "+
				"encoding (working-tree-encoding); stage it, and use --staged, or use --allow encoding")
			return true
		}
		encodings, ok := checkout.Encodings(name)
		if !ok {
			c.incomplete(r, AllowEncoding, code.Encoding, fmt.Sprintf("working-tree-encoding=%.100q: policyscan "+
				"cannot write this encoding; use UTF-8 or UTF-16, or --allow encoding", name))
		}
		note := fmt.Sprintf(foundCheckedOut+" (working-tree-encoding=%s)", name)
		for _, encoding := range encodings {
			switch err := c.examineForm(ctx, x, r, encoding, note, known); {
			case err != nil && ctx.Err() != nil:
				return false
			case errors.Is(err, checkout.ErrUnencodable):
				c.incomplete(r, AllowEncoding, code.Encoding, fmt.Sprintf("working-tree-encoding=%s: a character has "+
					"no portable form in it; use UTF-8 or UTF-16, or --allow encoding", name))
			case err != nil:
				r.unread(err)
				return true
			}
		}
	}
	return true
}

// examineForm examines another variant of a file, and adds the finds of new patterns, with a note.
func (c *Checker) examineForm(
	ctx context.Context, x *match.Examiner, r *Result, encoding checkout.Encoding, note string,
	known map[int]*match.Find,
) error {
	content, err := r.File.Open(false)
	if err != nil {
		return err
	}
	defer content.Close()
	limit := x.Limit
	x.Limit = 0 // the limit applies to the file, which was within it
	reader := checkout.NewReader(content, encoding)
	x.Keep = r.asksKeys()
	rep, err := x.Examine(ctx, r.Plan.engine.engine, reader)
	x.Limit = limit
	if err != nil {
		return err
	}
	if x.Keep && !standsForOther(&rep) {
		written := c.keys()
		written.note = " as git checks it out" + strings.TrimPrefix(note, foundCheckedOut)
		k, err := written.examine(ctx, x, r.Plan, r.File.Path, reader, &rep)
		if err != nil {
			return err
		}
		r.keys.add(k, r.again, func(f KeyMatch) {
			if f.find.Evidence.Kind == verdict.KindMissing {
				r.noted(f.find, missingNote(note))
				return
			}
			r.noted(f.find, note)
		})
		for _, f := range k.finds {
			r.formOf(f.find, encoding)
		}
	}
	// Filters run after the encoding: they look for a pointer in its output.
	c.standsFor(r, rep, "what git writes for it (working-tree-encoding)")
	r.missing = appendMissing(r.missing, &rep, missingNote(note))
	for _, f := range rep.Finds {
		if known[f.Pattern] != nil {
			r.again(known[f.Pattern], f)
			continue
		}
		known[f.Pattern] = f
		r.noted(f, note)
		r.formOf(f, encoding)
		r.finds = append(r.finds, f)
	}
	return nil
}

func missingNote(note string) string { return "missing" + strings.TrimPrefix(note, "found") }

// formOf remembers the variant of a find, so that it can be read again.
func (r *Result) formOf(f *match.Find, encoding checkout.Encoding) {
	if _, counts := r.notes[f]; !counts {
		return
	}
	if r.variants == nil {
		r.variants = map[*match.Find]checkout.Encoding{}
	}
	r.variants[f] = encoding
}

// again records that a known match also occurs in another variant: there may be more matches than in the file's own
// bytes.
func (r *Result) again(known, inForm *match.Find) {
	if inForm.Evidence.Occurrences <= max(known.Evidence.Occurrences, r.most[known]) {
		return
	}
	if r.most == nil {
		r.most = map[*match.Find]int64{}
	}
	r.most[known] = inForm.Evidence.Occurrences
}

func (r *Result) noted(f *match.Find, note string) {
	if r.notes == nil {
		r.notes = map[*match.Find]string{}
	}
	r.notes[f] = note
}
