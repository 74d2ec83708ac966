package glob

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of one glob, which bound the time of matching.
const (
	MaxBytes      = 1024
	MaxBraces     = 8   // brace groups, nested ones included
	MaxExpansions = 256 // of all groups together
)

type kind int

const (
	plain   kind = iota // an ordinary character
	escaped             // a backslash and a character
	star                // *
	one                 // ?
	class               // [...]
	slash               // /
	open                // {
	comma               // , within braces
	closing             // }
)

type token struct {
	kind kind
	text string // as written
	at   int    // 0-based byte in the glob
}

// scan splits a glob into tokens, and refuses what doublestar refuses.
func scan(glob string) ([]token, *Mistake) {
	var tokens []token
	depth := 0
	for i := 0; i < len(glob); {
		_, n := utf8.DecodeRuneInString(glob[i:])
		k := plain
		switch glob[i] {
		case '\\':
			if i+1 == len(glob) {
				return nil, &Mistake{`the glob ends in a single backslash`,
					`write "/" between directories, or '\\' for a backslash`}
			}
			_, next := utf8.DecodeRuneInString(glob[i+1:])
			k, n = escaped, 1+next
		case '*':
			k = star
		case '?':
			k = one
		case '/':
			k = slash
		case '[':
			k, n = class, classLen(glob[i:])
			if n == 0 {
				return nil, &Mistake{`"[" without a "]"`, `close the class, or write '\[' for the character itself`}
			}
			if n < 0 {
				return nil, &Mistake{fmt.Sprintf("an empty class %q", glob[i:i-n]),
					`put the characters between the brackets, or write '\[' for the character itself`}
			}
		case '{':
			k = open
			depth++
		case '}':
			k = closing
			if depth--; depth < 0 {
				return nil, &Mistake{`"}" without a "{"`, `open the group, or write '\}' for the character itself`}
			}
		case ',':
			if depth > 0 {
				k = comma
			}
		}
		tokens = append(tokens, token{k, glob[i : i+n], i})
		i += n
	}
	if depth > 0 {
		return nil, &Mistake{`"{" without a "}"`, `close the group, or write '\{' for the character itself`}
	}
	return tokens, nil
}

// classLen returns the length of the class at the start of s, 0 if it does not end, and minus its length if it is
// empty.
func classLen(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		return -(i + 1)
	}
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return 0
}

// expand calls yield with each brace expansion of the tokens, in order, until yield returns false. Braces must be
// balanced.
func expand(tokens []token, yield func([]token) bool) bool {
	start := slices.IndexFunc(tokens, func(t token) bool { return t.kind == open })
	if start < 0 {
		return yield(tokens)
	}
	var alternatives [][]token
	end, depth := start+1, 1
	for from := end; depth > 0; end++ {
		k := tokens[end].kind
		switch k {
		case open:
			depth++
		case closing:
			depth--
		}
		if depth == 0 || depth == 1 && k == comma {
			alternatives = append(alternatives, tokens[from:end])
			from = end + 1
		}
	}
	for _, alternative := range alternatives {
		if !expand(slices.Concat(tokens[:start], alternative, tokens[end:]), yield) {
			return false
		}
	}
	return true
}

func text(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.text)
	}
	return b.String()
}

// expansions returns the distinct brace expansions of a glob that passed Check.
func expansions(glob string) []string {
	if !strings.Contains(glob, "{") {
		return []string{glob}
	}
	tokens, mistake := scan(glob)
	if mistake != nil {
		return []string{glob} // did not pass Check: doublestar matches nothing with it
	}
	var globs []string
	seen := map[string]bool{}
	expand(tokens, func(e []token) bool {
		if g := text(e); !seen[g] {
			seen[g] = true
			globs = append(globs, g)
		}
		return true
	})
	return globs
}

// Expansions returns the number of distinct brace expansions of a glob that passed Check.
func Expansions(glob string) int { return len(expansions(glob)) }
