package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// unread records why a content could not be parsed. It returns errors of other kinds.
func (k *keyChecker) unread(
	ctx context.Context, x *match.Examiner, out *keyResult, path string, text *match.Text, f formats.Format,
	items []*keyPattern, err error,
) error {
	var parse *formats.ParseError
	var limit *formats.LimitError
	asking := rulesOf(items)
	switch {
	case errors.As(err, &parse):
		out.textual = append(out.textual, asking...)
		strict, reason, advice := asking, parse.Reason, "fix it, or exclude it from "+k.named(asking)
		if !parse.Disputed && isTemplate(text.UTF8) {
			out.textOnly = append(out.textOnly, f)
			strict = slices.DeleteFunc(slices.Clone(asking), func(r int) bool { return k.bundle.Rules[r].Unparsable })
			out.unparsed = out.unparsed || len(strict) < len(asking)
			if len(strict) == 0 {
				return nil
			}
			reason, advice = "this looks like a template", k.templateAdvice(strict)
		}
		if slices.ContainsFunc(asking, func(r int) bool { return k.bundle.Rules[r].Redact }) {
			reason, _, _ = strings.Cut(reason, ":") // the parser's message may quote the secret
		}
		at, err := x.Locate(ctx, text, [][]match.Region{{{Start: parse.Offset, End: parse.Offset}}})
		if err != nil {
			return err
		}
		place := &at[0].Evidence
		out.failAt(strict, place, "unparsable", code.Parse, path, fmt.Sprintf(
			"it cannot be parsed%s: line %d, column %d: %s; %s", k.note, place.Line, place.Column, reason, advice))
	case errors.As(err, &limit):
		var place verdict.Evidence
		where := ""
		if limit.Offset > 0 { // otherwise the error applies to the file as a whole
			at, err := x.Locate(ctx, text, [][]match.Region{{{Start: limit.Offset, End: limit.Offset}}})
			if err != nil {
				return err
			}
			place = at[0].Evidence
			where = fmt.Sprintf("line %d, column %d: ", place.Line, place.Column)
		}
		out.failAt(asking, &place, "limit", code.Limit, path, fmt.Sprintf(
			"it cannot be parsed%s: %s%s; make it smaller, or exclude it from %s",
			k.note, where, limit.Reason, k.named(asking)))
	default:
		return err
	}
	return nil
}

// isTemplate reports whether a text that cannot be parsed has the mark of a template. GitHub's ${{ is part of a
// string.
func isTemplate(text []byte) bool {
	if bytes.Contains(text, []byte("{%")) || bytes.Contains(text, []byte("<%")) {
		return true
	}
	return bytes.Count(text, []byte("{{")) > bytes.Count(text, []byte("${{"))
}

// templateAdvice is the advice for a template. Only a rule that also has a pattern without a key can check the text
// alone.
func (k *keyChecker) templateAdvice(strict []int) string {
	add := "unparsable: text and a text or regex pattern"
	isText := func(item rules.Item) bool { return !isKey(item) }
	for _, r := range strict {
		rule := &k.bundle.Rules[r]
		if slices.ContainsFunc(rule.Patterns, isText) || slices.ContainsFunc(rule.Required, isText) {
			add = "unparsable: text"
		}
	}
	return "to check only its text, add " + add + " to " + k.named(strict) +
		"; or exclude the file; or scan the rendered output"
}

// tooLong records a content that is too long to be read into memory.
func (k *keyChecker) tooLong(s *Plan, path string, limit int64, rep *match.Report) (out keyResult) {
	var asking []int
	for _, a := range s.marks {
		if out.perhaps = append(out.perhaps, a.rules...); a.known(path) {
			asking = append(asking, a.rules...)
		}
	}
	order, byFormat := k.byFormat(&out, k.asking(s, &out, rep), path)
	for _, f := range order {
		asking = append(asking, rulesOf(byFormat[f])...)
	}
	if len(asking) > 0 {
		out.fail(asking, "limit", code.Limit, path, fmt.Sprintf(
			"it cannot be parsed%s: the file has more than %d bytes; "+
				"make it smaller, or exclude it from %s", k.note, limit, k.named(asking)))
	}
	return out
}

// named lists rules, possibly repeated, for a message of limited length.
func (k *keyChecker) named(list []int) string {
	list = slices.Clone(list)
	slices.Sort(list)
	list = slices.Compact(list)
	const most = 3
	var names []string
	for _, r := range list[:min(len(list), most)] {
		names = append(names, verdict.Visible(k.bundle.Rules[r].ID))
	}
	switch n := len(list) - most; {
	case n == 1:
		names = append(names, "another rule")
	case n > 1:
		names = append(names, fmt.Sprintf("%d other rules", n))
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return names[0]
}

// fail adds an error for the content as a whole, which rules could not check, the first of each code.
func (out *keyResult) fail(asking []int, reason, is, path, message string) {
	out.failAt(asking, &verdict.Evidence{}, reason, is, path, message)
}

// failAt adds an error at a place, the first of each code.
func (out *keyResult) failAt(asking []int, at *verdict.Evidence, reason, is, path, message string) {
	out.unjudged = append(out.unjudged, asking...)
	if out.reason == "" {
		out.reason = reason
	}
	if !slices.ContainsFunc(out.errors, func(e verdict.Error) bool { return e.Code == is }) {
		out.errors = append(out.errors, verdict.Error{Code: is, File: verdict.Path(path), Message: message,
			Line: at.Line, Column: at.Column, UTF16Column: at.UTF16Column})
	}
}
