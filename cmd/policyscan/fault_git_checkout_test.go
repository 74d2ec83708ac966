package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFault_143_WhatGitWrites: whatever a tree's attributes and blobs, a text that git checkout writes into a file is
// found in it, or the run is undecided. There are no other findings.
func TestFault_143_WhatGitWrites(t *testing.T) {
	t.Parallel()
	trees := 12
	if *long {
		trees = 400
	}
	r := rand.New(rand.NewPCG(143, 0))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	g := newGit(t)
	hiding, showing := 0, 0
	for n := range trees {
		files := held{}
		for range 8 {
			encoding := pick("UTF-16LE", "UTF-16BE", "IBM037")
			text := pick("x = ", "") + forbidden + pick("\n", " \n")
			files[pick("", "a/", "a/b/", "C/")+pick("net", "x", "y", "NET")+".tf"] = pick(hidden(t, encoding, text), hidden(t, encoding, text), text, "0.0\U000e0041.0.0/0\n")
		}
		for _, folder := range []string{"", "a/", "a/b/"} {
			var lines strings.Builder
			for range r.IntN(4) {
				lines.WriteString(pick("*.tf", "net.tf", "a/**", "**/*.tf", "/b/x.tf", "[!n]*", "NET.tf", "x*", `"y\056tf"`, "[attr]m") + " ")
				for range 1 + r.IntN(2) {
					lines.WriteString(pick("working-tree-encoding=", "working-tree-encoding=", "working-tree-encoding=", "!working-tree-encoding x=", "m x=", "-m x=", "text eol="))
					lines.WriteString(pick("UTF-16LE", "utf16be", "UTF-16", "IBM037", "cp037", "latin1", "US-ASCII", "UTF-32LE", "UTF-16LE-BOM", "UCS-2", "unicodebig", "UCS-4", "Shift_JIS", "GB18030", "UTF-8", "lf", "x") + " ")
				}
				lines.WriteString("\n")
			}
			if lines.Len() > 0 {
				files[folder+".gitattributes"] = lines.String()
			}
		}
		base := g.commitOf(held{})
		head := g.commitOf(files, base)
		out := filepath.Join(g.dir, fmt.Sprint("out", n))
		g.git("-c", fmt.Sprintf("core.ignorecase=%v", n%2 == 0), "--work-tree", mkdir(t, out), "checkout", "-q", "-f", head, "--", ".")

		g.run("--policy", "policy", "--diff-base", base, "--head", head, "repo")
		v := g.verdict()
		found := map[string]bool{}
		for i := range v.Violations {
			found[v.Violations[i].File] = true
		}
		for i := range v.Errors {
			if v.Errors[i].Code != "E_ENCODING" {
				t.Fatalf("%+v", v.Errors[i])
			}
			found[v.Errors[i].File] = true
		}
		for name, blob := range files {
			written, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(name, ".tf") || !strings.Contains(string(written), forbidden) {
				continue
			}
			if showing++; !strings.Contains(blob, forbidden) {
				hiding++
			}
			if !found[name] {
				t.Errorf("%s: git writes %q, which is not found\n%q\n%+v", name, written, files, v.Violations)
			}
		}
	}
	if hiding < trees/4 || showing < trees {
		t.Errorf("only %d files of %d trees showed what their blob hides, %d showed it", hiding, trees, showing)
	}
}

func mkdir(t testing.TB, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFault_143_Large: a form is read by stream, however long it is, and its evidence too.
func TestFault_143_Large(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	const mib = 12
	text := hidden(t, "UTF-16LE", strings.Repeat("# a line of 32 characters .......\n", mib<<20/34)+"cidr = "+forbidden+"\n")
	v := g.judgeBoth(nil, held{"net.tf": text, ".gitattributes": "*.tf working-tree-encoding=UTF-16LE\n"}, exitViolation, "FAIL NET-1@net.tf")
	e := v.Violations[0].Evidence
	if want := int64(mib<<20/34*34 + len("cidr = ")); e.Offset != want || e.Line != mib<<20/34+1 || e.Column != 8 || !strings.Contains(e.Excerpt, "cidr = "+forbidden) {
		t.Errorf("%+v, want the offset %d", e, want)
	}
	if v.Coverage.Bytes != int64(len(text)) || v.Coverage.Scanned != 1 {
		t.Errorf("%+v", v.Coverage)
	}
}
