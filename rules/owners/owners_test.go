package owners

import (
	"slices"
	"strings"
	"testing"
)

// gitHubExample has the lines of the example in GitHub's manual.
const gitHubExample = `
# a comment
*       @global-owner1 @global-owner2
*.js    @js-owner #who writes it
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/*  docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/ @octocat
/apps/github
`

// TestDocumentedExamples has the examples of both manuals: a file, its place, and the owners of paths. A line of a file
// that ends in "skip" is one that is skipped.
func TestDocumentedExamples(t *testing.T) {
	const hub, lab = ".github/CODEOWNERS", ".gitlab/CODEOWNERS"
	for _, x := range []struct {
		name, place, text string
		owners            map[string]string
	}{
		{"GitHub's example", hub, gitHubExample, map[string]string{
			"Makefile": "@global-owner1 @global-owner2", ".hidden/x": "@global-owner1 @global-owner2",
			"a.js": "@js-owner", "a/b/c.js": "@js-owner", "a.JS": "@global-owner1 @global-owner2",
			"main.go": "docs@example.com", "notes.txt": "@octo-org/octocats",
			"build/logs": "@octocat", "build/logs/a/b": "@octocat", "x/build/logs/a": "@octocat",
			"src/docs/a": "@global-owner1 @global-owner2", "docs/a.md": "@doctocat", "docs/a/b.md": "@doctocat",
			"scripts/x": "@doctocat @octocat", "deeply/nested/logs/y": "@octocat", "logs": "@octocat",
			"apps/x": "@octocat", "x/apps/y": "@octocat", "apps": "@global-owner1 @global-owner2",
			"apps/github": "", "apps/github/x/y": "", "apps/github.md": "@octocat",
		}},
		{"GitHub: a star is one directory", hub, "docs/*  docs@example.com", map[string]string{
			"docs/getting-started.md": "docs@example.com", "docs/build-app/troubleshooting.md": "",
			"a/docs/getting-started.md": "",
		}},
		{"GitHub: what does not work in gitignore's way", hub, "* @a\n!*.js @b skip\n*.[ch] @b skip\n\\#x @b skip",
			map[string]string{"a.js": "@a", "a.c": "@a", "#x": "@a"}},
		{"GitHub: what is no owner", hub, "* @a\n*.go @b team skip\n*.c @b/c/d skip\n*.h @@maintainer skip",
			map[string]string{"x.go": "@a", "x.c": "@a", "x.h": "@a"}},
		{"GitHub: as in gitignore", hub, "/a/** @a\nb/**/c @b\nf\\ g @c\nd?.md @d\n{x,y} @e\n\\*z @f\nw**w @g\n",
			map[string]string{
				"a/b/c": "@a", "a": "", "b/c": "@b", "b/x/y/c/d": "@b", "x/b/c": "", "f g": "@c", "f g/h": "@c",
				"e/d1.md": "@d", "d/.md": "", "{x,y}": "@e", "x": "", "*z": "@f", "zz": "", "w1w": "@g", "w/w": "",
			}},
		{"GitLab's example", lab, `
* @default-owner
README.md @doc-team @tech-lead
*.rb @ruby-owner
\#file_with_pound.rb @owner-file-with-pound
LICENSE @legal janedoe@gitlab.com
README @group @group/with-nested/subgroup
/docs/ @all-docs
/docs/* @root-docs
/docs/**/*.md @markdown-docs  # of any directory, says @a-comment
path\ with\ spaces/ @space-owner
lib/ @lib-owner
/config/ @@maintainer
`, map[string]string{
			"a": "@default-owner", "x/README.md": "@doc-team @tech-lead", "a/b.rb": "@ruby-owner",
			"#file_with_pound.rb": "@owner-file-with-pound", "LICENSE": "@legal janedoe@gitlab.com",
			"x/README": "@group @group/with-nested/subgroup", "docs/a/b": "@all-docs", "docs/a": "@root-docs",
			"docs/a.md": "@a-comment @markdown-docs", "docs/a/b.md": "@a-comment @markdown-docs",
			"path with spaces/a/b": "@space-owner", "x/lib/y": "@lib-owner", "config/x": "@@maintainer",
			"x/config/y": "@default-owner",
		}},
		{"GitLab: sections are judged by themselves", lab, `
* @admin
[README Owners]
README.md @user1 @user2
internal/README.md @user4
[README other owners]
README.md @user3
`, map[string]string{
			"README.md": "@admin @user1 @user2 @user3", "internal/README.md": "@admin @user3 @user4", "a": "@admin",
		}},
		{"GitLab: default owners", lab, `
* @general-approvers
[Documentation][2] @docs-team
docs/
README.md
*.txt
^[Database] @database-team @agarcia
model/db/
config/db/database-setup.md @docs-team
`, map[string]string{
			"docs/a/b": "@docs-team @general-approvers", "x/config/db/database-setup.md": "@docs-team @general-approvers",
			"model/db/CHANGELOG.txt": "@agarcia @database-team @docs-team @general-approvers",
		}},
		{"GitLab: sections of one name", lab, `
[Documentation]
ee/docs/ @docs
docs/ @docs
[Database]
README.md @database
[DOCUMENTATION]
README.md @docs
docs/a @other
`, map[string]string{"README.md": "@database @docs", "docs/b": "@docs", "docs/a": "@other"}},
		{"GitLab: exclusions", lab, `
* @default-owner
!*.rb                      # no Ruby
/special/*.rb @ruby-owner
!package-lock.json
!**/generated/
[Ruby]
*.rb @ruby-team
!/config/**/*.rb
/config/routes.rb @ops
[Config]
/config/ @ops-team
`, map[string]string{
			"special/a.rb": "@ruby-team", "config/routes.rb": "@ops-team", "config/a/b.rb": "@ops-team",
			"x/package-lock.json": "", "x/generated/y/z": "", "a": "@default-owner",
		}},
		{"GitLab: paths", lab, `
/README.md @root
internal/README.md @internal
/docs/index.* @index
/docs/*spec* @spec
/docs/*/README.md @one
/api/**/index.md @any
dir @file
/all/** @here
`, map[string]string{
			"README.md": "@root", "x/README.md": "", "docs/api/internal/README.md": "@internal",
			"internal/README.md": "@internal", "docs/index.html": "@index", "docs/qa_specs.rb": "@spec",
			"docs/runtime.spec": "@spec", "docs/api/README.md": "@one", "docs/a/b/README.md": "",
			"api/index.md": "@any", "api/a/b/index.md": "@any", "dir/x": "", "x/dir": "@file", "all/x": "@here",
			"all/x/y": "",
		}},
		{"GitLab: a heading that cannot be parsed", lab, `
[Docs] @group
docs/**/*
[Section name skip
docs/ @docs_group
`, map[string]string{"docs/a/b": "@docs_group", "docs": ""}},
		{"GitLab: malformed owners", lab, "/path/* @group user_without_at_symbol @user_with_at_symbol\n/path/a user",
			map[string]string{"path/x": "@group @user_with_at_symbol", "path/a": ""}},
	} {
		t.Run(x.name, func(t *testing.T) {
			f := Parse(x.place, x.text, false)
			for path, want := range x.owners {
				if got := strings.Join(f.Of(path), " "); got != want {
					t.Errorf("%s: %q, not %q", path, got, want)
				}
			}
			var skipped []int
			for i, line := range strings.Split(x.text, "\n") {
				if strings.HasSuffix(line, "skip") {
					skipped = append(skipped, i+1)
				}
			}
			if !slices.Equal(f.Skipped, skipped) {
				t.Errorf("skipped %v, not %v", f.Skipped, skipped)
			}
		})
	}
}

// TestSyntax: the place says it, then a heading, then the tree.
func TestSyntax(t *testing.T) {
	for _, x := range []struct {
		place, text      string
		inGitLab, gitLab bool
	}{
		{".github/CODEOWNERS", "[Docs]\n* @a", true, false}, {".gitlab/CODEOWNERS", "* @a", false, true},
		{"CODEOWNERS", "* @a", false, false}, {"CODEOWNERS", "* @a", true, true},
		{"docs/CODEOWNERS", "* @a\r\n^[Docs][2] @b\r\n", false, true}, {"CODEOWNERS", "# [Docs]\n*.[ch] @a", false, false},
	} {
		if f := Parse(x.place, x.text, x.inGitLab); f.IsGitLab != x.gitLab {
			t.Errorf("%s with %q: GitLab's is %v", x.place, x.text, f.IsGitLab)
		}
	}
}

func TestOddLines(t *testing.T) {
	f := Parse("CODEOWNERS", "\ufeff* @a\r\n\r\n*.go\t@b\t@b\r\n*.\xff @c\r\na//b @c\r\n/ @c\r\n*.md @d", false)
	for path, want := range map[string]string{"x": "@a", "x.go": "@b", "x.\xff": "@a", "x.md": "@d", "a/b": "@a"} {
		if got := strings.Join(f.Of(path), " "); got != want {
			t.Errorf("%q: %q, not %q", path, got, want)
		}
	}
	if want := []int{4, 5, 6}; !slices.Equal(f.Skipped, want) {
		t.Errorf("skipped %v, not %v", f.Skipped, want)
	}
}

// FuzzParse: any text is read, in both syntaxes; owners are sorted, printable and from the text.
func FuzzParse(f *testing.F) {
	f.Add(gitHubExample, "apps/github/x")
	f.Add("* @a\n[b][2] @c d@e.f\n!/x/**/*.rb\n\\#y\\ z/ @@owner\n[no\n\\", "x/y.rb")
	f.Add("{a,b}**c\\*[!d] @a\n/**/** @b\n** @c", "{a,b}c*e")
	f.Fuzz(func(t *testing.T, text, path string) {
		for _, place := range Places() {
			file := Parse(place, text, false)
			of := file.Of(path)
			if !slices.IsSorted(of) || len(slices.Compact(slices.Clone(of))) != len(of) {
				t.Errorf("not sorted, or twice: %q", of)
			}
			for _, o := range of {
				if !strings.Contains(text, o) || strings.Trim(o, "@/._%+-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
					t.Errorf("%q is no owner", o)
				}
			}
			if !slices.IsSorted(file.Skipped) || len(file.Skipped) > strings.Count(text, "\n")+1 {
				t.Errorf("skipped %v of %q", file.Skipped, text)
			}
		}
	})
}
