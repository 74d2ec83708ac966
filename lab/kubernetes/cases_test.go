package kubernetes_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

var only = flag.String("case", "", "run the cases whose names match this expression")

// slow leaves a container a fiftieth of a processor, so that it is killed in the middle of its work.
var slow = []string{`cpu: "2"`, `cpu: 20m`}

func TestCluster(t *testing.T) {
	if !*onCluster {
		t.Skip("not asked for: -cluster")
	}
	if missing := needs(); missing != "" {
		t.Fatalf("NOTHING WAS RUN: the cluster needs %s", missing)
	}
	c := start(t)
	program := filepath.Join(c.state, "policyscan")
	build(t, program)
	archive(t, filepath.Join(c.state, "image.tar"), released(t, "policyscan.test/policyscan:1", program))
	c.load(t, filepath.Join(c.state, "image.tar"))
	c.makeKinds(t)
	chosen := regexp.MustCompile(*only)
	for _, one := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"objects", c.objects}, {"violations", c.violations}, {"undecided", c.undecided}, {"killed", c.killed},
		{"evicted", c.evicted}, {"nights", c.nights},
	} {
		if !chosen.MatchString(one.name) {
			continue
		}
		t.Run(one.name, func(t *testing.T) {
			began := time.Now()
			one.run(t)
			t.Logf("%.1f s", time.Since(began).Seconds())
		})
	}
	t.Log("NOT RUN, for want of more than one node: a node that is lost; an eviction stands in for it")
}

// objects gives the objects of the examples to the API server, which checks them and keeps nothing.
func (c *cluster) objects(t *testing.T) {
	for _, dir := range []string{"kubernetes", "kubernetes-nightly"} {
		c.kubectl(t, "", "apply", "--server-side", "--dry-run=server", "--validate=strict", "-k", root+"/examples/"+dir)
	}
}

// wantEnd checks how a Job has ended.
func (f *fleet) wantEnd(t *testing.T, name, how, reason string) job {
	t.Helper()
	j := f.end(t, name)
	if gotHow, gotReason := j.ended(); gotHow != how || gotReason != reason {
		t.Errorf("the Job %s: %s (%s), want %s (%s): %+v", name, gotHow, gotReason, how, reason, j.Status)
	}
	return j
}

// wantExit checks the exit status of the merge, and that it says all of this.
func (f *fleet) wantExit(t *testing.T, status int, says ...string) {
	t.Helper()
	f.end(t, f.name)
	pods := f.pods(t, f.name)
	if len(pods) != 1 {
		t.Fatalf("%d pods of the merge", len(pods))
	}
	log := f.logs(t, f.name)
	if got, why := pods[0].exit(); got != status {
		t.Errorf("the merge ended with %d (%s), want %d:\n%s", got, why, status, log)
	}
	for _, text := range says {
		if !strings.Contains(log, text) {
			t.Errorf("the merge does not say %q:\n%s", text, log)
		}
	}
}

// wantAll checks that the merged result has every repository exactly once, and these ones undecided.
func (f *fleet) wantAll(t *testing.T, undecided ...string) {
	t.Helper()
	verdicts := f.merged(t)
	for _, repo := range f.repos {
		want := "PASS"
		switch {
		case slices.Contains(undecided, repo):
			want = "undecided"
		case f.violates(repo):
			want = "FAIL"
		}
		if got := verdicts[repo]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want once %s", repo, got, want)
		}
		delete(verdicts, repo)
	}
	if len(verdicts) > 0 {
		t.Errorf("not in the list: %q", verdicts)
	}
}

// violations: no index fails, and nothing is tried again; the merge ends with 1.
func (c *cluster) violations(t *testing.T) {
	f := c.fleet(t, "violations", 40)
	f.apply(t, f.print(t, 4, 4))
	j := f.wantEnd(t, "scan-violations", "Complete", "CompletionsReached")
	if j.Status.Succeeded != 4 || j.Status.Failed != 0 {
		t.Errorf("%+v", j.Status)
	}
	f.wantEnd(t, "violations", "Failed", "PodFailurePolicy")
	f.wantExit(t, 1)
	f.wantAll(t)
	f.wantOneRun(t)
}

// undecided: a missing repository ends one pod with 2. Its index fails at once, and the others go on.
func (c *cluster) undecided(t *testing.T) {
	f := c.fleet(t, "undecided", 40)
	if err := os.RemoveAll(filepath.Join(f.dir, "mirrors", f.repos[7])); err != nil {
		t.Fatal(err)
	}
	f.apply(t, f.print(t, 4, 4))
	j := f.wantEnd(t, "scan-undecided", "Failed", "FailedIndexes")
	if j.Status.Succeeded != 3 || j.Status.Failed != 1 || len(j.Status.FailedIndexes) != 1 {
		t.Errorf("%+v", j.Status)
	}
	pods := f.pods(t, "scan-undecided")
	if len(pods) != 4 {
		t.Errorf("%d pods: something was tried again", len(pods))
	}
	for _, p := range pods {
		if status, _ := p.exit(); (status == 2) != (p.index() == j.Status.FailedIndexes) {
			t.Errorf("index %s ended with %d", p.index(), status)
		}
	}
	f.wantEnd(t, "undecided", "Failed", "PodFailurePolicy")
	f.wantExit(t, 1, f.repos[7]) // there are violations, too
	f.wantAll(t, f.repos[7])
}

// killed: SIGKILL to a container in the middle of its work counts as a failure of its index, which is tried again.
func (c *cluster) killed(t *testing.T) {
	f := c.fleet(t, "killed", 400)
	f.apply(t, f.print(t, 4, 4, slow...))
	p := f.running(t, "scan-killed", "2")
	mark := filepath.Join(f.dir, "results", "scan-killed", "2", p.Metadata.Name, "shard.json")
	until(t, "the mark of a shard that has begun", func() bool { return exists(mark) })
	if !f.kill(t, p.container()) {
		t.Fatal("nothing was killed")
	}
	j := f.wantEnd(t, "scan-killed", "Complete", "CompletionsReached")
	if j.Status.Succeeded != 4 || j.Status.Failed != 1 {
		t.Errorf("%+v", j.Status)
	}
	pods := f.pods(t, "scan-killed", "2")
	if len(pods) != 2 {
		t.Fatalf("index 2 had %d pods", len(pods))
	}
	for _, one := range pods {
		status, _ := one.exit()
		if killed := one.Metadata.Name == p.Metadata.Name; killed && status != 137 || !killed && status != 0 {
			t.Errorf("%s ended with %d", one.Metadata.Name, status)
		}
	}
	f.wantExit(t, 1)
	f.wantAll(t)
}

// evicted: a pod that the API evicts is replaced, and that does not count as a failure.
func (c *cluster) evicted(t *testing.T) {
	f := c.fleet(t, "evicted", 400)
	f.apply(t, f.print(t, 4, 4, slow...))
	for range 3 { // more often than backoffLimitPerIndex; each time Kubernetes waits twice as long
		p := f.running(t, "scan-evicted", "3")
		if err := f.evict(t, p.Metadata.Name); err != nil {
			t.Fatal(err)
		}
		until(t, "the end of "+p.Metadata.Name, func() bool {
			return !slices.ContainsFunc(f.pods(t, "scan-evicted", "3"), func(o pod) bool { return o.Metadata.Name == p.Metadata.Name })
		})
	}
	j := f.wantEnd(t, "scan-evicted", "Complete", "CompletionsReached")
	if j.Status.Succeeded != 4 || j.Status.Failed != 0 {
		t.Errorf("%+v", j.Status)
	}
	f.wantExit(t, 1)
	f.wantAll(t)
}

// nights: CronJobs that run each minute. A merge finds the directory of that night; when a scan does not begin, the
// merge of that night does not take the directory of another one.
func (c *cluster) nights(t *testing.T) {
	f := c.fleet(t, "nights", 20)
	f.schedule = "* * * * *"
	text := f.print(t, 2, 2, "12h", "25s")
	f.apply(t, text)
	jobs := func() []job {
		var list struct{ Items []job }
		f.get(t, &list, f.path("jobs"))
		return list.Items
	}
	number := func(j job) string { return j.Metadata.Name[strings.LastIndex(j.Metadata.Name, "-")+1:] }
	night := ""
	until(t, "the first night", func() bool {
		for _, j := range jobs() {
			if how, _ := j.ended(); how != "" && strings.HasPrefix(j.Metadata.Name, "nights-") {
				night = number(j)
				return true
			}
		}
		return false
	})
	f.kubectl(t, "", "--namespace", f.name, "patch", "cronjob", "scan-nights", "--patch", `{"spec": {"suspend": true}}`)
	first := *f
	first.name = "nights-" + night
	first.wantAll(t)
	if log := f.logs(t, "nights-"+night); strings.Contains(log, "missing") {
		t.Error(log)
	}
	until(t, "a night without a scan", func() bool {
		all := jobs()
		for _, j := range all {
			scan := func(o job) bool { return o.Metadata.Name == "scan-nights-"+number(j) }
			if how, _ := j.ended(); how != "" && strings.HasPrefix(j.Metadata.Name, "nights-") && !slices.ContainsFunc(all, scan) {
				pods := f.pods(t, j.Metadata.Name)
				if status, _ := pods[0].exit(); status != 2 {
					t.Errorf("the merge of a night without a scan ended with %d:\n%s", status, f.logs(t, j.Metadata.Name))
				}
				return true
			}
		}
		return false
	})
}

// TestTypes decodes the Jobs and CronJobs of the examples strictly, with Kubernetes' own types: a key that they do not
// have is an error, and so is one that is there twice.
func TestTypes(t *testing.T) {
	for name, into := range map[string]any{
		"kubernetes/scan.yaml": &batch.Job{}, "kubernetes/merge.yaml": &batch.Job{},
		"kubernetes-nightly/scan.yaml": &batch.CronJob{}, "kubernetes-nightly/merge.yaml": &batch.CronJob{},
		"kubernetes-nightly/trend.yaml": &batch.CronJob{},
	} {
		if err := yaml.UnmarshalStrict([]byte(readFile(t, root+"/examples/"+name)), into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
