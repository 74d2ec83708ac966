package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// What the reports for other programs have in common: annotations, JUnit, rdjson.

// caveats returns what somebody who reads the outcome should know: that nothing was looked
// at, or not all. It is empty for a PASS without a but.
func caveats(v *verdict.Verdict) []string {
	var all []string
	switch c := v.Coverage; {
	case c.Files == 0:
		all = append(all, "there was nothing to scan")
	case coversNothing(v):
		all = append(all, fmt.Sprintf("no rule selects any of the files (%d)", c.Files))
	case c.Governed > 0 && c.Scanned == 0:
		all = append(all, "no covered file was scanned")
	}
	if n := len(v.Coverage.NotScanned); n > 0 {
		but := count(n, "covered file") + " not scanned"
		if v.Verdict == verdict.Pass {
			but += ", as --allow " + verdict.Visible(strings.Join(v.Allowed, ",")) + " accepts"
		}
		all = append(all, but)
	}
	if note := unparsedNote(v); note != "" {
		all = append(all, note)
	}
	if note := notJudgedNote(v); note != "" {
		all = append(all, note)
	}
	if v.Partial {
		why, _ := partialNote(v)
		all = append(all, why)
	}
	return all
}

// partialNote says why a run was partial, as far as its verdict shows that, and what follows. Only one of bundles with
// dates can be of a day that had passed.
func partialNote(v *verdict.Verdict) (why, so string) {
	if v.AsOf == "" {
		return "the run was narrowed by --rule or --exclude", "its verdict is not about the whole tree"
	}
	return "the run was narrowed by --rule or --exclude, or its day (--as-of " + v.AsOf + ") had passed",
		"its verdict is not about the whole tree as of today"
}

// unparsedNote says how many files a rule had only the text of checked, because they cannot be parsed; "" if there are
// none.
func unparsedNote(v *verdict.Verdict) string {
	switch n := len(v.Coverage.Unparsed); n {
	case 0:
		return ""
	case 1:
		return "1 file cannot be parsed: only its text was checked"
	default:
		return count(n, "file") + " cannot be parsed: only their text was checked"
	}
}

// unparsed are the files that cannot be parsed and whose text alone a rule had checked, with that as the reason.
func unparsed(c *verdict.Coverage) []verdict.Omission {
	var all []verdict.Omission
	for _, file := range c.Unparsed {
		all = append(all, verdict.Omission{File: file, Reason: "unparsable"})
	}
	return all
}

// tally is the outcome and what it rests on, in one line.
func tally(v *verdict.Verdict) string {
	found := "no violation"
	if n := len(v.Violations); n > 0 {
		found = count(n, "violation") + newSuffix(v)
	}
	found += allowedSuffix(v)
	if n := len(undecidedOf(v)); n > 0 {
		found += ", could not decide (" + count(n, "error") + ")"
	}
	return fmt.Sprintf("%s: %s; %s, %d covered, %d scanned, %s", v.Verdict, found,
		count(v.Coverage.Files, "file"), v.Coverage.Governed, v.Coverage.Scanned, count(len(v.Rules), "rule"))
}

// realPath returns the path that [verdict.Path] wrote as a program needs it that looks for the
// file. A path that has a byte that is not UTF-8, or a character that is not shown, stays
// as Path and [verdict.Visible] write it: no link leads to such a file, and none is worth a
// control character in a log.
func realPath(path string) string {
	if raw := verdict.RawPath(path); utf8.ValidString(raw) && verdict.Visible(raw) == raw {
		return raw
	}
	return verdict.Visible(path)
}

// aboutFile reports whether an error is about a file that there is a name for.
func aboutFile(e *verdict.Error) bool { return e.File != "" && e.File != "." }

// quotedPattern is the pattern as reports show it.
func quotedPattern(e *verdict.Evidence) string {
	n := named(e)
	return n.quote(cut(verdict.Visible(e.Pattern), 1000))
}

// lastLineOf is the last line that a match touches: one that ends with a line end does not
// touch the line after it, on which its exclusive end is.
func lastLineOf(e *verdict.Evidence) int64 {
	if e.EndLine > e.Line && e.EndColumn == 1 {
		return e.EndLine - 1
	}
	return e.EndLine
}
