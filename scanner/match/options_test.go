package match

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var long = flag.Bool("long", false, "do all of the tests that otherwise do a part")

// often is how often a test with random cases runs: n times with -long, otherwise a quarter of that.
func often(n int) int {
	if *long {
		return n
	}
	return max(n/4, 1)
}

func must(t interface{ Fatal(...any) }, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// examineWindows examines in the windows of x, or in one if a run of spaces is too long for several.
func examineWindows(t interface{ Fatal(...any) }, x *Examiner, e *Engine, content []byte) Report {
	rep, err := x.Examine(context.Background(), e, bytes.NewReader(content))
	if errors.Is(err, ErrSpaces) {
		x.Window = 0
		rep, err = x.Examine(context.Background(), e, bytes.NewReader(content))
	}
	must(t, err)
	return rep
}

// An asked is a text and its options.
type asked struct {
	text string
	Options
}

// examine returns what an Examiner with windows of a size finds of each text, 0 for the usual size; nil for nothing.
func examine(t interface{ Fatal(...any) }, texts []asked, content []byte, window int) []*Find {
	var patterns []*Pattern
	for _, a := range texts {
		patterns = append(patterns, Compile(a.text, a.Options))
	}
	finds := make([]*Find, len(texts))
	for _, f := range reportOf(t, NewEngine(patterns), content, window).Finds {
		finds[f.Pattern] = f
	}
	return finds
}

// reportOf searches a content in windows of a size, or in one if a run of spaces is too long for several.
func reportOf(t interface{ Fatal(...any) }, e *Engine, content []byte, window int) Report {
	return examineWindows(t, &Examiner{Window: window}, e, content)
}

// said is what a find says of a content; "" for nothing.
func said(f *Find) string {
	if f == nil {
		return ""
	}
	text := fmt.Sprintf("%s, %d times, marked %t:", f.Evidence.Encoding, f.Evidence.Occurrences, f.Marked)
	for _, k := range f.kept {
		text += fmt.Sprintf(" %d-%d %d", k.start, k.end, k.enc)
	}
	return text
}

// compare compares what windows of a size find of texts in a content with what one window does. What that is to be
// lab/naive says, with windows of any size, too.
func compare(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, texts []asked, content []byte, window int) {
	want := examine(t, texts, content, 0)
	for i, f := range examine(t, texts, content, window) {
		if said(f) != said(want[i]) {
			t.Fatalf("%q %+v in %q, windows of %d bytes:\n got %s\nwant %s",
				texts[i].text, texts[i].Options, content, window, said(f), said(want[i]))
		}
	}
}

var (
	spaces     = Options{Spaces: true}
	words      = Options{Words: true}
	ignoreCase = Options{IgnoreCase: true}
	all        = Options{Spaces: true, Words: true, IgnoreCase: true}
)

func TestOptions(t *testing.T) {
	long := strings.Repeat(" \t", 30)
	for _, c := range []struct {
		text    string
		o       Options
		content string
		at      []int // start and end of the first; nil: none
		count   int64
	}{
		{"a = b", spaces, "x a = b", []int{2, 7}, 1},
		{"a = b", spaces, "a=b", []int{0, 3}, 1},
		{"a = b", spaces, "a\t =b a= \tb", []int{0, 5}, 2},
		{"a = b", spaces, "a =\nb", nil, 0},
		{"a = b", spaces, "a\v= b", nil, 0},
		{"a = b", spaces, "a\u00a0= b", nil, 0},
		{"a= b", spaces, "a = b", nil, 0}, // no run in the text, none in the content
		{"acl = \"public-read\"", spaces, "acl    =\t\"public-read\"", []int{0, 22}, 1},
		{"if err", spaces, "iferr if  err", []int{6, 13}, 1},
		{"if err", spaces, "if\terr", []int{0, 6}, 1},
		{"if é", spaces, "ifé", []int{0, 4}, 1},
		{"a = = = b", spaces, "a = = = = b a===b", []int{12, 17}, 1},
		{"a b", spaces, "a" + long + "b", []int{0, 62}, 1},
		{"a b", spaces, "aa" + long + "b", []int{1, 63}, 1},
		{"a\n b", spaces, "a\r\n\t\tb a\nb", []int{0, 6}, 2},
		{"a \n b", spaces, "a \t\r\n  b", []int{0, 8}, 1},
		{"a\nb", spaces, "a \nb", nil, 0},
		{"\n  a", spaces, "x\r\na", []int{1, 4}, 1},
		{"} {", spaces, "}{} {}  {", []int{0, 2}, 3},
		{"= =", spaces, "= = = = =", []int{0, 3}, 2},

		{"std::bind", words, "std::binder xstd::bind std::bind", []int{23, 32}, 1},
		{"a-a", words, "xa-a-a", []int{3, 6}, 1},
		{"a-a", words, "a-a-a-a", []int{0, 3}, 2},
		{"aa", words, "aaa aa", []int{4, 6}, 1},
		{"-a", words, "x-a", []int{1, 3}, 1},
		{"a-", words, "a-x xa-", []int{0, 2}, 1},
		{"a", words, "a", []int{0, 1}, 1},
		{"a", words, "éa", []int{2, 3}, 1}, // a word character is ASCII
		{"é", words, "aéa", []int{1, 3}, 1},
		{"a_", words, "a__ a_", []int{4, 6}, 1},

		{"tlsv1.0", ignoreCase, "TLSv1.0 TlsV1.0 tlsv1-0", []int{0, 7}, 2},
		{"K", ignoreCase, "\u212a k", []int{4, 5}, 1},
		{"É a", ignoreCase, "é A É A", []int{5, 9}, 1},
		{"@[`{a", ignoreCase, "`{@[A @[`{A", []int{6, 11}, 1},

		{"Key = Value", all, "akey=value key \t=\tVALUE", []int{11, 23}, 1},
		{"key = value", all, "KEY=valued", nil, 0},
	} {
		finds := examine(t, []asked{{c.text, c.o}}, []byte(c.content), 0)
		var at []int
		var count int64
		if f := finds[0]; f != nil {
			at, count = []int{int(f.kept[0].match.start), int(f.kept[0].match.end)}, f.Evidence.Occurrences
		}
		if len(at) != len(c.at) || len(at) > 0 && (at[0] != c.at[0] || at[1] != c.at[1]) || count != c.count {
			t.Errorf("%q %+v in %q: %d times, the first at %v; want %d, %v",
				c.text, c.o, c.content, count, at, c.count, c.at)
		}
		for enc := range encodings {
			one := []asked{{c.text, c.o}}
			compare(t, one, enc.encode(c.content), 1)
			f := examine(t, one, enc.encode(c.content), 0)[0]
			if long := len([]rune(c.text)) > 1 && !c.o.Words; long && (f == nil) != (c.count == 0) ||
				long && f != nil && f.Evidence.Occurrences != c.count {
				t.Errorf("%q %+v in %q, %v: %s, want %d times", c.text, c.o, c.content, enc, said(f), c.count)
			}
		}
	}
}

// TestFarBeginning: a match begins where it begins, however far before what is rare in it.
func TestFarBeginning(t *testing.T) {
	run := strings.Repeat(" ", 30_000)
	for _, text := range []string{"k = value_9", "value_9 = k"} {
		for enc := range encodings {
			before := strings.Repeat("... \n", 2000)
			content := enc.encode(before + strings.ReplaceAll(text, " ", run) + " k = value_8")
			f := examine(t, []asked{{text, spaces}, {"value_9", Options{}}}, content, 1<<20)[0]
			if start := int64(len(enc.encode(before))); f == nil || f.kept[0].match.start != start ||
				f.kept[0].match.end != start+int64(len(text)-2+2*len(run))*int64(enc.unit()) ||
				f.Evidence.Occurrences != 1 {
				t.Errorf("%q, %v: %+v", text, enc, f)
			}
		}
	}
}

// drawAsked draws a text of few characters with options that a bundle can hold.
func drawAsked(t *rapid.T) asked {
	pieces := []string{
		"a", "A", "b", "=", "-", "_", " ", "  ", "\t", " ", "\n", "\r\n", "\r", "é", "†", "\U0001f600",
		"\u2000", "\x00", "\U00090020", "慡",
	}
	for {
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "length") {
			b.WriteString(rapid.SampledFrom(pieces).Draw(t, "piece"))
		}
		o := Options{
			Spaces: rapid.Bool().Draw(t, "spaces"), Words: rapid.Bool().Draw(t, "words"),
			IgnoreCase:  rapid.Bool().Draw(t, "case"),
			WithinLines: rapid.SampledFrom([]int{0, 0, 1, 2, 4}).Draw(t, "lines"),
		}
		a := asked{b.String(), o}
		if strings.TrimSpace(a.text) != "" && (!a.Spaces || strings.Trim(a.text, " \t") == a.text) {
			return a
		}
	}
}

// drawContent draws bytes in which texts nearly occur, in several encodings and at any alignment.
func drawContent(t *rapid.T, texts []asked) []byte {
	var content []byte
	if rapid.IntRange(0, 3).Draw(t, "marked") == 0 {
		content = append(content, encoding(rapid.IntRange(0, int(encodings)-1).Draw(t, "mark")).bom()...)
	}
	enc := encoding(rapid.IntRange(0, int(encodings)-1).Draw(t, "encoding"))
	for range rapid.IntRange(0, 24).Draw(t, "pieces") {
		switch rapid.IntRange(0, 11).Draw(t, "kind") {
		case 0:
			enc = encoding(rapid.IntRange(0, int(encodings)-1).Draw(t, "encoding"))
		case 1:
			odd := rapid.SampledFrom([]string{"\x00", " ", "\t", "\x00\x00\x00", "x"}).Draw(t, "odd")
			content = append(content, odd...)
		case 2, 3:
			run := rapid.SampledFrom([]string{" ", "\t", " \t", "\u2000", "†"}).Draw(t, "run")
			content = append(content, enc.encode(strings.Repeat(run, rapid.IntRange(1, 40).Draw(t, "times")))...)
		case 4, 5:
			char := rapid.SampledFrom([]string{"a", "B", "=", "_", "\n", "\r\n", "\r", "-", "é"}).Draw(t, "char")
			content = append(content, enc.encode(char)...)
		default: // a text, its runs and cases changed
			var b strings.Builder
			for _, c := range rapid.SampledFrom(texts).Draw(t, "text").text {
				switch s := string(c); rapid.IntRange(0, 7).Draw(t, "change") {
				case 0:
					s = strings.ToUpper(s)
					b.WriteString(strings.ToValidUTF8(s, "?"))
				case 1:
					b.WriteString(s + rapid.SampledFrom([]string{" ", "\t", "", "\r", "a"}).Draw(t, "more"))
				case 2:
					if strings.TrimSpace(s) != "" {
						b.WriteString(s)
					}
				default:
					b.WriteString(s)
				}
			}
			content = append(content, enc.encode(b.String())...)
		}
	}
	return content
}

// TestOptionsInWindows: texts with any options in contents of any encodings, over windows of any size.
func TestOptionsInWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var texts []asked
		for range rapid.IntRange(1, 5).Draw(t, "texts") {
			texts = append(texts, drawAsked(t))
		}
		compare(t, texts, drawContent(t, texts), rapid.SampledFrom([]int{0, 1, 5, 16, 64, 200}).Draw(t, "window"))
	})
}

func FuzzOptions(f *testing.F) {
	f.Add("a = b", byte(1), []byte("a = b a\t=  b"), byte(0), uint16(1))
	f.Add("a = = = b", byte(7), []byte("= = A = = = B"), byte(0x11), uint16(1))
	f.Add("ab", byte(8), []byte("ab\r\nab"), byte(2), uint16(1))
	f.Add("†", byte(2), []byte("a††a"), byte(2), uint16(0))
	f.Add("† †", byte(1), []byte("††   †"), byte(0x21), uint16(3))
	f.Add("\n a\n", byte(3), []byte("\r\n\ta\r\n"), byte(0x33), uint16(1))
	f.Add("† †", byte(1), []byte("     ††"), byte(8), uint16(9)) // a dagger is two spaces in UTF-16
	f.Add("† †", byte(1), []byte("††         †"), byte(8), uint16(20))
	f.Add("\u2000 \u2000", byte(1), []byte("\x00 \x00 \x00 \x00 "), byte(8), uint16(0))
	f.Add("ab", byte(0x17), []byte("\xff\xfe\x0a\x0aa\x00b\x00\n\x00a\x00b\x00"), byte(8), uint16(16))
	f.Add("\na", byte(8), []byte("ab\n\x00a\x00b\x00"), byte(8), uint16(0)) // aligned it is in line 2
	f.Add("  key", byte(7), []byte("key"), byte(0), uint16(0))
	f.Fuzz(func(t *testing.T, text string, options byte, content []byte, encode byte, window uint16) {
		a := asked{text, Options{Spaces: options&1 > 0, Words: options&2 > 0, IgnoreCase: options&4 > 0,
			WithinLines: int(options >> 3 & 3)}}
		switch {
		case strings.ToValidUTF8(text, "") != text || strings.TrimSpace(text) == "",
			len(text) > 64 || len(content) > 4<<10,
			a.Spaces && strings.Trim(text, " \t") != text:
			t.Skip()
		}
		if enc := encoding(encode & 7); enc < encodings {
			content = enc.encode(strings.ToValidUTF8(string(content), "?"))
		}
		content = append(make([]byte, encode>>4&3), content...)
		compare(t, []asked{a, {text, Options{}}}, content, int(window))
	})
}
