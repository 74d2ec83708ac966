package shell

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// A wrapper is a program that runs another, which is named after its options.
type wrapper struct {
	short   string   // letters of options whose value may be the next word
	long    []string // and long options; "--sig" is "--signal", as GNU's programs have it
	own     int      // how many of its own words come before the program
	assigns bool     // and settings of variables
	through bool     // see Command.Through
	joined  bool     // what it runs is a script: its words, joined by spaces
	late    bool     // options may be after its own words
	fills   bool     // it adds arguments that are not in the line
	starts  bool     // without a program it starts a shell
}

// wrappers are those that are known, except for shells, su, find and eval.
var wrappers = sync.OnceValue(func() map[string]wrapper {
	return map[string]wrapper{
		"env": {short: "uCSaP", long: []string{"unset", "chdir", "split-string", "argv0"},
			assigns: true, through: true},
		"time":       {short: "fo", long: []string{"format", "output"}, through: true},
		"nice":       {short: "n", long: []string{"adjustment"}, through: true},
		"nohup":      {through: true},
		"timeout":    {short: "sk", long: []string{"signal", "kill-after"}, own: 1, through: true},
		"gtimeout":   {short: "sk", long: []string{"signal", "kill-after"}, own: 1, through: true},
		"command":    {through: true},
		"builtin":    {through: true},
		"exec":       {short: "a", through: true},
		"setsid":     {through: true},
		"stdbuf":     {short: "ioe", long: []string{"input", "output", "error"}, through: true},
		"ionice":     {short: "cnpPu", long: []string{"class", "classdata", "pid", "pgid", "uid"}, through: true},
		"chrt":       {short: "TPD", own: 1},
		"taskset":    {own: 1},
		"caffeinate": {short: "tw"},
		"noglob":     {through: true}, // zsh's
		"nocorrect":  {through: true},
		"-":          {through: true},
		"repeat":     {own: 1},
		"coproc":     {through: true},
		"sudo": {short: "ugpCDhRrtTU", long: []string{
			"user", "group", "prompt", "close-from", "chdir", "host", "chroot", "role", "type",
			"command-timeout", "other-user",
		}, assigns: true},
		"doas":    {short: "uCa"},
		"runuser": {short: "ugGcs", long: []string{"user", "group", "supp-group", "command", "shell"}, starts: true},
		"pkexec":  {long: []string{"user"}},
		"chroot":  {long: []string{"userspec", "groups"}, own: 1, starts: true},
		"unshare": {short: "RSGw", long: []string{
			"root", "wd", "setuid", "setgid", "propagation", "map-user", "map-group", "map-users", "map-groups",
			"setgroups", "monotonic", "boottime",
		}, starts: true},
		"nsenter": {short: "tSG", long: []string{"target", "setuid", "setgid"}, starts: true},
		"prlimit": {short: "po", long: []string{"pid", "output"}},
		"choom":   {short: "np", long: []string{"adjust", "pid"}},
		"setpriv": {long: []string{
			"ambient-caps", "inh-caps", "bounding-set", "ruid", "euid", "rgid", "egid", "reuid", "regid",
			"groups", "securebits", "pdeathsig",
			"selinux-label", "apparmor-profile", "landlock-access", "landlock-rule", "seccomp-filter", "ptracer",
		}},
		"uclampset": {short: "mMp", long: []string{"pid"}},
		"cpulimit":  {short: "lpe", long: []string{"limit", "pid", "exe"}},
		"faketime":  {own: 1}, "pipesz": {short: "snf", long: []string{"set", "stdin", "stdout", "stderr"}},
		"setarch": {starts: true}, "linux32": {starts: true}, "linux64": {starts: true}, "i386": {starts: true},
		"i686": {starts: true}, "x86_64": {starts: true},
		"ld.so": {long: []string{"library-path", "preload", "audit", "argv0", "inhibit-rpath",
			"glibc-hwcaps-prepend", "glibc-hwcaps-mask"}},
		"strace": {short: "abeEIoOpPsSuUX"},
		"ltrace": {short: "aAeFlnopsuwx"},
		"flock":  {short: "wE", long: []string{"timeout", "wait", "conflict-exit-code"}, own: 1},
		"script": {short: "cEIBOTmo",
			long: []string{"command", "echo", "log-in", "log-out", "log-io", "log-timing", "output-limit"}, own: 1,
			starts: true},
		"systemd-run": {short: "pEuHMGt", long: []string{
			"property", "setenv", "unit", "host", "machine", "slice", "description", "uid", "gid", "nice",
			"working-directory", "on-active", "on-calendar",
		}},
		"unbuffer": {}, "fakeroot": {}, "torsocks": {}, "proxychains": {short: "f"}, "proxychains4": {short: "f"},
		"firejail": {}, "rlwrap": {}, "dbus-run-session": {}, "entr": {},
		"xvfb-run": {short: "efnpsw"}, "arch": {short: "de"},
		"busybox": {},
		"toybox":  {},
		"watch":   {short: "nqs", long: []string{"interval", "equexit", "shotsdir"}, joined: true},
		"hyperfine": {short: "wrmMpcSNuPDLns",
			long: []string{"warmup", "runs", "min-runs", "max-runs", "prepare", "cleanup", "shell"}, joined: true},
		"ssh": {short: "BbcDEeFIiJLlmOopQRSWw", own: 1, joined: true, late: true, starts: true},
		"xargs": {short: "aEILnPsdRJS", long: []string{
			"arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var",
		}, fills: true},
		"parallel": {short: "jPIaNnLsCdXS",
			long:   []string{"jobs", "max-procs", "arg-file", "max-args", "sshlogin", "colsep", "delay", "timeout"},
			joined: true, fills: true},
	}
})

// run lists a command, and what it runs. in is what it reads, if that is in the line.
func (r *reader) run(words []word, in *input) {
	if len(words) == 0 {
		return
	}
	first, rest := words[0], words[1:]
	at := len(r.out)
	r.out = append(r.out, Command{Word: first.text, Args: texts(rest), Unseen: arguments(rest)})
	if r.nested >= maxWrappers {
		r.out[at].Unseen = Depth
		return
	}
	r.nested++
	defer func() { r.nested-- }()
	if r.nested > 1 && Assigns(first.text) { // "timeout 5 A=1 git" runs A=1, but who writes it means git
		r.run(rest, in)
		return
	}
	if !first.whole {
		r.out[at].Unseen = Variable
		if first.gone { // $NOTHING git push
			r.run(rest, in)
		}
		return
	}
	if why := r.within(at, name(first.text), rest, in); why != "" {
		r.out[at].Unseen = why
	}
}

// within lists what the command at a place of the list runs. What it returns says why that is not seen.
func (r *reader) within(at int, name string, rest []word, in *input) string {
	w, known := wrappers()[name]
	switch {
	case shells(name):
		return r.shell(name, rest, in)
	case name == "eval":
		if len(rest) > 0 && rest[0].text == "--" {
			rest = rest[1:]
		}
		return r.join(rest, Eval)
	case name == "alias": // it runs nothing yet
		why := ""
		for _, a := range rest {
			if _, script, ok := strings.Cut(a.text, "="); ok {
				// a later line runs it by another name
				why = cmp.Or(r.join([]word{{text: script, whole: a.whole}}, Variable), why, Eval)
			}
		}
		return why
	case name == "trap":
		if len(rest) > 0 && rest[0].text == "--" {
			rest = rest[1:]
		}
		if len(rest) > 0 && !strings.HasPrefix(rest[0].text, "-") {
			return r.join(rest[:1], Variable)
		}
		return ""
	case name == "source" || name == ".":
		switch {
		case len(rest) > 0 && !rest[0].whole:
			return Variable
		case len(rest) > 0 && descriptor(rest[0].text) && in != nil:
			return r.join([]word{{text: in.text, whole: in.whole}}, Input)
		case len(rest) > 0 && descriptor(rest[0].text):
			return Input
		}
		return Script
	case name == "su" || name == "runuser" && !slices.ContainsFunc(rest, namesUser):
		if !slices.ContainsFunc(rest, namesCommand) {
			return r.shell("sh", nil, in)
		}
		return r.option(rest, "c", "command", "session-command")
	case name == "script" && slices.ContainsFunc(rest, hasC):
		return r.option(rest, "c", "command")
	case name == "find" || name == "gfind" || name == "fd" || name == "fdfind":
		r.find(name, rest)
		return ""
	case name == "git":
		return r.git(at, rest)
	// the architecture, which may be left out
	case name == "setarch" && len(rest) > 0 && !strings.HasPrefix(rest[0].text, "-"):
		rest = rest[1:]
	case strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl"):
		w, known = wrappers()["ld.so"], true
	case (name == "sudo" || name == "doas") && r.interactive(&w, rest):
		return r.shell("sh", nil, in)
	case !known:
		if why, ok := r.builtin(name, rest); ok {
			return why
		}
		return code(name, rest)
	}
	why := ""
	if name == "flock" || name == "watch" {
		done := false
		if why, done = r.alone(name, rest); done {
			return why
		}
	}
	if more := r.wrapped(at, name, &w, rest, in); more != "" {
		why = more
	}
	return why
}

// wrapped lists what a wrapper runs.
func (r *reader) wrapped(at int, name string, w *wrapper, rest []word, in *input) string {
	var fill string // what xargs replaces
	if w.fills {
		fill = "{}"
	}
	for {
		o, ok := w.option(rest)
		rest = o.rest
		if !ok {
			break
		}
		switch {
		case name == "command" && strings.ContainsAny(o.name, "vV"): // it asks where the program is, and runs nothing
			return ""
		case name == "env" && (o.name == "split-string" || strings.HasSuffix(o.name, "S")): // words in one
			if r.budget -= len(o.value.text); r.budget < 0 {
				return Length
			}
			rest = append(append([]word{{text: name, whole: true}}, split(o.value)...), rest...)
			r.out[at].Through = true
			r.run(rest, in)
			return ""
		case name == "xargs" &&
			(strings.HasSuffix(o.name, "I") || strings.HasSuffix(o.name, "J") || o.name == "replace") &&
			o.value.text != "":
			fill = o.value.text
		}
	}
	own := w.own
	for ; own > 0 && len(rest) > 0; own-- {
		rest = rest[1:]
	}
	if w.late {
		for more := true; more; {
			var o option
			o, more = w.option(rest)
			rest = o.rest
		}
	}
	for w.assigns && len(rest) > 0 && strings.Contains(rest[0].text, "=") {
		rest = rest[1:]
		defer r.set(at)
	}
	if len(rest) == 0 {
		switch {
		case w.fills:
			return Argument
		case w.starts:
			return r.shell("sh", nil, in)
		}
		return ""
	}
	if w.fills {
		return r.filled(name, w, rest, fill)
	}
	if w.joined {
		return r.join(rest, Variable)
	}
	r.out[at].Through = w.through
	r.run(rest, in)
	return ""
}

// filled lists what xargs or parallel runs, with arguments that are not in the line.
func (r *reader) filled(name string, w *wrapper, rest []word, fill string) string {
	if name == "parallel" {
		if i := slices.IndexFunc(rest, func(w word) bool { return strings.HasPrefix(w.text, ":::") }); i >= 0 {
			rest = rest[:i]
		}
	}
	words := slices.Clone(rest)
	replaced := false
	for i := range words {
		if strings.Contains(words[i].text, fill) {
			words[i].whole, replaced = false, true
		}
	}
	if w.joined {
		r.join(words, Variable)
		return Code // parallel has its own language
	}
	if !replaced {
		words = append(words, word{text: fill, added: true})
	}
	r.run(words, nil)
	return Argument
}

// join reads words as a script, joined by spaces. why is what is not seen, if they are not whole.
func (r *reader) join(rest []word, why string) string {
	var b strings.Builder
	whole := true
	for i, w := range rest {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
		whole = whole && w.whole
	}
	if failed := r.script(b.String()); failed != "" {
		return failed
	}
	if !whole {
		return why
	}
	return ""
}

// option reads the script that is the value of an option, as of su -c.
func (r *reader) option(rest []word, short string, long ...string) string {
	why := ""
	w := wrapper{short: short, long: long}
	for len(rest) > 0 {
		o, ok := w.option(rest)
		if rest = o.rest; !ok {
			rest = rest[min(1, len(rest)):]
			continue
		}
		if slices.Contains(long, o.name) || strings.HasSuffix(o.name, short) && o.value.text != "" {
			why = r.join([]word{o.value}, Variable)
		}
	}
	return why
}

// alone reads the arguments of flock, script and watch, which differ from the others. done means that there is no
// more.
func (r *reader) alone(name string, rest []word) (why string, done bool) {
	for i, w := range rest {
		script, long := strings.CutPrefix(w.text, "--command=")
		switch {
		case name == "watch" && (w.text == "-x" || w.text == "--exec"):
			r.run(rest[i+1:], nil)
			return "", true
		case name == "watch":
		case long:
			return r.join([]word{{text: script, whole: w.whole}}, Variable), false
		case w.text == "--command" ||
			strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.HasSuffix(w.text, "c"):
			// What follows it may be a script, or this is an option of the program that is run: "flock f cc -c x".
			if i+1 < len(rest) {
				return r.join(rest[i+1:i+2], Variable), false
			}
		}
	}
	return "", false
}

// find lists what find runs for each file: -exec PROGRAM … ; or +. fd has -x and -X.
func (r *reader) find(name string, rest []word) {
	runs := []string{"-exec", "-execdir", "-ok", "-okdir"}
	if strings.HasPrefix(name, "fd") {
		runs = []string{"-x", "-X", "--exec", "--exec-batch"}
	}
	for i := 0; i < len(rest); i++ {
		if !slices.Contains(runs, rest[i].text) {
			continue
		}
		words := []word{}
		for i++; i < len(rest) && rest[i].text != ";" && (rest[i].text != "+" || rest[i-1].text != "{}"); i++ {
			w := rest[i]
			if strings.Contains(w.text, "{}") {
				w.whole = false
			}
			words = append(words, w)
		}
		r.run(words, nil)
	}
}

// arguments says whether arguments are seen in full.
func arguments(rest []word) string {
	for _, w := range rest {
		if !w.whole {
			return Argument
		}
	}
	return ""
}

func texts(words []word) []string {
	all := make([]string, 0, len(words))
	for _, w := range words {
		if !w.added {
			all = append(all, w.text)
		}
	}
	return all
}

// An option is one at the beginning of some words.
type option struct {
	name  string // of a long one its name, else its letters up to the one that has the value
	value word
	rest  []word
}

// option reads an option. ok is false if there is none, or no more: rest is then what follows a --.
func (w *wrapper) option(words []word) (o option, ok bool) {
	if len(words) == 0 || !strings.HasPrefix(words[0].text, "-") {
		return option{rest: words}, false
	}
	text, rest := words[0].text[1:], words[1:]
	if text == "-" {
		return option{rest: rest}, false
	}
	wants := false
	if name, long := strings.CutPrefix(text, "-"); long {
		name, value, given := strings.Cut(name, "=")
		o.name, o.value = name, word{text: value, whole: words[0].whole}
		for _, l := range w.long {
			if strings.HasPrefix(l, name) {
				o.name, wants = l, !given
			}
		}
	} else if i := strings.IndexAny(text, w.short); i >= 0 {
		o.name, o.value = text[:i+1], word{text: text[i+1:], whole: words[0].whole}
		wants = o.value.text == ""
	} else {
		o.name = text
	}
	if wants && len(rest) > 0 {
		o.value, rest = rest[0], rest[1:]
	}
	o.rest = rest
	return o, true
}

// namesUser reports whether a word is runuser's option -u, with which the command is not one of a shell.
func namesUser(w word) bool {
	return strings.HasPrefix(w.text, "-u") || strings.HasPrefix(w.text, "--user")
}

// namesCommand reports whether a word is su's option for a command, or may be.
func namesCommand(w word) bool {
	return strings.HasPrefix(w.text, "-c") || strings.Contains(w.text, "command")
}

// hasC reports whether a word is script's option -c, perhaps among others.
func hasC(w word) bool { return strings.HasPrefix(w.text, "-") && strings.Contains(w.text, "c") }
