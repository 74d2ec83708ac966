package scanner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/scanner/attributes"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/recode"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// foundCheckedOut begins the note on what is only in another form of a file.
const foundCheckedOut = "found in the file as git checks it out"

// checkedOut examines a blob in each other form in which git may write it on disk. A pattern that occurs in the blob
// is found already, and how often it occurs in a form is noted; of the others, those that occur in a form are added,
// with a note. It returns false if ctx ended.
func (p *collector) checkedOut(ctx context.Context, x *match.Examiner, j *job) bool {
	w, err := j.file.Checkout.Written(j.file.Path)
	var unknown *checkout.UnknownEncoding
	switch {
	case errors.As(err, &unknown):
		p.lacks(j, AllowEncoding, code.Encoding, "the encoding in which git checks it out cannot be determined: "+
			unknown.Error()+"; simplify the attributes, or allow it with --allow encoding")
		return true
	case err != nil:
		j.unread(fmt.Errorf("the attributes that git checks it out by: %w", err))
		return true
	}
	if !j.past {
		p.Rewritten.Add(j.file.Path, w)
	}
	known := map[int]*match.Find{} // by pattern
	for _, f := range j.finds {
		known[f.Pattern] = f
	}
	for _, enc := range w.Encodings {
		forms, ok := recode.Forms(enc.Text)
		switch {
		case enc.State == attributes.Set, enc.State == attributes.Unset:
			p.lacks(j, AllowEncoding, code.Encoding, "its working-tree-encoding has no value, "+
				"and git refuses to check it out; write working-tree-encoding=UTF-16, or another encoding, "+
				"in .gitattributes, or allow it with --allow encoding")
		case !ok:
			p.lacks(j, AllowEncoding, code.Encoding, fmt.Sprintf("git checks it out in the encoding %.100q "+
				"(working-tree-encoding in .gitattributes), which is unknown to policyscan; use UTF-8 or UTF-16, "+
				"or allow it with --allow encoding", enc.Text))
		}
		for _, form := range forms {
			note := fmt.Sprintf(foundCheckedOut+" (working-tree-encoding=%s)", enc.Text)
			lacks, err := p.examineForm(ctx, x, j, form, note, known)
			if lacks && (err == nil || errors.Is(err, recode.ErrAsIs)) {
				note += ", on a system that replaces or drops the characters that the encoding lacks"
				for _, fallback := range form.Fallbacks() {
					if _, err = p.examineForm(ctx, x, j, fallback, note, known); err != nil {
						break
					}
				}
			}
			switch {
			case err != nil && ctx.Err() != nil:
				return false
			case errors.Is(err, recode.ErrUnsure):
				p.lacks(j, AllowEncoding, code.Encoding, fmt.Sprintf("git checks it out in the encoding %s "+
					"(working-tree-encoding in .gitattributes), and it has a character that systems write "+
					"differently there; use UTF-8 or UTF-16, or allow it with --allow encoding", enc.Text))
			case err != nil:
				j.unread(err)
				return true
			}
		}
	}
	return true
}

// examineForm examines a file's content in another form, and adds the finds of patterns that are not known yet, with a
// note. It reports whether the encoding lacks something of the text.
func (p *collector) examineForm(
	ctx context.Context, x *match.Examiner, j *job, form recode.Form, note string,
	known map[int]*match.Find,
) (lacks bool, err error) {
	c, err := j.file.Open(false)
	if err != nil {
		return false, err
	}
	defer c.Close()
	limit := x.Limit
	x.Limit = 0 // it is about the file, which was within it
	r := recode.NewReader(c, form)
	x.Keep = j.asksKeys()
	rep, err := x.Examine(ctx, j.engine.Engine, r)
	x.Limit = limit
	if err != nil {
		return r.Lacks(), err
	}
	if x.Keep && !standsForOther(&rep) {
		written := *p.keys
		written.note = " as git checks it out" + strings.TrimPrefix(note, foundCheckedOut)
		k, err := written.examine(ctx, x, j.selection, j.file.Path, r, &rep)
		if err != nil {
			return r.Lacks(), err
		}
		j.keyed.add(k, j.again, func(f keyFind) {
			if f.Evidence.Kind == verdict.KindMissing {
				j.noted(f.Find, missingNote(note))
				return
			}
			j.noted(f.Find, note)
		})
		for _, f := range k.finds {
			j.formOf(f.Find, form)
		}
	}
	// Filters run after the encoding: what they take for a pointer is what it makes.
	p.standsFor(j, rep, "what git writes for it ("+attributes.Encoding+")")
	j.lacks = appendLack(j.lacks, &rep, missingNote(note))
	for _, f := range rep.Finds {
		if known[f.Pattern] != nil {
			j.again(known[f.Pattern], f)
			continue
		}
		known[f.Pattern] = f
		j.noted(f, note)
		j.formOf(f, form)
		j.finds = append(j.finds, f)
	}
	return r.Lacks(), nil
}

// missingNote is the note on what is missing, made of that on what is found.
func missingNote(note string) string { return "missing" + strings.TrimPrefix(note, "found") }

// formOf keeps in which form of the file a find is, if it is one of those of the job, so that it can be read again.
func (j *job) formOf(f *match.Find, form recode.Form) {
	if _, counts := j.notes[f]; !counts {
		return
	}
	if j.forms == nil {
		j.forms = map[*match.Find]recode.Form{}
	}
	j.forms[f] = form
}

// again notes that what was found already occurs in another form, too: there may be more there than in the file's own
// bytes.
func (j *job) again(known, inForm *match.Find) {
	if inForm.Evidence.Occurrences <= max(known.Evidence.Occurrences, j.most[known]) {
		return
	}
	if j.most == nil {
		j.most = map[*match.Find]int64{}
	}
	j.most[known] = inForm.Evidence.Occurrences
}

// noted keeps a note on a find that is not in the file's own bytes.
func (j *job) noted(f *match.Find, note string) {
	if j.notes == nil {
		j.notes = map[*match.Find]string{}
	}
	j.notes[f] = note
}
