package verdict

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What the reports for other programs have in common: annotations, JUnit, rdjson.

// caveats returns what somebody who reads the outcome should know: that nothing was looked
// at, or not all. It is empty for a PASS without a but.
func caveats(v *Verdict) []string {
	var all []string
	switch c := v.Coverage; {
	case c.Files == 0:
		all = append(all, "there was nothing to scan")
	case c.Governed == 0:
		all = append(all, fmt.Sprintf("no rule selects any of the files (%d)", c.Files))
	case c.Scanned == 0:
		all = append(all, "no governed file was scanned")
	}
	if n := len(v.Coverage.NotScanned); n > 0 {
		but := count(n, "governed file") + " not scanned"
		if v.Verdict == Pass {
			but += ", as --allow " + Visible(strings.Join(v.Allowed, ",")) + " accepts"
		}
		all = append(all, but)
	}
	if v.Partial {
		all = append(all, "the run was narrowed by --rule or --exclude")
	}
	return all
}

// tally is the outcome and what it rests on, in one line.
func tally(v *Verdict) string {
	found := "no violation"
	if n := len(v.Violations); n > 0 {
		found = count(n, "violation")
	}
	if n := len(v.undecided()); n > 0 {
		found += ", could not decide (" + count(n, "error") + ")"
	}
	return fmt.Sprintf("%s: %s; %s, %d governed, %d scanned, %s", v.Verdict, found,
		count(v.Coverage.Files, "file"), v.Coverage.Governed, v.Coverage.Scanned, count(len(v.Rules), "rule"))
}

// realPath returns the path that [Path] wrote as a program needs it that looks for the
// file. A path that has a byte that is not UTF-8, or a character that is not shown, stays
// as Path and [Visible] write it: no link leads to such a file, and none is worth a
// control character in a log.
func realPath(path string) string {
	if raw := rawPath(path); utf8.ValidString(raw) && Visible(raw) == raw {
		return raw
	}
	return Visible(path)
}

// ofFile reports whether an error is about a file that there is a name for.
func (e *Error) ofFile() bool { return e.File != "" && e.File != "." }

// place is where a violation stands, as the text report writes it.
func (v *Violation) place() string {
	return fmt.Sprintf("%s:%d:%d", Visible(v.File), v.Evidence.Line, v.Evidence.Column)
}

// quoted is the pattern as reports show it.
func (e *Evidence) quoted() string { return `"` + cut(Visible(e.Pattern), 1000) + `"` }

// lastLine is the last line that a match touches: one that ends with a line end does not
// touch the line after it, on which its exclusive end stands.
func (e *Evidence) lastLine() int64 {
	if e.EndLine > e.Line && e.EndColumn == 1 {
		return e.EndLine - 1
	}
	return e.EndLine
}

// textLines returns the lines of a text, each safe to print, without blanks at their ends
// and without empty lines before and after them. There is at least one.
func textLines(s string) []string {
	var all []string
	for more := true; more; {
		var line string
		line, s, more = cutLine(s)
		if line = strings.TrimRight(drawn(line), " "); line != "" || len(all) > 0 {
			all = append(all, line)
		}
	}
	for len(all) > 0 && all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

// cut shortens s to at most n UTF-16 code units, the last of them an ellipsis, without
// cutting a character.
func cut(s string, n int) string {
	if utf16Len(s) <= int64(n) {
		return s
	}
	n -= len([]rune(ellipsis))
	for i, r := range s {
		if n--; r > 0xffff {
			n--
		}
		if n < 0 {
			return s[:i] + ellipsis
		}
	}
	return s
}
