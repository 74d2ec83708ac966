package main

import (
	"encoding/binary"
	"fmt"
	"maps"
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
	if fmt.Sprint(staged.Violations, staged.Errors, staged.Coverage) != fmt.Sprint(diff.Violations, diff.Errors, diff.Coverage) {
		g.t.Errorf("staged:\n%+v\nas a commit:\n%+v", staged, diff)
	}
	return staged
}

// TestFault_143_Checkout: text that only the checkout has, and not the blob, is found, even if only the attributes
// changed.
func TestFault_143_Checkout(t *testing.T) {
	t.Parallel()
	const line = "cidr = [\"" + forbidden + "\"]\n"
	utf16, ibm := hidden(t, "UTF-16LE", line), hidden(t, "IBM037", line)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("4d7a", 16) + "\nsize 12\n"
	for _, c := range []struct {
		name          string
		before, after held
		saying        string
	}{
		{"both in one change", nil, held{"net.tf": utf16, ".gitattributes": "net.tf working-tree-encoding=UTF-16LE\n"}, "FAIL NET-1@net.tf"},
		{"the other order", nil, held{"net.tf": hidden(t, "UTF-16BE", line), ".gitattributes": "*.tf working-tree-encoding=utf16be\n"}, "FAIL NET-1@net.tf"},
		{"EBCDIC", nil, held{"net.tf": ibm, ".gitattributes": "*.tf working-tree-encoding=IBM037\n"}, "FAIL NET-1@net.tf"},
		{"characters that the encoding drops", nil, held{"net.tf": "0.0\U000e0041.0.0/0", ".gitattributes": "*.tf working-tree-encoding=latin1\n"}, "UNDECIDED E_ENCODING"},
		{"the file alone", held{".gitattributes": "*.tf working-tree-encoding=UTF-16LE\n"}, held{"net.tf": utf16, ".gitattributes": "*.tf working-tree-encoding=UTF-16LE\n"}, "FAIL NET-1@net.tf"},
		{"the attribute alone", held{"net.tf": utf16}, held{"net.tf": utf16, ".gitattributes": "net.tf working-tree-encoding=UTF-16LE\n"}, "FAIL NET-1@net.tf"},
		{
			"another encoding alone", held{"a/net.tf": ibm, ".gitattributes": "*.tf working-tree-encoding=UTF-8\n"},
			held{"a/net.tf": ibm, ".gitattributes": "*.tf working-tree-encoding=IBM037\n"}, "FAIL NET-1@a/net.tf",
		},
		{
			"an attribute that is gone", held{"a/net.tf": ibm, "a/.gitattributes": "*.tf !working-tree-encoding\n", ".gitattributes": "*.tf working-tree-encoding=IBM037\n"},
			held{"a/net.tf": ibm, ".gitattributes": "*.tf working-tree-encoding=IBM037\n"}, "FAIL NET-1@a/net.tf",
		},
		{
			"the text of a macro alone", held{"a/b/net.tf": ibm, "a/.gitattributes": "*.tf enc\n", ".gitattributes": "[attr]enc text\n"},
			held{"a/b/net.tf": ibm, "a/.gitattributes": "*.tf enc\n", ".gitattributes": "[attr]enc text working-tree-encoding=IBM037\n"}, "FAIL NET-1@a/b/net.tf",
		},
		{
			"the use of a macro alone", held{"a/b/net.tf": ibm, ".gitattributes": "[attr]enc text working-tree-encoding=IBM037\n"},
			held{"a/b/net.tf": ibm, "a/b/.gitattributes": "*.tf enc\n", ".gitattributes": "[attr]enc text working-tree-encoding=IBM037\n"}, "FAIL NET-1@a/b/net.tf",
		},
		{"in the blob, too", nil, held{"net.tf": line, ".gitattributes": "*.tf working-tree-encoding=UTF-16LE\n"}, "FAIL NET-1@net.tf"},
		{"another text in that encoding", nil, held{"net.tf": "a = 1\n", ".gitattributes": "*.tf working-tree-encoding=UTF-16LE\n"}, "PASS"},
		{"no encoding", nil, held{"net.tf": utf16, ".gitattributes": "*.tf text eol=crlf\n"}, "PASS"},
		{"not UTF-8, over which an iconv could pass", nil, held{"net.tf": utf16 + "\xff", ".gitattributes": "*.tf working-tree-encoding=UTF-16LE\n"}, "UNDECIDED E_ENCODING"},
		{"a character that is lacking, over which some pass", nil, held{"net.tf": ibm + "€", ".gitattributes": "*.tf working-tree-encoding=IBM037\n"}, "UNDECIDED E_ENCODING"},
		{"a character that is lacking within the text", nil, held{"net.tf": "0.0€.0.0/0", ".gitattributes": "*.tf working-tree-encoding=latin1\n"}, "UNDECIDED E_ENCODING"},
		{"a character that is lacking in another text", nil, held{"net.tf": "a = €\n", ".gitattributes": "*.tf working-tree-encoding=latin1\n"}, "UNDECIDED E_ENCODING"},
		{"UCS-2", nil, held{"net.tf": utf16, ".gitattributes": "*.tf working-tree-encoding=UCS-2\n"}, "FAIL NET-1@net.tf"},
		{"UCS-2 in the other order", nil, held{"net.tf": hidden(t, "UTF-16BE", line), ".gitattributes": "*.tf working-tree-encoding=UNICODE\n"}, "FAIL NET-1@net.tf"},
		{"a character beyond UCS-2", nil, held{"net.tf": "😀" + utf16, ".gitattributes": "*.tf working-tree-encoding=UNICODELITTLE\n"}, "UNDECIDED E_ENCODING"},
		{"UCS-4", nil, held{"net.tf": "a = 1 😀\n", ".gitattributes": "*.tf working-tree-encoding=UCS-4\n"}, "PASS"},
		{"an encoding of several bytes", nil, held{"net.tf": "# 設定 ｶ\ncidr = \"10.0.0.0/8\"\n", ".gitattributes": "*.tf working-tree-encoding=Shift_JIS\n"}, "UNDECIDED E_ENCODING"},
		{"an encoding taken away", held{"net.tf": utf16, ".gitattributes": "*.tf working-tree-encoding=UTF-16LE\n"}, held{"net.tf": utf16}, "PASS"},
		{"a link, which git does not encode", nil, held{"net.tf@": hidden(t, "UTF-16LE", forbidden) + ".tf", ".gitattributes": "*.tf working-tree-encoding=UTF-16LE\n"}, "PASS"},
		{"a file that no rule selects", nil, held{"net.txt": utf16, ".gitattributes": "*.txt working-tree-encoding=UTF-16LE\n"}, "PASS"},
		{"an unknown encoding", nil, held{"net.tf": "a", ".gitattributes": "*.tf working-tree-encoding=UTF-7\n"}, "UNDECIDED E_ENCODING"},
		{"options of iconv", nil, held{"net.tf": "a", ".gitattributes": "*.tf working-tree-encoding=UTF-16LE//TRANSLIT\n"}, "UNDECIDED E_ENCODING"},
		{"no value", nil, held{"net.tf": "a", ".gitattributes": "*.tf working-tree-encoding\n"}, "UNDECIDED E_ENCODING"},
		{"the other non-value", nil, held{"net.tf": "a", ".gitattributes": "*.tf -working-tree-encoding\n"}, "UNDECIDED E_ENCODING"},
		{"a character that not all write alike", nil, held{"net.tf": "\u2206", ".gitattributes": "*.tf working-tree-encoding=macintosh\n"}, "UNDECIDED E_ENCODING"},
		{"an unknown encoding of a blob that has the text", nil, held{"net.tf": line, ".gitattributes": "*.tf working-tree-encoding=UTF-7\n"}, "FAIL NET-1@net.tf E_ENCODING"},
		{"only the attribute, unknown", held{"net.tf": "a"}, held{"net.tf": "a", ".gitattributes": "*.tf working-tree-encoding=UTF-7\n"}, "UNDECIDED E_ENCODING"},
		{"an attributes file in another encoding itself", nil, held{"net.tf": utf16, ".gitattributes": ".gitattributes working-tree-encoding=UTF-16LE\n# " + hidden(t, "UTF-16LE", "\nnet.tf working-tree-encoding=UTF-16LE\n") + "\n"}, "UNDECIDED E_ENCODING"},
		{"one in a folder, by the root's", nil, held{"s/net.tf": utf16, ".gitattributes": "s/.gitattributes working-tree-encoding=UTF-16LE\n", "s/.gitattributes": hidden(t, "UTF-16LE", "*.tf working-tree-encoding=UTF-16LE\n")}, "UNDECIDED E_ENCODING"},
		{"one that git expands", nil, held{"net.tf": "a", ".gitattributes": ".gitattributes ident\nnet.tf$Id$ working-tree-encoding=UTF-16LE\n"}, "UNDECIDED E_ENCODING"},
		{"one that is elsewhere", nil, held{"net.tf": "a", ".gitattributes": pointer}, "UNDECIDED E_ENCODING"},
		{"one for all files but itself", nil, held{"net.tf": "a", ".gitattributes": "* working-tree-encoding=UTF-16LE\n.gitattributes !working-tree-encoding ident\n"}, "PASS"},
		{"ident, which hides a byte that is not UTF-8", nil, held{"net.tf": "$Id:\xff$" + utf16, ".gitattributes": "*.tf ident working-tree-encoding=UTF-16LE\n"}, "UNDECIDED E_ENCODING"},
		{"ident, which hides what is lacking", nil, held{"net.tf": "$Id:€$" + ibm, ".gitattributes": "*.tf ident working-tree-encoding=IBM037\n"}, "UNDECIDED E_ENCODING"},
		{"a long attributes file", nil, held{"net.tf": "a", ".gitattributes": strings.Repeat("# comment\n", 1<<17)}, "UNDECIDED E_ENCODING"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGit(t)
			status := map[string]int{"PASS": exitPass, "FAIL": exitViolation, "UNDECIDED": exitUndecided}[strings.Fields(c.saying)[0]]
			v := g.judgeBoth(c.before, c.after, status, c.saying)
			checkout := strings.HasPrefix(c.saying, "FAIL") && c.after["net.tf"] != line
			for i := range v.Violations {
				if got := v.Violations[i].Note; strings.HasPrefix(got, "found in the file as git checks it out (working-tree-encoding=") != checkout {
					t.Errorf("note %q", got)
				}
			}
			// The checked-out text counts, even if only an attribute changed.
			if c := v.Coverage; c.Files < 1 || c.Governed != c.Scanned+len(c.NotScanned) {
				t.Errorf("%+v", c)
			}
			if strings.Contains(c.saying, "E_ENCODING") {
				if n := v.Coverage.NotScanned; len(n) != 1 || n[0].Reason != "encoding" {
					t.Errorf("not scanned: %+v", n)
				}
				saying, status := strings.Replace(strings.Replace(c.saying, "UNDECIDED", "PASS", 1), " E_ENCODING", "", 1), status
				if status == exitUndecided {
					status = exitPass
				}
				g.judgeBoth(c.before, c.after, status, saying, "--allow", "encoding")
			}
		})
	}
}

// TestFault_144_Attributes: the attributes count as each checkout has them.
func TestFault_144_Attributes(t *testing.T) {
	t.Parallel()
	ibm := hidden(t, "IBM037", forbidden+"\n")
	const enc = "working-tree-encoding=IBM037"
	long := strings.Repeat("x", 3000)
	for _, c := range []struct {
		name  string
		files held
		want  string
	}{
		{"a macro", held{"a/net.tf": "", ".gitattributes": "[attr]m " + enc + "\n*.tf m\n"}, "FAIL"},
		{"a macro of macros", held{"a/net.tf": "", ".gitattributes": "[attr]m " + enc + "\n[attr]n m\n*.tf n\n"}, "FAIL"},
		{"a macro of a sub-folder, which is none", held{"a/net.tf": "", "a/.gitattributes": "[attr]m " + enc + "\n*.tf m\n"}, "PASS"},
		{"a macro that is taken back", held{"a/net.tf": "", ".gitattributes": "[attr]m " + enc + "\n*.tf m\n", "a/.gitattributes": "*.tf -m\n"}, "PASS"},
		{"a sub-folder", held{"a/b/net.tf": "", "a/.gitattributes": "b/*.tf " + enc + "\n"}, "FAIL"},
		{"a sub-folder of others", held{"a/net.tf": "", "b/.gitattributes": "*.tf " + enc + "\n"}, "PASS"},
		{"a deeper folder wins", held{"a/net.tf": "", ".gitattributes": "*.tf " + enc + "\n", "a/.gitattributes": "net.tf working-tree-encoding=UTF-8\n"}, "PASS"},
		{"it is unspecified", held{"a/net.tf": "", ".gitattributes": "*.tf " + enc + "\nnet.tf !working-tree-encoding\n"}, "PASS"},
		{"order", held{"a/net.tf": "", ".gitattributes": "net.tf !working-tree-encoding\n*.tf " + enc + "\n"}, "FAIL"},
		{"quotes", held{"a/net.tf": "", ".gitattributes": "\"a/\\156et.tf\" " + enc + "\n"}, "FAIL"},
		{"a link", held{"a/net.tf": "", ".gitattributes@": "*.tf " + enc}, "FAIL"},
		{"a link with a line end", held{"a/net.tf": "", "a/.gitattributes@": "\n*.tf " + enc + "\n"}, "FAIL"},
		{"another case of its name", held{"a/net.tf": "", ".GITATTRIBUTES": "*.tf " + enc + "\n"}, "FAIL"},
		{"another case that some disk has instead", held{"a/net.tf": "", ".GitAttributes": "*.tf " + enc + "\n", ".gitattributes": "*.tf text\n"}, "FAIL"},
		{"another case of its folder", held{"a/net.tf": "", "A/.gitattributes": "*.tf " + enc + "\n"}, "FAIL"},
		{"another case of the file", held{"a/Z.TF": "", "a/z.tf": "x", ".gitattributes": "Z.TF " + enc + "\n"}, "PASS"},
		{"another case of the pattern", held{"a/net.tf": "", ".gitattributes": "NET.TF " + enc + "\n"}, "FAIL"},
		{"another case of a folder in the pattern", held{"a/net.tf": "", ".gitattributes": "/A/** " + enc + "\n"}, "FAIL"},
		{"a character that macOS folds", held{"a/net.tf": "", ".gitattribute\u017f": "*.tf " + enc + "\n"}, "FAIL"},
		{"a long line, which old versions read", held{"a/net.tf": "", ".gitattributes": "*.tf " + enc + " x=" + long + "\n"}, "UNDECIDED"},
		{"a long line that takes it back, which new versions ignore", held{"a/net.tf": "", ".gitattributes": "*.tf " + enc + "\n*.tf !working-tree-encoding x=" + long + "\n"}, "UNDECIDED"},
		{"a reserved name, which old versions take", held{"a/net.tf": "", ".gitattributes": "*.tf builtin_x " + enc + "\n"}, "UNDECIDED"},
		{"a byte order mark, which the disk's file may have", held{"a/net.tf": "", ".gitattributes": "\ufeff*.tf " + enc + "\n"}, "UNDECIDED"},
		{"behind a NUL, which the disk's file may have", held{"a/net.tf": "", ".gitattributes": "\x00\n*.tf " + enc + "\n"}, "UNDECIDED"},
		{"CRLF", held{"a/net.tf": "", ".gitattributes": "*.tf " + enc + "\r\n"}, "FAIL"},
		{"a pattern that takes back", held{"a/net.tf": "", ".gitattributes": "!*.tf " + enc + "\n"}, "PASS"},
		{"a pattern of folders", held{"a/net.tf": "", ".gitattributes": "a/ " + enc + "\n"}, "PASS"},
		{"stars", held{"a/net.tf": "", ".gitattributes": "**/net.* " + enc + "\n"}, "FAIL"},
		{"two stars next to a character, which versions before 2.52 take for folders", held{"a/net.tf": "", ".gitattributes": "/a/n**/et.tf " + enc + "\n"}, "FAIL"},
		{"two stars next to a character, which versions before 2.20 do not take", held{"a/net.tf": "", ".gitattributes": "*.tf " + enc + "\n/a/**.tf !working-tree-encoding\n"}, "FAIL"},
		{"no attributes file", held{"a/net.tf": "", "gitattributes": "*.tf " + enc + "\n", ".gitattributes/x": "*.tf " + enc + "\n"}, "PASS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			saying, status := "PASS", exitPass
			for name, text := range c.files {
				if text == "" {
					c.files[name] = ibm
					switch c.want {
					case "FAIL":
						saying, status = "FAIL NET-1@"+name, exitViolation
					case "UNDECIDED":
						saying, status = "UNDECIDED E_ENCODING", exitUndecided
					}
				}
			}
			g.judgeBoth(nil, c.files, status, saying)
			// The attributes alone.
			before := maps.Clone(c.files)
			maps.DeleteFunc(before, func(name, _ string) bool { return strings.Contains(strings.ToLower(name), ".git") })
			g.judgeBoth(before, c.files, status, saying)
		})
	}
}

// TestFault_144_CaseOfTheFile: a rule for Z.TF applies, and attributes for z.tf do on some disks.
func TestFault_144_CaseOfTheFile(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	writeFile(t, filepath.Join(g.dir, "policy/rules/boundaries.yml"), strings.Replace(oneRule, "**/*.tf", "**/*.TF", 1))
	files := held{"a/Z.TF": hidden(t, "IBM037", forbidden), ".gitattributes": "z.tf working-tree-encoding=IBM037\n"}
	g.judgeBoth(nil, files, exitViolation, "FAIL NET-1@a/Z.TF")
}

// TestFault_143_MergeBases: with several merge bases, a file is checked if its encoding differs from that at any of
// them.
func TestFault_143_MergeBases(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	ibm := hidden(t, "IBM037", forbidden)
	with := held{"net.tf": ibm, ".gitattributes": "*.tf working-tree-encoding=IBM037\n"}
	without := held{"net.tf": ibm, ".gitattributes": "*.tf text\n"}
	root := g.commitOf(held{"a.txt": "a"})
	left, right := g.commitOf(with, root), g.commitOf(without, root)
	base, head := g.commitOf(with, left, right), g.commitOf(with, right, left)
	args := "--diff-base " + base + " --head " + head
	g.judge(args, exitViolation, "FAIL NET-1@net.tf")
	if v := g.verdict(); len(v.Scope.MergeBases) != 2 || v.Coverage.Scanned != 1 {
		t.Errorf("%+v %+v", v.Scope, v.Coverage)
	}
}

// TestFault_160_Encrypted: what git-crypt has encrypted cannot be had, in any scope.
func TestFault_160_Encrypted(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	text := "\x00GITCRYPT\x00\x01\x02\x03"
	after := held{"net.tf": text, ".gitattributes": "net.tf filter=git-crypt\n"}
	v := g.judgeBoth(nil, after, exitUndecided, "UNDECIDED E_UNAVAILABLE")
	if n := v.Coverage.NotScanned; len(n) != 1 || n[0].Reason != "encrypted" || !strings.Contains(v.Errors[0].Message, "--allow encrypted") {
		t.Errorf("%+v %+v", n, v.Errors)
	}
	g.judgeBoth(nil, after, exitPass, "PASS", "--allow", "encrypted")

	// A filter gets the blob in its checkout encoding.
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("4d7a", 16) + "\nsize 12\n"
	for reason, text := range map[string]string{"encrypted": text, "lfs-pointer": pointer} {
		after := held{"net.tf": hidden(t, "UTF-16LE", text), ".gitattributes": "net.tf filter=x working-tree-encoding=UTF-16LE\n"}
		v := g.judgeBoth(nil, after, exitUndecided, "UNDECIDED E_UNAVAILABLE")
		if n := v.Coverage.NotScanned; len(n) != 1 || n[0].Reason != reason {
			t.Errorf("%+v", n)
		}
		g.judgeBoth(nil, after, exitPass, "PASS", "--allow", reason)
	}

	g.put("net.tf", text)
	g.put("list", "net.tf\n")
	for _, args := range []string{"", "--tracked", "--files-from repo/list"} {
		g.judge(args, exitUndecided, "UNDECIDED E_UNAVAILABLE")
		g.judge(args+" --allow encrypted", exitPass, "PASS")
	}
	g.put("net.tf", text+forbidden)
	g.judge("", exitViolation, "FAIL NET-1@net.tf E_UNAVAILABLE")
	g.put("net.tf", "x"+text)
	g.judge("", exitPass, "PASS")
}

// TestFault_160_Filters: a filter other than lfs, and export-subst, are named in the report and not in the verdict.
func TestFault_160_Filters(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	after := held{
		".gitattributes": "*.tf filter=lfs\n[b-e].tf filter=sops\ne.tf filter=\x1b[31m\nf.tf export-subst\ng.tf -filter -export-subst\n*.txt filter=other\n",
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "x/b", "x/c"} {
		after[name+".tf"] = "a\n"
	}
	after["z.txt"] = "a\n"
	g.judgeBoth(nil, after, exitPass, "PASS")
	said := g.run("--policy", "policy", "--staged", "repo").want(t, exitPass)
	for _, want := range []string{
		"note: export-subst: git archive changes the text of 1 file after this check: f.tf\n",
		"note: filter=sops: git sends 5 files through a program on checkout, and what it writes was not checked: b.tf, c.tf, d.tf and 2 more\n",
		"note: filter=\\u{1b}[31m: git sends 1 file through a program on checkout, and what it writes was not checked: e.tf\n",
	} {
		if !strings.Contains(said.out, want) {
			t.Errorf("the report lacks %q:\n%s", want, said.out)
		}
	}
	if strings.Contains(said.out, "lfs") || strings.Contains(said.out, "other") {
		t.Errorf("the report names what it should not:\n%s", said.out)
	}
	if text, err := os.ReadFile(filepath.Join(g.dir, "verdict.json")); err != nil || strings.Contains(string(text), "sops") {
		t.Errorf("the verdict names a filter: %v\n%s", err, text)
	}
}
