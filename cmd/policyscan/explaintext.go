package main

import (
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/verdict"
)

// text is the explanation for a person: the file, the rules that cover it with what they ask, then the other rules.
func (e *explanation) text(policy string) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		for i := range args {
			if s, ok := args[i].(string); ok {
				args[i] = safe(s)
			}
		}
		fmt.Fprintf(&b, format+"\n", args...)
	}
	covering, other := 0, 0
	for i := range e.Rules {
		if e.Rules[i].covers() {
			covering++
		} else {
			other++
		}
	}
	line("%s: %s", e.Path, e.says(covering))
	for _, note := range e.notes(covering) {
		line("  %s", note)
	}
	for i := range e.Errors {
		place := ""
		if e.Errors[i].File != e.Path {
			place = e.Errors[i].File + ": "
		}
		line("  %s%s [%s]", place, e.Errors[i].Message, e.Errors[i].Code)
	}
	line("policy: %s", policy)
	for i := range e.Rules {
		if r := &e.Rules[i]; r.covers() && e.LeftOut == "" {
			line("")
			r.text(e, line)
		}
	}
	if other > 0 && e.LeftOut == "" {
		line("")
		line("not covered by %s:", plural(other, "rule"))
		for i := range e.Rules {
			if r := &e.Rules[i]; !r.covers() {
				line("  %s: %s", r.ID, r.why())
			}
		}
	}
	return b.String()
}

// covers reports whether the rule asks anything of the file.
func (r *explainedRule) covers() bool { return r.Result != scanner.NotCovered.String() }

// says is the result in a sentence.
func (e *explanation) says(covering int) string {
	by := fmt.Sprintf("covered by %s", plural(covering, "rule"))
	switch e.Result {
	case "left_out":
		return "a scan skips it: " + map[string]string{
			"rules":  "it is a rule file in use, which contains the patterns",
			"output": "the verdict of a scan is written there",
			"git":    "it belongs to git",
		}[e.LeftOut]
	case scanner.NotCovered.String():
		return "no rule covers it, so a scan does not read it"
	case scanner.Passed.String():
		return "passes; " + by
	case scanner.Allowed.String():
		return "passes, with violations that are allowed; " + by
	case scanner.Undecided.String():
		return "undecided; " + by
	}
	n := len(e.Violations)
	return fmt.Sprintf("%s; %s", plural(n, "violation"), by)
}

// notes say what the file is, and what of it was checked.
func (e *explanation) notes(covering int) (all []string) {
	if e.Commit != "" {
		all = append(all, fmt.Sprintf("as it is in the commit %s (%s)", e.rev, e.Commit[:12]))
	}
	switch e.Kind {
	case "symlink":
		all = append(all, "it is a symbolic link, which a scan does not follow: the path that it contains is checked; "+
			"what it leads to is checked under its own path, and not at all if it is outside the tree")
	case "submodule":
		if e.Commit != "" {
			all = append(all, "it is a submodule, whose files are in another repository: "+
				"a scan of a commit does not read them")
			break
		}
		all = append(all, "it is a submodule: if it is checked out, its files are checked under their own paths")
	case "special":
		all = append(all, "it is a FIFO, a socket or a device, which a scan never opens")
	}
	switch {
	case e.NotScanned != "":
		all = append(all, "not checked completely: "+e.NotScanned)
	case e.LeftOut == "" && covering > 0 && e.looked():
		read := fmt.Sprintf("%s, read to the last one", plural(int(e.Bytes), "byte"))
		if e.Mark != "" {
			read += "; its byte order mark is that of " + e.Mark
		}
		all = append(all, read)
	case e.LeftOut == "" && covering > 0:
		all = append(all, "its path alone is checked, so it is not read")
	}
	for _, f := range e.Forms {
		switch f.Form {
		case "stored":
			who := "a scan of a change checks both:"
			if e.Commit != "" {
				who = "a scan checks both:"
			}
			all = append(all, fmt.Sprintf("git stores %s of it, and writes it on disk in another encoding "+
				"(working-tree-encoding in .gitattributes); %s", plural(int(f.Bytes), "byte"), who))
		case "checkout":
			if f.Bytes < 0 {
				all = append(all, "  in "+f.As[0]+", which policyscan cannot write, so that such a scan is incomplete")
				continue
			}
			all = append(all, fmt.Sprintf("  in %s, %s", f.As[0], plural(int(f.Bytes), "byte")))
		}
	}
	if e.GitUnknown != "" {
		all = append(all, "it is not known in which encoding git checks it out: "+e.GitUnknown)
	}
	return all
}

// looked reports whether a rule asks for the content.
func (e *explanation) looked() bool {
	for i := range e.Rules {
		for _, item := range e.Rules[i].Items {
			if item.ask.Of != rules.ForbiddenFile {
				return true
			}
		}
	}
	return false
}

// text writes what a rule that covers the file asks of it.
func (r *explainedRule) text(e *explanation, line func(format string, args ...any)) {
	line("%s: %s", r.ID, strings.ReplaceAll(r.Result, "_", " "))
	line("  %s (%s, %s:%d of %s)", r.Title, r.Type, r.File, r.Line, r.Bundle)
	for _, why := range r.choice.Reasons(r.rule) {
		line("  %s", why)
	}
	for i := range r.Items {
		item := &r.Items[i]
		line("  %s: %s", item.Result, item.text(r, e))
	}
}

// text says what the item asks, how it was looked for, and where it is.
func (i *explainedItem) text(r *explainedRule, e *explanation) string {
	pattern := i.Pattern
	if !strings.HasPrefix(pattern, `{"`) {
		pattern = fmt.Sprintf("%q", pattern)
	}
	var parts []string
	switch {
	case i.ask.Of == rules.ForbiddenFile:
		parts = append(parts, "no file may match "+pattern)
	case i.Required:
		parts = append(parts, "required: "+pattern)
	default:
		parts = append(parts, "must not appear: "+pattern)
	}
	switch found := i.found(r, e); {
	case found != "":
		parts = append(parts, found)
	case i.Result != scanner.Passed.String() || i.Note != "" || i.ask.Of == rules.ForbiddenFile:
	case i.Reached == 0:
		parts = append(parts, i.nothing)
	case i.Required:
		parts = append(parts, "found")
	default:
		parts = append(parts, "not found")
	}
	switch n := len(i.Encodings); {
	case i.Note != "":
		parts = append(parts, i.Note)
	case i.Format != "":
		parts = append(parts, "parsed as "+i.Format)
	case n == 5:
		parts = append(parts, "looked for as UTF-8, UTF-16 and UTF-32")
	case n > 0:
		parts = append(parts, "looked for as "+strings.Join(i.Encodings, ", "))
	}
	return strings.Join(parts, "; ")
}

// found says where the violation of an item is; "" if there is none.
func (i *explainedItem) found(r *explainedRule, e *explanation) string {
	at := func(v *verdict.Violation) string {
		ev := &v.Evidence
		missing := ev.Kind == verdict.KindMissing
		if v.RuleID != r.ID || ev.Pattern != i.Pattern || missing != i.Required ||
			(ev.Kind == verdict.KindFile) != (i.ask.Of == rules.ForbiddenFile) {
			return ""
		}
		place := fmt.Sprintf("line %d, column %d", ev.Line, ev.Column)
		switch {
		case i.ask.Of == rules.ForbiddenFile:
			return "this one does"
		case missing && ev.Excerpt == "":
			return "it is missing"
		case missing:
			return "it is missing, or has another value, at " + place
		case ev.Occurrences > 1:
			return fmt.Sprintf("found %d times, first at %s", ev.Occurrences, place)
		}
		return "found at " + place
	}
	for k := range e.Violations {
		if s := at(&e.Violations[k]); s != "" {
			if note := e.Violations[k].Note; note != "" {
				s += "; " + note
			}
			return s
		}
	}
	for k := range e.AllowedViolations {
		if s := at(&e.AllowedViolations[k].Violation); s != "" {
			a := &e.AllowedViolations[k].Allowance
			return fmt.Sprintf("%s, allowed up to %d by %s (%s)", s, a.AtMost, a.Owner, a.Reason)
		}
	}
	return ""
}

// why says why a rule does not cover the file, and which glob decides.
func (r *explainedRule) why() string {
	if why := r.choice.Reasons(r.rule); len(why) > 0 {
		if r.choice.Excluded() || !r.choice.Requires() {
			return strings.Join(why, "; ")
		}
		return strings.Join(why, "; ") + ": one such file must be in the tree"
	}
	const most = 5
	var globs []string
	for _, list := range [][]string{r.rule.Files, r.rule.ForbiddenFiles, r.rule.RequiredFiles} {
		for _, g := range list {
			globs = append(globs, fmt.Sprintf("%q", g))
		}
	}
	more := ""
	if n := len(globs) - most; n > 0 {
		globs, more = globs[:most], fmt.Sprintf(" and %d more", n)
	}
	return "no glob matches: " + strings.Join(globs, ", ") + more
}
