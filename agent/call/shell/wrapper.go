package shell

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// A wrapper is a program that runs another, whose name follows the wrapper's options.
type wrapper struct {
	short   string   // letters of options whose value may be the next word
	long    []string // and long options; "--sig" is "--signal", as in GNU's programs
	own     int      // the number of the wrapper's words before the program
	assigns bool     // and settings of variables
	through bool     // see Command.Through
}

// wrappers are the wrappers that agents use, except for shells, su, find, ssh and eval.
var wrappers = sync.OnceValue(func() map[string]wrapper {
	return map[string]wrapper{
		"env": {short: "uCSaP", long: []string{"unset", "chdir", "split-string", "argv0"},
			assigns: true, through: true},
		"time":     {short: "fo", long: []string{"format", "output"}, through: true},
		"nice":     {short: "n", long: []string{"adjustment"}, through: true},
		"nohup":    {through: true},
		"timeout":  {short: "sk", long: []string{"signal", "kill-after"}, own: 1, through: true},
		"gtimeout": {short: "sk", long: []string{"signal", "kill-after"}, own: 1, through: true},
		"command":  {through: true},
		"builtin":  {through: true},
		"exec":     {short: "a", through: true},
		"sudo": {short: "ugpCDhRrtTU", long: []string{
			"user", "group", "prompt", "close-from", "chdir", "host", "chroot", "role", "type",
			"command-timeout", "other-user",
		}, assigns: true},
		"doas": {short: "uCa"},
		"ssh":  {short: "BbcDEeFIiJLlmOopQRSWw", own: 1},
		"xargs": {short: "aEILnPsdRJS", long: []string{
			"arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var",
		}},
	}
})

// run lists a command, and the commands that it runs. in is its input, if the line contains it.
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
	if r.nested > 1 && Assigns(first.text) { // "timeout 5 A=1 git" runs A=1, but the author meant git
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

// within lists the commands that the command at an index runs. It returns why some are not seen.
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
	case name == "su":
		if !slices.ContainsFunc(rest, func(w word) bool {
			return strings.HasPrefix(w.text, "-c") || strings.Contains(w.text, "command")
		}) {
			return r.shell("sh", nil, in)
		}
		return r.option(rest, "c", "command", "session-command")
	case name == "find" || name == "gfind" || name == "fd" || name == "fdfind":
		r.find(name, rest)
		return ""
	case name == "git":
		return r.git(at, rest)
	case (name == "sudo" || name == "doas") && r.interactive(&w, rest):
		return r.shell("sh", nil, in)
	case !known:
		if why, ok := r.builtin(name, rest); ok {
			return why
		}
		return code(name, rest)
	}
	return r.wrapped(at, name, &w, rest, in)
}

func (r *reader) wrapped(at int, name string, w *wrapper, rest []word, in *input) string {
	fill := "{}" // what xargs replaces
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
	rest = rest[min(w.own, len(rest)):]
	for more := name == "ssh"; more; { // which accepts options after the host, too
		var o option
		o, more = w.option(rest)
		rest = o.rest
	}
	for w.assigns && len(rest) > 0 && strings.Contains(rest[0].text, "=") {
		rest = rest[1:]
		defer r.set(at)
	}
	switch {
	case name == "xargs":
		return r.filled(rest, fill)
	case name == "ssh" && len(rest) > 0:
		return r.join(rest, Variable)
	case name == "ssh":
		return r.shell("sh", nil, in)
	case len(rest) > 0:
		r.out[at].Through = w.through
		r.run(rest, in)
	}
	return ""
}

// Inner returns the command that a program which is looked through runs, as env and nice are, of the words of both. It
// is false of "command -v", which runs nothing.
func Inner(line []Token) (inner []Token, ok bool) {
	name := line[0].Text
	w := wrappers()[name]
	words := make([]word, len(line)-1)
	for i, t := range line[1:] {
		words[i].text = t.Text
	}
	for {
		o, ok := w.option(words)
		words = o.rest
		rest := line[len(line)-len(words):]
		switch {
		case !ok:
			return rest[min(w.own, len(rest)):], true
		case name == "command" && strings.ContainsAny(o.name, "vV"):
			return nil, false
		case name == "env" && (o.name == "split-string" || strings.HasSuffix(o.name, "S")):
			return slices.Concat(line[:1], Tokens(o.value.text), rest), true
		}
	}
}

// filled lists the commands of xargs, with arguments that are not in the line.
func (r *reader) filled(rest []word, fill string) string {
	words := slices.Clone(rest)
	replaced := false
	for i := range words {
		if strings.Contains(words[i].text, fill) {
			words[i].whole, replaced = false, true
		}
	}
	if !replaced && len(rest) > 0 {
		words = append(words, word{text: fill, added: true})
	}
	r.run(words, nil)
	return Argument
}

// join reads words as a script, joined by spaces. why names what is hidden if a word is incomplete.
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

// find lists the commands that find runs for each file: -exec PROGRAM … ; or +. fd has -x and -X.
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
	name  string // for a long option, its name; otherwise the letters up to the one that takes the value
	value word
	rest  []word
}

// option reads an option. ok is false without one, or after the last: rest is then what follows a --.
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
