package regex

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

const (
	maxSamples     = 24
	maxSampleBytes = 2000
)

// Samples returns strings that a regex probably matches, made from its syntax tree: one, then others in which one part
// is something else. Assertions are ignored, so the caller must try each.
func Samples(source string) []string {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	return samples(tree)
}

func samples(re *syntax.Regexp) []string {
	all := []string{""}
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		all = []string{text, strings.ToUpper(text), strings.ToLower(text)}
	case syntax.OpCharClass:
		all = classSamples(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		all = []string{"a", "-"}
	case syntax.OpCapture:
		all = samples(re.Sub[0])
	case syntax.OpStar, syntax.OpQuest, syntax.OpPlus, syntax.OpRepeat:
		low := map[syntax.Op]int{syntax.OpPlus: 1, syntax.OpRepeat: re.Min}[re.Op]
		of := samples(re.Sub[0])
		all = nil
		for _, n := range []int{low, low + 1} {
			for _, s := range of {
				all = append(all, strings.Repeat(s, min(n, maxSampleBytes/max(len(s), 1)+1)))
			}
		}
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
			if len(all[0]) > maxSampleBytes {
				break
			}
			for i := range all {
				all[i] += of[0]
			}
			for _, s := range of[1:] {
				all = append(all, strings.TrimSuffix(all[0], of[0])+s)
			}
			all = distinctSamples(all)
		}
	}
	return distinctSamples(all)
}

// distinctSamples drops what exceeds the limits, but keeps the first.
func distinctSamples(all []string) (kept []string) {
	for i, s := range all {
		if i == 0 || len(kept) < maxSamples && len(s) <= maxSampleBytes && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// classSamples returns characters of a class, readable ones first; "" if there is none.
func classSamples(ranges []rune) (all []string) {
	for _, c := range append([]rune("a0A_- ."), ranges...) {
		if has(ranges, c) && unicode.IsPrint(c) {
			all = append(all, string(c))
		}
	}
	return append(all, "")
}
