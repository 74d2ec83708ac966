package policies

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"flag"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var clones = flag.String("draw", "", "the directory of the sources' clones: draw again")

// each is how many policies of each source are drawn.
const each = 9

// A population is the policies of a source: the files of its repository whose paths match, named by the first group.
type population struct {
	path, not string
	inside    string // the files' names of policies, if a file has several
}

var populations = map[string]population{
	"kube-linter":  {path: `^pkg/builtinchecks/yamls/(.+)\.yaml$`},
	"polaris":      {path: `^pkg/config/checks/(.+)\.yaml$`},
	"kyverno":      {path: `^([^.].*)/artifacthub-pkg\.yml$`, not: `^[^/]*-(cel|vpol|mpol|gpol|dpol)/`},
	"gatekeeper":   {path: `^library/(.+)/template\.yaml$`},
	"trivy":        {path: `^checks/(.+)\.rego$`, not: `_test\.rego$`},
	"hadolint":     {path: `^src/Hadolint/Rule/(DL.+)\.hs$`},
	"zizmor":       {path: `^crates/zizmor/src/audit/(.+)\.rs$`, not: `/mod\.rs$`},
	"cfn-guard":    {path: `^rules/(.+)\.guard$`},
	"semgrep":      {path: `^((?:dockerfile|generic|json|terraform|yaml)/.+)\.ya?ml$`, not: `\.(test|fixed)\.`},
	"ansible-lint": {path: `^src/ansiblelint/rules/([a-z][a-z_]*)\.py$`, not: `/conftest\.py$`},
	"spectral": {path: `^packages/rulesets/src/(oas|asyncapi|arazzo)/index\.ts$`,
		inside: `(?m)^    '?([a-z0-9-]+)'?: \{$`},
	"repolinter": {path: `^rulesets/default\.json()$`, inside: `(?m)^    "([^"]+)": \{$`},
	"checkov": {path: `^checkov/([^/]+/checks/.+)\.(?:py|ya?ml)$`,
		not: `^checkov/(cdk|github|gitlab|bitbucket|common|example_runner)/|/(__init__|base_[^/]*|[^/]*registry)\.py$|/utils/`},
	"tflint": {path: `^rules/(.+)\.go$`, not: `_test\.go$|/preset\.go$`},
}

// git returns what git prints in a clone.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		t.Fatalf("%s: git %s: %v", dir, strings.Join(args, " "), err)
	}
	return string(out)
}

// order returns a source's policies in the order of the draw.
func order(t *testing.T, s source) []string {
	t.Helper()
	p, dir := populations[s.name], filepath.Join(*clones, filepath.Base(s.repository))
	path, inside := regexp.MustCompile(p.path), regexp.MustCompile(p.inside)
	var ids []string
	for file := range strings.Lines(git(t, dir, "ls-tree", "-r", "--name-only", s.commit)) {
		file = strings.TrimSuffix(file, "\n")
		m := path.FindStringSubmatch(file)
		switch {
		case m == nil, p.not != "" && regexp.MustCompile(p.not).MatchString(file):
		case p.inside == "":
			ids = append(ids, m[1])
		default:
			for _, name := range inside.FindAllStringSubmatch(git(t, dir, "show", s.commit+":"+file), -1) {
				ids = append(ids, strings.TrimPrefix(m[1]+"/"+name[1], "/"))
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	hash := func(id string) []byte {
		sum := sha256.Sum256([]byte("policyscan-59:" + s.name + ":" + id))
		return sum[:]
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(bytes.Compare(hash(a), hash(b)), strings.Compare(a, b))
	})
	return ids
}

// TestDraw: the list is what the draw gives, and each source has as many policies as every other.
func TestDraw(t *testing.T) {
	for _, s := range sources(t) {
		drawn := 0
		for _, p := range s.policies {
			if p.outside == "" {
				drawn++
			}
		}
		if drawn != each || s.policies[len(s.policies)-1].outside != "" {
			t.Errorf("%s: %d policies are drawn, not %d, or the last is outside", s.name, drawn, each)
		}
		if *clones == "" {
			continue
		}
		all := order(t, s)
		t.Logf("%s: %d policies", s.name, len(all))
		for i, id := range all[:min(len(all), max(len(s.policies), 2*each))] {
			if i >= len(s.policies) {
				t.Logf("  next: %s", id)
			} else if s.policies[i].id != id {
				t.Errorf("%s: number %d is %s, not %s", s.name, i+1, id, s.policies[i].id)
			}
		}
	}
}
