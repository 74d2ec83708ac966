package report

import (
	"regexp"
	"strings"
	"testing"
)

// TestHostileTexts: no text of a rule, a name or a content leaves its place in SARIF, rdjson, Markdown or GitHub's
// commands. What could be markup in a page is the same as of a verdict whose texts are all "x".
// lab/conformance/reports has the readers of Markdown, with whole pages.
func TestHostileTexts(t *testing.T) {
	want := map[string]string{}
	texts := []string{"x"} // it must be the first
	for _, s := range append(allHostile(t), "::error::x\n::error file=a::b\r\n##[error]x",
		"a\u2028# b\u2029c\u0085d", "x\u202e\u2066y\u200b") {
		texts = append(texts, "x"+s+"y\n"+s+"\n\n"+s+" x")
		if strings.TrimSpace(s) != "" {
			texts = append(texts, s)
		}
	}
	for i, s := range texts {
		if !*long && i%4 != 0 { // the escapers alone take all, as the seeds of their fuzz targets
			continue
		}
		v := hostileVerdict(s, s, s, s)
		wantSARIF(t, v)
		wantRDJSON(t, v)
		wantAnnotations(t, v)
		wantNoCommand(t, markdown(t, v))
		pages := map[string]string{"markdown": markdown(t, v)}
		for _, a := range []Arrangement{{By: "owner"}, {By: "folder"}} {
			pages[a.By] = arranged(t, v, a, "markdown")
		}
		run, _ := sarifOf(t, v)
		for _, r := range run.Tool.Driver.Rules {
			pages["sarif"] += r.Help.Markdown + "\n"
		}
		for _, d := range readRDJSON(t, v).Diagnostics {
			pages["rdjson"] += d.Message + "\n"
		}
		for name, page := range pages {
			bones, active := skeleton(page)
			if s == "x" {
				want[name] = bones
			}
			if bones != want[name] || active != "" {
				t.Errorf("%q leaves its place in %s (%q):\n%s\nwhich is\n%s\nwant\n%s", s, name, active, page, bones,
					want[name])
			}
		}
		if t.Failed() {
			return
		}
	}
}

var (
	sourceBlock = regexp.MustCompile("(?m)^`{3,}\n *\\d+ \\|.*\n +\\| [ ^]*\n`{3,}$")
	codePieces  = regexp.MustCompile("`[^`|\n]+`|&#96;|&#124;|<code>[^<>\n]*</code>")
	ourMarkup   = regexp.MustCompile(`<br>|&nbsp;|\[\]\(<https://[^<>\s]*>\)`)
	plainChars  = regexp.MustCompile(`[^\x00-\x7f]|[\w .,;:?!()'"-]`)
	autolink    = regexp.MustCompile(`(?im)\bwww\.|://|\b[a-z]+-\d|:[^\s:]+:|` +
		`\b[0-9a-f]{7,}\b|^(\d+[.)]|[-+*]) *x|\b_|_\b`)
)

// skeleton returns of a page of Markdown all that could be markup, with the line ends, and a word that is a link
// without markup, or an emoji.
func skeleton(page string) (bones, active string) {
	page = codePieces.ReplaceAllString(sourceBlock.ReplaceAllString(page, "BLOCK"), "")
	page = ourMarkup.ReplaceAllString(page, "")
	return plainChars.ReplaceAllString(page, ""), autolink.FindString(page)
}
