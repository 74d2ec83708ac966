//go:build linux

package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/verdict"
)

var (
	base     = flag.String("base", "", "a commit: the program of that commit is compared with the one of the work tree")
	butWords = flag.Bool("but-words", false, "words may differ: compare the verdicts alone, without what people read in them")
)

// TestSame builds the program at -base and at the work tree, runs both over all bundles and corpora, and fails unless
// verdicts, reports and statuses are the same, byte for byte. A change that moves code and means to change nothing
// shows it with this.
func TestSame(t *testing.T) {
	if *base == "" {
		t.Skip("it takes minutes; see make same")
	}
	w, _ := corpora(t)
	programs := t.TempDir()
	before, after := filepath.Join(programs, "before"), filepath.Join(programs, "after")
	if err := build.Commit(*base, before); err != nil {
		t.Fatal(err)
	}
	if err := build.Program(after); err != nil {
		t.Fatal(err)
	}
	compared, total, failed := 0, 0, 0
	for _, c := range comparisons(t, w) {
		one, two := c.outcome(t, before), c.outcome(t, after)
		compared, total = compared+1, total+len(one.verdict)
		if *butWords {
			one, two = one.wordless(t), two.wordless(t)
		}
		if diff := one.differs(two); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
			failed++
			continue
		}
		t.Logf("%s: status %d, the same %d bytes", c.name, one.status, len(one.verdict))
	}
	t.Logf("%d comparisons, %d bytes of verdicts, %d differ", compared, total, failed)
}

// A comparison is one run of the program, in a directory and with these arguments.
type comparison struct {
	name, dir string
	args      []string
}

// comparisons are all bundles over all trees, and some over the histories of two repositories.
func comparisons(t *testing.T, w *world) []comparison {
	t.Helper()
	root, err := build.Root()
	if err != nil {
		t.Fatal(err)
	}
	bundles := map[string]string{"builtin:infra": "builtin:infra", "examples": filepath.Join(root, "examples", "policy")}
	for name, p := range w.policies {
		if !p.items { // which programs of 0.1 refuse
			bundles[name] = p.bundle
		}
	}
	trees := map[string]string{
		"Linux": w.linux, "azurerm": w.azurerm, "a line": w.line, "a file": w.tiny, "an edited file": w.edited,
		"the examples": filepath.Join(root, "examples", "infra-target"),
	}
	var all []comparison
	for _, bundle := range slices.Sorted(maps.Keys(bundles)) {
		add := func(name, dir string, args ...string) {
			all = append(all, comparison{bundle + " over " + name, dir, append([]string{"--policy", bundles[bundle]}, args...)})
		}
		for _, tree := range slices.Sorted(maps.Keys(trees)) {
			add(tree, "", trees[tree])
		}
		add("azurerm, tracked", w.checkout, "--tracked", ".")
		for name, git := range map[string]string{"azurerm": w.azurermGit, "rails": w.railsGit} {
			for _, rev := range []string{"HEAD~1", "HEAD~100"} {
				add(name+" since "+rev, git, "--diff-base", rev)
			}
		}
	}
	part := filepath.Join(w.linux, "drivers", "net") // over all of Linux these are millions of violations
	all = append(all, comparison{"found over drivers/net of Linux", "", []string{"--policy", foundPolicy(t, w, part).bundle, part}})
	for name, git := range map[string]string{"azurerm": w.azurermGit, "rails": w.railsGit} {
		all = append(all, comparison{"nothing over " + name + " since HEAD~15000", git, []string{"--policy", bundles["nothing"], "--diff-base", "HEAD~15000"}})
	}
	slices.SortStableFunc(all, func(a, b comparison) int { return strings.Compare(a.name, b.name) })
	return all
}

// An outcome is what a run left.
type outcome struct {
	status  int
	out     string // the text report, without the seconds
	err     string // the same
	verdict []byte
	sarif   []byte // the report of the most parts
}

var seconds = regexp.MustCompile(`, \d+\.\d\d s\n`)

func (c comparison) outcome(t *testing.T, program string) outcome {
	t.Helper()
	dir := t.TempDir()
	file, sarif := filepath.Join(dir, "verdict.json"), filepath.Join(dir, "report.sarif")
	cmd := exec.Command(program, append([]string{"scan", "--output", file, "--report", "sarif=" + sarif}, c.args...)...)
	cmd.Dir = c.dir
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", c.name, err)
	}
	timeless := func(text string) string { return seconds.ReplaceAllString(text, ", N s\n") }
	o := outcome{status: cmd.ProcessState.ExitCode(), out: timeless(out.String()), err: timeless(said.String())}
	var err error
	if o.verdict, err = os.ReadFile(file); err != nil {
		t.Fatalf("%s: %v\n%s", c.name, err, o.err)
	}
	if o.sarif, err = os.ReadFile(sarif); err != nil {
		t.Fatalf("%s: %v\n%s", c.name, err, o.err)
	}
	return o
}

// differs says in which way two outcomes differ; "" if they are the same.
func (o outcome) differs(p outcome) string {
	switch {
	case o.status != p.status:
		return fmt.Sprintf("status %d was %d", p.status, o.status)
	case !bytes.Equal(o.verdict, p.verdict):
		return "the verdict is another: " + firstDifference(string(o.verdict), string(p.verdict))
	case !bytes.Equal(o.sarif, p.sarif):
		return "the SARIF report is another: " + firstDifference(string(o.sarif), string(p.sarif))
	case o.out != p.out:
		return "the text report is another: " + firstDifference(o.out, p.out)
	case o.err != p.err:
		return "standard error is another: " + firstDifference(o.err, p.err)
	}
	return ""
}

// wordless is an outcome without its words: the status, and the verdict without the sentences that people read and
// the hash of bundles, which have such sentences.
func (o outcome) wordless(t *testing.T) outcome {
	t.Helper()
	var v verdict.Verdict
	if err := json.Unmarshal(o.verdict, &v); err != nil {
		t.Fatal(err)
	}
	v.Tool.Version = ""
	for i := range v.Policy {
		v.Policy[i].SHA256 = ""
	}
	for i := range v.Rules {
		r := &v.Rules[i]
		r.Title, r.Message, r.Remediation = "", "", ""
	}
	for i := range v.Violations {
		x := &v.Violations[i]
		x.Title, x.Reason, x.Note = "", "", ""
	}
	for i := range v.Errors {
		v.Errors[i].Message = ""
	}
	text, err := v.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return outcome{status: o.status, verdict: text}
}

// firstDifference shows the first lines that differ.
func firstDifference(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d was %.200q and is %.200q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines were %d", len(b), len(a))
}
