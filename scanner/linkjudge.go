package scanner

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// visitLink checks a link: its target string like any content, for the rules that select the link, and where it leads,
// for all that could check what is read under its name. A link that no rule selects is covered only if it fails in
// that.
func (w *worker) visitLink(e entry, o opener) {
	looking := w.Bundle.LookingInto(e.Path, nil)
	if len(looking) == 0 {
		if len(w.forbid) > 0 {
			w.visitForbidden(e)
			return
		}
		w.tally.list()
		return
	}
	text := readTarget(e, o)
	var losing []int
	var why string
	if text.err == nil {
		losing, why, text.err = w.astray(e, text, looking)
	}
	if text.err != nil {
		losing = looking // for all that is known
	}
	w.selected = w.Bundle.Selecting(e.Path, w.selected[:0])
	covering := w.selected
	if len(covering) == 0 {
		covering = losing
		slices.Sort(covering)
	}
	if len(covering) == 0 {
		if len(w.forbid) > 0 {
			w.visitForbidden(e)
			return
		}
		w.tally.list()
		return
	}
	if !w.tally.begin(&w.job, e, covering, w.forbid, w.engines) {
		return
	}
	j := &w.job
	defer func() {
		w.settle(text)
		w.tally.end(w.Bundle)
	}()
	if len(w.selected) > 0 || text.err != nil {
		if w.do(w.ctx, &w.x, text, j); !j.scanned || len(losing) == 0 {
			return
		}
	}
	j.reached, j.scanned, j.bytes, j.reason = true, false, 0, AllowSymlink
	if !w.allowsLink(e.Path) {
		j.err = &verdict.Error{Code: code.Link, File: verdict.Path(e.Path), Message: why}
	}
}

func (p *collector) allowsLink(path string) bool {
	return p.allows(AllowSymlink) || p.AllowLink != nil && p.AllowLink(path)
}

// A linkText opens a link for its target string, which was read once: what is matched is what is followed.
type linkText struct {
	opener
	target string
	long   bool // it has more than maxTarget bytes, and is read again to be matched
	err    error
}

func readTarget(e entry, o opener) *linkText {
	t := &linkText{opener: o}
	c, err := o.open(e)
	if err != nil {
		t.err = err
		return t
	}
	defer c.Close()
	text, err := io.ReadAll(io.LimitReader(c, maxTarget+1))
	t.target, t.long, t.err = string(text), len(text) > maxTarget, err
	return t
}

func (t *linkText) open(e entry) (content, error) {
	switch {
	case t.err != nil:
		return nil, t.err
	case t.long:
		return t.opener.open(e)
	}
	return inMemory([]byte(t.target)), nil
}

// astray returns those of the rules that look into a link which do not judge what it leads to, and a message that
// says so; none: the link is all right.
func (p *collector) astray(e entry, text *linkText, looking []int) (losing []int, why string, err error) {
	to, err := follow(e.Path, text.target, text.look)
	if err != nil {
		return nil, "", err
	}
	wrong := to.lost
	if to.out != "" {
		if wrong = text.outside(to.out); wrong == "" {
			return nil, "", nil
		}
	}
	losing = looking
	says := linkMessage{
		link: e.Path, target: text.target,
		rule: "could check what is read under its name", fix: "link to another path in the tree",
	}
	switch {
	case wrong != "":
	case p.isLeftOut(to.path):
		says.leads, wrong = to.path, "is excluded from the scan"
		if to.file { // beneath which there is nothing
			losing = p.Bundle.Selecting(e.Path, nil)
		}
	default:
		says.leads = to.path
		losing = p.Bundle.LosingSight(e.Path, to.path, to.file, nil)
	}
	if len(losing) == 0 {
		return nil, "", nil
	}
	number := slices.Min(losing)
	first := &p.Bundle.Rules[number]
	switch {
	case wrong != "":
		says.wrong = ", which " + wrong
	case to.path != "" && first.Selects(e.Path) && !first.Selects(to.path):
		says.rule, says.fix = "selects its path but not that one", "have the rule select that one too"
	default:
		says.rule = "could select files under its path that it would not select under that one"
		says.fix = "have the rule select them there too"
		switch lost, excluded := p.Bundle.LostBy(number, e.Path, to.path); {
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
		if strings.EqualFold(name, gitDir) {
			return true
		}
	}
	for out := range p.LeaveOut {
		if rest, ok := strings.CutPrefix(path, out); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return slices.ContainsFunc(p.InUse, func(f judges.RuleFile) bool { return f.Path == path })
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
