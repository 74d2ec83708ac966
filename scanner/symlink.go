package scanner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A linkTarget is what is wrong with a symbolic link's target.
type linkTarget struct {
	missed   []int // rules that could check the link's path but do not check the target
	message  string
	err      error
	selected bool // a rule selects the link itself
}

// coverLink sets the rules that apply to a symbolic link: rules that select it check its target string like any
// content; else the rules that could check its path but not the target.
func (w *worker) coverLink(r *check.Result) bool {
	w.link = linkTarget{}
	if applying := w.scan.run.Rules.Bundle.LookingInto(r.File.Path); len(applying) > 0 {
		target, err := r.File.Target()
		if err == nil {
			if w.link.missed, w.link.message, err = w.scan.missedBy(&r.File, target, applying); err != nil {
				r.File.Fail(err)
			}
		}
		if err != nil {
			w.link.missed = applying // if known
		}
		w.link.err = err
		w.selected = w.scan.run.Rules.Bundle.Selecting(r.File.Path, w.selected)
		covering := w.selected
		if w.link.selected = len(covering) > 0; !w.link.selected {
			covering = w.link.missed
			slices.Sort(covering)
		}
		if len(covering) > 0 {
			r.Plan = w.plan(covering)
		}
	}
	return w.isCovered(r, true)
}

// readLink checks the target string of a symbolic link, if a rule selects it, and then the target's path.
func (w *worker) readLink(r *check.Result) {
	if w.link.selected || w.link.err != nil {
		if w.scan.checker.Check(w.ctx, &w.x, r); !r.Scanned || len(w.link.missed) == 0 {
			return
		}
	}
	r.Reached, r.Scanned, r.Bytes, r.Reason = true, false, 0, check.AllowSymlink
	allows := w.scan.run.AllowsLink
	if !w.scan.checker.Allows(check.AllowSymlink) && (allows == nil || !allows(r.File.Path)) {
		r.Err = &verdict.Error{Code: code.Link, File: verdict.Path(r.File.Path), Message: w.link.message}
	}
}

// missedBy returns the applying rules that do not check the link's target, and a message about them. Without any, the
// link is fine.
func (s *scan) missedBy(f *tree.File, target string, applying []int) (missed []int, message string, err error) {
	to, err := tree.Follow(f.Path, target, f.Source.Lookup)
	if err != nil {
		return nil, "", err
	}
	wrong := to.Broken
	if to.Outside != "" {
		if wrong = f.Source.Outside(to.Outside); wrong == "" {
			return nil, "", nil
		}
	}
	missed = applying
	says := linkMessage{
		link: f.Path, target: target,
		rule: "could check what is read under its name", fix: "link to another path in the tree",
	}
	switch {
	case wrong != "":
	case s.isLeftOut(to.Path):
		says.leads, wrong = to.Path, "is excluded from the scan"
		if to.IsFile { // nothing is below a file
			missed = s.run.Rules.Bundle.Selecting(f.Path, nil)
		}
	default:
		says.leads = to.Path
		missed = s.run.Rules.Bundle.LosingSight(f.Path, to.Path, to.IsFile)
	}
	if len(missed) == 0 {
		return nil, "", nil
	}
	number := slices.Min(missed)
	first := &s.run.Rules.Bundle.Rules[number]
	switch {
	case wrong != "":
		says.wrong = ", which " + wrong
	case to.Path != "" && first.Selects(f.Path) && !first.Selects(to.Path):
		says.rule, says.fix = "selects its path but not that one", "have the rule select that one too"
	default:
		says.rule = "could select files under its path that it would not select under that one"
		says.fix = "have the rule select them there too"
		switch lost, excluded := s.run.Rules.Bundle.LostBy(number, f.Path, to.Path); {
		case excluded:
			says.rule += fmt.Sprintf(" (its exclude %q)", clip(lost))
			says.fix = "have the rule exclude the same under the link"
		case lost != "":
			says.rule += fmt.Sprintf(" (its glob %q)", clip(lost))
		}
	}
	return missed, says.text(first.ID, len(missed)-1), nil
}

// isLeftOut reports whether no scan checks a path: a rule file in use, an output of this run, or git's own file, which
// is never in a git tree.
func (s *scan) isLeftOut(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(name, tree.GitDir) {
			return true
		}
	}
	for out := range s.run.Skip {
		if rest, ok := strings.CutPrefix(path, out); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return slices.ContainsFunc(s.run.RuleFiles, func(f check.RuleFile) bool { return f.Path == path })
}

// A linkMessage describes the problem of a link, and the two ways to fix it.
type linkMessage struct {
	link, target string
	leads        string // the path of the target; "" if it has none, or for the root
	wrong        string // the problem of the target
	rule         string // what the rule does
	fix          string
}

func (m *linkMessage) text(rule string, more int) string {
	to := cmp.Or(m.leads, m.target)
	shown := verdict.Path(to)
	if to != m.target {
		shown += fmt.Sprintf(" (%s)", verdict.Path(m.target))
	}
	if more > 0 {
		rule += fmt.Sprintf(" (and %d more)", more)
	}
	glob := m.link
	if strings.Trim(glob, plainName) != "" {
		glob = "GLOB"
	}
	return fmt.Sprintf("it is a link to %s%s, and rule %s %s; %s, or allow the link with --allow symlink=%s",
		clip(shown), m.wrong, rule, m.rule, m.fix, glob)
}

// plainName is the characters of paths that need no quoting in a glob or a shell.
const plainName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@"

func clip(s string) string { return clipTo(s, 300) }

func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
