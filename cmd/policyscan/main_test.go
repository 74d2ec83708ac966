package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	update = flag.Bool("update", false, "write the expected output within the scripts again")
	long   = flag.Bool("long", false, "do all of the tests that otherwise do a part")
)

// TestMain puts the program into the PATH as "policyscan", for scripts and other tests that run it.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"policyscan": main})
}

// tests are the package's tests with cleanup.
type tests struct{ *testing.M }

func (m tests) Run() int {
	// Most of the time a test waits for the program, which is another process: more of them than processors get
	// their share of a busy machine.
	flag.Parse()
	if side := flag.Lookup("test.parallel"); side.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		if err := side.Value.Set("8"); err != nil {
			panic(err) // it is a number
		}
	}
	status := 1
	if err := errors.Join(writeGitConfig(), install()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		status = m.M.Run()
	}
	if err := os.RemoveAll(releasedDir()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	return status
}

// install puts the program as it is released before the one of testscript.Main, which is this test binary. The tests
// start it about 3,000 times, and the libraries of tests make each start take twice as long. Where coverage or races
// are counted, and where there is no go command, the test binary remains.
func install() error {
	info, ok := debug.ReadBuildInfo()
	race := ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
	if _, err := exec.LookPath("go"); err != nil || race || testing.CoverMode() != "" {
		return nil
	}
	file, err := released()
	if err != nil {
		return err
	}
	return os.Setenv("PATH", filepath.Dir(file)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// releasedDir is where released puts the program.
func releasedDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("policyscan-released-%d", os.Getpid()))
}

// gitConfig is the user's configuration of git in all tests.
func gitConfig() string { return filepath.Join(releasedDir(), "gitconfig") }

// writeGitConfig keeps git from starting another program after each commit.
func writeGitConfig() error {
	if err := os.MkdirAll(releasedDir(), 0o777); err != nil {
		return err
	}
	return os.WriteFile(gitConfig(), []byte("[maintenance]\n\tauto = false\n"), 0o666)
}

// gitEnv is git's environment, isolated from the machine.
func gitEnv() []string {
	return []string{
		"GIT_CONFIG_GLOBAL=" + gitConfig(), "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com",
	}
}

// released builds the program as it is released, once for all tests, and returns its path.
var released = sync.OnceValues(func() (string, error) {
	file := filepath.Join(releasedDir(), "policyscan")
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return file, err
})

// storyHead is the line before a story, with its name.
var storyHead = regexp.MustCompile(`(?m)^=== (\w+) ===\n`)

// stories returns the files of the stories in testdata/script. A file without a storyHead is one story. Of a file of
// several, each is written to its own file, at the line that it has among the others; with -update they are put
// back when the test ends.
func stories(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	dir, in, all := t.TempDir(), map[string]string{}, []string(nil)
	add := func(file, story string) {
		name := filepath.Base(story)
		if other := in[name]; other != "" {
			t.Fatalf("%s and %s have a story %s", other, file, name)
		}
		in[name], all = file, append(all, story)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		heads := storyHead.FindAllStringSubmatchIndex(text, -1)
		if len(heads) == 0 {
			add(file, file)
			continue
		}
		if heads[0][0] > 0 {
			t.Fatalf("%s does not begin with the name of a story", file)
		}
		parts := filepath.Join(dir, filepath.Base(file))
		if err := os.Mkdir(parts, 0o777); err != nil {
			t.Fatal(err)
		}
		var own []string
		for i, at := range heads {
			end := len(text)
			if i+1 < len(heads) {
				end = heads[i+1][0]
			}
			story := filepath.Join(parts, text[at[2]:at[3]]+".txtar")
			above := strings.Repeat("\n", strings.Count(text[:at[1]], "\n"))
			if err := os.WriteFile(story, []byte(above+text[at[1]:end]), 0o666); err != nil {
				t.Fatal(err)
			}
			add(file, story)
			own = append(own, story)
		}
		if *update {
			t.Cleanup(func() { putBack(t, file, text, heads, own) })
		}
	}
	return all
}

// putBack writes a file of several stories again, whose text was this, with these storyHeads.
func putBack(t *testing.T, file, text string, heads [][]int, stories []string) {
	var b strings.Builder
	for i, at := range heads {
		story, err := os.ReadFile(stories[i])
		if err != nil {
			t.Error(err)
			return
		}
		b.WriteString(text[at[0]:at[1]])
		b.Write(story[strings.Count(text[:at[1]], "\n"):])
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Error(err)
	}
}

// TestScripts runs the stories of testdata/script, each in its own directory, with testscript's commands and:
//
//	status N program args…   run a program that must end with exit status N
//	report FILE              keep the last standard output, the seconds left out
//	verdict FILE WANT…       check a verdict: the schema, PASS, FAIL or UNDECIDED, and exactly
//	                         the violations (RULE@FILE) and error codes (E_…) that follow
//	examples DIR             copy the repository's examples
//	write NAME CONTENT       write a file; both are Go strings without their quotes
//	edit FILE NEW OLD TEXT   write a file with the first OLD in FILE replaced by TEXT
//	fifo NAME                make a FIFO
//	sum VARIABLE BUNDLE      set a variable to a bundle's hash
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	missing := strings.Repeat("12", 20) // a commit of no repository
	if os.Getenv("GIT_DEFAULT_HASH") == "sha256" {
		missing = strings.Repeat("12", 32)
	}
	testscript.Run(t, testscript.Params{
		Files:         stories(t),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			env.Setenv("MISSING", missing)
			env.Vars = slices.Concat(env.Vars, gitEnv(), inherited())
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "long":
				return *long, nil
			case "devfull":
				return exists("/dev/full"), nil
			}
			return false, fmt.Errorf("no condition is named %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   statusCommand,
			"report":   reportCommand,
			"verdict":  verdictCommand,
			"places":   placesCommand,
			"examples": examplesCommand,
			"write":    writeCommand,
			"edit":     editCommand,
			"fifo":     fifoCommand,
			"hash":     hashCommand,
			"here":     hereCommand,
			"sum":      sumCommand,
		},
	})
}

// placesCommand compares the labels of a verdict's violations, each as RULE@FILE, its status, and the line and column
// of each place, with a + if it is introduced.
func placesCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 1, "places FILE 'RULE@FILE STATUS PLACES'…")
	v, err := readVerdict([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	var got []string
	for i := range v.Violations {
		x := &v.Violations[i]
		line := fmt.Sprintf("%s@%s %s", x.RuleID, x.File, x.Status)
		for _, p := range x.Evidence.Places {
			line += fmt.Sprintf(" %d:%d", p.Line, p.Column)
			switch {
			case p.Status == "introduced":
				line += "+"
			case p.Status != "pre_existing":
				line += "?"
			}
			if p.Excerpt != "" {
				line += fmt.Sprintf("%q", p.Excerpt)
			}
		}
		got = append(got, line)
	}
	if want := args[1:]; !slices.Equal(got, want) {
		ts.Fatalf("the places are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func usage(ts *testscript.TestScript, neg, ok bool, text string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", text)
	}
}

func statusCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "status N program args…")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitOf(ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
	if want == 0 && slices.Contains(args, "explain") && slices.Contains(args, "--json") {
		checkExplanation(ts)
	}
}

// exitOf is the exit status that an error of package exec means, 128 and more for a
// signal as in a shell, and -1 for a program that did not run.
func exitOf(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return -1
	case exit.ExitCode() < 0:
		return 128 + signalOf(exit)
	}
	return exit.ExitCode()
}

// elapsed is what differs between two runs of a report.
var elapsed = regexp.MustCompile(`, \d+\.\d\d s\n`)

func timeless(report string) string { return elapsed.ReplaceAllString(report, ", N s\n") }

func reportCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "report FILE")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(timeless(ts.ReadFile("stdout"))), 0o666))
}

func verdictCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "verdict FILE PASS|FAIL|UNDECIDED [RULE@FILE | E_CODE]…")
	v, err := readVerdict([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	if *long { // whatever the scan did, and without its flags: the same, or it cannot be made again
		verify := exec.Command("policyscan", "verify", ts.MkAbs(args[0]))
		verify.Dir = ts.MkAbs(".")
		if out, err := verify.Output(); exitOf(err) == exitViolation {
			ts.Fatalf("%s", out)
		}
	}
	if got := summaryOf(v); !slices.Equal(got, args[1:]) {
		ts.Fatalf("the verdict is %q, want %q; its errors: %+v", got, args[1:], v.Errors)
	}
}

func examplesCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "examples DIR")
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(ts.Getenv("EXAMPLES"))))
}

func writeCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "write NAME CONTENT")
	name, err := strconv.Unquote(`"` + args[0] + `"`)
	ts.Check(err)
	content, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	file := ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o777))
	ts.Check(os.WriteFile(file, []byte(content), 0o666))
}

func editCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 4, "edit FILE NEW OLD TEXT")
	before, after, found := strings.Cut(ts.ReadFile(args[0]), args[2])
	if !found {
		ts.Fatalf("%q is not in %s", args[2], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(before+args[3]+after), 0o666))
}

func fifoCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "fifo NAME")
	if runtime.GOOS == "windows" {
		ts.Fatalf("no FIFO here; guard the script with [unix]")
	}
	ts.Check(exec.Command("mkfifo", ts.MkAbs(args[0])).Run())
}

func hashCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "hash VARIABLE REV")
	ts.Check(ts.Exec("git", "rev-parse", "--verify", args[1]))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// sumCommand sets a variable to a bundle's hash.
func sumCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "sum VARIABLE BUNDLE")
	ts.Check(ts.Exec("policyscan", "validate", args[1]))
	_, sum, _ := strings.Cut(ts.ReadFile("stdout"), "sha256 ")
	ts.Setenv(args[0], strings.TrimSpace(sum))
}

// hereCommand replaces HERE in JSON files by the script's directory.
func hereCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) > 0, "here FILE...")
	dir, err := filepath.EvalSymlinks(ts.MkAbs("."))
	ts.Check(err)
	quoted, err := json.Marshal(dir)
	ts.Check(err)
	for _, name := range args {
		text := strings.ReplaceAll(ts.ReadFile(name), "HERE", strings.Trim(string(quoted), `"`))
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o666))
	}
}

// summaryOf is a verdict in the words of the verdict command.
func summaryOf(v *verdictFile) []string {
	words := []string{string(v.Verdict.Verdict)}
	if !v.Complete && len(v.Violations) == 0 {
		words[0] = "UNDECIDED"
	}
	for i := range v.Violations {
		words = append(words, v.Violations[i].RuleID+"@"+v.Violations[i].File)
	}
	for _, e := range v.Errors {
		words = append(words, e.Code)
	}
	return words
}
