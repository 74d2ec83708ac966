package policies

import (
	"bytes"
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
	dir := filepath.Join(*clones, filepath.Base(s.repository))
	path, names := regexp.MustCompile(s.expr["path"]), regexp.MustCompile(s.expr["names"])
	var ids []string
	for file := range strings.Lines(git(t, dir, "ls-tree", "-r", "--name-only", s.commit)) {
		file = strings.TrimSuffix(file, "\n")
		m := path.FindStringSubmatch(file)
		switch {
		case m == nil, s.expr["not"] != "" && regexp.MustCompile(s.expr["not"]).MatchString(file):
		case s.expr["names"] == "":
			ids = append(ids, m[1])
		default:
			for _, name := range names.FindAllStringSubmatch(git(t, dir, "show", s.commit+":"+file), -1) {
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
	slices.SortFunc(ids, func(a, b string) int { return bytes.Compare(hash(a), hash(b)) })
	return ids
}

// TestDraw: the list is what the draw gives, and each source has as many policies as every other.
func TestDraw(t *testing.T) {
	for _, s := range sources(t) {
		drawn := 0
		for _, p := range s.policies {
			if !p.outside {
				drawn++
			}
		}
		if drawn != each || s.policies[len(s.policies)-1].outside {
			t.Errorf("%s: %d policies are drawn, not %d, or the last is outside", s.name, drawn, each)
		}
		if *clones == "" {
			continue
		}
		all := order(t, s)
		t.Logf("%s: %d policies", s.name, len(all))
		for i, p := range s.policies {
			if all[i] != p.id {
				t.Errorf("%s: number %d is %s, not %s", s.name, i+1, all[i], p.id)
			}
		}
	}
}
