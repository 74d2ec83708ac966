package corpora

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The forms in which a pattern can be said, in the order in which a person tries them.
const (
	formText  = "a plain string"
	formTexts = "several plain strings"
	formWord  = "a text with `words`"
	formWords = "several texts with `words`"
	formRegex = "a regex"
	formNone  = "not as it is: look-around"
)

func forms() []string {
	return []string{formText, formTexts, formWord, formWords, formRegex, formNone}
}

// maxTexts is how many texts a person would list instead of an expression.
const maxTexts = 24

// A spelling is one of the texts that an expression matches, and whether it asks for the ends of words there.
type spelling struct {
	text       string
	begin, end bool // \b before the text, behind it
	impossible bool // \b inside
}

// items are the items of a rule that match the same as a pattern of Chromium's: a text, or an expression behind a
// slash.
func items(pattern string) (form string, yaml []string) {
	expr, isExpr := strings.CutPrefix(pattern, "/")
	if !isExpr {
		return formText, []string{quote(pattern)}
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return formNone, nil
	}
	spelt, finite := spellings(tree)
	words := 0
	for _, s := range spelt {
		// Without \b there are no words to ask for; with words, each end that is a word character's is asked.
		asks := s.begin || s.end
		switch {
		case s.impossible || s.text == "":
			finite = false
		case asks && (wordByte(s.text[0]) != s.begin || wordByte(s.text[len(s.text)-1]) != s.end):
			finite = false
		case asks:
			words++
			yaml = append(yaml, fmt.Sprintf("{text: %s, words: true}", quote(s.text)))
		default:
			yaml = append(yaml, quote(s.text))
		}
	}
	slices.Sort(yaml)
	yaml = slices.Compact(yaml)
	switch {
	case !finite:
		return formRegex, []string{fmt.Sprintf("{regex: %s}", quote(expr))}
	case words > 0 && len(yaml) > 1:
		return formWords, yaml
	case words > 0:
		return formWord, yaml
	case len(yaml) > 1:
		return formTexts, yaml
	}
	return formText, yaml
}

// quote is a text as a scalar of YAML: a string of JSON is one.
func quote(text string) string { return strconv.QuoteToASCII(text) }

func wordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

// spellings are all texts that an expression matches, if they are few.
func spellings(tree *syntax.Regexp) (all []spelling, finite bool) {
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return []spelling{{}}, true
	case syntax.OpWordBoundary:
		return []spelling{{begin: true, end: true}}, true
	case syntax.OpLiteral:
		return []spelling{{text: string(tree.Rune)}}, tree.Flags&syntax.FoldCase == 0
	case syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			for r := tree.Rune[i]; r <= tree.Rune[i+1]; r++ {
				if all = append(all, spelling{text: string(r)}); len(all) > maxTexts {
					return nil, false
				}
			}
		}
		return all, true
	case syntax.OpCapture:
		return spellings(tree.Sub[0])
	case syntax.OpQuest:
		all, finite = spellings(tree.Sub[0])
		return append(all, spelling{}), finite
	case syntax.OpAlternate:
		for _, sub := range tree.Sub {
			some, finite := spellings(sub)
			if all = append(all, some...); !finite || len(all) > maxTexts {
				return nil, false
			}
		}
		return all, true
	case syntax.OpConcat:
		all = []spelling{{}}
		for _, sub := range tree.Sub {
			some, finite := spellings(sub)
			if !finite || len(all)*len(some) > maxTexts {
				return nil, false
			}
			var longer []spelling
			for _, a := range all {
				for _, b := range some {
					longer = append(longer, a.then(b))
				}
			}
			all = longer
		}
		return all, true
	}
	return nil, false
}

// then is one text behind another.
func (s spelling) then(next spelling) spelling {
	return spelling{
		text:       s.text + next.text,
		begin:      s.begin || s.text == "" && next.begin,
		end:        next.end || next.text == "" && s.end,
		impossible: s.impossible || next.impossible || s.text != "" && next.text != "" && (s.end || next.begin),
	}
}

func TestItems(t *testing.T) {
	for _, c := range []struct{ pattern, form, yaml string }{
		{`a\b(c)`, formText, `["a\\b(c)"]`},
		{`/a\(b`, formText, `["a(b"]`},
		{`/\bab\b`, formWord, `[{text: "ab", words: true}]`},
		{`/\bab`, formRegex, `[{regex: "\\bab"}]`},
		{`/\bab\(`, formWord, `[{text: "ab(", words: true}]`},
		{`/\bab\(\b`, formRegex, `[{regex: "\\bab\\(\\b"}]`},
		{`/x(a|b)?y`, formTexts, `["xay" "xby" "xy"]`},
		{`/\b(a|bc)\b`, formWords, `[{text: "a", words: true} {text: "bc", words: true}]`},
		{`/\ba|b\b`, formRegex, `[{regex: "\\ba|b\\b"}]`},
		{`/(\b(a|b)\b|x)`, formWords, `["x" {text: "a", words: true} {text: "b", words: true}]`},
		{`/(\b(a|b)\b|<x>)`, formWords, `["<x>" {text: "a", words: true} {text: "b", words: true}]`},
		{`/\ba\b|b`, formWords, `["b" {text: "a", words: true}]`},
		{`/a\bb`, formRegex, `[{regex: "a\\bb"}]`},
		{`/(\b)a(\b)`, formWord, `[{text: "a", words: true}]`},
		{`/a\s*b`, formRegex, `[{regex: "a\\s*b"}]`},
		{`/a(?!b)`, formNone, `[]`},
	} {
		form, yaml := items(c.pattern)
		if form != c.form || fmt.Sprint(yaml) != c.yaml {
			t.Errorf("%s: %s %s, want %s %s", c.pattern, form, yaml, c.form, c.yaml)
		}
	}
}
