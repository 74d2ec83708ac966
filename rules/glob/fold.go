package glob

// Fold returns a glob or a path with A-Z lowered, for matching without regard to the case of ASCII letters. The glob
// must have passed [CheckFolded].
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

// FoldAll returns globs as [Fold] does.
func FoldAll(globs []string) []string {
	folded := make([]string, len(globs))
	for i, g := range globs {
		folded[i] = Fold(g)
	}
	return folded
}
