// Command mutation asks whether the tests notice a change of the code: it changes one operator at a time, and a test of
// the room has to notice.
//
//	make mutate                            # all rooms, hours
//	go run -C lab ./mutation DIR [ROOM...]
//
// DIR keeps the outcome of each mutant: what was noticed is not tried again, so a run can go on where another ended.
// What no test noticed has to be in lived.txt, with a reason. If all of it is, what was done goes into
// lab/results/reliability.md; the rows of rooms that were not asked stay as they are.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/measured"
)

const (
	page  = "lab/results/reliability.md"
	lived = "lab/mutation/lived.txt"
)

var limit = flag.Duration("limit", 30*time.Second, "what the tests may take with a mutant")

func main() {
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: mutation [-limit DURATION] DIR [ROOM...]")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

func run(dir string, rooms []string) error {
	dir, err := filepath.Abs(dir)
	root, err2 := build.Root()
	if err := errors.Join(err, err2, os.Chdir(root), os.MkdirAll(dir, 0o777)); err != nil {
		return err
	}
	if len(rooms) == 0 {
		const format = `{{if .GoFiles}}{{.ImportPath}}{{end}}`
		out, err := exec.Command("go", "list", "-f", format, "./agent/...", "./rules/...", "./scanner/...", "./verdict/...").Output()
		if err != nil {
			return err
		}
		rooms = strings.Fields(strings.ReplaceAll(string(out), "github.com/policyscan/policyscan/", ""))
	}
	reasons, err := explained()
	if err != nil {
		return err
	}
	counts, unexplained := counted(), 0
	for _, room := range rooms {
		status, err := outcomes(room, filepath.Join(dir, strings.ReplaceAll(room, "/", "_")+".json"))
		if err != nil {
			return fmt.Errorf("%s: %w", room, err)
		}
		count := map[string]int{}
		for key, s := range status {
			count[s]++
			if _, known := reasons[key]; s == "lived" && !known {
				unexplained++
				fmt.Println(key)
			} else if s == "lived" {
				reasons[key] = true
			}
		}
		counts[room] = count
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
	return measured.Write(page, "mutation", table(counts))
}

// explained returns the keys of the mutants of which a reason is known why they live; false, as none was met yet.
func explained() (map[string]bool, error) {
	text, err := os.ReadFile(lived)
	keys, reason := map[string]bool{}, false
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "":
			reason = false
		case strings.HasPrefix(line, "# "):
			reason = true
		case !reason:
			return nil, fmt.Errorf("%s:%d: %q has no reason above it", lived, i+1, line)
		default:
			keys[line] = false
		}
	}
	return keys, err
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

// outcomes tries the mutants of a room, except the ones that were noticed according to the file, and writes it again.
func outcomes(room, file string) (map[string]string, error) {
	mutants, err := mutantsOf(room)
	if err != nil {
		return nil, err
	}
	before, now := map[string]string{}, map[string]string{}
	if text, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(text, &before); err != nil {
			return nil, err
		}
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	var failed error
	turns := make(chan bool, max(1, runtime.NumCPU()/2)) // the tests of one use several processors
	for _, m := range mutants {
		if s := before[m.key]; s != "" && s != "lived" {
			now[m.key] = s
			continue
		}
		turns <- true
		all.Go(func() {
			defer func() { <-turns }()
			status, err := m.try(room)
			mu.Lock()
			defer mu.Unlock()
			now[m.key] = status
			failed = errors.Join(failed, err)
		})
	}
	all.Wait()
	text, err := json.MarshalIndent(now, "", " ")
	return now, errors.Join(failed, err, os.WriteFile(file, text, 0o666))
}

// try runs the tests of the room with a mutant.
func (m mutant) try(room string) (status string, err error) {
	if !m.reached {
		return "not reached", nil
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[m.line-1] = m.text + "\n"
	source, err := filepath.Abs(m.file)
	changed, list := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	overlay, err2 := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	err = errors.Join(err, err2, os.WriteFile(changed, []byte(strings.Join(lines, "")), 0o666), os.WriteFile(list, overlay, 0o666))
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), *limit+5*time.Minute) // the build is not limited
	defer cancel()
	args := []string{"test", "-overlay", list, "-count=1", "-vet=off", "-failfast", "-timeout", limit.String()}
	switch out, err := exec.CommandContext(ctx, "go", append(args, testsOf(room)...)...).CombinedOutput(); {
	case err == nil:
		return "lived", nil
	case ctx.Err() != nil || strings.Contains(string(out), "panic: test timed out"):
		return "not in time", nil
	case strings.Contains(string(out), "[build failed]"):
		return "no Go", nil
	}
	return "killed", nil
}

// columns are the outcomes of mutants in the order of the page; "mutants" is the sum of the ones that the tests reach.
var columns = []string{"mutants", "killed", "not in time", "lived", "noticed", "not reached", "no Go"}

// counted returns what the page says, by room.
func counted() map[string]map[string]int {
	text, _ := measured.Part(page, "mutation") // without it, writing fails
	counts := map[string]map[string]int{}
	for row := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "| "), " | ")
		room := strings.Trim(cells[0], "`")
		if len(cells) != 1+len(columns) || room == cells[0] {
			continue // no room's
		}
		counts[room] = map[string]int{}
		for i, name := range columns {
			var n int
			fmt.Sscan(cells[i+1], &n)
			counts[room][name] = n
		}
	}
	return counts
}

// table is the counts by room, and their sum.
func table(counts map[string]map[string]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| room | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	line := func(name string, c map[string]int) {
		noticed := c["killed"] + c["not in time"]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.1f%% | %d | %d |\n", name, noticed+c["lived"], c["killed"],
			c["not in time"], c["lived"], 100*float64(noticed)/float64(noticed+c["lived"]), c["not reached"], c["no Go"])
	}
	sum := map[string]int{}
	for _, room := range slices.Sorted(maps.Keys(counts)) {
		if c := counts[room]; c["killed"]+c["not in time"]+c["lived"] > 0 {
			line("`"+room+"`", c)
			for name, n := range c {
				sum[name] += n
			}
		}
	}
	line("all", sum)
	return b.String()
}
