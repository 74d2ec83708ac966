package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"html"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// The targets here hold one escaper each. Those of whole reports hold all of a document, and are a hundred times
// slower.

// hostileTexts adds the seeds.
func hostileTexts(f *testing.F) {
	for _, s := range allHostile(f) {
		f.Add(s)
	}
}

func allHostile(t testing.TB) []string {
	return append(hostileMarkdown(t), "::stop-commands::k", " ::error::x", "]]><!--", "<![CDATA[", "\ufffe\uffff",
		"\xed\xa0\x80", "[a](1) {0} \\[not](2)", "%41\\x41\xff", "//host/x", `\u{1b}`)
}

// hostileMarkdown is every way of Markdown, and of those who render it, to be more than text: a Go string in each line
// of a file, which the conformance tests read, too.
func hostileMarkdown(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/hostile-markdown.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		s, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, s)
	}
	return all
}

// FuzzEscapeJSON: JSON of a text is the text, and safe to print.
func FuzzEscapeJSON(f *testing.F) {
	hostileTexts(f)
	f.Fuzz(func(t *testing.T, s string) {
		text, err := verdict.JSON([]string{s})
		if err != nil {
			t.Fatal(err)
		}
		wantSafe(t, string(text), false)
		wantNoCommand(t, string(text))
		var got []string
		if err := json.Unmarshal(text, &got); err != nil || !slices.Equal(got, []string{string([]rune(s))}) {
			t.Errorf("%q became %q: %v", s, got, err)
		}
	})
}

// FuzzEscapeXML: an attribute and an element read as the text that is visible.
func FuzzEscapeXML(f *testing.F) {
	hostileTexts(f)
	f.Fuzz(func(t *testing.T, s string) {
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i] = verdict.Visible(lines[i])
		}
		wrote, err := xml.Marshal(&struct {
			XMLName xml.Name `xml:"e"`
			A       string   `xml:"a,attr"`
			Text    string   `xml:",chardata"`
		}{A: verdict.Visible(s), Text: "\n" + strings.Join(lines, "\n")})
		if err != nil {
			t.Fatal(err)
		}
		text := inertXML(string(wrote))
		wantSafe(t, text, false)
		wantNoCommand(t, text)
		var got struct {
			XMLName xml.Name
			A       string `xml:"a,attr"`
			Text    string `xml:",chardata"`
			Inner   []any  `xml:",any"`
		}
		if err := xml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got.A != verdict.Visible(s) || got.Text != "\n"+strings.Join(lines, "\n") || got.Inner != nil {
			t.Errorf("%q became %+v", s, got)
		}
	})
}

// FuzzEscapeMarkdown: code is the text, in Markdown and in HTML; prose and lines are safe
// to print. What a reader of Markdown makes of whole pages is asked by FuzzMarkdown in lab/conformance/reports.
func FuzzEscapeMarkdown(f *testing.F) {
	hostileTexts(f)
	f.Fuzz(func(t *testing.T, s string) {
		skipLong(t, 300, s)
		for _, text := range []string{codeMarkdown(s), codeHTML(s), prose(s, codeMarkdown), lines(s)} {
			wantSafe(t, text, false)
			wantNoCommand(t, text)
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(codeHTML(s), "<code>"), "</code>")
		if strings.ContainsAny(inner, "<>") || html.UnescapeString(inner) != inert(s) {
			t.Errorf("%q is the element %q", s, codeHTML(s))
		}
		// Spans of one backtick, between which what would end one, or a table's cell, is an entity.
		got, rest := "", codeMarkdown(s)
		for rest != "" {
			m := codePiece.FindStringSubmatch(rest)
			if m == nil {
				t.Fatalf("%q is not code: %q", s, codeMarkdown(s))
			}
			rest = rest[len(m[0]):]
			span := m[1]
			if len(span) > 2 && span[0] == ' ' && span[len(span)-1] == ' ' && strings.Trim(span, " ") != "" {
				span = span[1 : len(span)-1] // as in CommonMark
			}
			got += span + html.UnescapeString(m[2])
		}
		if got != inert(s) {
			t.Errorf("%q is read as %q", s, got)
		}
	})
}

var codePiece = regexp.MustCompile("^(?:`([^`|\\n]+)`|(&#96;|&#124;))")

// FuzzEscapeCommand: the runner reads one command with the path, the title and the text, and nothing else.
func FuzzEscapeCommand(f *testing.F) {
	hostileTexts(f)
	f.Add("=%0A%3A%2C,%253A")
	f.Fuzz(func(t *testing.T, s string) {
		skipLong(t, 1000, s)
		a := annotation{file: verdict.Path(s), line: 1, end: 2, title: "policyscan: " + s,
			lines: append([]string{"x"}, textLines(s)...)}
		var b bytes.Buffer
		w := bufio.NewWriter(&b)
		a.write(w, "error")
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		wantSafe(t, b.String(), false)
		line, ok := strings.CutSuffix(b.String(), "\n")
		c, read := readCommand(line)
		if !ok || !read || c.name != "error" || len(runnerLines(line)) != 1 {
			t.Fatalf("%q is the command %q, %+v", s, line, c)
		}
		want := map[string]string{"title": cut(flow(a.title), 255)}
		if file := realPath(a.file); file != "" {
			if file[0] == '=' {
				file = "./" + file
			}
			want["file"], want["line"], want["endline"] = file, "1", "2"
		}
		if !maps.Equal(c.properties, want) {
			t.Errorf("%q: %q, want %q", s, c.properties, want)
		}
		if text := cut(strings.ReplaceAll(strings.Join(a.lines, "\n"), "##[", `#\u{23}[`), 4096); c.data != text {
			t.Errorf("%q is the message %q, want %q", s, c.data, text)
		}
	})
}

// FuzzEscapeSARIF: no link and no placeholder in a message, and a URI that is the path.
func FuzzEscapeSARIF(f *testing.F) {
	hostileTexts(f)
	f.Fuzz(func(t *testing.T, s string) {
		if got := plainText(t, sarifEscape(s)); got != s {
			t.Errorf("%q is read as %q", s, got)
		}
		short := sarifPlain(s, 40)
		if got := plainText(t, short); len([]rune(short)) > 40 || got != s &&
			(!strings.HasSuffix(got, ellipsis) || !strings.HasPrefix(s, strings.TrimSuffix(got, ellipsis))) {
			t.Errorf("%q is cut to %q", s, short)
		}
		u, err := url.Parse(relativeURI(s))
		if err != nil || u.Path != s || u.Scheme+u.Host+u.RawQuery+u.Fragment != "" {
			t.Errorf("%q is the URI %q: %v", s, u, err)
		}
	})
}

// FuzzDefuse: the runner finds no command in a line that a terminal shows.
func FuzzDefuse(f *testing.F) {
	hostileTexts(f)
	f.Fuzz(func(t *testing.T, s string) {
		line := verdict.Visible(s)
		got := verdict.Defuse(line)
		wantSafe(t, got, false)
		wantNoCommand(t, got)
		if plain := strings.NewReplacer(`\u{3a}`, ":", `\u{23}`, "#"); plain.Replace(got) != plain.Replace(line) {
			t.Errorf("%q became %q", line, got)
		}
	})
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
		{"x", "nineteen columns.!!", "", "xnineteen columns.!!", " ^^^^^^^^^^^^^^^^^^^"},
		{"xx", "nineteen columns.!!", "yy", "…nineteen columns.!…", " ^^^^^^^^^^^^^^^^^^^"},
		{"", "twenty columns of it", "", "twenty columns of it", "^^^^^^^^^^^^^^^^^^^^"},
		{"", "twenty columns of it", "yy", "twenty columns of i…", "^^^^^^^^^^^^^^^^^^^^"},
	} {
		w := textWriter{TextOptions: TextOptions{Width: 10 + room}}
		left, match, right := sourceLine(&verdict.Evidence{Excerpt: c.before + c.match + c.after, Pattern: c.match,
			UTF16Column: utf16Len(c.before) + 1})
		src, carets := w.snippet(left, match, right, room)
		if src != c.src || carets != c.carets || columns(src) > room {
			t.Errorf("got\n%s\n%s\nwant\n%s\n%s", src, carets, c.src, c.carets)
		}
	}
}

// FuzzExcerptMatch compares the range of a match with that of a regular expression.
func FuzzExcerptMatch(f *testing.F) {
	f.Add("nothing, BA ", "BAD", " BAD")
	f.Add("x\r\n", "\n\n", "y")
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

		for _, text := range []string{before + pattern + after, before + strings.ReplaceAll(pattern, "\n", "\r\n") +
			after} {
			e := verdict.Evidence{Excerpt: text, Pattern: pattern}
			start, end := matchInExcerpt(&e)
			if start < 0 || end < start || end > len(text) || !utf8.ValidString(text[:start]) ||
				!utf8.ValidString(text[start:end]) {
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
