package reports

import (
	"fmt"
	"html"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/report"
)

// A readPage is a page as GitHub's Markdown is read.
type readPage struct {
	words []string // what is outside of code, cut wherever code or markup is
	all   string   // all text, code included, without white space
	links []string
	rows  []int    // the cells of each, without those of heads
	wrong []string // what no page of ours has
}

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))

// renderMarkdown reads a page with goldmark and every extension of it that GitHub has, and
// footnotes. It takes as wrong whatever node WriteMarkdown has no business with.
func renderMarkdown(page string) readPage {
	source := []byte(page)
	var r readPage
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
		case *ast.AutoLink:
			if entering {
				r.links = append(r.links, string(n.URL(source)))
				all.Write(n.Label(source))
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

// wantInert fails if anything of a verdict is more than text in its page, or is missing.
func wantInert(t fataler, v *verdict.Verdict) string {
	t.Helper()
	var b strings.Builder
	if err := report.Named("markdown").Write(&b, v); err != nil {
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
		if s := bare(shown(strings.Join(strings.Fields(s), " "))); !strings.Contains(r.all, s) {
			t.Errorf("the %s %q is not in the page\n%s", what, s, page)
		}
	}
	for i := range v.Violations {
		x := &v.Violations[i]
		file, at := "the tree", "" // for a violation without a file
		if x.File != "" {
			file, at = shown(x.File), fmt.Sprintf("%d:%d", x.Evidence.Line, x.Evidence.Column)
		}
		// Where a file has several places, they are below it.
		if !strings.Contains(r.all, bare(file)) || !strings.Contains(r.all, at) {
			t.Errorf("the place %s of %q is not in the page\n%s", at, file, page)
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
	return page
}

// A fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// hostileMarkdown is every way of Markdown, and of those who render it, to be more than text.
func hostileMarkdown(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("../../../verdict/report/testdata/hostile-markdown.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		s, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, s)
	}
	return all
}

// TestFault_133_MarkdownHostile puts each hostile text, alone and next to others, wherever text is.
func TestFault_133_MarkdownHostile(t *testing.T) {
	texts := hostileMarkdown(t)
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

// hostilePage is a verdict that has these texts wherever one can be that is not the program's own.
func hostilePage(file, excerpt, pattern, text string) *verdict.Verdict {
	v := verdict.New(text)
	v.Policy = []verdict.Policy{{From: text, SHA256: text}}
	v.Rules = []verdict.Rule{
		{ID: pattern, Type: text, Title: text, Severity: pattern, Message: text, Remediation: text, DocsURL: text, Owner: text, Tags: []string{text}},
		{ID: file + "2", Title: excerpt, Type: pattern, DocsURL: "https://example.com/" + text},
	}
	v.Violations = []verdict.Violation{
		{RuleID: pattern, Title: text, File: verdict.Path(file), Reason: text, Evidence: verdict.Evidence{
			Pattern: pattern, Excerpt: excerpt, Line: 1, Column: 1, UTF16Column: 1, Encoding: "utf-8", Occurrences: 2,
		}, PlaceCount: 2},
		{RuleID: text, Title: file, File: verdict.Path(text), Reason: pattern, Evidence: verdict.Evidence{
			Pattern: text, Excerpt: excerpt + text + file, Line: 1, Column: 1, UTF16Column: 8, Encoding: pattern, Occurrences: 1,
		}, PlaceCount: 1},
	}
	v.Errors = []verdict.Error{{Code: pattern, File: verdict.Path(file), Message: text}, {Code: code.Usage, Message: excerpt}}
	v.Coverage.NotScanned = []verdict.Omission{{File: verdict.Path(text), Reason: text}}
	v.Coverage.LeftOut = []verdict.Omission{{File: verdict.Path(file), Reason: "rules"}}
	v.Allowed = []string{text, pattern}
	v.Scope = verdict.Scope{Mode: "diff", Base: text, MergeBases: []string{text, file}, HeadCommit: text + "x", Strategy: pattern}
	v.Decide()
	return v
}

// shown is a text as a page shows it.
func shown(s string) string { return strings.ReplaceAll(verdict.Visible(s), "##[", `#\u{23}[`) }

// TestFault_134_MarkdownCut: a page that has no room for everything is cut between its parts.
func TestFault_134_MarkdownCut(t *testing.T) {
	long := strings.Repeat("x\u202e`|<", 200)
	v := verdict.New("1")
	for r := range 300 {
		rule := verdict.Rule{ID: fmt.Sprintf("R-%d", r), Title: long, Remediation: long + "\n" + long, Message: long, Owner: long, DocsURL: "https://example.com/" + strings.Repeat("&", 900)}
		v.Rules = append(v.Rules, rule)
		for i := range 50 {
			v.Violations = append(v.Violations, verdict.Violation{RuleID: rule.ID, Title: long, File: fmt.Sprint("dir/", i), Reason: long, Evidence: verdict.Evidence{Pattern: "BAD", Excerpt: "the BAD word", Line: 1, Column: 5, UTF16Column: 5}, PlaceCount: 1})
		}
	}
	for i := range 5000 {
		v.Errors = append(v.Errors, verdict.Error{Code: code.Read, File: fmt.Sprint("dir/", i), Message: long})
	}
	v.Decide()
	for _, errs := range [][]verdict.Error{v.Errors, nil} {
		v.Errors = errs
		var b strings.Builder
		if err := report.Named("markdown").Write(&b, v); err != nil {
			t.Fatal(err)
		}
		if b.Len() < 800_000 || b.Len() > 900_000 {
			t.Errorf("%d errors: %d bytes", len(errs), b.Len())
		}
		if wrong := renderMarkdown(b.String()).wrong; len(wrong) > 0 {
			t.Errorf("%d errors: %q", len(errs), wrong)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	texts := hostileMarkdown(f)
	for i, a := range texts {
		f.Add(a, a, texts[(i*5+1)%len(texts)], a)
	}
	f.Fuzz(func(t *testing.T, file, excerpt, pattern, text string) {
		if max(len(file), len(excerpt), len(pattern), len(text)) > 100 {
			t.Skip("longer ones are cut")
		}
		wantInert(t, hostilePage(file, excerpt, pattern, text))
	})
}
