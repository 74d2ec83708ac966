package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// TestFault_028_CaseCollision: two names that differ only in case are two files of a
// commit, even where no work tree could hold both.
func TestFault_028_CaseCollision(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	bad, good := g.object("blob", "cidr = \"0.0.0.0/0\"\n"), g.object("blob", "cidr = \"10.0.0.0/8\"\n")
	base := g.git("commit-tree", "-m", "base", g.tree("100644 blob "+good+"\tmain.tf"))
	for _, c := range []struct{ upper, lower, saying string }{
		{bad, bad, "FAIL NET-1@A.tf NET-1@DIR/a.tf NET-1@a.tf NET-1@dir/a.tf"},
		{bad, good, "FAIL NET-1@A.tf NET-1@DIR/a.tf"},
		{good, bad, "FAIL NET-1@a.tf NET-1@dir/a.tf"},
	} {
		head := g.git("commit-tree", "-m", "both", "-p", base, g.tree(
			"100644 blob "+c.upper+"\tA.tf", "100644 blob "+c.lower+"\ta.tf", "100644 blob "+good+"\tmain.tf",
			"040000 tree "+g.tree("100644 blob "+c.upper+"\ta.tf")+"\tDIR", "040000 tree "+g.tree("100644 blob "+c.lower+"\ta.tf")+"\tdir"))
		g.judge("--diff-base "+base+" --head "+head, exitViolation, c.saying)
		if n := g.verdict().Coverage.Scanned; n != 4 {
			t.Errorf("%d files are scanned, want 4", n)
		}
	}
}

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
	case "folder":
		lines := []string{"100644 blob " + blob + "\tinner.tf", "120000 blob " + blob + "\tlink"}
		if version == 2 {
			lines = append(lines, "100755 blob "+blob+"\tmore.tf")
		}
		return []string{"040000 tree " + g.tree(lines...) + "\t" + name}
	}
	return nil // absent
}

// TestFault_119_AgainstDiffTree: every kind of entry becomes every other, with the same object and with another, and
// renames, copies and odd names. The scanned files are exactly those of git diff-tree.
func TestFault_119_AgainstDiffTree(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.program.write("policy/rules/boundaries.yml", strings.NewReplacer("**/*.tf", "**", "0.0.0.0/0", "needle").Replace(oneRule))
	kinds := []string{"absent", "file", "executable", "link", "submodule", "folder"}
	first, second := g.object("blob", "needle"), g.object("blob", "another needle")
	var olds, news []string
	for _, from := range kinds {
		for _, to := range kinds {
			same, other := from+" to "+to, from+" to another "+to
			olds = append(append(olds, g.entry(from, first, 1, same)...), g.entry(from, first, 1, other)...)
			news = append(append(news, g.entry(to, first, 1, same)...), g.entry(to, second, 2, other)...)
		}
	}
	for _, name := range []string{"line\nfeed", "tab\t", `back\slash`, `"quoted"`, "not \xff UTF-8", "not \xfe UTF-8", "ü", "--help", " "} {
		news = append(news, "100644 blob "+first+"\t"+name)
	}
	olds = append(olds, "100644 blob "+second+"\trenamed from", "100644 blob "+second+"\tcopied from")
	news = append(news, "100644 blob "+second+"\trenamed to", "100644 blob "+second+"\tcopied from", "100644 blob "+second+"\tcopied to")
	base := g.git("commit-tree", "-m", "base", g.tree(olds...))
	head := g.git("commit-tree", "-m", "head", "-p", base, g.tree(news...))

	var files, submodules []string
	deleted := 0
	fields := strings.Split(strings.TrimSuffix(g.git("diff-tree", "-r", "-z", "--no-renames", base, head), "\x00"), "\x00")
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

	g.run("--policy", "policy", "--diff-base", base, "--head", head, "--allow", "submodule", "repo").want(t, exitViolation)
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
	if c := v.Coverage; c.Deleted != deleted || c.Files != len(files)+len(submodules) || c.Scanned != len(files) || !v.Complete {
		t.Errorf("%d deleted, %d files, %d scanned, complete: %v; git lists %d deletions", c.Deleted, c.Files, c.Scanned, v.Complete, deleted)
	}
}

// TestFault_121_Commits: a commit that is ambiguous, or that lacks a mandatory header, is an error.
func TestFault_121_Commits(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	base, head := g.change()
	good, bad := g.git("rev-parse", "main^{tree}"), g.git("rev-parse", "work^{tree}")
	const author, committer = "author a <a@example.com> 1700000000 +0000\n", "committer a <a@example.com> 1700000000 +0000\n"
	const end = "\nmessage\n"
	parent := "parent " + base + "\n"
	for name, text := range map[string]string{
		"two trees":                "tree " + good + "\ntree " + bad + "\n" + parent + author + committer + end,
		"a tree after the parents": "tree " + good + "\n" + parent + "tree " + bad + "\n" + author + committer + end,
		"a tree at the end":        "tree " + good + "\n" + parent + author + committer + "tree " + bad + "\n" + end,
		"a parent at the end":      "tree " + bad + "\n" + author + committer + parent + end,
		"two authors":              "tree " + bad + "\n" + parent + author + author + committer + end,
		"two committers":           "tree " + bad + "\n" + parent + author + committer + committer + end,
		"no tree":                  parent + author + committer + end,
		"no author":                "tree " + bad + "\n" + parent + committer + end,
		"no committer":             "tree " + bad + "\n" + parent + author + end,
		"parents before the tree":  parent + "tree " + bad + "\n" + author + committer + end,
		"a tree that is no hash":   "tree " + bad[:39] + "\n" + parent + author + committer + end,
		"a long tree":              "tree " + bad + "0\n" + parent + author + committer + end,
		"a parent that is no hash": "tree " + bad + "\nparent main\n" + author + committer + end,
		"another case":             "Tree " + bad + "\n" + parent + author + committer + end,
		"nothing":                  "",
		"only a message":           end,
	} {
		spoiled := g.object("commit", text)
		for _, args := range []string{"--diff-base main --head " + spoiled, "--diff-base " + spoiled} {
			g.run(append(strings.Fields(args), "--policy", "policy", "repo")...).want(t, exitUndecided)
			if v := g.verdict(); len(v.Errors) != 1 || v.Errors[0].Code != "E_OBJECT" || !strings.Contains(v.Errors[0].Message, spoiled) {
				t.Errorf("%s: %s: %+v", name, args, v.Errors)
			}
		}
	}
	// What follows the committer is free, and so is the message.
	for name, text := range map[string]string{
		"an encoding":         committer + "encoding latin1\n" + end,
		"a signature":         committer + "gpgsig -----BEGIN PGP SIGNATURE-----\n \n tree " + good + "\n" + end,
		"a merged tag":        committer + "mergetag object " + head + "\n type commit\n tree x\n" + end,
		"a header of no kind": committer + "note a\nnote b\n" + end,
		"a telling message":   committer + "\ntree " + good + "\nparent " + good + "\n",
		"no message":          committer + "\n",
		"an odd date":         strings.Replace(committer, "1700000000", "-1e9", 1) + end,
	} {
		t.Run(name, func(t *testing.T) {
			g.sub(t).judge("--diff-base main --head "+g.object("commit", "tree "+bad+"\n"+parent+author+text), exitViolation, "FAIL NET-1@bad.tf")
		})
	}
}

// TestFault_124_Submodule: a submodule's files are not in this repository. If a rule could apply to them, the run is
// undecided unless that is allowed.
func TestFault_124_Submodule(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	link := func(hash, path string) {
		g.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(hash, 40)+","+path)
	}
	commit := func(branch string) { // of the index
		g.git("commit", "-q", "-m", branch)
		g.git("branch", branch)
	}
	g.put("main.tf", "cidr = \"10.0.0.0/8\"\n")
	g.git("add", "main.tf")
	commit("base")
	link("1", "vendor/sub")
	commit("added")
	link("2", "vendor/sub")
	commit("changed")
	g.git("update-index", "--force-remove", "vendor/sub")
	commit("removed")

	for _, args := range []string{"--diff-base base --head added", "--diff-base added --head changed"} {
		g.judge(args, exitUndecided, "UNDECIDED E_UNAVAILABLE", "it is a submodule", "--allow submodule")
		if v := g.verdict(); v.Errors[0].File != "vendor/sub" || len(v.Coverage.NotScanned) != 1 {
			t.Errorf("%s: %+v, %+v", args, v.Errors, v.Coverage.NotScanned)
		}
		g.judge(args+" --allow lfs-pointer", exitUndecided, "UNDECIDED E_UNAVAILABLE")
		g.judge(args+" --allow submodule", exitPass, "PASS", "vendor/sub: not scanned: submodule")
		if v := g.verdict(); !slices.Equal(v.Allowed, []string{"submodule"}) || !slices.Equal(v.Coverage.NotScanned, []verdict.Omission{{File: "vendor/sub", Reason: "submodule"}}) {
			t.Errorf("%s: allowed %q, not scanned %+v", args, v.Allowed, v.Coverage.NotScanned)
		}
	}
	g.judge("--diff-base changed --head removed", exitPass, "PASS", "there was nothing to scan")

	// With a violation elsewhere both are said, and the violation decides.
	link("3", "vendor/sub")
	g.put("bad.tf", "cidr = \"0.0.0.0/0\"\n")
	g.git("add", "bad.tf")
	commit("both")
	g.judge("--diff-base removed --head both", exitViolation, "FAIL NET-1@bad.tf E_UNAVAILABLE")
	g.judge("--diff-base removed --head both --allow submodule", exitViolation, "FAIL NET-1@bad.tf")

	for glob, saying := range map[string]string{
		"vendor/**":        "UNDECIDED E_UNAVAILABLE",
		"vendor/sub/a.tf":  "UNDECIDED E_UNAVAILABLE",
		"v*/{sub,x}/*.tf":  "UNDECIDED E_UNAVAILABLE",
		"*/*/*/deep/a.tf":  "UNDECIDED E_UNAVAILABLE",
		"terraform/**":     "PASS",
		"*.tf":             "PASS",
		"vendor/*.tf":      "PASS",
		"vendor/subs/*.tf": "PASS",
	} {
		g.program.write("policy/rules/boundaries.yml", strings.Replace(oneRule, "**/*.tf", glob, 1))
		status := exitUndecided
		if saying == "PASS" {
			status = exitPass
		}
		g.judge("--diff-base base --head added", status, saying)
	}
}

const lfsPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// TestFault_125_LFSPointer: a change can put any content behind filter=lfs. Git has only a pointer, not the file's
// content.
func TestFault_125_LFSPointer(t *testing.T) {
	t.Parallel()
	const undecided = "UNDECIDED E_UNAVAILABLE"
	for name, c := range map[string]struct{ path, content, saying, allowed string }{
		"a pointer":              {"a.tf", lfsPointer, undecided, "PASS"},
		"an extended one":        {"a.tf", strings.Replace(lfsPointer, "oid", "ext-0-x sha256:1\noid", 1), undecided, "PASS"},
		"CRLF":                   {"a.tf", strings.ReplaceAll(lfsPointer, "\n", "\r\n"), undecided, "PASS"},
		"with the pattern in it": {"a.tf", lfsPointer + "x-0.0.0.0/0 1\n", "FAIL NET-1@a.tf E_UNAVAILABLE", "FAIL NET-1@a.tf"},
		"no rule selects it":     {"a.png", lfsPointer, "PASS", "PASS"},
		"too long to be one":     {"a.tf", lfsPointer + strings.Repeat("x", 1024), "PASS", "PASS"},
		"after blanks":           {"a.tf", " \n\t\n" + lfsPointer, undecided, "PASS"},
		"before blanks":          {"a.tf", lfsPointer + strings.Repeat("\n", 1<<20), undecided, "PASS"},
		"after words":            {"a.tf", "see\n" + lfsPointer, "PASS", "PASS"},
		"filter=lfs alone":       {"a.tf", "cidr = \"0.0.0.0/0\"\n", "FAIL NET-1@a.tf", "FAIL NET-1@a.tf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			base := g.commit("base")
			g.put(".gitattributes", "* filter=lfs diff=lfs merge=lfs -text\n")
			g.put(c.path, c.content)
			g.commit("behind a filter")
			statuses := map[string]int{"PASS": exitPass, undecided: exitUndecided}
			for args, saying := range map[string]string{"": c.saying, " --allow submodule": c.saying, " --allow lfs-pointer": c.allowed} {
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
				if skipped := strings.Contains(c.saying, "E_UNAVAILABLE"); skipped != (len(v.Coverage.NotScanned) == 1) {
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
		"binary", "-diff", "-text", "text eol=crlf", "text eol=lf", "text=auto", "export-ignore", "export-subst", "ident", "crlf",
		"filter=nothing", "filter=lfs", "merge=ours", "working-tree-encoding=UTF-16LE", "encoding=UTF-16",
		"linguist-generated", "linguist-vendored", "diff=nothing", "whitespace=-all", "delta=false", "policyscan=ignore",
	} {
		t.Run(attribute, func(t *testing.T) {
			g := g.sub(t)
			lines := "*.tf " + attribute + "\n/deep/*.tf " + attribute + "\n" // not for .gitattributes itself
			for _, where := range []string{".gitattributes", "deep/.gitattributes", ".git/info/attributes"} {
				g.put(where, lines)
			}
			attributes := "100644 blob " + g.object("blob", lines) + "\t.gitattributes"
			deep := g.tree(attributes, "100644 blob "+file+"\tbad.tf")
			head := g.git("commit-tree", "-m", attribute, "-p", base, g.tree(attributes, "040000 tree "+deep+"\tdeep"))
			g.judge("--diff-base "+base+" --head "+head, exitViolation, "FAIL NET-1@deep/bad.tf")
			v := g.verdict()
			if e := v.Violations[0].Evidence; e.Offset != int64(strings.Index(content, "0.0.0.0/0")) || e.Line != 3 || e.Encoding != "utf-8" {
				t.Errorf("%+v", e)
			}
			if v.Coverage.Scanned != 1 || v.Coverage.Bytes != int64(len(content)) {
				t.Errorf("%+v", v.Coverage)
			}
		})
	}
}
