package kubernetes_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A fleet is a namespace with a claim for the mirrors and one for the results, and the directories behind them.
type fleet struct {
	*cluster
	name  string // of the namespace, and of the run
	dir   string // has mirrors/, results/ and repositories.txt
	repos []string
	// schedule is the schedule of its CronJobs; "": it has Jobs.
	schedule string
}

// user is the one that the image runs as.
const user = 65532

// kinds are the bare repositories that the mirrors are copies of. The first violates a rule of examples/policy.
const kinds = 10

func (c *cluster) makeKinds(t *testing.T) {
	t.Helper()
	for i := range kinds {
		dir := filepath.Join(c.state, "kinds", fmt.Sprint(i))
		text := fmt.Sprintf("# kind %d\noutput \"x\" { value = %d }\n", i, i)
		if i == 0 {
			text = "resource \"aws_security_group_rule\" \"x\" {\n  type = \"ingress\"\n  cidr_blocks = [\"0.0.0.0/0\"]\n}\n"
		}
		commit := "commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 2\nx\n"
		for n := range 20 {
			commit += fmt.Sprintf("M 100644 inline modules/m%d/main.tf\ndata %d\n%s\n", n, len(text), text)
		}
		git := func(stdin string, args ...string) {
			cmd := exec.Command("git", args...)
			cmd.Stdin = strings.NewReader(stdin)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		git("", "init", "--quiet", "--bare", "--template=", "--initial-branch=main", dir)
		git(commit, "-C", dir, "fast-import", "--quiet")
		git("", "-C", dir, "pack-refs", "--all")
	}
}

// copyOf makes a copy of a directory whose files are hard links.
func copyOf(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, name)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rest), 0o755)
		}
		return os.Link(name, filepath.Join(to, rest))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fleet makes a namespace that admits restricted pods only, with this number of repositories. Of ten, one violates a
// rule. The fleet and its pods are gone after the test.
func (c *cluster) fleet(t *testing.T, name string, repositories int) *fleet {
	t.Helper()
	f := &fleet{cluster: c, name: name, dir: filepath.Join(c.state, "fleets", name)}
	results := filepath.Join(f.dir, "results")
	if err := os.MkdirAll(results, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(results, user, user); err != nil {
		t.Fatal(err)
	}
	for i := range repositories {
		repo := fmt.Sprintf("r%05d.git", i)
		copyOf(t, filepath.Join(c.state, "kinds", fmt.Sprint(i%kinds)), filepath.Join(f.dir, "mirrors", repo))
		f.repos = append(f.repos, repo)
	}
	objects := "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAME, labels: {pod-security.kubernetes.io/enforce: restricted}}\n"
	for _, claim := range []string{"mirrors", "results"} {
		objects += strings.ReplaceAll(`---
apiVersion: v1
kind: PersistentVolume
metadata: {name: NAME-CLAIM}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  storageClassName: ""
  claimRef: {namespace: NAME, name: CLAIM}
  hostPath: {path: DIR/CLAIM, type: Directory}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: CLAIM, namespace: NAME}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: ""
  volumeName: NAME-CLAIM
  resources: {requests: {storage: 1Gi}}
`, "CLAIM", claim)
	}
	c.kubectl(t, strings.NewReplacer("NAME", name, "DIR", f.dir).Replace(objects), "apply", "--server-side", "-f", "-")
	until(t, "bound claims", func() bool {
		out := c.kubectl(t, "", "--namespace", name, "get", "persistentvolumeclaims", "-o", "jsonpath={.items[*].status.phase}")
		return out == "Bound Bound"
	})
	// With its name, Kubernetes would set POLICYSCAN_PORT in every pod that does not refuse it.
	c.kubectl(t, "", "--namespace", name, "create", "service", "clusterip", "policyscan", "--tcp=80")
	t.Cleanup(func() {
		if t.Failed() {
			f.explain(t)
		}
		c.kubectl(t, "", "delete", "namespace", name, "--wait=false")
	})
	return f
}

// print returns the objects of examples/kubernetes for this fleet, with changes: what is to be replaced, and by what. The
// node is small, so its pods ask for little.
func (f *fleet) print(t *testing.T, shards, parallelism int, changes ...string) string {
	t.Helper()
	count := fmt.Sprint(shards)
	changes = append([]string{
		"scan-fleet", "scan-" + f.name, "name: fleet", "name: " + f.name, "instance: fleet", "instance: " + f.name,
		"completions: 8", "completions: " + count, "maxFailedIndexes: 8", "maxFailedIndexes: " + count,
		`value: "8"`, `value: "` + count + `"`, "parallelism: 8", "parallelism: " + fmt.Sprint(parallelism),
		`nameSuffix: "-1"`, "namespace: " + f.name,
		"{name: ghcr.io/policyscan/policyscan, newTag: v1.2.3}",
		`{name: ghcr.io/policyscan/policyscan, newName: policyscan.test/policyscan, newTag: "1"}`,
		"cpu: 500m", "cpu: 10m", "memory: 256Mi", "memory: 32Mi",
	}, changes...)
	base := "kubernetes"
	if f.schedule != "" {
		base = "kubernetes-nightly"
		changes = append(changes, `schedule: "0 2 * * *"`, fmt.Sprintf("schedule: %q", f.schedule))
	}
	dir, found := t.TempDir(), map[string]bool{}
	for _, from := range []string{
		"kubernetes/kustomization.yaml", "kubernetes/scan.yaml", "kubernetes/merge.yaml",
		"kubernetes-nightly/kustomization.yaml", "kubernetes-nightly/scan.yaml", "kubernetes-nightly/merge.yaml",
		"kubernetes-nightly/trend.yaml",
	} {
		text := readFile(t, filepath.Join(root, "examples", from))
		for i := 0; i < len(changes); i += 2 {
			found[changes[i]] = found[changes[i]] || strings.Contains(text, changes[i])
			text = strings.ReplaceAll(text, changes[i], changes[i+1])
		}
		writeFile(t, filepath.Join(dir, from), text)
	}
	for i := 0; i < len(changes); i += 2 {
		if !found[changes[i]] {
			t.Fatalf("the objects have no %q", changes[i])
		}
	}
	list := ""
	for _, repo := range f.repos {
		list += "/mirrors/" + repo + "\t\t" + repo + "\n"
	}
	writeFile(t, filepath.Join(dir, "kubernetes/repositories.txt"), list)
	for _, name := range []string{"boundaries.yml", "deprecated.yml", "invariants.yml"} {
		writeFile(t, filepath.Join(dir, "kubernetes/rules", name), readFile(t, filepath.Join(root, "examples/policy/rules", name)))
	}
	return f.kubectl(t, "", "kustomize", filepath.Join(dir, base))
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f *fleet) apply(t *testing.T, text string) {
	t.Helper()
	f.kubectl(t, text, "apply", "--server-side", "-f", "-")
}

// A job is what the API says of one.
type job struct {
	Metadata struct {
		Name string
	}
	Status struct {
		Succeeded, Failed               int
		CompletedIndexes, FailedIndexes string
		Conditions                      []struct{ Type, Status, Reason, Message string }
	}
}

// ended returns the condition that a Job ended with, Complete or Failed, and its reason; "", if it has not.
func (j job) ended() (string, string) {
	for _, c := range j.Status.Conditions {
		if (c.Type == "Complete" || c.Type == "Failed") && c.Status == "True" {
			return c.Type, c.Reason
		}
	}
	return "", ""
}

// A pod is what the API says of one, with one container.
type pod struct {
	Metadata struct {
		Name, DeletionTimestamp string
		Annotations             map[string]string
	}
	Status struct {
		Phase             string
		ContainerStatuses []struct {
			ContainerID string
			State       struct {
				Running    *struct{}
				Terminated *struct {
					ExitCode int
					Reason   string
				}
			}
		}
	}
}

func (p pod) index() string {
	return p.Metadata.Annotations["batch.kubernetes.io/job-completion-index"]
}

// container returns the running container's number, or "".
func (p pod) container() string {
	if len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Running == nil {
		return ""
	}
	return strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://")
}

// exit returns the exit status and why it ended, or -1.
func (p pod) exit() (int, string) {
	if len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Terminated == nil {
		return -1, ""
	}
	end := p.Status.ContainerStatuses[0].State.Terminated
	return end.ExitCode, end.Reason
}

// path is the path of the objects of a kind in the API.
func (f *fleet) path(kind string) string {
	group := "/api/v1"
	if kind == "jobs" {
		group = "/apis/batch/v1"
	}
	return group + "/namespaces/" + f.name + "/" + kind
}

// job reads a Job.
func (f *fleet) job(t *testing.T, name string) job {
	t.Helper()
	var j job
	f.get(t, &j, f.path("jobs")+"/"+name)
	return j
}

// pods returns the pods of a Job; of an index, if one is given.
func (f *fleet) pods(t *testing.T, job string, index ...string) []pod {
	t.Helper()
	selector := "batch.kubernetes.io/job-name=" + job
	for _, i := range index {
		selector += ",batch.kubernetes.io/job-completion-index=" + i
	}
	return f.podsOf(t, "labelSelector="+url.QueryEscape(selector))
}

func (f *fleet) podsOf(t *testing.T, query string) []pod {
	t.Helper()
	var list struct{ Items []pod }
	f.get(t, &list, f.path("pods")+"?"+query)
	return list.Items
}

// until asks again and again, and fails the test after five minutes.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	within(t, 5*time.Minute, what, done)
}

// within is until with another limit.
func within(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !done(); time.Sleep(300 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in %s: %s", limit, what)
		}
	}
}

// running waits until the container of an index runs, and returns its pod.
func (f *fleet) running(t *testing.T, name, index string) pod {
	t.Helper()
	var found pod
	until(t, "a running container of index "+index, func() bool {
		if how, _ := f.job(t, name).ended(); how != "" {
			t.Fatalf("the Job %s ended before the container of index %s was seen: %s", name, index, how)
		}
		for _, p := range f.pods(t, name, index) {
			if p.container() != "" && p.Metadata.DeletionTimestamp == "" {
				found = p
				return true
			}
		}
		return false
	})
	return found
}

// end waits until a Job has ended. On a busy machine, 100 pods took more than five minutes.
func (f *fleet) end(t *testing.T, name string) job {
	t.Helper()
	var j job
	within(t, 20*time.Minute, "the end of the Job "+name, func() bool {
		j = f.job(t, name)
		how, _ := j.ended()
		return how != ""
	})
	return j
}

// evict asks the API to evict a pod, as draining a node does.
func (f *fleet) evict(t *testing.T, pod string) error {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]string{"name": pod, "namespace": f.name},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.ask(http.MethodPost, f.path("pods")+"/"+pod+"/eviction", text)
	return err
}

// logs returns what the pods of a Job have said.
func (f *fleet) logs(t *testing.T, job string) string {
	t.Helper()
	out, err := f.try("", "--namespace", f.name, "logs", "--selector", "batch.kubernetes.io/job-name="+job, "--tail=-1")
	if err != nil {
		return err.Error()
	}
	return out
}

// explain logs what helps to find the cause.
func (f *fleet) explain(t *testing.T) {
	for _, args := range [][]string{{"get", "jobs,pods", "-o", "wide"}, {"get", "events", "--sort-by=.lastTimestamp"}} {
		out, err := f.try("", append([]string{"--namespace", f.name}, args...)...)
		t.Logf("kubectl %s: %v\n%s", strings.Join(args, " "), err, tail(out, 6000))
	}
	t.Logf("merge:\n%s", tail(f.logs(t, f.name), 3000))
	t.Logf("scan:\n%s", tail(f.logs(t, "scan-"+f.name), 3000))
}

func tail(text string, size int) string { return text[max(0, len(text)-size):] }

// violates reports whether a repository of the fleet does.
func (f *fleet) violates(repo string) bool { return strings.HasSuffix(repo, "0.git") }

// merged returns the verdicts of each repository in the merged result.
func (f *fleet) merged(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "results", f.name, "fleet.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Repositories []struct {
			Name, Verdict string
			Complete      bool
			Places        int
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	verdicts := map[string][]string{}
	for _, r := range all.Repositories {
		verdict := r.Verdict
		if !r.Complete && r.Places == 0 {
			verdict = "undecided"
		}
		verdicts[r.Name] = append(verdicts[r.Name], verdict)
	}
	return verdicts
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
