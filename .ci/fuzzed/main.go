// Command fuzzed takes up what make fuzz did:
//
//	make fuzz FUZZTIME=10000000x | tee fuzz.log
//	go run ./.ci/fuzzed fuzz.log
//
// It writes how often each target ran into docs/reliability.md, and takes over of Go's own store of
// inputs those that do something that no smaller one does: into testdata/fuzz, where go test runs them.
package main

import (
	"bytes"
	"cmp"
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

	"github.com/policyscan/policyscan/docs/measured"
)

const (
	module = "github.com/policyscan/policyscan"
	page   = "docs/reliability.md"

	// largest is how many bytes an input that is taken over has at the most, as Go writes it.
	largest = 4 << 10
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fuzzed:", err)
		os.Exit(1)
	}
}

func run(logs []string) error {
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
		if err := takeOver(target); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return nil
}

var (
	head = regexp.MustCompile(`(?m)^== (\S+):(Fuzz\w+)$`)
	ran  = regexp.MustCompile(`(?m)^fuzz: .* execs: (\d+) `)
)

// read returns how often each target ran, FOLDER:TARGET. One that found something is an error.
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
			return nil, fmt.Errorf("%s did not pass; mend what it found, and run it again", target)
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

// An input is a file of Go's store, or of testdata.
type input struct {
	name string
	text []byte
}

// takeOver chooses among the inputs of a target, the smallest first, those by which a statement runs that
// did not run before, or twice as often as before.
func takeOver(target string) error {
	dir, name, _ := strings.Cut(target, ":")
	store, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return err
	}
	kept := filepath.Join(dir, "testdata", "fuzz", name)
	inputs, err := inputsOf(filepath.Join(strings.TrimSpace(string(store)), "fuzz", filepath.FromSlash(path.Join(module, dir)), name), kept)
	if err != nil || len(inputs) == 0 {
		return err
	}
	scratch, err := os.MkdirTemp("", "fuzzed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	binary, profile := filepath.Join(scratch, "test"), filepath.Join(scratch, "profile")
	if out, err := exec.Command("go", "test", "-c", "-covermode", "count", "-coverpkg", "./"+dir+"/...", "-o", binary, "./"+dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.MkdirAll(kept, 0o777); err != nil {
		return err
	}
	seen := map[string]bool{}
	taken := 0
	for _, in := range inputs {
		file := filepath.Join(kept, in.name)
		if err := os.WriteFile(file, in.text, 0o666); err != nil {
			return err
		}
		test := exec.Command(binary, "-test.run", "^"+name+"$/^"+in.name+"$", "-test.coverprofile", profile)
		test.Dir = dir
		if out, err := test.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", file, err, out)
		}
		text, err := os.ReadFile(profile)
		if err != nil {
			return err
		}
		if !covers(text, seen) {
			if err := os.Remove(file); err != nil {
				return err
			}
			continue
		}
		taken++
	}
	fmt.Printf("%s: %d inputs of %d\n", target, taken, len(inputs))
	return nil
}

// inputsOf returns the inputs in some folders, the smallest first.
func inputsOf(dirs ...string) ([]input, error) {
	all := map[string][]byte{}
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			return nil, err
		}
		for _, file := range names {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if len(text) <= largest {
				all[filepath.Base(file)] = text
			}
		}
	}
	var inputs []input
	for name, text := range all {
		inputs = append(inputs, input{name, text})
	}
	slices.SortFunc(inputs, func(a, b input) int {
		return cmp.Or(cmp.Compare(len(a.text), len(b.text)), bytes.Compare(a.text, b.text))
	})
	return inputs, nil
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
