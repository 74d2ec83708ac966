package scanner

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/run"
)

// TestTightenBackdated: a day before today only says which entries have ended; the run is not partial. The story
// allow_tighten has renamed, split and copied files.
func TestTightenBackdated(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git builds the repository")
	}
	const bundle = ".policyscan/"
	dir := writeTree(t, map[string]string{
		"a/x.tf": "nothing",
		bundle + rules.BoundariesFile: "bundle: \"0.2\"\nrules:\n  - {id: A, title: t, enforcement: {mode: fail}, " +
			"match: {files: [\"**/*.tf\"], forbidden_patterns: [ax]}}\n",
		bundle + rules.AllowancesFile: "bundle: \"0.2\"\nallowances:\n" +
			"  - {rule: A, file: a/x.tf, at_most: 2, owner: o, reason: r, until: \"2030-01-01\"}\n",
	})
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "base"}} {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	o := run.Options{
		Path: dir, Policies: []string{""}, Now: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), AsOf: "2020-01-01",
		Getenv: func(string) string { return "" },
	}
	_, result, err := Tighten(t.Context(), o, "", "")
	if err != nil || len(result.Changes) != 1 || result.Changes[0].Word != allowance.Removed {
		t.Errorf("%+v, %v", result, err)
	}
	if _, err := os.Stat(filepath.Join(dir, bundle, rules.AllowancesFile)); !os.IsNotExist(err) {
		t.Error(err)
	}
	o.Rev = "HEAD" // its rule files are not scanned
	r, err := run.Open(t.Context(), o)
	must(t, err)
	defer r.Close()
	if c := Scan(t.Context(), r, nil).Coverage; c.Files != 1 || len(c.LeftOut) != 2 || c.LeftOut[0].Reason != "rules" {
		t.Errorf("%+v", c)
	}
}
