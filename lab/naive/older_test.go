package naive

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
)

var (
	older = flag.String("base", "", "a commit: what its program says of 0.1 bundles is compared")
	built = flag.String("built", "", "the program of -base, built already")
)

// TestOlder compares policyscan with its program at an older commit, one that reads only bundles of 0.1, over
// generated ones: what a scan leaves and prints, and what list, validate, test, eval or an agent's hook does, byte for
// byte.
// Many of the bundles are refused: there the words may be others, see reworded.
// The older program must refuse each generated bundle of 0.2.
func TestOlder(t *testing.T) {
	if *pairs == 0 || *older == "" {
		t.Skip("it takes minutes; see make same")
	}
	before, after := *built, *binary
	if before == "" {
		before = filepath.Join(t.TempDir(), "before")
		if err := build.Commit(*older, before); err != nil {
			t.Fatal(err)
		}
	}
	if after == "" {
		after = filepath.Join(t.TempDir(), "after")
		if err := build.Program(after); err != nil {
			t.Fatal(err)
		}
	}
	counts, different := overPairs(t, 20, func(folder string) comparison {
		c := olderComparer{before: before, after: after, folder: folder}
		return func(n int) (had []string, differs []error) {
			p := newOlderPair(n)
			had, err := c.compare(p)
			if err != nil {
				differs = append(differs, fmt.Errorf("pair %d (-seed %d -only %d):\n%v%w", n, *seed, n, p, err))
			}
			newer, err := c.refusesNewer(newPair(n))
			if err != nil {
				differs = append(differs, fmt.Errorf("the bundle of 0.2 of pair %d (-seed %d -only %d):\n%w",
					n, *seed, n, err))
			}
			return append(had, newer...), differs
		}
	})
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%6d %s", counts[what], what)
	}
	t.Logf("measured: %d pairs, %d differ", counts["pairs"], different)
}

// An olderComparer runs the two programs, in a folder of its own.
type olderComparer struct {
	before, after, folder string
}

// An asked is how a program is called.
type asked struct {
	args  []string
	stdin []byte
}

// A run is what a program did.
type run struct {
	status  int
	out     string
	said    string
	verdict string // of a scan
}

// compare asks both programs and returns what the pair had, for the counts, and how they differ.
func (c olderComparer) compare(p olderPair) (had []string, err error) {
	policy, tree, home := filepath.Join(c.folder, "policy"), filepath.Join(c.folder, "tree"), filepath.Join(c.folder,
		"home")
	second := filepath.Join(c.folder, "second")
	for _, folder := range []string{policy, tree, second} {
		if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o777)); err != nil {
			return nil, err
		}
	}
	if p.inTree {
		policy = filepath.Join(tree, ".policyscan")
	}
	scope, stdin, err := p.place(tree)
	if err != nil {
		return nil, err
	}
	for folder, files := range map[string][]ruleText{policy: p.files, second: p.second} {
		if err := WriteTree(folder, rulesIn(files)); err != nil {
			return nil, err
		}
	}
	verdict := filepath.Join(c.folder, "verdict.json")
	var policies []string
	if !p.inTree {
		policies = []string{"--policy", policy}
	}
	if p.second != nil {
		policies = []string{"--policy", policy, "--policy", second}
	}
	scan := slices.Concat([]string{"scan", "--output", verdict}, policies, p.scan, scope)
	command := slices.Concat(p.command, policies)
	var call []byte
	switch p.command[0] {
	case "eval", "hook":
		call = p.call(tree)
	case "list", "validate", "test":
		if p.inTree {
			command = append(command, "--policy", policy)
		}
	}
	ask := func(program string, args []string, stdin []byte) (run, error) {
		if err := errors.Join(os.RemoveAll(home), os.RemoveAll(verdict), os.MkdirAll(home, 0o700)); err != nil {
			return run{}, err
		}
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Stdin = tree, bytes.NewReader(stdin)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			return run{}, err
		}
		written, err := os.ReadFile(verdict)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return run{}, err
		}
		return run{cmd.ProcessState.ExitCode(), shown(out.String()), shown(said.String()), string(written)}, nil
	}
	had = append(p.odd, "pairs", "scope "+p.scope, "command "+p.command[0])
	for _, asked := range []asked{{scan, stdin}, {command, call}}[:p.asked] {
		one, err := ask(c.before, asked.args, asked.stdin)
		if err != nil {
			return nil, err
		}
		two, err := ask(c.after, asked.args, asked.stdin)
		if err != nil {
			return nil, err
		}
		had = append(had, fmt.Sprintf("%s: status %d", asked.args[0], one.status))
		if one == two {
			continue
		}
		if p.saysVersion() && one.isRefused() {
			had = append(had, "differs: a bundle that says a version, which the older program refuses")
			continue
		}
		kinds, err := reworded(one, two)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", asked.args, err)
		}
		had = append(had, kinds...)
	}
	return had, nil
}

// rulesIn are the rule files as files of a bundle's folder.
func rulesIn(files []ruleText) []File {
	var all []File
	for _, f := range files {
		all = append(all, File{"rules/" + f.name, f.yaml(), Regular})
	}
	return all
}

var (
	seconds = regexp.MustCompile(`, \d+\.\d\d s\n`)
	style   = regexp.MustCompile(`(?s)<style>.*?</style>|style-src '[^']*'`)
	spaces  = regexp.MustCompile(` {2,}`)
)

// shown is what is printed without the time that a scan took, the style of the page, and the number of spaces:
// reports now show those of a pattern as they are. In the verdict every byte counts.
func shown(text string) string {
	text = seconds.ReplaceAllString(text, ", N s\n")
	return spaces.ReplaceAllString(style.ReplaceAllString(text, ""), " ")
}

// refusesNewer runs the older program on a bundle of 0.2: it has to refuse it.
func (c olderComparer) refusesNewer(p pair) (had []string, err error) {
	if !slices.ContainsFunc(p.files, func(f ruleText) bool { return f.version != "" }) {
		return nil, nil
	}
	policy, tree := filepath.Join(c.folder, "policy"), filepath.Join(c.folder, "tree")
	if err := errors.Join(os.RemoveAll(policy), os.RemoveAll(tree), os.MkdirAll(tree, 0o777), WriteTree(policy,
		rulesIn(p.files))); err != nil {
		return nil, err
	}
	cmd := exec.Command(c.before, "scan", "--output", "none", "--policy", policy, "--stdin", "--stdin-path", "x.tf")
	cmd.Dir = tree
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return nil, err
	}
	if status := cmd.ProcessState.ExitCode(); status != 2 || bytes.Contains(out, []byte("goroutine")) {
		return nil, fmt.Errorf("%vstatus %d of the older program\n%s", p, status, out)
	}
	return []string{"bundles of 0.2, which the older program refuses"}, nil
}

// reworded compares two runs that differ: nothing may, but what is said of a bundle that is refused.
// It returns the kinds of differences.
func reworded(one, two run) (kinds []string, err error) {
	differs := func(what, before, after string) error {
		return fmt.Errorf("%s\nbefore: %s\nafter:  %s", what, before, after)
	}
	switch {
	case one.status != two.status:
		return nil, differs("the status", fmt.Sprint(one), fmt.Sprint(two))
	case one.verdict == "" || two.verdict == "":
		a, b := one.lines(), two.lines()
		if len(a) != len(b) {
			return nil, differs("what is said", one.out+one.said, two.out+two.said)
		}
		for i := range a {
			if a[i] != b[i] {
				kind, err := rewordedMessage(a[i], b[i])
				if err != nil {
					return nil, err
				}
				kinds = append(kinds, kind)
			}
		}
		return kinds, nil
	}
	var a, b map[string]any
	if err := errors.Join(json.Unmarshal([]byte(one.verdict), &a), json.Unmarshal([]byte(two.verdict),
		&b)); err != nil {
		return nil, err
	}
	before, after := a["errors"].([]any), b["errors"].([]any)
	if len(before) != len(after) {
		return nil, differs("the number of errors", one.verdict, two.verdict)
	}
	for i := range before {
		x, y := before[i].(map[string]any), after[i].(map[string]any)
		if x["message"] == y["message"] {
			continue
		}
		kind, err := rewordedMessage(x["message"].(string), y["message"].(string))
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
		x["message"], y["message"] = "", ""
	}
	if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
		return nil, differs("the verdict", x, y)
	}
	if len(kinds) == 0 {
		return nil, differs("what is said", one.out+one.said, two.out+two.said)
	}
	return kinds, nil
}

// lines are the lines of what was said, in JSON too.
func (r run) lines() []string {
	return strings.Split(strings.ReplaceAll(r.out+"\n"+r.said, `\"`, `"`), "\n")
}

// words are what is meant to be said otherwise: messages about what only bundles of 0.2 can have.
var words = []struct{ kind, before, after string }{
	{"a key of match of 0.2",
		`unknown key "(path_case|forbidden_files|required_files|required_patterns|unparsable)" in "match"; `,
		`"$1" needs version 0.2; `},
	{"a key of a file of 0.2", `unknown key "(type|exclude)" in the file; `, `"$1" needs version 0.2; `},
	{"an item of 0.2", `a mapping in "(forbidden_patterns|required_absent)", where a string belongs; `,
		`a mapping in "$1", which needs version 0.2; `},
	{"a version in a rule", `unknown key "(bundle)" in a rule; `, `"$1" in a rule, where it changes nothing; `},
	{"allowances", `(rules/allowances\.yml.*?): this file is not read: `,
		`$1: allowances are not yet read by this version of policyscan; `},
}

// rewordedMessage returns the kind of a difference of words that is meant. The place has to be the same, and so has
// what comes before the words.
func rewordedMessage(before, after string) (kind string, err error) {
	for _, w := range words {
		rx := regexp.MustCompile(w.before)
		at := rx.FindStringIndex(before)
		if at == nil {
			continue
		}
		if begin := rx.ReplaceAllString(before[:at[1]], w.after); strings.HasPrefix(after, begin) {
			return "other words: " + w.kind, nil
		}
	}
	return "", fmt.Errorf("a message\nbefore: %s\nafter:  %s", before, after)
}

// saysVersion reports whether a rule file has a key like bundle: then the newer program reads it as 0.2.
func (p olderPair) saysVersion() bool {
	return slices.ContainsFunc(slices.Concat(p.files, p.before, p.second), func(f ruleText) bool {
		return versionLike.MatchString(f.yaml())
	})
}

var versionLike = regexp.MustCompile(`(?im)^\W{0,3}bund`)

// isRefused reports whether a program refused the bundle, or one of them: an incomplete FAIL, or a call that is
// denied.
func (r run) isRefused() bool {
	return r.status == 2 || r.status == 1 && strings.Contains(r.verdict, `"complete": false`) ||
		strings.Contains(r.out, "so it is denied") || strings.Contains(r.out, `"decision":"deny"`)
}
