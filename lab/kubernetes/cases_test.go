package kubernetes_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

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
	t.Run("objects", c.objects)
}

// objects gives the expected objects of cmd/policyscan/manifest to the API server, which checks them and keeps nothing.
func (c *cluster) objects(t *testing.T) {
	c.kubectl(t, "", "create", "namespace", "policy")
	for _, text := range expected(t) {
		c.kubectl(t, text, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-")
	}
}

// TestTypes decodes the expected objects of cmd/policyscan/manifest strictly, with Kubernetes' own types: a key that
// they do not have is an error, and so is one that is there twice.
func TestTypes(t *testing.T) {
	seen := map[string]int{}
	for _, file := range expected(t) {
		for i, document := range strings.Split(file, "\n---\n")[1:] {
			var object struct {
				Kind string `json:"kind"`
			}
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Fatalf("%.30s, object %d: %v", file, i+1, err)
			}
			into, ok := map[string]any{
				"ConfigMap": &core.ConfigMap{}, "Job": &batch.Job{}, "CronJob": &batch.CronJob{},
			}[object.Kind]
			if !ok {
				t.Fatalf("%.30s, object %d: unknown kind %q", file, i+1, object.Kind)
			}
			if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
				t.Errorf("%.30s, object %d: %v", file, i+1, err)
			}
			seen[object.Kind]++
		}
	}
	if seen["ConfigMap"] == 0 || seen["Job"] == 0 || seen["CronJob"] == 0 {
		t.Errorf("not every kind was there: %v", seen)
	}
}

// expected returns the expected objects of cmd/policyscan/manifest, one file after the other.
func expected(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(root + "/cmd/policyscan/manifest/testdata/objects.txt")
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile(`(?m)^=== \w+ ===\n`).Split(string(text), -1)[1:]
	if len(files) < 3 {
		t.Fatalf("%d files", len(files))
	}
	return files
}
