// Package trees switches policyscan on in trees of others (make trees): with the starter bundle a tree fails, passes once
// all is allowed by one command, fails with one occurrence more, and passes with lower numbers when one was removed.
// The result is in lab/results/reliability.md; of the trees, nothing is kept here.
package trees

import (
	"bufio"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/measured"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
	"gopkg.in/yaml.v3"
)

var (
	list      = flag.String("trees", "", "a file with a name and a path in each line: a folder or a bare repository")
	measuring = flag.Bool("measure", false, "write the results into lab/results/reliability.md")
)

// most is how many files of a tree are taken: those that the starter bundle may be about come first.
const most = 20_000

var covered = regexp.MustCompile(`(?i)\.(ya?ml|tf|tf\.json|tfvars|tfvars\.json|tftpl|dockerfile)$|(^|/)(Docker|Container)file`)

var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(build.WithProgram(func(path string) int { program = path; return m.Run() }))
}

// A result is what happened to a tree.
type result struct {
	name, commit              string
	files, covered            int
	pairs, occurrences        int // of rules and files, before
	links, pointers           int // explicitly allowed, since what they lead to cannot be had
	touched, removed, lowered int // files, files, and by how much all numbers together
	full                      bool
}

// TestTrees tries each tree of the list; without one, this repository's examples.
func TestTrees(t *testing.T) {
	trees := [][2]string{{"examples", "../../examples"}}
	if *list != "" {
		trees = nil
		text, err := os.ReadFile(*list)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			name, path, found := strings.Cut(lines.Text(), " ")
			if !found {
				t.Fatalf("%s: %q is not a name, a space and a path", *list, lines.Text())
			}
			trees = append(trees, [2]string{name, path})
		}
	}
	var results []result
	for _, tree := range trees {
		t.Run(tree[0], func(t *testing.T) {
			r := try(t, tree[1])
			r.name = tree[0]
			t.Logf("%+v", r)
			results = append(results, r)
		})
	}
	if *measuring && !t.Failed() {
		if err := measured.Write("../results/reliability.md", "trees", table(results)); err != nil {
			t.Fatal(err)
		}
	}
}

// table is the part of the page.
func table(results []result) string {
	var b strings.Builder
	var sum result
	for _, r := range results {
		sum.files += r.files
		sum.pairs += r.pairs
		sum.occurrences += r.occurrences
		sum.links += r.links
		sum.pointers += r.pointers
		sum.touched += r.touched
		sum.removed += r.removed
		sum.lowered += r.lowered
	}
	fmt.Fprintf(&b, "- %d trees, %d files: in each all of this held\n", len(results), sum.files)
	fmt.Fprintf(&b, "- %d allowances for %d occurrences in %d files; "+
		"after one was removed from each of %d files, for %d fewer\n", sum.pairs, sum.occurrences, sum.touched, sum.removed, sum.lowered)
	fmt.Fprintf(&b, "- explicitly allowed, since what they lead to is not scanned: %d links and %d Git LFS pointers\n", sum.links, sum.pointers)
	b.WriteString("\n| tree | files | covered | allowances | occurrences | links |\n|---|---|---|---|---|---|\n")
	for _, r := range results {
		name := r.name
		if r.commit != "" {
			name += " " + r.commit
		}
		files := fmt.Sprint(r.files)
		if !r.full {
			files += ", not all"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d |\n", name, files, r.covered, r.pairs, r.occurrences, r.links)
	}
	return b.String()
}

// A repository is a work tree with the starter bundle, and the flags that its scans need.
type repository struct {
	dir, verdict string
	allow        []string
	paths        map[string]string // by how the verdict spells them
}

// try does with a tree what its owner would do.
func try(t *testing.T, path string) (r result) {
	repo := &repository{dir: t.TempDir(), verdict: filepath.Join(t.TempDir(), "verdict.json")}
	repo.bring(t, path, &r)
	all := t.TempDir() // in a folder without files the bundle is whole
	repo.policyscan(t, 0, "init", all)
	if err := os.CopyFS(repo.file(".policyscan"), os.DirFS(filepath.Join(all, ".policyscan"))); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"boundaries.yml", "invariants.yml"} {
		file = repo.file(".policyscan/rules/" + file)
		write(t, file, withoutKeys(t, read(t, file)))
	}
	before := repo.rules(t)
	repo.git(t, "", "add", "--force", ".policyscan")
	repo.git(t, "", "commit", "--quiet", "-m", "switch policyscan on")

	found := repo.scan(t, -1, "--tracked")
	if found.Verdict == verdict.Pass {
		t.Skip("the bundle finds nothing in it")
	}
	if len(found.Errors) > 0 {
		for _, e := range found.Errors {
			switch e.Code {
			case "E_LINK":
				r.links++
			case "E_UNAVAILABLE":
				r.pointers++
			default:
				t.Fatalf("%+v", e)
			}
		}
		repo.allow = []string{"--allow", "symlink", "--allow", "lfs-pointer"}
		found = repo.scan(t, 1, "--tracked")
	}
	r.covered = found.Coverage.Governed
	repo.policyscan(t, 0, "allow", "--from", repo.verdict, "--owner", "team", "--reason", "NET-1")
	allowed := repo.numbers(t)
	r.pairs, r.occurrences = len(allowed), sum(allowed)
	repo.scan(t, 0, "--tracked")
	repo.git(t, "", "add", "--force", ".policyscan")
	repo.git(t, "", "commit", "--quiet", "-m", "allow what is there")
	repo.scan(t, 0, "--diff-base", "HEAD~1")

	// The first text or expression that is found in each file, by the file: its line can be written once more.
	first := map[string]*verdict.Violation{}
	for i, v := range found.Violations {
		e := &v.Evidence
		inLine := (e.Kind == verdict.KindText || e.Kind == verdict.KindRegex) && e.Encoding == "utf-8" && e.Line == e.EndLine
		if inLine && first[v.File] == nil {
			first[v.File] = &found.Violations[i]
		}
	}
	for file, v := range first {
		content := read(t, repo.file(repo.paths[file]))
		write(t, repo.file(repo.paths[file]), slices.Concat(content, []byte("\n"), lineAt(content, v.Evidence.Offset), []byte("\n")))
	}
	r.touched = len(first)
	repo.git(t, "", "commit", "--quiet", "--all", "-m", "add one to each file")
	repo.refused(t, repo.scan(t, 1, "--diff-base", "HEAD~1"), first, "introduced")
	repo.refused(t, repo.scan(t, 1, "--tracked"), first, "")

	repo.git(t, "", "reset", "--quiet", "--hard", "HEAD~1")
	for file, v := range first {
		e := v.Evidence
		content := read(t, repo.file(repo.paths[file]))
		copy(content[e.Offset:], strings.Repeat("x", int(e.EndColumn-e.Column)))
		write(t, repo.file(repo.paths[file]), content)
	}
	if r.removed = len(first); r.removed == 0 {
		t.Error("nothing could be removed")
	}
	repo.policyscan(t, 0, slices.Concat([]string{"allow", "--tighten", "--tracked"}, repo.allow)...)
	repo.git(t, "", "add", "--all", "--force", ".policyscan")
	repo.git(t, "", "commit", "--quiet", "--all", "-m", "remove one from each file")
	repo.scan(t, 0, "--tracked")
	repo.scan(t, 0, "--diff-base", "HEAD~1")
	now := repo.numbers(t)
	r.lowered = r.occurrences - sum(now)
	for pair, n := range now {
		if n > allowed[pair] {
			t.Errorf("%s: %d, and it was %d", pair, n, allowed[pair])
		}
	}
	for file, v := range first {
		if pair := v.RuleID + " " + file; now[pair] >= allowed[pair] {
			t.Errorf("%s: still %d", pair, now[pair])
		}
	}
	if !slices.Equal(before, repo.rules(t)) {
		t.Error("a rule file was changed")
	}
	return r
}

// withoutKeys returns a rule file without the items that are about keys, and without the rules that have no others. What
// this test writes into a file may break it for a parser, and then such items count nothing in it.
func withoutKeys(t *testing.T, text []byte) []byte {
	var file struct {
		Bundle  string   `yaml:"bundle"`
		Exclude []string `yaml:"exclude,omitempty"`
		Rules   []map[string]any
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	isKey := func(item any) bool {
		m, _ := item.(map[string]any)
		return m["key"] != nil
	}
	file.Rules = slices.DeleteFunc(file.Rules, func(rule map[string]any) bool {
		match := rule["match"].(map[string]any)
		delete(match, "unparsable")
		left := false
		for _, list := range []string{"forbidden_patterns", "required_absent", "required_patterns"} {
			items, _ := match[list].([]any)
			if items = slices.DeleteFunc(items, isKey); len(items) == 0 {
				delete(match, list)
				continue
			}
			match[list], left = items, true
		}
		return !left && match["forbidden_files"] == nil
	})
	out, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Replace(out, []byte("bundle: 0.2"), []byte(`bundle: "0.2"`), 1)
}

// lineAt returns the line at an offset, without its end.
func lineAt(content []byte, offset int64) []byte {
	begin := bytes.LastIndexAny(content[:offset], "\r\n") + 1
	line, _, _ := bytes.Cut(content[begin:], []byte("\n"))
	return bytes.TrimRight(line, "\r")
}

// bring makes the repository of a tree. What another repository has is not copied.
func (r *repository) bring(t *testing.T, path string, about *result) {
	r.git(t, "", "init", "--quiet", "--initial-branch=main")
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	var leaves []string
	if _, err := os.Stat(filepath.Join(path, "objects")); err == nil {
		write(t, filepath.Join(r.dir, ".git/objects/info/alternates"), []byte(filepath.Join(path, "objects")+"\n"))
		about.commit = strings.TrimSpace(r.git(t, "", "--git-dir", path, "rev-parse", "--short=10", "HEAD"))
		leaves = strings.Split(r.git(t, "", "--git-dir", path, "ls-tree", "-r", "-z", "--full-tree", "HEAD"), "\x00")
		leaves = r.had(t, leaves[:len(leaves)-1])
	} else {
		r.git(t, "", "--work-tree", path, "add", "--all", "--force", path)
		leaves = strings.Split(r.git(t, "", "ls-files", "--stage", "-z"), "\x00")
		leaves = leaves[:len(leaves)-1]
	}
	slices.SortStableFunc(leaves, func(a, b string) int {
		about := func(leaf string) int {
			if covered.MatchString(leaf) {
				return 0
			}
			return 1
		}
		return cmp.Compare(about(a), about(b))
	})
	about.full = len(leaves) <= most
	leaves = leaves[:min(len(leaves), most)]
	about.files = len(leaves)
	r.paths = map[string]string{}
	for _, leaf := range leaves {
		_, path, _ := strings.Cut(leaf, "\t")
		r.paths[verdict.Path(path)] = path
	}
	r.git(t, "", "read-tree", "--empty")
	r.git(t, strings.Join(leaves, "\x00")+"\x00", "update-index", "-z", "--index-info")
	r.git(t, "", "checkout-index", "--all", "--force", "--quiet")
	r.git(t, "", "commit", "--quiet", "-m", "a tree")
}

// had leaves out submodules, and files that a repository does not have, as a partial clone may.
func (r *repository) had(t *testing.T, leaves []string) (had []string) {
	var hashes strings.Builder
	for _, leaf := range leaves {
		hashes.WriteString(strings.Fields(leaf)[2] + "\n")
	}
	said := strings.Split(r.git(t, hashes.String(), "cat-file", "--batch-check"), "\n")
	for i, leaf := range leaves {
		if strings.Contains(said[i], " blob ") {
			had = append(had, leaf)
		}
	}
	return had
}

// refused checks that a verdict refuses what was added, and that only.
func (r *repository) refused(t *testing.T, v *verdict.Verdict, first map[string]*verdict.Violation, status string) {
	t.Helper()
	there := map[string]bool{}
	for _, x := range v.Violations {
		if first[x.File] == nil {
			t.Errorf("%s in %s, which is as it was", x.RuleID, x.File)
		}
		if x.Status == status {
			there[x.RuleID+" "+x.File] = true
		}
	}
	for file, x := range first {
		if !there[x.RuleID+" "+file] {
			t.Errorf("%s: one more %q in %s is no violation that is %q", x.RuleID, x.Evidence.Pattern, file, status)
		}
	}
}

// scan returns the verdict of a scan that has to end with a status, if it is not negative.
func (r *repository) scan(t *testing.T, status int, args ...string) *verdict.Verdict {
	t.Helper()
	r.policyscan(t, status, slices.Concat([]string{"scan", "--quiet", "--report", "text", "--output", r.verdict}, r.allow, args)...)
	v, err := verdict.Decode(read(t, r.verdict))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// policyscan runs the program, which has to end with a status, if it is not negative.
func (r *repository) policyscan(t *testing.T, status int, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = r.dir
	if said, _ := cmd.CombinedOutput(); status >= 0 && cmd.ProcessState.ExitCode() != status {
		t.Fatalf("policyscan %v: status %d\n%s", args, cmd.ProcessState.ExitCode(), said[:min(len(said), 4000)])
	}
}

// numbers are those of the allowances, by rule and file.
func (r *repository) numbers(t *testing.T) map[string]int {
	t.Helper()
	b, err := rules.LoadDir(r.file(".policyscan"))
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]int{}
	for _, a := range b.Allowances {
		numbers[a.Rule+" "+a.File] += a.AtMost
	}
	return numbers
}

func sum(numbers map[string]int) (sum int) {
	for _, n := range numbers {
		sum += n
	}
	return sum
}

// rules are the bytes of the rule files.
func (r *repository) rules(t *testing.T) []byte {
	t.Helper()
	return slices.Concat(read(t, r.file(".policyscan/rules/boundaries.yml")), read(t, r.file(".policyscan/rules/invariants.yml")))
}

func (r *repository) file(path string) string { return filepath.Join(r.dir, filepath.FromSlash(path)) }

// git returns what git prints.
func (r *repository) git(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_NO_LAZY_FETCH=1")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, &said)
	}
	return out.String()
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}
