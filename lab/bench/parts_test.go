//go:build linux

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict/report"
)

// partRows are the rows of shards, commits and fleets, and of reports of many violations.
func (w *world) partRows() []row {
	versus := func(what, against string, ours, peer command, targets ...target) row {
		return row{what, against, targets, func(t *testing.T) map[figure]float64 { return w.versus(t, ours, peer) }}
	}
	ofCommit := func(policy, dir string) command {
		c := w.full(w.scan, policy, ".", "--rev", "HEAD")
		c.dir = dir
		return c
	}
	blobs := command{dir: w.azurermGit, args: shellLine(
		`git ls-tree -r --format='%(objectname)' HEAD | git cat-file --batch --buffer`)}
	return []row{
		versus("`--rev HEAD`, no file covered; azurerm's history", "`git ls-tree -r HEAD`",
			ofCommit("nothing", w.azurermGit), command{dir: w.azurermGit, args: shellLine("git ls-tree -r HEAD")}, target{cpu, 1.60, 1.00}),
		versus("`--rev HEAD`: W1; azurerm's history", "`git ls-tree -r HEAD` and `git cat-file --batch`",
			ofCommit("W1", w.azurermGit), blobs, target{wall, 1.00, 0.70}),
		w.sharding("Linux", "W1", w.linux),
		w.sharding("azurerm", "W1", w.checkout, "--tracked"),
		w.sharding("azurerm", "expressions", w.checkout, "--tracked"),
		w.sharding("azurerm", "W1", w.checkout, "--rev", "HEAD"),
		{
			"`policyscan merge` of 8 shards with 50,000 violations", "the one run that finds them, policyscan too",
			[]target{{cpu, 0, 0}, {peak, 256, 128}}, w.merging,
		},
		versus("`fleet` with the starter bundle: 300 repositories", "a loop of processes",
			w.fleetRun(starter, ""), w.loop(starter), target{cpu, 0.20, 0.10}, target{peak, 128, 64}),
		versus("`fleet` with W1: 300 repositories", "a loop of processes",
			w.fleetRun(w.policies["W1"].bundle, ""), w.loop(w.policies["W1"].bundle), target{cpu, 0, 0}),
		{
			"`fleet --reuse` with W1, in a night after which nothing is new: 300 repositories", "the same without `--reuse`",
			[]target{{cpu, 0, 0}, {peak, 128, 64}}, w.nextNight,
		},
		{
			"an allowance for each file with `password`; azurerm", "the same rule without, policyscan too",
			[]target{{cpu, 1.10, 0}}, w.allowing,
		},
		versus("50,000 violations in 1,250 files", "the same files without any, policyscan too",
			w.full(w.scan, "many", w.many), w.full(w.scan, "none", w.many), target{cpu, 0, 0}, target{peak, 128, 0}),
		versus("50,000 violations, verdict.json and all nine reports", "the same violations, no file written, policyscan too",
			w.reports(), w.full(w.scan, "many", w.many), target{cpu, 0, 0}, target{time1, 3000, 0}, target{peak, 128, 0}),
	}
}

// shellLine is a command that sh runs.
func shellLine(script string, args ...string) []string {
	return append([]string{"sh", "-c", script, "sh"}, args...)
}

// shards has a program scan a tree in 8 parts, one after another, and leaves their files in a directory.
func (w *world) shards(scan command, out string) string {
	line := strings.Join(scan.args, " ")
	line = strings.Replace(line, "--output none", "--output "+out+"/$i.json --shard $i/8", 1)
	return "for i in 0 1 2 3 4 5 6 7; do " + line + "; done; "
}

// sharding compares a scan in 8 parts and the merge with one run.
func (w *world) sharding(name, policy, tree string, scope ...string) row {
	scan := w.full(w.scan, policy, ".", scope...)
	what := policy
	if len(scope) > 0 {
		what = "`" + strings.Join(scope, " ") + "`, " + policy
	}
	return row{
		"8 shards, all together, and their merge: " + what + "; " + name, "one run, policyscan too", []target{{cpu, 1.80, 1.10}},
		func(t *testing.T) map[figure]float64 {
			out := t.TempDir()
			parts := command{dir: tree, args: shellLine(w.shards(scan, out) + w.scan + " merge --output none --quiet " + out + "/*.json")}
			return w.versus(t, parts, command{dir: tree, args: scan.args})
		},
	}
}

// merging compares a merge with the run that finds the same.
func (w *world) merging(t *testing.T) map[figure]float64 {
	out := t.TempDir()
	whole := w.full(w.scan, "many", w.many)
	w.run(t, command{args: shellLine(w.shards(whole, out))})
	merge := []string{w.scan, "merge", "--output", "none", "--quiet"}
	for i := range 8 {
		merge = append(merge, filepath.Join(out, fmt.Sprint(i, ".json")))
	}
	return w.versus(t, command{args: merge}, whole)
}

// starter is the bundle that is in the program.
const starter = "builtin:infra"

// fleetRun scans the fleet in one run. For reuse, "" is no directory of results to use again.
func (w *world) fleetRun(policy, reuse string) command {
	args := []string{w.scan, "fleet", "--repos", w.fleet, "--policy", policy, "--output", w.fleet + "-results", "--quiet"}
	if reuse != "" {
		args = append(args, "--reuse", reuse)
	}
	return command{args: args}
}

// loop scans each repository of the fleet in a separate process.
func (w *world) loop(policy string) command {
	return command{args: shellLine(`for r in "$1"/*.git; do "$2" --rev HEAD --policy "$3" --quiet --output "$1-one.json" "$r"; done`,
		w.fleet, w.scan, policy)}
}

func (w *world) nextNight(t *testing.T) map[figure]float64 {
	policy, reuse := w.policies["W1"].bundle, filepath.Join(t.TempDir(), "reuse")
	w.run(t, w.fleetRun(policy, reuse))
	return w.versus(t, w.fleetRun(policy, reuse), w.fleetRun(policy, ""))
}

// allowing compares a rule whose violations are all allowed with the rule alone.
func (w *world) allowing(t *testing.T) map[figure]float64 {
	dir := t.TempDir()
	bundle := filepath.Join(dir, "policy")
	if err := os.CopyFS(bundle, os.DirFS(w.policies["allowed"].bundle)); err != nil {
		t.Fatal(err)
	}
	verdict := filepath.Join(dir, "verdict.json")
	scan := func(bundle, output string) command {
		return command{args: []string{w.scan, "--policy", bundle, "--output", output, "--quiet", w.azurerm}}
	}
	w.run(t, scan(bundle, verdict))
	shell(t, w.azurerm, w.scan, "allow", "--policy", bundle, "--from", verdict, "--owner", "bench", "--reason", "measured", "--into", bundle)
	return w.versus(t, scan(bundle, "none"), scan(w.policies["allowed"].bundle, "none"))
}

// reports writes every report of many violations.
func (w *world) reports() command {
	c := w.full(w.scan, "many", w.many)
	for i, arg := range c.args {
		if arg == "none" {
			c.args[i] = w.many + "-verdict.json"
		}
	}
	for _, format := range report.Formats() {
		c.args = append(c.args, "--report", format.Name+"="+w.many+"-report."+format.Name)
	}
	return c
}

// writeMany writes 1,250 files that each have 40 texts.
func writeMany(t *testing.T, dir string) {
	t.Helper()
	g := newGenerator()
	for i := range 1250 {
		var b strings.Builder
		for k := range 40 {
			fmt.Fprintf(&b, "%s = \"%s\" # forbidden-%02d\n", g.one(words), g.one(words), k)
		}
		write(t, filepath.Join(dir, fmt.Sprint(i/50), fmt.Sprintf("%d.tf", i)), b.String())
	}
}

// manyRules forbid the texts of writeMany, or others.
func manyRules(text string) (rules []string) {
	for k := range 40 {
		rules = append(rules, ruleText(k, []string{"**"}, []string{fmt.Sprintf("%s-%02d", text, k)}))
	}
	return rules
}

// writeFleet makes 300 bare repositories: each has one commit, of a directory of azurerm, and the objects of its history.
func writeFleet(t *testing.T, dir, from string) {
	t.Helper()
	git := func(args ...string) string {
		out, err := exec.Command("git", args...).Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	objects := git("-C", from, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	trees := strings.Fields(git("-C", from, "ls-tree", "-r", "-d", "--format=%(objectname)", "HEAD:internal/services"))
	for i := range 300 {
		name := filepath.Join(dir, fmt.Sprintf("%03d.git", i))
		git("init", "--quiet", "--bare", "--initial-branch=main", name)
		write(t, filepath.Join(name, "objects", "info", "alternates"), objects+"\n")
		commit := git("-C", name, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit-tree", "-m", "one", trees[i%len(trees)])
		git("-C", name, "update-ref", "refs/heads/main", commit)
	}
}
