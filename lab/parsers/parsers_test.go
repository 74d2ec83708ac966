// Package parsers tests a law: a value that some YAML parser in use reads at a path is found there by a forbidden
// item, or the file is an error. It generates files and asks the program.
package parsers

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

var (
	documents = flag.Int("documents", 400, "how many files are generated")
	seed      = flag.Uint64("seed", 1, "of the files")
	npm       = flag.String("npm", "", "a directory to install npm's parsers in; PyYAML is required then, too")
	binary    = flag.String("program", "", "a policyscan that is built already")
)

// A judge asks the parsers and the program.
type judge struct {
	program string
	others  [][]string // the commands of parsers in other languages
}

// A miss is an item of a reading that the program does not find.
type miss struct {
	reading
	item string
}

// read returns what each parser reads in each of the files of a directory.
func (j judge) read(t *testing.T, dir string, files []string) (all []reading) {
	t.Helper()
	for i, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".yaml"), []byte(text), 0o600))
		all = append(all, reading{i, "yaml.v3", readYAMLv3([]byte(text))},
			reading{i, "goyaml v2, as kubectl", readKubectl([]byte(text))})
	}
	for _, command := range j.others {
		cmd := exec.Command(command[0], append(command[1:], dir, strconv.Itoa(len(files)))...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		must(t, err)
		for line := range bytes.Lines(out) {
			var r reading
			must(t, decode(line, &r))
			all = append(all, r)
		}
	}
	return all
}

// misses returns what breaks the law in these files, how many values each parser reads, and how many files the program
// refuses.
func (j judge) misses(t *testing.T, files []string) (missed []miss, read map[string]int, refused int) {
	t.Helper()
	root, policy := t.TempDir(), t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "tree"), 0o700))
	must(t, os.Mkdir(filepath.Join(policy, "rules"), 0o700))
	asked, read := make([][]string, len(files)), map[string]int{}
	var all []miss
	for _, r := range j.read(t, filepath.Join(root, "tree"), files) {
		for _, d := range r.Documents {
			for _, item := range items("", d, 0) {
				read[r.Reader]++
				all = append(all, miss{r, item})
				asked[r.File] = append(asked[r.File], item)
			}
		}
	}
	var rules []string
	for i, list := range asked {
		slices.Sort(list)
		if list = slices.Compact(list); len(list) == 0 {
			list = []string{`{"key":"unused"}`}
		}
		rules = append(rules, fmt.Sprintf(`{"id":"F-%d","title":"t","enforcement":{"mode":"fail"},`+
			`"match":{"files":["tree/%d.yaml"],"forbidden_patterns":[%s]}}`, i, i, strings.Join(list, ",")))
	}
	bundle := `{"bundle":"0.2","rules":[` + strings.Join(rules, ",\n") + `]}`
	must(t, os.WriteFile(filepath.Join(policy, "rules", "boundaries.yml"), []byte(bundle), 0o600))

	out, err := exec.Command(j.program, root, "--policy", policy, "--output", "-", "--quiet").Output()
	var verdict struct {
		Violations []struct {
			File     string
			Evidence struct{ Pattern string }
		}
		Errors []struct{ Code, File, Message string }
	}
	if json.Unmarshal(out, &verdict) != nil {
		t.Fatalf("no verdict: %v", err)
	}
	failed, found := map[string]bool{}, map[string]bool{}
	for _, e := range verdict.Errors {
		if e.File == "" {
			t.Fatalf("the bundle: %s: %s", e.Code, e.Message)
		}
		failed[e.File] = true
	}
	for _, v := range verdict.Violations {
		found[v.File+normal(t, v.Evidence.Pattern)] = true
	}
	for _, m := range all {
		file := fmt.Sprintf("tree/%d.yaml", m.File)
		if !failed[file] && !found[file+normal(t, m.item)] {
			missed = append(missed, m)
		}
	}
	return missed, read, len(failed)
}

// normal is an item in one spelling, whatever its escapes.
func normal(t *testing.T, item string) string {
	t.Helper()
	var v struct{ Key, Is any }
	must(t, decode([]byte(item), &v))
	return fmt.Sprintf("%q %T %v", v.Key, v.Is, v.Is)
}

// smallest leaves out tokens as long as the parser still reads what the program passes over.
func (j judge) smallest(t *testing.T, tokens []string, m miss) (string, miss) {
	t.Helper()
	for size := (len(tokens) + 1) / 2; size > 0; {
		var shorter [][]string
		var files []string
		for at := 0; at < len(tokens); at += size {
			less := slices.Delete(slices.Clone(tokens), at, min(at+size, len(tokens)))
			shorter, files = append(shorter, less), append(files, strings.Join(less, ""))
		}
		missed, _, _ := j.misses(t, files)
		if i := slices.IndexFunc(missed, func(other miss) bool { return other.Reader == m.Reader }); i >= 0 {
			m, tokens = missed[i], shorter[missed[i].File]
			size = min(size, (len(tokens)+1)/2)
		} else {
			size /= 2
		}
	}
	return strings.Join(tokens, ""), m
}

// TestParsers shows small files that break the law, of each parser one in a thousand files, and one with a lone CR.
func TestParsers(t *testing.T) {
	program := *binary
	if program == "" {
		program = filepath.Join(t.TempDir(), "policyscan")
		must(t, build.Program(program))
	}
	j := judge{program, others(t)}
	shown, read, missed, refused := map[string]bool{}, map[string]int{}, 0, 0
	for from := 0; from < *documents; from += 1000 {
		var tokens [][]string
		var files []string
		for n := from; n < min(from+1000, *documents); n++ {
			tokens = append(tokens, write(*seed, uint64(n)))
			files = append(files, strings.Join(tokens[n-from], ""))
		}
		broken, values, errors := j.misses(t, files)
		for reader, n := range values {
			read[reader] += n
		}
		missed, refused = missed+len(broken), refused+errors
		for _, m := range broken {
			kind := fmt.Sprint(from, m.Reader)
			if strings.Contains(strings.ReplaceAll(files[m.File], "\r\n", ""), "\r") {
				kind = "a lone CR"
			}
			if !shown[kind] {
				shown[kind] = true
				text, small := j.smallest(t, tokens[m.File], m)
				t.Errorf("file %d: %s reads %s, which a forbidden item does not find in\n\t%q",
					from+m.File, m.Reader, small.item, text)
			}
		}
	}
	t.Logf("measured: %d files (-seed %d), %d refused; values read, by parser: %v; %d missed",
		*documents, *seed, refused, read, missed)
}

// others returns the commands of the parsers of other languages.
func others(t *testing.T) (commands [][]string) {
	t.Helper()
	if err := exec.Command("python3", "-c", "import yaml").Run(); err == nil {
		commands = append(commands, []string{"python3", "read.py"})
	} else if t.Logf("without PyYAML: python3 -c 'import yaml': %v", err); *npm != "" {
		t.FailNow()
	}
	if err := exec.Command("ruby", "-ryaml", "-e", "").Run(); err == nil {
		commands = append(commands, []string{"ruby", "read.rb"})
	} else {
		t.Logf("without Ruby: %v", err)
	}
	if *npm == "" {
		t.Log("without npm's yaml and js-yaml: name a directory to install them in with -npm")
		return commands
	}
	script, err := os.ReadFile("read.cjs")
	must(t, err)
	beside := filepath.Join(*npm, "read.cjs") // where require finds them
	must(t, os.WriteFile(beside, script, 0o600))
	install := exec.Command("npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--silent",
		"yaml@2.9.1", "js-yaml@4.3.2")
	install.Dir = *npm
	if said, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, said)
	}
	return append(commands, []string{"node", beside})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
