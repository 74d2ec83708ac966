package regex

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// Samples returns at most 24 strings that a regex probably matches, made from its syntax tree: one, then others in
// which one part is something else. Assertions are ignored, so the caller must try each.
func Samples(source string) []string {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	return samples(tree.Simplify())
}

func samples(re *syntax.Regexp) []string {
	all := []string{""}
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		all = []string{text, strings.ToUpper(text), strings.ToLower(text)}
	case syntax.OpCharClass:
		all = nil
		for _, c := range append([]rune("a0A_- ."), re.Rune...) { // readable ones first
			if has(re.Rune, c) && unicode.IsPrint(c) {
				all = append(all, string(c))
			}
		}
		all = append(all, "")
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		all = []string{"a", "-"}
	case syntax.OpStar, syntax.OpQuest:
		all = append(all, samples(re.Sub[0])...)
	case syntax.OpCapture, syntax.OpPlus:
		all = samples(re.Sub[0])
	case syntax.OpAlternate:
		var others []string
		all = nil
		for _, sub := range re.Sub {
			of := samples(sub)
			all, others = append(all, of[0]), append(others, of[1:]...)
		}
		all = append(all, others...)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			of := samples(sub)
			before := all[0]
			for i := range all {
				all[i] += of[0]
			}
			for _, s := range of[1:] {
				all = append(all, before+s)
			}
			if all = distinct24(all); len(before) > maxSampleBytes {
				break
			}
		}
	}
	return distinct24(all)
}

const maxSampleBytes = 2000

// distinct24 keeps the first, and shorter ones than the limit.
func distinct24(all []string) (kept []string) {
	for i, s := range all {
		if i == 0 || len(kept) < 24 && len(s) <= maxSampleBytes && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}
