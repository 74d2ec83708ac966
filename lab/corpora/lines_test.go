package corpora

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// tryOn makes lines and paths that the rule is about, or nearly.
func (s *said) tryOn(random *rand.Rand) {
	expr, isExpr := strings.CutPrefix(s.Pattern, "/")
	for range 8 {
		line := s.Pattern
		if isExpr {
			line = textOf(expr, random)
		}
		s.examples = append(s.examples, line, "x = "+line+" y;", "\t"+line, "x"+line+"y")
		for range 5 {
			s.near = append(s.near, nearly(line, random))
		}
	}
	_, ends := s.ban.files()
	end := textOf(ends, random)
	excluded := []string{`a/b`, `third_party/x`, `third_party/blink/x`, `third_party/blin/x`, `third_party/x/blink/`,
		`ios/a`, `a/ios/b`, `xios/a`, `a/x_ios_y`, `android/x`, `a/test/b`}
	for _, e := range s.Excluded {
		if only, ok := onlyFor(e); ok {
			e = only
		}
		if found := unless.FindStringSubmatch(e); found != nil {
			e = found[1] + "(" + found[2] + ")?"
		}
		excluded = append(excluded, e)
	}
	for _, e := range excluded {
		for range 4 {
			path := strings.TrimSuffix(textOf(e, random), "/")
			for _, p := range []string{
				path, path + end, path + "/x" + end, path + "y" + end, "x/" + path + end, nearly(path, random) + end,
			} {
				if whole(p) {
					s.paths = append(s.paths, p)
				}
			}
		}
	}
}

// whole reports whether a text can be a path in a repository, on any system.
func whole(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if strings.Trim(part, ".") == "" || strings.TrimSpace(part) != part || len(part) > 200 {
			return false
		}
	}
	return !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || strings.ContainsRune(`\:*?"<>|`, r) })
}

const alphabet = "abeilnostzABEILNOSTZ059__::;()[]{}<>.,\"'#/ \t-=*&"

// nearly is a line with a letter less, more, or another.
func nearly(line string, random *rand.Rand) string {
	if line == "" {
		return "x"
	}
	at, letter := random.IntN(len(line)), string(alphabet[random.IntN(len(alphabet))])
	switch random.IntN(5) {
	case 0:
		return line[:at] + line[at+1:]
	case 1:
		return line[:at] + letter + line[at:]
	case 2:
		return line[:at] + letter + line[at+1:]
	case 3:
		return letter + line
	}
	return line + letter
}

// textOf is a text that an expression matches, but for what \b asks of its neighbours.
func textOf(expr string, random *rand.Rand) string {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "unsaid"
	}
	var write func(tree *syntax.Regexp) string
	write = func(tree *syntax.Regexp) (text string) {
		times := 1
		switch tree.Op {
		case syntax.OpLiteral:
			return string(tree.Rune)
		case syntax.OpCharClass:
			for range 100 {
				letter := rune(alphabet[random.IntN(len(alphabet))])
				for i := 0; i < len(tree.Rune); i += 2 {
					if tree.Rune[i] <= letter && letter <= tree.Rune[i+1] {
						return string(letter)
					}
				}
			}
			return string(tree.Rune[0])
		case syntax.OpAnyCharNotNL:
			return string(alphabet[random.IntN(len(alphabet))])
		case syntax.OpAlternate:
			return write(tree.Sub[random.IntN(len(tree.Sub))])
		case syntax.OpQuest:
			times = random.IntN(2)
		case syntax.OpStar:
			times = random.IntN(4)
		case syntax.OpPlus:
			times = 1 + random.IntN(3)
		}
		for range times {
			for _, sub := range tree.Sub {
				text += write(sub)
			}
		}
		return text
	}
	return write(tree)
}
