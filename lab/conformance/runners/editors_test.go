package runners

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/conformance/install"
)

// vscodeExtension copies editors/vscode into a box, and installs what it needs.
func vscodeExtension(b *box) string {
	b.t.Helper()
	for into, name := range map[string]string{
		"package.json": "../../../editors/vscode/package.json", "extension.js": "../../../editors/vscode/extension.js",
		"LICENSE": "../../../LICENSE",
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			b.t.Fatal(err)
		}
		b.write("extension/"+into, string(text))
	}
	b.must("extension", "npm", "install", "--omit=dev", "--no-audit", "--no-fund")
	return b.path("extension")
}

// editedTree is a repository with a rule, and a file that violates it.
func editedTree(b *box) (tree string) {
	b.write("tree/.git/HEAD", "ref: refs/heads/main\n")
	b.write("tree/.policyscan/rules/boundaries.yml", rulesOfOne)
	b.write("tree/.policyscan/rules/invariants.yml", rulesOfNone)
	b.write("tree/main.tf", bad)
	return b.path("tree")
}

const violationShown = `No ingress from anywhere: the file contains \"0.0.0.0/0\", which must not appear`

func checkLines(t *testing.T, out string, want ...string) {
	t.Helper()
	if got := strings.ReplaceAll(out, `\/`, "/"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nnot\n%s", got, strings.Join(want, "\n"))
	}
}

// TestVSCode: the extension can be packaged, and starts a server with which its protocol library finds a violation,
// edits it away, renames the rule, and asks about a key.
func TestVSCode(t *testing.T) {
	needConformance(t)
	b := newBox(t)
	extension, tree := vscodeExtension(b), editedTree(b)
	client, err := filepath.Abs("testdata/lspclient.js")
	if err != nil {
		t.Fatal(err)
	}
	checkLines(t, b.must("tree", "node", client, extension, install.Program(), tree),
		"sync 2",
		`found ["NET-1",1,{"start":{"line":0,"character":8},"end":{"line":0,"character":17}},"`+violationShown+`"]`,
		`actions [["Show rule NET-1","policyscan.showRule"],["Copy the command that explains this","policyscan.copy"]]`,
		"mended 0",
		`again ["NET-1"]`,
		`renamed ["NET-2"]`,
		`mistake ["E_POLICY_KEY"]`,
		`hover "What the rule forbids or requires, in one line."`,
		`pulled ["NET-2"]`,
		"status 0")
	vsce := filepath.Join(install.NPM(t, "@vscode/vsce@4.1.0"), ".bin/vsce")
	if out := b.must("extension", vsce, "package", "--out", b.path("policyscan.vsix")); !strings.Contains(out, "extension.js") {
		t.Errorf("vsce package: %s", out)
	}
	if st, err := os.Stat(b.path("policyscan.vsix")); err != nil || st.Size() < 10_000 {
		t.Errorf("the package: %v", err)
	}
}

// TestNeovim: Debian's Neovim shows the same, on its screen.
func TestNeovim(t *testing.T) {
	needConformance(t)
	install.Debian(t, "nvim", "neovim")
	b := newBox(t)
	editedTree(b)
	b.env = append(b.env, "PROGRAM="+install.Program())
	client, err := filepath.Abs("testdata/lspclient.lua")
	if err != nil {
		t.Fatal(err)
	}
	const ruler = "1,1            All"
	out := b.must("tree", "nvim", "--headless", "-u", "NONE", "-c", "luafile "+client)
	checkLines(t, out,
		`found ["NET-1",1,0,8,17,"`+violationShown+`"]`,
		`screen ["E cidr = \"0.0.0.0/0\"     ■ `+violationShown+`","main.tf`+strings.Repeat(" ", 95)+ruler+`"]`,
		`mended ["cidr = \"10.0.0.0/8\"","main.tf [+]`+strings.Repeat(" ", 91)+ruler+`"]`,
		"wide 9",
		`hover "What the rule forbids or requires, in one line."`,
		`renamed ["NET-2"]`,
		`mistake ["E_POLICY_KEY"]`,
		"status [0,0]")
}

// TestNeovimScreen: the picture of docs/editors.md is Neovim's screen after an edit of the example that violates a rule.
// -update writes what it shows; then go test ./docs -update draws it.
func TestNeovimScreen(t *testing.T) {
	needConformance(t)
	install.Debian(t, "nvim", "neovim")
	b := newBox(t)
	example := filepath.Join(root(t), "examples")
	for from, to := range map[string]string{"policy/rules": "tree/.policyscan/rules", "infra-target/terraform": "tree/terraform"} {
		if err := os.CopyFS(b.path(to), os.DirFS(filepath.Join(example, from))); err != nil {
			t.Fatal(err)
		}
	}
	b.write("tree/.git/HEAD", "ref: refs/heads/main\n")
	client, err := filepath.Abs("testdata/nvimscreen.js")
	if err != nil {
		t.Fatal(err)
	}
	shown, ok := b.try("tree", "node", client, install.NPM(t, "--ignore-scripts", "neovim@5.4.0"), install.Program(),
		"terraform/bastion.tf", "each.value", `"0.0.0.0/0"`)
	if !ok {
		t.Fatal(shown)
	}
	file := filepath.Join(root(t), "docs/testdata/editor.txt")
	if *update {
		write(t, file, shown)
	}
	if want := read(t, file); shown != want {
		t.Errorf("%s has\n%s\nand Neovim shows\n%s", file, want, shown)
	}
}
