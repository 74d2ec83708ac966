package regex

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// naive finds matches according to RULES-0.2: Go's regexp searches each line.
func naive(source, text string) []Match {
	re := regexp.MustCompile(source)
	var all []Match
	at := 0
	for _, line := range regexp.MustCompile(`[^\r\n]*(?:\r\n|\r|\n|$)`).FindAllString(text, -1) {
		for _, m := range re.FindAllStringIndex(strings.TrimRight(line, "\r\n"), MaxMatches) {
			all = append(all, Match{int64(at + m[0]), int64(at + m[1])})
		}
		at += len(line)
	}
	return all
}

// hasLiteral reports whether a text contains one of some literals.
func hasLiteral(text string, literals []Literal) bool {
	for _, l := range literals {
		for i := 0; i+len(l.Text) <= len(text); i++ {
			same := 0
			for j := range len(l.Text) {
				x, y := text[i+j], l.Text[j]
				if x == y || l.Fold && (x^y == 0x20) && (x|0x20 >= 'a' && x|0x20 <= 'z') {
					same++
				}
			}
			if same == len(l.Text) {
				return true
			}
		}
	}
	return false
}

// compareAll describes how a regex's matches in a text, in memory and from a reader, differ from the naive ones, and
// which of them has no literal. It returns the number of matches.
func compareAll(t interface{ Fatalf(string, ...any) }, e *Expr, text string) int {
	want := naive(e.String(), text)
	if got := slices.Collect(e.Find([]byte(text))); !slices.Equal(got, want) {
		t.Fatalf("%#q in %q:\n  got  %v\n  want %v", e, text, got, want)
	}
	// A dfa with room for few states drops them, and gives up.
	for _, limits := range []dfaLimits{
		{cells: 40, bytes: 1 << 10, states: 1 << 20}, {cells: 1 << 10, bytes: 50, reads: 1 << 20, states: 5},
	} {
		d := newDFA(e.alone)
		d.limits = limits
		var got []Match
		d.findLines([]byte(text), func(match Match) bool { got = append(got, match); return true })
		if !slices.Equal(got, want) {
			t.Fatalf("%#q in %q with %+v:\n  got  %v\n  want %v", e, text, limits, got, want)
		}
	}
	var read []Match
	for m, err := range e.FindReader(strings.NewReader(text)) {
		if err != nil {
			t.Fatalf("%#q in %q: %v", e, text, err)
		}
		read = append(read, m)
	}
	if !slices.Equal(read, want) {
		t.Fatalf("%#q in a reader of %q:\n  got  %v\n  want %v", e, text, read, want)
	}
	for _, m := range want {
		if literals := e.Literals(); literals != nil && !hasLiteral(text[m.Start:m.End], literals) {
			t.Fatalf("%#q matches %q in %q, which has none of %s", e, text[m.Start:m.End], text, show(literals))
		}
	}
	return len(want)
}

// expression makes a random regex, of parts that are adjacent in the program or in texts.
func expression(t *rapid.T, depth int) string {
	if depth == 0 {
		return rapid.SampledFrom([]string{
			"a", "b", "a", "ab", "foo", "bar", "k", "s", "é", "1", "_", "-", " ", `\x{FFFD}`, `\x{212A}`, `\.`,
			"abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyzé",
			"[ab]", "[^a]", `\w`, `\W`, `\s`, `\S`, `\d`, `.`, `[^\n]`, `\pL`, `[a-zé]`, `[kK]`, `[sS]`, `[xX]`,
			`["']`, "[^é]", `[\x{D7FF}-\x{E000}]`, `[\x{D800}-\x{DFFF}]`,
			"(?i:k)", "(?i:foos)", "(?i:É)", "(?i:[b-l])", "(?i:xyz1)", "(?U:a+)", "(?i:skiss)", `[^\x00-\x{10FFFF}]`,
			`\b`, `\B`, "^", "$", "(?m:^)", "(?m:$)", `[^\S\t\f ]`, "(?:)",
		}).Draw(t, "atom")
	}
	part := func() string { return expression(t, depth-1) }
	group := func() string { return rapid.SampledFrom([]string{"(?:", "(", "(?i:"}).Draw(t, "group") + part() + ")" }
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2:
		return part() + part()
	case 3:
		return part() + part() + part()
	case 4, 5:
		return "(?:" + part() + "|" + part() + ")"
	case 6:
		return "(?:" + part() + "|" + part() + "|" + part() + ")"
	case 7:
		return part()
	}
	return group() + rapid.SampledFrom([]string{
		"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}", "{12}", "{9,}?",
	}).Draw(t, "repetition")
}

// matching makes a text that a tree matches, if its assertions hold.
func matching(t *rapid.T, re *syntax.Regexp) string {
	times := func(least, most int) string {
		var b strings.Builder
		for range rapid.IntRange(least, most).Draw(t, "times") {
			b.WriteString(matching(t, re.Sub[0]))
		}
		return b.String()
	}
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return strings.Map(func(c rune) rune {
				for range rapid.IntRange(0, 2).Draw(t, "fold") {
					c = simpleFold(c)
				}
				return c
			}, string(re.Rune))
		}
		return string(re.Rune)
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return ""
		}
		i := 2 * rapid.IntRange(0, len(re.Rune)/2-1).Draw(t, "range")
		lo, hi := re.Rune[i], re.Rune[i+1]
		return string(rapid.SampledFrom([]rune{lo, hi, (lo + hi) / 2}).Draw(t, "character"))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return rapid.SampledFrom([]string{"a", "b", "é", "\xff", " "}).Draw(t, "any")
	case syntax.OpCapture:
		return matching(t, re.Sub[0])
	case syntax.OpStar:
		return times(0, 3)
	case syntax.OpPlus:
		return times(1, 3)
	case syntax.OpQuest:
		return times(0, 1)
	case syntax.OpRepeat:
		return times(re.Min, max(re.Max, re.Min+2))
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(matching(t, sub))
		}
		return b.String()
	case syntax.OpAlternate:
		return matching(t, rapid.SampledFrom(re.Sub).Draw(t, "branch"))
	}
	return ""
}

// textFor makes a text with matches of a tree, near misses, line ends and noise.
func textFor(t *rapid.T, tree *syntax.Regexp) string {
	var b strings.Builder
	for range rapid.IntRange(1, 8).Draw(t, "pieces") {
		switch rapid.IntRange(0, 6).Draw(t, "piece") {
		case 0, 1, 2:
			b.WriteString(matching(t, tree))
		case 3:
			m := matching(t, tree)
			b.WriteString(m[:rapid.IntRange(0, len(m)).Draw(t, "cut")])
		case 4:
			b.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", "\r", "\n\n", "\r\n\r"}).Draw(t, "line end"))
		case 5: // over the limit
			m := matching(t, tree)
			b.WriteString(strings.Repeat(m, rapid.IntRange(0, min(130, 2000/max(1, len(m)))).Draw(t, "repeated")))
		case 6:
			b.WriteString(rapid.SampledFrom([]string{
				"a", "b", "aab", "é", "\xc3", "\xa9\xff", "\xed\xa0\x80", " ", "-", "1", "K\u212a", "\u017f",
				"\ufeff", "\x00", "\u2028", "\u0085",
			}).Draw(t, "noise"))
		}
	}
	return b.String()
}

// sameAsGo compares a random regex, or one of the corpus, with Go's regexp in texts that are likely to match. It
// returns the regex, nil if it is refused, and the number of matches.
func sameAsGo(t *rapid.T) (*Expr, int) {
	var source string
	if rapid.IntRange(0, 4).Draw(t, "kind of expression") == 0 {
		source = rapid.SampledFrom(corpus()).Draw(t, "real").source
	} else {
		source = expression(t, rapid.IntRange(0, 4).Draw(t, "depth"))
	}
	e, err := Compile(source)
	if err != nil {
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Found == "" || refusal.Fix == "" {
			t.Fatalf("%#q: %v", source, err)
		}
		return nil, 0
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range 5 {
		n += compareAll(t, e, textFor(t, tree))
	}
	return e, n
}

// TestMatchesAreGos: regexes find in random texts what Go's regexp finds line by line, and every match has a literal.
func TestMatchesAreGos(t *testing.T) {
	found, refused, bare := 0, 0, 0
	for range 10 { // of 100 checks
		rapid.Check(t, func(t *rapid.T) {
			e, n := sameAsGo(t)
			found += n
			switch {
			case e == nil:
				refused++
			case e.Literals() == nil:
				bare++
			}
		})
	}
	if found < 10_000 {
		t.Errorf("%d matches: too few to say anything", found)
	}
	t.Logf("%d matches, %d expressions refused, %d without a literal", found, refused, bare)
}

// FuzzSameAsGo is TestMatchesAreGos driven by the fuzzer.
func FuzzSameAsGo(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { sameAsGo(t) }))
}

// FuzzFind: any regex on any text agrees with Go's regexp, and nothing panics.
func FuzzFind(f *testing.F) {
	for _, c := range corpus() {
		f.Add(c.source, strings.Join(c.texts, "\n"))
	}
	f.Add(`a(?:.*b)?`, "aaaaaaaa\raaab")
	f.Add(`(?:a|ab)(?:c|bcd)(?:d*)`, "abcd abcdbcd")
	f.Add(`(?:a*?|b)+?c|b`, "aabbacbb")
	f.Add("[^a]", "\xed\xa0\x80\xff\u2028")
	f.Fuzz(func(t *testing.T, source, text string) {
		e, err := Compile(source)
		if err != nil {
			var refusal *Error
			if !errors.As(err, &refusal) {
				t.Fatalf("%q: %v", source, err)
			}
			if says := err.Error(); !utf8.ValidString(says) || strings.ContainsAny(says, "\n\r\t") {
				t.Fatalf("%q: %q", source, err)
			}
			return
		}
		if len(text) > 1000 || len(e.program.steps) > 2000 {
			return
		}
		compareAll(t, e, text)
	})
}

// A halting reader fails after some bytes.
type halting struct {
	*bytes.Reader
	err error
}

func (h halting) ReadRune() (rune, int, error) {
	c, n, err := h.Reader.ReadRune()
	if err == io.EOF {
		err = h.err
	}
	return c, n, err
}

// TestReaderFails: an error is returned instead of the matches of its line, and the matches of earlier lines are
// found.
func TestReaderFails(t *testing.T) {
	e, err := Compile("a+")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	var found []Match
	var errs []error
	for m, err := range e.FindReader(halting{bytes.NewReader([]byte("a\naa\na a")), broken}) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found = append(found, m)
	}
	if want := []Match{{0, 1}, {2, 4}}; !slices.Equal(found, want) || !slices.Equal(errs, []error{broken}) {
		t.Errorf("found %v, %v; want %v and one error", found, errs, want)
	}
	// State of the previous text must not leak into the next.
	if got, want := slices.Collect(e.Find([]byte("ba"))), []Match{{1, 2}}; !slices.Equal(got, want) {
		t.Errorf("then found %v, want %v", got, want)
	}
}

// TestStop: after an early stop nothing more is yielded, and the next text is searched from its beginning.
func TestStop(t *testing.T) {
	e, err := Compile("^a|b")
	if err != nil {
		t.Fatal(err)
	}
	for range e.Find([]byte("bbb\nbbb")) {
		break
	}
	for range e.FindReader(strings.NewReader("bbb\nbbb")) {
		break
	}
	if got, want := slices.Collect(e.Find([]byte("ab"))), []Match{{0, 1}, {1, 2}}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// TestHalfPairs: an invalid rune from a reader is U+FFFD.
func TestHalfPairs(t *testing.T) {
	e, err := Compile(`b\x{FFFD}+`)
	if err != nil {
		t.Fatal(err)
	}
	var found []Match
	for m, err := range e.FindReader(&runes{'a', 'b', 0xD800, -1, 0xDFFF, 0x110000, 'c'}) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, m)
	}
	if want := []Match{{2, 12}}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

// runes returns each of its runes with size 2.
type runes []rune

func (r *runes) ReadRune() (rune, int, error) {
	if len(*r) == 0 {
		return 0, 0, io.EOF
	}
	c := (*r)[0]
	*r = (*r)[1:]
	return c, 2, nil
}
