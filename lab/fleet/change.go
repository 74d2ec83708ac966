//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// likely are files that a bundle for infrastructure covers. They are changed where there are any, so that a night has
// no less to read than a real one.
var likely = regexp.MustCompile(`(?i)(\.(tf|tfvars|ya?ml|json|sh|env|toml)|(^|/)(Dockerfile|Makefile)[^/]*)$`)

// change commits to some of the repositories: up to three files get another line, in half of them one that is the same
// in all, as forks get the same change. The objects are loose, as those of a small fetch are.
func (p *plan) change() (n int, err error) {
	random := rand.New(rand.NewPCG(2, 2))
	for i, name := range p.names {
		if random.IntN(100) >= p.changed {
			continue
		}
		line := fmt.Sprintf("\n# changed in %d\n", i)
		if random.IntN(2) == 0 {
			line = "\n# changed in many\n"
		}
		if err := p.commit(filepath.Join(p.keep, name), line, random); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (p *plan) commit(dir, line string, random *rand.Rand) error {
	listed, err := git(dir, "", "ls-tree", "-r", "--format=%(objectmode) %(objectname) %(path)", "HEAD")
	if err != nil {
		return err
	}
	var files, some []string
	for _, f := range listed {
		name := f[len("100644 ")+41:]
		if f[:3] != "100" || strings.HasPrefix(name, `"`) {
			continue // a link, a submodule or a name that git quotes
		}
		files = append(files, f)
		if likely.MatchString(name) {
			some = append(some, f)
		}
	}
	if len(some) > 0 {
		files = some
	}
	index := "GIT_INDEX_FILE=" + filepath.Join(p.work, "index")
	do := func(input string, args ...string) (string, error) {
		as := []string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}
		cmd := exec.Command("git", append(as, args...)...)
		cmd.Stdin, cmd.Env = strings.NewReader(input), append(os.Environ(), index)
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("git %q in %s: %w", args, dir, err)
		}
		return string(out), nil
	}
	if _, err := do("", "read-tree", "HEAD"); err != nil {
		return err
	}
	var info strings.Builder
	for range min(3, len(files)) {
		f := files[random.IntN(len(files))]
		content, err := do("", "cat-file", "blob", f[7:47])
		if err != nil {
			return err
		}
		blob, err := do(content+line, "hash-object", "-w", "--stdin")
		if err != nil {
			return err
		}
		fmt.Fprintf(&info, "%s %s\t%s\n", f[:6], strings.TrimSpace(blob), f[48:])
	}
	if _, err := do(info.String(), "update-index", "--index-info"); err != nil {
		return err
	}
	tree, err := do("", "write-tree")
	if err != nil {
		return err
	}
	commit, err := do("", "commit-tree", "-p", "HEAD", "-m", "changed", strings.TrimSpace(tree))
	if err != nil {
		return err
	}
	_, err = do("", "update-ref", "HEAD", strings.TrimSpace(commit))
	return err
}
