//go:build unix

package scanner

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// allFound scans files of the given names, all with the pattern, in full scope and as a list; the verdict must name
// exactly them. It skips names that the file system refuses or changes.
func allFound(t *testing.T, names ...string) *verdict.Verdict {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, "sub", name)
		must(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o777))
		if err := os.WriteFile(path, []byte("key"), 0o666); err != nil {
			t.Skipf("this file system does not take %q: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "sub")); err != nil || len(entries) != len(names) {
		t.Skipf("this file system does not keep the names %q apart: %v", names, err)
	}
	var raw, want []string
	for _, name := range names {
		raw, want = append(raw, "sub/"+name), append(want, verdict.Path("sub/"+name))
	}
	slices.Sort(want)
	v := scanDir(t, dir, testBundle("key"), testOptions{})
	for _, v := range []*verdict.Verdict{v, scanTree(t, testBundle("key"), tree.List(openRoot(t, dir), raw),
		testOptions{})} {
		wantOutcome(t, v, "F")
		if got := violated(v); !slices.Equal(got, want) || !v.Complete {
			t.Errorf("scope %s: got %q, want %q; errors %+v", v.Scope.Mode, got, want, v.Errors)
		}
		back := map[string]bool{}
		for _, vi := range v.Violations {
			back[rawPath(vi.File)] = true
		}
		for _, name := range raw {
			if !back[name] {
				t.Errorf("%q cannot be determined from the verdict", name)
			}
		}
	}
	return v
}

func TestFault_023_NamesWithControls(t *testing.T) {
	v := allFound(t, "a\nb.tf", "a\rb.tf", "a\tb.tf", `a"b.tf`, "a'b.tf", `a\b.tf`, `a\nb.tf`, "a\x01b.tf", "a\x7fb.tf",
		"a\\x0ab.tf")
	var doc struct{ Violations []struct{ File string } }
	must(t, json.Unmarshal(encoded(t, v), &doc))
	for i, vi := range doc.Violations {
		if vi.File != v.Violations[i].File {
			t.Errorf("JSON says %q, not %q", vi.File, v.Violations[i].File)
		}
	}
}

func TestFault_024_NamesOfHiddenCharacters(t *testing.T) {
	v := allFound(t, "a\x1b[31mb.tf", "a\x1b]0;x\ab.tf", "a\u009bb.tf", "a\u202eft.b", "a\u200bb.tf", "a\u2066b.tf",
		"a\ufeffb.tf", "a\u2028b.tf", "::error::x.tf", "##[error]y.tf")
	text := encoded(t, v)
	for _, raw := range []string{"\x1b", "\a", "\u009b", "\u202e", "\u200b", "\u2066", "\ufeff", "\u2028", "##["} {
		if bytes.Contains(text, []byte(raw)) {
			t.Errorf("the document holds %q", raw)
		}
	}
	if !bytes.Contains(text, []byte(`a\u202eft.b`)) {
		t.Errorf("the escape of U+202E is not in the document")
	}
}

func TestFault_025_NamesNotUTF8(t *testing.T) {
	allFound(t, "a\xff.tf", "a\xfe.tf", "a\ufffd.tf", `a\xff.tf`, `a\\xff.tf`, "\xc3\xa9.tf", "\xe9.tf", "\xe2\x82.tf")
}

func TestFault_026_NamesLikeFlags(t *testing.T) {
	allFound(t, "--help.tf", "-rf", "@x", "$(id).tf", ";", "`id`", "-", "--", "*", "**", "[a]", "{a,b}", "~", "#x",
		"!x", "|x", " ", "a b", "%s%n")
}

func TestFault_027_NamesOfOtherSystems(t *testing.T) {
	allFound(t, "CON", "aux.tf", "nul", "COM1.tf", "a:b", "trailing.", "trailing ", `back\slash.tf`, "a<b>.tf", "a?.tf",
		"x.tf:stream", "...", "..x", ".x.")
}

func TestFault_028_NamesByCase(t *testing.T) {
	allFound(t, "A.tf", "a.tf", "a.TF")
}

func TestFault_029_NamesByNormalForm(t *testing.T) {
	allFound(t, "caf\u00e9.tf", "cafe\u0301.tf")
}

func TestFault_040_NestedGit(t *testing.T) {
	dir := writeTree(t, map[string]string{
		".git/config": "key", ".git/hooks/x": "key", ".gitignore": "key", ".gitmodules": "key", ".github/x": "key",
		"dir.git/x":   "key",
		"module/.git": "gitdir: key", "nested/.git/config": "key", "nested/.git/objects/x": "key",
	})
	v := scanDir(t, dir, testBundle("key"), testOptions{})
	want := []string{".github/x", ".gitignore", ".gitmodules", "dir.git/x", "module/.git", "nested/.git/config",
		"nested/.git/objects/x"}
	if got := violated(v); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []verdict.Omission{{File: ".git", Reason: "git"}}; !slices.Equal(v.Coverage.LeftOut, want) {
		t.Errorf("left out: %+v", v.Coverage.LeftOut)
	}

	linked := writeTree(t, map[string]string{".git": "gitdir: /elsewhere/key", "a": "x"})
	v = scanDir(t, linked, testBundle("key"), testOptions{})
	wantOutcome(t, v, "P")
	if c := v.Coverage; c.Files != 1 || len(c.LeftOut) != 1 {
		t.Errorf("%+v", c)
	}
	v = scanTree(t, testBundle("key"), tree.List(openRoot(t, dir),
		[]string{".git/config", "./.git/hooks/x", ".gitignore"}), testOptions{})
	if got := violated(v); !slices.Equal(got, []string{".gitignore"}) || len(v.Coverage.LeftOut) != 1 ||
		len(v.Errors) > 0 {
		t.Errorf("listed: %q, left out %+v, errors %+v", got, v.Coverage.LeftOut, v.Errors)
	}
}
