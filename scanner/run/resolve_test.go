package run

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/repo"
)

// A gitRepo is a repository whose commits are the sides of changes.
type gitRepo struct {
	*testing.T
	dir  string
	repo *repo.Repository
}

func newGit(t *testing.T) *gitRepo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	g := &gitRepo{T: t, dir: t.TempDir()}
	g.git("init", "-q")
	var err error
	if g.repo, err = repo.Find(g.dir); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *gitRepo) git(args ...string) {
	g.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		g.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// state commits only a bundle in each of the directories: one rule, whose id is the directory's value. "" is a bundle
// with a mistake.
func (g *gitRepo) state(bundles map[string]string) repo.Hash {
	g.Helper()
	g.git("rm", "-rqf", "--ignore-unmatch", ".")
	for dir, id := range bundles {
		dir := filepath.Join(g.dir, filepath.FromSlash(dir), "rules")
		if err := os.MkdirAll(dir, 0o777); err != nil {
			g.Fatal(err)
		}
		for name, text := range map[string]string{"boundaries.yml": boundary(id), "invariants.yml": "rules: []\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				g.Fatal(err)
			}
		}
	}
	g.git("add", "-A")
	g.git("commit", "-q", "--allow-empty", "-m", "state")
	h, err := g.repo.Commit("HEAD")
	if err != nil {
		g.Fatal(err)
	}
	return h
}

func boundary(id string) string {
	return "rules:\n  - id: \"" + id + "\"\n    title: t\n    enforcement: {mode: fail}\n" +
		"    match: {files: [\"**\"], forbidden_patterns: [\"x\"]}\n"
}

// rulesOf returns the enforced rules, each with its source.
func rulesOf(judges []RuleSource) string {
	var words []string
	for _, j := range judges {
		for _, r := range j.Bundle.Rules {
			words = append(words, j.From+":"+r.ID)
		}
	}
	return strings.Join(words, " ")
}

// TestChangeJudges: a change is checked by the base's rules and by its own.
func TestChangeJudges(t *testing.T) {
	g := newGit(t)
	strict, lax := g.state(map[string]string{".policyscan": "S"}), g.state(map[string]string{".policyscan": "L"})
	none, broken := g.state(nil), g.state(map[string]string{".policyscan": ""})
	root, twice := g.state(map[string]string{".": "R"}), g.state(map[string]string{".": "R", ".policyscan": "S"})
	moved := g.state(map[string]string{"policy": "M"})
	const removed, mistake, two = "E_POLICY_MISSING", "E_POLICY_VALUE", "E_POLICY_TWO"
	for name, c := range map[string]struct {
		base, head repo.Hash // the zero base: none
		policies   []string
		ref        repo.Hash
		want       string // the enforced rules
		named      string // the end of their bundles' names
		inUse      int    // rule files
		wrong, err string // the codes of mistakes, of the head and of the run
	}{
		"both":               {base: strict, head: lax, want: "base:S head:L", named: ")", inUse: 4},
		"bundle moved":       {base: strict, head: root, want: "base:S head:R", named: ")", inUse: 4},
		"bundle introduced":  {base: none, head: lax, want: "bootstrap:L", named: ", which introduces it", inUse: 2},
		"bundle removed":     {base: strict, head: none, want: "base:S", named: ")", inUse: 2, wrong: removed},
		"bundle broken":      {base: strict, head: broken, want: "base:S", named: ")", inUse: 2, wrong: mistake},
		"two in the head":    {base: strict, head: twice, want: "base:S", named: ")", inUse: 2, wrong: two},
		"two in the base":    {base: twice, head: root, want: "base:S base:R head:R", named: ")", inUse: 6},
		"broken base":        {base: broken, head: strict, err: mistake},
		"no bundle":          {base: none, head: none, err: removed},
		"no base":            {head: lax, want: "head:L", named: ")", inUse: 2},
		"no base, no bundle": {head: none, err: removed},
		"another commit's":   {base: broken, head: none, ref: strict, want: "commit:S", named: ")", inUse: 2},
		"named, not in base": {
			base: strict, head: moved, policies: []string{"policy"},
			want: "base:S head:M", named: ")", inUse: 4,
		},
		"named, in no base": {
			base: none, head: moved, policies: []string{"policy"},
			want: "bootstrap:M", named: "it", inUse: 2,
		},
		"the program's": {
			base: strict, head: lax, policies: []string{Builtin},
			want: "outside:O", named: "the outside",
		},
		"the program's, too": {
			base: strict, head: lax, policies: []string{Builtin, ""},
			want: "outside:O base:S head:L", named: ")", inUse: 4,
		},
		"the program's, and a commit": {base: strict, head: lax, policies: []string{Builtin}, ref: strict,
			err: "not mistakes"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Policies: []string{""}}
			if c.policies != nil {
				o.Policies = slices.Clone(c.policies)
				for i, p := range o.Policies {
					if p != "" && p != Builtin {
						o.Policies[i] = filepath.Join(g.repo.WorkTree, p)
					}
				}
			}
			change := change{head: side{name: "the head", commit: c.head}}
			if !c.base.IsZero() {
				change.base = &side{name: "the base", commit: c.base, hint: "the way out", from: fromBase}
			}
			if !c.ref.IsZero() {
				o.PolicyRef = c.ref.String()
			}
			o.Load = func(string) (RuleSource, error) {
				own := rules.Rule{ID: "O", Type: rules.Boundary, Files: []string{"**"}, Patterns: rules.PlainItems("x")}
				return RuleSource{From: "outside", Name: "the outside", Bundle: rules.New([]rules.Rule{own}, nil)}, nil
			}
			got := &Run{Options: o, Repo: g.repo, Place: Place{Root: g.dir}}
			err := got.loadBundles(change)
			if code := codeOf(err); code != c.err {
				t.Fatalf("%v: got %s, want %s", err, code, c.err)
			}
			if err != nil {
				if strings.Contains(name, "broken base") && !strings.HasSuffix(err.Error(), "; the way out") {
					t.Errorf("%v: the way out is missing", err)
				}
				if got.Sources != nil {
					t.Errorf("%+v", got.Sources)
				}
				return
			}
			r := rulesOf(got.Sources)
			if r != c.want || !strings.HasSuffix(got.Policy, c.named) || len(got.RuleFiles) != c.inUse {
				t.Errorf("judged by %s of %q with %d files, want %s", r, got.Policy, len(got.RuleFiles), c.want)
			}
			var wrong []string
			for _, e := range got.Errors {
				wrong = append(wrong, e.Code)
			}
			if w := strings.Join(wrong, " "); w != c.wrong {
				t.Errorf("wrong with the head is %v, want %s", got.Errors, c.wrong)
			}
			for _, j := range got.Sources {
				if want := map[string]repo.Hash{
					"base": c.base, "head": c.head, "bootstrap": c.head, "commit": c.ref, "outside": {},
				}[j.From]; j.Commit != want.String() && (!want.IsZero() || j.Commit != "") {
					t.Errorf("the bundle from the %s is of commit %q, want %s", j.From, j.Commit, want)
				}
			}
		})
	}
}

// codeOf returns the code of the first mistake in an error; "" for no error.
func codeOf(err error) string {
	var mistakes document.Errors
	var mistake *document.Error
	switch {
	case errors.As(err, &mistakes):
		return mistakes[0].Code
	case errors.As(err, &mistake):
		return mistake.Code
	case err != nil:
		return "not mistakes"
	}
	return ""
}

// TestStagedJudges: the index is checked by the bundles of HEAD and of the index; before the first commit, by the
// latter.
func TestStagedJudges(t *testing.T) {
	g := newGit(t)
	head := g.state(map[string]string{".policyscan": "S"})
	file := filepath.Join(g.dir, ".policyscan", "rules", "boundaries.yml")
	if err := os.WriteFile(file, []byte(boundary("L")), 0o666); err != nil {
		t.Fatal(err)
	}
	g.git("add", "-A")
	idx, err := g.repo.Index()
	if err != nil {
		t.Fatal(err)
	}
	for want, commit := range map[string]repo.Hash{"base:S index:L": head, "bootstrap:L": {}} {
		base := side{name: "HEAD", commit: commit, from: fromBase}
		got := &Run{Options: Options{Policies: []string{""}}, Repo: g.repo, Place: Place{Root: g.dir}}
		err := got.loadBundles(change{base: &base, head: side{name: "the index", index: idx}})
		if r := rulesOf(got.Sources); err != nil || r != want || got.Sources[len(got.Sources)-1].Commit != "" {
			t.Errorf("judged by %s, %v; want %s", r, err, want)
		}
	}
}
