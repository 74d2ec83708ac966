//go:build linux

package bounds

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/policyscan/policyscan/verdict"
)

// A bound is a run, and what it may take.
type bound struct {
	name   string
	mib    int           // of memory, with the files that the system keeps in memory for it
	within time.Duration // 0: as long as it takes
	long   bool          // only with -measure
	make   func(s boundScene)
	args   []string // by default the full scan of tree
	want   string   // the verdict, as said writes it
}

// A boundScene is the directory of a run: policy, a bundle of one rule, and tree.
type boundScene struct {
	*testing.T
	dir string
}

const boundRule = `rules:
  - id: NET-1
    title: No ingress from anywhere
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0"]}
`

func (s boundScene) path(name string) string { return filepath.Join(s.dir, name) }

func (s boundScene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s boundScene) write(name, text string) {
	s.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o777))
	s.must(os.WriteFile(s.path(name), []byte(text), 0o666))
}

// fill makes a file that repeats a text up to a size, and ends with another.
func (s boundScene) fill(name string, size int64, text, end string) {
	s.Helper()
	f, err := os.Create(s.path(name))
	s.must(err)
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	s.must(boundText(w, size-int64(len(end)), text))
	_, err = w.WriteString(end)
	s.must(errors.Join(err, w.Flush()))
}

func boundText(w io.Writer, size int64, text string) error {
	text = strings.Repeat(text, max(1, 64<<10/len(text)))
	for ; size > 0; size -= int64(len(text)) {
		if _, err := io.WriteString(w, text[:min(size, int64(len(text)))]); err != nil {
			return err
		}
	}
	return nil
}

// hole makes a file of so many NULs and an end, which takes no room.
func (s boundScene) hole(name string, size int64, end string) {
	s.Helper()
	f, err := os.Create(s.path(name))
	s.must(err)
	_, err = f.WriteAt([]byte(end), size-int64(len(end)))
	s.must(errors.Join(err, f.Close()))
}

// names makes n files in directories of so many: links to a few, of which one breaks the rule. What
// a scan holds of a file is its name; a link is opened and read as any other file is.
func (s boundScene) names(n, root int) {
	s.Helper()
	const each = 50_000 // links of one file: ext4 has no more than 65,000
	for i := range n {
		dir := s.path(fmt.Sprintf("tree/dir-%04d", i/root))
		if i%root == 0 {
			s.must(os.MkdirAll(dir, 0o777))
		}
		content := s.path(fmt.Sprint("content", i/each))
		if i%each == 0 {
			s.must(os.WriteFile(content, []byte("cidr = \"10.0.0.0/8\"\n"), 0o666))
		}
		s.must(os.Link(content, fmt.Sprintf("%s/a-file-of-the-tree-%07d.tf", dir, i)))
	}
	s.write("tree/bad.tf", "0.0.0.0/0")
}

// git runs git in the tree.
func (s boundScene) git(stdin io.Reader, args ...string) string {
	s.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = s.path("tree"), stdin
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("git %q: %v: %s", args, err, said.String())
	}
	return strings.TrimSpace(string(out))
}

// adds makes a repository whose branch base is empty, and whose branch head has this tree.
func (s boundScene) adds(tree func() string) {
	s.Helper()
	s.git(nil, "init", "-q", "-b", "main")
	s.git(nil, "config", "core.fsync", "none")
	empty := s.git(strings.NewReader(""), "mktree")
	base := s.git(nil, "commit-tree", "-m", "base", empty)
	s.git(nil, "branch", "base", base)
	s.git(nil, "branch", "head", s.git(nil, "commit-tree", "-m", "head", "-p", base, tree()))
}

// blob is a tree of one blob of that size, written by git.
func (s boundScene) blob(size int64, config ...string) string {
	s.Helper()
	in, out := io.Pipe()
	go func() {
		err := boundText(out, size, "cidr_blocks = [\"10.0.0.0/8\"] # a line as there are many\n")
		if err == nil {
			_, err = io.WriteString(out, "0.0.0.0/0")
		}
		out.CloseWithError(err)
	}()
	name := s.git(in, append(config, "-c", "core.compression=1", "hash-object", "-w", "--stdin")...)
	return s.git(strings.NewReader("100644 blob "+name+"\tbig.tf\n"), "mktree")
}

// bundle replaces the rules.
func (s boundScene) bundle(text string) { s.write("policy/rules/boundaries.yml", text) }

// patterns is the bundle's rule with other globs and patterns.
func (s boundScene) patterns(globs, patterns []string) {
	quoted := func(list []string) string {
		for i := range list {
			list[i] = strconv.Quote(list[i])
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	s.bundle("rules:\n  - id: NET-1\n    title: t\n    enforcement: {mode: fail}\n    match: {files: " + quoted(globs) + ", forbidden_patterns: " + quoted(patterns) + "}\n")
}

var boundDiff = []string{"--diff-base", "base", "--head", "head", "tree"}

// bounds are the runs. The project promises their limits of memory and time.
func bounds() []bound {
	const small, large = 64, 512
	const soon = 10 * time.Second
	list := []bound{
		{name: "10,000 files", mib: small, make: func(s boundScene) { s.names(9_999, 100) }, want: "FAIL 1 of 10000"},
		{name: "a line of 1 GiB", mib: small, long: true, make: func(s boundScene) { s.fill("tree/line.tf", 1<<30, "10.0.0.0/8 ", "0.0.0.0/0") }, want: "FAIL 1 of 1"},
		{name: "a file of 4 GiB and a byte", mib: small, long: true, make: func(s boundScene) { s.hole("tree/hole.tf", 4<<30+1, "0.0.0.0/0") }, want: "FAIL 1 of 1"},
		{name: "10,000,000 matches in a file", mib: small, long: true, make: func(s boundScene) { s.fill("tree/many.tf", 100_000_000, "0.0.0.0/0\n", "") }, want: "FAIL 1 of 1"},
		{name: "a blob of 1 GiB in a pack, no delta", mib: small, long: true, make: func(s boundScene) {
			s.adds(func() string { return s.blob(1<<30, "-c", "core.bigFileThreshold=1m") })
		}, args: boundDiff, want: "FAIL 1 of 1"},
		{name: "a loose blob of 1 GiB", mib: small, long: true, make: func(s boundScene) {
			s.adds(func() string { return s.blob(1<<30, "-c", "core.bigFileThreshold=4g") })
		}, args: boundDiff, want: "FAIL 1 of 1"},
		{name: "a git bomb of 10^10 paths", mib: small, within: soon, make: func(s boundScene) {
			s.adds(func() string {
				line := "100644 blob " + s.git(strings.NewReader("x"), "hash-object", "-w", "--stdin")
				for range 10 {
					var tree strings.Builder
					for i := range 10 {
						fmt.Fprintf(&tree, "%s\td%d\n", line, i)
					}
					line = "040000 tree " + s.git(strings.NewReader(tree.String()), "mktree")
				}
				return strings.Fields(line)[2]
			})
		}, args: boundDiff, want: "UNDECIDED E_LIMIT"},
		{name: "1,000,000 files in one directory", mib: large, long: true, make: func(s boundScene) { s.names(999_999, 1_000_000) }, want: "FAIL 1 of 1000000"},
		{name: "1,000,000 files in 1,000 directories", mib: large, long: true, make: func(s boundScene) { s.names(999_999, 1_000) }, want: "FAIL 1 of 1000000"},
		{name: "1,000,000 files that a commit adds", mib: large, long: true, make: func(s boundScene) {
			s.adds(func() string {
				in, out := io.Pipe()
				go func() {
					w := bufio.NewWriter(out)
					_, err := fmt.Fprint(w, "blob\nmark :1\ndata 2\nx\n\nblob\nmark :2\ndata 9\n0.0.0.0/0\ncommit refs/heads/all\ncommitter a <a@example.com> 1 +0000\ndata 0\nM 100644 :2 bad.tf\n")
					for i := 0; i < 999_999 && err == nil; i++ {
						_, err = fmt.Fprintf(w, "M 100644 :1 dir-%d/a-file-of-the-tree-%07d.tf\n", i/1000, i)
					}
					out.CloseWithError(errors.Join(err, w.Flush()))
				}()
				s.git(in, "fast-import", "--quiet")
				return "all^{tree}"
			})
		}, args: boundDiff, want: "FAIL 1 of 1000000"},
	}

	for _, b := range []bound{
		// What makes a naive search or a naive matcher take for ever.
		{name: "16 MiB that a pattern of 60 KiB almost is, at each byte", make: func(s boundScene) {
			s.patterns([]string{"**"}, []string{strings.Repeat("a", 60<<10) + "b"})
			s.fill("tree/a.tf", 16<<20, "a", "")
		}, want: "PASS of 1"},
		{name: "100 patterns, each almost at each byte of 2 MiB", make: func(s boundScene) {
			var list []string
			for i := range 100 {
				list = append(list, strings.Repeat("a", 20+10*i)+"b")
			}
			s.patterns([]string{"**"}, list)
			s.fill("tree/a.tf", 2<<20, "a", "")
		}, want: "PASS of 1"},
		{name: "8 MiB of lines, 20,000 of which a pattern has before its last", make: func(s boundScene) {
			s.patterns([]string{"**"}, []string{strings.Repeat("a\n", 20000) + "b"})
			s.fill("tree/a.tf", 8<<20, "a\n", "")
		}, want: "PASS of 1"},
		{name: "globs of 30 stars, and names of one letter", make: func(s boundScene) {
			s.patterns([]string{"**/" + strings.Repeat("a*", 30) + "b", strings.Repeat("**/*a*/", 15) + "b", strings.Repeat("**/", 100) + "b"}, []string{"x"})
			s.write("tree/"+strings.Repeat(strings.Repeat("a", 250)+"/", 14)+"a", "x")
		}, want: "PASS of 0"},
		{name: "a tree object 5,000 directories deep", long: true, make: func(s boundScene) {
			s.adds(func() string {
				line := "100644 blob " + s.git(strings.NewReader("y"), "hash-object", "-w", "--stdin")
				for range 5000 {
					line = "040000 tree " + s.git(strings.NewReader(line+"\td\n"), "mktree")
				}
				return strings.Fields(line)[2]
			})
		}, args: boundDiff, want: "UNDECIDED E_LIMIT"},
	} {
		b.mib, b.within = small, soon
		list = append(list, b)
	}

	return list
}

// said is a verdict in a few words, and the exit status that belongs to it.
func said(v *verdict.Verdict) (words string, status int) {
	switch {
	case v == nil:
		return "no verdict", 2
	case v.Verdict == verdict.Pass:
		return fmt.Sprintf("PASS of %d", v.Coverage.Scanned), 0
	case len(v.Violations) > 0 && v.Complete:
		return fmt.Sprintf("FAIL %d of %d", len(v.Violations), v.Coverage.Scanned), 1
	case len(v.Violations) > 0:
		return fmt.Sprintf("FAIL %d, and %s", len(v.Violations), v.Errors[0].Code), 1
	}
	return "UNDECIDED " + v.Errors[0].Code, 2
}

// A boundCost is what a run took.
type boundCost struct {
	group, process int64 // bytes at most: of the group, and of the process alone
	wall           time.Duration
}

// run runs the program in its own group with so much memory.
func (s boundScene) run(b bound) (words string, c boundCost) {
	s.Helper()
	group := newMemoryGroup(s.T, int64(b.mib)<<20)
	defer group.remove(s.T)
	args := b.args
	if args == nil {
		args = []string{"tree"}
	}
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Minute)
	defer cancel()
	// The shell enters the group and becomes the program.
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", `echo $$ >"$0" && exec "$@"`, group.file("cgroup.procs"), program, "scan", "--policy", "policy"}, args...)...)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	s.must(cmd.Start())
	var ended atomic.Bool
	most := make(chan int64)
	go func() { // the peak of the process: a parent is told its own
		var peak int64
		for !ended.Load() {
			peak = max(peak, boundPeak(cmd.Process.Pid))
			time.Sleep(2 * time.Millisecond)
		}
		most <- peak
	}()
	err := cmd.Wait()
	c.wall = time.Since(start)
	ended.Store(true)
	c.process, c.group = <-most, group.peak(s.T)
	if kills := group.kills(s.T); kills != 0 {
		s.Fatalf("%s: %d MiB are not enough: the system killed it", b.name, b.mib)
	}
	var v *verdict.Verdict
	if text, err := os.ReadFile(s.path("verdict.json")); err == nil {
		if v, err = verdict.Decode(text); err != nil {
			s.Fatalf("%s: %v", b.name, err)
		}
	}
	words, status := said(v)
	if cmd.ProcessState.ExitCode() != status {
		s.Fatalf("%s: %v, with the verdict %s\n%.3000s", b.name, err, words, out.String())
	}
	return words, c
}

// boundPeak is the most that a process has had in memory, in bytes; 0 for a process of others.
func boundPeak(pid int) int64 {
	if name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil || name != program {
		return 0 // still the shell
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "kB")), 10, 64)
	return kib << 10
}

// TestBounds holds runs to the memory and the time that they may take. Memory is held by the
// system: in a memory cgroup that has no more of it, a run that takes more is killed.
func TestBounds(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed")
	}
	newMemoryGroup(t, 64<<20).remove(t)
	var b strings.Builder
	b.WriteString("| run | verdict | limit | peak of the group | of the process | limit | decided in |\n|---|---|---|---|---|---|---|\n")
	mib := func(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }
	for _, bound := range bounds() {
		if bound.long && !*measuring {
			continue
		}
		t.Run(bound.name, func(t *testing.T) {
			s := boundScene{t, t.TempDir()}
			if strings.HasPrefix(bound.name, "1,000,000") {
				s.dir = inMemory(t)
			}
			s.bundle(boundRule)
			s.write("policy/rules/invariants.yml", "rules: []\n")
			s.must(os.MkdirAll(s.path("tree"), 0o777))
			bound.make(s)
			var best boundCost
			// A machine that does other things, too, may need more than one attempt in time.
			for attempt := range 5 {
				words, c := s.run(bound)
				if words != bound.want {
					t.Fatalf("the verdict is %s, want %s", words, bound.want)
				}
				if attempt == 0 || c.wall < best.wall {
					best = c
				}
				if bound.within == 0 || c.wall <= bound.within {
					break
				}
			}
			t.Logf("%s, %s of the group, %s of the process, %v", bound.want, mib(best.group), mib(best.process), best.wall)
			if bound.within > 0 && best.wall > bound.within {
				t.Errorf("it took %v; %v are allowed", best.wall, bound.within)
			}
			const batch = 1 << 20 // the kernel takes pages for a group by the batch, and for a moment one too many
			if best.group > int64(bound.mib)<<20+batch {
				t.Errorf("the group had %s; %d MiB are allowed", mib(best.group), bound.mib)
			}
			within, wall := "", ""
			if bound.within > 0 {
				within, wall = fmt.Sprintf("%.0f s", bound.within.Seconds()), fmt.Sprintf("%.2f s", best.wall.Seconds())
			}
			process := mib(best.process)
			if best.process == 0 {
				process = "" // it was gone before it could be asked
			}
			fmt.Fprintf(&b, "| %s | %s | %d MiB | %s | %s | %s | %s |\n", bound.name, bound.want, bound.mib, mib(best.group), process, within, wall)
		})
	}
	writePart(t, "bounds", b.String())
}

// A memoryGroup is a memory cgroup, of version 2 or 1. To make one takes root.
type memoryGroup struct {
	dir    string
	second bool // version 2
}

// newMemoryGroup makes a group of so much memory, files that the system keeps in memory
// included, and no swap; it skips the test, and says so, where there can be none.
func newMemoryGroup(t *testing.T, limit int64) memoryGroup {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var failed []error
	for line := range strings.SplitSeq(string(mounts), "\n") {
		before, after, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(kind) < 3 || !strings.HasPrefix(kind[0], "cgroup") {
			continue
		}
		g := memoryGroup{filepath.Join(fields[4], fmt.Sprintf("policyscan-test-%d-%d", os.Getpid(), time.Now().UnixNano())), kind[0] == "cgroup2"}
		controllers, _ := os.ReadFile(filepath.Join(fields[4], "cgroup.controllers"))
		if g.second && !strings.Contains(string(controllers), "memory") || !g.second && !strings.Contains(kind[2], "memory") {
			continue
		}
		if err := g.make(limit); err == nil {
			return g
		}
		failed = append(failed, err, os.Remove(g.dir))
	}
	t.Skipf("SKIPPED: no memory cgroup can be made here, and nothing says how much memory a run takes: %v", errors.Join(failed...))
	return memoryGroup{}
}

func (g memoryGroup) make(limit int64) error {
	if g.second {
		// Where this is refused it may be on already.
		_ = os.WriteFile(filepath.Join(filepath.Dir(g.dir), "cgroup.subtree_control"), []byte("+memory"), 0o644)
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return err
	}
	name := "memory.limit_in_bytes"
	if g.second {
		name = "memory.max"
		if err := os.WriteFile(g.file("memory.swap.max"), []byte("0"), 0o644); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.WriteFile(g.file(name), []byte(strconv.FormatInt(limit, 10)), 0o644)
}

func (g memoryGroup) file(name string) string { return filepath.Join(g.dir, name) }

// number reads a file that holds one, or one after a word.
func (g memoryGroup) number(t *testing.T, name, word string) int64 {
	t.Helper()
	text, err := os.ReadFile(g.file(name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		fields := strings.Fields(line)
		if n := len(fields); n == 1 && word == "" || n == 2 && fields[0] == word {
			v, err := strconv.ParseInt(fields[n-1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s has no %q: %s", name, word, text)
	return 0
}

// peak is the most memory that the group had, in bytes.
func (g memoryGroup) peak(t *testing.T) int64 {
	t.Helper()
	if g.second {
		return g.number(t, "memory.peak", "")
	}
	return g.number(t, "memory.max_usage_in_bytes", "")
}

// kills is how often the system killed for want of memory in the group.
func (g memoryGroup) kills(t *testing.T) int64 {
	t.Helper()
	if g.second {
		return g.number(t, "memory.events", "oom_kill")
	}
	return g.number(t, "memory.oom_control", "oom_kill")
}

// remove removes the group, once all that ran in it is gone.
func (g memoryGroup) remove(t *testing.T) {
	t.Helper()
	var err error
	for range 100 {
		if err = os.Remove(g.dir); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(err)
}

// TestFault_158_Ratios: what is found costs little processor time compared with the scan itself, wherever it
// is and however often. The violations' own share (the reports of 400 of them take longer than a scan
// of 5 MB) is the cost of a file with nothing else in it.
func TestFault_158_Ratios(t *testing.T) {
	var many []string
	for i := range 400 {
		many = append(many, fmt.Sprintf("pattern%03d!", i))
	}
	all := strings.Join(many, " ")
	wide := func(text string) string {
		return strings.Join(strings.Split(text, ""), "\x00") + "\x00"
	}
	for _, c := range []struct {
		name     string
		long     bool // only with -measure
		patterns []string
		end      string
		fill     func(s boundScene, end string)
	}{
		{"400 patterns behind 5 MB of spaces", false, many, all, func(s boundScene, end string) {
			s.fill("tree/a", 5<<20, " ", end)
		}},
		{"400 patterns behind 5 MB of spaces in UTF-16", true, many, wide(all), func(s boundScene, end string) {
			s.fill("tree/a", 5<<20, " \x00", end)
		}},
		{"a hit behind 200 MB of LF", false, many[:1], many[0], func(s boundScene, end string) {
			s.fill("tree/a", 200<<20+int64(len(end)), "\n", end)
		}},
		{"a hit behind 200 MB of CRLF", true, many[:1], many[0], func(s boundScene, end string) {
			s.fill("tree/a", 200<<20+int64(len(end)), "\r\n", end)
		}},
		{"a hit behind 200 MB of CR", true, many[:1], many[0], func(s boundScene, end string) {
			s.fill("tree/a", 200<<20+int64(len(end)), "\r", end)
		}},
		{"a hit behind a hole of 3 GiB", true, many[:1], many[0], func(s boundScene, end string) {
			s.hole("tree/a", 3<<30, end)
		}},
	} {
		if c.long && !*measuring {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := boundScene{t, t.TempDir()}
			s.patterns([]string{"**"}, append([]string{}, c.patterns...))
			s.write("policy/rules/invariants.yml", "rules: []\n")
			s.must(os.MkdirAll(s.path("tree"), 0o777))
			s.write("tree/a", c.end)
			alone := s.processorTime(1)
			for attempt := 1; ; attempt++ {
				c.fill(s, strings.Repeat("x", len(c.end)))
				without := s.processorTime(0)
				c.fill(s, c.end)
				with := s.processorTime(1)
				t.Logf("%v, without a hit %v, the hits alone %v: %.1f times", with, without, alone, float64(with)/float64(without))
				if with <= 3*without+alone {
					return
				}
				if attempt == attempts {
					t.Fatalf("%v of processor time; without a hit %v, and the hits alone %v", with, without, alone)
				}
			}
		})
	}
}

// attempts is how often a scan with hits may take too long before its test fails: what else a machine does costs
// a scan processor time, too, and that of one pair of scans is no evidence. What the test is there for took a
// hundred times as long, each time.
const attempts = 10

// processorTime is the least that two scans of the tree take, which end with a status.
func (s boundScene) processorTime(status int) time.Duration {
	s.Helper()
	least := time.Hour
	for range 2 {
		cmd := exec.Command(program, "scan", "--policy", "policy", "--output", "none", "tree")
		cmd.Dir = s.dir
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != status {
			s.Fatalf("status %d, want %d: %.500s", cmd.ProcessState.ExitCode(), status, out)
		}
		least = min(least, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return least
}

// inMemory is a new directory on a new tmpfs, which lists names by creation time. It
// takes root.
func inMemory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("policyscan", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "size=8g,nr_inodes=3m"); err != nil {
		t.Skipf("SKIPPED: no tmpfs can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
