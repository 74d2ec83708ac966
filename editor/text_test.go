package editor

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

// A naiveText is a text as a list of lines, each of characters with its end.
type naiveText [][]rune

func newNaive(s string) naiveText {
	lines := naiveText{nil}
	runes := []rune(s)
	for i, c := range runes {
		last := len(lines) - 1
		lines[last] = append(lines[last], c)
		if c == '\n' || c == '\r' && (i+1 == len(runes) || runes[i+1] != '\n') {
			lines = append(lines, nil)
		}
	}
	return lines
}

func naiveUnits(c rune, e encoding) int {
	switch e {
	case utf8Units:
		return len(string(c))
	case utf16Units:
		return len(utf16.Encode([]rune{c}))
	}
	return 1
}

// index returns the number of characters before a position.
func (n naiveText) index(p position, e encoding) int {
	before := 0
	for i, line := range n {
		if i < p.Line {
			before += len(line)
			continue
		}
		units := 0
		for _, c := range line {
			if units += naiveUnits(c, e); c == '\r' || c == '\n' || units > p.Character {
				break
			}
			before++
		}
		return before
	}
	return before
}

func (n naiveText) edited(r textRange, by string, e encoding) naiveText {
	var all []rune
	for _, line := range n {
		all = append(all, line...)
	}
	start, end := n.index(r.Start, e), n.index(r.End, e)
	if start > end {
		start, end = end, start
	}
	return newNaive(string(all[:start]) + by + string(all[end:]))
}

func (n naiveText) String() string {
	var b strings.Builder
	for _, line := range n {
		b.WriteString(string(line))
	}
	return b.String()
}

// TestEdits compares edits at any positions, inside and outside of the text, with a naive implementation.
func TestEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "é", "🎉", "\n", "\r\n", "\r", "\ufeff", "€", " "}
	random := func() string {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	at := func() position { return position{r.IntN(7), r.IntN(14)} }
	for range 20_000 {
		e := []encoding{utf8Units, utf16Units, utf32Units}[r.IntN(3)]
		s := random()
		is, naive := newText([]byte(s)), newNaive(s)
		for range 3 {
			r, by := textRange{at(), at()}, random()
			before := naive.String()
			is, naive = is.edited(r, by, e), naive.edited(r, by, e)
			if string(is.bytes) != naive.String() {
				t.Fatalf("%s: %q with %v as %q is %q, not %q", e, before, r, by, is.bytes, naive)
			}
		}
		// The position of each character leads back to it.
		for i := range string(is.bytes) {
			p := is.position(i, e)
			back := is.offset(p, e)
			if _, end := is.line(p.Line); back != i && i <= end {
				t.Fatalf("%s: %q: offset %d is %v, which is %d", e, is.bytes, i, p, back)
			}
		}
	}
}

func TestPositions(t *testing.T) {
	text := newText([]byte("é🎉x\r\ny\rz"))
	for _, c := range []struct {
		encoding encoding
		at       position
		offset   int
	}{
		{utf16Units, position{0, 0}, 0}, {utf16Units, position{0, 1}, 2}, {utf16Units, position{0, 3}, 6},
		{utf16Units, position{0, 2}, 2}, // within the second character
		{utf8Units, position{0, 2}, 2}, {utf8Units, position{0, 6}, 6}, {utf32Units, position{0, 2}, 6},
		{utf16Units, position{0, 99}, 7}, {utf16Units, position{1, 1}, 10}, {utf16Units, position{2, 1}, 12},
		{utf16Units, position{99, 0}, 12}, {utf16Units, position{-1, 5}, 0}, {utf16Units, position{1, -5}, 9},
	} {
		if got := text.offset(c.at, c.encoding); got != c.offset {
			t.Errorf("%s %v: %d, not %d", c.encoding, c.at, got, c.offset)
		}
	}
}

func TestURIs(t *testing.T) {
	for _, c := range []struct {
		uri     string
		windows bool
		path    string
	}{
		{"file:///a%20b/%C3%A9%23.tf", false, "/a b/é#.tf"}, {"FILE://localhost/a/../b", false, "/b"},
		{"file://server/share/x", false, ""}, {"untitled:Untitled-1", false, ""}, {"file:relative", false, ""},
		{"http:///a", false, ""}, {"file:///a%00b", false, ""}, {"%", false, ""}, {"", false, ""},
		{"file:///c%3A/Users/x.tf", true, `C:\Users\x.tf`}, {"file:///C:/x", true, `C:\x`},
		{"file://server/share/x", true, `\\server\share\x`}, {"file:///x", true, ""},
	} {
		if got := pathOn(c.uri, c.windows); got != c.path {
			t.Errorf("%s: %q, not %q", c.uri, got, c.path)
		}
	}
	for path, uri := range map[string]string{
		"/a b/é#?.tf": "file:///a%20b/%C3%A9%23%3F.tf", "C:/x": "file:///C:/x", "//server/share/x": "file://server/share/x",
	} {
		if got := uriOf(path); got != uri {
			t.Errorf("%s: %s, not %s", path, got, uri)
		}
	}
}

// TestOutline: what is read of a text is no more than is there, whatever it is.
func TestOutline(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"a", ": ", "- ", "\n", "  ", "{", "}", "[", "]", ",", "\"", "'", "|", "#", "x:", "\\", "\r"}
	for range 50_000 {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteString(words[r.IntN(len(words))])
		}
		o := readOutline([]byte(b.String()))
		for i, n := range o.nodes {
			if n.start < 0 || n.start > n.end || n.end > b.Len() || n.parent >= i || n.parent >= 0 && !o.nodes[n.parent].isKey {
				t.Fatalf("%q: node %d is %+v", b.String(), i, n)
			}
		}
	}
}

// TestOutlineKeys: the keys of a text, each with those above it.
func TestOutlineKeys(t *testing.T) {
	for text, want := range map[string]string{
		"a:\n  b: 1\nc: 2\n": "a|a b|c",
		"rules:\n- id: x\n  match: {files: [a, {b: c}]}\n": "rules|rules id|rules match|rules match files|rules match files b",
		"a: |\n  b: 1\n\n  c: 2\nd: >-\n  e: 1\n":          "a|d",
		"- a: |\n    b: 1\n  c: 2\n":                       "a|c",
		"a: \"x \\\" b: {c: 1}\"\nd: 'e: 1'\n":             "a|d",
		"# a: 1\nb: 1 # c: 2\n\"d e\": 1\n":                "b|d e",
		"a: {b: [\n  c,\n  {d: 1}],\n e: 2}\nf: 1\n":       "a|a b|a b d|a e|f",
		"a: {b: \"x\\\", c: 1\"}\n":                        "a|a b",
		"a: http://x:1/{y}\n":                              "a",
	} {
		o := readOutline([]byte(text))
		var got []string
		for i, n := range o.nodes {
			if n.isKey {
				got = append(got, o.path(i))
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// TestEveryKeyHasAText: each key of each rule file has a text for hover and completion.
func TestEveryKeyHasAText(t *testing.T) {
	keys := 0
	for _, file := range []string{"boundaries.yml", "invariants.yml", "deprecated.yml", "allowances.yml", "other.yml"} {
		o := readOutline([]byte("bundle: \"0.2\"\ntype: invariant\n"))
		var walk func(path string)
		walk = func(path string) {
			s, parts := schemaAt(file, o, path)
			for name, text := range s.keys(parts) {
				if keys++; text == "" {
					t.Errorf("%s: %s %s has no text", file, path, name)
				}
				walk(path + " " + name)
			}
		}
		walk("")
	}
	if keys < 150 {
		t.Errorf("only %d keys", keys)
	}
}
