package runners

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/conformance/install"
)

// TestMan: the two programs that show manual pages have nothing to say about ours, and show it.
func TestMan(t *testing.T) {
	needConformance(t)
	install.Debian(t, "man", "man-db")
	install.Debian(t, "mandoc", "mandoc")
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
	must(t, root(t), "go", "run", "./.ci/sbom", install.Program(), in("bill.json"))
	write(t, in("validate.js"), validate)
	modules := install.NPM(t, append([]string{"--ignore-scripts"}, cycloneDX...)...)
	if err := os.Symlink(modules, in("node_modules")); err != nil {
		t.Fatal(err)
	}
	must(t, dir, "node", in("validate.js"), in("bill.json"))

	write(t, in("bad.json"), strings.Replace(read(t, in("bill.json")), `"library"`, `"libary"`, 1))
	if out := failing(t, dir, "node", in("validate.js"), in("bad.json")); !strings.Contains(out, "/components/0/type") {
		t.Errorf("the validator accepts a component of an unknown type\n%s", out)
	}
}
