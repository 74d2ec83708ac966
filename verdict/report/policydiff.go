package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// DiffFormats returns the formats of a comparison of two bundles. They write d, not a verdict.
func DiffFormats(d *verdict.PolicyDiff) []Format {
	return formatsOf(d, "every change, with its effect", diffHead, "## "+diffHead, "",
		WriteDiffText, writeDiffMarkdown, nil)
}

// DiffNames are the names of these formats, for display.
func DiffNames() string { return names(DiffFormats(nil)) }

const diffHead = "policyscan diff: "

// WriteDiffText writes the effects, and below each change its effect.
func WriteDiffText(w io.Writer, d *verdict.PolicyDiff, o TextOptions) error {
	t := textWriter{w: bufio.NewWriter(w), TextOptions: o}
	t.labelled(diffHead, effectCounts(d))
	for i := range d.Changes {
		t.line("")
		t.labelled("", changeWords(&d.Changes[i]))
		t.say("    ", "", effectWords(&d.Changes[i]))
	}
	return t.w.Flush()
}

func writeDiffMarkdown(w io.Writer, d *verdict.PolicyDiff) error {
	p := bufio.NewWriter(w)
	fmt.Fprintf(p, "## %s%s\n", diffHead, effectCounts(d))
	for i := range d.Changes {
		if i == 0 {
			_, _ = p.WriteString("\n| Change | Effect |\n|---|---|\n") // the error is Flush's
		}
		c := &d.Changes[i]
		fmt.Fprintf(p, "| %s | %s |\n", words(changeWords(c), 1000), words(effectWords(c), 1000))
	}
	return p.Flush()
}

func effectCounts(d *verdict.PolicyDiff) string {
	added := ""
	if len(d.BundlesAdded) > 0 {
		added = "bundles added " + quotedTexts(d.BundlesAdded) + "; "
	}
	if len(d.Changes) == 0 {
		return added + "no rule and no allowance differs"
	}
	var all []string
	of := map[verdict.Effect]int{}
	for i := range d.Changes {
		of[d.Changes[i].Effect]++
	}
	for _, e := range []verdict.Effect{verdict.Weaker, verdict.Both, verdict.Unknown, verdict.Stronger, verdict.Same} {
		if of[e] > 0 {
			all = append(all, number(of[e])+" "+string(e))
		}
	}
	return added + count(len(d.Changes), "change") + ": " + strings.Join(all, ", ")
}

// changeWords describes a change without its effect.
func changeWords(c *verdict.PolicyChange) string {
	if c.Kind == verdict.ChangedAllowance {
		return allowanceChanges([]*verdict.PolicyChange{c})[0]
	}
	s := fmt.Sprintf("rule %s %s", verdict.Visible(clip(c.RuleID, 200)), c.Change)
	if len(c.Fields) > 0 {
		s += ": " + strings.Join(fieldChanges(c), "; ")
	}
	return s
}

// effectWords describes the effect of a change.
func effectWords(c *verdict.PolicyChange) string {
	s := string(c.Effect)
	switch {
	case c.Effect == verdict.Unknown:
		s += ": something that was refused may pass, and no file was found that shows it"
	case c.Effect == verdict.Weaker && len(c.Witness) == 0 && c.Change == verdict.Altered && c.File == "":
		s += ": allowances can permit what breaks it"
	}
	for i, w := range c.Witness {
		what := verdict.Visible(clip(w.File, 200)) + " with " + verdict.Quote(clip(w.Content, 100))
		switch {
		case w.File == "" && len(w.Tree) == 0:
			what = "a tree without files"
		case w.File == "":
			what = "a tree of only " + quotedTexts(w.Tree)
		case w.Content == "":
			what = verdict.Visible(clip(w.File, 200)) + " without content"
		}
		by := " refused it before"
		verb := " refuses "
		if w.Effect == verdict.Weaker {
			by, verb = " still refuses it", " passes "
		}
		if len(w.RefusedBy) > 0 {
			what += " (" + verdict.Visible(firstOf(w.RefusedBy, 3)) + by + ")"
		}
		s += map[bool]string{true: ":", false: ";"}[i == 0 && c.Effect != verdict.Unknown] + verb + what
	}
	return s
}
