package sigmashake

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

var packs = flag.String("packs", "", "read the public rules too: a checkout of github.com/sigmashakeinc/rules")

// TestPublicPacks: 318 of the 321 public files load, as they stood on 2026-05-12; the other three cannot be
// read as they are meant (MATCHES is not an operator; a " within a string is not escaped, twice).
func TestPublicPacks(t *testing.T) {
	if *packs == "" {
		t.Skip("needs -packs, a checkout of github.com/sigmashakeinc/rules")
	}
	tree := os.DirFS(*packs)
	var loaded []*document.Source
	var refused []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".rules" {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		src := &document.Source{Name: name, Text: text}
		_, err = Read(name, []*document.Source{src})
		var errs document.Errors
		if !errors.As(err, &errs) {
			loaded = append(loaded, src)
			return err
		}
		for _, e := range errs {
			if e.Line == 0 || e.Column == 0 {
				t.Errorf("no position: %v", e)
			}
		}
		t.Log(errs)
		refused = append(refused, path.Base(name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"anthropic_write_safety.rules", "vagrant_write_safety.rules",
		"vue_write_safety.rules"}; len(loaded) != 318 || !slices.Equal(refused, want) {
		t.Errorf("%d files load, and these do not: %q", len(loaded), refused)
	}
	all, err := Read("all", loaded)
	if err != nil {
		t.Fatal(err)
	}
	patterns := 0
	for _, n := range all.Notes {
		t.Logf("%s:%d: %s", n.Origin.File, n.Origin.Line, n.Text)
	}
	for _, r := range all.Rules {
		patterns += broken(&r.When)
	}
	t.Logf("%d rules, %d notes, %d patterns that cannot be used", len(all.Rules), len(all.Notes), patterns)
	for _, line := range []string{bash("git push --force"), write("/w/a.py", "import os\n"), `{"tool":"mcp__x__y"}`} {
		t.Logf("%s: %s", line, decide(t, all, line))
	}
}

// broken counts the tests whose pattern cannot be used.
func broken(c *callrules.Predicate) int {
	n := 0
	if c.Test != nil && c.Test.Broken != "" {
		n++
	}
	for _, parts := range [][]callrules.Predicate{c.All, c.Any} {
		for i := range parts {
			n += broken(&parts[i])
		}
	}
	return n
}
