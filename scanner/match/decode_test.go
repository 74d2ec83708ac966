package match

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/verdict"
)

// A written is a text in an encoding, with its mark, and where each of its characters is.
type written struct {
	content []byte
	at      []int64 // of each character of the text, and of its end
	of      []int   // the same, in the text as UTF-8
	lines   []int64 // the line of each, 1-based
	starts  []int64 // where that begins
	units   []int64 // UTF-16 code units before it in its line, a mark not counted
}

// write encodes a text, character by character. name is an encoding, or "" for UTF-8 without a mark.
func write(name, text string) written {
	var w written
	add := func(r rune) {
		var order binary.AppendByteOrder = binary.LittleEndian
		if strings.HasSuffix(name, "be") {
			order = binary.BigEndian
		}
		switch {
		case strings.HasPrefix(name, "utf-16"):
			for _, u := range utf16.Encode([]rune{r}) {
				w.content = order.AppendUint16(w.content, u)
			}
		case strings.HasPrefix(name, "utf-32"):
			w.content = order.AppendUint32(w.content, uint32(r))
		default:
			w.content = utf8.AppendRune(w.content, r)
		}
	}
	if name != "" {
		add('\ufeff')
	}
	line, start, units, of := int64(1), int64(0), int64(0), 0
	note := func() {
		w.at, w.of = append(w.at, int64(len(w.content))), append(w.of, of)
		w.lines, w.starts, w.units = append(w.lines, line), append(w.starts, start), append(w.units, units)
	}
	chars := []rune(text)
	for i, r := range chars {
		note()
		add(r)
		of += utf8.RuneLen(r)
		units += int64(len(utf16.Encode([]rune{r})))
		if r == '\n' || r == '\r' && (i+1 == len(chars) || chars[i+1] != '\n') {
			line, start, units = line+1, int64(len(w.content)), 0
		}
	}
	note()
	return w
}

// A content in any encoding is the text that was written, and the evidence of a part of it is at its bytes in the
// content.
func TestLocate(t *testing.T) {
	texts := rapid.StringOfN(rapid.SampledFrom([]rune("ab: \n\r\tä世\U0001f600\u2028")), 1, 60, -1)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"", "utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"}).Draw(t,
			"encoding")
		text := texts.Draw(t, "text")
		w := write(name, text)
		got, ok := Decode(w.content)
		if !ok || string(got.UTF8) != text {
			t.Fatalf("%v, %q is %q", ok, w.content, got.UTF8)
		}
		var regions []Region
		var from, to []int
		for range rapid.IntRange(1, 4).Draw(t, "regions") {
			a := rapid.IntRange(0, len(w.at)-1).Draw(t, "start")
			b := rapid.IntRange(a, len(w.at)-1).Draw(t, "end")
			regions, from, to = append(regions, Region{w.of[a], w.of[b]}), append(from, a), append(to, b)
		}
		x := Examiner{Window: rapid.SampledFrom([]int{0, 64}).Draw(t, "window"), Limit: 1}
		var lists [][]Region // of each region a list that ends with all
		for i := range regions {
			lists = append(lists, append([]Region{regions[i]}, regions...))
		}
		finds, err := x.Locate(t.Context(), got, lists)
		if err != nil || len(finds) != len(regions) {
			t.Fatalf("%d finds: %v", len(finds), err)
		}
		for i, f := range finds {
			for k, p := range f.Evidence.Places {
				e := finds[max(k-1, 0)].Evidence
				if k == 0 {
					e = f.Evidence
				}
				if want := (verdict.Place{Offset: e.Offset, Line: e.Line, Column: e.Column, EndLine: e.EndLine,
					EndColumn: e.EndColumn}); p != want {
					t.Fatalf("place %d is %+v, want %+v", k, p, want)
				}
			}
			a, b, e := from[i], to[i], f.Evidence
			want := fmt.Sprint(w.at[a], w.lines[a], w.at[a]-w.starts[a]+1, w.units[a]+1,
				w.lines[b], w.at[b]-w.starts[b]+1, w.units[b]+1)
			shown := fmt.Sprint(e.Offset, e.Line, e.Column, e.UTF16Column, e.EndLine, e.EndColumn, e.UTF16EndColumn)
			if shown != want {
				t.Fatalf("region %v of %q in %q: %s, want %s", regions[i], text, name, shown, want)
			}
			if part := text[w.of[a]:w.of[b]]; f.Matched != part {
				t.Fatalf("%q, want %q", f.Matched, part)
			}
		}
	})
}

// Invalid text in the mark's encoding is refused at the first invalid unit.
func TestDecodeRefuses(t *testing.T) {
	for content, want := range map[string]string{
		"\xff\xfea\x00b":                           "a",
		"\xff\xfea\x00\x00\xd8":                    "a",
		"\xff\xfe\x00\xdca\x00":                    "",
		"\xfe\xff\xd8\x00\x00a":                    "",
		"\xff\xfe\x00\x00a\x00\x00\x00\x00\x00":    "a",
		"\xff\xfe\x00\x00\x00\xd8\x00\x00":         "",
		"\x00\x00\xfe\xff\x00\x00\x00a\x7f\xff":    "a",
		"\xff\xfe\x00\x00\xff\xff\xff\xff\x00\x00": "",
	} {
		text, ok := Decode([]byte(content))
		if ok || string(text.UTF8) != want {
			t.Errorf("%q: %q, %v", content, text.UTF8, ok)
		}
	}
	for _, content := range []string{"", "\xef\xbb\xbf", "\xff", "\xff\xfe", "\xff\xfe\x00\x00", "\xef\xbb\xbf\xff",
		"\xff\xfe\xfd\xff"} {
		if text, ok := Decode([]byte(content)); !ok || slices.Contains(text.UTF8, 0) {
			t.Errorf("%q: %q, %v", content, text.UTF8, ok)
		}
	}
}

// Bytes that are not text are one U+FFFD for each longest beginning of a character, also where the text ends within
// one (table 3-11 of the Unicode Standard 16.0 is the third).
func TestNoText(t *testing.T) {
	for data, want := range map[string]string{
		"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82A": strings.Repeat("\ufffd", 8) + "A",
		"\xf4\x91\x92\x93\xffA\x80\xbfB":    strings.Repeat("\ufffd", 5) + "A\ufffd\ufffdB",
		"\xe1\x80\xe2\xf0\x91\x92\xf1\xbfA": strings.Repeat("\ufffd", 4) + "A",
		"a\xe2\x82":                         "a\ufffd",
		"a\xe2":                             "a\ufffd",
		"a\xf0\x90\x80":                     "a\ufffd",
	} {
		if got := string(utf8Enc.text(slices.Clip([]byte(data)), false)); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}
