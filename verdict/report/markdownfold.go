package report

import "fmt"

// violations folds what was found by rule. The rules share the room that is left up to upto, so that one with thousands
// of violations leaves some to those after it. What was there before gets only what the new ones leave.
func (p *markdownPage) violations(upto int) {
	const (
		rest = 2 << 10 // for what is below
		most = 64      // rules for which room is kept at a time
	)
	left := upto - rest - p.b.Len()
	folds := make([]*markdownFold, len(p.v.groups))
	for i, g := range p.v.groups {
		folds[i] = &markdownFold{page: p, ruleGroup: g, reason: commonReason(g.violations)}
	}
	share := func(i int) int { return left / min(len(folds)-i, most) }
	for i, f := range folds {
		left -= f.take(share(i), f.fresh)
	}
	all := true // of the new ones that are not too long are shown
	for _, f := range folds {
		left -= f.take(left, f.fresh)
		all = all && f.next >= f.fresh
	}
	for i, f := range folds {
		if all {
			left -= f.take(share(i), len(f.violations))
		}
	}
	hidden := len(p.v.Violations)
	for _, f := range folds {
		hidden -= f.shown
		f.write()
	}
	if hidden > 0 {
		p.line(fmt.Sprintf("\n**%d of %s not shown**, to keep this page under 900 KiB. All are in `verdict.json`.",
			hidden, count(len(p.v.Violations), "violation")))
	}
}

// A markdownFold is a rule and as many of its violations as the page has room for.
type markdownFold struct {
	page *markdownPage
	*ruleGroup
	reason string
	next   int // the first violation that was not looked at
	shown  int // of those before it; the others are too long
}

const (
	markdownClosing = "\n</details>\n"
	markdownMore    = 100 // bytes at most for how many more there are
)

// take shows more violations, up to one of them, in at most room bytes, and returns how many it needs.
func (f *markdownFold) take(room, upto int) (used int) {
	for ; f.next < upto; f.next++ {
		n := len(f.piece(f.next))
		if n > markdownPiece {
			continue
		}
		if f.shown == 0 {
			n += len(f.head()) + len(markdownClosing) + markdownMore
		}
		if used+n > room {
			break
		}
		used += n
		if f.shown++; f.shown == len(f.violations) {
			used -= markdownMore
		}
	}
	return used
}

func (f *markdownFold) piece(i int) string {
	x := f.violations[i]
	return f.page.violation(x, label(x.Status), f.reason)
}

// write writes the fold, if anything is shown in it.
func (f *markdownFold) write() {
	if f.shown == 0 {
		return
	}
	b := &f.page.b
	b.WriteString(f.head())
	for i := range f.next {
		if piece := f.piece(i); len(piece) <= markdownPiece {
			b.WriteString(piece)
		}
	}
	if n := len(f.violations) - f.shown; n > 0 {
		fmt.Fprintf(b, "\n%s more of this rule, in `verdict.json`.\n", count(n, "violation"))
	}
	b.WriteString(markdownClosing)
}

func (f *markdownFold) head() string {
	r, open, fresh := f.rule, "", ""
	if len(f.page.v.Violations) <= markdownOpen {
		open = " open"
	}
	if note := f.newNote(); note != "" {
		fresh = " (" + note + ")"
	}
	s := fmt.Sprintf("\n<details%s>\n<summary>%s of %s: %s%s</summary>\n", open, count(len(f.violations), "violation"),
		codeHTML(clip(r.ID, 200)), prose(clip(r.Title, 200), codeHTML), fresh)
	for _, note := range [][2]string{
		{"Why", words(f.reason, 1000)}, {"Fix", lines(clip(r.Remediation, 2000))},
		{"Docs", link(codeMarkdown(clip(r.DocsURL, 2000)), r.DocsURL)},
	} {
		if note[1] != "" {
			s += "\n**" + note[0] + "**: " + note[1] + "\n"
		}
	}
	return s
}
