package match

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules/regex"
	"pgregory.net/rapid"
)

// naiveChars reads a content as characters in an encoding from an offset on; ends has where each ends.
func naiveChars(enc encoding, content []byte, from int) (text []rune, ends []int) {
	unit := []int{1, 2, 2, 4, 4}[enc]
	for at := from; at+unit <= len(content); {
		c, n := utf8.DecodeRune(content[at:])
		two := func(at int) rune {
			if at+2 > len(content) {
				return 0
			}
			if enc == utf16LE {
				return rune(binary.LittleEndian.Uint16(content[at:]))
			}
			return rune(binary.BigEndian.Uint16(content[at:]))
		}
		switch enc {
		case utf16LE, utf16BE:
			c, n = two(at), 2
			if pair := utf16.DecodeRune(c, two(at+2)); pair != 0xfffd {
				c, n = pair, 4
			}
		case utf32LE:
			c, n = rune(binary.LittleEndian.Uint32(content[at:])), 4
		case utf32BE:
			c, n = rune(binary.BigEndian.Uint32(content[at:])), 4
		}
		if !utf8.ValidRune(c) {
			c = 0xfffd
		}
		at += n
		text, ends = append(text, c), append(ends, at)
	}
	return text, ends
}

// naiveExpr finds a regex in a content by the specification: each reading whole, line by line, with Go's regexp. Only
// the first lines count, if there is a number of them.
func naiveExpr(expr string, withinLines int, content []byte) (found naiveFind, marked bool) {
	x := regexp.MustCompile(expr)
	names := []string{"utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"}
	bytesOf := []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\xff\xfe\x00\x00", "\x00\x00\xfe\xff"}
	wide, starts, mark, behind := bytes.IndexByte(content, 0) >= 0, []int{0}, utf8Enc, 0
	for enc, bom := range bytesOf {
		if strings.HasPrefix(string(content), bom) {
			starts, wide = append(starts, len(bom)), wide || enc > 0
			if len(bom) > behind {
				mark, behind = encoding(enc), len(bom)
			}
		}
	}
	type key struct {
		start int64
		enc   encoding
		order int
	}
	all := map[key]int64{}
	for enc := range encodings {
		for order, from := range starts {
			if enc != utf8Enc && !wide || enc == utf8Enc && order > 0 {
				continue
			}
			text, ends := naiveChars(enc, content, from)
			if from == 0 && len(text) > 0 && text[0] == 0xfeff {
				from, text, ends = ends[0], text[1:], ends[1:]
			}
			offset := func(i int) int64 { // of the character i
				if i == 0 {
					return int64(from)
				}
				return int64(ends[i-1])
			}
			line := 0
			for first := 0; first <= len(text); first++ {
				last := first
				if line++; withinLines > 0 && line > withinLines {
					break
				}
				for last < len(text) && text[last] != '\n' && text[last] != '\r' {
					last++
				}
				in := string(text[first:last])
				for _, m := range x.FindAllStringIndex(in, 100) {
					k := key{offset(first + utf8.RuneCountInString(in[:m[0]])), enc, order}
					all[k] = offset(first + utf8.RuneCountInString(in[:m[1]]))
					marked = marked || enc == mark && from == behind
				}
				if first = last; last+1 < len(text) && text[last] == '\r' && text[last+1] == '\n' {
					first++
				}
			}
		}
	}
	var places []placed
	free := int64(0)
	for at := range int64(len(content)) {
		for enc := range encodings {
			for order := range starts {
				end, ok := all[key{at, enc, order}]
				if !ok || at < free {
					continue
				}
				if found.count == 0 {
					found.encoding, found.match = names[enc], match{at, end}
				}
				found.count++
				free = end
				places = append(places, placed{match{at, end}, enc})
			}
		}
	}
	found.places = naivePlaces(places)
	return found, marked
}

// compareExprs compares the finds of regexes in a content with the naive search's.
func compareExprs(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, exprs []string, content []byte, window int) {
	const textCount, lines = 2, 3 // each regex occurs for all lines and for the first ones
	patterns := []*Pattern{Compile("a = b", all), Compile("ab", Options{})}
	for _, expr := range exprs {
		x, err := regex.Compile(expr)
		must(t, err)
		patterns = append(patterns, CompileRegex(x, 0), CompileRegex(x, lines))
	}
	rep := reportOf(t, NewEngine(patterns), content, window)
	finds := make([]*Find, len(patterns))
	for _, f := range rep.Finds {
		finds[f.Pattern] = f
	}
	for i, f := range finds[textCount:] {
		expr, within := exprs[i/2], i%2*lines
		got, marked := naiveOf(f), false
		if f != nil {
			marked = f.Marked
			if f.Evidence.Kind != "regex" || f.Evidence.Pattern != expr {
				t.Fatalf("%s: %+v", expr, f.Evidence)
			}
		}
		if want, wantMarked := naiveExpr(expr, within, content); got != want || marked != wantMarked {
			t.Fatalf("%s within %d lines in %q, windows of %d bytes:\n got %+v, marked %v\nwant %+v, marked %v",
				expr, within, content, window, got, marked, want, wantMarked)
		}
	}
	for i, a := range []asked{{"a = b", all}, {"ab", Options{}}} {
		got := naiveOf(finds[i])
		if want := naiveSearch(a.text, a.Options, content); got != want {
			t.Fatalf("beside expressions, %q in %q: got %+v, want %+v", a.text, content, got, want)
		}
	}
}

// someExprs are regexes with and without literals, of one line and of parts of it.
var someExprs = []string{
	`ab`, `a+b`, `^ab`, `ab$`, `^a.*b$`, `a.b`, `(?i)ab`, `image:\s*\S+:latest\b`, `\bab\b`, `[ab]{2}`, `é+`,
	`(?i)É|ab`, `.`, `\x00`, `\x{1f600}`, `ab|ba|éa`, `a\s+b`, `\x{fffd}`, `a[^b]+b`, `(?i)k`, `\x{feff}`,
	`^\x00?a`, `[^x].b`, `†`, `\x{2000}+`,
}

func TestExprs(t *testing.T) {
	for _, content := range []string{
		strings.Repeat("xyz\n", 50) + "AB\n" + strings.Repeat("\r", 40) + "éa†\r\naB",
		"", "ab", "xab\nab\r\nab\rab", "\ufeffab", "\ufeff\ufeffab", "aab ab b", "\u212a k K", "AB aB Ab", "a\xffb",
		"image:  nginx:latest\nimage: x:latestb", "a\x00b",
		strings.Repeat("ab", 150) + "\n" + strings.Repeat("ab", 99),
		"\x00\x00ab\x00", "\xff\xfea\x00b\x00", "\xfe\xff\x00a\x00b", "\xef\xbb\xbfa\x00b\x00",
		"\xff\xfe\x00\x00a\x00\x00\x00b\x00\x00\x00",
		"\xff\xfea\x00b", "\x00\xd8a\x00b\x00\x3d\xd8\x00\xde", "ab\n\x00a\x00b", "a\nb", "\xff\xfe",
		"a\x00b\x00\n\x00a\x00b\x00",
	} {
		for _, window := range []int{0, 1, 17} {
			compareExprs(t, someExprs, []byte(content), window)
		}
	}
}

// TestCharsOfTwoWindows: characters that a window cuts.
func TestCharsOfTwoWindows(t *testing.T) {
	for enc := range encodings {
		for before := range often(8) {
			content := enc.encode("\ufeff" + strings.Repeat(".", before) + strings.Repeat("a\U0001f600é\u2020", 8))
			for window := 16; window < 28; window++ {
				compareExprs(t, []string{`a\x{1f600}é`, `†`, `.`}, content, window)
			}
		}
	}
}

func TestExprsAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var exprs []string
		for range rapid.IntRange(1, 4).Draw(t, "exprs") {
			exprs = append(exprs, rapid.SampledFrom(someExprs).Draw(t, "expr"))
		}
		var texts []asked
		for _, text := range []string{"ab", "a b", "image: x:latest", "éa†", "a = b"} {
			texts = append(texts, asked{text: text})
		}
		window := rapid.SampledFrom([]int{0, 1, 5, 16, 64, 200}).Draw(t, "window")
		compareExprs(t, exprs, drawContent(t, texts), window)
	})
}

func FuzzExprs(f *testing.F) {
	f.Add("ab", []byte("xab\nab"), byte(0), uint16(0))
	f.Add("^a.*b$", []byte("\xff\xfea\x00b\x00"), byte(8), uint16(3))
	f.Add(`(?i)k\x{1f600}`, []byte("K\U0001f600"), byte(0x11), uint16(17))
	f.Fuzz(func(t *testing.T, expr string, content []byte, encode byte, window uint16) {
		if _, err := regex.Compile(expr); err != nil || len(expr) > 64 || len(content) > 4<<10 {
			t.Skip()
		}
		if enc := encoding(encode & 7); enc < encodings {
			content = enc.encode(strings.ToValidUTF8(string(content), "?"))
		}
		compareExprs(t, []string{expr}, append(make([]byte, encode>>4&3), content...), int(window))
	})
}

// TestConfirm: expressions and texts that share needles, which are in many lines, in one window and in several.
func TestConfirm(t *testing.T) {
	exprs := []string{`func\s+\w+7\(`, `func.*\)$`, `^\s*func`, `(?i)FUNC|é.*7`, `\bnil, err\b`, `func|return`,
		`x{40}`, `returns+`}
	texts := []asked{{"func main7 ()", spaces}, {"unc", words}, {"return nil, err", all}, {"err }", spaces},
		{"nil err", spaces},
		{"\t7\nfunc", words}}
	rapid.Check(t, func(t *rapid.T) {
		pieces := []string{"func ", "FUNC\t", "main7(", "()", " { ", "return nil, err", "nil,", "é", "7", "\n",
			"\r\n", "\r", "\n\n", "x"}
		var content []byte
		for range rapid.IntRange(0, 120).Draw(t, "pieces") {
			content = append(content, rapid.SampledFrom(pieces).Draw(t, "piece")...)
		}
		if rapid.IntRange(0, 4).Draw(t, "with a mark") == 0 {
			content = append([]byte("\ufeff"), content...)
		}
		window := rapid.SampledFrom([]int{0, 40, 90, 300}).Draw(t, "window")
		compareExprs(t, exprs, content, window)
		compare(t, texts, content, window)
	})
}

// TestConfirmed: a pattern with its needles in a content, but without a match, is dropped, and in lines that fit into
// a window a regex is not searched for again.
func TestConfirmed(t *testing.T) {
	line := "func f() { return nil, err }\n"
	for _, size := range []int{100, 2 * WindowSize} {
		content := bytes.NewReader(bytes.Repeat([]byte(line), size/len(line)))
		var patterns []*Pattern
		for _, text := range []string{"func f ()  {}", "return err"} {
			patterns = append(patterns, Compile(text, all))
		}
		for i := range 20 {
			x, err := regex.Compile(fmt.Sprintf(`func\s+\w{%d}\(`, i+2))
			must(t, err)
			patterns = append(patterns, CompileRegex(x, 0))
		}
		rep, err := (&Examiner{}).Examine(context.Background(), NewEngine(patterns), content)
		if err != nil || len(rep.Finds) > 0 {
			t.Fatal(rep.Finds, err)
		}
		passes := 2 // and one more read for each that reaches the end
		if size < WindowSize {
			passes = 1
		}
		if most := passes * (size/WindowSize + 2); rep.Reads > most {
			t.Errorf("%d bytes: %d reads, at most %d expected", size, rep.Reads, most)
		}
	}
}

// TestExprInLongLine: a line of many windows is not held, and is read once for each reading.
func TestExprInLongLine(t *testing.T) {
	size := int64(often(6<<20)) / 32 * 32 // whole words in each encoding
	x, err := regex.Compile(`^key = .*secret=\w+$`)
	must(t, err)
	for enc := range encodings {
		text := func(s string) string { return string(enc.encode(s)) }
		content := &repeated{text: strings.Repeat(text("abcdefg "), 4<<10), size: size}
		content.end = text("secret=1\r\nkey = secret=")
		start := text("no\nkey = ")
		rep, err := (&Examiner{}).Examine(
			context.Background(), NewEngine([]*Pattern{CompileRegex(x, 0)}), &prefixed{prefix: start, rest: content})
		if err != nil || len(rep.Finds) != 1 {
			t.Fatalf("%v: %d finds, %v", enc, len(rep.Finds), err)
		}
		unit := int64(enc.unit())
		e := rep.Finds[0].Evidence
		if e.Offset != 3*unit || e.Line != 2 || e.Occurrences != 1 ||
			e.EndLine != 2 || e.EndColumn != 6*unit+size+8*unit+1 {
			t.Errorf("%v: %+v", enc, e)
		}
		if most := (1 + 4 + 3) * (size + size/6); content.read > most {
			t.Errorf("%v: %d bytes were read, of %d", enc, content.read, size)
		}
		if got, want := rep.Finds[0].Marked, enc == utf8Enc; got != want {
			t.Errorf("%v: marked %v", enc, got)
		}
	}
}

// A prefixed is a content with a few bytes before it.
type prefixed struct {
	prefix string
	rest   *repeated
	at     int64
}

func (p *prefixed) Seek(offset int64, _ int) (int64, error) {
	p.at = offset
	return p.rest.Seek(max(offset-int64(len(p.prefix)), 0), io.SeekStart)
}

func (p *prefixed) Read(b []byte) (int, error) {
	if p.at < int64(len(p.prefix)) {
		n := copy(b, p.prefix[p.at:])
		p.at += int64(n)
		return n, nil
	}
	return p.rest.Read(b)
}
