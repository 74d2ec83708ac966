package docs

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestKubernetesExamples: the CronJobs run the Jobs of the base, the number of shards is the same in three places, and
// every rule file of the bundle is mounted.
func TestKubernetesExamples(t *testing.T) {
	load := func(name string) map[string]any {
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
	at := func(v any, path ...string) any {
		for _, key := range path {
			v = v.(map[string]any)[key]
		}
		return v
	}
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
