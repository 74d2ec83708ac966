package attributes

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/internal/memdir"
)

var long = flag.Bool("long", false, "ask git about every drawn case")

func TestMain(m *testing.M) { os.Exit(memdir.Run(m.Run, 1<<30)) }

// A scene is a tree of attributes files, and paths in it.
type scene struct {
	files map[string]string // texts, by folder
	paths []string
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

var (
	folders = []string{"", "a", "a/b", "B", "a/b/Z"}
	names   = []string{"z.tf", "Z.TF", "a", "b", "net.tf", "[x]", "x y", `q"q`, "ä", "foo", "-", "!a", "#c", "a-b", "^", "]", `\`, ".tf"}
	attrs   = []string{"working-tree-encoding", "filter", "text", "diff", "binary", "m1", "m2", "m3", "export-subst", "x.y_-Z"}
)

func drawScene(r *rand.Rand) scene {
	s := scene{files: map[string]string{}}
	for _, folder := range folders {
		if folder != "" && r.IntN(3) == 0 {
			continue
		}
		s.files[folder] = drawText(r)
	}
	for _, folder := range folders {
		for _, name := range names {
			s.paths = append(s.paths, path.Join(folder, name))
		}
	}
	return s
}

func drawText(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(12) == 0 {
		b.WriteString(mark)
	}
	for range 1 + r.IntN(16) {
		b.WriteString(pick(r, "", "", "", "", "", "", " ", "\t", "# "))
		b.WriteString(drawName(r))
		for range r.IntN(4) {
			b.WriteString(pick(r, " ", " ", " ", "\t", "  ", "\r"))
			b.WriteString(pick(r, "", "", "", "-", "!"))
			b.WriteString(pick(r, attrs...))
			b.WriteString(pick(r, "", "", "=UTF-16LE", "=x", "=", "=a=b"))
		}
		switch r.IntN(40) {
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
		return pick(r, `"[attr]m1"`, `"[attr] m2"`, `"[attr]"`, `"!a"`, `"x y"`, `"\101"`, `"a"text`, `"q\"q"`, `"\303\244"`, `"\8"`, `"a`, `""`, `"a\000b"`, `"\t"`, `"[attr]m3\000"`, `"\\!a"`)
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
		b.WriteString(pick(r, "*", "*.tf", "**", "z.tf", "Z.*", "net.tf", "*t*.t?", "[a-z]*", "[!a]*", "*a", "?", "", "foo", "*-*"))
		return b.String()
	}
	for range 1 + r.IntN(5) {
		b.WriteString(pick(r,
			"*", "*", "**", "/", "/", "a**/", "?", "a", "b", "A", "z", "Z", ".tf", ".TF", "x", "foo", "net", "B", "-", "ä", "***", "**/", "/**", `\a`, `\A`, `\*`, `\/`, `\`,
			"[a-z]", "[A-Z]", "[!a]", "[^Z]", "[", "]", "[]]", "[!]a]", "[]-a]", "[a-]", "[[:alpha:]]", "[[:upper:]]", "[[:lower:]]", "[[:punct:]]", "[[:x:]]", "[[:]", "[[:]]",
			"[[:digit:]a-c]", `[\]x]`, `[\a-\c]`, "[Z]", "[Z-Z]", "[z-a]", "[a-", "[a-c-z]", "[[a]", "[[:space:]]", "[!/]", "!", "#", "**b", "a**", "[[:alpha:]-z]", `[\\]`))
	}
	return b.String()
}

// repository is where git answers.
type repository struct {
	t   testing.TB
	dir string
	env []string
}

func newRepository(t testing.TB) *repository {
	t.Helper()
	dir := t.TempDir()
	g := &repository{t: t, dir: dir, env: append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "LC_ALL=C")}
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
	for _, folder := range folders {
		name := path.Join(folder, Name)
		at := filepath.Join(g.dir, filepath.FromSlash(name))
		text, there := s.files[folder]
		if !there {
			_ = os.Remove(at) // if it is there
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			g.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			g.t.Fatal(err)
		}
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

// takesReserved reports whether this git reads a line that names an attribute builtin_x.
func (g *repository) takesReserved() bool {
	s := scene{files: map[string]string{"": "* builtin_x text\n"}, paths: []string{"a"}}
	g.put(s)
	return g.attributes(s, false, false)["a text"] == "set"
}

// style returns what this git makes of two stars next to other characters.
func (g *repository) style() starStyle {
	s := scene{files: map[string]string{"": "a**/b text\n"}, paths: []string{"ab"}}
	g.put(s)
	if g.attributes(s, false, false)["ab text"] == "set" {
		return looseStars
	}
	return strictStars
}

func (v Value) asGit() string {
	return [...]string{"unspecified", "set", "unset", v.Text}[v.State]
}

// frames are the files above a path, as one reader reads them.
func (s scene) frames(r reader, name string) []Frame {
	var frames []Frame
	for _, folder := range folders {
		if text, there := s.files[folder]; there && (folder == "" || strings.HasPrefix(name, folder+"/")) {
			frames = append(frames, Frame{folder, r.file(r.lines([]byte(text)), folder == "")})
		}
	}
	return frames
}

// TestFault_144_CheckAttr: the attributes of a path are those that git check-attr says, with letter case and without,
// from the index and from the disk. A case is a path in a tree: there are some 5,000 of each kind, ten times as many
// with -long.
func TestFault_144_CheckAttr(t *testing.T) {
	t.Parallel()
	scenes := 60
	if *long {
		scenes = 600
	}
	g := newRepository(t)
	reserved, style := g.takesReserved(), g.style()
	r := rand.New(rand.NewPCG(144, 0))
	told := map[string]int{}
	for range scenes {
		s := drawScene(r)
		g.put(s)
		for _, fold := range []bool{false, true} {
			for _, disk := range []bool{false, true} {
				want := g.attributes(s, fold, disk)
				for _, name := range s.paths {
					values := Values(s.frames(reader{disk: disk, reserved: reserved, style: style}, name), name, fold, attrs...)
					for i, v := range values {
						told[v.asGit()]++
						if got, want := v.asGit(), want[name+" "+attrs[i]]; got != want {
							t.Fatalf("%q has %s: %q; git: %q (fold %v, disk %v)\n%q", name, attrs[i], got, want, fold, disk, s.files)
						}
					}
					contained(t, s, name, fold, values)
				}
			}
		}
	}
	for _, value := range []string{"unspecified", "set", "unset", "UTF-16LE", ""} {
		if told[value] < scenes {
			t.Errorf("%q was the answer %d times only", value, told[value])
		}
	}
}

// contained sees to it that Read returns the reading that git made, too.
func contained(t *testing.T, s scene, name string, fold bool, want []Value) {
	t.Helper()
	frames := [][]Frame{nil}
	for _, folder := range folders {
		text, there := s.files[folder]
		if !there || folder != "" && !strings.HasPrefix(name, folder+"/") {
			continue
		}
		var more [][]Frame
		for _, f := range Read([]byte(text), folder == "") {
			for _, before := range frames {
				more = append(more, append(before[:len(before):len(before)], Frame{folder, f}))
			}
		}
		frames = more
	}
	for _, f := range frames {
		if got := Values(f, name, fold, attrs...); fmt.Sprint(got) == fmt.Sprint(want) {
			return
		}
	}
	t.Fatalf("%q: none of %d readings gives %v\n%q", name, len(frames), want, s.files)
}
