// Package corpora asks whether a bundle of 0.2 can say what rules in use elsewhere say, and finds what they mean:
// Checkov's checks and fixtures for Terraform (make checkov), and the list of what Chromium's presubmit bans (make chromium).
// The results are in lab/results/comparison.md; of the projects, nothing else is kept here.
// How much of what the starter bundle finds is true is in starter.md (make starter).
//
//	corpora_test.go   the program, a tree, a bundle, lines and paths to try a rule on, the page
//	checkov_test.go   lines of Terraform that mean one thing, and which patterns find them
//	attribute_test.go each check of one attribute as a rule with keys, and whether Checkov's tests and policyscan agree
//	keyrules_test.go  a check as such a rule; checks, tests and the resources that they name, as Python's parser reads them
//	chromium_test.go  each rule of the list as a rule of ours, and whether Python and policyscan agree
//	items_test.go     an expression of Python's as the simplest items that match the same
//	starter_test.go   a sample of what the starter bundle finds in repositories, and what readers said of it
//	globs_test.go     an expression over paths as globs that select the same
package corpora

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/measured"
	"github.com/policyscan/policyscan/verdict"
)

var (
	measuring    = flag.Bool("measure", false, "write the results into lab/results/comparison.md")
	checkov      = flag.String("checkov", "", "a clone of bridgecrewio/checkov, or its git directory")
	presubmit    = flag.String("presubmit", "", "Chromium's PRESUBMIT.py")
	commit       = flag.String("commit", "", "the commit of Chromium that PRESUBMIT.py is of")
	starterTrees = flag.String("trees", "", "a folder of clones of the repositories in starter.md")
	keep         = flag.String("keep", "", "a folder to leave the bundle in")
)

var program string

func TestMain(m *testing.M) {
	flag.Parse()
	if *checkov == "" && *presubmit == "" && *starterTrees == "" {
		os.Exit(m.Run())
	}
	os.Exit(build.WithProgram(func(path string) int { program = path; return m.Run() }))
}

// writeFiles puts files, by their paths, into a folder.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// scan runs the program over a folder with a bundle, whose boundaries.yml is given. The verdict has to be complete.
func scan(t *testing.T, dir, boundaries string) *verdict.Verdict {
	t.Helper()
	return scanWith(t, dir, map[string]string{"rules/boundaries.yml": boundaries, "rules/invariants.yml": "rules: []\n"})
}

// scanWith is scan with the files of a bundle.
func scanWith(t *testing.T, dir string, files map[string]string) *verdict.Verdict {
	t.Helper()
	bundle, out := t.TempDir(), filepath.Join(t.TempDir(), "verdict.json")
	writeFiles(t, bundle, files)
	cmd := exec.Command(program, "--policy", bundle, "--output", out, "--quiet", dir)
	said, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("policyscan: %v\n%s", err, said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	v, err := verdict.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if !v.Complete {
		t.Fatalf("the verdict is not complete\n%s", said)
	}
	return v
}

// writePart puts a result into its part of the page, if that was asked for, and prints it.
func writePart(t *testing.T, name, text string) {
	t.Helper()
	t.Log("\n" + text)
	if *measuring {
		if err := measured.Write("../results/comparison.md", name, text); err != nil {
			t.Fatal(err)
		}
	}
}

// python runs a script of Python, which is told what to do, and exchanges JSON with it.
func python(t *testing.T, script, what string, input, output any) {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-c", script, what)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(out, output); err != nil {
		t.Fatal(err)
	}
}

// git returns what git prints about a repository.
func git(t *testing.T, dir string, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1")
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// tryOn makes lines and paths that the rule is about, or nearly.
func (s *said) tryOn(random *rand.Rand) {
	expr, isExpr := strings.CutPrefix(s.Pattern, "/")
	for range 8 {
		line := s.Pattern
		if isExpr {
			line = textOf(expr, random)
		}
		s.examples = append(s.examples, line, "x = "+line+" y;", "\t"+line, "x"+line+"y")
		for range 5 {
			s.near = append(s.near, nearly(line, random))
		}
	}
	_, ends := s.ban.files()
	end := textOf(ends, random)
	excluded := []string{`a/b`, `third_party/x`, `third_party/blink/x`, `third_party/blin/x`, `third_party/x/blink/`,
		`ios/a`, `a/ios/b`, `xios/a`, `a/x_ios_y`, `android/x`, `a/test/b`}
	for _, e := range s.Excluded {
		if only, ok := onlyFor(e); ok {
			e = only
		}
		if found := unless.FindStringSubmatch(e); found != nil {
			e = found[1] + "(" + found[2] + ")?"
		}
		excluded = append(excluded, e)
	}
	for _, e := range excluded {
		for range 4 {
			path := strings.TrimSuffix(textOf(e, random), "/")
			for _, p := range []string{
				path, path + end, path + "/x" + end, path + "y" + end, "x/" + path + end, nearly(path, random) + end,
			} {
				if whole(p) {
					s.paths = append(s.paths, p)
				}
			}
		}
	}
}

// whole reports whether a text can be a path in a repository, on any system.
func whole(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if strings.Trim(part, ".") == "" || strings.TrimSpace(part) != part || len(part) > 200 {
			return false
		}
	}
	return !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || strings.ContainsRune(`\:*?"<>|`, r) })
}

const alphabet = "abeilnostzABEILNOSTZ059__::;()[]{}<>.,\"'#/ \t-=*&"

// nearly is a line with a letter less, more, or another.
func nearly(line string, random *rand.Rand) string {
	if line == "" {
		return "x"
	}
	at, letter := random.IntN(len(line)), string(alphabet[random.IntN(len(alphabet))])
	switch random.IntN(5) {
	case 0:
		return line[:at] + line[at+1:]
	case 1:
		return line[:at] + letter + line[at:]
	case 2:
		return line[:at] + letter + line[at+1:]
	case 3:
		return letter + line
	}
	return line + letter
}

// textOf is a text that an expression matches, but for what \b asks of its neighbours.
func textOf(expr string, random *rand.Rand) string {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "unsaid"
	}
	var write func(tree *syntax.Regexp) string
	write = func(tree *syntax.Regexp) (text string) {
		times := 1
		switch tree.Op {
		case syntax.OpLiteral:
			return string(tree.Rune)
		case syntax.OpCharClass:
			for range 100 {
				letter := rune(alphabet[random.IntN(len(alphabet))])
				for i := 0; i < len(tree.Rune); i += 2 {
					if tree.Rune[i] <= letter && letter <= tree.Rune[i+1] {
						return string(letter)
					}
				}
			}
			return string(tree.Rune[0])
		case syntax.OpAnyCharNotNL:
			return string(alphabet[random.IntN(len(alphabet))])
		case syntax.OpAlternate:
			return write(tree.Sub[random.IntN(len(tree.Sub))])
		case syntax.OpQuest:
			times = random.IntN(2)
		case syntax.OpStar:
			times = random.IntN(4)
		case syntax.OpPlus:
			times = 1 + random.IntN(3)
		}
		for range times {
			for _, sub := range tree.Sub {
				text += write(sub)
			}
		}
		return text
	}
	return write(tree)
}
