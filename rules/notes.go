package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/rules/glob"
)

// A Note is about something that loads, but is often a mistake.
type Note struct {
	File   string // the rule file within the bundle
	Line   int    // 1-based; 0: unknown
	Column int    // 1-based, in bytes; 0: unknown
	Rule   string // the rule's id; empty if the note is not about a rule
	Text   string // what it means and what to write instead
}

// String returns the note as Error.Error returns an error.
func (n Note) String() string {
	e := Error{File: n.File, Line: n.Line, Column: n.Column, Rule: n.Rule, Found: n.Text}
	return e.Error()
}

// Notes returns what in a bundle is often a mistake, in the order of errors. What is only in the YAML, such as
// missing quotes, is known if Load read the bundle.
func Notes(b *Bundle) []Note {
	notes := slices.Clone(b.notes)
	budget := maxComparisons
	for _, list := range [][]Rule{b.Rules, b.Deprecated} {
		for i := range list {
			notes = append(notes, ruleNotes(&list[i], &budget)...)
		}
	}
	order := []string{BoundariesFile, InvariantsFile, DeprecatedFile}
	slices.SortStableFunc(notes, func(a, b Note) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.File), slices.Index(order, b.File)),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return notes
}

// maxComparisons is how often two patterns of a rule are compared for one bundle; notes are
// help, and must not take a minute for a bundle of 100,000 patterns.
const maxComparisons = 2_000_000

func ruleNotes(r *Rule, budget *int) []Note {
	var notes []Note
	note := func(places []place, i int, text string) {
		n := Note{File: r.File, Rule: r.ID, Text: text}
		if i < len(places) {
			n.Line, n.Column = places[i].line, places[i].column
		}
		notes = append(notes, n)
	}
	for i, g := range r.Files {
		for _, text := range glob.Notes(g) {
			note(r.filesAt, i, text)
		}
	}
	for i, g := range r.Exclude {
		for _, text := range glob.Notes(g) {
			note(r.excludeAt, i, text)
		}
	}
	if glob.Covers(r.Exclude, r.Files) {
		note(r.excludeAt, 0, `"exclude" removes every file that "files" selects, so the rule checks no file; narrow "exclude", or remove the rule`)
	}
	for i, p := range r.Patterns {
		for _, text := range patternNotes(r, p) {
			note(r.patternsAt, i, text)
		}
		if !norm.NFC.IsNormalString(p) {
			note(r.patternsAt, i, fmt.Sprintf("the pattern %s is not in Unicode normal form C, in which most text is written; that form is %s", Quoted(p), Quoted(norm.NFC.String(p))))
		}
		for _, shorter := range r.Patterns {
			if *budget--; *budget < 0 {
				break
			}
			if len(shorter) < len(p) && strings.Contains(p, shorter) {
				note(r.patternsAt, i, fmt.Sprintf("the pattern %s contains the pattern %s of the same rule: any file with the longer one has the shorter one", Quoted(p), Quoted(shorter)))
				break
			}
		}
	}
	return notes
}

// noteScalar notes a text that other readers of YAML, or people, would read as something
// else.
func (f *file) noteScalar(e entry, at place) {
	n := e.value
	note := func(text string) {
		if len(f.notes) == maxErrors {
			return
		}
		f.notes = append(f.notes, Note{File: f.name, Line: at.line, Column: at.column, Rule: f.rule, Text: text})
	}
	isPattern := e.key.Value == boundaryKey || e.key.Value == invariantKey
	if isPattern && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && strings.HasSuffix(n.Value, "\n") {
		note(fmt.Sprintf(`the pattern %s ends in a line break, because "|" and ">" keep it, so it does not match within a line; write "|-" or ">-"`, Quoted(n.Value)))
	}
	if n.Style != 0 {
		return
	}
	if n.Tag != "!!str" || ambiguous.MatchString(n.Value) {
		note(fmt.Sprintf("%s is read as the text that is written, not as the number, date or truth value that YAML makes of it; quote it: %s", n.Value, quoteYAML(n.Value)))
	}
	if !isPattern && !slices.Contains([]string{"files", "exclude", "content"}, e.key.Value) {
		return
	}
	rest, whole := bytes.CutPrefix(f.source(at), []byte(n.Value))
	if !whole {
		note("an unquoted string over several lines: YAML joins the lines with single spaces; quote it or write it on one line")
	} else if comment := bytes.TrimLeft(rest, " \t"); bytes.HasPrefix(comment, []byte("#")) {
		note(fmt.Sprintf("the text ends before %s, which is a comment; quote the text", Quoted(string(comment))))
	}
}

// ambiguous are the unquoted strings that YAML 1.1 reads as truth values or numbers, and YAML
// 1.2 as text, or the other way round.
var ambiguous = regexp.MustCompile(`^(?:[yYnN]|[yY]es|YES|[nN]o|NO|[oO]n|ON|[oO]ff|OFF|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|0[0-9_]+)$`)
