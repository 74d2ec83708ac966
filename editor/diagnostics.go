package editor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// The severities of the protocol that are used.
const (
	severityError       = 1
	severityInformation = 3
	severityHint        = 4
)

// maxText limits the text of a document that is checked, in bytes. A longer one has a diagnostic that says so.
const maxText = 16 << 20

// A diagnostic is as in the protocol.
type diagnostic struct {
	Range    textRange        `json:"range"`
	Severity int              `json:"severity"`
	Code     string           `json:"code,omitempty"`
	Docs     *codeDescription `json:"codeDescription,omitempty"`
	Source   string           `json:"source"`
	Message  string           `json:"message"`
	Related  []related        `json:"relatedInformation,omitempty"`
}

type codeDescription struct {
	Href string `json:"href"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

// A findings collects the diagnostics of one text.
type findings struct {
	text     *text
	encoding encoding
	list     []diagnostic
}

func (f *findings) add(severity int, code, message string, start, end int) *diagnostic {
	f.list = append(f.list, diagnostic{
		Range: f.text.between(start, end, f.encoding), Severity: severity, Code: code, Source: "policyscan",
		Message: message,
	})
	return &f.list[len(f.list)-1]
}

// addLine adds a diagnostic from a column, in bytes, to the end of a line; both are 1-based, and 0 if unknown.
func (f *findings) addLine(severity int, code, message string, line, column int) *diagnostic {
	start, end := f.text.line(max(line-1, 0))
	content := f.text.bytes[start:end]
	if at := start + max(column-1, 0); column > 0 && at < end {
		start = at
	} else {
		start += len(content) - len(bytes.TrimLeft(content, " \t"))
	}
	return f.add(severity, code, message, start, start+len(bytes.TrimRight(f.text.bytes[start:end], " \t")))
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("a bug in policyscan, please report it: %v", p)
	}
}

func (f *findings) sorted() []diagnostic {
	slices.SortStableFunc(f.list, func(a, b diagnostic) int {
		return cmp.Or(cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
			cmp.Compare(a.Range.Start.Character, b.Range.Start.Character), cmp.Compare(a.Code, b.Code))
	})
	return f.list
}

// check adds what a scan says of a text at a path, as if it were saved. The error says why it is not checked.
func (r *repository) check(ctx context.Context, f *findings, path string) error {
	rel, err := filepath.Rel(r.root, path)
	rel = filepath.ToSlash(rel)
	switch {
	case r.run == nil && r.failed == nil, // validate checks it
		slices.Contains(r.dirs, bundleOf(path)) && !isBelow(bundleOf(path)):
		return nil
	case r.run == nil:
		first, others, more := strings.Cut(r.failed.Error(), "\n")
		if more {
			first = fmt.Sprintf("%s (and %d more)", first, strings.Count(others, "\n")+1)
		}
		return errors.New("the rules for this file cannot be loaded; " + first)
	case err != nil || r.run.Skip[rel] != "":
		return err
	case len(f.text.bytes) > maxText:
		return fmt.Errorf("this text is longer than %d MiB; save it, and run policyscan", maxText>>20)
	}
	one, err := r.run.ForContent(rel, f.text.bytes)
	if err != nil {
		return err
	}
	v := scanner.Scan(ctx, one, nil)
	for i := range v.Violations {
		r.addPlaces(f, v, &v.Violations[i], nil)
	}
	for i := range v.AllowedViolations {
		r.addPlaces(f, v, &v.AllowedViolations[i].Violation, &v.AllowedViolations[i].Allowance)
	}
	for _, e := range v.Errors {
		if e.Code != code.Empty { // a file that is not part of the tree
			f.addLine(severityError, e.Code, e.Message, int(e.Line), int(e.Column))
		}
	}
	return nil
}

// addPlaces adds a diagnostic for each place of a violation; a is nil if nothing allows it.
func (r *repository) addPlaces(f *findings, v *verdict.Verdict, found *verdict.Violation, a *verdict.Allowance) {
	severity, message, after := severityError, found.Reason, ""
	if found.Note != "" {
		message += "\n" + found.Note
	}
	rule := &verdict.Rule{}
	if i := slices.IndexFunc(v.Rules, func(r verdict.Rule) bool { return r.ID == found.RuleID }); i >= 0 {
		rule = &v.Rules[i]
	}
	if rule.Remediation != "" {
		after = "\nfix: " + strings.TrimSpace(rule.Remediation)
	}
	if a != nil {
		severity, after = severityHint, fmt.Sprintf("\nallowed up to %d by %s (%s)", a.AtMost, a.Owner, a.Reason)
		if a.Until != "" {
			after += ", until " + a.Until
		}
	}
	e := &found.Evidence
	places := e.Places
	if more := e.Occurrences - int64(len(places)); len(places) > 0 && more > 0 {
		after += fmt.Sprintf("\n(%d more places are not shown)", more)
	}
	if len(places) == 0 { // of a path, or of something that is missing
		places = []verdict.Place{{Line: e.Line}}
	}
	for i := range places {
		p := &places[i]
		if p.SameAsKey {
			continue
		}
		text := message
		if why := p.WhyWords(); why != "" {
			text += "; " + why
		}
		start, end := int(p.Offset), int(p.Offset+p.EndColumn-p.Column)
		if p.EndLine > p.Line {
			line, _ := f.text.line(int(p.EndLine - 1))
			end = line + int(p.EndColumn-1)
		}
		d := &diagnostic{}
		if end > start {
			d = f.add(severity, found.RuleID, text+after, start, end)
		} else { // a missing key at the top of a document
			d = f.addLine(severity, found.RuleID, text+after, int(p.Line), 0)
		}
		if rule.DocsURL != "" {
			d.Docs = &codeDescription{rule.DocsURL}
		}
		if at, known := r.rules[found.RuleID]; known {
			d.Related = []related{{at, "rule " + found.RuleID + ": " + found.Title}}
		}
	}
}

// validate returns the diagnostics of a bundle's files, by path: what validate and test say, with unsaved files as the
// editor has them, and notes in these alone. alone: no other bundle is loaded with it.
func validate(dir string, unsaved rules.Files, alone bool, e encoding) map[string][]diagnostic {
	all, lists := map[string]*findings{}, map[string][]diagnostic{}
	texts := ruleTexts(dir, unsaved)
	add := func(severity int, code, file, message string, line, column int) {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if !rules.LooksLikeRules(path) { // the bundle as a whole
			path = filepath.Join(dir, filepath.FromSlash(rules.BoundariesFile))
		}
		if all[path] == nil {
			all[path] = &findings{text: cmp.Or(texts[path], newText(nil)), encoding: e}
		}
		f := all[path]
		if line == 1 && column > 0 && bytes.HasPrefix(f.text.bytes, []byte("\uFEFF")) {
			column += len("\uFEFF")
		}
		f.addLine(severity, code, message, line, column)
	}
	err := addMistakes(dir, unsaved, alone, add)
	for _, m := range run.Mistakes(err) {
		add(severityError, cmp.Or(m.Code, m.Rule), m.File, m.What(), m.Line, m.Column)
	}
	if err != nil && run.Mistakes(err) == nil {
		add(severityError, "", "", err.Error(), 0, 0)
	}
	if st, err := os.Stat(filepath.Join(dir, "rules")); len(unsaved) == 0 && (err != nil || !st.IsDir()) {
		return nil // it was removed
	}
	for path, f := range all {
		lists[path] = f.sorted()
	}
	return lists
}

// addMistakes adds the notes about a bundle, and returns its mistakes.
func addMistakes(
	dir string, unsaved rules.Files, alone bool, add func(severity int, code, file, message string, line, column int),
) (err error) {
	defer recovered(&err)
	source, err := run.FindRules(dir, dir)
	if err == nil {
		source.Bundle, err = rules.LoadUnsaved(dir, unsaved)
	}
	if err != nil {
		return err
	}
	notes, together := rules.Notes(source.Bundle), run.RuleSources{source}
	if alone {
		if isBelow(dir) {
			err = source.Bundle.CheckBelow()
		} else {
			err = rules.Alone(together.Bundles())
		}
		if err != nil {
			return err
		}
		notes = append(notes, together.AllowanceNotes()[0]...)
	}
	for _, n := range notes {
		if unsaved[n.File] != nil {
			add(severityInformation, n.Rule, n.File, n.Text, n.Line, n.Column)
		}
	}
	tested, err := scanner.RunExamples(source.Bundle, false)
	if err == nil && len(tested.Mistakes) > 0 {
		err = tested.Mistakes
	}
	return err
}
