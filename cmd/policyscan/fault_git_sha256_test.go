package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFault_187_Scopes: in a repository of SHA-256, whose packs only a multi-pack-index lists and whose index is split,
// each scope finds what a change adds; with any of these files damaged it is an error, or is found as before.
func TestFault_187_Scopes(t *testing.T) {
	g := newGit(t)
	if err := os.RemoveAll(g.path(".git")); err != nil {
		t.Fatal(err)
	}
	g.git("init", "-q", "-b", "main", "--template=", "--object-format=sha256")
	base, head := g.change()
	g.git("repack", "-q", "-a", "-d")
	g.git("multi-pack-index", "write")
	g.put("staged.tf", "cidr = \"0.0.0.0/0\" # staged\n")
	g.git("add", "-A")
	g.git("update-index", "--split-index")
	one := func(pattern string) string {
		t.Helper()
		files, err := filepath.Glob(g.path(".git/" + pattern))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		return files[0]
	}
	if err := os.Remove(one("objects/pack/*.idx")); err != nil || len(head) != 64 {
		t.Fatal(head, err)
	}
	scopes := map[string][]string{
		"rev": {"--rev", head}, "diff": {"--diff-base", base}, "staged": {"--staged"}, "tracked": {"--tracked"},
	}
	t.Chdir(g.path(""))
	scan := func(scope string) (status int, codes string) {
		t.Helper()
		args := append([]string{"--policy", "../policy", "--output", "-"}, scopes[scope]...)
		status, out, said := fed("", args...)
		v, err := readVerdict([]byte(out))
		if err != nil {
			t.Fatal(scope, err, said)
		}
		for _, e := range v.Errors {
			codes += e.Code + " "
		}
		return status, strings.TrimSpace(codes)
	}
	for scope := range scopes {
		if status, codes := scan(scope); status != exitViolation || codes != "" {
			t.Errorf("%s: status %d, %s", scope, status, codes)
		}
	}
	trials := 0
	for _, pattern := range []string{"objects/pack/*.pack", "objects/pack/multi-pack-index", "sharedindex.*", "index"} {
		file := one(pattern)
		whole := readFile(t, file)
		for what, damaged := range map[string]string{
			"missing": "", "cut off": whole[:len(whole)/2],
			"flipped":  whole[:len(whole)/2] + "\xa5" + whole[len(whole)/2+1:],
			"of SHA-1": strings.Replace(whole, "MIDX\x01\x02", "MIDX\x01\x01", 1),
		} {
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
			if what != "missing" {
				writeFile(t, file, damaged)
			}
			for scope := range scopes {
				ofIndex := strings.HasSuffix(pattern, "ndex.*") || pattern == "index"
				if damaged == whole || ofIndex != (scope == "staged" || scope == "tracked") {
					continue
				}
				trials++
				// A flipped byte may be in an object that the scope does not need.
				if status, codes := scan(scope); status == exitPass || what != "flipped" && codes == "" {
					t.Errorf("%s %s: %s: status %d, %s", pattern, what, scope, status, codes)
				}
			}
		}
		writeFile(t, file, whole)
	}
	if trials < 26 {
		t.Errorf("%d trials", trials)
	}
}
