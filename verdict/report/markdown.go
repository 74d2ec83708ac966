package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

const (
	// markdownLimit is how long the page gets, in bytes. GitHub drops a job summary of over
	// 1 MiB whole, and one step may have more to say than this page.
	markdownLimit = 900 << 10
	// A longer error or violation is omitted: a path may have any length in a hostile tree.
	markdownPiece = 16 << 10
	// So few violations are shown unfolded.
	markdownOpen = 5
)

// writeMarkdown writes the verdict as a page of GitHub's Markdown, for a job summary or a
// comment: the outcome, what could not be decided, what was looked at, the rules, and the
// violations, folded by rule. Text of the tree and of the policy is not markup, link or
// mention in it: see markdowntext.go. The page has at most 900 KiB; what is omitted
// is counted, and is in verdict.json.
func writeMarkdown(w io.Writer, v *verdict.Verdict) error {
	p := markdownPage{v: v, source: textWriter{TextOptions: TextOptions{Width: 100, Commands: true}}}
	p.line("## policyscan " + p.headline())
	p.errors()
	p.facts()
	groups, held := ruleGroups(v, ruleIndexes(v))
	p.broken(groups)
	tail := p.allowed() + p.held(held)
	p.violations(groups, markdownLimit-len(tail))
	p.b.WriteString(tail)
	p.line("")
	p.line("policyscan " + prose(clip(v.Tool.Version, 100), codeMarkdown) +
		". All of this, for programs, is in `verdict.json`.")
	_, err := w.Write(p.b.Bytes())
	return err
}

type markdownPage struct {
	b      bytes.Buffer
	v      *verdict.Verdict
	source textWriter // draws lines and carets as the text report does
}

func (p *markdownPage) line(s string) { p.b.WriteString(s + "\n") }

// add writes a piece whole, or not at all and false if the page would get longer than upto.
func (p *markdownPage) add(piece string, upto int) bool {
	if p.b.Len()+len(piece) > upto {
		return false
	}
	p.b.WriteString(piece)
	return true
}

// headline is the verdict in one glance. What could not be decided never looks like a PASS,
// nor does a PASS of a run that held nothing against the rules look like any other.
func (p *markdownPage) headline() string {
	v, c := p.v, &p.v.Coverage
	open := len(v.Errors) > 0 || !v.Complete
	rules := map[string]bool{}
	for i := range v.Violations {
		rules[v.Violations[i].RuleID] = true
	}
	switch n := len(v.Violations); {
	case n > 0:
		s := fmt.Sprintf("FAIL: %s of %s%s%s", count(n, "violation"), count(len(rules), "rule"), inFiles(v, count),
			newSuffix(v))
		if open {
			s += ", and not all could be decided"
		}
		return s
	case open:
		return "could not decide: " + count(len(v.Errors), "error")
	case v.Verdict != verdict.Pass:
		return "FAIL: no rule was enforced"
	case c.Files == 0:
		return "PASS, but there was nothing to scan"
	case coversNothing(v):
		return "PASS, but nothing was scanned: no rule selects any file"
	case onlyPaths(v):
		return "PASS: no violation in the paths of " + count(c.Files, "file") + allowedSuffix(v)
	case c.Scanned == 0:
		return "PASS, but nothing was scanned: --allow excluded every file"
	case c.Scanned < c.Governed:
		return fmt.Sprintf("PASS: no violation in %d of %s%s", c.Scanned, count(c.Governed, "covered file"),
			allowedSuffix(v))
	}
	return "PASS: no violation in " + count(c.Scanned, "covered file") + allowedSuffix(v)
}

// errors comes first: they are why there is no PASS.
func (p *markdownPage) errors() {
	v := p.v
	if len(v.Errors) == 0 && v.Complete {
		return
	}
	p.line("")
	switch {
	case len(v.Violations) > 0:
		p.line("**Besides the violations, this could not be decided:**")
	case v.Coverage.Scanned > 0:
		p.line("**This is not a PASS.** No violation was found in what was scanned; the rest could not be decided:")
	default:
		p.line("**This is not a PASS.** Nothing was scanned, because this could not be decided:")
	}
	p.line("")
	left := len(v.Errors)
	for i := range v.Errors {
		e := &v.Errors[i]
		at := ""
		if e.File != "" {
			at = " " + codeMarkdown(e.File)
		}
		// Not "-", as the facts below: two lists of one mark are one list.
		s := fmt.Sprintf("* %s%s: %s", codeMarkdown(clip(e.Code, 100)), at, prose(clip(e.Message, 1000), codeMarkdown))
		if next := nextStep(e.Code); next != "" {
			s += "; " + next
		}
		if len(s) > markdownPiece {
			continue
		}
		if !p.add(s+"\n", markdownLimit/3) {
			break
		}
		left--
	}
	if left > 0 {
		p.line(fmt.Sprintf("* and %s more, in `verdict.json`", count(left, "error")))
	}
}

// nextStep is what a person does about an error whose message says only what was found.
func nextStep(errorCode string) string {
	switch errorCode {
	case code.Read:
		return "fix permissions or disk"
	case code.FilesFrom:
		return "fix the list"
	case code.Output:
		return "fix where the output goes"
	}
	return ""
}

// facts says what was looked at, and by what.
func (p *markdownPage) facts() {
	v, c := p.v, &p.v.Coverage
	p.line("")
	scope := prose(clip(compared(v), 1000), codeMarkdown)
	if scope != "" && v.Scope.Mode == "diff" {
		scope += ", head " + codeMarkdown(v.Scope.HeadCommit[:min(len(v.Scope.HeadCommit), 7)])
	}
	if scope == "" {
		scope = cmp.Or(scopeWords(&v.Scope), prose(clip(v.Scope.Mode, 100), codeMarkdown))
		if v.Scope.Base != "" {
			scope += ", since " + codeMarkdown(clip(v.Scope.Base, 300))
		}
	}
	for _, change := range policyChanges(v) {
		p.line("- **Policy change**: " + prose(clip(change, 1000), codeMarkdown))
	}
	p.line("- **Scope**: " + scope)
	if note := behindNote(v); note != "" {
		p.line("- **Behind**: " + prose(clip(note, 1000), codeMarkdown))
	}
	s := fmt.Sprintf("%s, %d covered, %d scanned in full (%s)", count(c.Files, "file"), c.Governed,
		c.Scanned, count(int(c.Bytes), "byte"))
	if c.Deleted > 0 {
		s += fmt.Sprintf(", %d deleted", c.Deleted)
	}
	p.line("- **Coverage**: " + s)
	p.omitted("Not scanned", c.NotScanned)
	p.omitted("Only text checked", unparsed(c))
	p.omitted("Left out", c.LeftOut)
	for i := range v.Policy {
		if i == 10 {
			break
		}
		b := &v.Policy[i]
		s := fmt.Sprintf("%s, %s", count(b.Boundaries, "boundary rule"), count(b.Invariants, "invariant rule"))
		if b.Deprecated > 0 {
			s += fmt.Sprintf(", %d deprecated and not enforced", b.Deprecated)
		}
		p.line(fmt.Sprintf("- **Policy**: %s, from %s (sha256 %s)", s, prose(clip(b.From, 100), codeMarkdown),
			codeMarkdown(b.SHA256[:min(len(b.SHA256), 12)])))
	}
	unused := 0
	for i := range v.Rules {
		if v.Rules[i].Files == 0 {
			unused++
		}
	}
	if v.Scope.Mode == "full" && c.Governed > 0 && unused > 0 {
		p.line(fmt.Sprintf("- **Unused**: %d of %s %s no file of this tree", unused,
			count(len(v.Rules), "rule"), selects(unused)))
	}
	if v.Partial {
		p.line("- **Narrowed** by `--rule` or `--exclude`: this verdict is not about the whole tree")
	}
	if len(v.Allowed) > 0 {
		p.line("- **Allowed** by `--allow`: " + prose(clip(strings.Join(v.Allowed, ", "), 300), codeMarkdown))
	}
}

func (p *markdownPage) omitted(what string, files []verdict.Omission) {
	const most = 10
	var all []string
	for i, o := range files {
		if i == most {
			all = append(all, fmt.Sprintf("and %d more", len(files)-most))
			break
		}
		all = append(all, codeMarkdown(clip(o.File, 300))+" ("+prose(clip(o.Reason, 100), codeMarkdown)+")")
	}
	if len(all) > 0 {
		p.line("- **" + what + "**: " + strings.Join(all, ", "))
	}
}
