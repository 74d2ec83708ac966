// Command fuzz keeps what fuzzing found:
//
//	fuzz unpack [TARGET...]   put the kept inputs where go test -fuzz finds them; make fuzz does this first
//	fuzz keep LOG...          record a run of make fuzz, from what it printed
//
// Inputs that a run found are in lab/fuzz/corpus, an archive for each directory, so that they are not a thousand files of
// the tree. Seeds that a person wrote, and crashers with a name, are in the tests. keep writes how often each target
// ran into lab/results/reliability.md, and of Go's own store of inputs it keeps each that does what no smaller one
// does. A target is written DIR:NAME, from the root of the repository.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/measured"
)

const (
	module = "github.com/policyscan/policyscan"
	page   = "lab/results/reliability.md"

	// largest is the limit of an input's size in bytes, as Go writes it.
	largest = 4 << 10
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || args[0] != "unpack" && args[0] != "keep" || args[0] == "keep" && len(args) == 1 {
		return errors.New("usage: fuzz unpack [TARGET...], or fuzz keep LOG..., at least one")
	}
	for i := range args[1:] {
		if args[0] == "keep" {
			var err error
			if args[i+1], err = filepath.Abs(args[i+1]); err != nil {
				return err
			}
		}
	}
	root, err := build.Root()
	if err == nil {
		err = os.Chdir(root)
	}
	if err != nil {
		return err
	}
	if args[0] == "unpack" {
		return unpack(args[1:])
	}
	return keep(args[1:])
}

func keep(logs []string) error {
	var text []byte
	for _, name := range logs {
		log, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text = append(text, log...)
	}
	done, err := read(string(text))
	if err != nil {
		return err
	}
	if err := write(done); err != nil {
		return err
	}
	for _, target := range slices.Sorted(maps.Keys(done)) {
		if err := keepInputs(target); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return nil
}

var (
	head = regexp.MustCompile(`(?m)^== (\S+):(Fuzz\w+)$`)
	ran  = regexp.MustCompile(`(?m)^fuzz: .* execs: (\d+) `)
)

// read returns how often each target ran, DIR:TARGET. One that found something is an error.
func read(log string) (map[string]int, error) {
	done := map[string]int{}
	heads := head.FindAllStringSubmatchIndex(log, -1)
	for i, at := range heads {
		end := len(log)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		target, said := log[at[2]:at[3]]+":"+log[at[4]:at[5]], log[at[1]:end]
		times := ran.FindAllStringSubmatch(said, -1)
		if times == nil || !strings.Contains(said, "\nPASS\n") {
			return nil, fmt.Errorf("%s did not pass; fix what it found, and run it again", target)
		}
		n, err := strconv.Atoi(times[len(times)-1][1])
		if err != nil {
			return nil, err
		}
		done[strings.TrimPrefix(target, module+"/")] = n
	}
	if len(done) == 0 {
		return nil, fmt.Errorf("the log has no line == PACKAGE:TARGET")
	}
	return done, nil
}

var row = regexp.MustCompile("(?m)^\\| `(\\S+)` \\| (\\d+) \\|$")

// write puts the numbers into the page's table, whose other rows stay, and those with larger numbers.
func write(done map[string]int) error {
	table, err := measured.Part(page, "fuzzing")
	if err != nil {
		return err
	}
	rows := maps.Clone(done)
	for _, r := range row.FindAllStringSubmatch(table, -1) {
		before, err := strconv.Atoi(r[2])
		if err != nil {
			return err
		}
		rows[r[1]] = max(rows[r[1]], before)
	}
	var b strings.Builder
	b.WriteString("| target | runs |\n|---|---|\n")
	for _, target := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "| `%s` | %d |\n", target, rows[target])
	}
	return measured.Write(page, "fuzzing", b.String())
}

// An input is what Go's store has in a file: what go test -fuzz gives to a target.
type input struct {
	name string
	text []byte
}

// keepInputs chooses among the inputs of a target, the smallest first, those by which a statement runs that
// did not run before, or twice as often as before.
func keepInputs(target string) error {
	dir, name, _ := strings.Cut(target, ":")
	found, err := store(dir, name)
	if err != nil {
		return err
	}
	inputs, err := inputsOf(found)
	if err != nil {
		return err
	}
	old, err := readCorpus(target)
	if err != nil {
		return err
	}
	if inputs = smallestFirst(append(inputs, old...)); len(inputs) == 0 {
		return nil
	}
	scratch, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	binary, profile := filepath.Join(scratch, "test"), filepath.Join(scratch, "profile")
	if err := inModule(dir, "test", "-c", "-covermode", "count", "-coverpkg", module+"/"+dir+"/...", "-o", binary, module+"/"+dir); err != nil {
		return err
	}
	// Go runs an input of testdata/fuzz by its name.
	seeds := filepath.Join(dir, "testdata", "fuzz", name)
	made := !isDir(seeds)
	if err := os.MkdirAll(seeds, 0o777); err != nil {
		return err
	}
	seen := map[string]bool{}
	var kept []input
	for _, in := range inputs {
		news, err := try(binary, profile, filepath.Join(seeds, in.name), name, in, seen)
		if err != nil {
			return err
		}
		if news {
			kept = append(kept, in)
		}
	}
	if made {
		for _, parent := range []string{seeds, filepath.Dir(seeds), filepath.Dir(filepath.Dir(seeds))} {
			_ = os.Remove(parent) // those above may hold something else
		}
	}
	fmt.Printf("%s: %d inputs of %d\n", target, len(kept), len(inputs))
	return writeCorpus(target, kept)
}

// try runs one input and reports whether it does something that none before it did.
func try(binary, profile, file, target string, in input, seen map[string]bool) (news bool, err error) {
	if err := os.WriteFile(file, in.text, 0o666); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.Remove(file)) }()
	test := exec.Command(binary, "-test.run", "^"+target+"$/^"+in.name+"$", "-test.coverprofile", profile)
	test.Dir = filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(file))))
	if out, err := test.CombinedOutput(); err != nil {
		return false, fmt.Errorf("%s: %w\n%s", file, err, out)
	}
	text, err := os.ReadFile(profile)
	return err == nil && covers(text, seen), err
}

// inModule runs the go command in the module that a directory of the repository belongs to.
func inModule(dir string, args ...string) error {
	cmd := exec.Command("go", args...)
	if strings.HasPrefix(dir, "lab/") {
		cmd.Dir = "lab"
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %q: %w\n%s", args, err, out)
	}
	return nil
}

func isDir(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}

// store returns the directory in which go test -fuzz keeps the inputs of a target.
func store(dir, name string) (string, error) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	return filepath.Join(strings.TrimSpace(string(cache)), "fuzz", filepath.FromSlash(path.Join(module, dir)), name), err
}

// inputsOf returns the inputs in a directory, except too large ones.
func inputsOf(dir string) ([]input, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	var inputs []input
	for _, file := range names {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if len(text) <= largest {
			inputs = append(inputs, input{filepath.Base(file), text})
		}
	}
	return inputs, nil
}

// smallestFirst sorts inputs by their size, and drops duplicates.
func smallestFirst(inputs []input) []input {
	slices.SortFunc(inputs, func(a, b input) int {
		return cmp.Or(cmp.Compare(len(a.text), len(b.text)), bytes.Compare(a.text, b.text), cmp.Compare(a.name, b.name))
	})
	return slices.CompactFunc(inputs, func(a, b input) bool { return bytes.Equal(a.text, b.text) })
}

// covers adds what a profile covers to what is seen, and reports whether some of it is new.
func covers(profile []byte, seen map[string]bool) (news bool) {
	for line := range strings.Lines(string(profile)) {
		block, count, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		_, count, _ = strings.Cut(count, " ")
		n, err := strconv.ParseUint(count, 10, 64)
		if err != nil || n == 0 {
			continue // the first line has no count
		}
		if key := fmt.Sprint(block, " ", bits.Len64(n)); !seen[key] {
			seen[key], news = true, true
		}
	}
	return news
}
