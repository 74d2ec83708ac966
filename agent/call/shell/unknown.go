package shell

import (
	"slices"
	"strings"
)

// mayRun reports whether an unlisted program may run another one: its words contain one, or that is its purpose.
func mayRun(name string, rest []word) bool {
	_, described := givers()[name]
	if described || strings.HasPrefix(name, "-") || slices.Contains(quiet, name) || isKnown(name) {
		return false
	}
	return slices.Contains(launchers, name) || strings.HasPrefix(name, "ld-") ||
		slices.ContainsFunc(rest, func(w word) bool {
			return slices.ContainsFunc(strings.FieldsFunc(w.text, func(r rune) bool {
				return strings.ContainsRune(" \t\n;&|()=", r)
			}), isKnown)
		})
}

// launchers are programs that run another one, in ways that are not read here.
var launchers = []string{
	"arch", "busybox", "caffeinate", "choom", "chroot", "chrt", "cpulimit", "dbus-run-session", "entr", "faketime",
	"fakeroot", "firejail", "flock", "hyperfine", "ionice", "linux32", "linux64", "ltrace", "nocorrect", "noglob",
	"nsenter", "parallel", "pipesz", "pkexec", "prlimit", "proxychains", "proxychains4", "rlwrap", "runuser",
	"script", "setarch", "setpriv", "setsid", "start-stop-daemon", "stdbuf", "strace", "systemd-run", "taskset",
	"torsocks", "toybox", "uclampset", "unbuffer", "unshare", "watch", "xvfb-run", "capsh",
}

// quiet are programs that often have another program's name as an argument, and run none.
var quiet = []string{
	":", "true", "false", "echo", "printf", "test", "[", "export", "unset", "read", "cd", "pushd", "mkdir", "rmdir",
	"touch", "ls", "cat", "tac", "head", "tail", "wc", "stat", "file", "tree", "cp", "mv", "rm", "ln", "chmod",
	"chown", "kill", "pkill", "killall", "pgrep", "grep", "egrep", "rg", "ag", "diff", "cmp", "tr", "cut", "sort",
	"uniq", "tee", "which", "whereis", "whence", "type", "hash", "whatis", "apropos", "basename", "dirname", "curl",
	"wget", "jq", "apt", "apt-get", "apt-cache", "dpkg", "brew", "dnf", "yum", "apk", "pacman", "pip", "pip3",
	"gem", "pnpm", "yarn",
}

// risky are more programs that rules often name, in addition to the other tables.
var risky = []string{
	"aws", "az", "chmod", "chown", "curl", "dd", "eval", "find", "gcloud", "gh", "git", "gsed", "helm", "kill",
	"mkfs", "rm", "scp", "sed", "shred", "terraform", "tofu", "wget",
}

// isKnown reports whether a word is the name of a program in the tables. A relative path is a file's.
func isKnown(word string) bool {
	if strings.Contains(word, "/") && !strings.HasPrefix(word, "/") {
		return false
	}
	name := name(word)
	_, wraps := wrappers()[name]
	_, runsCode := interpreters()[strings.TrimRight(name, "0123456789.-")]
	return wraps || runsCode || shells(name) || slices.Contains(containers, name) || slices.Contains(risky, name)
}
