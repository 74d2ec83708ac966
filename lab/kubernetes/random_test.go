package kubernetes_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	runs = flag.Int("runs", 1, "how many fleets the cases random and random-more run")
	seed = flag.Uint64("seed", 1, "of the random kills; each run has the next one")
)

// An index whose pod has failed keeps its place among the parallel ones while it waits 10, 20 or 40 s for the next try.
// So there are more places than the two processors need.
const places = 40

// random: 2,000 repositories in 100 indexes, while containers are killed and pods evicted at random. No index is killed
// more often than backoffLimitPerIndex bears, so every repository is in the merged result, once, and the directory of the
// merge is the merge of one process without harm.
func (c *cluster) random(t *testing.T) {
	for i := range *runs {
		number := *seed + uint64(i)
		t.Run(fmt.Sprint("seed-", number), func(t *testing.T) {
			f := c.fleet(t, fmt.Sprint("random-", number), 2000)
			f.apply(t, f.print(t, 100, places, slow...))
			h := f.harm(t, number, 2)
			f.wantEnd(t, "scan-"+f.name, "Complete", "CompletionsReached")
			f.wantExit(t, 1)
			f.wantAll(t)
			f.wantOneRun(t)
			t.Log(h)
		})
	}
}

// wantOneRun checks that the merge has left the directory of one process, byte for byte.
func (f *fleet) wantOneRun(t *testing.T) {
	t.Helper()
	var configMaps struct {
		Items []struct{ Data map[string]string }
	}
	f.get(t, &configMaps, f.path("configmaps"))
	list := ""
	for _, m := range configMaps.Items {
		list += m.Data["repositories.txt"]
	}
	// The directory is the root of the process, so that the mirrors are in /mirrors as they are in a pod.
	if err := os.CopyFS(filepath.Join(f.dir, "policy"), os.DirFS(root+"/examples/policy")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(f.state, "policyscan"), filepath.Join(f.dir, "policyscan")); err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{
		Path: "/policyscan", Dir: "/", SysProcAttr: &syscall.SysProcAttr{Chroot: f.dir}, Stdin: strings.NewReader(list),
		Args: []string{"policyscan", "fleet", "--repos", "-", "--policy", "policy", "--output", "one"},
	}
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, tail(string(out), 1000))
	}
	one := filepath.Join(f.dir, "one")
	files := 0
	merged := filepath.Join(f.dir, "results", f.name)
	for _, pair := range [][2]string{{one, merged}, {merged, one}} {
		err := filepath.WalkDir(pair[0], func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rest, err := filepath.Rel(pair[0], name)
			if err != nil {
				return err
			}
			here, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			there, err := os.ReadFile(filepath.Join(pair[1], rest))
			if err != nil {
				return err
			}
			if !bytes.Equal(here, there) {
				t.Errorf("%s differs in %s and %s", rest, pair[0], pair[1])
			}
			files++
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 2*len(f.repos) {
		t.Errorf("%d files were compared", files)
	}
}

// A harmed is what was done to a scan.
type harmed struct {
	killed      map[string]int // how many containers of each index ended with SIGKILL
	evicted     int            // pods
	first, last time.Duration  // since the scan began, of a kill or an eviction
	end         time.Duration
}

func (h harmed) String() string {
	all, twice := 0, 0
	for _, n := range h.killed {
		all += n
		if n > 1 {
			twice++
		}
	}
	return fmt.Sprintf("%d containers killed in %d indexes, %d of them more than once; %d pods evicted; "+
		"the first after %.0f s, the last after %.0f s, the scan ended after %.0f s",
		all, len(h.killed), twice, h.evicted, h.first.Seconds(), h.last.Seconds(), h.end.Seconds())
}

// harm kills containers of the scan and evicts pods until it has ended. How often an index is killed (0 to limit
// times), which pods are evicted, and how long after a pod was first seen running, are random. Some pods have ended by
// then. One pod of each index is evicted at most, since Kubernetes waits twice as long after each time.
func (f *fleet) harm(t *testing.T, seed uint64, limit int) harmed {
	t.Helper()
	type fate struct {
		at    time.Time
		evict bool
		done  bool
	}
	random := rand.New(rand.NewPCG(seed, 0))
	fates, wanted, evicted, kills := map[string]*fate{}, map[string]int{}, map[string]bool{}, map[string]int{}
	var h harmed
	began := time.Now()
	within(t, 20*time.Minute, "the end of the scan", func() bool {
		if how, _ := f.job(t, "scan-"+f.name).ended(); how != "" {
			h.end = time.Since(began)
			return true
		}
		for _, p := range f.runningPods(t, "scan-"+f.name) {
			index, name := p.index(), p.Metadata.Name
			if p.container() == "" || p.Metadata.DeletionTimestamp != "" {
				continue
			}
			if _, ok := wanted[index]; !ok {
				wanted[index] = random.IntN(limit + 1)
			}
			one := fates[name]
			if one == nil {
				one = &fate{
					at:    time.Now().Add(time.Duration(random.Int64N(int64(5 * time.Second)))),
					evict: !evicted[index] && random.IntN(10) == 0,
				}
				fates[name] = one
			}
			if one.done || time.Now().Before(one.at) {
				continue
			}
			switch {
			case one.evict:
				if f.evict(t, name) == nil { // otherwise it has ended
					evicted[index], one.done = true, true
				}
			case kills[index] < wanted[index]:
				one.done = f.kill(t, p.container())
				if one.done {
					kills[index]++
				}
			}
			if one.done {
				h.last = time.Since(began)
				if h.first == 0 {
					h.first = h.last
				}
			}
		}
		return false
	})
	h.evicted = len(evicted)
	h.killed = map[string]int{}
	for _, p := range f.pods(t, "scan-"+f.name) {
		if status, _ := p.exit(); status == 137 && p.Metadata.DeletionTimestamp == "" {
			h.killed[p.index()]++
		}
	}
	for index, n := range h.killed {
		if n > kills[index] {
			t.Errorf("%d containers of index %s ended with SIGKILL, and %d were killed", n, index, kills[index])
		}
	}
	return h
}
