package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// bundle writes a bundle's two files into a directory of the worktree.
func (g *gitRepo) bundle(dir, boundaries, invariants string) {
	g.t.Helper()
	g.put(dir+"/rules/boundaries.yml", boundaries)
	g.put(dir+"/rules/invariants.yml", invariants)
}

// judges are a verdict's bundles and then its rules, each with its source.
func (g *gitRepo) judges() string {
	g.t.Helper()
	var words []string
	v := g.verdict()
	for _, p := range v.Policy {
		words = append(words, p.From)
	}
	for _, r := range v.Rules {
		words = append(words, r.From+":"+r.ID)
	}
	return strings.Join(words, " ")
}

const noRules = "rules: []\n"

// laxRule is a bundle of one rule that nothing breaks.
var laxRule = strings.NewReplacer("NET-1", "LAX-1", "0.0.0.0/0", "never there").Replace(oneRule)

// TestFault_088_ChangedBundle: a change to the bundle is checked by the base's rules and by its own.
func TestFault_088_ChangedBundle(t *testing.T) {
	t.Parallel()
	const found, both, alone = "FAIL NET-1@bad.tf", "base head", "base base:NET-1"
	edit := func(old, new string) func(*gitRepo) {
		return func(g *gitRepo) {
			g.put(".policyscan/rules/boundaries.yml", strings.Replace(oneRule, old, new, 1))
		}
	}
	for _, c := range []struct {
		change string
		make   func(g *gitRepo)
		saying string // of a head that breaks the base's rule; of one that does not it is all but the first violation
		judges string
	}{
		{"none", func(*gitRepo) {}, found, both + " base:NET-1"},
		{"a comment", edit("rules:", "# why\nrules:"), found, both + " base:NET-1"},
		{"another rule instead", func(g *gitRepo) { g.bundle(".policyscan", laxRule, noRules) }, found, both + " base:NET-1 head:LAX-1"},
		{"a narrower glob", edit("**/*.tf", "nowhere/*.tf"), found, both + " base:NET-1 head:NET-1"},
		{"an exclusion", edit(`["**/*.tf"]`, `["**/*.tf"], exclude: ["bad.tf"]`), found, both + " base:NET-1 head:NET-1"},
		{"another pattern", edit("0.0.0.0/0", "0.0.0.0/00"), found, both + " base:NET-1 head:NET-1"},
		{"the rule as deprecated", func(g *gitRepo) {
			g.bundle(".policyscan", laxRule, noRules)
			g.put(".policyscan/rules/deprecated.yml", oneRule)
		}, found, both + " base:NET-1 head:LAX-1"},
		{"the rule as an invariant", func(g *gitRepo) {
			g.bundle(".policyscan", noRules, strings.Replace(oneRule, "forbidden_patterns", "required_absent", 1))
		}, found + " NET-1@bad.tf", both + " base:NET-1 head:NET-1"},
		{"a laxer one in the root", func(g *gitRepo) {
			g.git("rm", "-rq", ".policyscan")
			g.bundle(".", laxRule, noRules)
		}, found, both + " base:NET-1 head:LAX-1"},
		{"another rule too", func(g *gitRepo) {
			g.bundle(".policyscan", oneRule+strings.NewReplacer("rules:\n", "", "NET-1", "NET-2", "0.0.0.0/0", "cidr").Replace(oneRule), noRules)
		}, found + " NET-2@bad.tf", both + " base:NET-1 head:NET-2"},
		{"no bundle any more", func(g *gitRepo) { g.git("rm", "-rq", ".policyscan") }, found + " E_POLICY_MISSING", alone},
		{"a file less", func(g *gitRepo) { g.git("rm", "-q", ".policyscan/rules/invariants.yml") }, found + " E_POLICY_MISSING", alone},
		{"no rule any more", func(g *gitRepo) { g.bundle(".policyscan", noRules, noRules) }, found + " E_NO_RULES", alone},
		{"a mistake", edit("title:", "titel:"), found + " E_POLICY_KEY", alone},
		{"a link", func(g *gitRepo) {
			g.git("rm", "-rq", ".policyscan")
			g.bundle("lax", laxRule, noRules)
			if err := os.Symlink("lax", g.path(".policyscan")); err != nil {
				g.t.Skipf("SKIPPED: no links here: %v", err)
			}
		}, found + " E_POLICY_READ", alone},
	} {
		t.Run(c.change, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.bundle(".policyscan", oneRule, noRules)
			base := g.commit("base")
			g.git("checkout", "-q", "-b", "work")
			c.make(g)
			harmless := g.commit("the bundle")
			g.put("bad.tf", "cidr = \"0.0.0.0/0\"\n")
			head := g.commit("harm")

			g.judgeOwn("--diff-base main", exitViolation, c.saying)
			if got := g.judges(); got != c.judges {
				t.Errorf("judged by %s, want %s", got, c.judges)
			}
			v := g.verdict()
			if p := v.Policy; p[0].Commit != base || len(p) == 2 && p[1].Commit != head {
				t.Errorf("the bundles are of %+v, want %s and %s", p, base, head)
			}
			if p := v.Policy; len(p) == 2 && (p[0].SHA256 == p[1].SHA256) != (c.change == "none") {
				t.Errorf("the bundles are %+v", p)
			}
			// The changed rule files contain their own patterns and are not part of the tree, unless their bundle is
			// not in use.
			inUse := len(v.Policy) == 2
			for _, file := range strings.Fields(g.git("diff", "--name-only", "--diff-filter=d", base, harmless, "--", ".policyscan/rules", "rules")) {
				if slices.ContainsFunc(v.Coverage.LeftOut, func(o verdict.Omission) bool { return o.File == file && o.Reason == "rules" }) != inUse {
					t.Errorf("%s: left out are %+v", file, v.Coverage.LeftOut)
				}
			}

			status, saying := exitPass, "PASS"
			if _, code, broken := strings.Cut(c.saying, " E_"); broken {
				status, saying = exitUndecided, "UNDECIDED E_"+code
			}
			args := "--diff-base main --head work~1"
			if c.change == "none" {
				args += " --allow empty"
			}
			g.judgeOwn(args, status, saying)
		})
	}
}

// TestFault_089_Bootstrap: the change that introduces the bundle is checked by it, and the verdict says so. That
// requires a base without any bundle.
func TestFault_089_Bootstrap(t *testing.T) {
	t.Parallel()
	const bootstrap = "which introduces it"
	for _, dir := range []string{".policyscan", ".", "team/policy"} {
		t.Run("in "+dir, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.put("old.tf", "cidr = \"0.0.0.0/0\"\n") // which is not in use any more
			base := g.commit("base")
			g.bundle(dir, oneRule, noRules)
			clean := g.commit("introduce")
			g.put("bad.tf", "cidr = \"0.0.0.0/0\"\n")
			head := g.commit("harm")
			flag := ""
			if dir == "team/policy" {
				flag = " --policy repo/" + dir
			}
			g.judgeOwn("--diff-base "+base+flag, exitViolation, "FAIL NET-1@bad.tf", bootstrap)
			if p := g.verdict().Policy; g.judges() != "bootstrap bootstrap:NET-1" || p[0].Commit != head {
				t.Errorf("judged by %s: %+v", g.judges(), p)
			}
			g.judgeOwn("--diff-base "+base+" --head "+clean+flag, exitPass, "PASS", bootstrap)
			// From then on there are two.
			g.judgeOwn("--diff-base "+clean+flag, exitViolation, "FAIL NET-1@bad.tf")
			if got := g.judges(); got != "base head base:NET-1" {
				t.Errorf("judged by %s", got)
			}
			g.judgeOwn("--policy-ref "+base+" --diff-base "+base+flag, exitUndecided, "UNDECIDED E_POLICY_MISSING")
			g.judgeOwn("--policy-ref HEAD --diff-base "+base+flag, exitViolation, "FAIL NET-1@bad.tf")
			if got := g.judges(); got != "commit commit:NET-1" {
				t.Errorf("judged by %s", got)
			}
		})
	}
	t.Run("neither has one", func(t *testing.T) {
		t.Parallel()
		g := newGit(t)
		g.change()
		g.judgeOwn("--diff-base main", exitUndecided, "UNDECIDED E_POLICY_MISSING", "policyscan init")
	})
	t.Run("a broken one", func(t *testing.T) {
		t.Parallel()
		g := newGit(t)
		base := g.commit("base")
		g.bundle(".policyscan", oneRule, "rules: [\n")
		g.put("bad.tf", "cidr = \"0.0.0.0/0\"\n")
		g.commit("introduce")
		g.judgeOwn("--diff-base "+base, exitUndecided, "UNDECIDED E_POLICY_SYNTAX")
		if v := g.verdict(); len(v.Policy) != 0 {
			t.Errorf("judged by %s", g.judges())
		}
	})
	// A base with a bundle elsewhere, or a broken one, is not a base without a bundle.
	for name, c := range map[string]struct{ dir, invariants, saying string }{
		"in the root":            {".", noRules, "FAIL NET-1@bad.tf"},
		"in .policyscan":         {".policyscan", noRules, "FAIL NET-1@bad.tf"},
		"broken, in the root":    {".", "", "UNDECIDED E_POLICY_EMPTY"},
		"broken, in .policyscan": {".policyscan", "", "UNDECIDED E_POLICY_EMPTY"},
	} {
		t.Run("the base's is "+name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.bundle(c.dir, oneRule, c.invariants)
			base := g.commit("base")
			g.git("rm", "-rq", ".")
			g.bundle("lax", laxRule, noRules)
			g.bundle(".policyscan", laxRule, noRules)
			g.put("bad.tf", "cidr = \"0.0.0.0/0\"\n")
			g.commit("lax")
			status, hint := exitViolation, "of the base ("
			if c.invariants == "" {
				status, hint = exitUndecided, "--policy-ref HEAD"
			}
			g.judgeOwn("--diff-base "+base, status, c.saying, hint)
			g.judgeOwn("--diff-base "+base+" --policy repo/lax", status, c.saying, hint)
		})
	}
}

// The base has a bundle where a full scan finds one (and calls it broken, or loads it).
func TestFault_088_LinkedBundle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ link, to, policy, real string }{
		"rules":              {"rules", "shared/rules", "", "."},
		"a folder above one": {"a", "real", "repo/a/p", "a/p"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGit(t)
			g.bundle("shared", oneRule, noRules)
			g.bundle("real/p", oneRule, noRules)
			if err := os.Symlink(c.to, g.path(c.link)); err != nil {
				t.Fatal(err)
			}
			base := g.commit("base")
			g.git("rm", "-q", c.link)
			g.bundle(c.real, laxRule, noRules)
			g.put("bad.tf", "0.0.0.0/0")
			g.commit("lax")
			args := "--diff-base " + base
			if c.policy != "" {
				args += " --policy " + c.policy
			}
			g.judgeOwn(args, exitUndecided, "UNDECIDED E_POLICY_READ")
		})
	}
	t.Run("a submodule", func(t *testing.T) {
		g := newGit(t)
		g.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",rules")
		g.git("commit", "-q", "-m", "base")
		base := g.git("rev-parse", "HEAD")
		g.git("rm", "-q", "--cached", "rules")
		g.bundle(".", laxRule, noRules)
		g.put("bad.tf", "0.0.0.0/0")
		g.commit("lax")
		g.judgeOwn("--diff-base "+base, exitUndecided, "UNDECIDED E_POLICY_READ")
	})
}
