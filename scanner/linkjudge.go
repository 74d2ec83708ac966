package scanner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// visitLink checks a link: its target string like any content, for the rules that select the link, and where it leads,
// for all that could check what is read under its name. A link that no rule selects is covered only if it fails in
// that.
func (w *worker) visitLink(f tree.File) {
	looking := w.run.set.Bundle.LookingInto(f.Path, nil)
	if len(looking) == 0 {
		if len(w.forbid) > 0 {
			w.checkPathOnly(f)
			return
		}
		w.tally.list()
		return
	}
	target, err := f.Target()
	var losing []int
	var why string
	if err == nil {
		if losing, why, err = w.run.astray(&f, target, looking); err != nil {
			f.Fail(err)
		}
	}
	if err != nil {
		losing = looking // for all that is known
	}
	w.selected = w.run.set.Bundle.Selecting(f.Path, w.selected[:0])
	covering := w.selected
	if len(covering) == 0 {
		covering = losing
		slices.Sort(covering)
	}
	if len(covering) == 0 {
		if len(w.forbid) > 0 {
			w.checkPathOnly(f)
			return
		}
		w.tally.list()
		return
	}
	r := check.Result{File: f, Plan: w.plan(covering), Forbidden: slices.Clone(w.forbid)}
	if !w.tally.begin(r) {
		return
	}
	defer w.end(&r)
	if len(w.selected) > 0 || err != nil {
		if w.run.checker.Check(w.ctx, &w.x, &r); !r.Scanned || len(losing) == 0 {
			return
		}
	}
	r.Reached, r.Scanned, r.Bytes, r.Reason = true, false, 0, check.AllowSymlink
	if !w.run.allowsLink(f.Path) {
		r.Err = &verdict.Error{Code: code.Link, File: verdict.Path(f.Path), Message: why}
	}
}

func (p *collector) allowsLink(path string) bool {
	return p.checker.Allows(check.AllowSymlink) || p.opt.AllowLink != nil && p.opt.AllowLink(path)
}

// astray returns those of the rules that look into a link which do not judge what it leads to, and a message that
// says so; none: the link is all right.
func (p *collector) astray(f *tree.File, target string, looking []int) (losing []int, why string, err error) {
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
	losing = looking
	says := linkMessage{
		link: f.Path, target: target,
		rule: "could check what is read under its name", fix: "link to another path in the tree",
	}
	switch {
	case wrong != "":
	case p.isLeftOut(to.Path):
		says.leads, wrong = to.Path, "is excluded from the scan"
		if to.IsFile { // beneath which there is nothing
			losing = p.set.Bundle.Selecting(f.Path, nil)
		}
	default:
		says.leads = to.Path
		losing = p.set.Bundle.LosingSight(f.Path, to.Path, to.IsFile, nil)
	}
	if len(losing) == 0 {
		return nil, "", nil
	}
	number := slices.Min(losing)
	first := &p.set.Bundle.Rules[number]
	switch {
	case wrong != "":
		says.wrong = ", which " + wrong
	case to.Path != "" && first.Selects(f.Path) && !first.Selects(to.Path):
		says.rule, says.fix = "selects its path but not that one", "have the rule select that one too"
	default:
		says.rule = "could select files under its path that it would not select under that one"
		says.fix = "have the rule select them there too"
		switch lost, excluded := p.set.Bundle.LostBy(number, f.Path, to.Path); {
		case excluded:
			says.rule += fmt.Sprintf(" (its exclude %q)", clip(lost))
			says.fix = "have the rule exclude the same under the link"
		case lost != "":
			says.rule += fmt.Sprintf(" (its glob %q)", clip(lost))
		}
	}
	return losing, says.text(first.ID, len(losing)-1), nil
}

// isLeftOut reports whether a path is one that no scan checks: it is in use as a rule file, or written by this run, or
// git's own, which is never in a tree of git's.
func (p *collector) isLeftOut(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(name, tree.GitDir) {
			return true
		}
	}
	for out := range p.opt.LeaveOut {
		if rest, ok := strings.CutPrefix(path, out); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return slices.ContainsFunc(p.opt.InUse, func(f judges.RuleFile) bool { return f.Path == path })
}

// A linkMessage says what is wrong with a link, and the two ways out.
type linkMessage struct {
	link, target string
	leads        string // the path that the target means; "" if it is not one, or the root
	wrong        string // with the target
	rule         string // what the rule does
	fix          string
}

// text is the message about a rule, and how many more do the same.
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

// plainName are the characters of paths that mean themselves in a glob and in a shell.
const plainName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@"

// clip cuts a text that is too long for a message.
func clip(s string) string { return clipTo(s, 300) }

func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
