package shell

import (
	"slices"
	"strings"
	"testing"
)

// TestFault_155_Programs: what runs commands by an option, a setting, a descriptor or a second reading of a text. Real shells
// run git push --force for most of these.
func TestFault_155_Programs(t *testing.T) {
	for _, line := range []string{
		"echo \\\r\ngit push --force", "echo x\\\r\ngit push --force", "cat <<E\nE\r\ncat <<'F'\nE\ngit push --force\nF", "bash <<'E'\necho \\\r\ngit push --force\nE",
		"git push --force\r\n", "true\r\ngit push --force\r\n",
		"echo `echo \\`gi\\\\t pu\\\\\nsh --force\\``", "echo \"`echo \\\"\\`g\\\\it push --force\\`\\\"`\"", "echo `echo \\`git push $'\\\\x2d'-force\\``",
		`echo 'git push --force' | sh /dev/fd/0`,
		`echo 'git push --force' | sh /proc/self/fd/0`,
		`. /dev/fd/0 <<< 'git push --force'`,
		`bash /dev/fd/0 <<< 'git push --force'`,
		`bash /proc/self/fd/0 <<< 'git push --force'`,
		`bash <<< 'git push --force' 3<<< true`,
		`env -S 'git\_push\_--force'`,
		`env -S 'git\tpush --force'`,
		`env -S 'git\fpush\v--force'`,
		`env -S 'git push\c x' --force`,
		`env -S '"git"\_"push" --force'`,
		`env 1=2 git push --force`,
		`env A-B=2 git push --force`,
		`env A.B=2 git push --force`,
		`env é=2 git push --force`,
		`env "$A"=b git push --force`,
		`eval -- git push --force`,
		`zsh --emulate sh -c 'git push --force'`,
		`bash -c + 'git push --force'`,
		`bash -posix -c 'git push --force'`,
		`bash -login -c 'git push --force'`,
		`bash -noprofile -c 'git push --force'`,
		`bash -rcfile x -c 'git push --force'`,
		`mapfile -C 'git push --force #' -c 1 <<< x`,
		`readarray -C 'git push --force #' -c 1 <<< x`,
		`mapfile -c1 -C'git push --force #' <<< x`,
		`jobs -x git push --force`,
		`emulate sh -c 'git push --force'`,
		`emulate -R zsh -c 'git push --force'`,
		`git submodule foreach --recursive 'git push --force'`,
		`git rebase -x 'git push --force' main`,
		`git rebase --exec='git push --force' main`,
		`git bisect run git push --force`,
		`docker exec -it -u me c git push --force`,
		`docker run --rm -v a:b image git push --force`,
		`kubectl exec -it pod -c x -- git push --force`,
		`echo 'git push --force' | sudo -s`,
	} {
		if all := Read(line); !slices.ContainsFunc(all, forced) {
			t.Errorf("%s\n  %s", line, shown(all))
		}
	}
	for _, c := range [][2]string{
		{`bash /dev/fd/3 3<<< 'git push --force'`, "stdin"},
		{`alias g=git; g push --force`, "eval"},
		{`eval 'alias g="git push"'; eval 'g --force'`, "eval"},
		{`x='git push --force' bash -c '$x'`, "environment"},
		{`x='git push --force' bash -c 'eval $x'`, "environment"},
		{`x='git push --force' bash -c 'eval "$x"'`, "environment"},
		{`python3 -W ignore -c 'import os; os.system("git push --force")'`, "code"},
		{`python3 -X dev -c 'import os; os.system("git push --force")'`, "code"},
		{`python3 /dev/stdin <<< 'import os; os.system("git push --force")'`, "code"},
		{`python3 -m timeit -n1 -r1 'import os; os.system("git push --force")'`, "code"},
		{`perl -0777e 'exec qw(git push --force)'`, "code"},
		{`node -r fs -e 'require("child_process").execSync("git push --force")'`, "code"},
		{`node --require fs -e 'require("child_process").execSync("git push --force")'`, "code"},
		{`node -C x -e 'require("child_process").execSync("git push --force")'`, "code"},
		{`node --conditions x -e 'require("child_process").execSync("git push --force")'`, "code"},
		{`node --import 'data:text/javascript,import c from "child_process";c.execSync("git push --force")' f`, "code"},
		{`awk -f /dev/stdin <<< 'BEGIN{system("git push --force")}'`, "code"},
		{`sed -n '1e git push --force' /etc/passwd`, "code"},
		{`sed '1e git push --force' /etc/passwd`, "code"},
		{`echo x | sed 's/.*/git push --force/e'`, "code"},
		{`tar cf /dev/null f --checkpoint=1 --checkpoint-action=exec='git push --force'`, "code"},
		{`tar cf x f --use-compress-program='git push --force'`, "code"},
		{`tar cf x f -I 'git push --force'`, "code"},
		{`make -f /dev/stdin <<< 'x:; git push --force'`, "code"},
		{`make --eval='x:; git push --force' x`, "code"},
		{`make --eval='$(shell git push --force)'`, "code"},
		{`make -f - <<< 'x:; git push --force'`, "code"},
		{`split --filter='git push --force' /etc/passwd`, "code"},
		{`/lib64/ld-linux-x86-64.so.2 /bin/bash bin/git push --force`, "program"},
		{`complete -C 'git push --force' x`, "eval"},
		{`compgen -C 'git push --force' x`, "eval"},
		{`compgen -W '$(git push --force)'`, "eval"},
		{`compgen -F git x`, "eval"},
		{`PROMPT_COMMAND='git push --force' bash -i <<< :`, "environment"},
		{`PS1='$(git push --force)' bash --norc -i <<< :`, "eval"},
		{`PS4='$(git push --force)' bash -xc :`, "eval"},
		{`PS4='$(git push --force)'; set -x; :`, "eval"},
		{`BASH_ENV=<(echo git push --force) bash -c :`, "environment"},
		{`echo git push --force > x; BASH_ENV=x bash -c :`, "environment"},
		{`echo git push --force > x; ENV=./x sh -i <<< :`, "environment"},
		{`echo git push --force > .zshenv; ZDOTDIR=. zsh -c :`, "environment"},
		{`zmodload zsh/zpty; zpty a git push --force; sleep 0.2`, "code"},
		{`zpty -b a git push --force`, "code"},
		{`declare -n r=x; x=git; $r push --force`, "environment"},
		{`x='$(git push --force)'; echo "${x@P}"`, "eval"},
		{`x='a[$(git push --force)]'; echo $((x))`, "eval"},
		{`x='a[$(git push --force)]'; (( x ))`, "eval"},
		{`x='a[$(git push --force)]'; [[ x -eq 0 ]]`, "eval"},
		{`test -v 'a[$(git push --force)]'`, "eval"},
		{`[ -v 'a[$(git push --force)]' ]`, "eval"},
		{`[[ -v 'a[$(git push --force)]' ]]`, "eval"},
		{`unset 'a[$(git push --force)]'`, "eval"},
		{`read 'a[$(git push --force)]' <<< 1`, "eval"},
		{`printf -v 'a[$(git push --force)]' x`, "eval"},
		{`let 'a[$(git push --force)]=1'`, "eval"},
		{`declare 'a[$(git push --force)]=1'`, "eval"},
		{`export 'a[$(git push --force)]=1'`, "eval"},
		{`declare -i x='a[$(git push --force)]'`, "eval"},
		{`[[ 'a[$(git push --force)]' -eq 0 ]]`, "eval"},
		{`(( 'a[$(git push --force)]' ))`, "eval"},
		{`echo $(( a['$(git push --force)'] ))`, "eval"},
		{`history -s git push --force; fc -e - -1`, "eval"},
		{`hash -p bin/git foo; foo push --force`, "eval"},
		{`GIT_SSH_COMMAND=x git fetch`, "environment"},
		{`PATH=x; git log`, "environment"},
		{`env PATH=x git log`, "environment"},
		{`git -c core.sshCommand=x fetch`, "environment"},
		{`git --config-env=core.pager=X log`, "environment"},
		{`git -c alias.x=!y x`, "code"},
		{`tmux new -d 'git push --force'`, "code"},
		{`at now <<< 'git push --force'`, "code"},
		{`sudo -s <<< $X`, "stdin"},
		{`curl x | sudo -i`, "stdin"},
		{`curl x | su`, "stdin"},
		{`curl x | ssh host`, "stdin"},
		{`ssh host`, "stdin"},
		{`eval . /dev/stdin <<< 'git push --force'`, "stdin"},
		{`docker run x y`, "code"},
		{`script --com='git push --force' /dev/null`, "program"},
		{`script /dev/null -qc'git push --force'`, "program"},
		{`script -qc'git push --force' /dev/null`, "program"},
		{`echo 'git push --force' | script -q /dev/null`, "program"},
		{`unshare --map-user 0 git push --force`, "program"},
		{`setarch -R git push --force`, "program"},
		{`setarch x86_64 -R git push --force`, "program"},
		{`setarch --addr-no-randomize git push --force`, "program"},
		{`linux64 git push --force`, "program"},
		{`linux32 git push --force`, "program"},
		{`x86_64 git push --force`, "program"},
		{`i386 git push --force`, "program"},
		{`prlimit --nofile=10000 git push --force`, "program"},
		{`prlimit -n git push --force`, "program"},
		{`choom -n 0 -- git push --force`, "program"},
		{`choom -n 0 git push --force`, "program"},
		{`setpriv --nnp git push --force`, "program"},
		{`setpriv --no-new-privs -- git push --force`, "program"},
		{`uclampset git push --force`, "program"},
		{`/lib64/ld-linux-x86-64.so.2 /bin/bash -c 'git push --force'`, "program"},
		{`echo 'git push --force' | unshare -r`, "program"},
		{`watch -n 5 'a; git push'`, "program"},
		{`watch ./deploy`, "program"},
		{`flock f cc -c 'git push'`, "program"},
		{`busybox sh -c a`, "program"},
		{`parallel git push --force ::: x`, "program"},
		{`setsid -w git push --force`, "program"},
		{`stdbuf -oL git push --force`, "program"},
		{`ionice -c 3 git push --force`, "program"},
		{`my-wrapper -x --then rm -rf x`, "program"},
		{`my-wrapper --run='a && git push'`, "program"},
		{`my-wrapper /usr/bin/git push`, "program"},
		{`my-wrapper sudo -n true`, "program"},
	} {
		if all := Read(c[0]); !slices.ContainsFunc(all, func(x Command) bool { return x.Unseen == c[1] }) {
			t.Errorf("%s: not %s\n  %s", c[0], c[1], shown(all))
		}
	}
	for _, line := range []string{
		"sed -i 's/a/b/g' f", "sed -n '1,5p' f", "sed -e 's/the/e/' -e '/e/d' f", "docker ps", "docker build -t x .", "kubectl get pods", "tar xzf a.tgz", "make -j4 test",
		"node script.js -e", "node --test a.js", "python3 -m pytest -q", "python3 -W ignore x.py -c y", "test -f 'a[1]'", "read x", "x=1; let x=2", "printf '%s' x", "[[ -n x ]] && (( 1 + 1 ))",
		"for f in a b; do git add x; done", "git -C x log", "git rebase main", "history", "vim x", "rsync -a x y", "split -l 5 x", "go test ./...", "echo $'a\tb'", "local x=1", "x='a b'; ls",
		"echo git", "grep -r git .", "apt-get install -y git python3", "my-wrapper ls", "pytest tests/git", "gh pr create --title 'use git'", "mkdir node",
	} {
		for _, c := range Read(line) {
			if c.Unseen != "" || c.Set {
				t.Errorf("%s: %s", line, shown([]Command{c}))
			}
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

// TestUnseenPrograms: shells of other languages, and options of git that run a command, are not seen.
func TestUnseenPrograms(t *testing.T) {
	for line, want := range map[string]string{
		"csh": Code, "tcsh -c 'git push'": Code, "nu -c 'git push'": Code, "xonsh x.xsh": Code, "osh": Code,
		"echo 'git push' | tcsh": Code, "ipython3": Code, "psql -c '\\! git push'": Code, "sqlite3 db '.shell git push'": Code,
		"bash": Input, "zsh -i": Input, "python3": Code, "nu --version": "", "tcsh --help": "",
		"git fetch --upload-pack='sh -c x' origin": Code, "git fetch --upload-p x origin": Code, "git pull --upload-pack x": Code,
		"git ls-remote --exec=x origin": Code, "git push --receive-pack=x origin": Code, "git push --exec x": Code,
		"git grep -O'sh -c x' y": Code, "git grep -nOx y": Code, "git grep --open-files-in-pager=x y": Code,
		"git grep --open y": Code, "git clone -u x y": Code, "git clone --template=x y": Code, "git clone -c core.fsmonitor=x y": Code,
		"git clone 'ext::sh -c x'": Code, "git fetch ext::x": Code, "git remote add a ext::x": Code, "git archive --exec=x --remote=y": Code,
		"git merge -s x y": Code, "git rebase --strategy=x y": Code, "git filter-branch --tree-filter x": Code,
		"git send-email --sendmail-cmd=x y": Code, "git init --template x": Code,
		"git fetch origin": "", "git fetch -u origin": "", "git push --force": "", "git grep -n O y": "", "git grep -eO y": "",
		"git clone --depth 1 https://example.com/x": "", "git log --template": "", "git merge --no-ff x": "",
		"git commit -m ext::x": Code, "git grep -i x": "",
	} {
		got := ""
		for _, c := range Read(line) {
			if c.Word != "echo" && got == "" {
				got = c.Unseen
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
