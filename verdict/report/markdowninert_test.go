package report

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/verdict"
)

// A rendered page is what a reader of GitHub's Markdown makes of it.
type rendered struct {
	words []string // what stands outside of code, cut wherever code or markup is
	all   string   // all text, code included, without white space
	links []string
	rows  []int    // the cells of each, without those of heads
	wrong []string // what no page of ours has
}

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))

// renderMarkdown reads a page with goldmark and every extension of it that GitHub has, and
// footnotes. It takes as wrong whatever node WriteMarkdown has no business with.
func renderMarkdown(page string) rendered {
	source := []byte(page)
	var r rendered
	var all, words strings.Builder
	cut := func() {
		if words.Len() > 0 {
			r.words = append(r.words, words.String())
			words.Reset()
		}
	}
	wrong := func(format string, args ...any) { r.wrong = append(r.wrong, fmt.Sprintf(format, args...)) }
	open := 0
	inHTML := func(block string) {
		if block == "</details>\n" {
			open--
			return
		}
		m := htmlBlock.FindStringSubmatch(block)
		if m == nil {
			wrong("the HTML block %q", block)
			return
		}
		open++
		for i, part := range codeTag.Split(m[1], -1) {
			if strings.ContainsAny(part, "<>") {
				wrong("the tag in %q", block)
			}
			plain := html.UnescapeString(part)
			all.WriteString(plain)
			if i%2 == 0 {
				r.words = append(r.words, plain)
			}
		}
	}
	_ = ast.Walk(gfm.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Document, *ast.List, *ast.ListItem, *ast.Paragraph, *ast.TextBlock:
		case *extast.Table, *extast.TableHeader, *extast.TableCell:
		case *ast.Text:
			if entering {
				_, code := n.Parent().(*ast.CodeSpan)
				value := string(n.Segment.Value(source))
				if !code {
					value = html.UnescapeString(value)
					words.WriteString(value)
				}
				all.WriteString(value)
			}
			return ast.WalkContinue, nil
		case *ast.CodeSpan:
		case *ast.Emphasis:
			if n.Level != 2 {
				wrong("emphasis")
			}
		case *ast.Heading:
			if n.Level != 2 || n.PreviousSibling() != nil {
				wrong("a heading of level %d", n.Level)
			}
		case *ast.RawHTML:
			if tag := string(n.Segments.Value(source)); tag != "<br>" {
				wrong("the tag %q", tag)
			}
		case *ast.HTMLBlock:
			if entering {
				inHTML(string(n.Lines().Value(source)))
			}
		case *ast.FencedCodeBlock:
			lines := strings.SplitAfter(string(n.Lines().Value(source)), "\n")
			switch {
			case !entering:
			case n.Info != nil || len(lines) != 3 || !sourceLine.MatchString(lines[0]) || !caretLine.MatchString(lines[1]):
				wrong("the block %q", lines)
			default:
				_, line, _ := strings.Cut(lines[0], " |")
				all.WriteString(line)
			}
		case *ast.Link:
			if entering {
				r.links = append(r.links, html.UnescapeString(string(n.Destination)))
			}
			if n.Title != nil {
				wrong("a title")
			}
		case *extast.TableRow:
			if entering {
				r.rows = append(r.rows, n.ChildCount())
			}
		default:
			wrong("%s", n.Kind())
		}
		cut()
		return ast.WalkContinue, nil
	})
	if open != 0 {
		wrong("%d details are not closed", open)
	}
	r.all = bare(all.String())
	return r
}

var (
	htmlBlock  = regexp.MustCompile(`^<details(?: open)?>\n<summary>([^\n]*)</summary>\n$`)
	codeTag    = regexp.MustCompile(`</?code>`)
	sourceLine = regexp.MustCompile(`^ *\d+ \|( .*)?\n$`)
	caretLine  = regexp.MustCompile(`^ +\| +\^+\n$`)
	linkable   = regexp.MustCompile(`^(?i:https)://[\w.~%!$&'()*+,;=-]+(?::\d*)?(?:[/?#][\w./?#:@!&'()*+,;=%~-]*)?$`)
)

// bare is text without what a renderer may add to it or take from it.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\u00a0' {
			return -1
		}
		return r
	}, s)
}

// autolinks are GitHub's and GitLab's own: what is made a link, a person's notification, a
// picture or a formula after Markdown was read, in text that is not code. They are wider
// than what either does: a name need not exist.
var autolinks = map[string]*regexp.Regexp{
	"mention":   regexp.MustCompile(`@`),
	"issue":     regexp.MustCompile(`[#&~%^$]|![\[\d]`),
	"GH-1":      regexp.MustCompile(`(?i)\b[a-z]+-\d`),
	"commit":    regexp.MustCompile(`(?i)\b[0-9a-f]{7,40}\b`),
	"address":   regexp.MustCompile(`(?i)://|\bwww\.[\w-]|[a-z]\.[a-z]{2,}`),
	"scheme":    regexp.MustCompile(`(?i)\b(?:mailto|xmpp|javascript|data):[\w/@.]`),
	"emoji":     regexp.MustCompile(`:[^\s:]+:`),
	"emphasis":  regexp.MustCompile(`[*_<>\[\]\\{}=+/]`),
	"hidden":    regexp.MustCompile(`[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]`),
	"Azure's #": regexp.MustCompile(`#\d`),
}

// wantInert fails if anything of a verdict is more than text in its page, or is not there.
func wantInert(t fataler, v *verdict.Verdict) string {
	t.Helper()
	var b strings.Builder
	if err := WriteMarkdown(&b, v); err != nil {
		t.Fatalf("%v", err)
	}
	page := b.String()
	r := renderMarkdown(page)
	for _, w := range r.wrong {
		t.Errorf("%s\n%s", w, page)
	}
	for _, words := range r.words {
		for name, pattern := range autolinks {
			if found := pattern.FindString(words); found != "" {
				t.Errorf("%s: %q in %q\n%s", name, found, words, page)
			}
		}
	}
	var allowed []string
	for i := range v.Rules {
		if linkable.MatchString(v.Rules[i].DocsURL) {
			allowed = append(allowed, v.Rules[i].DocsURL)
		}
	}
	for _, l := range r.links {
		if !slices.Contains(allowed, l) {
			t.Errorf("a link to %q\n%s", l, page)
		}
	}
	// A row with too few cells would have been filled up, one with too many been cut.
	var rows []int
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| Rule |") {
			rows = append(rows, strings.Count(line, "|")-1)
		}
	}
	if !slices.Equal(rows, r.rows) || len(rows) < len(v.Rules) {
		t.Errorf("%d cells were written and %d are read\n%s", rows, r.rows, page)
	}
	// White space of prose may become one blank; and no field here is so long that it is cut.
	has := func(what, s string) {
		if s := bare(inert(strings.Join(strings.Fields(s), " "))); !strings.Contains(r.all, s) {
			t.Errorf("the %s %q is not in the page\n%s", what, s, page)
		}
	}
	for i := range v.Violations {
		x := &v.Violations[i]
		if s := bare(inert(x.File)); !strings.Contains(r.all, s+fmt.Sprintf(":%d:%d", x.Evidence.Line, x.Evidence.Column)) {
			t.Errorf("the file %q is not in the page\n%s", s, page)
		}
		has("reason", x.Reason)
	}
	for _, e := range v.Errors {
		has("error", e.Message)
	}
	for i := range v.Rules {
		has("title", v.Rules[i].Title)
		if n := len(v.Violations); n > 0 && v.Violations[0].RuleID == v.Rules[i].ID {
			for line := range strings.Lines(v.Rules[i].Remediation) {
				has("line of the remediation", strings.TrimSpace(line))
			}
			has("owner", v.Rules[i].Owner)
		}
	}
	for _, line := range runnerLines(page) {
		if name, ok := workflowCommand(line); ok {
			t.Errorf("the runner obeys %q in %q", name, line)
		}
	}
	for _, c := range page {
		if c != '\n' && unsafeRune(c) {
			t.Errorf("%U stands raw in %q", c, page)
		}
	}
	return page
}

// A fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// hostileMarkdown is every way of Markdown, and of those who render it, to be more than text.
func hostileMarkdown() []string {
	return []string{
		"`", "``", "```", "````\n", "~~~", strings.Repeat("`", 81), strings.Repeat("`", 300), "\n```\n", "\\`", "`` ` ``", "``` x", "$`x`$",
		"|", "\\|", "\\\\|", "a|b", "|---|\n|---|", "`|`", "\n|a|b|\n|-|-|\n",
		"<b>x</b>", "<script>alert(1)</script>", "</details>", "</summary>", "<details>", "<!--", "-->", "<?php", "<![CDATA[", "]]>", "</code>", "<img src=x onerror=y>", "<br", "<a href=https://evil.example>x</a>",
		"&lt;", "&#64;user", "&copy;", "&amp;", "&#124;", "&", "&nbsp;",
		"@user", "@org/team", "(@user)", "\"@user\"", "@user.", "x@user", "'@all'", "@here", "＠user",
		"#1", "#123.", "org/repo#1", "GH-1", "gh-1", "JIRA-123", "(#1)", "!1", "~label", "%\"x\"", "&1", "$1", "^alert#1", "*iteration:1", "[issue:1]",
		"deadbeef", "defaced", "0123456", "1234567", "a5c3785ed8d6a35868bc169f07e40e889087fd2e", "user@a5c3785e", "x-defaced", "acceded.",
		"www.evil.example", "https://evil.example/x", "<https://evil.example>", "mail@evil.example", "mailto:a@b.example", "xmpp:a@b.example", "http://x", "ftp://x.y", "javascript:alert(1)", "evil.com", "t.co", "e.g.", "i.e.",
		"[x](https://evil.example)", "![x](https://evil.example/x.png)", "[x][y]", "[y]: https://evil.example", "\n[y]: https://evil.example\n", "[^1]", "[^1]: x", "\n[^1]: x\n", "](<", ">)", "[x](<javascript:x>)", "![", "[[_TOC_]]", "[toc]", "[[wiki]]",
		"$x$", "$$x$$", "\n$$\nx\n$$\n", "\\(x\\)", "\n```math\nx\n```\n", "\n```mermaid\ngraph\n```\n", "\n```geojson\n{}\n```\n", "\n```suggestion\nx\n```\n", "::include{file=x}",
		":smile:", ":+1:", ":shipit:", ": a :", "- [ ] x", "[x] y", "\n- [x] y", "> [!NOTE]\n> x", "\n> [!CAUTION]\n> x\n", "> x",
		"# x", "\n# x", "\nx\n===\n", "\nx\n---\n", "---\ntitle: x\n---\n", "\n***\n", "\n    code\n", "\tx", "1. x", "\n1. x", "2) y", "* x", "+ y", "\n- z", "*x*", "_x_", "**x**", "__x__", "~x~", "~~x~~", "x_y_z", "a*b*c", "\\", "\\*x\\*", "x\\",
		"/close", "\n/close\n", "\n/assign @user\n", "{+x+}", "[-x-]", "==x==", "x^2^", "H~2~O",
		"::error::x", "\n::error::x", "##[error]x", "##[", "#", "[", "\x1b[31m", "\r", "\u202e", "\u2066x", "\u200b", "\ufeff", "\u00ad", "\xff\xfe", "\x00", "\u2028", "\u00a0", "\u3164", "\U000e0041", "\ufe0f",
		"e\u0301", "世界。", "שלום", "don't", "well-known", "R&D", "and/or", "f(x)", "(see above)", "\u201cquoted\u201d", "a \u2014 b", "\u2026", "S3", "443", "99999999", "...", "()", "\"", "'", "(", ")", ":", "::", "", " ", "  two  ",
		"https://example.com/a?b=c&copy=d", "https://example.com/(x)_*y*", "https://user@example.com/", "https://evil.example/>)x", "https://evil.example/\nx", "https://[::1]/", "https://example.com/`x`", "https://example.com/|x", "https:x", "https://",
	}
}

// TestFault_133_MarkdownHostile puts each hostile text, alone and beside others, wherever text stands.
func TestFault_133_MarkdownHostile(t *testing.T) {
	texts := hostileMarkdown()
	for _, a := range texts {
		wantInert(t, hostilePage(a, a, a, a))
		wantInert(t, hostilePage("x"+a+"y", "`"+a+"`", "x", "word"+a+"word"))
		if t.Failed() {
			t.Fatalf("with %q", a)
		}
	}
	some := rapid.SliceOfN(rapid.SampledFrom(texts), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return strings.Join(some.Draw(t, name), rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "between"))
		}
		wantInert(t, hostilePage(text("file"), text("excerpt"), text("pattern"), text("text")))
	})
}

// hostilePage is hostileVerdict, and these texts in what only a page shows.
func hostilePage(file, excerpt, pattern, text string) *verdict.Verdict {
	v := hostileVerdict(file, excerpt, pattern, text)
	r := &v.Rules[0]
	r.Type, r.Severity = text, pattern
	v.Rules = append(v.Rules, verdict.Rule{ID: file + "2", Title: excerpt, Type: pattern, DocsURL: "https://example.com/" + text})
	v.Tool.Version = text
	v.Policy[0].From, v.Policy[0].SHA256 = text, text
	v.Allowed = []string{text, pattern}
	v.Scope = verdict.Scope{Mode: "diff", Base: text, MergeBases: []string{text, file}, HeadCommit: text + "x", Strategy: pattern}
	v.Violations[1].Evidence.Encoding = pattern
	v.Errors[0].Code = pattern
	v.Coverage.NotScanned[0].Reason = text
	return v
}

func FuzzMarkdown(f *testing.F) {
	texts := hostileMarkdown()
	for i, a := range texts {
		f.Add(a, a, texts[(i*5+1)%len(texts)], a)
	}
	f.Fuzz(func(t *testing.T, file, excerpt, pattern, text string) {
		skipLong(t, 100, file, excerpt, pattern, text) // longer ones are cut
		wantInert(t, hostilePage(file, excerpt, pattern, text))
	})
}
