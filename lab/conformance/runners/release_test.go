package runners

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

// needManTools installs man and mandoc if they are not there.
func needManTools(t *testing.T) {
	t.Helper()
	for program, pkg := range map[string]string{"man": "man-db", "mandoc": "mandoc"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		install := exec.Command("sh", "-c", "apt-get update && apt-get install -y --no-install-recommends "+pkg)
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("%s is not there, and cannot be installed: %v\n%s", program, err, out)
		}
	}
}

// TestMan: the two programs that show manual pages have nothing to say about ours, and show it.
func TestMan(t *testing.T) {
	needConformance(t)
	needManTools(t)
	page := filepath.Join(t.TempDir(), "policyscan.1")
	text, err := exec.Command(filepath.Join(root(t), ".ci/manpage"), "v1.2.3", "2026-01-02").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, text, 0o666); err != nil {
		t.Fatal(err)
	}

	t.Run("mandoc", func(t *testing.T) {
		if out, err := exec.Command("mandoc", "-Tlint", "-Wwarning", page).Output(); err != nil || len(out) > 0 {
			t.Errorf("%v: %s", err, out)
		}
		show(t, exec.Command("mandoc", "-Tutf8", "-Owidth=78", page))
	})
	t.Run("man", func(t *testing.T) {
		cmd := exec.Command("man", "--warnings", "-l", page)
		cmd.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8", "MANPAGER=cat", "MANROFFOPT=")
		show(t, cmd)
	})
}

// overstruck is how formatters print bold and underlined characters.
var overstruck = regexp.MustCompile(`.\x08`)

// show runs a formatter, which is to say nothing, and looks at the page as a reader does.
func show(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil || said.Len() > 0 {
		t.Errorf("%v: %s", err, said.String())
	}
	text := overstruck.ReplaceAllString(out.String(), "")
	for _, want := range []string{
		"\nNAME\n", "\nEXIT STATUS\n", "--max-file-bytes N\n", "GIT_INDEX_FILE", `>"${fpath[1]}/_policyscan"`, "2026-01-02",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown", want)
		}
	}
}

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
