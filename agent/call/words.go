package call

import (
	"slices"
	"strings"
)

// A token is a word of a command line, or a run of the shell's operators.
type token struct {
	text     string
	operator bool // not quoted: one of ; & | ( ) < >, or several
}

// tokens splits a command line as a shell does: at blanks and operators that are not quoted, the quotes
// then taken away. Nothing is expanded, "$(" stays in its word, and a quote without an end goes to the end of
// the text.
func tokens(line string) []token {
	var all []token
	var word strings.Builder
	within := false // a word, which may be empty: ""
	end := func() {
		if within {
			all = append(all, token{text: word.String()})
		}
		word.Reset()
		within = false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			end()
		case c == '#' && !within: // a comment, to the end of the line
			for i+1 < len(line) && line[i+1] != '\n' {
				i++
			}
		case c == '(' && i > 0 && line[i-1] == '$' && within:
			word.WriteByte(c)
		case strings.IndexByte(";&|()<>", c) >= 0:
			// 2> is one operator, and 2 no word before it.
			number := within && (c == '<' || c == '>') && strings.Trim(word.String(), "0123456789") == ""
			text := word.String()
			if number {
				within = false
			} else {
				text = ""
			}
			end()
			from := i
			for i+1 < len(line) && strings.IndexByte(";&|()<>", line[i+1]) >= 0 {
				i++
			}
			all = append(all, token{text: text + line[from:i+1], operator: true})
		case c == '\\':
			if i++; i < len(line) && line[i] != '\n' {
				word.WriteByte(line[i])
				within = true
			}
		case c == '\'':
			text, _, _ := strings.Cut(line[i+1:], "'")
			word.WriteString(text)
			within = true
			i += len(text) + 1
		case c == '"':
			within = true
			for i++; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\"\\$`\n", line[i+1]) >= 0 {
					if i++; line[i] == '\n' {
						continue
					}
				}
				word.WriteByte(line[i])
			}
		default:
			word.WriteByte(c)
			within = true
		}
	}
	end()
	return all
}

// mostPrefixes is how many programs that only run another are looked through. Nobody writes so many, and
// a line that is nothing else must not take long.
const mostPrefixes = 32

// program returns the program that a command line runs first, and all words behind it. What is before
// it is left out: operators and where they redirect to, settings of variables, and the programs that only run
// another. Of a line that runs nothing the program is ""; nil, if it cannot be told.
func program(line []token) (bin *Value, args []*Value) {
	for range mostPrefixes {
		line = begin(line)
		if len(line) == 0 {
			return Text(""), nil
		}
		after, ok := transparent(line)
		if !ok {
			for _, t := range line[1:] {
				args = append(args, Text(t.text))
			}
			return Text(line[0].text), args
		}
		line = after
	}
	return nil, nil
}

// begin cuts off what a simple command may begin with.
func begin(line []token) []token {
	for len(line) > 0 {
		switch t := line[0]; {
		case t.operator && strings.ContainsAny(t.text, "<>") && len(line) > 1 && !line[1].operator:
			line = line[2:]
		case t.operator, t.text == "!", t.text == "{", assigns(t.text):
			line = line[1:]
		default:
			return line
		}
	}
	return line
}

// assigns reports whether a word sets a variable: NAME=, NAME+= or NAME[index]=.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+")
	if array, index, _ := strings.Cut(name, "["); strings.HasSuffix(index, "]") {
		name = array
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return ok && name != ""
}

// transparent cuts off a program that only runs another, with its options and its own arguments, if the
// line begins with one. Those are the ones that clash's grammar lists, and env.
func transparent(line []token) (rest []token, ok bool) {
	name, rest := line[0].text, line[1:]
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
				return append(append([]token{line[0]}, tokens(o.value)...), rest...), true
			}
		}
	}
	return nil, false
}

// skip cuts the options off a line.
func skip(line []token, short string, long ...string) []token {
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
	rest  []token // the line behind it
}

// nextOption reads an option. Those of short and long have a value, in the same word or in the next; of
// others nothing is known, and they are held to have none. ok is false if there is none, or no more: rest is
// then the line behind a --, or the line.
func nextOption(line []token, short string, long ...string) (o option, ok bool) {
	if len(line) == 0 || line[0].operator || !strings.HasPrefix(line[0].text, "-") {
		return option{rest: line}, false
	}
	word, rest := line[0].text[1:], line[1:]
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
		o.value, rest = rest[0].text, rest[1:]
	}
	o.rest = rest
	return o, true
}
