package reports

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/conformance/install"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// TestJUnit checks the JUnit report against both schemas with xmllint (Debian: libxml2-utils). The schemas of testdata are
// unchanged files of other projects: junit-ant.xsd is JUnit.xsd of github.com/windyroad/JUnit-Schema at
// cfa434d4b8e102a8f55b8727b552a0063ee9044e (Apache-2.0: that repository's LICENSE); junit-jenkins.xsd is
// src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd of github.com/jenkinsci/xunit-plugin at
// 8c515de2804b3fd591a3b0f1ff8908a1b1a41887 (MIT: at its beginning).
func TestJUnit(t *testing.T) {
	asked(t)
	t.Parallel()
	install.Debian(t, "xmllint", "libxml2-utils")
	dir := t.TempDir()
	for name, v := range verdicts(t) {
		file := filepath.Join(dir, name+".xml")
		writeReport(t, file, report.Named("junit").Write, v)
		for _, schema := range []string{"junit-ant.xsd", "junit-jenkins.xsd"} {
			if out, err := lint(schema, file); err != nil {
				t.Errorf("%s, %s: %v\n%s", name, schema, err, out)
			}
		}
	}

	// The schemas can say no: to an unknown result, and to a document cut short.
	good, err := os.ReadFile(filepath.Join(dir, "fail.xml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"a misspelt element": strings.ReplaceAll(string(good), "failure", "failed"),
		"no name":            strings.Replace(string(good), "<testcase name=", "<testcase nam=", 1),
		"cut":                string(good[:len(good)/2]),
		"a control":          strings.Replace(string(good), "excerpt: ", "excerpt: \x1b", 1),
	} {
		if bad == string(good) {
			t.Fatalf("%s: nothing was changed", name)
		}
		file := filepath.Join(dir, "bad.xml")
		if err := os.WriteFile(file, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, schema := range []string{"junit-ant.xsd", "junit-jenkins.xsd"} {
			if _, err := lint(schema, file); err == nil {
				t.Errorf("%s: %s finds nothing", name, schema)
			}
		}
	}
}

func lint(schema, file string) ([]byte, error) {
	return exec.Command("xmllint", "--nonet", "--noout", "--schema", filepath.Join("testdata", schema), file).CombinedOutput()
}

// verdicts are the fixtures, and what the program itself says of small trees.
func verdicts(t *testing.T) map[string]*verdict.Verdict {
	t.Helper()
	all := map[string]*verdict.Verdict{}
	for _, name := range fixtures(t) {
		all[name] = fixture(t, name)
	}
	bundle := map[string]string{
		"policy/rules/boundaries.yml": "rules:\n  - id: NET-1\n    title: No <ingress> & more\n    enforcement: {mode: fail}\n    match:\n      files: [\"**/*.tf\"]\n      forbidden_patterns: [\"0.0.0.0/0\", \"]]>\"]\n" +
			"  - id: UNUSED\n    title: Nothing\n    enforcement: {mode: fail}\n    match:\n      files: [\"**/*.none\"]\n      forbidden_patterns: [\"x\"]\n",
		"policy/rules/invariants.yml": "rules: []\n",
	}
	tree := func(files map[string]string) map[string]string {
		for name, content := range bundle {
			files[name] = content
		}
		return files
	}
	all["scan-pass"] = scan(t, tree(map[string]string{"main.tf": "cidr = \"10.0.0.0/8\"\n"}))
	all["scan-fail"] = scan(t, tree(map[string]string{"main.tf": "cidr = \"0.0.0.0/0\"\n", "sub/\xc3\xa4 b.tf": "x\n\x1b]]> ::error::x\n"}))
	all["scan-nothing"] = scan(t, tree(map[string]string{"main.txt": "x\n"}))
	all["scan-incomplete"] = scan(t, tree(map[string]string{"big.tf": strings.Repeat("x", 100)}), "--max-file-bytes", "10")
	all["scan-kinds"] = scan(t, kinds())
	for name, want := range map[string]string{"scan-kinds": "FAIL true 21", "scan-pass": "PASS true 0", "scan-fail": "FAIL true 2", "scan-nothing": "PASS true 0", "scan-incomplete": "FAIL false 0"} {
		v := all[name]
		if got := fmt.Sprint(v.Verdict, " ", v.Complete, " ", len(v.Violations)); got != want {
			t.Fatalf("%s is %s, want %s", name, got, want)
		}
	}
	return all
}

// writeReport writes a report of a verdict to a file.
func writeReport(t *testing.T, file string, write func(io.Writer, *verdict.Verdict) error, v *verdict.Verdict) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, v); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
