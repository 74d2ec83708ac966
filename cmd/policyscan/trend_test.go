package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestDayOf: which day a name has, and what remains as the repository.
func TestDayOf(t *testing.T) {
	for name, want := range map[string]string{
		"2026-11-29": "2026-11-29 ", "app-2026-11-29": "2026-11-29 app", "app_20261129": "2026-11-29 app",
		"2026-11-29-app": "2026-11-29 app", "app-2026-11-29-nightly": "2026-11-29 app-nightly",
		"20261129T020000Z.app": "2026-11-29 app", "app.2026-11-29T02:00": "2026-11-29 app", "20261129020000": "2026-11-29 ",
		"202611290200": "2026-11-29 ", "app-2026-11-29_020000": "2026-11-29 app", "app-2026-11-29-2": "2026-11-29 app-2",
		"2026-11-29-app-2026-11-29": "2026-11-29 app", "2026-11-29-fleet-29913240": "2026-11-29 fleet-29913240",
		// None of these is a day.
		"fleet-29913240": " fleet-29913240", "2026-13-01": " 2026-13-01", "120261129": " 120261129", "202611291": " 202611291",
		"1999-01-01": " 1999-01-01", "2026-02-30": " 2026-02-30", "v2026.11": " v2026.11", "": " ",
		// Two of them are an error.
		"2026-11-29_2026-11-30": "two", "20261129-20261130-app": "two", "2026-11-29 to 2026-12-05": "two",
	} {
		day, rest, err := dayOf(name)
		got := day + " " + rest
		if err != nil && strings.HasPrefix(err.Error(), "the name has two days, 2026-11-29 and 2026-1") {
			got = "two"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestTrendSchema: what the command writes is as the schema says, and so is a fleet's summary that it reads.
func TestTrendSchema(t *testing.T) {
	dir := t.TempDir()
	policy, err := filepath.Abs("../../examples/policy")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "tree/a.tf"), "cidr = \"0.0.0.0/0\"\n")
	writeFile(t, filepath.Join(dir, "runs/2026-01-31/fleet.json"), `{"schema_version": "1", "verdict": "FAIL", "errors": [{"code": "E_READ", "message": "x"}]
		, "repositories": [], "list": {}}`)
	for _, day := range []string{"2026-01-01", "2026-01-05"} {
		scan := exec.Command("policyscan", "--policy", policy, "--quiet", "--output", "app-"+day+".json", "../tree")
		scan.Dir = filepath.Join(dir, "runs")
		if out, err := scan.CombinedOutput(); exitOf(err) != exitViolation {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	text, err := exec.Command("policyscan", "trend", "--report", "json", filepath.Join(dir, "runs")).Output()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err == nil {
		err = printed(t, "trend").Validate(doc)
	}
	if err != nil || strings.Count(string(text), `"dated_by": "name"`) != 3 {
		t.Errorf("%v\n%s", err, text)
	}
}
