package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const verifiedRules = `bundle: "0.2"
rules:
  - id: NET-1
    title: No ingress from anywhere
    enforcement: {mode: fail}
    match:
      files: ["**/*.tf"]
      exclude: ["**/skipped.tf"]
      forbidden_patterns: ["0.0.0.0/0"]
    message: Not from anywhere
    remediation: Name a network
    docs_url: https://example.com/net
    owner: net
    severity: high
    tags: [network]
  - id: KEY-1
    title: No latest image
    enforcement: {mode: fail}
    match: {files: ["**/*.yml"], forbidden_patterns: [{key: image, is: latest}]}
  - id: FILE-1
    title: No keys
    enforcement: {mode: fail}
    match: {forbidden_files: ["**/*.pem"]}
`

const verifiedInvariants = `bundle: "0.2"
rules:
  - id: LICENCE-1
    title: A licence
    enforcement: {mode: fail}
    match: {required_files: [/LICENCE]}
`

const verifiedAllowances = `bundle: "0.2"
allowances:
  - {rule: NET-1, file: allowed.tf, at_most: 2, owner: net, reason: "T-1", until: 2026-12-01}
`

// aLeaf is a line of a verdict with a value: what is before it, the value, and what follows.
var aLeaf = regexp.MustCompile(`^(\s+(?:"[a-z0-9_]+": )?)("(?:[^"\\]|\\.)*"|-?[0-9]+|true|false)(,?)$`)

// otherLeaf returns the line with another value of the same type.
func otherLeaf(line string) (other string, is bool) {
	m := aLeaf.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	value := m[2] + "1"
	switch {
	case m[2] == "true":
		value = "false"
	case m[2] == "false":
		value = "true"
	case strings.HasPrefix(m[2], `"`):
		value = strings.TrimSuffix(m[2], `"`) + `x"`
	}
	return m[1] + value + m[3], true
}

// TestVerify_EachLeaf: of a commit, of a change and of an undecided run, with objects named by SHA-1 and SHA-256, the
// verdict is the same, and with any value changed, or any line removed, it is not. Without -long, only the change by
// SHA-1 has each value changed.
func TestVerify_EachLeaf(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		g := newGit(t)
		if err := os.RemoveAll(g.path(".git")); err != nil {
			t.Fatal(err)
		}
		g.git("init", "-q", "-b", "main", "--template=", "--object-format="+format)
		for name, content := range map[string]string{
			".policyscan/rules/boundaries.yml": verifiedRules, ".policyscan/rules/invariants.yml": verifiedInvariants,
			".policyscan/rules/allowances.yml": verifiedAllowances, "LICENCE": "free\n", "skipped.tf": "0.0.0.0/0\n",
			"old.tf": "one 0.0.0.0/0\n", "allowed.tf": "one 0.0.0.0/0\ntwo 0.0.0.0/0\n",
		} {
			g.put(name, content)
		}
		g.commit("base")
		g.git("checkout", "-q", "-b", "work")
		g.put("old.tf", "one 0.0.0.0/0\ntwo 0.0.0.0/0 \x1b[31m\n")
		g.put("allowed.tf", "\none 0.0.0.0/0\ntwo 0.0.0.0/0\n")
		g.put("a.yml", "name: x\nimage: latest\n")
		g.put("key.pem", "secret\n")
		g.put(".policyscan/rules/boundaries.yml", strings.Replace(verifiedRules, "is: latest", "is: [latest, '']", 1))
		g.git("rm", "-q", "LICENCE")
		g.commit("harm")
		g.put("broken.yml", "image: [\n")
		g.git("rm", "-q", "-r", "old.tf", "allowed.tf", "a.yml", "key.pem")
		g.put("LICENCE", "free\n")
		g.commit("undecided")
		t.Chdir(g.path(""))
		for _, row := range []struct {
			status int
			args   string
		}{
			{exitViolation, "--rev HEAD~1"}, {exitViolation, "--diff-base main --head HEAD~1"},
			{exitUndecided, "--diff-base main --allow lfs-pointer"}, {exitUndecided, "--rev HEAD"},
		} {
			args := append(strings.Fields(row.args), "--quiet", "--as-of", "2099-01-01", "--output", "-")
			if row.args == "--rev HEAD~1" { // with an allowance that ends soon
				args[len(args)-3] = "2026-11-29"
			}
			status, text, said := fed("", args...)
			if got, out, _ := fed(text, "verify", "-"); status != row.status || got != exitPass {
				t.Errorf("%s: status %d, then %d\n%s%s", row.args, status, got, out, said)
				continue
			}
			step := 20
			if *long || format == "sha1" && row.args == "--diff-base main --head HEAD~1" {
				step = 1
			}
			checkEachLeaf(t, format+": "+row.args, text, step)
		}
	}
}

// checkEachLeaf changes the value of each line of a verdict, or of each step-th, and then also removes that line: it is
// never the same. An --allow without any effect is kept: a run without it gives the same.
func checkEachLeaf(t *testing.T, what, text string, step int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	leaves, different := 0, 0
	for i := 0; i < len(lines); i += step {
		line, around := lines[i], func(now ...string) string {
			return strings.Join(slices.Concat(lines[:i], now, lines[i+1:]), "\n") + "\n"
		}
		var changed []string
		if other, is := otherLeaf(line); is {
			leaves++
			changed = append(changed, around(other))
		}
		if (*long || step > 1) && !strings.Contains(line, "lfs-pointer") {
			changed = append(changed, around())
		}
		for _, one := range changed {
			switch status, out, said := fed(one, "verify", "-"); {
			case status != exitViolation && status != exitUndecided || said != "" || strings.Count(out, "\n") != 1,
				strings.Contains(out, "\x1b"):
				t.Errorf("%s: with another %s: status %d: %s%s", what, line, status, out, said)
			case len(one) >= len(text)-1 && status == exitViolation:
				different++
				// Whether each commit was checked is read from the verdict, and the counts then differ.
				if !strings.Contains(out, fmt.Sprintf("(line %d) is ", i+1)) && !strings.Contains(line, "each_commit") {
					t.Errorf("%s: with another %s: %s", what, line, out)
				}
			}
		}
	}
	// The others are names, hashes, versions and codes, by which another run is meant.
	if leaves < 3 || different < leaves/2 || step == 1 && leaves < 80 {
		t.Errorf("%s: of %d values, %d are a difference", what, leaves, different)
	}
	t.Logf("%s: %d lines, %d values, %d of them a difference", what, len(lines), leaves, different)
}

// TestVerify_PartialClone: a clone without the file's earlier version takes everything in it as new. That is neither
// the same nor a difference.
func TestVerify_PartialClone(t *testing.T) {
	g := newGit(t)
	g.git("config", "uploadpack.allowFilter", "true")
	g.put("main.tf", "one 0.0.0.0/0\n")
	g.commit("base")
	g.git("checkout", "-q", "-b", "work")
	g.put("main.tf", "one 0.0.0.0/0\ntwo\n")
	g.commit("more")
	g.gitIn("", "", "clone", "-q", "--filter=blob:none", "file://"+g.path(""), "partial")
	g.gitIn("partial", "", "branch", "main", "origin/main")
	for in, other := range map[string]string{"repo": "partial", "partial": "repo"} {
		at := func(dir string) program {
			p := g.program
			p.dir += "/" + dir
			return p
		}
		at(in).run("--diff-base", "main", "--policy", "../policy", "--output", "../"+in+".json").want(t, exitViolation)
		args := []string{"verify", "--policy", "../policy", "../" + in + ".json"}
		at(in).run(args...).want(t, exitPass)
		if e := at(other).run(args...).want(t, exitUndecided); !strings.Contains(e.out, "what is new in main.tf depends on") {
			t.Error(e.out)
		}
	}
}
