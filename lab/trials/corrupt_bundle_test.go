//go:build linux

package trials

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/lab/naive"
	"github.com/policyscan/policyscan/verdict"
)

// byBundle returns the outcome of a run whose bundle was damaged. Where that is a bundle still, the
// verdict names it by its hash, and has the violations that lab/naive finds by it.
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
	return byNaive, nil
}

// naively judges the files of a directory by the bundle in it, by lab/naive, and returns the bundle's hash, too.
func naively(root string) (sum string, violations map[string]bool, err error) {
	files, err := naive.ReadRules(filepath.Join(root, ".policyscan"))
	if err != nil {
		return "", nil, err
	}
	bundle, mistakes := naive.Load(files)
	if len(mistakes) > 0 {
		return "", nil, fmt.Errorf("%+v", mistakes)
	}
	tree, err := naive.ReadTree(root)
	tree = slices.DeleteFunc(tree, func(f naive.File) bool {
		return f.Path == "verdict.json" || strings.HasPrefix(f.Path, "report.")
	})
	violations = map[string]bool{}
	for _, v := range naive.Judge(bundle, naive.Scan{Tree: tree}).Violations {
		violations[asText([]string{v.RuleID, v.File, v.Pattern})] = true
	}
	var all []byte
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, "rules/"+name+"\n"...)
		all = append(all, strings.ReplaceAll(files[name], "\r\n", "\n")+"\n"...)
	}
	hash := sha256.Sum256(all)
	return hex.EncodeToString(hash[:]), violations, err
}
