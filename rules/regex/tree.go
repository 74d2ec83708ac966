package regex

import "regexp/syntax"

// surrogates are never decoded from a text
const firstSurrogate, lastSurrogate = 0xD800, 0xDFFF

// inText reports whether a text can have a character from lo to hi.
func inText(lo, hi rune) bool { return lo < firstSurrogate || hi > lastSurrogate }

// steps returns the number of instructions of the program, or slightly more, and of the numbers in its classes. It
// must run before Simplify and Compile, since a short regex can become a program of gigabytes.
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
		return max(1, re.Max*subs+re.Max-re.Min), ranges // nested repeats are at most 1000 together
	}
	return subs + 1, ranges
}
