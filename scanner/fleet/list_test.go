package fleet

import (
	"bytes"
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

func TestParse(t *testing.T) {
	for _, x := range []struct{ list, want string }{
		{"", ""},
		{"# no\n\n", ""},
		{"b\na\n", "a a HEAD l/a|b b HEAD l/b"},
		{"b", "b b HEAD l/b"},
		{"\ufeffa\r\n./b//c\r\n", "a a HEAD l/a|b/c ./b//c HEAD l/b/c"},
		{"a\tmain\n/x/y.git\t\tteam/y\n", "a a main l/a|team/y /x/y.git HEAD /x/y.git"},
		{"../up\tv1\tup\n", "up ../up v1 up"},
		{"a\t\t\n", "a a HEAD l/a"},
		{"a b\n", "a b a b HEAD l/a b"},
		{"a\nx\na\n", `! line 3 of the list: the name "a" is, except for case, also used by line 1 of the list`},
		{"a\nA\n", "! line 2 of the list: the name \"A\" is, except for case, also used by line 1 of the list"},
		{"a/b\na\n", `! line 1 of the list: the name "a/b" is inside of "a", of line 2`},
		{"a/b/c\nx\nA\n", `! line 1 of the list: the name "a/b/c" is inside of "A", of line 3`},
		{"../a\n", "! line 1 of the list: the name \"../a\" is not a directory below"},
		{"/a\n", "! is not a directory below"},
		{".\n", "! is not a directory below"},
		{"a\tb\tc\td\n", "! line 1 of the list: 4 fields"},
		{"\tmain\n", "! its path is empty"},
		{" a\n", "! begins or ends with a space"},
		{"a\t \tb\n", "! begins or ends with a space"},
		{"a\x00b\n", "! NUL"},
		{"a\t\tb/../c\n", `! the name "b/../c" is not written simply; write "c"`},
		{"a\t\tb/\n", `! is not written simply; write "b"`},
		{"a\x1b\n", "! has a character that is not shown as itself"},
		{"a\u202e\n", "! has a character that is not shown as itself"},
		{"a\xff\n", "! is not UTF-8"},
		{"a\\b\n", "! has a backslash"},
		{"fleet.json\n", "! is reserved for the summary"},
		{"Fleet.JSON/a\n", "! is reserved for the summary"},
		{"x/.a.12.tmp\n", "! like that of a temporary file"},
		{strings.Repeat("a", maxPart+1) + "\n", "! has a part of 201 bytes"},
		{strings.Repeat("a/", maxName/2) + "b\n", "! has 1025 bytes, over 1024"},
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

// naive parses a list differently: false for any mistake.
func naive(list string) (names map[string]string, ok bool) {
	names, ok = map[string]string{}, true
	line := regexp.MustCompile("^([^\t]+)(?:\t([^\t]*)(?:\t([^\t]*))?)?$")
	part := regexp.MustCompile(`^[^\x00-\x1f\x7f\\:/]{1,200}$`)
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
		name := m[3]
		if name == "" {
			name = path.Clean(m[1])
		}
		for _, p := range strings.Split(name, "/") {
			ok = ok && part.MatchString(p) && p != "." && p != ".." && len(p) <= 200 &&
				(!strings.HasPrefix(p, ".") || !strings.HasSuffix(p, ".tmp"))
		}
		ok = ok && len(name) <= 1024 && verdict.Visible(name) == name && !strings.Contains(name, "\ufffd") &&
			!regexp.MustCompile(`(?i)^(fleet|shard)\.json(/|$)`).MatchString(name)
		for other := range names {
			a, b := strings.ToLower(other)+"/", strings.ToLower(name)+"/"
			ok = ok && !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a)
		}
		names[name] = m[1] + "\t" + cmp.Or(m[2], "HEAD")
	}
	return names, ok
}

func FuzzParse(f *testing.F) {
	for _, list := range []string{
		"a\nb/c\tmain\n../x\tv1\tteam/x\n", "\ufeff# c\r\na\r\n", "a\na\n", "a/b\nA\n", "a\t\t\tb", "/x\t\ty\n", "\x00",
		".x.tmp\n",
		"fleet.json/x\n", "a\\b\n", " a\n", "a\t \n", "a\t\tb/\n",
	} {
		f.Add([]byte(list))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		if len(list) > 8<<10 || bytes.Contains(list, []byte("\ufffd")) || filepath.Separator != '/' {
			return // the other parser takes quadratic time
		}
		entries, err := Parse(list, "l")
		names, ok := naive(string(list))
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
	if got := strings.Join(names, " "); got != "a/bare b/linked b/tree damaged link x.git" {
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
