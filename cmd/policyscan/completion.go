package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a completion script.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is shown below the flags.
func (*completionCmd) Help() string {
	return `Examples:
  bash: source <(policyscan completion bash)
  zsh:  policyscan completion zsh >"${fpath[1]}/_policyscan"
  fish: policyscan completion fish | source`
}

// Run prints the script, which is made from the command line's own model.
func (c *completionCmd) Run(std streams, parser *kong.Kong) error {
	words := wordsOf(parser.Model)
	var script string
	switch c.Shell {
	case "bash":
		script = bashCompletion(words)
	case "zsh":
		script = zshCompletion(words)
	default:
		script = fishCompletion(words)
	}
	_, err := fmt.Fprint(std.out, script)
	return err
}

// word is a subcommand, with what can follow it. The one without a name is what can
// stand first: the subcommands and the flags of the default command.
type word struct {
	name, help string
	flags      []*kong.Flag
	values     []string // of its argument, if they are known
}

func wordsOf(app *kong.Application) []word {
	first := word{flags: app.Flags}
	var all []word
	for _, cmd := range app.Children {
		w := word{name: cmd.Name, help: firstLine(cmd.Help), flags: append(append([]*kong.Flag(nil), app.Flags...), cmd.Flags...)}
		for _, p := range cmd.Positional {
			w.values = append(w.values, p.EnumSlice()...)
		}
		if cmd == app.DefaultCmd {
			first.flags = w.flags
		}
		all = append(all, w)
		first.values = append(first.values, w.name)
	}
	return append([]word{first}, all...)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// options are the flags as they are typed.
func (w word) options() []string {
	var out []string
	for _, f := range w.flags {
		out = append(out, "--"+f.Name)
		if f.Short != 0 {
			out = append(out, "-"+string(f.Short))
		}
	}
	sort.Strings(out)
	return out
}

func bashCompletion(words []word) string {
	var b strings.Builder
	b.WriteString(`# bash completion for policyscan
_policyscan() {
  local cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]} options values
  [[ $COMP_CWORD -eq 1 ]] && cmd=
  case $cmd in
`)
	for _, w := range append(append([]word(nil), words[1:]...), words[0]) {
		name := w.name
		if name == "" {
			name = "*"
		}
		values := strings.Join(w.values, " ")
		if w.name == "" {
			values = ""
		}
		fmt.Fprintf(&b, "    %s) options='%s' values='%s' ;;\n", name, strings.Join(w.options(), " "), values)
	}
	fmt.Fprintf(&b, `  esac
  [[ $COMP_CWORD -eq 1 ]] && values='%s'
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur"; compgen -f -- "$cur")
  fi
}
complete -o filenames -F _policyscan policyscan
`, strings.Join(words[0].values, " "))
	return b.String()
}

// shellQuote makes text one word of a shell, in single quotes.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func zshCompletion(words []word) string {
	var b strings.Builder
	b.WriteString("#compdef policyscan\n\n_policyscan() {\n  local -a commands\n  commands=(\n")
	for _, w := range words[1:] {
		fmt.Fprintf(&b, "    %s\n", shellQuote(w.name+":"+w.help))
	}
	b.WriteString("  )\n  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n    _describe -t commands command commands\n  fi\n  case $words[2] in\n")
	for _, w := range append(append([]word(nil), words[1:]...), words[0]) {
		name := w.name
		if name == "" {
			name = "*"
		}
		fmt.Fprintf(&b, "    %s)\n      _arguments", name)
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
			b.WriteString(" \\\n        '*:folder:_files -/'")
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
	for _, w := range words[1:] {
		fmt.Fprintf(&b, "complete -c policyscan -n 'not __fish_seen_subcommand_from %s' -a %s -d %s\n", all, w.name, shellQuote(w.help))
	}
	for _, w := range words {
		when := "__fish_seen_subcommand_from " + w.name
		if w.name == "" {
			when = "not __fish_seen_subcommand_from " + all
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
