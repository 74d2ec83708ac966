package settings

import "bytes"

// withoutComments returns a text with spaces in the place of its comments: // up to the end of the line, and /* */.
// Every other byte stays where it is. A comment that does not end stays as well.
func withoutComments(text []byte) []byte {
	plain := bytes.Clone(text)
	for at := 0; at < len(plain); at++ {
		switch rest := plain[at:]; {
		case rest[0] == '"':
			for at++; at < len(plain) && plain[at] != '"'; at++ {
				if plain[at] == '\\' {
					at++
				}
			}
		case bytes.HasPrefix(rest, []byte("//")):
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			at += blank(line)
		case bytes.HasPrefix(rest, []byte("/*")):
			if within, _, ends := bytes.Cut(rest[2:], []byte("*/")); ends {
				at += blank(rest[:len(within)+4])
			}
		}
	}
	return plain
}

// blank overwrites a comment with spaces, and returns where in it the last byte is.
func blank(comment []byte) int {
	for i := range comment {
		comment[i] = ' '
	}
	return len(comment) - 1
}

// gap returns what is between two items of a list, or between an item and a bracket, without the comma: spaces, line
// ends and comments.
func gap(text []byte, start, end int) []byte {
	all := bytes.Clone(text[start:end])
	if comma := bytes.IndexByte(withoutComments(all), ','); comma >= 0 {
		all = append(all[:comma], all[comma+1:]...)
	}
	return all
}

const spaces = " \t\r\n"

// endsInLine reports whether a gap ends within a comment that goes on to the end of the line.
func endsInLine(gap []byte) bool {
	plain := withoutComments(append(bytes.Clone(gap), 'x'))
	return plain[len(gap)] == ' '
}
