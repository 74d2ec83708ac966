package corpora

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/measured"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/starter"
)

const (
	starterPage = "starter.md"
	sampleSize  = 100
	sampleEach  = 13 // of a repository
)

// A finding is a rule of the starter bundle and a file that violates it.
type finding struct{ repository, rule, file string }

// A reading is what was said of a finding.
type reading struct {
	place         string // the file and the first line
	first, second string // yes, no, or ? for nothing yet
	why           string
}

var (
	sampleTree = regexp.MustCompile("(?m)^\\| (\\S+/\\S+) \\| `([0-9a-f]{40})` \\|$")
	sampleRow  = regexp.MustCompile(`^\| \d+ \| (\S+) \| (\S+) \| ((\S+):\d+) \| (\S+) \| (\S+) \| (.*) \|$`)
)

// readSample returns the repositories of the page with their commits, and what it says of each finding. The page names
// a repository without its owner in the rows.
func readSample(t *testing.T) (trees [][]string, read map[finding]reading) {
	t.Helper()
	page, err := os.ReadFile(starterPage)
	if err != nil {
		t.Fatal(err)
	}
	trees = sampleTree.FindAllStringSubmatch(string(page), -1)
	owner := map[string]string{}
	for _, tree := range trees {
		owner[tree[1][strings.Index(tree[1], "/")+1:]] = tree[1]
	}
	part, err := measured.Part(starterPage, "sample")
	if err != nil {
		t.Fatal(err)
	}
	read = map[finding]reading{}
	for line := range strings.Lines(part) {
		if m := sampleRow.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			read[finding{owner[m[2]], m[1], m[4]}] = reading{m[3], m[5], m[6], m[7]}
		}
	}
	return trees, read
}

// TestStarterPage: the page has a hundred findings, each read by two, with a reason, and the numbers that it names.
func TestStarterPage(t *testing.T) {
	trees, read := readSample(t)
	first, second, agreed, left := 0, 0, 0, 0
	for f, r := range read {
		if f.repository == "" || !slices.Contains([]string{"yes", "no"}, r.first) ||
			!slices.Contains([]string{"yes", "no"}, r.second) || r.why == "" {
			t.Errorf("%v: %v", f, r)
		}
		first += strings.Count(r.first, "yes")
		second += strings.Count(r.second, "yes")
		if r.first == r.second {
			agreed++
			left += strings.Count(r.first, "yes")
		}
	}
	page, err := os.ReadFile(starterPage)
	if err != nil {
		t.Fatal(err)
	}
	// Cohen's kappa: how far the readers agree beyond what two would who only say yes as often as these.
	n := float64(len(read))
	yes1, yes2 := float64(first)/n, float64(second)/n
	chance := yes1*yes2 + (1-yes1)*(1-yes2)
	want := fmt.Sprintf("At the first reading %d of %d are true, at the second %d.\n"+
		"The two readers agree on %d (Cohen's kappa %.2f).\n"+
		"Where they do not, a finding counts as not true: that leaves %d.\n",
		first, len(read), second, agreed, (float64(agreed)/n-chance)/(1-chance), left)
	if len(trees) < 5 || len(read) != sampleSize || !bytes.Contains(page, []byte(want)) {
		t.Errorf("%d repositories; the page does not say: %s", len(trees), want)
	}
}

// TestStarterSample scans the repositories again and says what is no longer as in the table, which -measure then
// writes, with what was said of the findings that are still there.
func TestStarterSample(t *testing.T) {
	if *starterTrees == "" {
		t.Skip("SKIPPED: name a folder of clones with -trees")
	}
	files := map[string]string{}
	for name, text := range starter.Files() {
		files[name] = string(text)
	}
	bundle, err := rules.Load(rules.Files(starter.Files()))
	if err != nil {
		t.Fatal(err)
	}
	trees, read := readSample(t)
	places := map[finding]string{}
	for _, tree := range trees {
		dir := t.TempDir()
		checkout(t, bundle, clone(t, tree[1]), tree[2], dir)
		v := scanWith(t, dir, files)
		for i := range v.Violations {
			x := &v.Violations[i]
			f := finding{tree[1], x.RuleID, x.File}
			if places[f] == "" { // the first pattern's place; they are in the rule's order
				places[f] = fmt.Sprintf("%s:%d", x.File, x.Evidence.Line)
			}
		}
	}
	var table strings.Builder
	table.WriteString("| | rule | repository | place | first | second | why |\n|---|---|---|---|---|---|---|\n")
	for i, f := range sampleOf(places) {
		r, known := read[f]
		if !known {
			r = reading{"", "?", "?", "?"}
			t.Errorf("nobody has read %v yet", f)
		}
		fmt.Fprintf(&table, "| %d | %s | %s | %s | %s | %s | %s |\n", i+1, f.rule,
			f.repository[strings.Index(f.repository, "/")+1:], places[f], r.first, r.second, r.why)
	}
	t.Logf("%d findings in %d repositories", len(places), len(trees))
	if *measuring {
		if err := measured.Write(starterPage, "sample", table.String()); err != nil {
			t.Fatal(err)
		}
	}
}

// sampleOf chooses findings, as the page says.
func sampleOf(places map[finding]string) []finding {
	key := func(f finding) string {
		return fmt.Sprintf("%x", sha256.Sum256([]byte(f.repository+"\t"+f.rule+"\t"+f.file)))
	}
	var all []finding
	for f := range places {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b finding) int { return strings.Compare(key(a), key(b)) })
	taken := map[string]int{}
	all = slices.DeleteFunc(all, func(f finding) bool {
		taken[f.repository]++
		return taken[f.repository] > sampleEach
	})
	return all[:min(len(all), sampleSize)]
}

// clone returns where the repository is.
func clone(t *testing.T, repository string) string {
	t.Helper()
	for _, name := range []string{repository, strings.ReplaceAll(repository, "/", "+") + "/repo"} {
		if dir := filepath.Join(*starterTrees, filepath.FromSlash(name)); isDir(dir) {
			return dir
		}
	}
	t.Fatalf("%s has no clone of %s", *starterTrees, repository)
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkout writes the regular files of a commit that a rule selects. The clone may lack others.
func checkout(t *testing.T, bundle *rules.Bundle, dir, commit, into string) {
	t.Helper()
	var asked strings.Builder
	var paths []string
	for entry := range strings.SplitSeq(git(t, dir, "", "ls-tree", "-rz", commit), "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		if strings.HasPrefix(about, "100") && len(bundle.Selecting(path, nil)) > 0 {
			asked.WriteString(strings.Fields(about)[2] + "\n")
			paths = append(paths, path)
		}
	}
	cmd := exec.Command("git", "-C", dir, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(asked.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range paths {
		var hash, kind string
		var size int
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		if n, err := fmt.Sscan(string(head), &hash, &kind, &size); n != 3 || len(rest) <= size {
			t.Fatalf("%s: git cat-file says %q of %s: %v", dir, head, path, err)
		}
		files[path], out = string(rest[:size]), rest[size+1:]
	}
	writeFiles(t, into, files)
}
