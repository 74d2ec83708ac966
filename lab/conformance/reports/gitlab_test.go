package reports

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/policyscan/policyscan/verdict/report"
)

// TestGitLab checks the reports against GitLab's schema by a validator of others, Ajv. There is
// no program of GitLab's that reads a report by itself.
func TestGitLab(t *testing.T) {
	asked(t)
	dir := t.TempDir()
	command(t, dir, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "ajv@8.17.1")
	const script = `
const {readFileSync} = require("fs"), Ajv = require("ajv");
const ajv = new Ajv({allErrors: true, strict: false});
const read = f => JSON.parse(new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(readFileSync(f)));
const report = read(process.argv[2]);
for (const file of process.argv.slice(3)) {
  const valid = ajv.compile({type: "array", items: read(file)});
  if (!valid(report)) { console.log(file, JSON.stringify(valid.errors)); process.exit(1); }
}
if (new Set(report.map(x => x.fingerprint)).size !== report.length) { console.log("a fingerprint is there twice"); process.exit(1); }
`
	program := filepath.Join(dir, "check.js")
	if err := os.WriteFile(program, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	schemas := []string{}
	for _, name := range []string{"gitlab-codeclimate.schema.json", "gitlab-manual.schema.json"} {
		abs, err := filepath.Abs(filepath.Join("../../../verdict/report/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		schemas = append(schemas, abs)
	}
	check := func(report []byte) ([]byte, error) {
		file := filepath.Join(dir, "report.json")
		if err := os.WriteFile(file, report, 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", append([]string{program, file}, schemas...)...)
		return cmd.CombinedOutput()
	}
	for name, v := range verdicts(t) {
		var b bytes.Buffer
		if err := report.Named("gitlab").Write(&b, v); err != nil {
			t.Fatal(err)
		}
		if out, err := check(b.Bytes()); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	for _, bad := range []string{"\ufeff[]", "{}", `[{"description": "d"}]`, `[{"description": "d", "check_name": "c", "fingerprint": "f", "severity": "high", "location": {"path": "p", "lines": {"begin": 1}}}]`} {
		if out, err := check([]byte(bad)); err == nil {
			t.Errorf("the validator has nothing against %q\n%s", bad, out)
		}
	}
}
