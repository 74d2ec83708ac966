package regex

import (
	"regexp/syntax"
	"unicode"
)

// nullable reports whether the shortest match is empty, assertions left aside.
func nullable(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpStar, syntax.OpQuest,
		syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary,
		syntax.OpNoWordBoundary:
		return true
	case syntax.OpLiteral:
		return len(re.Rune) == 0
	case syntax.OpCapture, syntax.OpPlus:
		return nullable(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || nullable(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !nullable(sub) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if nullable(sub) {
				return true
			}
		}
	}
	return false // OpNoMatch, OpCharClass, OpAnyCharNotNL, OpAnyChar
}

// matchable reports whether a text of characters that has accepts can match, assertions left aside.
func matchable(re *syntax.Regexp, has func(lo, hi rune) bool) bool {
	switch re.Op {
	case syntax.OpNoMatch:
		return false
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			if !has(c, c) {
				return false
			}
		}
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if has(re.Rune[i], re.Rune[i+1]) {
				return true
			}
		}
		return false
	case syntax.OpRepeat:
		return re.Min == 0 || matchable(re.Sub[0], has)
	case syntax.OpCapture, syntax.OpPlus:
		return matchable(re.Sub[0], has)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !matchable(sub, has) {
				return false
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if matchable(sub, has) {
				return true
			}
		}
		return false
	}
	return true // the rest is a dot, an assertion, or may match the empty text
}

// surrogates are no characters: none is ever read from a text.
const firstSurrogate, lastSurrogate = 0xD800, 0xDFFF

// inText reports whether a text can have a character from lo to hi.
func inText(lo, hi rune) bool { return lo < firstSurrogate || hi > lastSurrogate }

// inLine reports whether a line can have a character from lo to hi.
func inLine(lo, hi rune) bool {
	for lo <= hi && (lo == '\n' || lo == '\r') {
		lo++
	}
	for lo <= hi && (hi == '\n' || hi == '\r') {
		hi--
	}
	return lo <= hi && inText(lo, hi)
}

// steps returns how many instructions the program has, or a little more, and how many numbers the classes have.
// It is what keeps a small text from becoming a program of gigabytes, so it comes before Simplify and Compile.
func steps(re *syntax.Regexp) (instructions, ranges int) {
	var subs int
	for _, sub := range re.Sub {
		i, r := steps(sub)
		subs += i
		ranges += r
	}
	switch re.Op {
	case syntax.OpLiteral:
		return max(1, len(re.Rune)), 0
	case syntax.OpCharClass:
		return 1, len(re.Rune)
	case syntax.OpCapture, syntax.OpStar:
		return subs + 2, ranges
	case syntax.OpAlternate:
		return subs + len(re.Sub) - 1, ranges
	case syntax.OpConcat:
		return subs, ranges
	case syntax.OpRepeat: // x{2,4} is xx(?:x(?:x)?)?, and x{2,} is xx+
		if re.Max < 0 {
			return max(re.Min, 1)*subs + 2, ranges
		}
		return max(1, re.Max*subs+re.Max-re.Min), ranges // repeats of repeats are at most 1000 together
	}
	return subs + 1, ranges
}

// control returns the first control character of a source.
func control(source string) (c rune, at int) {
	for i, c := range source {
		if unicode.IsControl(c) {
			return c, i
		}
	}
	return 0, -1
}
