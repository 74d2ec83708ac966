package report

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		excerpt, pattern string
		start, end       int
	}{
		{"cidr = 0.0.0.0/0", "0.0.0.0/0", 7, 16},
		{"BAD", "BAD", 0, 3},
		{"a BAD BAD", "BAD", 2, 5},
		{"BA BAD", "BAD", 3, 6},
		{"x\r\ny", "x\ny", 0, 4},
		{"x\ny", "x\r\ny", 0, 3},
		{"x\r\n\r\ny", "\n\n", 1, 5},
		{"世界 BAD", "BAD", 7, 10},
		{"before BADBADBA", "BADBADBADBAD", 7, 15}, // the excerpt holds the beginning
		{"before x\r", "x\n", 7, 9},
		{"nothing", "BAD", 0, 0},
		{"", "BAD", 0, 0},
	} {
		e := verdict.Evidence{Excerpt: c.excerpt, Pattern: c.pattern}
		if start, end := matchInExcerpt(&e); start != c.start || end != c.end {
			t.Errorf("%q in %q: %d, %d, want %d, %d", c.pattern, c.excerpt, start, end, c.start, c.end)
		}
	}
}

// TestSource: where a line is too long, what is around the match is cut first, evenly if
// both sides are long; the match only if it leaves no column for what is missing.
func TestSource(t *testing.T) {
	const room = 20
	marked := func(n int) string { return strings.Repeat("e\u0301", n) } // whose marks are not parted from them
	for _, c := range []struct{ before, match, after, src, carets string }{
		{"before ", "BAD", " after it", "before BAD after it", "       ^^^"},
		{"before ", "BAD", " after all", "before BAD after all", "       ^^^"},
		{"before ", "BAD", " after all.", "before BAD after al…", "       ^^^"},
		{"x ", "BAD", " and what is longer", "x BAD and what is l…", "  ^^^"},
		{"and what is longer ", "BAD", " x", "…hat is longer BAD x", "               ^^^"},
		{"long before this ", "BAD", " long after this, too", "…e this BAD long af…", "        ^^^"},
		{"世界世界世界世界世", "BAD", "世界世界世界世界世", "…世界世BAD世界世界…", "       ^^^"},
		{marked(30), "BAD", "", "…" + marked(16) + "BAD", strings.Repeat(" ", 17) + "^^^"},
		{"e\u0300 ", "BAD", " e\u0300", "e\u0300 BAD e\u0300", "  ^^^"},
		{"x", "eighteen columns.!", "y", "xeighteen columns.!y", " ^^^^^^^^^^^^^^^^^^"},
		{"xx", "eighteen columns.!", "yy", "…eighteen columns.!…", " ^^^^^^^^^^^^^^^^^^"},
		{"x", "nineteen columns.!!", "", "xnineteen columns.…", " ^^^^^^^^^^^^^^^^^^"},
		{"", "nineteen columns.!!", "", "nineteen columns.…", "^^^^^^^^^^^^^^^^^^"},
	} {
		w := textWriter{TextOptions: TextOptions{Width: 10 + room}}
		src, carets := w.source(&verdict.Evidence{Excerpt: c.before + c.match + c.after, Pattern: c.match, UTF16Column: utf16Len(c.before) + 1}, 10)
		if src != c.src || carets != c.carets || drawnWidth(src) > room {
			t.Errorf("got\n%s\n%s\nwant\n%s\n%s", src, carets, c.src, c.carets)
		}
	}
}

// FuzzExcerptMatch checks Match against a regular expression that says the same.
func FuzzExcerptMatch(f *testing.F) {
	f.Add("cidr = ", "0.0.0.0/0", " # x")
	f.Add("\r", "\n\r\n", "\n")
	f.Add("aa", "aab", "b")
	f.Add("世", "界\n", "\r\n")
	f.Add("", "\r\r\n", "")
	f.Add("", strings.Repeat("long ", 60), "x")
	f.Fuzz(func(t *testing.T, before, pattern, after string) {
		if pattern == "" || !utf8.ValidString(before) || !utf8.ValidString(pattern) || !utf8.ValidString(after) {
			t.Skip("a verdict holds UTF-8")
		}
		skipLong(t, 300, before, pattern, after)
		lines := strings.Split(strings.ReplaceAll(pattern, "\r\n", "\n"), "\n")
		for i := range lines {
			lines[i] = regexp.QuoteMeta(lines[i])
		}
		oracle := regexp.MustCompile(strings.Join(lines, `\r?\n`))

		for _, text := range []string{before + pattern + after, before + strings.ReplaceAll(pattern, "\n", "\r\n") + after} {
			e := verdict.Evidence{Excerpt: text, Pattern: pattern}
			start, end := matchInExcerpt(&e)
			if start < 0 || end < start || end > len(text) || !utf8.ValidString(text[:start]) || !utf8.ValidString(text[start:end]) {
				t.Fatalf("%q in %q: %d, %d", pattern, text, start, end)
			}
			if at := oracle.FindStringIndex(text); at != nil && (at[0] != start || at[1] != end) {
				t.Errorf("%q in %q: %d, %d, want %v", pattern, text, start, end, at)
			}
		}

		// An excerpt that ends within the match.
		cut := len(pattern) / 2
		for cut > 0 && !utf8.RuneStart(pattern[cut]) {
			cut--
		}
		if text := before + pattern[:cut]; cut > 0 && oracle.FindStringIndex(text) == nil {
			e := verdict.Evidence{Excerpt: text, Pattern: pattern}
			if start, end := matchInExcerpt(&e); end != len(text) || start > len(before) {
				t.Errorf("the beginning of %q in %q: %d, %d", pattern, text, start, end)
			}
		}
	})
}
