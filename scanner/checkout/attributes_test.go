package checkout

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var long = flag.Bool("long", false, "ask git about ten times as many cases")

// A scene is a tree of attributes files, and paths in it.
type scene struct {
	files map[string]string // texts, by directory
	paths []string
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

var (
	dirs      = []string{"", "a", "a/b", "B", "a/b/Z"}
	baseNames = []string{"z.tf", "Z.TF", "a", "b", "net.tf", "[x]", "x y", `q"q`, "ä", "foo", "-", "!a", "#c", "a-b",
		"^", "]", `\`, ".tf"}
	attrs = []string{encodingName, filterName, exportSubstName, identName}
)

func drawScene(r *rand.Rand) scene {
	s := scene{files: map[string]string{}}
	for _, dir := range dirs {
		if dir == "" || r.IntN(3) > 0 {
			s.files[dir] = drawText(r)
		}
	}
	for _, dir := range dirs {
		for _, name := range baseNames {
			s.paths = append(s.paths, path.Join(dir, name))
		}
	}
	return s
}

func drawText(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(12) == 0 {
		b.WriteString(byteMark)
	}
	for range 1 + r.IntN(16) {
		b.WriteString(pick(r, "", "", "", "", "", "", " ", "\t", "# "))
		b.WriteString(drawName(r))
		for range r.IntN(4) {
			b.WriteString(pick(r, " ", " ", " ", "\t", "  ", "\r"))
			b.WriteString(pick(r, "", "", "", "-", "!"))
			b.WriteString(pick(r, "working-tree-encoding", "filter", "text", "diff", "binary", "m1", "m2", "m3",
				"export-subst", "x.y_-Z"))
			b.WriteString(pick(r, "", "", "=UTF-16LE", "=x", "=", "=a=b"))
		}
		switch r.IntN(80) {
		case 0:
			b.WriteString(pick(r, " --x", " =y", " a/b", " builtin_x", " -builtin_x", " ä", " !", " -"))
		case 1:
			b.WriteString("\x00 text")
		case 2: // about as long as a line may be
			b.WriteString(strings.Repeat(" ", maxLine-30+r.IntN(30)) + "m1=long")
		}
		b.WriteString(pick(r, "\n", "\n", "\n", "\n", "\r\n", "\n\n"))
	}
	return b.String()
}

func drawName(r *rand.Rand) string {
	switch r.IntN(10) {
	case 0, 1:
		return "[attr]" + pick(r, "m1", "m2", "m3", "binary", "-x", "", "builtin_m", "text")
	case 2:
		return pick(r, `"[attr]m1"`, `"[attr] m2"`, `"[attr]"`, `"!a"`, `"x y"`, `"\101"`, `"a"text`, `"q\"q"`,
			`"\303\244"`, `"\8"`, `"a`, `""`, `"a\000b"`, `"\t"`, `"[attr]m3\000"`, `"\\!a"`, `"\x61"`, `"ä"`)
	}
	return drawPattern(r)
}

func drawPattern(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(2) == 0 { // as people write them
		b.WriteString(pick(r, "", "", "/"))
		for range r.IntN(4) {
			b.WriteString(pick(r, "**", "**", "*", "a", "b", "B", "?", "[a-z]", "a*") + "/")
		}
		b.WriteString(pick(r, "*", "*.tf", "**", "z.tf", "Z.*", "net.tf", "*t*.t?", "[a-z]*", "[!a]*", "*a", "?", "",
			"foo", "*-*"))
		return b.String()
	}
	for range 1 + r.IntN(5) {
		b.WriteString(pick(r,
			"*", "*", "**", "/", "/", "a**/", "?", "a", "b", "A", "z", "Z", ".tf", ".TF", "x", "foo", "net", "B", "-",
			"ä", "***", "**/", "/**", `\a`, `\A`, `\*`, `\/`, `\`,
			"[a-z]", "[A-Z]", "[!a]", "[^Z]", "[", "]", "[]]", "[!]a]", "[]-a]", "[a-]", "[[:alpha:]]", "[[:upper:]]",
			"[[:x:]]", "[[:]", "[[:]]",
			"[[:digit:]a-c]", `[\]x]`, `[\a-\c]`, "[Z]", "[Z-Z]", "[z-a]", "[a-", "[a-c-z]", "[[a]", "[!/]", "!", "#",
			"**b", "a**", "[[:alpha:]-z]", `[\\]`))
	}
	return b.String()
}

// A repository is where git answers.
type repository struct {
	t   testing.TB
	dir string
	env []string
}

func newRepository(t testing.TB) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	g := &repository{t: t, dir: dir, env: append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_ATTR_NOSYSTEM=1", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "LC_ALL=C", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")}
	g.git("", "init", "-q", ".")
	return g
}

func (g *repository) git(stdin string, args ...string) string {
	g.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.dir, g.env, strings.NewReader(stdin)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		g.t.Fatalf("git %q: %v\n%s", args, err, said.String())
	}
	return string(out)
}

// put makes the scene's files those of the index and of the disk.
func (g *repository) put(s scene) {
	g.t.Helper()
	var list, index strings.Builder
	var in []string
	for _, dir := range dirs {
		name := path.Join(dir, attributesName)
		at := filepath.Join(g.dir, filepath.FromSlash(name))
		text, exists := s.files[dir]
		if !exists {
			_ = os.Remove(at) // if there is one
			continue
		}
		must(g.t, os.MkdirAll(filepath.Dir(at), 0o777))
		must(g.t, os.WriteFile(at, []byte(text), 0o666))
		fmt.Fprintln(&list, name)
		in = append(in, name)
	}
	for i, hash := range strings.Fields(g.git(list.String(), "hash-object", "-w", "--no-filters", "--stdin-paths")) {
		fmt.Fprintf(&index, "100644 %s\t%s\n", hash, in[i])
	}
	g.git("", "read-tree", "--empty")
	g.git(index.String(), "update-index", "--index-info")
}

// attributes asks git about every path of a scene.
func (g *repository) attributes(s scene, fold, disk bool) map[string]string {
	g.t.Helper()
	args := []string{"-c", fmt.Sprintf("core.ignorecase=%v", fold), "check-attr", "--stdin", "-z"}
	if !disk {
		args = append(args, "--cached")
	}
	out := g.git(strings.Join(s.paths, "\x00")+"\x00", append(args, attrs...)...)
	answers := map[string]string{}
	fields := strings.Split(out, "\x00")
	for ; len(fields) > 3; fields = fields[3:] {
		answers[fields[0]+" "+fields[1]] = fields[2]
	}
	return answers
}

func (v value) asGit() string { return [...]string{"unspecified", "set", "unset", v.text}[v.state] }

// lists are the lists of the attributes files above a path; false if one of them is refused.
func (s scene) lists(name string) (*chain, bool) {
	ch := &chain{macros: map[string][]setting{}}
	for _, dir := range dirs {
		text, exists := s.files[dir]
		if !exists || dir != "" && !strings.HasPrefix(name, dir+"/") {
			continue
		}
		ch.encodes = ch.encodes || strings.Contains(text, encodingName)
		lines, err := ch.lines([]byte(text), dir == "", false)
		if err != nil {
			return nil, false
		}
		ch.lists = append(ch.lists, attributeList{dir, lines})
	}
	return ch, true
}

// TestFault_144_CheckAttr: what git check-attr says about a path, with case and without, from the index and from the
// disk, is one of the outcomes, and the only one where nothing is ambiguous. After a NUL byte, macros for a filter may
// be missing.
func TestFault_144_CheckAttr(t *testing.T) {
	t.Parallel()
	scenes := 60
	if *long {
		scenes = 600
	}
	g := newRepository(t)
	r := rand.New(rand.NewPCG(144, 0))
	told := map[string]int{}
	single, several, refused := 0, 0, 0
	for range scenes {
		s := drawScene(r)
		g.put(s)
		compared := attrs
		if slices.ContainsFunc(slices.Collect(maps.Values(s.files)),
			func(text string) bool { return strings.Contains(text, "\x00") }) {
			compared = attrs[:1]
		}
		all := map[string][]map[string]value{}
		for _, name := range s.paths {
			ch, ok := s.lists(name)
			if !ok {
				refused++
				continue
			}
			got, ok := outcomes(ch.lists, ch.macros, name)
			switch {
			case !ok:
				refused++
				continue
			case len(got) == 1:
				single++
			default:
				several++
			}
			all[name] = got
		}
		for _, fold := range []bool{false, true} {
			for _, disk := range []bool{false, true} {
				want := g.attributes(s, fold, disk)
				for name, got := range all {
					is := func(o map[string]value) bool {
						return !slices.ContainsFunc(compared, func(attr string) bool {
							return o[attr].asGit() != want[name+" "+attr]
						})
					}
					if !slices.ContainsFunc(got, is) {
						for _, attr := range attrs {
							t.Errorf("%s: %s", attr, want[name+" "+attr])
						}
						t.Fatalf("%q: git says that, and not one of %v (fold %v, disk %v)\n%q", name, got, fold, disk,
							s.files)
					}
					for _, attr := range attrs {
						told[want[name+" "+attr]]++
					}
				}
			}
		}
	}
	for _, value := range []string{"unspecified", "set", "unset", "UTF-16LE", ""} {
		if told[value] < scenes {
			t.Errorf("%q was the answer %d times only", value, told[value])
		}
	}
	if single < several || several == 0 || refused == 0 || refused > single+several {
		t.Errorf("%d paths had one outcome, %d several, %d were refused", single, several, refused)
	}
}

// FuzzAttributes: whatever a text is, there is an answer for every path, in time.
func FuzzAttributes(f *testing.F) {
	for _, text := range []string{
		"*.tf working-tree-encoding=UTF-16LE\n", "[attr]enc working-tree-encoding=IBM037\n/a/**/z.tf enc\n",
		`"a\040b" -text !diff` + "\n",
		byteMark + "* text\x00x\n*.tf builtin_x\n", strings.Repeat("*a", 900) + "b filter=x\n",
		"[!a-z[:upper:]]*/** x=y\r\n", "[", `\`, "[[:alpha:]-z] a",
	} {
		f.Add([]byte(text), "a/b/z.tf")
		f.Add([]byte(text), strings.Repeat("a", 200))
	}
	f.Fuzz(func(t *testing.T, content []byte, name string) {
		name = strings.Trim(strings.ReplaceAll(name, "//", "/"), "/")
		if name == "" || strings.Contains(name, "\x00") || len(name) > 300 || len(content) > 8<<10 {
			t.Skip()
		}
		s := scene{files: map[string]string{"": string(content)}}
		ch, ok := s.lists(name)
		if !ok {
			return
		}
		all, ok := outcomes(ch.lists, ch.macros, name)
		if ok && (len(all) == 0 || len(all) > maxOutcomes) {
			t.Fatalf("%d outcomes", len(all))
		}
		for _, o := range all {
			for v := range maps.Values(o) {
				if v.state != withText && v.text != "" || strings.ContainsAny(v.text, "\n \t") {
					t.Fatalf("%+v", v)
				}
			}
		}
	})
}

// TestAttributesNames: the names under which some disk has an attributes file.
func TestAttributesNames(t *testing.T) {
	for name, want := range map[string]bool{
		".gitattributes": true, ".GITATTRIBUTES": true, ".gitAttributes": true, ".gitattribute\u017f": true,
		".git\u200cattributes": true, "\ufeff.GitAttributes": true,
		"gitattributes": false, ".gitattributes.": false, ".gitattribute": false, "xgitattributes": false,
		".gitattributesx": false, ".gitignore_____": false, "": false,
	} {
		if got := isAttributesFile(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestPatterns: a pattern matches in all checkouts (yes), in some (maybe), or in none. TestFault_144_CheckAttr has
// what git says.
func TestPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, path, want string }{
		{"*.tf", "a/b.TF", "maybe"},
		{"**.tf", "a/x.tf", "yes"},
		{"a/", "a", "no"},
		{"[!0-9].tf", "1.tf", "no"},
		{"[Cc].tf", "C.tf", "maybe"},
		{"[a-c].tf", "b.tf", "yes"},
		{"[C].tf", "C.tf", "maybe"}, // git folds the name and not the class
		{"[A-Z].tf", "c.tf", "maybe"},
		{"[!c].tf", "C.tf", "maybe"},
		{`\C.tf`, "C.tf", "maybe"},
		{"?", "ä", "no"}, // two bytes
		{"[[:alpha:]].tf", "c.tf", "maybe"},
		{"a**/b", "ab", "maybe"}, // git 2.20 to 2.51
		{"a**/b", "ax/b", "maybe"},
		{"x/**.tf", "x/a.tf", "maybe"},
		{"x/a**", "x/a/b", "maybe"},
		{strings.Repeat("*a", 16) + "b", strings.Repeat("a", 250) + "b", "yes"},
		{strings.Repeat("*a", 16) + "c?b", strings.Repeat("a", 250) + "b", "no"},
		{strings.Repeat("*a", 120) + "c?b", strings.Repeat("a", 250) + "b", "maybe"},
	} {
		always, sometimes := newPattern(c.pattern).match(c.path)
		if got := map[bool]string{true: "yes", false: map[bool]string{true: "maybe",
			false: "no"}[sometimes]}[always]; got != c.want {
			t.Errorf("%.40s matches %.40s: %s, want %s", c.pattern, c.path, got, c.want)
		}
	}
}
