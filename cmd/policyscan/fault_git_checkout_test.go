package main

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
)

// forbidden is the text that a gitRepo's rule forbids in **/*.tf.
const forbidden = "0.0.0.0/0"

// hidden is a text of which git makes the given one on checkout, where it has the encoding.
func hidden(t testing.TB, encoding, text string) string {
	t.Helper()
	unit := 1
	switch encoding {
	case "UTF-16LE", "UTF-16BE":
		unit = 2
	}
	text += strings.Repeat(" ", (unit-len(text)%unit)%unit)
	var out strings.Builder
	for b := []byte(text); len(b) > 0; b = b[unit:] {
		switch encoding {
		case "UTF-16LE":
			out.WriteRune(rune(binary.LittleEndian.Uint16(b)))
		case "UTF-16BE":
			out.WriteRune(rune(binary.BigEndian.Uint16(b)))
		case "IBM037":
			out.WriteRune(charmap.CodePage037.DecodeByte(b[0]))
		default:
			t.Fatalf("no text is hidden in %s", encoding)
		}
	}
	if strings.Contains(out.String(), forbidden) {
		t.Fatal("it is not hidden")
	}
	return out.String()
}

// A held is the content of a commit or the index: texts by path. A path that ends in "@" is a symlink.
type held map[string]string

// index makes the index hold the files, and nothing else.
func (g *gitRepo) index(files held) {
	g.t.Helper()
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path, link := strings.CutSuffix(name, "@")
		mode := "100644"
		if link {
			mode = "120000"
		}
		fmt.Fprintf(&list, "%s %s\t%s\n", mode, g.object("blob", files[name]), path)
	}
	g.git("read-tree", "--empty")
	g.gitIn("repo", list.String(), "update-index", "--index-info")
}

// commitOf makes a commit of the files.
func (g *gitRepo) commitOf(files held, parents ...string) string {
	g.t.Helper()
	g.index(files)
	args := []string{"commit-tree", "-m", "x", g.git("write-tree")}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return g.git(args...)
}

// judgeBoth scans a change between two snapshots, committed and staged, and returns the verdict.
func (g *gitRepo) judgeBoth(before, after held, status int, saying string, args ...string) *verdictFile {
	g.t.Helper()
	base := g.commitOf(before)
	head := g.commitOf(after, base)
	g.judge("--diff-base "+base+" --head "+head+" "+strings.Join(args, " "), status, saying)
	diff := g.verdict()
	g.git("update-ref", "refs/heads/main", base)
	g.judge("--staged "+strings.Join(args, " "), status, saying)
	staged := g.verdict()
	if fmt.Sprint(staged.Violations, staged.Errors, staged.Coverage) != fmt.Sprint(diff.Violations, diff.Errors,
		diff.Coverage) {
		g.t.Errorf("staged:\n%+v\nas a commit:\n%+v", staged, diff)
	}
	return staged
}

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
			files[pick("", "a/", "a/b/", "C/")+pick("net", "x", "y", "NET")+".tf"] = pick(hidden(t, encoding, text),
				hidden(t, encoding, text), text, "0.0\U000e0041.0.0/0\n")
		}
		for _, dir := range []string{"", "a/", "a/b/"} {
			var lines strings.Builder
			for range r.IntN(4) {
				lines.WriteString(pick("*.tf", "net.tf", "a/**", "**/*.tf", "/b/x.tf", "[!n]*", "NET.tf", "x*",
					`"y\056tf"`, "[attr]m") + " ")
				for range 1 + r.IntN(2) {
					lines.WriteString(pick("working-tree-encoding=", "working-tree-encoding=",
						"working-tree-encoding=", "!working-tree-encoding x=", "m x=", "-m x=", "text eol="))
					lines.WriteString(pick("UTF-16LE", "utf16be", "UTF-16", "IBM037", "cp037", "latin1", "US-ASCII",
						"UTF-32LE", "UTF-16LE-BOM", "UCS-2", "unicodebig", "UCS-4", "Shift_JIS", "GB18030", "UTF-8",
						"lf", "x") + " ")
				}
				lines.WriteString("\n")
			}
			if lines.Len() > 0 {
				files[dir+".gitattributes"] = lines.String()
			}
		}
		base := g.commitOf(held{})
		head := g.commitOf(files, base)
		out := filepath.Join(g.dir, fmt.Sprint("out", n))
		g.git("-c", fmt.Sprintf("core.ignorecase=%v", n%2 == 0), "--work-tree", mkdir(t, out), "checkout", "-q", "-f",
			head, "--", ".")

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

// TestFault_143_Large: a variant is read by stream, however long it is, and its evidence too.
func TestFault_143_Large(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	const mib = 2
	text := hidden(t, "UTF-16LE", strings.Repeat("# a line of 32 characters .......\n", mib<<20/34)+"cidr = "+
		forbidden+"\n")
	v := g.judgeBoth(nil, held{"net.tf": text, ".gitattributes": "*.tf working-tree-encoding=UTF-16LE\n"},
		exitViolation, "FAIL NET-1@net.tf")
	e := v.Violations[0].Evidence
	if want := int64(mib<<20/34*34 + len("cidr = ")); e.Offset != want || e.Line != mib<<20/34+1 || e.Column != 8 ||
		!strings.Contains(e.Excerpt, "cidr = "+forbidden) {
		t.Errorf("%+v, want the offset %d", e, want)
	}
	if v.Coverage.Bytes != int64(len(text)) || v.Coverage.Scanned != 1 {
		t.Errorf("%+v", v.Coverage)
	}
}
