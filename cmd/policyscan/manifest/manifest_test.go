package manifest_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/cmd/policyscan/manifest"
)

var update = flag.Bool("update", false, "write the expected files again")

func nightly() manifest.Values {
	return manifest.Values{
		Name: "nightly", Image: "ghcr.io/policyscan/policyscan:v1.2.3", Shards: 100, Parallelism: 8,
		Mirrors: "mirrors", Results: "results", List: []byte("a.git\nb.git\n"),
		Policies: []manifest.Policy{{Files: []manifest.File{
			{Path: "rules/boundaries.yml", Content: []byte("rules:\n  - id: A\n\n  - id: B\n")},
			{Path: "rules/invariants.yml", Content: []byte("rules: []\n")},
		}}},
	}
}

// TestGolden compares with testdata/objects.txt, which lab/kubernetes decodes strictly with Kubernetes' own types.
func TestGolden(t *testing.T) {
	schedule := nightly()
	schedule.Schedule, schedule.Namespace = "0 2 * * *", "policy"
	schedule.Policies = append(schedule.Policies, manifest.Policy{Builtin: "builtin:infra"},
		manifest.Policy{Files: []manifest.File{
			{Path: "rules/sub/a b.yml", Content: []byte(" begins with a space\n")},
			{Path: "rules/sub/nul.yml", Content: []byte("a\x00b")},
			{Path: "rules/sub.x.yml", Content: []byte("tab:\tno end")},
			{Path: "rules/sub/x.yml", Content: []byte("same: key\n")},
		}})
	schedule.Flags = []string{"--allow", "symlink=**/$(RUN)/\"x\""}
	large := nightly()
	large.Name, large.Shards, large.Parallelism = "large", 1, 1
	large.List = []byte(strings.Repeat("a/b.git\n", manifest.MaxConfigMap/8+1))
	large.Policies[0].Files[0].Content = []byte(strings.Repeat("# 456789\n", manifest.MaxConfigMap/9+1))
	var all []byte
	for _, c := range []struct {
		name string
		manifest.Values
	}{{"job", nightly()}, {"cronjob", schedule}, {"volume", large}} {
		text, err := c.YAML()
		if err != nil {
			t.Fatal(c.name, err)
		}
		all = append(append(all, "=== "+c.name+" ===\n"...), text...)
	}
	const file = "testdata/objects.txt"
	if *update {
		if err := os.WriteFile(file, all, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(all) != string(want) {
		t.Errorf("%s: %v; run with -update, and read the difference", file, err)
	}
}

// documents are the objects as a YAML reader gives them back.
func documents(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for d := yaml.NewDecoder(strings.NewReader(string(text))); ; {
		var one map[string]any
		if err := d.Decode(&one); err != nil {
			if len(all) == 0 || err.Error() != "EOF" {
				t.Fatalf("%v\n%s", err, text)
			}
			return all
		}
		all = append(all, one)
	}
}

// TestContent: whatever is in a list, a ConfigMap gives it back byte for byte.
func TestContent(t *testing.T) {
	for _, content := range []string{
		"a", "a\n", "a\n\n", "\na\n", " a\n", "a\n b\n", "a \n", "\ta\n", "a\tb\n", "a\r\nb\r\n", "# a\n---\n...\n", "{{.Name}}\n",
		"\xff\n", "a\x00\n", "\ufeffa\n", "a\u0085b\u2028c\u00a0d\n", "ä€😀\n", "a: b\n- c\n", "\n", "a\n\n\nb\n", "$(RUN)\n", "a\x7f\n", "%YAML 1.1\n",
	} {
		v := nightly()
		v.List = []byte(content)
		text, err := v.YAML()
		if err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		list := documents(t, text)[0]
		got := ""
		if data, ok := list["data"].(map[string]any); ok {
			got = data["repositories.txt"].(string)
		} else {
			encoded := list["binaryData"].(map[string]any)["repositories.txt"].(string)
			var node yaml.Node
			node.Kind, node.Tag, node.Value = yaml.ScalarNode, "!!binary", encoded
			if err := node.Decode(&got); err != nil {
				t.Fatal(err)
			}
		}
		if got != content {
			t.Errorf("%q became %q", content, got)
		}
	}
}

// TestCheck: each wrong value is an error that names it.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		change func(*manifest.Values)
		want   string
	}{
		{func(v *manifest.Values) { v.Name = "Night" }, `the name "Night" is not valid`},
		{func(v *manifest.Values) { v.Name = "" }, `the name "" is not valid`},
		{func(v *manifest.Values) { v.Name = strings.Repeat("a", 41) }, "use at most 40 lower-case letters"},
		{func(v *manifest.Values) { v.Namespace = "a b" }, `the namespace "a b" is not valid`},
		{func(v *manifest.Values) { v.Image = "a\nb" }, `the image "a\nb" is not valid`},
		{func(v *manifest.Values) { v.Shards = 0 }, "0 shards; use 1 to 10000"},
		{func(v *manifest.Values) { v.Shards = 10001 }, "10001 shards; use 1 to 10000"},
		{func(v *manifest.Values) { v.Parallelism = 0 }, "a parallelism of 0"},
		{func(v *manifest.Values) { v.Mirrors = "" }, `the claim of the mirrors, "", is not`},
		{func(v *manifest.Values) { v.Results = "A" }, `the claim of the results, "A", is not`},
		{func(v *manifest.Values) { v.Schedule = "0 2 * *" }, `the schedule "0 2 * *" is not valid`},
		{func(v *manifest.Values) { v.Schedule = "TZ=UTC 0 2 * *" }, `is not valid; write five fields`},
		{func(v *manifest.Values) { v.List = nil }, "the list of repositories is empty"},
		{func(v *manifest.Values) { v.Policies[0].Files = nil }, "policy 1 has no rule file"},
		{func(v *manifest.Values) { v.Policies[0].Files[0].Path = "x.yml" }, `the rule file "x.yml" is not below rules/`},
	} {
		v := nightly()
		c.change(&v)
		if text, err := v.YAML(); err == nil || text != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
	for _, s := range []string{"@daily", "*/5 0-3 1,15 JAN MON", "0 2 * * *"} {
		v := nightly()
		v.Schedule = s
		if err := v.Check(); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// TestRun: the merge reads the folder that the scan writes, if both are the same night's, in Jobs and in CronJobs.
func TestRun(t *testing.T) {
	for _, schedule := range []string{"", "@daily"} {
		v := nightly()
		v.Schedule = schedule
		text, err := v.YAML()
		if err != nil {
			t.Fatal(err)
		}
		written, read := "", ""
		for _, d := range documents(t, text) {
			job, kind := d, d["kind"]
			name := d["metadata"].(map[string]any)["name"].(string)
			switch kind {
			case "ConfigMap":
				continue
			case "CronJob":
				job = d["spec"].(map[string]any)["jobTemplate"].(map[string]any)
				name += "-29012345"
			}
			pod := job["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
			container := pod["containers"].([]any)[0].(map[string]any)
			var args []string
			for _, a := range container["args"].([]any) {
				args = append(args, strings.ReplaceAll(a.(string), "$(RUN)", name))
			}
			for i, a := range args {
				if args[0] == "fleet" && a == "--output" {
					written = strings.TrimSuffix(args[i+1], "/$(JOB_COMPLETION_INDEX)/$(POD)")
				}
			}
			if args[0] == "merge" {
				read = args[len(args)-1]
			}
			if from := fmt.Sprint(container["env"]); args[0] == "fleet" &&
				(!strings.Contains(from, "POD") || !strings.Contains(from, "fieldPath:metadata.name")) {
				t.Errorf("%s: POD is not the name of the pod: %s", name, from)
			}
			from := fmt.Sprint(container["env"].([]any)[0])
			if !strings.Contains(from, "RUN") || !strings.Contains(from, "metadata.labels['batch.kubernetes.io/job-name']") {
				t.Errorf("%s: RUN is not the name of the Job: %s", name, from)
			}
		}
		if written == "" || written != read {
			t.Errorf("schedule %q: the scan writes %q, the merge reads %q", schedule, written, read)
		}
	}
}

// TestOnVolume: what a ConfigMap does not take is said, and the scan reads it on the volume.
func TestOnVolume(t *testing.T) {
	v := nightly()
	v.List = []byte(strings.Repeat("a", manifest.MaxConfigMap))
	if all := v.OnVolume(); all != nil {
		t.Errorf("a list that a ConfigMap just takes: %q", all)
	}
	v.List = append(v.List, 'a')
	want := "the list has 1048577 bytes, and a ConfigMap takes 1048576: copy it to repositories.txt on the volume of the claim mirrors"
	if all := v.OnVolume(); len(all) != 1 || all[0] != want {
		t.Errorf("%q", all)
	}
	text, err := v.YAML()
	if err != nil || !strings.Contains(string(text), want) || !strings.Contains(string(text), `- "/mirrors/repositories.txt"`) {
		t.Errorf("%v\n%s", err, text)
	}
}
