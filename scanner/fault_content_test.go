package scanner

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// The tests called TestFault_NNN follow the rows of docs/faults.md.

// found scans one file on disk that must match the pattern, and returns its evidence.
func found(t *testing.T, content, pattern string) verdict.Evidence {
	t.Helper()
	dir := writeTree(t, map[string]string{"main.tf": content})
	v := scanDir(t, dir, testBundle(pattern), testOptions{})
	wantOutcome(t, v, "F")
	if len(v.Violations) != 1 || v.Coverage.Bytes != int64(len(content)) {
		t.Fatalf("%d violations, %d of %d bytes scanned", len(v.Violations), v.Coverage.Bytes, len(content))
	}
	return v.Violations[0].Evidence
}

// notFound scans one file that must not match the pattern.
func notFound(t *testing.T, content, pattern string) {
	t.Helper()
	v := scanDir(t, writeTree(t, map[string]string{"main.tf": content}), testBundle(pattern), testOptions{})
	wantOutcome(t, v, "P")
	if v.Coverage.Scanned != 1 || v.Coverage.Bytes != int64(len(content)) {
		t.Errorf("%d of %d bytes scanned", v.Coverage.Bytes, len(content))
	}
}

func TestFault_001_FirstLastWhole(t *testing.T) {
	for _, c := range []struct {
		content string
		offset  int64
	}{{"0.0.0.0/0 rest\n", 0}, {"a = 0.0.0.0/0", 4}, {"0.0.0.0/0", 0}} {
		if e := found(t, c.content, "0.0.0.0/0"); e.Offset != c.offset || e.Column != c.offset+1 ||
			e.EndColumn != c.offset+10 {
			t.Errorf("%q: evidence %+v", c.content, e)
		}
	}
}

func TestFault_002_ChunkBoundaries(t *testing.T) {
	text := []byte(strings.Repeat("x = 10.0.0.0/8\n", 20) + "y = 0.0.0.0/0\n")
	want, err := check.File(t.Context(), testBundle("0.0.0.0/0"), "main.tf", text)
	must(t, err)
	hesitant := func(r io.Reader) io.Reader {
		calls := 0
		return readerFunc(func(p []byte) (int, error) {
			if calls++; calls%100 > 0 {
				return 0, nil
			}
			return r.Read(p[:min(len(p), 40)])
		})
	}
	wraps := []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader, hesitant}
	for size := 1; size <= 4096; size += 1 + size/16 {
		wraps = append(wraps, func(r io.Reader) io.Reader { return &chunkReader{r, size} })
	}
	for i, wrap := range wraps {
		input := fakeFiles(func(string) (tree.Content, error) { return newReadContent(text, wrap), nil }, "main.tf")
		v := scanTree(t, testBundle("0.0.0.0/0"), input, testOptions{})
		wantOutcome(t, v, "F")
		if len(v.Violations) != 1 || !reflect.DeepEqual(v.Violations[0], want[0]) {
			t.Errorf("reader %d: %+v, want %+v", i, v.Violations, want)
		}
	}
}

// A chunkReader reads at most size bytes at a time.
type chunkReader struct {
	r    io.Reader
	size int
}

func (c *chunkReader) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.size)]) }

func TestFault_003_NUL(t *testing.T) {
	found(t, "\x00a = key\n", "key")
	found(t, "a = key\n\x00", "key")
	found(t, strings.Repeat("\x00", 1<<20)+"key", "key")
	found(t, "a\x00b", "a\x00b")
}

func TestFault_004_UTF16(t *testing.T) {
	foundWide(t, "utf-16le")
	foundWide(t, "utf-16be")
}

func TestFault_005_UTF32(t *testing.T) {
	foundWide(t, "utf-32le")
	foundWide(t, "utf-32be")
}

var wideEncodings = map[string]struct {
	unit   int64
	encode func(string) string
}{
	"utf-16le": {2, utf16LE},
	"utf-16be": {2, func(text string) string { return reversed(utf16LE(text), 2) }},
	"utf-32le": {4, utf32LE},
	"utf-32be": {4, func(text string) string { return reversed(utf32LE(text), 4) }},
}

func utf32LE(text string) string {
	var b []byte
	for _, r := range text {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	return string(b)
}

// reversed reverses the bytes of each unit.
func reversed(text string, unit int) string {
	b := []byte(text)
	for at := 0; at < len(b); at += unit {
		slices.Reverse(b[at : at+unit])
	}
	return string(b)
}

// foundWide: with and without a byte order mark, at every alignment, of any script.
func foundWide(t *testing.T, name string) {
	t.Helper()
	unit, encode := wideEncodings[name].unit, wideEncodings[name].encode
	for _, pattern := range []string{"0.0.0.0/0", "пароль", "秘密", "a\U0001f600"} {
		for _, mark := range []string{"", "\ufeff"} {
			for shift := range unit {
				text := strings.Repeat("z", int(shift)) + encode(mark+"first\r\nx = "+pattern+"\n")
				e := found(t, text, pattern)
				if shift == 0 && (e.Encoding != name || e.Line != 2 || e.Column != 4*unit+1 || e.UTF16Column != 5 ||
					e.Excerpt != "x = "+pattern) {
					t.Errorf("%s, mark %q, %q: %+v", name, mark, pattern, e)
				}
			}
		}
	}
	// One character: only after the mark.
	notFound(t, encode("x = é"), "é")
	found(t, encode("\ufeffx = é"), "é")
}

func TestFault_006_InvalidUTF8(t *testing.T) {
	if e := found(t, "caf\xe9 = \xff\xfekey\xc3\n", "key"); e.Excerpt != "caf\ufffd = \ufffd\ufffdkey\ufffd" ||
		e.Column != 10 || e.UTF16Column != 10 {
		t.Errorf("%+v", e)
	}
	found(t, "\xc3key", "key")
	found(t, "\xe4\xf6key\x80", "key")
}

func TestFault_007_Mark(t *testing.T) {
	e := found(t, "\ufeffa = key\n", "key")
	if e.Offset != 7 || e.Line != 1 || e.Column != 8 || e.UTF16Column != 5 || e.Excerpt != "a = key" {
		t.Errorf("offset and column count the mark, the UTF-16 column and the excerpt do not: %+v", e)
	}
}

func TestFault_008_LineEnds(t *testing.T) {
	for _, c := range []struct {
		before       string
		line, column int64
	}{
		{"a\nb\n", 3, 1}, {"a\r\nb\r\n", 3, 1}, {"a\rb\r", 3, 1}, {"a\n\rb\r\n\n", 5, 1}, {"a\r\r\n", 3, 1},
		{"a\u0085b\u2028c\u2029", 1, 12}, {"a\vb\f", 1, 5}, {"a\rb", 2, 2},
	} {
		if e := found(t, c.before+"key", "key"); e.Line != c.line || e.Column != c.column {
			t.Errorf("after %q: line %d, column %d; want %d, %d", c.before, e.Line, e.Column, c.line, c.column)
		}
	}
}

func TestFault_009_LineEndInPattern(t *testing.T) {
	for _, pattern := range []string{"from:\n  key", "from:\r\n  key"} {
		for _, content := range []string{"\nfrom:\n  key\n", "\nfrom:\r\n  key\r\n"} {
			found(t, content, pattern)
			for _, wide := range wideEncodings {
				found(t, wide.encode(content), pattern)
			}
		}
		notFound(t, "from:\r  key", pattern)
		notFound(t, "from:\n\n  key", pattern)
		notFound(t, "from:\r\r\n  key", pattern)
	}
}

func TestFault_014_Empty(t *testing.T) {
	v := scanDir(t, writeTree(t, map[string]string{"empty.tf": ""}), testBundle("key"), testOptions{})
	wantOutcome(t, v, "P")
	if c := v.Coverage; c.Files != 1 || c.Scanned != 1 || c.Bytes != 0 {
		t.Errorf("%+v", c)
	}
}

// procfs gives every file the size 0.
func TestFault_015_SizeZero(t *testing.T) {
	const dir = "/proc/sys/kernel"
	text, err := os.ReadFile(dir + "/ostype")
	if runtime.GOOS != "linux" || err != nil {
		t.Skip("needs Linux's procfs")
	}
	input := tree.List(openRoot(t, dir), []string{"ostype"})
	v := scanTree(t, testBundle("Linux"), input, testOptions{})
	wantOutcome(t, v, "F")
	if v.Coverage.Bytes != int64(len(text)) {
		t.Errorf("%d of %d bytes", v.Coverage.Bytes, len(text))
	}
	wantOutcome(t, scanTree(t, testBundle("Linux"), input, testOptions{MaxFileBytes: 3}), "I(E_LIMIT)")
}

// Documented as not found: packed or encoded content.
func TestFault_019_Compressed(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, "key key key key key key key")
	must(t, err)
	must(t, z.Close())
	notFound(t, b.String(), "key key")
	notFound(t, base64.StdEncoding.EncodeToString([]byte("a secret key")), "secret key")
}

func TestFault_020_NoNormalisation(t *testing.T) {
	for _, c := range [][2]string{
		{"caf\u00e9", "cafe\u0301"}, {"cafe\u0301", "caf\u00e9"}, // NFC and NFD
		{"password", "p\u0430ssword"}, // a Cyrillic letter
		{"password", "Password"}, {"password", "PASSWORD"}, {"\u212a", "K"}, {"ſ", "s"}, {"ß", "ss"},
		{"a b", "a\u00a0b"}, {"a b", "a  b"}, {"a\tb", "a b"},
	} {
		notFound(t, "x = "+c[1]+"\n", c[0])
	}
}

func TestFault_021_ManyMatches(t *testing.T) {
	const n = 100_000
	dir := writeTree(t, map[string]string{
		"one-line.tf": strings.Repeat("key", n), "lines.tf": strings.Repeat("key\n", n),
		"wide.tf": wideEncodings["utf-16be"].encode(strings.Repeat("key", n)),
	})
	v := scanDir(t, dir, testBundle("key"), testOptions{})
	wantOutcome(t, v, "F")
	if len(v.Violations) != 3 {
		t.Fatalf("%d violations, want one for each file", len(v.Violations))
	}
	for _, vi := range v.Violations {
		if e := vi.Evidence; e.Occurrences != n || e.Offset != 0 || e.Line != 1 {
			t.Errorf("%s: %+v", vi.File, e)
		}
		if e := vi.Evidence; len(e.Places) != verdict.MaxPlaces || e.Places[99].Offset != 99*e.Places[1].Offset {
			t.Errorf("%s: %d places: %+v", vi.File, len(e.Places), e.Places)
		}
	}
}

// A literal that overlaps itself is counted without overlaps, whatever the windows.
func TestOccurrencesAcrossWindows(t *testing.T) {
	const n = 3*match.WindowSize + 1
	for _, pattern := range []string{"aaa", "aaaaa", "aaaaaaa"} {
		if e := found(t, strings.Repeat("a", n), pattern); e.Occurrences != int64(n/len(pattern)) {
			t.Errorf("%q: %d occurrences in %d bytes", pattern, e.Occurrences, n)
		}
	}
}

func TestFault_022_OverlappingPatterns(t *testing.T) {
	patterns := []string{"0.0.0.0/0", "0.0.0.0", ".0.0/0", "0", "0.0.0.0/0 ", "absent"}
	r := []rules.Rule{testRule("R-1", patterns...), testRule("R-2", patterns[1:]...)}
	dir := writeTree(t, map[string]string{"main.tf": "cidr = 0.0.0.0/0 \n"})
	var got []string
	for _, v := range scanDir(t, dir, rules.New(r, nil), testOptions{}).Violations {
		e := &v.Evidence
		got = append(got, fmt.Sprintf("%s %q at %d: %d", v.RuleID, e.Pattern, e.Offset, e.Occurrences))
	}
	want := []string{`R-1 "0.0.0.0/0" at 7: 1`}
	for _, id := range []string{"R-1", "R-2"} {
		for _, p := range []string{`"0.0.0.0" at 7: 1`, `".0.0/0" at 10: 1`, `"0" at 7: 5`, `"0.0.0.0/0 " at 7: 1`} {
			want = append(want, id+" "+p)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
