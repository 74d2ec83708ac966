package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion returns the completion script of a shell: bash, zsh or fish.
func Completion(app *kong.Application, shell string) string {
	words := wordsOf(app)
	switch shell {
	case "bash":
		return bashCompletion(words)
	case "zsh":
		return zshCompletion(words)
	}
	return fishCompletion(words)
}

// word is a subcommand, by its full name ("hook install git"), with what can follow it. The
// one without a name has what can come first: the subcommands and the flags of the default
// command.
type word struct {
	name, help string
	flags      []*kong.Flag
	values     []string // of its argument, if they are known, or its subcommands
	group      bool     // a subcommand must follow
}

// wordsOf returns the word without a name, and then those of all commands, each before
// its subcommands.
func wordsOf(app *kong.Application) []word {
	first := word{flags: app.Flags}
	if app.DefaultCmd != nil {
		first.flags = slices.Concat(app.Flags, app.DefaultCmd.Flags)
	}
	first.values = shownChildren(app.Node)
	return append([]word{first}, wordsBelow(app.Node, "", app.Flags)...)
}

func wordsBelow(node *kong.Node, before string, flags []*kong.Flag) []word {
	var all []word
	for _, cmd := range node.Children {
		if cmd.Hidden {
			continue
		}
		w := word{
			name: before + cmd.Name, help: firstLine(cmd.Help),
			flags: slices.Concat(flags, cmd.Flags), group: len(cmd.Children) > 0,
		}
		if w.name == "help" {
			w.values = shownChildren(node)
		}
		for _, p := range cmd.Positional {
			if p.Enum != "" {
				w.values = append(w.values, p.EnumSlice()...)
			}
		}
		w.values = append(w.values, shownChildren(cmd)...)
		all = append(append(all, w), wordsBelow(cmd, w.name+" ", w.flags)...)
	}
	return all
}

// shownChildren returns the names of the commands below one, without the hidden ones.
func shownChildren(node *kong.Node) []string {
	var names []string
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}

// deepestFirst returns the words so that one comes before those that it begins with, and the
// one without a name last.
func deepestFirst(words []word) []word {
	out := slices.Clone(words)
	slices.Reverse(out)
	return out
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// pattern is a shell's pattern for the words before one that this word's flags and values can be.
func (w word) pattern() string {
	if w.name == "" {
		return "*"
	}
	return "'" + w.name + " '*"
}

// options returns the flags as they are typed.
func (w word) options() []string {
	var out []string
	for _, f := range w.flags {
		out = append(out, "--"+f.Name)
		if f.Short != 0 {
			out = append(out, "-"+string(f.Short))
		}
	}
	slices.Sort(out)
	return out
}

func bashCompletion(words []word) string {
	var b strings.Builder
	b.WriteString(`# bash completion for policyscan
_policyscan() {
  local IFS=$' \t\n' options values files=-f
  local cur=${COMP_WORDS[COMP_CWORD]} before="${COMP_WORDS[*]:1:COMP_CWORD-1} "
  case $before in
`)
	for _, w := range deepestFirst(words) {
		values, files := "", ""
		if w.name != "" {
			values = strings.Join(w.values, " ")
		}
		if w.group {
			files = " files="
		}
		options := strings.Join(w.options(), " ")
		fmt.Fprintf(&b, "    %s) options='%s' values='%s'%s ;;\n", w.pattern(), options, values, files)
	}
	fmt.Fprintf(&b, `  esac
  [[ $COMP_CWORD -eq 1 ]] && values='%s'
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur"; [[ -n $files ]] && compgen -f -- "$cur")
  fi
}
complete -o filenames -F _policyscan policyscan
`, strings.Join(words[0].values, " "))
	return b.String()
}

// shellQuote quotes a text as one word of a shell, in single quotes.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func zshCompletion(words []word) string {
	var b strings.Builder
	b.WriteString("#compdef policyscan\n\n_policyscan() {\n  local -a commands\n  commands=(\n")
	for _, w := range words[1:] {
		if !strings.Contains(w.name, " ") {
			fmt.Fprintf(&b, "    %s\n", shellQuote(w.name+":"+w.help))
		}
	}
	b.WriteString("  )\n  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n" +
		"    _describe -t commands command commands\n  fi\n  case \"${words[2,CURRENT-1]} \" in\n")
	for _, w := range deepestFirst(words) {
		fmt.Fprintf(&b, "    %s)\n      _arguments", w.pattern())
		for _, f := range w.flags {
			value := ""
			if !f.IsBool() {
				value = ":value:_files"
			}
			help := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(firstLine(f.Help))
			fmt.Fprintf(&b, " \\\n        %s", shellQuote("--"+f.Name+"["+help+"]"+value))
		}
		if len(w.values) > 0 && w.name != "" {
			fmt.Fprintf(&b, " \\\n        %s", shellQuote("*:value:("+strings.Join(w.values, " ")+")"))
		} else {
			b.WriteString(" \\\n        '*:path:_files'")
		}
		b.WriteString("\n      ;;\n")
	}
	b.WriteString("  esac\n}\n\n_policyscan \"$@\"\n")
	return b.String()
}

func fishCompletion(words []word) string {
	var b strings.Builder
	b.WriteString("# fish completion for policyscan\n")
	all := strings.Join(words[0].values, " ")
	for _, w := range words {
		path := strings.Fields(w.name)
		when := "not __fish_seen_subcommand_from " + all
		for i, name := range path {
			if i == 0 {
				when = "__fish_seen_subcommand_from " + name
				continue
			}
			when += "; and __fish_seen_subcommand_from " + name
		}
		if w.group {
			when += "; and not __fish_seen_subcommand_from " + strings.Join(w.values, " ")
		}
		if len(path) == 1 {
			fmt.Fprintf(&b, "complete -c policyscan -n 'not __fish_seen_subcommand_from %s' -a %s -d %s\n",
				all, w.name, shellQuote(w.help))
		}
		for _, f := range w.flags {
			fmt.Fprintf(&b, "complete -c policyscan -n '%s' -l %s", when, f.Name)
			if f.Short != 0 {
				fmt.Fprintf(&b, " -s %c", f.Short)
			}
			if !f.IsBool() {
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d %s\n", shellQuote(firstLine(f.Help)))
		}
		if w.name != "" && len(w.values) > 0 {
			fmt.Fprintf(&b, "complete -c policyscan -f -n '%s' -a %s\n", when, shellQuote(strings.Join(w.values, " ")))
		}
	}
	return b.String()
}
