package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// The values of [verdict.Violation.Status] and [verdict.Place.Status]; "" outside diff and staged scope.
const (
	introduced  = "introduced"
	preExisting = "pre_existing"
)

// statusWords says in words whether something is new; "" where there was nothing to compare with.
func statusWords(status string) string {
	switch status {
	case introduced:
		return "new"
	case preExisting:
		return "was there before"
	}
	return ""
}

// hasStatus reports whether the verdict tells new violations from others.
func hasStatus(v *verdict.Verdict) bool { return v.Scope.Mode == "diff" || v.Scope.Mode == "staged" }

// countNew counts the violations that are introduced.
func countNew(all []*verdict.Violation) int {
	n := 0
	for _, x := range all {
		if x.Status == introduced {
			n++
		}
	}
	return n
}

// newWords is how many of several are new.
func newWords(n int) string {
	if n == 0 {
		return "none new"
	}
	return strconv.Itoa(n) + " new"
}

// A pointer is the place of a violation that a report points to: the first introduced one, or else the first.
type pointer struct {
	verdict.Evidence      // as if that place were the first
	index            int  // of it in Evidence.Places; -1: they do not have it
	exact            bool // UTF16Column and UTF16EndColumn are known; otherwise they are near it
}

// pointed returns the place that a report points to.
func pointed(v *verdict.Violation) pointer {
	p := pointer{v.Evidence, -1, true}
	all := v.Evidence.Places
	p.index = slices.IndexFunc(all, func(at verdict.Place) bool { return at.Status == introduced })
	if p.index < 0 {
		p.index = slices.IndexFunc(all, func(at verdict.Place) bool { return at.Offset == p.Offset })
		return p
	}
	at := all[p.index]
	if at.Offset == p.Offset && at.EndLine == p.EndLine && at.EndColumn == p.EndColumn {
		return p
	}
	p.Offset, p.Line, p.Column, p.EndLine, p.EndColumn = at.Offset, at.Line, at.Column, at.EndLine, at.EndColumn
	p.Excerpt, p.LineHash = at.Excerpt, at.LineHash
	p.UTF16Column, p.UTF16EndColumn, p.exact = p.units()
	return p
}

// units returns the columns of the place in UTF-16 code units, which a verdict has of the first occurrence only. They
// follow from the excerpt, unless that is cut, masked, or has what is not text.
func (p *pointer) units() (column, end int64, exact bool) {
	width := int64(1) // bytes of a code unit
	if strings.HasPrefix(p.Encoding, "utf-16") || strings.HasPrefix(p.Encoding, "utf-32") {
		width = 2
	}
	near, nearEnd := max((p.Column-1)/width, 0)+1, max((p.EndColumn-1)/width, 0)+1
	masked := p.LineHash == ""
	if masked || utf8.RuneCountInString(p.Excerpt) >= excerptLimit {
		return near, nearEnd, false
	}
	if n := named(&p.Evidence); !n.isMapping() {
		start, stop := textInExcerpt(p.Excerpt, n.plain)
		if start == stop {
			return near, nearEnd, false
		}
		column = utf16Len(p.Excerpt[:start]) + 1
		match := p.Excerpt[start:stop]
		if last := strings.LastIndexAny(match, "\r\n"); last >= 0 {
			return column, utf16Len(match[last+1:]) + 1, true
		}
		return column, column + utf16Len(match), true
	}
	// The first line may begin with a byte order mark, which is no part of the excerpt.
	if p.Line == 1 || p.EndLine != p.Line || p.Encoding != "utf-8" && p.Encoding != "" ||
		strings.ContainsRune(p.Excerpt, utf8.RuneError) || p.EndColumn-1 > int64(len(p.Excerpt)) || p.Column < 1 ||
		p.EndColumn < p.Column {
		return near, nearEnd, false
	}
	before, to := p.Excerpt[:p.Column-1], p.Excerpt[:p.EndColumn-1]
	return utf16Len(before) + 1, utf16Len(to) + 1, utf8.ValidString(before) && utf8.ValidString(to)
}

// others returns the places that the report does not point to and that have a status; how many of these a verdict does
// not list is more.
func (p *pointer) others(status string) (all []verdict.Place, more int64) {
	for i, at := range p.Places {
		if i != p.index && at.Status == status {
			all = append(all, at)
		}
	}
	listed := int64(len(p.Places))
	if p.index < 0 {
		listed++
	}
	// Of more than 100 the introduced ones are kept: where another one is listed, those that are not are like it.
	if status != introduced && (len(all) > 0 || p.index >= 0 && p.Places[p.index].Status == status) {
		more = max(p.Occurrences-listed, 0)
	}
	return all, more
}

// alsoAt says where else a violation is, as one or two clauses; most is how many lines are named, 0 all of them.
// Each is safe to print.
func alsoAt(v *verdict.Violation, most int) []string {
	if !hasPlace(&v.Evidence) {
		return nil
	}
	p := pointed(v)
	if len(p.Places) == 0 {
		if p.Occurrences > 1 {
			return []string{fmt.Sprintf("the first of %d occurrences in this file", p.Occurrences)}
		}
		return nil
	}
	var clauses []string
	add := func(lead, status string) {
		all, more := p.others(status)
		if where := p.where(all, more, most); where != "" {
			clauses = append(clauses, lead+" "+where)
		}
	}
	if p.Places[max(p.index, 0)].Status == introduced {
		add("also new", introduced)
		add("was there before", preExisting)
		if !slices.ContainsFunc(p.Places, func(at verdict.Place) bool { return at.Status != introduced }) {
			if more := p.Occurrences - int64(len(p.Places)); more > 0 {
				clauses = append(clauses, "also in "+count(int(more), "more place")+", new or not")
			}
		}
	} else {
		add("also", p.Places[0].Status)
	}
	return clauses
}

// where says where places are, in lines: "at lines 79, 83 and 4 more".
func (p *pointer) where(all []verdict.Place, more int64, most int) string {
	here := false
	var lines []string
	last := p.Line
	for i, at := range all {
		if at.Line == p.Line {
			here = true
			continue
		}
		if at.Line == last {
			continue
		}
		if most > 0 && len(lines) == most && i < len(all)-1 {
			more += int64(len(all) - i)
			break
		}
		last = at.Line
		lines = append(lines, strconv.FormatInt(at.Line, 10))
	}
	var parts []string
	if here {
		parts = append(parts, "in this line")
	}
	noun := "at line "
	if len(lines) > 1 {
		noun = "at lines "
	}
	switch n := len(lines); {
	case n == 0 && more > 0:
		parts = append(parts, "in "+count(int(more), "more place"))
	case n == 0:
	case more > 0:
		parts = append(parts, noun+strings.Join(lines, ", ")+fmt.Sprintf(" and %d more", more))
	case n == 1:
		parts = append(parts, noun+lines[0])
	default:
		parts = append(parts, noun+strings.Join(lines[:n-1], ", ")+" and "+lines[n-1])
	}
	return strings.Join(parts, " and ")
}
