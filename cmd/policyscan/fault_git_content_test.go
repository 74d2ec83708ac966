package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// entry are the lines of a tree for a path of one kind: blob is the content of each file
// in it, version 1 or 2 what else differs.
func (g *gitRepo) entry(kind, blob string, version int, name string) []string {
	g.t.Helper()
	switch kind {
	case "file":
		return []string{"100644 blob " + blob + "\t" + name}
	case "executable":
		return []string{"100755 blob " + blob + "\t" + name}
	case "link":
		return []string{"120000 blob " + blob + "\t" + name}
	case "submodule":
		return []string{"160000 commit " + strings.Repeat(fmt.Sprint(version), 40) + "\t" + name}
	case "directory":
		lines := []string{"100644 blob " + blob + "\tinner.tf", "120000 blob " + blob + "\tlink"}
		if version == 2 {
			lines = append(lines, "100755 blob "+blob+"\tmore.tf")
		}
		return []string{"040000 tree " + g.tree(lines...) + "\t" + name}
	}
	return nil // absent
}

// TestFault_028_029_119_AgainstDiffTree: every kind of entry becomes every other, with the same object and with
// another, and renames, copies, odd names, and names that differ in case or normal form alone. The scanned files are
// exactly those of git diff-tree.
func TestFault_028_029_119_AgainstDiffTree(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.program.write("policy/rules/boundaries.yml", strings.NewReplacer("**/*.tf", "**", "0.0.0.0/0",
		"needle").Replace(oneRule))
	kinds := []string{"absent", "file", "executable", "link", "submodule", "directory"}
	first, second := g.object("blob", "needle"), g.object("blob", "another needle")
	var olds, news []string
	for _, from := range kinds {
		for _, to := range kinds {
			same, other := from+" to "+to, from+" to another "+to
			olds = append(append(olds, g.entry(from, first, 1, same)...), g.entry(from, first, 1, other)...)
			news = append(append(news, g.entry(to, first, 1, same)...), g.entry(to, second, 2, other)...)
		}
	}
	for _, name := range []string{"line\nfeed", "tab\t", `back\slash`, `"quoted"`, "not \xff UTF-8", "not \xfe UTF-8",
		"ü", "--help", " ",
		"CASE.tf", "case.tf", "caf\u00e9", "cafe\u0301"} {
		news = append(news, "100644 blob "+first+"\t"+name)
	}
	olds = append(olds, "100644 blob "+second+"\trenamed from", "100644 blob "+second+"\tcopied from")
	news = append(news, "100644 blob "+second+"\trenamed to", "100644 blob "+second+"\tcopied from",
		"100644 blob "+second+"\tcopied to")
	base := g.git("commit-tree", "-m", "base", g.tree(olds...))
	head := g.git("commit-tree", "-m", "head", "-p", base, g.tree(news...))

	var files, submodules []string
	deleted := 0
	fields := strings.Split(strings.TrimSuffix(g.git("diff-tree", "-r", "-z", "--no-renames", base, head), "\x00"),
		"\x00")
	for i := 0; i+1 < len(fields); i += 2 { // ":100644 120000 hash hash T", then the path
		change, name := strings.Fields(fields[i]), verdict.Path(fields[i+1])
		switch {
		case change[4] == "D":
			deleted++
		case change[1] == "160000":
			submodules = append(submodules, name)
		default:
			files = append(files, name)
		}
	}
	if len(files) < 60 || len(submodules) < 8 || deleted < 20 {
		t.Fatalf("git lists %d files, %d submodules, %d deletions", len(files), len(submodules), deleted)
	}

	g.run("--policy", "policy", "--diff-base", base, "--head", head, "--allow", "submodule", "repo").want(t,
		exitViolation)
	v := g.verdict()
	var scanned, not []string
	for i := range v.Violations {
		scanned = append(scanned, v.Violations[i].File)
	}
	for _, n := range v.Coverage.NotScanned {
		if not = append(not, n.File); n.Reason != "submodule" {
			t.Errorf("%s is not scanned: %s", n.File, n.Reason)
		}
	}
	for _, list := range [][]string{files, submodules, scanned, not} {
		slices.Sort(list)
	}
	if !slices.Equal(scanned, files) {
		t.Errorf("scanned\n%q, git lists\n%q", scanned, files)
	}
	if !slices.Equal(not, submodules) {
		t.Errorf("submodules\n%q, git lists\n%q", not, submodules)
	}
	if c := v.Coverage; c.Deleted != deleted || c.Files != len(files)+len(submodules) || c.Scanned != len(files) ||
		!v.Complete {
		t.Errorf("%d deleted, %d files, %d scanned, complete: %v; git lists %d deletions", c.Deleted, c.Files,
			c.Scanned, v.Complete, deleted)
	}
}

// TestFault_121_Commits: a commit that is ambiguous, or that lacks a mandatory header, is an error.
func TestFault_121_Commits(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	base, _ := g.change()
	good, bad := g.git("rev-parse", "main^{tree}"), g.git("rev-parse", "work^{tree}")
	const author, committer = "author a <a@example.com> 1700000000 +0000\n",
		"committer a <a@example.com> 1700000000 +0000\n"
	const end = "\nmessage\n"
	parent := "parent " + base + "\n"
	for name, text := range map[string]string{
		"two trees":              "tree " + good + "\ntree " + bad + "\n" + parent + author + committer + end,
		"a tree at the end":      "tree " + good + "\n" + parent + author + committer + "tree " + bad + "\n" + end,
		"two authors":            "tree " + bad + "\n" + parent + author + author + committer + end,
		"no tree":                parent + author + committer + end,
		"no committer":           "tree " + bad + "\n" + parent + author + end,
		"a tree that is no hash": "tree " + bad[:39] + "\n" + parent + author + committer + end,
		"nothing":                "",
	} {
		spoiled := g.object("commit", text)
		for _, args := range []string{"--diff-base main --head " + spoiled, "--diff-base " + spoiled} {
			g.run(append(strings.Fields(args), "--policy", "policy", "repo")...).want(t, exitUndecided)
			if v := g.verdict(); len(v.Errors) != 1 || v.Errors[0].Code != "E_OBJECT" ||
				!strings.Contains(v.Errors[0].Message, spoiled) {
				t.Errorf("%s: %s: %+v", name, args, v.Errors)
			}
		}
	}
	// What follows the committer is free, and so is the message.
	for name, text := range map[string]string{
		"a signature":       committer + "gpgsig -----BEGIN PGP SIGNATURE-----\n \n tree " + good + "\n" + end,
		"a telling message": committer + "\ntree " + good + "\nparent " + good + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			g.sub(t).judge("--diff-base main --head "+g.object("commit", "tree "+bad+"\n"+parent+author+text),
				exitViolation, "FAIL NET-1@bad.tf")
		})
	}
}

const lfsPointer = "version https://git-lfs.github.com/spec/v1\noid " +
	"sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// TestFault_125_LFSPointer: a change can put any content behind filter=lfs. Git has only a pointer, not the file's
// content.
func TestFault_125_LFSPointer(t *testing.T) {
	t.Parallel()
	const undecided = "UNDECIDED E_UNAVAILABLE"
	for name, c := range map[string]struct{ path, content, saying, allowed string }{
		"a pointer": {"a.tf", lfsPointer, undecided, "PASS"},
		"with the pattern in it": {"a.tf", lfsPointer + "x-0.0.0.0/0 1\n", "FAIL NET-1@a.tf E_UNAVAILABLE",
			"FAIL NET-1@a.tf"},
		"no rule selects it": {"a.png", lfsPointer, "PASS", "PASS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			base := g.commit("base")
			g.put(".gitattributes", "* filter=lfs diff=lfs merge=lfs -text\n")
			g.put(c.path, c.content)
			g.commit("behind a filter")
			statuses := map[string]int{"PASS": exitPass, undecided: exitUndecided}
			for args, saying := range map[string]string{"": c.saying, " --allow submodule": c.saying,
				" --allow lfs-pointer": c.allowed} {
				status, ok := statuses[saying]
				if !ok {
					status = exitViolation
				}
				g.judge("--diff-base "+base+args, status, saying)
				v := g.verdict()
				for _, n := range v.Coverage.NotScanned {
					if n.File != "a.tf" || n.Reason != "lfs-pointer" {
						t.Errorf("not scanned: %+v", n)
					}
				}
				if skipped := strings.Contains(c.saying,
					"E_UNAVAILABLE"); skipped != (len(v.Coverage.NotScanned) == 1) {
					t.Errorf("%q: not scanned: %+v", args, v.Coverage.NotScanned)
				}
			}
		})
	}
}

// TestFault_126_Attributes: no attribute changes the bytes read from the head's blob.
func TestFault_126_Attributes(t *testing.T) {
	t.Parallel()
	const content = "first\r\nsecond $Id$\ncidr = \"0.0.0.0/0\"\n"
	g := newGit(t)
	base := g.commit("base")
	file := g.object("blob", content)
	for _, attribute := range []string{
		"binary", "text eol=crlf", "export-ignore", "export-subst ident", "filter=nothing", "filter=lfs",
		"working-tree-encoding=UTF-16LE", "linguist-generated",
	} {
		lines := "*.tf " + attribute + "\n/deep/*.tf " + attribute + "\n" // not for .gitattributes itself
		g.put(".git/info/attributes", lines)
		attributes := "100644 blob " + g.object("blob", lines) + "\t.gitattributes"
		deep := g.tree(attributes, "100644 blob "+file+"\tbad.tf")
		head := g.git("commit-tree", "-m", attribute, "-p", base, g.tree(attributes, "040000 tree "+deep+"\tdeep"))
		g.judge("--diff-base "+base+" --head "+head, exitViolation, "FAIL NET-1@deep/bad.tf")
		v := g.verdict()
		if e := v.Violations[0].Evidence; e.Line != 3 || e.Encoding != "utf-8" ||
			v.Coverage.Bytes != int64(len(content)) {
			t.Errorf("%s: %+v, %+v", attribute, e, v.Coverage)
		}
	}
}
