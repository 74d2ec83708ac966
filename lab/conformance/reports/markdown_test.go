package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/conformance/install"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// markdownPages returns the pages of all fixtures, of the example and of a tree whose names,
// content and policy are Markdown, and the only addresses that a link in them may have.
func markdownPages(t *testing.T) (pages map[string]string, verdicts map[string]*verdict.Verdict, links []string) {
	t.Helper()
	hostile := map[string]string{
		"policy/rules/invariants.yml": "rules: []\n",
		"policy/rules/boundaries.yml": `rules:
  - id: "@org/team#1|` + "`x`" + `"
    title: "<b>x</b> [x](https://evil.example) www.evil.example :smile: $x$ deadbeef GH-1 | ` + "``" + `"
    enforcement: {mode: fail}
    match: {files: ["**"], forbidden_patterns: ["@user", "` + "```" + `", "</details>"]}
    message: "</summary></details><script>alert(1)</script> ![x](https://evil.example/x.png) mail@evil.example"
    remediation: "- [ ] x\n> [!NOTE]\n> x\n\n` + "```" + `mermaid\ngraph\n` + "```" + `\n\n[^1]: x\n\n| a | b |\n|---|---|\n# x\n---\n/close"
    docs_url: "https://example.com/manual?a=b&copy=c"
    owner: "@org/team"
    severity: high
  - id: R-2
    title: Not a link
    enforcement: {mode: fail}
    match: {files: ["**/*"], forbidden_patterns: ["@user"]}
    docs_url: "https://user@evil.example/"
`,
	}
	for _, name := range []string{
		"@user", "#1", "GH-1", "`", "```", "a|b", "\\|", "<b>x</b>", "[x](y)", "![x](y)", "www.evil.example", "mail@evil.example", ":smile:", "$x$", "deadbeef", "- [ ] x",
		"new\n# line", "new\n\n<script>", " two  blanks ", "a*b*c_d_e~~f~~", "&lt;&#64;", "</details>", "https:/evil.example/x", "[^1]", "\u202egnp.tf", "org/repo#1",
	} {
		hostile["tree/"+name+"/x"] = "@user #1 ```\n</details>\n```\n@user"
	}
	verdicts = map[string]*verdict.Verdict{"hostile tree": scan(t, hostile, "tree"), "all kinds": scan(t, kinds())}
	for _, name := range fixtures(t) {
		verdicts[name] = fixture(t, name)
	}
	pages = map[string]string{}
	for name, v := range verdicts {
		var b strings.Builder
		if err := report.Named("markdown").Write(&b, v); err != nil {
			t.Fatal(err)
		}
		pages[name] = b.String()
	}
	if v := verdicts["hostile tree"]; len(v.Violations) < 100 {
		t.Fatalf("%d violations: %v", len(v.Violations), v.Errors)
	}
	return pages, verdicts, []string{"https://example.com/net", "https://example.com/manual?a=b&copy=c"}
}

// TestMarkdownCmark renders the pages with GitHub's own parser (Debian's cmark-gfm, with
// GitHub's extensions and raw HTML as it is) and looks at the elements.
func TestMarkdownCmark(t *testing.T) {
	asked(t)
	t.Parallel()
	program := cmark(t)
	if out, err := exec.Command(program, "--version").Output(); err == nil {
		t.Logf("%s", bytes.SplitN(out, []byte(" - "), 2)[0])
	}
	render := func(page string) string { return rendered(t, program, page) }
	pages, verdicts, links := markdownPages(t)
	for name, page := range pages {
		text, wrong := lookAt(render(page), links)
		for _, w := range wrong {
			t.Errorf("%s: %s", name, w)
		}
		for _, x := range verdicts[name].Violations {
			for _, s := range []string{x.File, x.RuleID, strings.Join(strings.Fields(x.Reason), " ")} {
				s = strings.ReplaceAll(verdict.Visible(s), "##[", `#\u{23}[`)
				if !strings.Contains(text, strings.ReplaceAll(s, " ", "")) {
					t.Errorf("%s: %q is not in the text", name, s)
				}
			}
		}
	}
	for _, evil := range []string{"www.evil.example", "mail@evil.example", "![x](y)", "[x](y)", "<b>x</b>", "> x", "# x", "<details>", "~~x~~", "- [ ] x", "x[^1]\n\n[^1]: y", "a | b\n--|--\nc | d\n"} {
		if _, wrong := lookAt(render(evil), links); len(wrong) == 0 {
			t.Errorf("nothing is wrong with %q: this test sees nothing", evil)
		}
	}
}

// cmark returns GitHub's own parser, which it installs if it is missing.
func cmark(t *testing.T) string {
	t.Helper()
	install.Debian(t, "cmark-gfm", "cmark-gfm")
	return "cmark-gfm"
}

// rendered is a page of Markdown as HTML.
func rendered(t *testing.T, program, page string) string {
	t.Helper()
	args := []string{"--unsafe"}
	for _, e := range []string{"table", "autolink", "strikethrough", "tagfilter", "tasklist", "footnotes"} {
		args = append(args, "-e", e)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdin = strings.NewReader(page)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// The last cell of a row, or of the head: a row with a cell too many would have lost it.
var outcome = regexp.MustCompile(`^(Outcome|[\d,]+ places? in .*|[\d,]+ required files? .*|no violation.*|this rule selects no file.*|no file that it selects was scanned.*|not decided.*)$`)

// lookAt returns the text of a page that is HTML, without spaces, and what none of ours has.
func lookAt(html string, links []string) (text string, wrong []string) {
	if strings.Count(html, "<details") != strings.Count(html, "</details>") {
		wrong = append(wrong, "details that are not closed")
	}
	var all strings.Builder
	d := xml.NewDecoder(strings.NewReader("<html>" + html + "</html>"))
	d.Strict, d.AutoClose, d.Entity = false, []string{"br", "img", "input", "hr"}, xml.HTMLEntity
	known := map[string]string{
		"html": "", "h2": "html", "p": "html details", "ul": "html details", "li": "ul", "strong": "p li", "br": "p", "pre": "details",
		"code": "p li strong a td summary pre", "a": "p td", "details": "html", "summary": "details",
		"table": "html details", "thead": "table", "tbody": "table", "tr": "thead tbody", "th": "tr", "td": "tr",
	}
	var open []string
	cells, last := 0, ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return strings.NewReplacer(" ", "", "\n", "").Replace(all.String()), wrong
		}
		if err != nil {
			return "", append(wrong, err.Error())
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			parent := ""
			if len(open) > 0 {
				parent = open[len(open)-1]
			}
			if inside, ok := known[name]; !ok || !slices.Contains(strings.Fields(inside), parent) && parent != "" {
				wrong = append(wrong, "<"+name+"> in <"+parent+">")
			}
			for _, a := range e.Attr {
				switch ok := map[string]string{"align": "td th", "href": "a", "open": "details"}[a.Name.Local]; {
				case !slices.Contains(strings.Fields(ok), name):
					wrong = append(wrong, "<"+name+" "+a.Name.Local+">")
				case name == "a" && !slices.Contains(links, a.Value):
					wrong = append(wrong, "a link to "+a.Value)
				}
			}
			if name == "tr" {
				cells = 0
			}
			last = ""
			open = append(open, name)
		case xml.EndElement:
			open = open[:len(open)-1]
			if e.Name.Local == "th" || e.Name.Local == "td" {
				cells++
			}
			if e.Name.Local == "tr" && (cells != 7 || !outcome.MatchString(last)) {
				wrong = append(wrong, fmt.Sprintf("a row of %d cells that ends in %q", cells, last))
			}
		case xml.CharData:
			all.Write(e)
			last += strings.TrimSpace(string(e))
		case xml.Comment, xml.Directive, xml.ProcInst:
			wrong = append(wrong, "a comment, directive or instruction")
		}
	}
}

// githubLinks prints, for each page of pages.json, the addresses of all links, those included
// that GitHub makes of names, issues and commits, and all that is an image, a footnote, a
// reference, or HTML that is not ours.
const githubLinks = `
import fs from 'node:fs'
import {unified} from 'unified'
import parse from 'remark-parse'
import gfm from 'remark-gfm'
import math from 'remark-math'
import github from 'remark-github'

const pages = JSON.parse(fs.readFileSync('pages.json'))
const found = {}
for (const [name, page] of Object.entries(pages)) {
  const md = unified().use(parse).use(gfm).use(math).use(github, {repository: 'org/repo'})
  const tree = await md.run(md.parse(page))
  const seen = (found[name] = [])
  const walk = (node) => {
    if (node.type === 'link') seen.push(node.url)
    else if (/image|footnote|reference|definition|math|delete|blockquote|thematic/i.test(node.type)) seen.push(node.type)
    else if (node.type === 'html' && !/^(<br>|<\/details>|<details( open)?>\n<summary>([^<]|<\/?code>)*<\/summary>)$/.test(node.value)) seen.push(node.value)
    else if (node.checked !== undefined && node.checked !== null) seen.push('task')
    for (const child of node.children || []) walk(child)
  }
  walk(tree)
}
console.log(JSON.stringify(found))
`

// TestMarkdownRemark reads the pages with remark and its plugin for what GitHub links by
// itself: mentions, issues and commits.
func TestMarkdownRemark(t *testing.T) {
	asked(t)
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true, "type": "module"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	modules := install.NPM(t, "--ignore-scripts",
		"unified@11.0.5", "remark-parse@11.0.0", "remark-gfm@4.0.1", "remark-math@6.0.0", "remark-github@12.0.0")
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	pages, _, links := markdownPages(t)
	evil := []string{"hi @user", "@org/team", "#1", "GH-1", "org/repo#1", "a5c3785ed8d6a35868bc169f07e40e889087fd2e", "user@a5c3785", "www.evil.example", "mail@evil.example", "![x](y)", "$x$", "x[^1]\n\n[^1]: y", "- [ ] x", "a <b>x</b>", "> x"}
	for _, e := range evil {
		pages[e] = e
	}
	text, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"pages.json": text, "links.js": []byte(githubLinks)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "links.js")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	for name := range pages {
		other := slices.DeleteFunc(found[name], func(l string) bool { return slices.Contains(links, l) })
		if slices.Contains(evil, name) {
			if len(other) == 0 {
				t.Errorf("nothing is wrong with %q: this test sees nothing", name)
			}
			continue
		}
		if len(other) > 0 {
			t.Errorf("%s: %q", name, other)
		}
	}
}
