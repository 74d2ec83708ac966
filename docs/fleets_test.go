package docs

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// object is an object of examples.
func object(t *testing.T, name string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return object
}

// at is what an object has under keys.
func at(v any, path ...string) any {
	for _, key := range path {
		v = v.(map[string]any)[key]
	}
	return v
}

// TestKubernetesExamples: the CronJobs run the Jobs of the base, the number of shards is the same in three places, and
// every rule file of the bundle is mounted.
func TestKubernetesExamples(t *testing.T) {
	load := func(name string) map[string]any { return object(t, name) }
	for _, file := range []string{"scan.yaml", "merge.yaml"} {
		job, cron := load("kubernetes/"+file), load("kubernetes-nightly/"+file)
		if !reflect.DeepEqual(job["spec"], at(cron, "spec", "jobTemplate", "spec")) || !reflect.DeepEqual(job["metadata"], cron["metadata"]) {
			t.Errorf("%s: the CronJob does not run the Job", file)
		}
	}
	scan := load("kubernetes/scan.yaml")
	completions := at(scan, "spec", "completions").(int)
	container := at(scan, "spec", "template", "spec", "containers").([]any)[0].(map[string]any)
	env := container["env"].([]any)
	if at(scan, "spec", "maxFailedIndexes") != completions || at(env[len(env)-1], "value") != string(rune('0'+completions)) {
		t.Errorf("%d completions, of %v failed, and %v", completions, at(scan, "spec", "maxFailedIndexes"), env)
	}
	var mounted, generated []string
	volumes := at(scan, "spec", "template", "spec", "volumes").([]any)
	for _, item := range at(volumes[len(volumes)-1], "configMap", "items").([]any) {
		mounted = append(mounted, at(item, "path").(string))
	}
	for _, file := range at(load("kubernetes/kustomization.yaml")["configMapGenerator"].([]any)[1], "files").([]any) {
		generated = append(generated, file.(string))
	}
	files, err := filepath.Glob("../examples/kubernetes/rules/*")
	for i, name := range files {
		files[i] = strings.TrimPrefix(filepath.ToSlash(name), "../examples/kubernetes/")
	}
	if err != nil || !slices.Equal(files, mounted) || !slices.Equal(files, generated) {
		t.Errorf("of %v, %v are in the ConfigMap and %v in the pod: %v", files, generated, mounted, err)
	}
	for _, arg := range container["args"].([]any) {
		if flag := arg.(string); strings.HasPrefix(flag, "--") && !strings.Contains(read(t, "cli.md"), "`"+flag) {
			t.Errorf("the manual has no flag %s", flag)
		}
	}
}

// TestKubernetesTrend runs the containers of the CronJob trend, one after the other, over the results of some nights.
func TestKubernetesTrend(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the lines are for busybox or GNU")
	}
	results := t.TempDir()
	inResults := func(args any) (all []string) {
		for _, arg := range args.([]any) {
			all = append(all, strings.ReplaceAll(arg.(string), "/results", results))
		}
		return all
	}
	const summary = `{"schema_version": "1", "verdict": "FAIL", "complete": true, "list": {"repositories": 1}, "totals": {"repositories": 1, "fail": 1,
		"places": %d}, "rules": [{"id": "A-1", "owner": "o", "enforced": 1, "repositories": 1, "places": %[1]d}], "repositories": [{"name": "shop",
		"verdict": "FAIL", "complete": true, "places": %[1]d, "rules": [{"rule_id": "A-1", "places": %[1]d}]}], "errors": []}`
	first := time.Date(2026, 11, 2, 2, 0, 0, 0, time.UTC)
	for i := range 3 {
		night := first.AddDate(0, 0, 7*i)
		for _, dir := range []string{"scan-fleet-%d/0/pod/shop", "fleet-%d/shop"} {
			dir = filepath.Join(results, fmt.Sprintf(dir, night.Unix()/60))
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		dir := filepath.Join(results, fmt.Sprintf("fleet-%d", night.Unix()/60))
		if err := os.WriteFile(filepath.Join(dir, "fleet.json"), fmt.Appendf(nil, summary, 9-i), 0o666); err != nil {
			t.Fatal(err)
		}
		if i == 0 { // it is removed
			old := time.Now().AddDate(0, 0, -16)
			once := filepath.Join(results, "fleet-1") // of a run that was not scheduled: it stays
			err := cmp.Or(os.Mkdir(once, 0o777), os.Chtimes(once, old, old), os.Chtimes(dir, old, old))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	pod := at(object(t, "kubernetes-nightly/trend.yaml"), "spec", "jobTemplate", "spec", "template", "spec")
	keep, show := at(pod, "initContainers").([]any)[0], at(pod, "containers").([]any)[0]
	for range 2 { // two nights
		lines := inResults(append(at(keep, "command").([]any), at(keep, "args").([]any)...))
		run := exec.Command(lines[0], lines[1:]...)
		run.Dir = strings.ReplaceAll(at(keep, "workingDir").(string), "/results", results)
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if out, err := exec.Command(program, inResults(at(show, "args"))...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	page, err := os.ReadFile(filepath.Join(results, "trend.html"))
	if err != nil || !strings.Contains(string(page), "<title>7 places in the week of 2026-11-16, 2 fewer than in the week of 2026-11-02</title>") {
		t.Errorf("%v\n%s", err, page)
	}
	left, err := filepath.Glob(filepath.Join(results, "*"))
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if want := []string{"fleet-1", "fleet-29903160", "fleet-29913240", "scan-fleet-29893080", "scan-fleet-29903160", "scan-fleet-29913240", "summaries",
		"trend.html"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%q, want %q: %v", left, want, err)
	}
}
