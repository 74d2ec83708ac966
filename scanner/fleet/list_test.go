package fleet

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/policyscan/policyscan/verdict"
)

func TestParse(t *testing.T) {
	for _, x := range []struct{ list, want string }{
		{"", ""},
		{"# no\n\n", ""},
		{"b\na\n", "a a HEAD l/a|b b HEAD l/b"},
		{"b", "b b HEAD l/b"},
		{"\ufeffa\r\n./b//c\r\n", "a a HEAD l/a|b/c ./b//c HEAD l/b/c"},
		{"t/a\nt/b/c\n", "a t/a HEAD l/t/a|b/c t/b/c HEAD l/t/b/c"},
		{"t/a.git\n/x/t/b.git\t\tb\n", "a t/a.git HEAD l/t/a.git|b /x/t/b.git HEAD /x/t/b.git"},
		{"/x/y/a.git\n/x/b/\n", "b /x/b/ HEAD /x/b/|y/a /x/y/a.git HEAD /x/y/a.git"},
		{"t/a.git\nt/a\nt/b.git\n", "a t/a HEAD l/t/a|a.git t/a.git HEAD l/t/a.git|b t/b.git HEAD l/t/b.git"},
		{"A.git\na/b.git\n", "A.git A.git HEAD l/A.git|a/b a/b.git HEAD l/a/b.git"},
		{"a.git\nx\t\ta\n", "a x HEAD l/x|a.git a.git HEAD l/a.git"},
		{"a/.git\nb/.git\n", "a a/.git HEAD l/a/.git|b b/.git HEAD l/b/.git"},
		{"x/.git\n", "x x/.git HEAD l/x/.git"},
		{"a\tmain\n/x/y.git\t\tteam/y\n", "a a main l/a|team/y /x/y.git HEAD /x/y.git"},
		{"../up\tv1\tup\n", "up ../up v1 up"},
		{"a\t\t\n", "a a HEAD l/a"},
		{"a b\n", "a b a b HEAD l/a b"},
		{"a\nx\na\n", `! line 3 of the list: the name "a" is, except for case, also used by line 1 of the list`},
		{"a\nA\n", "! line 2 of the list: the name \"A\" is, except for case, also used by line 1 of the list"},
		{"a/b\na\n", `! line 1 of the list: the name "a/b" is inside of "a", of line 2`},
		{"a/b/c\nx\nA\n", `! line 1 of the list: the name "a/b/c" is inside of "A", of line 3`},
		{"../a\n", "a ../a HEAD a"},
		{"/a.git\n", "a /a.git HEAD /a.git"},
		{".\n", "l . HEAD l"},
		{"/\n", "! is not a directory below"},
		{"a\t\t../a\n", "! line 1 of the list: the name \"../a\" is not a directory below"},
		{"a\t\t/a\n", "! is not a directory below"},
		{"a\t\t.\n", "! is not a directory below"},
		{"caf\u00e9\nCAFE\u0301\n", "! is, except for case, also used by line 1"},
		{"a.git\nA.git\n", `! the name "A.git" is, except for case, also used by line 1`},
		{"a\tb\tc\td\n", "! line 1 of the list: 4 fields"},
		{"\tmain\n", "! its path is empty"},
		{" a\n", "! begins or ends with a space"},
		{"a\t \tb\n", "! begins or ends with a space"},
		{"a\x00b\n", "! NUL"},
		{"a\t\tb/../c\n", `! the name "b/../c" is not written simply; write "c"`},
		{"a\t\tb/\n", `! is not written simply; write "b"`},
		{"a\t\ta\x1b\n", "! has a character that is not shown as itself"},
		{"a\t\ta\u202e\n", "! has a character that is not shown as itself"},
		{"a\t\ta\xff\n", "! is not UTF-8"},
		{"a\t\ta\\b\n", "! has a backslash"},
		{"a\x1b\n", "a%1B a\x1b HEAD l/a\x1b"},
		{"a\u202e\xff\n", "a%E2%80%AE%FF a\u202e\xff HEAD l/a\u202e\xff"},
		{"a\\b:\n100%\n", "100%25 100% HEAD l/100%|a%5Cb%3A a\\b: HEAD l/a\\b:"},
		{"a./b.\n", "b%2E a./b. HEAD l/a./b."},
		{"fleet.json\n", "! is reserved for the summary"},
		{"a\t\tFleet.JSON/a\n", "! is reserved for the summary"},
		{"x/.a.12.tmp\n", "! like that of a temporary file"},
		{strings.Repeat("a", maxPart+1) + "\n", "! has a part of 201 bytes"},
		{"c\n" + strings.Repeat("a/", maxName/2) + "b\n", "! has 1025 bytes, over 1024"},
		{strings.Repeat("a", maxLine+1) + "\n", "! it has 16385 bytes"},
	} {
		entries, err := Parse([]byte(x.list), "l")
		got := ""
		for _, e := range entries {
			got += "|" + strings.Join([]string{e.Name, e.Path, e.Revision, filepath.ToSlash(e.Dir)}, " ")
		}
		if err != nil {
			got = "! " + err.Error()
		}
		want, isError := strings.CutPrefix(x.want, "! ")
		if isError != (err != nil) || isError && !strings.Contains(got, want) || !isError &&
			strings.TrimPrefix(got, "|") != want {
			t.Errorf("%.60q: %s\nwant %s", x.list, got, x.want)
		}
	}
	_, err := Parse([]byte(strings.Repeat(" x\n", 250)), "")
	if m := Mistakes(err); len(m) != maxMistakes+1 || !strings.Contains(m[maxMistakes].Message, "150 more mistakes") {
		t.Errorf("%d mistakes: %v", len(m), m)
	}
}

// naive parses a list differently: false for any mistake. Unnamed entries are below dir.
func naive(list, dir string) (names map[string]string, ok bool) {
	names, ok = map[string]string{}, true
	line := regexp.MustCompile("^([^\t]+)(?:\t([^\t]*)(?:\t([^\t]*))?)?$")
	part := regexp.MustCompile(`^[^\x00-\x1f\x7f\\:/]{1,200}$`)
	type entry struct{ path, rev, name, abs string }
	var all []entry
	for _, text := range strings.Split(strings.TrimPrefix(list, "\ufeff"), "\n") {
		text = strings.TrimSuffix(text, "\r")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		m := line.FindStringSubmatch(text)
		if m == nil || len(text) > 16384 || strings.ContainsRune(text, 0) {
			ok = false
			continue
		}
		for _, f := range m[1:] {
			ok = ok && f == strings.TrimSpace(f)
		}
		e := entry{m[1], cmp.Or(m[2], "HEAD"), m[3], m[1]}
		if !path.IsAbs(e.abs) {
			e.abs = dir + "/" + e.abs
		}
		e.abs = strings.TrimSuffix(path.Clean(e.abs), "/.git")
		all = append(all, e)
	}
	up := func(e entry) []string { return strings.Split(path.Dir("/"+e.abs), "/")[1:] }
	var shared []string
	for i, e := range slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.name != "" }) {
		for n := range up(e) {
			if i == 0 {
				shared = up(e)
			} else if n < len(shared) && shared[n] != up(e)[n] {
				shared = shared[:n]
			}
		}
		shared = shared[:min(len(shared), len(up(e)))]
	}
	fold := func(s string) string { return norm.NFC.String(strings.ToLower(strings.ToUpper(s))) }
	below := func(e entry) string {
		return strings.TrimPrefix(e.abs, strings.TrimSuffix("/"+strings.Join(shared, "/"), "/")+"/")
	}
	odd := regexp.MustCompile(`^([%\\:*?"<>|]|[. ](/.*)?)$`)
	for i, e := range all {
		name := e.name
		if name == "" {
			name = strings.TrimSuffix(below(e), ".git")
			for k, other := range all {
				at := fold(cmp.Or(other.name, strings.TrimSuffix(below(other), ".git")))
				if k != i && strings.HasPrefix(at+"/", fold(name)+"/") {
					name = below(e)
				}
			}
			for at := len(name); at > 0; {
				_, n := utf8.DecodeLastRuneInString(name[:at])
				c := name[at-n : at]
				if odd.MatchString(c) && c != "." && c != " " || odd.MatchString(c+name[at:]) || verdict.Visible(c) != c {
					name = name[:at-n] + "%" + strings.ReplaceAll(fmt.Sprintf("% X", c), " ", "%") + name[at:]
				}
				at -= n
			}
		}
		for _, p := range strings.Split(name, "/") {
			ok = ok && part.MatchString(p) && p != "." && p != ".." && len(p) <= 200 &&
				(!strings.HasPrefix(p, ".") || !strings.HasSuffix(p, ".tmp"))
		}
		ok = ok && len(name) <= 1024 && verdict.Visible(name) == name && !strings.Contains(name, "\ufffd") &&
			!regexp.MustCompile(`(?i)^(fleet|shard)\.json(/|$)`).MatchString(name)
		for other := range names {
			a, b := fold(other)+"/", fold(name)+"/"
			ok = ok && !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a)
		}
		names[name] = e.path + "\t" + e.rev
	}
	return names, ok
}

func FuzzParse(f *testing.F) {
	for _, list := range []string{
		"a\nb/c\tmain\n../x\tv1\tteam/x\n", "\ufeff# c\r\na\r\n", "a\na\n", "a/b\nA\n", "a\t\t\tb", "/x\t\ty\n", "\x00",
		".x.tmp\n", "/x/a.git\n/x/a\n/x/b/c.git", "a.git\nb\t\ta\nA.git/%.\n", "../a:\n../../b/.git\n",
		"fleet.json/x\n", "a\\b\n", " a\n", "a\t \n", "a\t\tb/\n",
	} {
		f.Add([]byte(list))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		if len(list) > 8<<10 || bytes.Contains(list, []byte("\ufffd")) || filepath.Separator != '/' {
			return // the other parser takes quadratic time
		}
		here, err := filepath.Abs("l")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := Parse(list, "l")
		names, ok := naive(string(list), here)
		if ok != (err == nil) {
			t.Fatalf("%q: %v, by the other parser: %v", list, err, ok)
		}
		if err != nil {
			if len(Mistakes(err)) == 0 {
				t.Fatalf("%q: %v is not a mistake of the list", list, err)
			}
			return
		}
		if len(entries) != len(names) || !slices.IsSortedFunc(entries,
			func(a, b Entry) int { return strings.Compare(a.Name, b.Name) }) {
			t.Fatalf("%q: %v, by the other parser: %v", list, entries, names)
		}
		for _, e := range entries {
			if names[e.Name] != e.Path+"\t"+e.Revision {
				t.Fatalf("%q: %v, by the other parser: %q", list, e, names[e.Name])
			}
		}
	})
}

// TestHash: comments and the order of lines do not count, and everything else does.
func TestHash(t *testing.T) {
	hash := func(list string) string {
		entries, err := Parse([]byte(list), "")
		if err != nil {
			t.Fatal(err)
		}
		return Hash(entries)
	}
	want := hash("a\nb\tmain\tc\n")
	if hash("# x\nb\tmain\tc\r\n\na\tHEAD\ta") != want {
		t.Error("what does not count changes the hash")
	}
	for _, other := range []string{"a\n", "a\nb\tmain\td\n", "a\nb\tmaster\tc\n", "a\nx\tmain\tc\n", "a\nb\t\tc\n"} {
		if hash(other) == want {
			t.Errorf("%q has the hash of another list", other)
		}
	}
}

// TestFind finds all repositories, and what looks like one.
func TestFind(t *testing.T) {
	root := t.TempDir()
	mkdir := func(names ...string) {
		for _, name := range names {
			if err := os.MkdirAll(filepath.Join(root, name), 0o777); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte("ref: refs/heads/main\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mkdir("b/tree/.git", "b/tree/inside/.git", "a/bare/objects", "a/bare/refs", "damaged/objects", "damaged/refs",
		"x.git/empty",
		"b/none/deep/er", "b/linked", "other")
	write("a/bare/HEAD")
	write("b/linked/.git") // a linked work tree has a file
	write("b/file.git")
	if err := os.Symlink("b/tree", filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	for name, target := range map[string]string{"loop": ".", "nothing": "gone"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	entries, wrong, err := Find(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, " "); got != "a/bare b/linked b/tree damaged link x" {
		t.Errorf("found %s", got)
	}
	if len(wrong) != 2 || wrong[0].File != "loop" || wrong[1].File != "nothing" {
		t.Errorf("not searched: %v", wrong)
	}
	if _, _, err := Find(filepath.Join(root, "b/tree")); err == nil ||
		!strings.Contains(err.Error(), "itself a repository") {
		t.Errorf("a repository: %v", err)
	}
	if _, _, err := Find(filepath.Join(root, "a")); err != nil {
		t.Error(err)
	}
}
