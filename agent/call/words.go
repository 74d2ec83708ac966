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
		inner, ok := []shell.Token(nil), false
		if slices.Contains(LookedThrough(), line[0].Text) {
			inner, ok = shell.Inner(line)
		}
		if !ok {
			return programOf(line), through
		}
		through = append(through, programOf(line))
		line = inner
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
