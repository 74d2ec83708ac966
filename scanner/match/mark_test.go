package match

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/internal/cputime"
	"github.com/policyscan/policyscan/verdict"
)

// TestMarksInWindows: the marks of literals in contents of any encodings, over windows of any size.
func TestMarksInWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var patterns []*Pattern
		var texts []asked
		for range rapid.IntRange(1, 4).Draw(t, "texts") {
			a := drawAsked(t)
			texts, patterns = append(texts, a), append(patterns, Compile(a.text, a.Options))
		}
		content := drawContent(t, texts)
		marks := func(window int) map[int][]Mark {
			x := Examiner{Window: window, Mark: true, Bare: true}
			rep := examineWindows(t, &x, NewEngine(patterns), content)
			all := map[int][]Mark{}
			for _, f := range rep.Finds {
				if all[f.Pattern] = f.Marks; int64(len(f.Marks)) != f.Evidence.Occurrences {
					t.Fatalf("%d marks of %d", len(f.Marks), f.Evidence.Occurrences)
				}
			}
			return all
		}
		window := rapid.SampledFrom([]int{1, 2, 5, 64}).Draw(t, "window")
		if got, want := marks(window), marks(0); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q, windows of %d bytes:\n got %+v\nwant %+v", content, window, got, want)
		}
	})
}

// TestMarkedLines: what is remembered is bounded, and marks of a line of any length are found in two passes.
func TestMarkedLines(t *testing.T) {
	for name, c := range map[string]struct{ text, end string }{
		"lines":         {strings.Repeat("key\n", 16<<10), ""},
		"one line":      {strings.Repeat("key ", 16<<10), ""},
		"a long line":   {strings.Repeat("abcd", 16<<10), " key\nkey"},
		"many lines":    {strings.Repeat("abc\n", 16<<10), " key\nkey"},
		"one of spaces": {strings.Repeat(" \t  ", 16<<10), " key\nkey"},
	} {
		content := &repeated{text: c.text, size: int64(often(16 << 20)), end: c.end}
		x := Examiner{Mark: true, Bare: true}
		var rep Report
		took := cputime.Of(func() {
			var err error
			if rep, err = x.Examine(t.Context(), engineOf("key"), content); err != nil {
				t.Fatal(err)
			}
		})
		f := rep.Finds[0]
		t.Logf("%s: %v, %d bytes read", name, took, content.read)
		if n := f.Evidence.Occurrences; int64(len(f.Marks)) != min(n, MaxMarks) ||
			int64(f.Known()) != min(n, MaxMarks+verdict.MaxPlaces) {
			t.Errorf("%s: %d marks, %d known of %d", name, len(f.Marks), f.Known(), n)
		}
		if content.read > 4*content.size+content.size/4 {
			t.Errorf("%s: %d bytes were read", name, content.read)
		}
		if c.end != "" && (f.Marks[0].Line == f.Marks[1].Line) != (c.text[0] == ' ' || c.text[3] == '\n') {
			t.Errorf("%s: %+v", name, f.Marks)
		}
	}
}

// TestShow: any occurrence has the evidence that it would have as the only one.
func TestShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a key\n", "\tkey = ä\r\n", "x\n", "key key\r", "ä\n"}), 1,
			300).Draw(t, "lines")
		content := []byte(strings.Join(lines, ""))
		enc := encoding(rapid.IntRange(0, int(encodings)-1).Draw(t, "encoding"))
		encoded := enc.encode(string(content))
		x := Examiner{Mark: true}
		rep, err := x.Examine(t.Context(), engineOf("key"), bytes.NewReader(encoded))
		must(t, err)
		if len(rep.Finds) == 0 {
			return
		}
		f := rep.Finds[0]
		i := rapid.IntRange(0, f.Known()-1).Draw(t, "occurrence")
		places := rapid.SliceOfN(rapid.IntRange(0, f.Known()-1), 0, 200).Draw(t, "places")
		shown, got, err := x.Show(t.Context(), bytes.NewReader(encoded), f, i, places)
		if err != nil || len(got) != len(places) {
			t.Fatalf("%d places of %d: %v", len(got), len(places), err)
		}
		e := shown.Evidence
		for k, p := range append(places, i) {
			want := verdict.Place{Offset: e.Offset, Line: e.Line, Column: e.Column, EndLine: e.EndLine,
				EndColumn: e.EndColumn}
			if k < len(got) {
				want = got[k]
			}
			if p < len(f.Evidence.Places) && f.Evidence.Places[p] != want || want.Offset != f.kept[p].start {
				t.Fatalf("occurrence %d is at %+v", p, want)
			}
		}
		other := bytes.Replace(content, []byte("key"), []byte("k-y"), i) // those before it
		rep, err = x.Examine(t.Context(), engineOf("key"), bytes.NewReader(enc.encode(string(other))))
		must(t, err)
		alone := rep.Finds[0].Evidence
		if e.Line != alone.Line || e.Offset != alone.Offset || e.UTF16Column != alone.UTF16Column ||
			i == 0 && (e.LineHash != alone.LineHash || shown.Matched != rep.Finds[0].Matched) {
			t.Fatalf("%+v, want %+v", e, alone)
		}
	})
}
