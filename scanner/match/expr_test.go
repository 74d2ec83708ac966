package match

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/regex"
	"pgregory.net/rapid"
)

// reportOfExprs searches a content for regexes, each in all lines and in the first three, and for two texts.
func reportOfExprs(t interface{ Fatal(...any) }, exprs []string, content []byte, window int) []string {
	patterns := []*Pattern{Compile("a = b", all), Compile("ab", Options{})}
	for _, expr := range exprs {
		x, err := regex.Compile(expr)
		must(t, err)
		patterns = append(patterns, CompileRegex(x, 0), CompileRegex(x, 3))
	}
	finds := make([]string, len(patterns))
	for _, f := range reportOf(t, NewEngine(patterns), content, window).Finds {
		finds[f.Pattern] = said(f)
	}
	return finds
}

// compareExprs compares what windows of a size find of regexes in a content with what one window does.
func compareExprs(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, exprs []string, content []byte, window int) {
	got, want := reportOfExprs(t, exprs, content, window), reportOfExprs(t, exprs, content, 0)
	if !slices.Equal(got, want) {
		t.Fatalf("%q in %q, windows of %d bytes:\n got %q\nwant %q", exprs, content, window, got, want)
	}
}

// TestExprs: where a regex is found, in all lines and in the first three.
func TestExprs(t *testing.T) {
	for _, c := range []struct{ expr, content, all, first string }{
		{`^ab`, "xab\nab\r\nab\rab", "utf-8, 3 times, marked true: 4-6 0 8-10 0 11-13 0",
			"utf-8, 2 times, marked true: 4-6 0 8-10 0"},
		{`ab$`, "\xff\xfea\x00b\x00\n\x00", "utf-16le, 1 times, marked true: 2-6 1", "utf-16le, 1 times, marked true: 2-6 1"},
		{`a.b`, "a\nb a\xffb", "utf-8, 1 times, marked true: 4-7 0", "utf-8, 1 times, marked true: 4-7 0"},
		{`(?i)k`, "\u212a k K", "utf-8, 3 times, marked true: 0-3 0 4-5 0 6-7 0",
			"utf-8, 3 times, marked true: 0-3 0 4-5 0 6-7 0"},
		{`^\x00?a`, "\x00\x00ab\x00", "", ""},
		{`†`, strings.Repeat("\n", 4) + "\u2020", "utf-8, 1 times, marked true: 4-7 0", ""},
		{`.`, "\ufeff", "", ""},
		{`\x{feff}`, "\ufeff\ufeff", "utf-8, 1 times, marked true: 3-6 0", "utf-8, 1 times, marked true: 3-6 0"},
	} {
		if got := reportOfExprs(t, []string{c.expr}, []byte(c.content), 0); got[2] != c.all || got[3] != c.first {
			t.Errorf("%s in %q:\n got %q, %q\nwant %q, %q", c.expr, c.content, got[2], got[3], c.all, c.first)
		}
	}
}

// someExprs are regexes with and without literals, of one line and of parts of it.
var someExprs = []string{
	`ab`, `a+b`, `^ab`, `ab$`, `^a.*b$`, `a.b`, `(?i)ab`, `image:\s*\S+:latest\b`, `\bab\b`, `[ab]{2}`, `é+`,
	`(?i)É|ab`, `.`, `\x00`, `\x{1f600}`, `ab|ba|éa`, `a\s+b`, `\x{fffd}`, `a[^b]+b`, `(?i)k`, `\x{feff}`,
	`^\x00?a`, `[^x].b`, `†`, `\x{2000}+`,
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

func TestExprsInWindows(t *testing.T) {
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
	f.Add(`\bab\b`, []byte("ab\n\x00a\x00b"), byte(8), uint16(1))
	f.Add(`[^x].b`, []byte("\x00\xd8a\x00b\x00\x3d\xd8\x00\xde"), byte(8), uint16(17))
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
