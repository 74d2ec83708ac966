package reports

import (
	"bytes"
	"encoding/json"
	"html"
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
	const program = "cmark-gfm"
	install.Debian(t, program, program)
	if out, err := exec.Command(program, "--version").Output(); err == nil {
		t.Logf("%s", bytes.SplitN(out, []byte(" - "), 2)[0])
	}
	render := func(page string) string {
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
	for _, evil := range []string{"www.evil.example", "mail@evil.example", "![x](y)", "[x](y)", "<b>x</b>", "> x", "# x", "<details>", "~~x~~", "- [ ] x", "x[^1]\n\n[^1]: y"} {
		if _, wrong := lookAt(render(evil), links); len(wrong) == 0 {
			t.Errorf("nothing is wrong with %q: this test sees nothing", evil)
		}
	}
}

var (
	tag     = regexp.MustCompile(`<(!|/?)([a-zA-Z0-9]*)([^>]*)>`)
	anyTag  = regexp.MustCompile(`^(h2|p|ul|li|strong|br|pre|code|a|details|summary|table|thead|tbody|tr|th|td)$`)
	anyAttr = regexp.MustCompile(`^( /|| open| align="[a-z]*")$`)
)

// lookAt returns the text of a page that is HTML, without spaces, and what none of ours has. Which element is in which,
// and the cells of each row, are looked at in [renderMarkdown].
func lookAt(page string, links []string) (text string, wrong []string) {
	if strings.Count(page, "<details") != strings.Count(page, "</details>") {
		wrong = append(wrong, "details that are not closed")
	}
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		link, isLink := strings.CutPrefix(m[3], ` href="`)
		isLink = isLink && m[2] == "a" && slices.Contains(links, html.UnescapeString(strings.TrimSuffix(link, `"`)))
		if m[1] == "!" || !anyTag.MatchString(m[2]) || !isLink && !anyAttr.MatchString(m[3]) {
			wrong = append(wrong, m[0])
		}
	}
	return strings.NewReplacer(" ", "", "\n", "").Replace(html.UnescapeString(tag.ReplaceAllString(page, ""))), wrong
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
