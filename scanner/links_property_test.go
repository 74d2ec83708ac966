//go:build linux

package scanner

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// linkNames are the names in the trees of the test below, which tries every path of three.
var linkNames = []string{"a", "b", "c.tf", "d"}

// A linkTree is files (their values are "") and links (their targets), by their paths.
type linkTree map[string]string

func drawLinkTree(r *rand.Rand) linkTree {
	t := linkTree{}
	path := func() string {
		parts := make([]string, 1+r.IntN(3))
		for i := range parts {
			parts[i] = linkNames[r.IntN(len(linkNames))]
		}
		return strings.Join(parts, "/")
	}
	free := func(p string) bool {
		for other := range t {
			if other == p || strings.HasPrefix(other, p+"/") || strings.HasPrefix(p, other+"/") {
				return false
			}
		}
		return true
	}
	for range 2 + r.IntN(7) {
		p := path()
		if !free(p) {
			continue
		}
		if r.IntN(2) == 0 {
			t[p] = ""
			continue
		}
		var target strings.Builder
		if r.IntN(30) == 0 {
			target.WriteString("/nowhere/")
		}
		for range strings.Count(p, "/") {
			if r.IntN(8) > 0 {
				target.WriteString("../")
			}
		}
		if r.IntN(30) == 0 {
			target.WriteString("../")
		}
		for range r.IntN(3) {
			target.WriteString([]string{"./", "a/", "b/", "d/", "/", "../"}[r.IntN(6)])
		}
		target.WriteString([]string{path(), path(), path(), ".", ".."}[r.IntN(5)])
		t[p] = target.String()
	}
	return t
}

func drawLinkRules(r *rand.Rand) *rules.Bundle {
	draw := func(n int) []string {
		var globs []string
		for range n {
			parts := []string{}
			for range 1 + r.IntN(3) {
				part := []string{"**", "**", "*", "a", "b", "d", "c.tf", "*.tf", "?", "{a,b}", "[ab]", "{a/b,d}",
					"[!a]"}[r.IntN(13)]
				if part == "[!a]" && r.IntN(4) > 0 || part == "**" && len(parts) > 0 && parts[len(parts)-1] == "**" {
					continue
				}
				parts = append(parts, part)
			}
			if len(parts) > 0 {
				globs = append(globs, strings.Join(parts, "/"))
			}
		}
		return globs
	}
	var list []rules.Rule
	for i := range 1 + r.IntN(3) {
		rule := testRule(fmt.Sprint("T-", i), "key")
		if files := draw(1 + r.IntN(2)); len(files) > 0 {
			rule.Files = files
		}
		rule.Exclude = draw(r.IntN(3))
		list = append(list, rule)
	}
	return newBundle(list...)
}

// resolve follows a path from a directory, through nested links; false: outside the tree.
func (t linkTree) resolve(at, path string, budget *int) (string, bool) {
	if strings.HasPrefix(path, "/") {
		return "", false
	}
	for _, name := range strings.Split(path, "/") {
		switch name {
		case "", ".":
			continue
		case "..":
			if at == "" {
				return "", false
			}
			at = strings.TrimPrefix(filepath.Dir("/"+at), "/")
			continue
		}
		next := strings.TrimPrefix(at+"/"+name, "/")
		target, found := t[next]
		if !found || target == "" {
			at = next
			continue
		}
		if *budget--; *budget < 0 {
			return "", false
		}
		var ok bool
		if at, ok = t.resolve(at, target, budget); !ok {
			return "", false
		}
	}
	return at, true
}

// loses finds the link or a path below it that a rule selects while it does not select the target.
func (t linkTree) loses(b *rules.Bundle, link string, below []string) string {
	budget := 40
	to, ok := t.resolve("", link, &budget)
	text, found := t[to]
	for i := range b.Rules {
		r := &b.Rules[i]
		if r.Selects(link) && (!ok || to != "" && !r.Selects(to)) {
			return link
		}
		if ok && found && text == "" {
			continue // a file
		}
		for _, name := range below {
			if r.Selects(link+"/"+name) && (!ok || !r.Selects(strings.TrimPrefix(to+"/"+name, "/"))) {
				return link + "/" + name
			}
		}
	}
	return ""
}

// A mapTree is a linkTree to be scanned.
type mapTree struct{ linkTree }

func (t mapTree) Scope() verdict.Scope            { return verdict.Scope{Mode: "full"} }
func (t mapTree) History() (*tree.History, error) { return nil, nil }
func (t mapTree) Absent(string) string            { return "does not exist" }
func (t mapTree) IsPresent(string) (bool, error)  { return false, nil }
func (t mapTree) Outside(string) string           { return tree.OutsideTree }

func (t mapTree) Open(f tree.File, _ bool) (tree.Content, error) {
	return tree.InMemory([]byte(t.linkTree[f.Path])), nil
}

func (t mapTree) Lookup(path string) (tree.PathInfo, error) {
	text, found := t.linkTree[path]
	return tree.PathInfo{IsFile: found && text == "", IsLink: text != "", Target: text}, nil
}

func (t mapTree) Files(ctx context.Context, n int, _ tree.Query) []iter.Seq2[tree.File, error] {
	return tree.Batches(ctx, n, nil, func(found func(tree.File, error)) {
		for path, text := range t.linkTree {
			f := tree.File{Path: path, Source: t}
			if text != "" {
				f.Kind = worktree.Symlink
			}
			found(f, nil)
		}
	})
}

func strayLinks(t *testing.T, v *verdict.Verdict) []string {
	t.Helper()
	var links []string
	for _, e := range v.Errors {
		if e.Code != code.Link {
			t.Fatalf("%+v", e)
		}
		links = append(links, e.File)
	}
	return links
}

// TestFault_150_Naive: no link passes if a rule selects a path below it but not the path's target. The test counts
// links that fail without need.
func TestFault_150_Naive(t *testing.T) {
	var below []string
	for _, a := range linkNames {
		below = append(below, a)
		for _, b := range linkNames {
			below = append(below, a+"/"+b)
			for _, c := range linkNames {
				below = append(below, a+"/"+b+"/"+c)
			}
		}
	}
	r := rand.New(rand.NewPCG(150, 27))
	links, deserved, strict, exact, onDisk := 0, 0, 0, 0, 0
	trees := 2_000
	if *long {
		trees = 10_000
	}
	for n := range trees {
		input, b := drawLinkTree(r), drawLinkRules(r)
		stray := strayLinks(t, scanTree(t, b, mapTree{input}, testOptions{Workers: 1,
			Allow: []string{check.AllowEmpty}}))
		certain := !slices.ContainsFunc(b.Rules, func(r rules.Rule) bool {
			return strings.Contains(strings.Join(append(slices.Clone(r.Files), r.Exclude...), " "), "[!a]")
		})
		for _, link := range slices.Sorted(maps.Keys(input)) {
			if input[link] == "" {
				continue
			}
			links++
			failed := slices.Contains(stray, link)
			switch lost := input.loses(b, link, below); {
			case lost != "" && !failed:
				t.Fatalf("tree %d: %q of %q passes, though %s is selected and its target is not; rules %+v", n, link,
					input, lost, b.Rules)
			case lost != "":
				deserved++
			case failed:
				strict++
				if certain {
					exact++
				}
			}
		}
		if n%40 > 0 {
			continue
		}
		// The result on disk is equal, except for absolute paths, which are outside the repository.
		dir := t.TempDir()
		for path, text := range input {
			if path = filepath.Join(dir, path); text == "" {
				writeFile(t, path, "")
			} else {
				writeLink(t, text, path)
			}
		}
		got := strayLinks(t, scanDir(t, dir, b, testOptions{Allow: []string{check.AllowEmpty}}))
		for _, link := range slices.Sorted(maps.Keys(input)) {
			budget := 40
			if _, within := input.resolve("", link, &budget); within &&
				slices.Contains(got, link) != slices.Contains(stray, link) {
				t.Errorf("tree %d: %q of %q is E_LINK in memory: %v, on disk: %v", n, link, input,
					slices.Contains(stray, link), slices.Contains(got, link))
			}
		}
		onDisk++
	}
	t.Logf("%d links: %d deserve E_LINK, %d have it for nothing, %d of these where no class can match a slash; "+
		"%d trees were scanned on disk", links, deserved, strict, exact, onDisk)
	if links < trees || deserved < trees/4 || onDisk < trees/40 {
		t.Error("too little was tried")
	}
	if strict*10 > links-deserved {
		t.Errorf("more than a tenth of the links that are all right fail")
	}
}
