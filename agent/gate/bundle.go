package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// judgeFiles checks the files as the call would leave them, and continues after a file that cannot be checked.
func (g *Gate) judgeFiles(ctx context.Context, files []file, r *Result) error {
	checker := check.NewContentChecker(g.Bundle)
	checker.Few = true
	var failed error
	for i := range files {
		f := &files[i]
		failed = errors.Join(failed, g.noteRequired(f, r))
		if f.edit.Remove {
			continue
		}
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
		for _, place := range f.places() {
			if g.elsewhere != nil && !slices.Contains(g.elsewhere, place) {
				continue
			}
			trees, err := g.trees(place)
			if err == nil && len(trees) == 0 && place == f.real {
				r.outside = append(r.outside, f.named)
			}
			for _, t := range trees {
				err = errors.Join(err, g.judgeFile(ctx, checker, f, place, t, r))
			}
			failed = errors.Join(failed, err)
		}
	}
	order := map[string]int{}
	for i := range g.Bundle.Rules {
		order[g.Bundle.Rules[i].ID] = i
	}
	inOrder := func(a, b verdict.Violation) int {
		return cmp.Or(cmp.Compare(order[a.RuleID], order[b.RuleID]), cmp.Compare(a.File, b.File))
	}
	slices.SortStableFunc(r.New, inOrder)
	slices.SortStableFunc(r.Old, inOrder)
	slices.SortStableFunc(r.Signed, func(a, b verdict.AllowedViolation) int {
		return inOrder(a.Violation, b.Violation)
	})
	return failed
}

// judgeFile checks a file of a tree as the call would leave it.
func (g *Gate) judgeFile(ctx context.Context, checker *check.ContentChecker, f *file, place string,
	in treePath, r *Result) error {
	path := in.path
	dir, name := filepath.Split(place)
	if path == ".git" || strings.HasPrefix(path, ".git/") || slices.Contains(g.RuleFiles, place) ||
		slices.Contains(g.RuleDirs, filepath.Clean(dir)) && rules.MayBeRead("rules/"+name) {
		return nil // a scan skips git's files and the bundle's own
	}
	if len(g.Bundle.Selecting(path, nil)) == 0 && len(g.Bundle.Forbidding(path, nil)) == 0 {
		return nil // whatever it holds
	}
	shown := verdict.Path(path)
	if g.elsewhere != nil {
		shown = verdict.Path(filepath.ToSlash(in.root) + "/" + path)
	}
	before, exists, err := read(place)
	if err != nil && place == f.beside {
		before, exists, err = nil, false, nil // the link itself, which a scan does not follow
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", shown, cause(err))
	}
	source, there := before, exists
	if from := cmp.Or(f.from, f.real); from != place {
		if source, there, err = read(from); err != nil {
			return fmt.Errorf("%s cannot be read: %w", verdict.Visible(cmp.Or(f.edit.From, f.named)), cause(err))
		}
	}
	contents, err := f.edit.After(source, there)
	if err != nil {
		return fmt.Errorf("cannot determine what %s would hold after the edit: %w", shown, err)
	}
	e := &editedFile{treePath: in, disk: counts{absent: allowance.Missing}}
	old := map[key]int64{}
	var wasUndecided, undecided *check.UndecidedError
	parsed := false // before the call
	if exists {
		found, err := checker.Check(ctx, path, before)
		if err != nil && !errors.As(err, &wasUndecided) {
			return err
		}
		for i := range found {
			old[keyOf(&found[i])] = found[i].Evidence.Occurrences
		}
		e.disk = counts{undecided: wasUndecided != nil, found: found}
		parsed = !wasUndecided.Has(code.Parse) && !checker.TextAlone()
	}
	after := map[key]verdict.Violation{} // the worst of the contents
	var order []key
	for _, content := range contents {
		found, err := checker.Check(ctx, path, content)
		if err != nil && !errors.As(err, &undecided) {
			return err
		}
		if err != nil {
			r.undecided(undecided, wasUndecided, parsed, shown)
		}
		e.after = append(e.after, counts{undecided: err != nil, textAlone: checker.TextAlone(), found: found})
		for i := range found {
			k := keyOf(&found[i])
			known, ok := after[k]
			if !ok {
				order = append(order, k)
			}
			if !ok || found[i].Evidence.Occurrences > known.Evidence.Occurrences {
				after[k] = found[i]
			}
		}
	}
	decided, err := g.decideIncreases(ctx, checker, e, order, func(k key) bool {
		return after[k].Evidence.Occurrences > old[k]
	})
	for _, k := range order {
		v := after[k]
		v.File = shown
		switch d := decided[k.rule]; {
		case d.signed != nil:
			r.Signed = append(r.Signed, verdict.AllowedViolation{Violation: v, Allowance: verdict.Allowance{
				AtMost: d.signed.AtMost, Owner: d.signed.Owner, Reason: d.signed.Reason, Until: d.signed.Until,
			}})
		case v.Evidence.Occurrences > old[k]:
			v.Note = d.refused
			r.New = append(r.New, v)
		default:
			r.Old = append(r.Old, v)
		}
	}
	return err
}

// undecided adds why rules cannot check a file as the call would leave it. A reason that held before the call is only
// noted. So is a file that no longer parses, unless it did before: an agent may write a template, and the scan decides.
func (r *Result) undecided(after, before *check.UndecidedError, parsed bool, shown string) {
	for _, e := range after.Errors {
		e.File = shown
		switch {
		case before.Has(e.Code):
			r.note(fmt.Sprintf("%s was not checked for keys, as before the edit: %s", verdict.Visible(shown),
				lines(e.Message)))
		case e.Code == code.Parse && !parsed:
			r.note(fmt.Sprintf("%s was not checked for keys, and a scan will say so: %s", verdict.Visible(shown),
				lines(e.Message)))
		case !slices.Contains(r.Undecided, e):
			r.Undecided = append(r.Undecided, e)
		}
	}
}

// note adds a note for the user, once.
func (r *Result) note(text string) {
	if !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// A key groups the violations of one file.
type key struct{ rule, kind, pattern string }

func keyOf(v *verdict.Violation) key { return key{v.RuleID, v.Evidence.Kind, v.Evidence.Pattern} }

// noteRequired notes that an edited, moved or removed file matches a glob of required_files: only a scan shows
// whether the tree still has such a file.
func (g *Gate) noteRequired(f *file, r *Result) error {
	if !g.Bundle.RequiresFiles() {
		return nil
	}
	var failed error
	for _, place := range append(f.places(), f.from) {
		if place == "" || g.elsewhere != nil && !slices.Contains(g.elsewhere, place) {
			continue
		}
		trees, err := g.trees(place)
		failed = errors.Join(failed, err)
		for _, t := range trees {
			for _, of := range g.Bundle.Requiring(t.path, nil) {
				rule := &g.Bundle.Rules[of.Rule]
				note := fmt.Sprintf("%s requires a file that matches \"%s\", as %s does; "+
					"whether the tree still has one is not judged here: a scan does", verdict.Visible(rule.ID),
					verdict.Visible(rule.RequiredFiles[of.Glob]), verdict.Visible(verdict.Path(t.path)))
				r.note(note)
			}
		}
	}
	return failed
}
