package call

import (
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call/shell"
)

// mostPrefixes is how many programs that only run another are looked through. Nobody writes so many, and
// a line that is nothing else must not take long.
const mostPrefixes = 32

// A Program is one that a command line runs, and all words after it.
type Program struct {
	Name *Value // as it is written; nil, if it cannot be determined
	Args []*Value
}

func programOf(line []shell.Token) Program {
	r := Program{Name: Text(line[0].Text)}
	for _, t := range line[1:] {
		r.Args = append(r.Args, Text(t.Text))
	}
	return r
}

// program returns the program that a command line runs first, and all words after it. What is before
// it is left out: operators and where they redirect to, settings of variables, and the programs that only run
// another, which are in through. Such a program is the one that runs where no other follows it. Of a line that runs
// nothing the program is ""; nil, if it is unknown.
func program(line []shell.Token) (runs Program, through []Program) {
	for range mostPrefixes {
		line = skipPrefix(line)
		if len(line) == 0 {
			if n := len(through) - 1; n >= 0 {
				return through[n], through[:n]
			}
			return Program{Name: Text("")}, nil
		}
		after, ok := transparent(line)
		if !ok {
			return programOf(line), through
		}
		through = append(through, programOf(line))
		line = after
	}
	return Program{}, through
}

// Runs returns the program that a command of these words runs, as clash reads it: env, time and the like are looked
// through. It is "" if that cannot be determined.
func Runs(words []string) string {
	var line []shell.Token
	for _, w := range words {
		line = append(line, shell.Token{Text: w})
	}
	runs, _ := program(line)
	return runs.Name.Str()
}

// LookedThrough are the programs that clash's reading looks through.
func LookedThrough() []string {
	return []string{"env", "time", "nice", "nohup", "timeout", "command"}
}

func skipPrefix(line []shell.Token) []shell.Token {
	for len(line) > 0 {
		switch t := line[0]; {
		case t.Operator && strings.ContainsAny(t.Text, "<>") && len(line) > 1 && !line[1].Operator:
			line = line[2:]
		case t.Operator, t.Text == "!", t.Text == "{", shell.Assigns(t.Text):
			line = line[1:]
		default:
			return line
		}
	}
	return line
}

// transparent cuts off a program that only runs another, with its options and its own arguments, if the
// line begins with one. Those are the ones that clash's grammar lists, and env.
func transparent(line []shell.Token) (rest []shell.Token, ok bool) {
	name, rest := line[0].Text, line[1:]
	switch name {
	case "time":
		return skip(rest, "fo", "format", "output"), true
	case "nice":
		return skip(rest, "n", "adjustment"), true
	case "nohup":
		return skip(rest, ""), true
	case "timeout":
		rest = skip(rest, "sk", "signal", "kill-after")
		return rest[min(1, len(rest)):], true // the time
	case "command":
		for {
			o, ok := nextOption(rest, "")
			if rest = o.rest; !ok {
				return rest, true
			}
			if strings.ContainsAny(o.name, "vV") { // it asks where the program is, and runs nothing
				return nil, false
			}
		}
	case "env":
		for {
			o, ok := nextOption(rest, "uCS", "unset", "chdir", "split-string")
			if rest = o.rest; !ok {
				return rest, true
			}
			if o.name == "split-string" || strings.HasSuffix(o.name, "S") { // words of env's own line in one
				return append(append([]shell.Token{line[0]}, shell.Tokens(o.value)...), rest...), true
			}
		}
	}
	return nil, false
}

func skip(line []shell.Token, short string, long ...string) []shell.Token {
	for {
		o, ok := nextOption(line, short, long...)
		if line = o.rest; !ok {
			return line
		}
	}
}

// An option is one at the beginning of a line.
type option struct {
	name  string // of a long one its name, else its letters up to the one that has the value
	value string
	rest  []shell.Token // the line after it
}

// nextOption reads an option. Those of short and long have a value, in the same word or in the next; of
// others nothing is known, and they are assumed to have none. ok is false if there is none, or no more: rest is
// then the line after a --, or the line.
func nextOption(line []shell.Token, short string, long ...string) (o option, ok bool) {
	if len(line) == 0 || line[0].Operator || !strings.HasPrefix(line[0].Text, "-") {
		return option{rest: line}, false
	}
	word, rest := line[0].Text[1:], line[1:]
	if word == "-" {
		return option{rest: rest}, false
	}
	wants := false
	if name, ok := strings.CutPrefix(word, "-"); ok {
		o.name, o.value, ok = strings.Cut(name, "=")
		wants = !ok && slices.Contains(long, o.name)
	} else {
		o.name = word
		if i := strings.IndexAny(word, short); i >= 0 {
			o.name, o.value = word[:i+1], word[i+1:]
			wants = o.value == ""
		}
	}
	if wants && len(rest) > 0 {
		o.value, rest = rest[0].Text, rest[1:]
	}
	o.rest = rest
	return o, true
}
