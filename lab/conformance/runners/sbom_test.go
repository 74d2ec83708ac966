package runners

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

// cycloneDX are CycloneDX's own validator, and what it needs to validate.
var cycloneDX = []string{"@cyclonedx/cyclonedx-library@10.3.0", "ajv@8.17.1", "ajv-formats@3.0.1", "ajv-formats-draft2019@1.6.1"}

const validate = `const {Validation, Spec} = require('@cyclonedx/cyclonedx-library')
const text = require('fs').readFileSync(process.argv[2], 'utf8')
new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text).then(
  e => { if (e !== null) { console.log(JSON.stringify(e, null, 1)); process.exit(1) } },
  e => { console.error(e); process.exit(2) })
`

// TestBillOfMaterials: what .ci/sbom writes of the program is CycloneDX 1.6.
func TestBillOfMaterials(t *testing.T) {
	needConformance(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		if name == "npm" {
			cmd.Dir = dir
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	if err := build.Program(in("policyscan")); err != nil {
		t.Fatal(err)
	}
	must("go", "run", "-C", root(t), "./.ci/sbom", in("policyscan"), in("bill.json"))
	for name, text := range map[string]string{"package.json": "{}\n", "validate.js": validate} {
		if err := os.WriteFile(in(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	must("npm", append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts"}, cycloneDX...)...)
	must("node", in("validate.js"), in("bill.json"))

	text, err := os.ReadFile(in("bill.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("bad.json"), bytes.Replace(text, []byte(`"library"`), []byte(`"libary"`), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("node", in("validate.js"), in("bad.json")).CombinedOutput(); err == nil || !bytes.Contains(out, []byte("/components/0/type")) {
		t.Errorf("the validator takes a component of no known type: %v\n%s", err, out)
	}
}
