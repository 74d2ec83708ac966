//go:build linux

package bench

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A target is what a row has to reach; 0 means no target.
type target struct {
	figure       figure
	must, beyond float64
}

// A row is one comparison.
type row struct {
	what, against string
	targets       []target
	measure       func(t *testing.T) map[figure]float64
}

func (r row) wanted() bool { return strings.Contains(r.what+" "+r.against, *only) }

func (r row) run(t *testing.T) result { return result{r, r.measure(t)} }

// A result is a row that was measured.
type result struct {
	row
	got map[figure]float64
}

func (r result) String() string {
	return fmt.Sprintf("%s; %s: wall %.2f, cpu %.2f, %.0f MiB, %.1f ms, %.1f MiB read", r.what, r.against,
		r.got[wall], r.got[cpu], r.got[peak], r.got[time1], r.got[read1])
}

// full is a scan of a tree. Links are allowed: some of Linux lead out of what the globs of W2 and W3 select.
func (w *world) full(program, policy, tree string, more ...string) command {
	args := []string{program, "--policy", w.policies[policy].bundle, "--output", "none", "--quiet", "--allow", "symlink"}
	return command{args: append(append(args, more...), tree)}
}

// ripgrep searches a tree for a policy's patterns.
func (w *world) ripgrep(policy, tree string, more ...string) command {
	return command{args: append(append([]string{w.rg, "-F", "-f", w.policies[policy].patterns, "-uuu"}, more...), tree)}
}

// conftestRun tests a tree with policies in Rego.
func (w *world) conftestRun(policy, tree string) command {
	dir := filepath.Join(filepath.Dir(w.policies["keys"].bundle), policy)
	return command{args: []string{w.conftest, "test", "--policy", dir, "--no-color", "--quiet", tree}}
}

// expressions has ripgrep search a tree for a policy's expressions, whose classes are ASCII's, as in policyscan.
func (w *world) expressions(policy, tree string) command {
	return command{args: []string{w.rg, "--no-unicode", "-f", w.policies[policy].patterns, "-uuu", "-o", tree}}
}

// diff is a scan of what changed in a git directory.
func (w *world) diff(policy, dir, base string) command {
	return command{dir: dir, args: []string{w.scan, "--policy", w.policies[policy].bundle, "--output", "none", "--quiet", "--diff-base", base}}
}

func gitDiff(dir, base string) command {
	return command{args: []string{"git", "-C", dir, "diff", "--name-only", base + "...HEAD"}}
}

func gitDiffRead(dir, base string) command {
	return command{dir: dir, args: []string{"sh", "-c", "git diff --raw --no-renames --no-abbrev " + base + "...HEAD | cut -d' ' -f4 | git cat-file --batch"}}
}

// past judges all changes of a branch by 20 rules.
func (w *world) past(dir string) command {
	return command{args: []string{w.scan, "history", "--policy", w.policies["W1-20"].bundle, "--since", "1970-01-01", "--quiet", dir}}
}

// gitPastRead lists the same changes and reads the same blobs, with two processes as w.past has two threads.
func gitPastRead(dir string) command {
	return command{dir: dir, args: []string{"sh", "-c", "git log --raw --first-parent -m -r --no-renames --no-abbrev --format= HEAD | " +
		"cut -d' ' -f4 | sort -u | git cat-file --batch --buffer"}}
}

func rows(w *world) []row {
	versus := func(what, against string, ours, peer command, targets ...target) row {
		return row{what, against, targets, func(t *testing.T) map[figure]float64 { return w.versus(t, ours, peer) }}
	}
	tracked := w.full(w.scan, "W3", ".", "--tracked")
	tracked.dir = w.checkout
	globs := []string{"-g", "*.tf", "-g", "*.yaml"}
	return append([]row{
		versus("W1: 20 patterns, some of 3 bytes, all files; Linux", "`rg -l`",
			w.full(w.scan, "W1", w.linux), w.ripgrep("W1", w.linux, "-l"), target{wall, 0.80, 0.60}, target{peak, 32, 16}),
		versus("W1; azurerm", "`rg -l`",
			w.full(w.scan, "W1", w.azurerm), w.ripgrep("W1", w.azurerm, "-l"), target{wall, 0.80, 0.60}),
		versus("20 patterns of 7 bytes and more; Linux", "`rg -l`",
			w.full(w.scan, "W1-7", w.linux), w.ripgrep("W1-7", w.linux, "-l"), target{wall, 0, 0}),
		versus("W2: 200 rules, each with its own 5 patterns and globs; Linux", "one `rg -l` of W1",
			w.full(w.scan, "W2", w.linux), w.ripgrep("W1", w.linux, "-l"), target{wall, 1.00, 0.80}, target{peak, 96, 32}),
		versus("W2; azurerm", "one `rg -l` of W1",
			w.full(w.scan, "W2", w.azurerm), w.ripgrep("W1", w.azurerm, "-l"), target{wall, 1.00, 0.80}),
		versus("W2; Linux", "`rg -o` with the 1,000 patterns",
			w.full(w.scan, "W2", w.linux), w.ripgrep("W2", w.linux, "-o"), target{wall, 0.35, 0.20}),
		versus("W3: rules for `**/*.tf` and `**/*.yaml` only; Linux", "`rg -l -g`",
			w.full(w.scan, "W3", w.linux), w.ripgrep("W3", w.linux, append(globs, "-l")...), target{wall, 0.70, 0.30}),
		versus("W3; azurerm", "`rg -l -g`",
			w.full(w.scan, "W3", w.azurerm), w.ripgrep("W3", w.azurerm, append(globs, "-l")...), target{wall, 0.70, 0.30}),
		versus("W3 from the index (`--tracked`); azurerm", "`rg -l -g`",
			tracked, w.ripgrep("W3", w.azurerm, append(globs, "-l")...), target{wall, 0.40, 0.30}),
		versus("100 patterns, all files; Linux", "`rg -o`",
			w.full(w.scan, "P100", w.linux), w.ripgrep("P100", w.linux, "-o"), target{cpu, 0.40, 0.25}),
		versus("100 patterns, 20 of them those of W1; Linux", "`rg -o`",
			w.full(w.scan, "P100-W1", w.linux), w.ripgrep("P100-W1", w.linux, "-o"), target{cpu, 0, 0}),
		versus("1,000 patterns; Linux", "`rg -o`",
			w.full(w.scan, "P1000", w.linux), w.ripgrep("P1000", w.linux, "-o"), target{cpu, 0.55, 0.30}),
		versus("10,000 patterns; Linux", "`rg -o`",
			w.full(w.scan, "P10000", w.linux), w.ripgrep("P10000", w.linux, "-o"), target{cpu, 0.50, 0.30}),
		versus("1,000 patterns; Linux", "1 pattern, policyscan too",
			w.full(w.scan, "P1000", w.linux), w.full(w.scan, "P1", w.linux), target{wall, 3.0, 2.0}),
		versus("200 texts with options; azurerm", "the same without, policyscan too",
			w.full(w.scan, "options", w.azurerm), w.full(w.scan, "texts", w.azurerm), target{cpu, 1.30, 0}, target{peak, 96, 0}),
		versus("200 texts with options; Linux", "the same without, policyscan too",
			w.full(w.scan, "options", w.linux), w.full(w.scan, "texts", w.linux), target{cpu, 1.30, 0}),
		versus("50 expressions; azurerm", "`rg -o`",
			w.full(w.scan, "expressions", w.azurerm), w.expressions("expressions", w.azurerm), target{cpu, 2.00, 0}, target{peak, 96, 0}),
		versus("50 expressions; Linux", "`rg -o`",
			w.full(w.scan, "expressions", w.linux), w.expressions("expressions", w.linux), target{cpu, 2.00, 0}),
		versus("50 expressions, each with `func`; azurerm", "`rg -o`",
			w.full(w.scan, "func", w.azurerm), w.expressions("func", w.azurerm), target{cpu, 0, 0}),
		versus("100 rules with keys; 10,000 files of YAML", "one rule that has them parsed, policyscan too",
			w.full(w.scan, "keys", w.manifests), w.full(w.scan, "parsing", w.manifests), target{cpu, 2.00, 0}, target{peak, 96, 0}),
		versus("100 rules with keys, half of them with `if`; 10,000 files of YAML", "the same without `if`, policyscan too",
			w.full(w.scan, "keys-if", w.manifests), w.full(w.scan, "keys", w.manifests), target{cpu, 1.25, 0}),
		versus("100 rules with keys; 10,000 files of YAML", "`conftest test` with the same 100 policies",
			w.full(w.scan, "keys", w.manifests), w.conftestRun("keys-rego", w.manifests), target{cpu, 0.20, 0}),
		versus("422 MB in one line", "`rg -l`",
			w.full(w.scan, "W1-7", w.line), w.ripgrep("W1-7", w.line, "-l"), target{wall, 0.50, 0}, target{peak, 32, 0}),
		versus("`--diff-base HEAD~1`; azurerm's history", "`git diff --name-only BASE...HEAD`",
			w.diff("W1", w.azurermGit, "HEAD~1"), gitDiff(w.azurermGit, "HEAD~1"),
			target{time1, 20, 0}, target{wall, 2.5, 1.5}, target{read1, 2.5, 0}),
		versus("`--diff-base HEAD~1`; rails' history", "`git diff --name-only BASE...HEAD`",
			w.diff("W1", w.railsGit, "HEAD~1"), gitDiff(w.railsGit, "HEAD~1"),
			target{time1, 20, 0}, target{wall, 2.5, 1.5}, target{read1, 2.5, 0}),
		versus("`--diff-base HEAD~15000`, no file covered; azurerm's history", "`git diff --name-only BASE...HEAD`",
			w.diff("nothing", w.azurermGit, "HEAD~15000"), gitDiff(w.azurermGit, "HEAD~15000"), target{wall, 1.6, 1.0}),
		versus("`--diff-base HEAD~15000`, no file covered; rails' history", "`git diff --name-only BASE...HEAD`",
			w.diff("nothing", w.railsGit, "HEAD~15000"), gitDiff(w.railsGit, "HEAD~15000"), target{wall, 1.6, 1.0}),
		versus("`--diff-base HEAD~100`, its blobs read; azurerm's history", "`git diff --raw BASE...HEAD` and `git cat-file --batch`",
			w.diff("W1", w.azurermGit, "HEAD~100"), gitDiffRead(w.azurermGit, "HEAD~100"), target{wall, 1.0, 0.7}),
		versus("`history`, 20 rules; all of rails' history", "`git log --raw --first-parent` and `git cat-file --batch`",
			w.past(w.railsGit), gitPastRead(w.railsGit), target{cpu, 0, 0}, target{time1, 30_000, 10_000}, target{peak, 1024, 512}),
		versus("`history`, 20 rules; all of azurerm's history", "`git log --raw --first-parent` and `git cat-file --batch`",
			w.past(w.azurermGit), gitPastRead(w.azurermGit), target{cpu, 0, 0}, target{peak, 1024, 512}),
		versus("`--diff-base HEAD~100`, its blobs read; rails' history", "`git diff --raw BASE...HEAD` and `git cat-file --batch`",
			w.diff("W1", w.railsGit, "HEAD~100"), gitDiffRead(w.railsGit, "HEAD~100"), target{wall, 1.0, 0.7}),
		versus("`--version`", "`git --version`",
			command{args: []string{w.scan, "--version"}}, command{args: []string{"git", "--version"}}, target{cpu, 2, 0}, target{wall, 0, 0}),
		versus("a tree of one file, the whole process", "",
			w.full(w.scan, "W1", w.tiny), command{args: []string{"true"}}, target{time1, 10, 5}),
		versus("`hook claude-code`: 200 rules of 5 patterns for every file, an edit of a file of 100 KB, the whole process", "",
			w.hook("hook"), command{args: []string{"true"}}, target{time1, 10, 8}),
	}, append(w.partRows(), editorRows(w)...)...)
}

// hook judges the call of an agent.
func (w *world) hook(policy string) command {
	return command{stdin: w.edit, args: []string{w.scan, "hook", "claude-code", "--policy", w.policies[policy].bundle}}
}
