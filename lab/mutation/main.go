// Command mutation asks whether the tests notice a change of the code: gremlins changes one operator at a time, and a test of
// the room has to notice.
//
//	make mutate                                # all rooms, hours
//	go run -C lab ./mutation -again DIR ROOM... # the unexplained survivors of an earlier run, with today's tests
//
// What no test noticed has to be in lived.txt, with a reason. If all of it does, what was done goes
// into lab/results/reliability.md; the rows of rooms that were not asked stay as they are.
//
// gremlins (v0.6.0) calls a mutant that does not compile killed, makes each minus a plus twice, by two names, and
// takes the cases of a switch for code that no test reaches. That is put right here.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/measured"
)

const gremlins = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"

func main() {
	again := flag.Bool("again", false, "try only the unexplained survivors of an earlier run, in DIR, of the same code")
	limit := flag.Duration("limit", 30*time.Second, "what the tests may take with a mutant, about")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: mutation [-again] [-limit DURATION] DIR [ROOM...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Args()[1:], *again, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

func run(dir string, rooms []string, again bool, limit time.Duration) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	root, err := build.Root()
	if err == nil {
		err = os.Chdir(root)
	}
	if err != nil {
		return err
	}
	all := len(rooms) == 0
	if all {
		if rooms, err = allRooms(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	reasons, err := explained()
	if err != nil {
		return err
	}
	counts := map[string]*count{}
	unexplained := 0
	for _, room := range rooms {
		result := filepath.Join(dir, strings.ReplaceAll(room, "/", "_")+".json")
		if !again {
			if err := unleash(room, result, limit); err != nil {
				return fmt.Errorf("%s: %w", room, err)
			}
		}
		if err := retry(room, result, again, reasons, limit); err != nil {
			return fmt.Errorf("%s: %w", room, err)
		}
		r, err := readResult(result)
		if err != nil {
			return fmt.Errorf("%s: %w", room, err)
		}
		mutants, err := mutantsOf(room, r)
		if err != nil {
			return fmt.Errorf("%s: %w", room, err)
		}
		c := &count{}
		counts[room] = c
		for _, m := range mutants {
			if _, known := reasons[m.key()]; m.status == "LIVED" && !known {
				unexplained++
				fmt.Printf("%s: %s\n\tis %s\n", m.at, m.key(), m.line)
			} else if m.status == "LIVED" {
				reasons[m.key()] = true
			}
			c.add(m.status)
		}
	}
	if unexplained > 0 {
		return fmt.Errorf("no test noticed %d mutants: write one, or say in %s why none can", unexplained, lived)
	}
	for _, key := range slices.Sorted(maps.Keys(reasons)) {
		file, _, _ := strings.Cut(key, ": ")
		if !reasons[key] && slices.Contains(rooms, path.Dir(file)) {
			return fmt.Errorf("%s has %q, which does not live", lived, key)
		}
	}
	if !all {
		if err := others(counts); err != nil {
			return err
		}
	}
	return measured.Write(page, "mutation", table(counts))
}

const page = "lab/results/reliability.md"

// others adds what the page says of the rooms that were not asked.
func others(counts map[string]*count) error {
	text, err := measured.Part(page, "mutation")
	if err != nil {
		return err
	}
	for row := range strings.Lines(text) {
		c, room, mutants, noticed := &count{}, "", 0, ""
		if n, _ := fmt.Sscanf(row, "| `%s | %d | %d | %d | %d | %s | %d | %d |", &room, &mutants, &c.killed, &c.timedOut, &c.lived, &noticed, &c.uncovered, &c.invalid); n != 8 {
			continue // no row, or a sum
		}
		room = strings.TrimSuffix(room, "`")
		if _, again := counts[room]; !again {
			counts[room] = c
		}
	}
	return nil
}

// allRooms returns the directories of agent, rules, scanner and verdict that hold code.
func allRooms() ([]string, error) {
	out, err := exec.Command("go", "list", "-f", "{{if .GoFiles}}{{.ImportPath}}{{end}}", "./agent/...", "./rules/...", "./scanner/...", "./verdict/...").Output()
	if err != nil {
		return nil, err
	}
	var rooms []string
	for _, name := range strings.Fields(string(out)) {
		rooms = append(rooms, strings.TrimPrefix(name, "github.com/policyscan/policyscan/"))
	}
	return rooms, nil
}

// testsOf returns the packages whose tests hold a room: its own, and those of a room that it was cut out of.
func testsOf(room string) []string {
	switch room {
	case "scanner/allowance", "scanner/baseline", "scanner/check", "scanner/checkout", "scanner/match", "scanner/run",
		"scanner/tree":
		return []string{"./" + room, "./scanner"}
	case "verdict":
		return []string{"./verdict", "./verdict/report"}
	}
	return []string{"./" + room}
}

// unleash has gremlins change the files of a room, not those of the rooms below.
func unleash(room, result string, limit time.Duration) error {
	gremlins := func(args ...string) *exec.Cmd {
		cmd := exec.Command("go", slices.Concat([]string{"run", gremlins, "unleash", "--invert-negatives=false"}, args, []string{"./" + room})...)
		cmd.Env = append(os.Environ(), "GOFLAGS=-count=1 -vet=off") // the cache must not answer
		cmd.Stderr = os.Stderr
		return cmd
	}
	below, err := os.ReadDir(room)
	if err != nil {
		return err
	}
	var others []string
	for _, d := range below {
		if d.IsDir() {
			others = append(others, "-E", "^"+d.Name()+"/")
		}
	}
	// What a mutant may take is a multiple of what the tests take without one: the second time, when they are built.
	var took time.Duration
	for range 2 {
		out, err := gremlins(append(others, "--dry-run")...).Output()
		if err != nil {
			return err
		}
		said := tests.FindSubmatch(out)
		if said == nil {
			return fmt.Errorf("gremlins does not report how long the tests take:\n%s", out)
		}
		if took, err = time.ParseDuration(string(said[1])); err != nil {
			return err
		}
	}
	cmd := gremlins(append(others, "-o", result, "--timeout-coefficient", fmt.Sprint(max(2, int(limit/took))))...)
	cmd.Stdout = os.Stdout
	return cmd.Run()
}

// tests is what gremlins says of the tests without a mutant.
var tests = regexp.MustCompile(`Gathering coverage\.\.\. done in (\S+)`)

// A count is the mutants of a room by result.
type count struct{ killed, timedOut, lived, uncovered, invalid int }

func (c *count) add(status string) {
	switch status {
	case "KILLED":
		c.killed++
	case "TIMED OUT":
		c.timedOut++
	case "LIVED":
		c.lived++
	case "NOT COVERED":
		c.uncovered++
	case invalid:
		c.invalid++
	}
}

// noticed is the part of the mutants that the room's tests reach of which they said so.
func (c *count) noticed() float64 {
	return 100 * float64(c.killed+c.timedOut) / float64(c.killed+c.timedOut+c.lived)
}

// table is the counts by room; at the end the sums of each of the three, and of all.
func table(rooms map[string]*count) string {
	var b strings.Builder
	b.WriteString("| room | mutants | killed | not in time | lived | noticed | not reached | no Go |\n|---|---|---|---|---|---|---|---|\n")
	line := func(name string, c *count) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.1f%% | %d | %d |\n", name,
			c.killed+c.timedOut+c.lived, c.killed, c.timedOut, c.lived, c.noticed(), c.uncovered, c.invalid)
	}
	sums := map[string]*count{}
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		c := rooms[room]
		if c.killed+c.timedOut+c.lived == 0 {
			continue
		}
		line("`"+room+"`", c)
		first, _, _ := strings.Cut(room, "/")
		for _, name := range []string{"all of " + first, "all"} {
			s := sums[name]
			if s == nil {
				s = &count{}
				sums[name] = s
			}
			s.killed, s.timedOut, s.lived, s.uncovered, s.invalid = s.killed+c.killed, s.timedOut+c.timedOut, s.lived+c.lived, s.uncovered+c.uncovered, s.invalid+c.invalid
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	}) {
		line(name, sums[name])
	}
	return b.String()
}
