package glob

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFault_095_AgainstGit compares globs with what git makes of them in .gitattributes, which are
// matched as in the pathspec magic :(glob). Each difference is one that is listed.
func TestFault_095_AgainstGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	// Without braces, which git does not have.
	var globs []string
	atoms := []string{"a", "b*", "*", "?", "**", "[ab]", "[!a]", "[+-9]", ".*", "*.tf", `\*`, "a?b", "[^b]*", "a[!c]b", "a[+-9]b"}
	for _, x := range atoms {
		globs = append(globs, x)
		for _, y := range atoms {
			globs = append(globs, x+"/"+y)
			for _, z := range []string{"a", "**", "*.tf", "[!a]"} {
				globs = append(globs, x+"/"+y+"/"+z)
			}
		}
	}
	var paths []string
	names := []string{"a", "b", "ab", ".a", "c.tf", ".tf", "*", "5", "a.b"}
	for _, x := range names {
		paths = append(paths, x)
		for _, y := range names {
			paths = append(paths, x+"/"+y)
			for _, z := range []string{"a", "b", ".a", "x.tf"} {
				paths = append(paths, x+"/"+y+"/"+z)
			}
		}
	}

	dir := t.TempDir()
	run := func(stdin string, args ...string) []byte {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return out
	}
	run("", "init", "-q")
	var attributes strings.Builder
	numbers := map[string]int{}
	for i, g := range globs {
		// A leading slash binds the pattern to the root, as our globs are.
		attributes.WriteString("/" + g + " g" + strings.Repeat("x", i/26) + string(rune('a'+i%26)) + "\n")
		numbers["g"+strings.Repeat("x", i/26)+string(rune('a'+i%26))] = i
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "info", "attributes"), []byte(attributes.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	matches := map[[2]string]bool{}
	fields := bytes.Split(run(strings.Join(paths, "\x00")+"\x00", "check-attr", "-z", "--stdin", "-a"), []byte{0})
	for i := 0; i+2 < len(fields); i += 3 {
		if n, ok := numbers[string(fields[i+1])]; ok {
			matches[[2]string{globs[n], string(fields[i])}] = true
		}
	}
	if len(matches) < 1000 {
		t.Fatalf("git matched %d pairs only", len(matches))
	}

	differences := map[string]int{}
	for _, g := range globs {
		if err := Check(g); err != nil {
			t.Fatalf("Check(%q): %v", g, err)
		}
		set := Compile([]string{g})
		for _, path := range paths {
			ours, gits := set.Match(path), matches[[2]string{g, path}]
			if ours == gits {
				continue
			}
			why := ""
			switch {
			case ours && (strings.Contains(g, "[!") || strings.Contains(g, "[^") || strings.Contains(g, "[+-9]")):
				why = "a negated class, or a range around it, matches a slash"
			default:
				t.Errorf("%q, %q: ours %v, git %v", g, path, ours, gits)
			}
			differences[why]++
		}
	}
	t.Logf("%d pairs, %d matched by git; differences: %v", len(globs)*len(paths), len(matches), differences)
	if why := "a negated class, or a range around it, matches a slash"; differences[why] == 0 {
		t.Errorf("no longer a difference: %s", why)
	}
}
