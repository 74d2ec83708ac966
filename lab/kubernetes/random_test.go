package kubernetes_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	runs = flag.Int("runs", 1, "how many fleets the case random runs")
	seed = flag.Uint64("seed", 1, "of the random kills; each run has the next one")
)

// random: 2,000 repositories in 100 indexes, while containers are killed and pods evicted at random. No index is killed
// more often than backoffLimitPerIndex bears, so every repository is in the merged result, once.
func (c *cluster) random(t *testing.T) {
	for i := range *runs {
		number := *seed + uint64(i)
		t.Run(fmt.Sprint("seed-", number), func(t *testing.T) {
			f := c.fleet(t, fmt.Sprint("random-", number), 2000, true)
			f.apply(t, f.print(t, 100, 8, `cpu: "2"`, `cpu: 50m`))
			kills, evictions := f.harm(t, number, 2)
			f.wantEnd(t, "scan-"+f.name, "Complete", "CompletionsReached")
			f.wantExit(t, 1)
			f.wantAll(t)
			t.Logf("%d containers killed, %d pods evicted", sum(kills), evictions)
		})
	}
}

// randomMore: some indexes are killed more often. The merge names exactly those.
func (c *cluster) randomMore(t *testing.T) {
	f := c.fleet(t, "random-more", 200, true)
	f.apply(t, f.print(t, 20, 8, append(slow, "12h", "5m")...))
	kills, evictions := f.harm(t, *seed, 3)
	f.end(t, "scan-"+f.name)
	var lost []string
	for i := range 20 {
		if kills[fmt.Sprint(i)] > 2 {
			lost = append(lost, f.missingShard(i, 20))
		}
	}
	if len(lost) == 0 {
		t.Skip("NOT RUN: no index was killed three times; try another -seed")
	}
	f.wantExit(t, 2, lost...)
	t.Logf("%d containers killed, %d pods evicted, %d indexes lost", sum(kills), evictions, len(lost))
}

func sum(kills map[string]int) int {
	all := 0
	for _, n := range kills {
		all += n
	}
	return all
}

// harm kills containers of the scan and evicts pods at random, until it has ended. Each index is killed 0 to limit times,
// and evicted once at most, since Kubernetes waits twice as long after each time. It returns how often each index was
// killed, and how many pods were evicted.
func (f *fleet) harm(t *testing.T, seed uint64, limit int) (map[string]int, int) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	kills, evicted, done, wanted := map[string]int{}, map[string]bool{}, map[string]bool{}, map[string]int{}
	within(t, 20*time.Minute, "the end of the scan", func() bool {
		var j job
		f.get(t, &j, "--namespace", f.name, "job", "scan-"+f.name)
		if how, _ := j.ended(); how != "" {
			return true
		}
		for _, p := range f.pods(t, "scan-"+f.name) {
			index, name := p.index(), p.Metadata.Name
			if p.container() == "" || p.Metadata.DeletionTimestamp != "" || done[name] {
				continue
			}
			if _, ok := wanted[index]; !ok {
				wanted[index] = random.IntN(limit + 1)
			}
			switch {
			case !evicted[index] && random.IntN(10) == 0:
				if f.evict(t, name) == nil { // otherwise it has ended
					evicted[index], done[name] = true, true
				}
			case kills[index] < wanted[index] && f.kill(t, p.container()):
				kills[index]++
				done[name] = true
			}
		}
		return false
	})
	return kills, len(evicted)
}
