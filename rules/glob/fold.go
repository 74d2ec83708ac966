package glob

import "fmt"

// Fold returns a glob or a path with A-Z in lower case, for matching that ignores ASCII case. The glob must have
// passed [CheckFolded].
func Fold(s string) string {
	for i := 0; i < len(s); i++ {
		if upper(rune(s[i])) {
			b := []byte(s)
			for ; i < len(b); i++ {
				if upper(rune(b[i])) {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// FoldAll is [Fold] for several globs.
func FoldAll(globs []string) []string {
	folded := make([]string, len(globs))
	for i, g := range globs {
		folded[i] = Fold(g)
	}
	return folded
}

// CheckFolded refuses a glob, which passed [Check], that cannot be matched by comparing with A-Z in lower case: a
// range of a class must mean the same before and after. It returns nil if the glob is fine.
func CheckFolded(glob string) *Mistake {
	tokens, mistake := scan(glob)
	if mistake != nil {
		return mistake
	}
	for _, t := range tokens {
		if t.kind != class {
			continue
		}
		for low, high := range ranges(t.text) {
			if foldable(low, high) {
				continue
			}
			return &Mistake{
				fmt.Sprintf("the range %c-%c of the class %s, which means something else where case is ignored",
					low, high, quote(t.text)),
				"write ranges of letters of one case, such as [a-z], or list the characters",
			}
		}
	}
	return nil
}

// foldable reports whether a range contains each letter in both cases or in neither, or its ends are letters of one
// case.
func foldable(low, high rune) bool {
	if upper(low) && upper(high) || lower(low) && lower(high) {
		return true
	}
	if letter(low) || letter(high) {
		return false
	}
	return (low < 'A' && 'Z' < high) == (low < 'a' && 'z' < high) // neither end is a letter: it has all or none
}

func upper(r rune) bool  { return 'A' <= r && r <= 'Z' }
func lower(r rune) bool  { return 'a' <= r && r <= 'z' }
func letter(r rune) bool { return upper(r) || lower(r) }
