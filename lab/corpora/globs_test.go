package corpora

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// An expression over paths is expanded to sequences of these: each is a piece of a glob, for one character or for any.
const (
	anything = "**" // any characters, / too
	begin    = "^"
	end      = "$"
)

// maxGlobs is how many globs may stand for one expression.
const maxGlobs = 64

var (
	// a/(?!b/): what begins with a/, but not with a/b/
	unless = regexp.MustCompile(`^\^?([\w/]+)\(\?!([\w/]+)\)$`)
	// ^(?!a).*: what does not begin with a
	nothing = regexp.MustCompile(`^\^\(\?!(.*)\)\.[+*]\$?$`)
	// ^((?!a).)*$: what a is not in
	nowhere = regexp.MustCompile(`^\^\(\(\?!(.*)\)\.\)\*\$$`)
	// harmless are letters in a class of a glob.
	harmless = strings.NewReplacer(`\`, `\\`, "]", `\]`, "[", `\[`, "^", `\^`, "-", `\-`)
)

// onlyFor returns the expression that a path has to match if excluded excludes all that do not match it.
func onlyFor(excluded string) (expr string, ok bool) {
	if found := nothing.FindStringSubmatch(excluded); found != nil {
		return found[1], true
	}
	if found := nowhere.FindStringSubmatch(excluded); found != nil {
		return ".*" + found[1], true
	}
	return "", false
}

// globs are globs for the paths that an expression matches, as Python's re.match does: from their beginning, to
// anywhere. They are not exact where the expression has something repeated, such as \w+: then they select more.
func globs(expr string) (list []string, exact bool) {
	var sequences [][]string
	if found := unless.FindStringSubmatch(expr); found != nil {
		for i := range found[2] {
			before := letters(found[1] + found[2][:i])
			sequences = append(sequences, append(slices.Clone(before), end))
			if found[2][i] == '/' {
				sequences = append(sequences, append(slices.Clone(before), "?", anything))
			} else {
				sequences = append(sequences,
					append(slices.Clone(before), "[^"+harmless.Replace(found[2][i:i+1])+"]", anything),
					append(slices.Clone(before), "/", anything))
			}
		}
		exact = true
	} else {
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			return nil, false
		}
		if tree.Op == syntax.OpConcat && tree.Sub[len(tree.Sub)-1].Op == syntax.OpStar {
			tree.Sub = tree.Sub[:len(tree.Sub)-1] // anything may follow, so none of it is enough
		}
		sequences, exact = expand(tree)
	}
	for _, sequence := range sequences {
		if len(sequence) > 0 && sequence[0] == begin {
			sequence = sequence[1:]
		}
		if slices.Contains(sequence, begin) {
			continue // a path begins once: a comma is missing in the list
		}
		if last := len(sequence) - 1; last >= 0 && sequence[last] == end {
			sequence = sequence[:last]
		} else {
			sequence = append(slices.Clone(sequence), anything)
		}
		for _, glob := range joined(sequence) {
			if !strings.HasPrefix(glob, "/") && !strings.HasSuffix(glob, "/") && !strings.Contains(glob, "//") {
				list = append(list, glob)
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	// What selects a whole folder makes its other globs unnecessary.
	list = slices.DeleteFunc(list, func(glob string) bool {
		return slices.ContainsFunc(list, func(folder string) bool {
			inside, ok := strings.CutSuffix(folder, "**")
			return ok && folder != glob && inside != "" && strings.HasPrefix(glob, inside)
		})
	})
	return list, exact && len(list) <= maxGlobs
}

// letters are the pieces of a text.
func letters(text string) (pieces []string) {
	for _, r := range text {
		if strings.ContainsRune(`*?[]{}\`, r) {
			pieces = append(pieces, `\`+string(r))
		} else {
			pieces = append(pieces, string(r))
		}
	}
	return pieces
}

// joined are the globs of a sequence.
func joined(sequence []string) []string {
	all := []string{""}
	for i, piece := range sequence {
		if piece != anything {
			for k := range all {
				all[k] += piece
			}
			continue
		}
		if i > 0 && sequence[i-1] == anything {
			continue
		}
		last := !slices.ContainsFunc(sequence[i:], func(s string) bool { return s != anything })
		var longer []string
		for _, glob := range all {
			folder := glob == "" || strings.HasSuffix(glob, "/")
			switch {
			case last && folder:
				longer = append(longer, glob+"**")
			case last:
				longer = append(longer, glob+"*", glob+"*/**")
			case folder:
				longer = append(longer, glob+"**/*")
			default:
				longer = append(longer, glob+"*", glob+"*/**/*")
			}
		}
		all = longer
	}
	return all
}

// expand returns the sequences of pieces that match what an expression matches.
func expand(tree *syntax.Regexp) (all [][]string, exact bool) {
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return [][]string{{}}, true
	case syntax.OpBeginText, syntax.OpBeginLine:
		return [][]string{{begin}}, true
	case syntax.OpEndText, syntax.OpEndLine:
		return [][]string{{end}}, true
	case syntax.OpLiteral:
		return [][]string{letters(string(tree.Rune))}, true
	case syntax.OpAnyCharNotNL:
		return [][]string{{"?"}, {"/"}}, true
	case syntax.OpCharClass:
		return class(tree.Rune), true
	case syntax.OpCapture:
		return expand(tree.Sub[0])
	case syntax.OpQuest:
		all, exact = expand(tree.Sub[0])
		return append(all, []string{}), exact
	case syntax.OpStar, syntax.OpPlus:
		if tree.Sub[0].Op == syntax.OpAnyCharNotNL {
			if tree.Op == syntax.OpStar {
				return [][]string{{anything}}, true
			}
			return [][]string{{"?", anything}, {"/", anything}}, true
		}
		all, _ = expand(tree.Sub[0])
		for i := range all {
			all[i] = append(all[i], "*")
		}
		return all, false
	case syntax.OpAlternate:
		exact = true
		for _, sub := range tree.Sub {
			some, same := expand(sub)
			all, exact = append(all, some...), exact && same
		}
		return all, exact
	case syntax.OpConcat:
		all, exact = [][]string{{}}, true
		for _, sub := range tree.Sub {
			some, same := expand(sub)
			exact = exact && same
			var longer [][]string
			for _, a := range all {
				for _, b := range some {
					longer = append(longer, slices.Concat(a, b))
				}
			}
			all = longer
		}
		return all, exact
	}
	return nil, false
}

// class is one character of those, as pieces: a class of a glob never has a /.
func class(ranges []rune) (all [][]string) {
	negated := ranges[len(ranges)-1] == unicode.MaxRune
	slash := false
	for i := 0; i < len(ranges); i += 2 {
		slash = slash || ranges[i] <= '/' && '/' <= ranges[i+1]
	}
	if slash {
		all = append(all, []string{"/"})
	}
	if negated { // what is between the ranges
		ranges = ranges[:len(ranges)-1]
		if ranges[0] == 0 {
			ranges = ranges[1:]
		}
		for i := range ranges {
			ranges[i] += rune(1 - i%2*2)
		}
	}
	var b strings.Builder
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] == '/' && ranges[i+1] == '/' {
			continue
		}
		b.WriteString(harmless.Replace(string(ranges[i])))
		if ranges[i] < ranges[i+1] {
			b.WriteString("-" + harmless.Replace(string(ranges[i+1])))
		}
	}
	if b.Len() > 0 && negated {
		all = append(all, []string{"[^" + b.String() + "]"})
	} else if b.Len() > 0 {
		all = append(all, []string{"[" + b.String() + "]"})
	}
	return all
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct{ expr, globs string }{
		{`^a/`, "a/**"},
		{`a/b`, "a/b* a/b*/**"},
		{`^a/b\.c$`, "a/b.c"},
		{`^a/b\.(c|d)$`, "a/b.[c-d]"},
		{`.*x`, "**/*x* **/*x*/**"},
		{`a/.*\.c$`, "a/**/*.c"},
		{`a.*b$`, "a*/**/*b a*b"},
		{`a.b$`, "a/b a?b"},
		{`.*T[^a-z]`, "**/*T/** **/*T[^a-z]* **/*T[^a-z]*/**"},
		{`a[\\/]b$`, `a/b a[\\]b`},
		{`a/.*^b`, ""},
		{`a/b\.*`, "a/b* a/b*/**"},
		{`a/(?!bc/)`, "a/[^b]* a/[^b]*/** a/b a/b/** a/b[^c]* a/b[^c]*/** a/bc a/bc?* a/bc?*/**"},
	} {
		list, exact := globs(c.expr)
		if got := strings.Join(list, " "); !exact || got != c.globs {
			t.Errorf("%s: %s %v, want %s", c.expr, got, exact, c.globs)
		}
	}
	if list, exact := globs(`a/\w+_b/`); exact || strings.Join(list, " ") != "a/[0-9A-Z_a-z]*_b/**" {
		t.Errorf("%q %v", list, exact)
	}
	for excluded, want := range map[string]string{
		`^(?!a\/b).+`: `a\/b`, `^(?!.*\.h$).*$`: `.*\.h$`, `^((?!x/).)*$`: ".*x/",
	} {
		if got, ok := onlyFor(excluded); !ok || got != want {
			t.Errorf("%s: %q %v", excluded, got, ok)
		}
	}
}
