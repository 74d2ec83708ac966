//go:build linux

package trials

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/verdict"
)

// byBundle returns the outcome of a run whose bundle was damaged. Where that is a bundle still, the
// verdict names it by its hash, and has the violations that the naive implementation below
// finds by it.
func (c *corruption) byBundle(root string, e ending) (string, error) {
	if e.status > 1 {
		return c.scene.judge(e)
	}
	if crash := crashed(e.err); crash != "" {
		return "", fmt.Errorf("it says %q", crash)
	}
	v, err := verdict.Decode(e.files["verdict.json"])
	if err != nil {
		return "", err
	}
	sum, want, err := naively(root)
	if err != nil {
		return "", fmt.Errorf("status %d, and naively: %w", e.status, err)
	}
	got := map[string]bool{}
	for _, x := range v.Violations {
		got[asText([]string{x.RuleID, x.File, x.Evidence.Pattern})] = true
	}
	switch {
	case len(v.Policy) != 1 || v.Policy[0].SHA256 != sum:
		return "", fmt.Errorf("it is by the bundle %v, not %s", v.Policy, sum)
	case !v.Complete || (e.status == 0) != (v.Verdict == verdict.Pass):
		return "", fmt.Errorf("status %d with %s", e.status, e.files["verdict.json"])
	case !maps.Equal(got, want):
		return "", fmt.Errorf("it has %v, naively %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	case c.scene.asClean(e):
		return same, nil
	}
	return naive, nil
}

// matchesAsGit is doublestar, but for DIR/**, which is what is in the directory and not DIR itself.
func matchesAsGit(glob, path string) bool {
	if dir, ok := strings.CutSuffix(glob, "/**"); ok {
		glob = dir + "/**/*"
	}
	return doublestar.MatchUnvalidated(glob, path)
}

// naively judges the files of a directory by the bundle in it, with a YAML decoder, doublestar and
// bytes.Contains, and returns the bundle's hash, too. It knows what the bundle and the
// files of the scenes have, and no more.
func naively(root string) (sum string, violations map[string]bool, err error) {
	var all []byte
	violations = map[string]bool{}
	for _, name := range []string{"rules/boundaries.yml", "rules/deprecated.yml", "rules/invariants.yml"} {
		text, err := os.ReadFile(filepath.Join(root, ".policyscan", name))
		if err != nil {
			return "", nil, err
		}
		all = append(all, name+"\n"...)
		all = append(append(all, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))...), '\n')
		if name == "rules/deprecated.yml" {
			continue
		}
		var file struct {
			Rules []struct {
				ID    string
				Match struct {
					Files, Exclude []string
					Forbidden      []string `yaml:"forbidden_patterns"`
					Absent         []string `yaml:"required_absent"`
				}
			}
		}
		if err := yaml.Unmarshal(text, &file); err != nil {
			return "", nil, err
		}
		for _, r := range file.Rules {
			patterns := append(r.Match.Forbidden, r.Match.Absent...)
			err := eachFile(root, func(path string, content []byte) {
				matches := func(globs []string) bool {
					return slices.ContainsFunc(globs, func(g string) bool { return matchesAsGit(g, path) })
				}
				if !matches(r.Match.Files) || matches(r.Match.Exclude) {
					return
				}
				for _, p := range patterns {
					if bytes.Contains(content, []byte(p)) {
						violations[asText([]string{r.ID, path, p})] = true
					}
				}
			})
			if err != nil {
				return "", nil, err
			}
		}
	}
	hash := sha256.Sum256(all)
	return hex.EncodeToString(hash[:]), violations, nil
}

// eachFile visits what a full scan reads.
func eachFile(root string, visit func(path string, content []byte)) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, err := filepath.Rel(root, file)
		switch {
		case err != nil:
			return err
		case path == ".git":
			return fs.SkipDir
		case d.IsDir(), strings.HasPrefix(path, ".policyscan/rules/"), path == "verdict.json", strings.HasPrefix(path, "report."):
			return nil
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(file)
			visit(path, []byte(target))
			return err
		case !d.Type().IsRegular():
			return errors.New("not a file: " + path)
		}
		text, err := os.ReadFile(file)
		visit(path, text)
		return err
	})
}
