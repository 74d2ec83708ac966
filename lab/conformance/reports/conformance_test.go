// Package reports gives what policyscan writes to the programs that read it.
// Its tests install those programs and are run by: make conformance
package reports

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/policyscan/policyscan/lab/conformance/install"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

var (
	conformance = flag.Bool("conformance", false, "run the validators of others, and install what they need")
	long        = flag.Bool("long", false, "every page in every view")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed"); !*long && seed.Value.String() == "0" {
		_ = seed.Value.Set("1") // the same texts in each run
	}
	os.Exit(install.Main(*conformance, func() int {
		defer closeBrowser()
		return m.Run()
	}))
}

// asked skips a test that was not asked for.
func asked(t *testing.T) {
	t.Helper()
	if !*conformance {
		t.Skip("it runs with -conformance")
	}
}

// fixtures are the names of all verdicts of verdict/report/testdata.
func fixtures(t *testing.T) []string {
	t.Helper()
	archives, err := filepath.Glob("../../../verdict/report/testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	var names []string
	for _, a := range archives {
		names = append(names, strings.TrimSuffix(filepath.Base(a), ".txtar"))
	}
	return names
}

// fixture is one of the verdicts of verdict/report/testdata.
func fixture(t *testing.T, name string) *verdict.Verdict {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("../../../verdict/report/testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, archive.Files[0].Data)
}

func decode(t *testing.T, text []byte) *verdict.Verdict {
	t.Helper()
	v, err := verdict.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// kinds is a tree with a violation of each kind that a bundle of 0.2 can find, and that bundle in policy/.
func kinds() map[string]string {
	return map[string]string{
		"policy/rules/boundaries.yml": `bundle: "0.2"
rules:
  - id: TEXT-1
    title: Texts with <options> & ]]>
    enforcement: {mode: fail}
    match:
      files: ["**/*.tf"]
      path_case: ignore
      forbidden_patterns:
        - {text: 'acl = "public" ]]>', spaces: any}
        - {text: "std::bind", words: true, case: ignore}
        - {regex: 'image:\s*\S+:latest\b|[<&>\]]{3}'}
        - "{{ braces }}"
  - id: KEY-1
    title: No private keys
    enforcement: {mode: fail}
    match: {forbidden_files: ["**/*.pem", "keys/{a,b<&>]]}*"]}
`,
		"policy/rules/invariants.yml": `bundle: "0.2"
rules:
  - id: HAS-1
    title: What must exist
    enforcement: {mode: fail}
    match:
      files: ["**/*.tf"]
      required_patterns: ["::owner::", {text: "managed  by <x>", spaces: any, case: ignore}, {regex: 'team-[0-9]+ ##\[x'}, "{{ r }}"]
  - id: FILE-1
    title: Files
    enforcement: {mode: fail}
    match: {required_files: ["/LICENSE*", "docs/{a,<b>}/*.md"]}
`,
		"a/MAIN.tf":      "x  acl=\"public\"\t]]>\r\n👍 STD::bind image: nginx:latest {{ braces }}\n&&<\n",
		"b.tf":           "",
		"wide.tf":        "\xff\xfei\x00m\x00a\x00g\x00e\x00:\x00a\x00:\x00l\x00a\x00t\x00e\x00s\x00t\x00",
		"keys/a b:c.pem": "secret\n",
	}
}

// scan runs the program over a tree: the files of a directory, by their paths. The bundle is
// in it at policy/.
func scan(t *testing.T, files map[string]string, args ...string) *verdict.Verdict {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(install.Program(), append([]string{"--quiet", "--policy", "policy", "--output", "-"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	var status *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &status) {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	return decode(t, stdout.Bytes())
}

// command runs a program that has to succeed.
func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// TestGitLab checks the reports against GitLab's schema by a validator of others, Ajv. There is
// no program of GitLab's that reads a report by itself.
func TestGitLab(t *testing.T) {
	asked(t)
	t.Parallel()
	dir := t.TempDir()
	ajv := filepath.Join(install.NPM(t, "--ignore-scripts", "ajv@8.17.1"), "ajv")
	const script = `
const {readFileSync} = require("fs"), Ajv = require(process.argv[2]);
const ajv = new Ajv({allErrors: true, strict: false});
const read = f => JSON.parse(new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(readFileSync(f)));
const report = read(process.argv[3]);
for (const file of process.argv.slice(4)) {
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
		cmd := exec.Command("node", append([]string{program, ajv, file}, schemas...)...)
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
