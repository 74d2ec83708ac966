package shell

import (
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// set marks the commands from an index of the list on as having a variable set.
func (r *reader) set(from int) {
	for i := from; i < len(r.out); i++ {
		c := &r.out[i]
		c.Set = true
		if c.Unseen == "" {
			c.Unseen = Environment
		}
	}
}

// reaches reports whether programs or the shell itself may read a variable that is only set in the shell: variables
// of the environment have capitals by custom, and zsh's own lists are in lower case.
func reaches(name string) bool {
	return strings.ToLower(name) != name || strings.HasPrefix(name, "npm_") || strings.HasSuffix(name, "_proxy") ||
		slices.Contains([]string{"path", "fpath", "module_path", "manpath", "prompt", "precmd_functions",
			"preexec_functions", "chpwd_functions"}, name)
}

// shells lists a shell's own constructs: export, let, [[ ]], and code in arithmetic and in variables.
func (r *reader) shells(src string, n syntax.Node) {
	switch n := n.(type) {
	case *syntax.DeclClause: // export, local and the like, which are programs of the shell
		c := Command{Word: n.Variant.Value}
		for _, a := range n.Args {
			c.Args = append(c.Args, text(src, a))
			r.sets = r.sets || a.Name != nil && a.Value != nil && (c.Word != "local" || reaches(a.Name.Value))
		}
		r.out = append(r.out, c)
	case *syntax.LetClause:
		c := Command{Word: "let", Unseen: latent(n)}
		for _, x := range n.Exprs {
			c.Args = append(c.Args, text(src, x))
		}
		r.out = append(r.out, c)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.Assign:
		if why := latent(n); why != "" {
			r.out = append(r.out, Command{Unseen: why})
		}
	case *syntax.ParamExp:
		// ${x@P} runs the content of x
		if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word != nil && n.Exp.Word.Lit() == "P" {
			r.out = append(r.out, Command{Unseen: Eval})
		}
	case *syntax.WordIter:
		r.sets = r.sets || reaches(n.Name.Value)
	}
}

// backquotes reads a substitution in backquotes with backslashes, as a shell does: it removes them, and reads the rest
// as a script. The parser keeps some consecutive ones. It is false for any other substitution, which the tree has.
func (r *reader) backquotes(src string, n *syntax.CmdSubst) bool {
	script := text(src, n)
	if !n.Backquotes || len(script) < 2 || !strings.Contains(script, `\`) {
		return false
	}
	script = script[1 : len(script)-1]
	pairs := []string{`\\`, `\`, "\\`", "`", `\$`, "$"}
	scripts := []string{strings.NewReplacer(pairs...).Replace(script)}
	if strings.Contains(script, `\"`) { // removed as well where all is in double quotes
		scripts = append(scripts, strings.NewReplacer(append(pairs, `\"`, `"`)...).Replace(script))
	}
	for _, s := range scripts {
		if why := r.script(s); why != "" {
			r.rough(s, why)
		}
	}
	return true
}

// latent is Eval if a quoted string contains a substitution. The shell runs that when it evaluates the string again:
// [[ -v 'a[$(git push)]' ]], x='a[$(git push)]'; (( x )).
func latent(n syntax.Node) string {
	why := ""
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst: // read by themselves
			return false
		case *syntax.SglQuoted:
			if substitutes(n.Value) {
				why = Eval
			}
		case *syntax.Lit:
			if substitutes(strings.ReplaceAll(n.Value, `\`, "")) {
				why = Eval
			}
		}
		return true
	})
	return why
}

func substitutes(text string) bool {
	return strings.Contains(text, "$(") || strings.Contains(text, "`")
}

// builtin lists what the shell's own commands run, and what commands run that change the directory or root.
func (r *reader) builtin(name string, rest []word) (why string, ok bool) {
	has := func(options ...string) bool {
		return slices.ContainsFunc(rest, func(w word) bool {
			return slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(w.text, o) })
		})
	}
	switch name {
	case "test", "[", "read", "printf", "unset", "wait":
		for _, w := range rest {
			if i := strings.IndexByte(w.text, '['); w.whole && i >= 0 && substitutes(w.text[i:]) {
				return Eval, true
			}
		}
	case "mapfile", "readarray":
		return r.option(rest, "C"), true
	case "compgen", "complete":
		if has("-C", "-W", "-F") {
			return Eval, true
		}
	case "hash":
		if has("-p") {
			return Eval, true
		}
	case "fc", "bind", "zle", "enable", "zmodload", "history":
		if len(rest) > 0 {
			return Eval, true
		}
	case "emulate":
		return r.option(rest, "c"), true
	case "jobs":
		if len(rest) > 0 && rest[0].text == "-x" {
			r.run(rest[1:], nil)
		}
	case "zpty", "sched", "at", "batch", "crontab", "tmux", "screen":
		return Code, true
	}
	if slices.Contains(containers, name) {
		return r.container(name, rest), true
	}
	return "", false
}

// containers are programs that run a command in another place.
var containers = []string{"docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "docker-compose"}

// container lists the command that a program runs elsewhere, after -- or after exec and run. How many words are the
// program's own is unknown, so each word could be the command.
func (r *reader) container(name string, rest []word) string {
	if i := slices.IndexFunc(rest, func(w word) bool { return w.text == "--" }); i >= 0 {
		r.run(rest[i+1:], nil)
		return arguments(rest)
	}
	i := slices.IndexFunc(rest, func(w word) bool { return w.text == "exec" || w.text == "run" })
	if i < 0 || name == "kubectl" || name == "oc" || name == "lxc" {
		return arguments(rest)
	}
	for rest = rest[i+1:]; len(rest) > 0 && strings.HasPrefix(rest[0].text, "-"); {
		rest = rest[1:]
	}
	for i := 1; i < min(len(rest), maxWrappers); i++ {
		if strings.HasPrefix(rest[i].text, "-") {
			continue
		}
		if r.budget -= 64 + len(rest) - i; r.budget < 0 {
			return Length
		}
		r.run(rest[i:], nil)
	}
	return Code
}

// givers are programs that run the value of an option, by the beginnings of those options.
var givers = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"tar": {"--checkpoint-action", "--to-command", "--use-compress-program", "-I", "--info-script",
			"--new-volume-script", "--rsh-command", "-F"},
		"bsdtar": {"--use-compress-program"}, "make": {"--eval", "-f-", "-f/dev/", "--file=-"},
		"gmake": {"--eval", "-f-", "-f/dev/", "--file=-"},
		"split": {"--filter"}, "sort": {"--compress-program"}, "install": {"--strip-program"},
		"rsync": {"-e", "--rsh", "--rsync-path"},
		"scp":   {"-oProxyCommand", "-oLocalCommand", "-S"}, "sftp": {"-oProxyCommand", "-S"},
		"man": {"-P", "--pager", "-H"}, "zip": {"-TT", "--unzip-command"},
		"vim": {"-c", "--cmd", "+", "-S", "-es"}, "vi": {"-c", "--cmd", "+"}, "nvim": {"-c", "--cmd", "+", "-S", "-es"},
		"ex": {"-c", "+"}, "view": {"-c", "+"},
		"less": {"+"}, "more": {"+"}, "emacs": {"--eval", "--execute", "-eval", "--batch", "-batch"},
		"gdb": {"-ex", "--ex", "-iex", "--eval-command"},
		"npx": {"-c", "--call"}, "npm": {"-c", "--call"}, "cargo": {"--config"},
		"go": {"-exec", "-toolexec", "--exec", "--toolexec"},
	}
})

// given says whether a program is given a command in an option, or sed in its script.
func given(name string, rest []word) string {
	options := givers()[name]
	for i, w := range rest {
		switch {
		case slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(w.text, o) }):
			return Code
		case len(options) > 0 && (name == "make" || name == "gmake") && i > 0 && rest[i-1].text == "-f" &&
			(w.text == "-" || descriptor(w.text)):
			return Code
		case (name == "scp" || name == "sftp") && i > 0 && rest[i-1].text == "-o" &&
			strings.Contains(strings.ToLower(w.text), "command"):
			return Code
		case (name == "sed" || name == "gsed") && executes(w.text):
			return Code
		}
	}
	if mayRun(name, rest) {
		return Program
	}
	return arguments(rest)
}

// executes reports whether a script of sed may have GNU's command e, or its flag.
func executes(script string) bool {
	for i, c := range []byte(script) {
		if c != 'e' {
			continue
		}
		before, behind := byte(';'), byte(';')
		if i > 0 {
			before = script[i-1]
		}
		if i+1 < len(script) {
			behind = script[i+1]
		}
		// After an address or a delimiter with flags, and not within a word.
		if strings.IndexByte("0123456789$/|#,;{}! \ngpmMiI", before) >= 0 &&
			strings.IndexByte("; \n}gpmMiI", behind) >= 0 && (before != ' ' || i < 2) {
			return true
		}
	}
	return false
}

// git lists the commands in its arguments, and says whether they define more of them.
func (r *reader) git(at int, rest []word) string {
	why := arguments(rest)
	i := 0
	for ; i < len(rest) && strings.HasPrefix(rest[i].text, "-"); i++ {
		option := rest[i].text
		name, _, _ := strings.Cut(option, "=")
		switch name {
		case "-c":
			if i++; i < len(rest) && strings.HasPrefix(strings.ToLower(rest[i].text), "alias.") {
				why = Code
			}
			defer r.set(at)
		case "--config-env", "--exec-path":
			defer r.set(at)
		}
		if slices.Contains([]string{
			"-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix",
		}, option) {
			i++
		}
	}
	if i >= len(rest) {
		return why
	}
	command, rest := rest[i].text, rest[i+1:]
	if gitGiven(command, rest) {
		return Code
	}
	script := func(w word) {
		if failed := r.join([]word{w}, Variable); failed != "" {
			why = failed
		}
	}
	switch command {
	case "bisect":
		if len(rest) > 1 && rest[0].text == "run" {
			r.run(rest[1:], nil)
		}
	case "submodule":
		if at := slices.IndexFunc(rest, func(w word) bool { return w.text == "foreach" }); at >= 0 {
			for at++; at < len(rest) && strings.HasPrefix(rest[at].text, "-"); at++ {
			}
			if failed := r.join(rest[at:], Variable); failed != "" {
				why = failed
			}
		}
	case "rebase", "difftool":
		for k, w := range rest {
			value, long := strings.CutPrefix(w.text,
				map[string]string{"rebase": "--exec=", "difftool": "--extcmd="}[command])
			switch {
			case long:
				script(word{text: value, whole: w.whole})
			case (w.text == "-x" || w.text == "--exec" || w.text == "--extcmd") && k+1 < len(rest):
				script(rest[k+1])
			case strings.HasPrefix(w.text, "-x") && len(w.text) > 2:
				script(word{text: w.text[2:], whole: w.whole})
			}
		}
	}
	return why
}

// gitGivers are the options by which commands of git are given a program to run, as its manual lists them.
var gitGivers = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"clone": {"--upload-pack", "--template", "--config"}, "fetch": {"--upload-pack"}, "pull": {"--upload-pack"},
		"ls-remote": {"--upload-pack", "--exec"}, "fetch-pack": {"--upload-pack", "--exec"},
		"push": {"--receive-pack", "--exec"}, "send-pack": {"--receive-pack", "--exec"}, "archive": {"--exec"},
		"grep": {"--open-files-in-pager"}, "init": {"--template"}, "daemon": {"--access-hook"},
		"send-email": {"--sendmail-cmd", "--smtp-server", "--to-cmd", "--cc-cmd", "--header-cmd"},
		"instaweb":   {"--httpd", "--browser"}, "merge": {"--strategy"}, "rebase": {"--strategy"},
	}
})

// gitGiven reports whether a command of git is given a program to run, by an option or a URL such as ext::sh.
func gitGiven(command string, rest []word) bool {
	if command == "filter-branch" {
		return true
	}
	for _, w := range rest {
		option, _, _ := strings.Cut(w.text, "=")
		short, isShort := strings.CutPrefix(option, "-")
		switch {
		case strings.HasPrefix(w.text, "ext::"), strings.Contains(w.text, "=ext::"):
			return true
		case strings.HasPrefix(option, "--"):
			if len(option) > 3 && slices.ContainsFunc(gitGivers()[command], func(o string) bool {
				return strings.HasPrefix(o, option)
			}) {
				return true
			}
		case !isShort:
		case command == "clone" && strings.ContainsAny(short, "uc"),
			(command == "merge" || command == "rebase") && strings.HasPrefix(short, "s"):
			return true
		case command == "grep":
			if i := strings.IndexAny(short, "OefABCm"); i >= 0 && short[i] == 'O' {
				return true
			}
		}
	}
	return false
}

// interactive reports whether sudo or doas is to start a shell.
func (r *reader) interactive(w *wrapper, rest []word) bool {
	shell := false
	for {
		o, ok := w.option(rest)
		if rest = o.rest; !ok {
			break
		}
		shell = shell || o.name == "shell" || o.name == "login" || len(o.name) < 4 && strings.ContainsAny(o.name, "si")
	}
	for len(rest) > 0 && strings.Contains(rest[0].text, "=") {
		rest = rest[1:]
	}
	return shell && len(rest) == 0
}

// split returns the words of env -S. Its escapes for separators are spaces; \c ends the text.
func split(w word) []word {
	spaced := strings.NewReplacer(`\\`, `\\`, `\c`, " #",
		`\_`, " ", `\f`, " ", `\n`, " ", `\r`, " ", `\t`, " ", `\v`, " ")
	var all []word
	for _, t := range Tokens(spaced.Replace(w.text)) {
		all = append(all, word{text: t.Text, whole: w.whole && !strings.Contains(t.Text, "$")})
	}
	return all
}
