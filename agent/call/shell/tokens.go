package shell

import "strings"

// A Token is a word of a command line, or a run of the shell's operators.
type Token struct {
	Text     string
	Operator bool // not quoted: one of ; & | ( ) < >, or several
}

// Tokens splits a command line as a shell does: at spaces and operators that are not quoted, the quotes then removed.
// Nothing is expanded, "$(" stays in its word, and a quote without an end goes to the end of the text.
func Tokens(line string) []Token {
	var all []Token
	var word strings.Builder
	within := false // a word, which may be empty: ""
	end := func() {
		if within {
			all = append(all, Token{Text: word.String()})
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
			all = append(all, Token{Text: text + line[from:i+1], Operator: true})
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

// Assigns reports whether a word sets a variable: NAME=, NAME+= or NAME[index]=.
func Assigns(word string) bool {
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
