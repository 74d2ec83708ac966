package naive

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

var (
	pairs  = flag.Int("pairs", 200, "how many pairs of bundle and tree, or changes, the two programs judge")
	seed   = flag.Uint64("seed", 1, "of the pairs")
	only   = flag.Int("only", -1, "one pair, by its number")
	binary = flag.String("program", "", "a policyscan that is built already")
)

// TestSecond compares policyscan with this package, over generated pairs of a bundle and a tree: the verdict, the exit
// status, each violation with its place and its count, in their order, the errors, and what excludes took.
func TestSecond(t *testing.T) {
	if *binary != "" {
		compareAll(t, *binary)
		return
	}
	status := build.WithProgram(func(program string) int {
		compareAll(t, program)
		return 0
	})
	if status != 0 {
		t.Fatal("policyscan cannot be built")
	}
}

// compareAll compares the program with this package over all pairs.
func compareAll(t *testing.T, program string) {
	counts, different := overPairs(t, 5, func(dir string) comparison {
		c := comparer{program, dir}
		return func(n int) ([]string, []error) {
			from := tapeOf(n)
			found, err := c.compare(newPair(from))
			found = append(found, "pairs")
			if err == nil {
				return found, nil
			}
			differs := func(p pair) error { _, err := c.compare(p); return err }
			p := smallest(from, newPair, differs, err)
			return found, []error{fmt.Errorf("pair %d (-seed %d -pairs %d -only %d), as small as it gets:\n%v\n%w",
				n, *seed, n+1, n, p, differs(p))}
		}
	})
	t.Logf("measured: %d pairs, %d differ; %v", counts["pairs"], different, counts)
}

// A comparison compares the pair of a number, and returns what the pair had, and how its two sides differ: nil if they
// do not.
type comparison func(n int) (had []string, differs []error)

// overPairs shares the pairs among the processors, until there are enough differences. Each of them fails the test.
// It calls start once for each processor, with a directory that no other has.
// It returns how many of the pairs had what, and how many differences there are.
func overPairs(t *testing.T, enough int, start func(dir string) comparison) (counts map[string]int, different int) {
	var mu sync.Mutex
	next := 0
	counts = map[string]int{}
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= *pairs && different < enough
	}
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		compare := start(t.TempDir())
		all.Go(func() {
			for n, ok := take(); ok; n, ok = take() {
				if *only >= 0 && n != *only {
					continue
				}
				had, differs := compare(n)
				mu.Lock()
				for _, what := range had {
					counts[what]++
				}
				for _, err := range differs {
					different++
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return counts, different
}

// A difference is what the two programs disagree about, and what they say.
type difference struct {
	about, what string
}

func (d difference) Error() string { return d.about + ":\n" + d.what }

// A comparer runs the program, in its own directory.
type comparer struct {
	path string // of the program
	dir  string // a scratch directory
}

// compare judges a pair by both programs and returns what it had, for the counts, and how they differ.
func (c comparer) compare(p pair) (had []string, err error) {
	policy, tree := filepath.Join(c.dir, "policy"), filepath.Join(c.dir, "tree")
	if err := errors.Join(os.RemoveAll(policy), os.RemoveAll(tree), os.MkdirAll(tree, 0o777)); err != nil {
		return nil, err
	}
	if p.inTree && p.before == nil {
		policy = filepath.Join(tree, ".policyscan")
	}
	var files []File
	for name, content := range p.rules() {
		files = append(files, File{"rules/" + name, content, Regular})
	}
	if err := WriteTree(policy, files); err != nil {
		return nil, err
	}
	read, err := ReadRules(policy)
	if err != nil {
		return nil, err
	}
	b, mistakes := Load(read)
	if p.bad != "" && len(mistakes) == 0 {
		return nil, difference{"naively the bundle is accepted", ""}
	}
	got, err := c.run(p, policy, tree)
	if err != nil {
		return nil, err
	}
	if len(mistakes) > 0 {
		return []string{"refused"}, got.refuses(mistakes)
	}
	if len(got.Errors) > 0 && got.Errors[0].ofBundle() {
		return nil, difference{"policyscan refuses the bundle", fmt.Sprint(got.Errors)}
	}
	scan, err := p.scan(tree)
	if err != nil {
		return nil, err
	}
	if p.before != nil {
		old, mistakes := Load(contents(p.before))
		if len(mistakes) > 0 {
			return nil, fmt.Errorf("before: %+v", mistakes)
		}
		b = Both(old, b)
	}
	want := Judge(b, scan)
	if want.Unknown {
		return []string{"unknown"}, nil
	}
	had = append(had, p.scope)
	for _, v := range want.Violations {
		had = append(had, v.Kind)
		for _, form := range append(keyForms(), "except:", "only:", "within_lines:") {
			if name, _ := strings.CutSuffix(form, ":"); strings.Contains(v.Pattern, `"`+name+`":`) {
				had = append(had, form)
			}
		}
		if slices.ContainsFunc(b.Enforced(), func(r Rule) bool { return r.ID == v.RuleID && r.Containing != nil }) {
			had = append(had, "containing:")
		}
		if formatOf(v.File) == dockerFormat && strings.HasPrefix(v.Pattern, "{\"") {
			had = append(had, dockerFormat)
		}
		if v.Encoding != "" && v.Encoding != "utf-8" {
			had = append(had, "wide")
		}
	}
	for _, e := range want.Errors {
		had = append(had, e.Code)
	}
	return had, got.differs(want, p.before != nil)
}

// scan is what of the pair is judged, read again from the directory where it is one.
func (p pair) scan(dir string) (Scan, error) {
	s := Scan{Tree: p.tree, Allow: p.allow, Parsed: p.parsed}
	s.Found = p.inTree && (p.scope == "full" || p.scope == "tracked")
	switch p.scope {
	case "full", "files":
		var err error
		if s.Tree, err = ReadTree(dir); err != nil {
			return s, err
		}
		if p.scope == "full" {
			return s, nil
		}
		s.WithoutRequiredFiles = true
		s.Changed = map[string]bool{}
		for _, f := range p.listed() {
			s.Changed[f.Path] = true
		}
	case "stdin":
		s.WithoutRequiredFiles = true
	case "diff", "staged":
		s.Changed, s.EmptyIsFine = map[string]bool{}, true
		for _, f := range p.tree {
			s.Changed[f.Path] = !slices.Contains(p.base, f)
		}
	}
	return s, nil
}

// listed are the files that --files-from lists: every other one.
func (p pair) listed() []File {
	var files []File
	for i, f := range p.tree {
		if i%2 == 0 && f.Kind == Regular {
			files = append(files, f)
		}
	}
	return files
}

// run runs the program on a pair.
func (c comparer) run(p pair, policy, tree string) (*document, error) {
	var args []string
	if !p.inTree {
		args = append(args, "--policy", policy)
	}
	for _, reason := range []string{"empty", "lfs-pointer", "special-file", "symlink"} {
		if p.allow {
			args = append(args, "--allow", reason)
		}
	}
	scope, stdin, err := p.place(tree)
	if err != nil {
		return nil, err
	}
	return c.program(tree, stdin, append(args, scope...)...)
}

// program runs policyscan in a directory.
func (c comparer) program(dir string, stdin []byte, args ...string) (*document, error) {
	cmd := exec.Command(c.path, append([]string{"scan", "--quiet", "--output", "-"}, args...)...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return nil, err
	}
	d := document{status: cmd.ProcessState.ExitCode(), said: said.String()}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		return nil, fmt.Errorf("status %d, no verdict: %w\n%s%s", d.status, err, &out, &said)
	}
	return &d, nil
}

// A document is what is compared of verdict.json.
type document struct {
	Verdict    string              `json:"verdict"`
	Complete   bool                `json:"complete"`
	Violations []documentViolation `json:"violations"`
	Allowed    []documentViolation `json:"allowed_violations"`
	Policy     []struct {
		Excluded []struct {
			File  string `json:"file"`
			Count int    `json:"count"`
		} `json:"excluded"`
	} `json:"policy"`
	Errors []problem `json:"errors"`

	status int
	said   string
}

type documentViolation struct {
	RuleID   string `json:"rule_id"`
	File     string `json:"file"`
	Status   string `json:"status"`
	Evidence struct {
		Kind        string `json:"kind"`
		Pattern     string `json:"pattern"`
		Offset      int    `json:"offset"`
		Line        int    `json:"line"`
		Column      int    `json:"column"`
		EndLine     int    `json:"end_line"`
		EndColumn   int    `json:"end_column"`
		Occurrences int    `json:"occurrences"`
		Encoding    string `json:"encoding"`
		Places      []struct {
			Offset int    `json:"offset"`
			Status string `json:"status"`
		} `json:"places"`
	} `json:"evidence"`
}

// A problem is an error of the verdict.
type problem struct {
	Code    string `json:"code"`
	File    string `json:"file"`
	Message string `json:"message"`
}

func (d *document) errors() (all []Error) {
	for _, e := range d.Errors {
		all = append(all, Error{e.Code, e.File})
	}
	return all
}

// ofBundle reports whether the error is about the bundle.
func (p problem) ofBundle() bool {
	return strings.HasPrefix(p.Code, "E_POLICY_") || p.Code == "E_NO_RULES"
}

// differs says how a verdict differs from the outcome.
// two says that two bundles judged: of which rule file a violation comes first is then not compared, nor is what the
// files exclude.
func (d *document) differs(want Outcome, two bool) error {
	got := Outcome{Verdict: d.Verdict, Status: d.status}
	withStatus := false
	for _, v := range d.Violations {
		e := v.Evidence
		withStatus = withStatus || v.Status != ""
		violation := Violation{
			v.RuleID, v.File, e.Kind, e.Pattern,
			e.Offset, e.Line, e.Column, e.EndLine, e.EndColumn, e.Encoding, e.Occurrences, "", "",
		}
		if strings.HasPrefix(e.Pattern, `{"key":`) || strings.HasPrefix(e.Pattern, `{"each":`) {
			// Where a value ends is not on the page.
			violation.EndLine, violation.EndColumn = 0, 0
		}
		var places []string
		for _, p := range e.Places {
			places = append(places, strconv.Itoa(p.Offset))
		}
		violation.Places = strings.Join(places, " ")
		got.Violations = append(got.Violations, violation)
	}
	got.Errors = d.errors()
	for _, p := range d.Policy {
		for _, e := range p.Excluded {
			got.Excluded = append(got.Excluded, Excluded(e))
		}
	}
	if two {
		for _, o := range []*Outcome{&got, &want} {
			slices.SortFunc(o.Violations, func(a, b Violation) int {
				return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
			})
			o.Excluded = nil
		}
	}
	want.Violations = slices.Clone(want.Violations)
	for i, v := range want.Violations[:min(len(want.Violations), len(got.Violations))] {
		want.Violations[i].Places = listed(v.Places, got.Violations[i].Places, withStatus)
	}
	about := ""
	switch {
	case !slices.Equal(got.Violations, want.Violations):
		about = "violations"
	case !slices.Equal(got.Errors, want.Errors) || d.Complete != (len(want.Errors) == 0):
		about = "errors"
	case !slices.Equal(got.Excluded, want.Excluded):
		about = "what is excluded"
	case got.Verdict != want.Verdict || got.Status != want.Status:
		about = "the result"
	default:
		return nil
	}
	return difference{about, fmt.Sprintf("policyscan %s\nnaively    %s\n%s", got, want, d.said)}
}

// listed are the places of all that a verdict lists: the first hundred. Where they have a status, which ones depends on
// it: that is for make changes to compare, and here any hundred in order will do.
func listed(all, got string, withStatus bool) string {
	places := strings.Fields(all)
	if len(places) <= 100 {
		return all
	}
	if some := strings.Fields(got); withStatus && len(some) == 100 {
		left := places
		for len(some) > 0 {
			i := slices.Index(left, some[0])
			if i < 0 {
				break
			}
			some, left = some[1:], left[i+1:]
		}
		if len(some) == 0 {
			return got
		}
	}
	return strings.Join(places[:100], " ")
}

func (o Outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, status %d\n", o.Verdict, o.Status)
	for _, v := range o.Violations {
		fmt.Fprintf(&b, "    %q\n", fmt.Sprintf("%+v", v))
	}
	for _, e := range o.Errors {
		fmt.Fprintf(&b, "    %+v\n", e)
	}
	for _, e := range o.Excluded {
		fmt.Fprintf(&b, "    excluded %+v\n", e)
	}
	return b.String()
}

// refuses says whether the program refuses the bundle, too: by errors of bundles alone, and where there is one mistake
// with a line, in that line.
func (d *document) refuses(mistakes []Mistake) error {
	wrong := ""
	switch m := mistakes[0]; {
	case d.Verdict != "FAIL" || d.status != 2 || d.Complete || len(d.Errors) == 0 || len(d.Violations) > 0:
		wrong = "it is not refused"
	case slices.ContainsFunc(d.Errors, func(e problem) bool { return !e.ofBundle() }):
		wrong = "another error than a bundle's"
	case len(mistakes) == 1 && m.Line > 0:
		place := regexp.MustCompile(regexp.QuoteMeta("rules/"+m.File) + `:(\d+):\d+: `).
			FindStringSubmatch(d.Errors[0].Message)
		// What only 0.2 has is named with its line, where the version is missing.
		version := fmt.Sprintf(" in line %d needs version 0.2; ", m.Line)
		isVersion := func(e problem) bool {
			return strings.HasPrefix(e.Message, "rules/"+m.File+":1:1: ") && strings.Contains(e.Message, version)
		}
		if (place == nil || place[1] != strconv.Itoa(m.Line)) && !slices.ContainsFunc(d.Errors, isVersion) {
			wrong = "another place"
		}
	}
	if wrong == "" {
		return nil
	}
	return difference{wrong, fmt.Sprintf("policyscan %s, status %d, %+v\nnaively %+v\n%s",
		d.Verdict, d.status, d.Errors, mistakes, d.said)}
}
