package shell

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/internal/cputime"
)

var long = flag.Bool("long", false, "more hard lines, and commands within commands in every shell")

// shown is a list of commands in a line: PROGRAM[ARG|ARG]!UNSEEN, a > after commands that only run the next.
func shown(all []Command) string {
	var list []string
	for _, c := range all {
		s := c.Word
		if len(c.Args) > 0 {
			s += "[" + strings.Join(c.Args, "|") + "]"
		}
		if c.Unseen != "" {
			s += "!" + c.Unseen
		}
		if c.Through {
			s += ">"
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

// A lineCase is a line of testdata/lines.jsonl, and what is said of it: "read" wants it shown as it is; "spelling",
// "forced" and "harmless" are lines that run git push --force or not, the first two kinds in real shells too;
// "unseen" has a command with that reason, "first" has it of the first command, "seen" has no command with one.
type lineCase struct{ Is, Line, Want string }

// lines are the cases of some kinds.
func lines(t testing.TB, kinds ...string) []lineCase {
	t.Helper()
	text, err := os.ReadFile("testdata/lines.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []lineCase
	for line := range bytes.Lines(text) {
		var c lineCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(kinds, c.Is) {
			all = append(all, c)
		}
	}
	if all == nil {
		t.Fatal("there is no line")
	}
	return all
}

func TestRead(t *testing.T) {
	for _, c := range lines(t, "read") {
		if got := shown(Read(c.Line)); got != c.Want {
			t.Errorf("%q:\n got %s\nwant %s", c.Line, got, c.Want)
		}
	}
}

// Names: what a rule about git must know it by.
func TestNames(t *testing.T) {
	for word, want := range map[string]string{
		"git": "git", "/usr/bin/git": "/usr/bin/git git", "./x/Rscript": "./x/Rscript Rscript rscript",
		"GIT": "GIT git", "git.exe": "git.exe git",
		`C:\bin\Git.EXE`: `C:\bin\Git.EXE Git.EXE git`, "=git": "=git git", "a/": "a/ a", "": "", "$X": "$X $x",
	} {
		c := Command{Word: word}
		if got := strings.Join(c.Names(), " "); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// deep are texts that make a parser recurse, or look back.
func deep() []string {
	return []string{
		"(", "( ", "$(", "\"$(", "`", "{ ", "((", "$((", "$[", "x[", "${x:-", "${x/", "${x:", "$((a=", "((-", "((a?",
		"((a**", "if ", "while ", "! ", "a&&", "a|", "a;", "a||", "case x in x) ", "[[ ( ", "[[ ! ", "[[ a && ", "<(",
		"f() ", "function f ", "time ", "coproc ", "\"", "'", "a'b'", "\\", "a <<E\n", "<<a ", "a=(", "{a,", "{a,b}",
		"@(", "$'", "env ", "sh -c ", "sh -c '", "eval ", "env -S ", "xargs ", "$a ", "find -exec ",
		"for x in a; do ", "a\n", "#", "&", "=", "-", "let -", "a=$", "docker run ", "docker run a ", "`\\",
		"\\`\\\\", "git rebase -x ", "kubectl -- ",
	}
}

// A line that is built to be hard does not overflow the stack, takes a time that grows as its length, and is never
// seen less than in whole without saying so.
func TestFault_155_Hard(t *testing.T) {
	ends := []string{" git push --force"}
	if *long {
		ends = append(ends, "", "\ngit push --force")
	}
	for _, part := range deep() {
		for _, end := range ends {
			var took [2]time.Duration
			for i, size := range []int{maxLength / 32, maxLength / 8} {
				line := strings.Repeat(part, size/len(part)) + end
				took[i] = cputime.Of(func() { Read(line) })
			}
			if took[1] > 3*time.Second || took[1] > 16*took[0]+300*time.Millisecond {
				t.Errorf("%q: %s for a quarter of the text, %s for all", part, took[0], took[1])
			}
		}
		isLength := func(c Command) bool { return c.Unseen == Length }
		if line := strings.Repeat(part, maxLength/len(part)+2); !slices.ContainsFunc(Read(line), isLength) {
			t.Errorf("%q: a line of %d bytes is not said to be too long", part, len(line))
		}
	}
	for line, want := range map[string]string{
		strings.Repeat("(", 5000) + "git push" + strings.Repeat(")", 5000):                    Depth,
		strings.Repeat("$(", 5000) + "git push" + strings.Repeat(")", 5000):                   Depth,
		strings.Repeat("env ", maxWrappers) + "git push":                                      Depth,
		": " + strings.Repeat("x", maxLength) + "\ngit push":                                  Length,
		": " + strings.Repeat("x", maxLength) + "; echo `git push`":                           Length,
		"sh -c " + quote("sh -c "+quote(strings.Repeat("x;", maxLength/4))+"; git push") + "": "",
		nest(maxDepth-1, "git push"):                                                          "",
		nest(maxDepth, "git push"):                                                            Depth,
		"git push " + strings.Repeat("{a,b}", 20):                                             Argument,
	} {
		all := Read(line)
		isPush := func(c Command) bool { return c.Word == "git" && slices.Contains(c.Args, "push") }
		seen := slices.ContainsFunc(all, isPush)
		said := slices.ContainsFunc(all, func(c Command) bool { return c.Unseen == want })
		if !said || !seen && want != Depth {
			t.Errorf("%.60q: git push is seen: %v; %q is said: %v", line, seen, want, said)
		}
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func nest(n int, line string) string {
	for range n {
		line = "sh -c " + quote(line)
	}
	return line
}

// What a shell makes of quoted words is what is read.
func TestQuotedWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z '"\\$` + "`" + `!*?~{},#;&|()<>=-]{0,8}`)
		words := rapid.SliceOfN(word, 1, 6).Draw(t, "words")
		written := make([]string, len(words))
		for i, w := range words {
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				written[i] = quote(w)
			case 1:
				written[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(w) + `"`
			case 2:
				written[i] = "''"
				for _, c := range w {
					written[i] += `\` + string(c)
				}
			}
		}
		line := "x " + strings.Join(written, " ")
		all := Read(line)
		seen := len(all) == 1 && (all[0].Unseen == "" || all[0].Unseen == Program)
		if !seen || !slices.Equal(all[0].Args, words) {
			t.Fatalf("%s: %s, want %q", line, shown(all), words)
		}
	})
}

// FuzzRead: no line makes the reader panic, and what is not read is said.
func FuzzRead(f *testing.F) {
	for _, part := range deep() {
		f.Add(part+"git push", part)
	}
	for _, c := range lines(f, "spelling") {
		f.Add(c.Line, "git")
	}
	f.Add("0&0\xb6", "0") // StmtsSeq of v3.14.1 goes on after its error
	f.Fuzz(func(t *testing.T, line, word string) {
		for _, c := range Read(line) {
			if c.Unseen != "" && !slices.Contains(Reasons(), c.Unseen) {
				t.Errorf("the reason %q", c.Unseen)
			}
			if c.Word == "" && len(c.Args) > 0 && c.Unseen == "" && !strings.ContainsAny(line, `'"\$`) {
				t.Errorf("%q without a program", c.Args)
			}
		}
		// A line after it is read, unless it continues a quote or comment.
		if all := ReadList([]string{line, word}); len(all) == 0 || all[0].Word != line {
			t.Errorf("%q: %s", line, shown(all))
		}
	})
}

// composed are commands within commands: every two of some ways to run one. Many are not shell.
func composed() []string {
	ways := []func(string) string{
		func(s string) string { return "sh -c " + quote(s) }, func(s string) string { return "eval " + quote(s) },
		func(s string) string { return "echo `" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s) + "`" },
	}
	for _, format := range []string{"env A=1 %", "(%)", "{ %\n}", "echo \"$(%)\"", "nice %", "cd . && %",
		"if ! %; then :; fi", "xargs % </dev/null", "time %", "bash <<'E'\n%\nE", "for x in 1 2; do % $x; done",
		"find . -maxdepth 0 -exec % \\;", "f() { % \"$@\"; }; f a 'b c'"} {
		ways = append(ways, func(s string) string { return strings.Replace(format, "%", s, 1) })
	}
	var all []string
	for _, outer := range ways {
		for _, inner := range ways {
			line := outer(inner("git push --force"))
			if !strings.Contains(line, "xargs bash") { // which runs the script ./git
				all = append(all, line)
			}
		}
	}
	return all
}

// forced reports whether a command is git push --force.
func forced(c Command) bool {
	return slices.Contains(c.Names(), "git") && slices.Contains(c.Args, "push") && slices.Contains(c.Args, "--force")
}

func TestFault_155_Spellings(t *testing.T) {
	for _, c := range lines(t, "spelling", "harmless", "forced") {
		if all := Read(c.Line); slices.ContainsFunc(all, forced) != (c.Is != "harmless") {
			t.Errorf("%s\n  %s", c.Line, shown(all))
		}
	}
}

// begins reports whether args begin with the seen arguments, up to the first incomplete one.
func begins(args, seen []string) bool {
	for i, a := range seen {
		if strings.ContainsAny(a, "{$*") {
			return true
		}
		if i >= len(args) || args[i] != a {
			return false
		}
	}
	return true
}

// A git that only writes down its arguments is run by real shells: what ran was seen, with the same arguments.
func TestFault_155_RealShells(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such shells")
	}
	dir := t.TempDir()
	for _, at := range []string{"bin/git", "git"} {
		name := filepath.Join(dir, at)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		script := "#!/bin/sh\n{ printf '%s\\0' \"$@\"; printf '\\n'; } >> " + quote(filepath.Join(dir, "out")) + "\n"
		if err := os.WriteFile(name, []byte(script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bash", "dash", "zsh"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Logf("there is no %s", name)
			continue
		}
		ran := 0
		all := lines(t, "spelling", "harmless")
		if name == "bash" && *long {
			for _, line := range composed() {
				all = append(all, lineCase{Line: line})
			}
		}
		for i, c := range all {
			if name == "dash" && strings.Contains(c.Line, "{") && strings.Contains(c.Line, ",") {
				continue // it expands no braces
			}
			if name != "bash" && i%4 > 0 && !*long {
				continue
			}
			written := runShell(t, program, dir, c.Line)
			seen := Read(c.Line)
			for argv := range bytes.SplitSeq(bytes.TrimSuffix(written, []byte("\n")), []byte("\n")) {
				if len(argv) == 0 {
					continue
				}
				args := strings.Split(strings.TrimSuffix(string(argv), "\x00"), "\x00")
				if slices.Contains(args, "--force") {
					ran++
				}
				if !slices.ContainsFunc(seen, func(c Command) bool {
					return slices.Contains(c.Names(), "git") &&
						(slices.Equal(c.Args, args) || c.Unseen == Argument && begins(args, c.Args))
				}) {
					t.Errorf("%s ran git %q of\n%s\nand seen was %s", name, args, c.Line, shown(seen))
				}
			}
			if c.Is == "harmless" && bytes.Contains(written, []byte("push\x00--force")) {
				t.Errorf("%s: this is not harmless: %s", name, c.Line)
			}
			if login := strings.Contains(c.Line, "-lc"); name == "bash" && !login && c.Is == "spelling" &&
				!bytes.Contains(written, []byte("--force\x00")) {
				t.Errorf("bash runs no push --force of the spelling %s: %q", c.Line, written)
			}
		}
		if ran < 20 {
			t.Errorf("%s ran %d of the spellings", name, ran)
		}
	}
}

// runShell returns what a git that a shell ran wrote down.
func runShell(t *testing.T, program, dir, line string) []byte {
	t.Helper()
	out := filepath.Join(dir, "out")
	if err := os.WriteFile(out, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-c", line)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + dir, "OUT=" + out,
		"LC_ALL=C.UTF-8"}
	_ = cmd.Run() // many end with a failure
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// TestFault_155_Programs: what runs commands by an option, a setting, a descriptor or a second reading of a text. Real
// shells run git push --force for most of these.
func TestFault_155_Programs(t *testing.T) {
	for _, c := range lines(t, "unseen", "seen", "first") {
		all := Read(c.Line)
		isUnseen := func(x Command) bool { return x.Unseen == c.Want }
		switch {
		case c.Is == "first":
			isNot := func(x Command) bool { return x.Word == "echo" || x.Unseen == "" }
			if got := append(slices.DeleteFunc(all, isNot), Command{})[0].Unseen; got != c.Want {
				t.Errorf("%s: %q, want %q", c.Line, got, c.Want)
			}
		case c.Is == "unseen" && !slices.ContainsFunc(all, isUnseen),
			c.Is == "seen" && slices.ContainsFunc(all, func(x Command) bool { return x.Unseen != "" || x.Set }):
			t.Errorf("%s: not %s %q\n  %s", c.Line, c.Is, c.Want, shown(all))
		}
	}
}

// TestFault_155_Long: of a text of many megabytes the beginning is read, and the rest is said not to be seen.
func TestFault_155_Long(t *testing.T) {
	all := Read("git push " + strings.Repeat("a ", 3<<20))
	if len(all) != 1 || all[0].Unseen != Length || len(all[0].Args) > MaxRough {
		t.Errorf("%d commands, of the first %d arguments, %s", len(all), len(all[0].Args), all[0].Unseen)
	}
}
