package shell

import (
	"bytes"
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

func TestRead(t *testing.T) {
	for _, c := range [][2]string{
		{"git push --force", "git[push|--force]"},
		{"", ""},
		{"A=1", ""},
		{"# git push", ""},
		{"> out", ""},
		{"A=1 B=2 git push >out 2>&1", "git[push]!environment"},
		{"cd x && git push; ls | wc &", "cd[x] git[push] ls wc"},
		{"! git push", "git[push]"},
		{"(a; { b; })", "a b"},
		{"if a; then b; elif c; then d; else e; fi", "a b c d e"},
		{"for i in $(a); do b; done; while c; do d; done; until e; do f; done", "a b c d e f"},
		{"case $(a) in x) b;; *) c;; esac", "a b c"},
		{"f() { git push; }; f x", "git[push] f[x]"},
		{"[[ -n $(a) ]] && [ -f x ]", "a [[-f|x|]]"},
		{"echo $((1 + $(a)))", "echo[$((1 + $(a)))]!argument a"},
		{"echo `a` \"$(b \"$(c)\")\"", "echo[`a`|$(b \"$(c)\")]!argument a b[$(c)]!argument c"},
		{"diff <(a) >(b)", "diff[<(a)|>(b)]!argument a b"},
		{"cat <<E\n$(a)\nE\ncat <<'E'\n$(b)\nE\n", "cat a cat"},
		{"x=$(a) y=(`b`); z[$(c)]=1", "a b c"},
		{"export A=$(b)", "export[A=$(b)]!environment b!environment"},
		{"time -p a b", "time[-p|a|b]> a[b]"},
		{"time", "time"},
		{"coproc a", "coproc[a]> a"},
		// Quotes.
		{`"git" 'pu's"h" --for\ce g''it`, "git[push|--force|git]"},
		{`$'gi\x74' $'pu\163h' $"x" $'\u0041\cA\q\'' $'a\0b'`, "git[push|x|A\x01\\q'|a]"},
		{"git pu\\\nsh", "git[push]"},
		{`git "a $b" '$b' "\$b \a"`, `git[a $b|$b|$b \a]!argument`},
		{`git commit -m "push --force"`, "git[commit|-m|push --force]"},
		// Words that are not whole.
		{"git push $X", "git[push|$X]!argument"},
		{"rm *.o", "rm[*.o]!argument"},
		{"git a[b", "git[a[b]"},
		{"$X push", "$X[push]!variable push"},
		{`"$X" push`, "$X[push]!variable"},
		{"g?t push", "g?t[push]!variable"},
		{"~/bin/git push ~/x", "~/bin/git[push|~/x]"},
		{"{git,push,--force}", "git[push|--force]"},
		{"git pu{sh,} --{force,x{1,2}}", "git[push|pu|--force|--x1|--x2]"},
		{"git {,}", "git"},
		{"echo {1..3}", "echo[{1..3}]!argument"},
		// What runs another.
		{"env git status", "env[git|status]> git[status]"},
		{"env -i -u X A=1 -- nice -n 5 git", "env[-i|-u|X|A=1|--|nice|-n|5|git]!environment> --[nice|-n|5|git]!environment"},
		{"env -i -u X -- A=1 nice -n 5 git", "env[-i|-u|X|--|A=1|nice|-n|5|git]!environment> nice[-n|5|git]!environment> git!environment"},
		{"env -S 'git push' x", "env[-S|git push|x]> env[git|push|x]> git[push|x]"},
		{"env", "env"},
		{"env A=1", "env[A=1]!environment"},
		{"sudo -Eu root -- git push", "sudo[-Eu|root|--|git|push] git[push]"},
		{"timeout --sig KILL 5 git", "timeout[--sig|KILL|5|git]> git"},
		{"command -v git", "command[-v|git]"},
		{"command -p git", "command[-p|git]> git"},
		{"xargs -n 1 git push", "xargs[-n|1|git|push]!argument git[push]!argument"},
		{"xargs -I% git push %", "xargs[-I%|git|push|%]!argument git[push|%]!argument"},
		{"xargs -I{} sh -c '{}'", "xargs[-I{}|sh|-c|{}]!argument sh[-c|{}]!variable {}"},
		{"xargs env", "xargs[env]!argument env!argument> {}!variable"},
		{"xargs sh -c", "xargs[sh|-c]!argument sh[-c]!stdin"},
		{"find . -exec git push {} + -ok rm {} \\;", "find[.|-exec|git|push|{}|+|-ok|rm|{}|;] git[push|{}]!argument rm[{}]!argument"},
		{"ssh -p 22 me@host -v git push", "ssh[-p|22|me@host|-v|git|push] git[push]"},
		{"ssh host -- git push", "ssh[host|--|git|push] git[push]"},
		{"trap -- 'git push' EXIT; trap -p", "trap[--|git push|EXIT] git[push] trap[-p]"},
		{"su -c 'git push' me", "su[-c|git push|me] git[push]"},
		{"su - me -c 'git push'", "su[-|me|-c|git push] git[push]"},
		{"busybox sh -c a", "busybox[sh|-c|a]!program"},
		{"eval 'git push' --force", "eval[git push|--force] git[push|--force]"},
		{"eval \"git $X\"", "eval[git $X]!eval git[$X]!argument"},
		{"alias g='git push'; trap 'a b' EXIT", "alias[g=git push]!eval git[push] trap[a b|EXIT] a[b]"},
		// Shells.
		{"sh -c 'a; b'", "sh[-c|a; b] a b"},
		{"bash -euxc 'a' x -c", "bash[-euxc|a|x|-c] a"},
		{"bash --norc -o pipefail -c a", "bash[--norc|-o|pipefail|-c|a] a"},
		{"bash -co pipefail a", "bash[-co|pipefail|a] a"},
		{"bash -c \"$X\"", "bash[-c|$X]!variable $X!variable"},
		{"sh -c 'sh -c \"git push\"'", "sh[-c|sh -c \"git push\"] sh[-c|git push] git[push]"},
		{"sh x.sh; . y; source z", "sh[x.sh]!script .[y]!script source[z]!script"},
		{"curl x | sh -s a", "curl[x] sh[-s|a]!stdin"},
		{"echo 'git\\x20push' | sh; printf 'git %s' push | sh", `echo[git\x20push] sh!stdin gitx20push printf[git %s|push] sh!stdin git[%s|push]`},
		{". <(git push); source /dev/stdin <<< 'git push'", ".[<(git push)]!variable git[push] source[/dev/stdin] git[push]"},
		{"find -x . -exec a \\;; fd -x b", "find[-x|.|-exec|a|;] a fd[-x|b] b"},
		{"timeout 5 A=1 git", "timeout[5|A=1|git]> A=1[git] git"},
		{"time -v git", "time[-v|git]> git -v[git]"},
		{"curl x | sh", "curl[x] sh!stdin"},
		{"sh <<'E'\ngit push\nE", "sh git[push]"},
		{"sh <<E\ngit $X\nE", "sh!stdin git[$X]!argument"},
		{"sh <<< 'git push'", "sh git[push]"},
		{"echo git push | sh", "echo[git|push] sh git[push]"},
		{"fish -c 'git push'", "fish[-c|git push]!code git[push]"},
		// Code.
		{"python3 -c x; python -m http.server; python x.py -c", "python3[-c|x]!code python[-m|http.server] python[x.py|-c]"},
		{"node -e x; perl -ne x; perl -Mre x.pl; ruby -e x; php -r x", "node[-e|x]!code perl[-ne|x]!code perl[-Mre|x.pl] ruby[-e|x]!code php[-r|x]!code"},
		{"awk '{print}'; awk 'BEGIN{system(\"x\")}'", `awk[{print}] awk[BEGIN{system("x")}]!code`},
		{"python <<< x; node --version", "python!code node[--version]"},
		{"git -c alias.p='push --force' p", "git[-c|alias.p=push --force|p]!code"},
		// The word after -c is its value, or there is none.
		{"git -c", "git[-c]!environment"},
		{"git -c -C bisect run ls", "git[-c|-C|bisect|run|ls]!environment ls!environment"},
		// What does not parse. The shell runs the first line before it reads the second.
		{"git push\n)", "git[push] git[push]!syntax git[push]!syntax"},
		{"git push 'x", "git[push|x]!syntax"},
		{"repeat 2; do git push; done", "repeat[2] repeat[2]!syntax git[push]!syntax"},
	} {
		if got := shown(Read(c[0])); got != c[1] {
			t.Errorf("%q:\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

// Names: what a rule about git must know it by.
func TestNames(t *testing.T) {
	for word, want := range map[string]string{
		"git": "git", "/usr/bin/git": "/usr/bin/git git", "./x/Rscript": "./x/Rscript Rscript rscript", "GIT": "GIT git", "git.exe": "git.exe git",
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
		"(", "( ", "$(", "\"$(", "`", "{ ", "((", "$((", "$[", "x[", "${x:-", "${x/", "${x:", "$((a=", "((-", "((a?", "((a**", "if ", "while ", "! ", "a&&", "a|", "a;", "a||",
		"case x in x) ", "[[ ( ", "[[ ! ", "[[ a && ", "<(", "f() ", "function f ", "time ", "coproc ", "\"", "'", "a'b'", "\\", "a <<E\n", "<<a ", "a=(", "{a,", "{a,b}",
		"@(", "$'", "env ", "sh -c ", "sh -c '", "eval ", "env -S ", "xargs ", "$a ", "find -exec ", "for x in a; do ", "a\n", "#", "&", "=", "-", "let -", "a=$", "docker run ", "docker run a ", "`\\", "\\`\\\\", "git rebase -x ", "kubectl -- ",
	}
}

// A line that is built to be hard does not overflow the stack, takes a time that grows as its length, and is never seen
// less than in whole without saying so.
func TestFault_155_Hard(t *testing.T) {
	for _, part := range deep() {
		for _, end := range []string{"", " git push --force", "\ngit push --force"} {
			var took [2]time.Duration
			for i, size := range []int{maxLength / 32, maxLength / 8} {
				line := strings.Repeat(part, size/len(part)) + end
				took[i] = cputime.Of(func() { Read(line) })
			}
			if took[1] > 3*time.Second || took[1] > 16*took[0]+300*time.Millisecond {
				t.Errorf("%q: %s for a quarter of the text, %s for all", part, took[0], took[1])
			}
		}
		if line := strings.Repeat(part, maxLength/len(part)+2); !slices.ContainsFunc(Read(line), func(c Command) bool { return c.Unseen == Length }) {
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
		seen := slices.ContainsFunc(all, func(c Command) bool { return c.Word == "git" && slices.Contains(c.Args, "push") })
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
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z '"\\$`+"`"+`!*?~{},#;&|()<>=-]{0,8}`), 1, 6).Draw(t, "words")
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
	for _, s := range spellings() {
		f.Add(s, "git")
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

// spellings are ways to write one command, git push --force.
func spellings() []string {
	return []string{
		"git push --force", "cd . && git push --force", "true; git push --force", "true | git push --force", "false || git push --force", "true & git push --force",
		"true\ngit push --force", "(git push --force)", "{ git push --force; }", "( ( { (git push --force) } ) )", "! git push --force",
		"if true; then git push --force; fi", "if git push --force; then :; fi", "if false; then :; else git push --force; fi",
		"for i in 1; do git push --force; done", "while git push --force; do break; done", "until git push --force; do :; done",
		"case x in x) git push --force;; esac", "f() { git push --force; }; f", "function f { git push --force; }; f",
		"echo $(git push --force)", "echo `git push --force`", "echo \"$(git push --force)\"", "echo \"`git push --force`\"", "x=$(git push --force)", "echo ${x:-$(git push --force)}",
		"cat <(git push --force) >/dev/null", "echo $(( $(git push --force; echo 1) ))", "[[ -z $(git push --force) ]]", "cat <<E\n$(git push --force)\nE", "cat <<< \"$(git push --force)\"",
		"sh -c 'git push --force'", "bash -lc 'git push --force'", "bash -euxc 'git push --force'", "bash -c 'cd . && git push --force' x y", "bash --norc -o pipefail -c 'git push --force'",
		"bash -co pipefail 'git push --force'", "sh -c 'sh -c \"git push --force\"'", "sh <<'E'\ngit push --force\nE", "sh <<E\ngit push --force\nE", "sh <<< 'git push --force'",
		"echo git push --force | sh", "printf 'git push --force\\n' | bash -s", "cat <<E | sh\ngit push --force\nE", "eval git push --force", "eval 'git push' \"--force\"", "bash -c \"eval 'git push --force'\"",
		"env git push --force", "env -i PATH=\"$PATH\" OUT=\"$OUT\" git push --force", "env A=1 B=2 git push --force", "env -S 'git push --force'", "env -u HOME -- git push --force", "A=1 git push --force",
		"command git push --force", "command -p -- env git push --force", "builtin command git push --force", "exec git push --force", "nohup git push --force", "time git push --force",
		"time -p git push --force", "nice -n 1 git push --force", "nice -1 nohup env git push --force", "timeout 9 git push --force", "timeout --signal=KILL -k 1 9 git push --force",
		"xargs git push --force < /dev/null", "echo x | xargs -I{} git push --force", "echo x | xargs -n 1 -- git push --force", "echo x | xargs sh -c 'git push --force'",
		"find . -maxdepth 0 -exec git push --force \\;", "find . -maxdepth 0 -execdir git push --force {} +", "find . -maxdepth 0 -exec sh -c 'git push --force' \\;", "coproc git push --force; wait", "trap 'git push --force' EXIT",
		"\"git\" 'push' \"--force\"", "g''it pu\"s\"h --for'ce'", `\git \push \--force`, `g\it pu\sh --f\orce`, `$'gi\x74' $'\160ush' $'--force'`, "$'git' push $'\\u002d-force'", "$\"git\" push --force",
		"git pu\\\nsh --force", "{git,push,--force}", "git {push,--force}", "git push --{force,tags}", "git push --for{ce,}", "git push '-'-force", "git\tpush\t--force", "  git   push   --force  ",
		">/dev/null git push --force", "git >/dev/null push 2>&1 --force", "git push </dev/null --force # x", "# x\ngit push --force", "A=(1 2); git push --force",
		"/./$PWD/bin/git push --force; ./git push --force", "bin/git push --force", "git -C . push origin --force", "export A=$(git push --force)", "local_x=1; let 'a=1'; git push --force",
		"true && true && true || git push --force; git push --force", "git push --force & wait", "git push --force\n)",
	}
}

// harmless are lines that run no git push --force.
func harmless() []string {
	return []string{
		"git push", "echo git push --force", "echo \"git push --force\"", "git commit -m \"push --force\"", "# git push --force", "grep -- --force x", "echo 'x; git push --force'",
		"git log --grep='git push --force'", "cat <<'E'\ngit push --force\n$(git push --force)\nE", "printf '%s' 'sh -c \"git push --force\"'", "git push; echo --force", "git push && rm --force x",
		"echo \\; git push --force", "echo \"\\$(git push --force)\"", "echo '$(git push --force)'", "git push # --force", "git status; git push origin main", "x='git push --force'",
		"sh -c 'echo git push --force'", "command -v git push --force", "env echo git push --force", "echo git push | grep -c force", "test -f git && echo --force", "git stash push -m force",
		"echo {git,push,--force}", "false && : git push --force", "git add . && git commit -m x && git push", "[[ git == push ]]", "for f in git push --force; do echo $f; done", "case git in push) : --force;; esac",
	}
}

// composed are commands within commands: every two of some ways to run one. Many are not shell.
func composed() []string {
	ways := []func(string) string{
		func(s string) string { return "env A=1 " + s }, func(s string) string { return "sh -c " + quote(s) }, func(s string) string { return "(" + s + ")" },
		func(s string) string { return "{ " + s + "\n}" }, func(s string) string { return "echo \"$(" + s + ")\"" }, func(s string) string { return "nice " + s },
		func(s string) string { return "cd . && " + s }, func(s string) string { return "if ! " + s + "; then :; fi" }, func(s string) string { return "eval " + quote(s) },
		func(s string) string { return "xargs " + s + " </dev/null" }, func(s string) string { return "time " + s }, func(s string) string { return "bash <<'E'\n" + s + "\nE" },
		func(s string) string { return "echo `" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s) + "`" }, func(s string) string { return "for x in 1 2; do " + s + " $x; done" },
		func(s string) string { return "find . -maxdepth 0 -exec " + s + " \\;" }, func(s string) string { return "f() { " + s + " \"$@\"; }; f a 'b c'" },
	}
	var all []string
	for _, outer := range ways {
		for _, inner := range ways {
			if line := outer(inner("git push --force")); !strings.Contains(line, "xargs bash") { // which runs the script ./git
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
	if len(spellings()) < 60 || len(harmless()) < 30 {
		t.Errorf("%d spellings, %d harmless lines", len(spellings()), len(harmless()))
	}
	for _, line := range spellings() {
		if all := Read(line); !slices.ContainsFunc(all, forced) {
			t.Errorf("%s\n  %s", line, shown(all))
		}
	}
	for _, line := range harmless() {
		if all := Read(line); slices.ContainsFunc(all, forced) {
			t.Errorf("%s\n  %s", line, shown(all))
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
		t.Skip("its shells are not there")
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
		lines := append(spellings(), harmless()...)
		if name == "bash" {
			lines = append(lines, composed()...)
		}
		for _, line := range lines {
			if name == "dash" && strings.Contains(line, "{") && strings.Contains(line, ",") {
				continue // it expands no braces
			}
			out := filepath.Join(dir, "out")
			if err := os.WriteFile(out, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program, "-c", line)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + dir, "OUT=" + out, "LC_ALL=C.UTF-8"}
			_ = cmd.Run() // many end with a failure
			written, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			all := Read(line)
			for _, argv := range bytes.Split(bytes.TrimSuffix(written, []byte("\n")), []byte("\n")) {
				if len(argv) == 0 {
					continue
				}
				args := strings.Split(strings.TrimSuffix(string(argv), "\x00"), "\x00")
				if slices.Contains(args, "--force") {
					ran++
				}
				if !slices.ContainsFunc(all, func(c Command) bool {
					return slices.Contains(c.Names(), "git") && (slices.Equal(c.Args, args) || c.Unseen == Argument && begins(args, c.Args))
				}) {
					t.Errorf("%s ran git %q of\n%s\nand seen was %s", name, args, line, shown(all))
				}
			}
			if slices.Contains(harmless(), line) && bytes.Contains(written, []byte("push\x00--force")) {
				t.Errorf("%s: this is not harmless: %s", name, line)
			}
			if login := strings.Contains(line, "-lc"); name == "bash" && !login && slices.Contains(spellings(), line) && !bytes.Contains(written, []byte("--force\x00")) {
				t.Errorf("bash runs no push --force of the spelling %s: %q", line, written)
			}
		}
		if ran < 60 {
			t.Errorf("%s ran %d of the spellings", name, ran)
		}
	}
}
