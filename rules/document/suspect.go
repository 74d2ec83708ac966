package document

import (
	"fmt"
	"strings"
)

// suspect checks one line for the likely cause of a syntax error: a tab for indentation, or a string that needs
// quotes. With alias it only looks for that unquoted string. It reports the mistake.
func (d *YAML) suspect(number int, alias string) (found bool) {
	line := string(d.line(number))
	rest := strings.TrimLeft(line, " ")
	at := func(rest string) Place { return Place{number, len(line) - len(rest) + 1} }
	if strings.HasPrefix(rest, "\t") && strings.TrimSpace(rest) != "" && alias == "" {
		d.fail(CodeSyntax, at(rest), "a tab in the indentation", "indent with spaces")
		return true
	}
	for strings.HasPrefix(rest, "- ") {
		rest = strings.TrimLeft(rest[2:], " ")
	}
	if value, ok := afterKey(rest); ok {
		rest = value
	}
	for _, text := range flowItems(rest) {
		if alias != "" && !strings.HasPrefix(text, alias) {
			continue
		}
		if what := needsQuotes(text, rest); what != "" {
			shown := strings.TrimRight(text, " ")
			here := at(line[strings.LastIndex(line, rest)+strings.Index(rest, text):])
			d.fail(CodeSyntax, here, Quoted(shown)+": "+what, "quote it: "+QuoteYAML(shown))
			return true
		}
	}
	return false
}

// afterKey returns the value of "key: value" if the key is an unquoted word.
func afterKey(s string) (string, bool) {
	key, value, found := strings.Cut(s, ": ")
	if !found || key == "" || strings.ContainsAny(key, `"'[]{}*&!#%@ `+"`") {
		return "", false
	}
	return strings.TrimLeft(value, " "), true
}

// flowItems returns the items of a bracketed list that ends on the line, each up to its comma; otherwise s itself.
func flowItems(s string) []string {
	inner, ok := strings.CutPrefix(s, "[")
	if !ok {
		return []string{s}
	}
	end := strings.LastIndex(inner, "]")
	if end < 0 {
		return nil
	}
	if strings.TrimSpace(withoutComment(inner[end+1:])) != "" {
		return []string{s}
	}
	var items []string
	for _, item := range strings.Split(inner[:end], ",") {
		items = append(items, strings.TrimLeft(item, " "))
	}
	return items
}

// needsQuotes says why YAML does not read text, the whole value or an item of it, as a string.
func needsQuotes(text, value string) string {
	if text == "" {
		return ""
	}
	switch text[0] {
	case '*':
		return `an unquoted string that begins with "*" is a YAML alias`
	case '&':
		return `an unquoted string that begins with "&" is a YAML anchor`
	case '!':
		return `an unquoted string that begins with "!" is a YAML tag`
	case '@', '`', '%':
		return fmt.Sprintf("an unquoted string cannot begin with %q", text[:1])
	case '{', '[':
		end := strings.LastIndexAny(text, "}]")
		if end >= 0 && strings.TrimSpace(withoutComment(text[end+1:])) != "" {
			return fmt.Sprintf("an unquoted string that begins with %q is a YAML list or mapping", text[:1])
		}
	case '"', '\'':
		end := strings.LastIndexByte(text, text[0])
		if end > 0 && text == value && strings.TrimSpace(withoutComment(text[end+1:])) != "" {
			return "text after the closing quote"
		}
	case '|', '>', '#':
	default:
		if text == value && strings.Contains(text, ": ") {
			return `an unquoted string with ": " is a YAML mapping`
		}
	}
	return ""
}

func withoutComment(s string) string {
	if strings.HasPrefix(s, "#") {
		return ""
	}
	before, _, _ := strings.Cut(s, " #")
	return before
}

// QuoteYAML returns a string as a YAML scalar, in single quotes if possible, since nothing is special in them.
func QuoteYAML(s string) string {
	isSpecial := func(r rune) bool { return r == '\'' || r < ' ' || r >= 0x7F }
	if len(s) > 2*shownBytes || strings.ContainsFunc(s, isSpecial) {
		return Quoted(s)
	}
	return "'" + s + "'"
}
