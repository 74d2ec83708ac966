package allowance_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
)

// TestGitIsNaive: for changes in repositories, the scan finds, allows and denies as the naive evaluation.
func TestGitIsNaive(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git makes the repositories")
	}
	allowed, failed, at := 0, 0, t.TempDir()
	n, most := 0, 1<<30
	if checks := flag.Lookup("rapid.checks").Value.String(); checks == flag.Lookup("rapid.checks").DefValue {
		most = 20 // each runs git twice
	}
	rapid.Check(t, func(t *rapid.T) {
		if n++; n > most {
			return
		}
		r := allowance.DrawRepository(t)
		dir := filepath.Join(at, fmt.Sprint(n))
		imported(t, dir, r)
		defer os.RemoveAll(dir)
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			base, head := rapid.IntRange(0, r.Len()-1).Draw(t, "base"), rapid.IntRange(0, r.Len()-1).Draw(t, "head")
			wantFailed, wantAllowed, incomplete, compared := r.Judge(base, head)
			if !compared {
				continue
			}
			v := scanned(t, dir, base, head)
			gotFailed, gotAllowed := map[string]bool{}, map[string]bool{}
			for i := range v.Violations {
				gotFailed[v.Violations[i].RuleID+" in "+v.Violations[i].File] = true
			}
			for i := range v.AllowedViolations {
				gotAllowed[v.AllowedViolations[i].RuleID+" in "+v.AllowedViolations[i].File] = true
			}
			if !maps.Equal(gotFailed, wantFailed) || !maps.Equal(gotAllowed, wantAllowed) || v.Complete == incomplete ||
				(v.Verdict == verdict.Pass) != (len(wantFailed) == 0 && !incomplete) {
				t.Fatalf("from %d to %d: %s, failed %v, allowed %v, errors %v; want %v and %v, incomplete %t%s", base, head,
					v.Verdict, keys(gotFailed), keys(gotAllowed), v.Errors, keys(wantFailed), keys(wantAllowed), incomplete, r)
			}
			allowed, failed = allowed+len(gotAllowed), failed+len(gotFailed)
		}
	})
	if allowed == 0 || failed == 0 {
		t.Errorf("%d were allowed, %d refused: the histories show nothing", allowed, failed)
	}
}

func keys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

// imported makes a repository of a history: the tag cN is its commit N.
func imported(t *rapid.T, dir string, r allowance.Repository) {
	git := func(in []byte, args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Stdin = bytes.NewReader(in)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	var b bytes.Buffer
	for i := range r.Len() {
		fmt.Fprintf(&b, "commit refs/tags/c%d\nmark :%d\ncommitter a <a@example.com> %d +0000\ndata 1\n%c\n", i, i+1, 1000+i, 'c')
		for k, p := range r.Parents(i) {
			word := "from"
			if k > 0 {
				word = "merge"
			}
			fmt.Fprintf(&b, "%s :%d\n", word, p+1)
		}
		b.WriteString("deleteall\n")
		files := r.Files(i)
		for _, name := range keysOf(files) {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", name, len(files[name]), files[name])
		}
	}
	git(nil, "init", "-q", dir)
	git(b.Bytes(), "-C", dir, "fast-import", "--quiet")
}

func keysOf(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// scanned returns the verdict on a change.
func scanned(t *rapid.T, dir string, base, head int) *verdict.Verdict {
	ctx := context.Background()
	today, err := time.Parse(time.DateOnly, allowance.Today)
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Open(ctx, run.Options{
		Path: dir, Policies: []string{""}, Base: fmt.Sprintf("c%d", base), Head: fmt.Sprintf("c%d", head),
		Getenv: func(string) string { return "" }, Now: today,
	})
	if err != nil {
		t.Fatalf("from %d to %d: %v", base, head, err)
	}
	defer r.Close()
	return scanner.Scan(ctx, r, nil)
}
