package scanner

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// A judgement is an input of the fuzz target.
type judgement struct {
	patterns string // one after another, separated by U+001E
	content  string // bytes, or text that is encoded first
	encode   byte   // see build
	pad      uint32 // bytes of filler before the content
}

// The bits of judgement.encode.
const (
	asText   = 0x07 // 0: the content is bytes; 1..5: text to be written in that encoding
	withMark = 0x08 // a byte order mark first
	shift    = 0x30 // 0..3 bytes before all, which break the alignment
	redacted = 0x40 // the second rule redacts
	onDisk   = 0x80 // scanned from a file, too
)

// most is the longest filler: slightly more than a window.
const most = 2*match.WindowSize + 100<<10

// build returns the rules and the bytes of a judgement; no rules if no bundle could have them.
func (j judgement) build() ([]rules.Rule, []byte) {
	var patterns []string
	seen := map[string]bool{}
	for p := range strings.SplitSeq(strings.ToValidUTF8(j.patterns, "\ufffd"), "\x1e") {
		if strings.TrimSpace(p) != "" && len(p) <= 64 && !seen[p] && len(patterns) < 8 {
			patterns, seen[p] = append(patterns, p), true
		}
	}
	if len(patterns) == 0 || len(j.content) > 8<<10 {
		return nil, nil
	}
	content := []byte(j.content)
	if enc := int(j.encode & asText); 1 <= enc && enc <= len(oracleEncodings) {
		content = oracleEncodeAll(enc-1, strings.ToValidUTF8(j.content, "\ufffd"))
		if j.encode&withMark != 0 {
			content = append(oracleEncode(enc-1, 0xFEFF), content...)
		}
	}
	content = append([]byte("xyz")[:j.encode&shift>>4], content...)
	if pad := int(j.pad % most); pad > 0 {
		line := "cidr = 10.0.0.0/8   # ......................................\n"
		content = append([]byte(strings.Repeat(line, pad/len(line)+1)[:pad]), content...)
	}
	half := (len(patterns) + 1) / 2
	list := []rules.Rule{testRule("B-1", patterns[:half]...), testRule("I-1", patterns[half:]...)}
	list[1].Type, list[1].Message, list[1].Redact = rules.Invariant, "do not", j.encode&redacted != 0
	if half == len(patterns) {
		list = list[:1]
	}
	return list, content
}

// hold compares every way of checking the content with the oracle.
func (j judgement) hold(t *testing.T) {
	list, data := j.build()
	if list == nil {
		t.Skip()
	}
	const path = "dir/main.tf"
	want := oracle(list, path, data)
	b := rules.New(list, nil)
	compare := func(way string, got []verdict.Violation) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("patterns %q in %d bytes %.300q: %s differs from the oracle (-oracle +got):\n%s", j.patterns, len(data), data, way, d)
		}
	}
	got, err := check.File(context.Background(), b, path, data)
	must(t, err)
	compare("Check", got)

	way, wrap := "OneByteReader", iotest.OneByteReader
	switch {
	case len(data) > 16<<10:
		way, wrap = "HalfReader", iotest.HalfReader
	case len(data)%3 == 0:
		way, wrap = "DataErrReader", iotest.DataErrReader
	}
	input := fakeFiles(func(string) (tree.Content, error) { return newReadContent(data, wrap), nil }, path)
	if j.encode&onDisk != 0 {
		dir := t.TempDir()
		must(t, os.Mkdir(filepath.Join(dir, "dir"), 0o777))
		must(t, os.WriteFile(filepath.Join(dir, path), data, 0o666))
		v := scanTree(t, b, tree.Dir(openRoot(t, dir)), testOptions{})
		compare("Scan from disk", v.Violations)
	}
	v := scanTree(t, b, input, testOptions{})
	compare("Scan by "+way, v.Violations)
	pointer := len(data) < 1024 && bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/"))
	if v.Coverage.Scanned == 1 && v.Coverage.Bytes != int64(len(data)) || (v.Coverage.Scanned == 1) == pointer {
		t.Errorf("scanned %d files of %d bytes, want one of %d, unless it is a pointer (%v)", v.Coverage.Scanned, v.Coverage.Bytes, len(data), pointer)
	}
}

// judgements are the seeds, and also a separate test.
var judgements = map[string]judgement{
	"first byte":                     {"0.0.0.0/0", "0.0.0.0/0\n", 0, 0},
	"last byte":                      {"::/0", "x = ::/0", 0, 0},
	"whole file":                     {"abc", "abc", onDisk, 0},
	"nowhere":                        {"abc", "abd", 0, 0},
	"empty file":                     {"abc", "", onDisk, 0},
	"prefix, suffix, inner":          {"abcd\x1eab\x1ecd\x1ebc\x1eabc", "..abcd..abc", 0, 0},
	"overlaps itself":                {"aa\x1eaaa", "aaaaaaaa", 0, 0},
	"LF pattern, CRLF file":          {"a:\n  b", "x\r\na:\r\n  b\r\n", 0, 0},
	"CRLF pattern, LF file":          {"a:\r\n  b", "x\na:\n  b\n", 0, 0},
	"pattern begins with a line end": {"\nb\x1e\n\nb", "a\r\n\r\nb", 0, 0},
	"pattern ends in a line end":     {"b\n\x1eb\n\n", "a\nb\r\n\r\nb\n", 0, 0},
	"pattern ends in a CR":           {"b\r\x1eb\r\r\n", "a\nb\r\r\nc", 0, 0},
	"lone CR":                        {"c", "a\rb\r\r\nc\n\rc", 0, 0},
	"other line ends":                {"c", "a\u0085b\u2028b\u2029b\vb\fc", 0, 0},
	"line end in UTF-16LE":           {"a\nb", "x\ra\r\nb\r", 2, 0},
	"line end in UTF-32BE":           {"a\nb", "x\ra\r\nb\r", 5 | withMark, 0},
	"line end runs on, UTF-16LE":     {"\u0a00\nb", "\u0a00\u0a00\r\nb", 2, 0},
	"UTF-8 with mark":                {"key", "\n key", 1 | withMark, 0},
	"UTF-8 with mark, line 1":        {"key", "a key", 1 | withMark, 0},
	"UTF-16LE":                       {"secret\x1ee", "a\nsecret = 1\n", 2, 0},
	"UTF-16LE with mark":             {"secret\x1ee", "a\nsecret = 1\n", 2 | withMark, 0},
	"UTF-16BE":                       {"secret\x1ee", "a\nsecret = 1\n", 3, 0},
	"UTF-16BE with mark":             {"secret\x1ee", "a\nsecret = 1\n", 3 | withMark, 0},
	"UTF-32LE with mark":             {"secret\x1ee", "a\nsecret = 1\n", 4 | withMark, 0},
	"UTF-32BE with mark":             {"secret\x1ee", "a\nsecret = 1\n", 5 | withMark, 0},
	"UTF-16LE, odd":                  {"secret", "a\nsecret = 1\n", 2 | 1<<4, 0},
	"UTF-16BE, odd":                  {"secret", "a\nsecret = 1\n", 3 | 1<<4, 0},
	"UTF-16LE with mark, odd":        {"secret", "a secret = 1\n", 2 | withMark | 1<<4, 0},
	"UTF-32LE, 3 bytes off":          {"secret", "a\nsecret = 1\n", 4 | 3<<4, 0},
	"UTF-32BE, 2 bytes off":          {"secret", "a\nsecret = 1\n", 5 | 2<<4, 0},
	"UTF-16LE, a byte too many":      {"ab", "a\x00b\x00c", 0, 0},
	"both byte orders at once":       {"ab", "\x00a\x00b\x00", 0, 0},
	"both, aligned second":           {"ab", "xx\x00a\x00b\x00yy", 1 << 4, 0},
	"both, of four bytes":            {"ab", "\x00\x00\x00a\x00\x00\x00b\x00\x00\x00", 1 << 4, 0},
	"both, units of equal bytes":     {"\u0101\u0101", "x\x01\x01\x01\x01\x01\x01", 0, 0},
	"two encodings in one file":      {"ab", "a\x00b\x00 ab", 0, 0},
	"UTF-16LE, odd after a mark":     {"key", "\xff\xfe!k\x00e\x00y\x00", 0, 0},
	"invalid UTF-8 around":           {"key", "\xff\xfekey\xc3", 0, 0},
	"Latin-1 around":                 {"key", "\xe4\xf6\xfc key \xdf\xe9\n", redacted, 0},
	"cut characters":                 {"key", "\xe2\x82key\xf0\x90\x80\xe2\x82\xac\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf key", 0, 0},
	"characters beyond U+FFFF":       {"\U0001f600x\x1e\U0001f600", "\U0001f601\U0001f600\U0001f600x", 2 | withMark, 0},
	"lone surrogates":                {"key", "\x3d\xd8k\x00e\x00y\x00\x00\xdc\x00\xde", 0, 0},
	"surrogates in UTF-32":           {"key", "\x00\xd8\x00\x00k\x00\x00\x00e\x00\x00\x00y\x00\x00\x00\x00\x00\x11\x00", 0, 0},
	"a mark within":                  {"key", "a\ufeffkey\ufeff", 2 | withMark, 0},
	"the mark is the pattern":        {"\ufeff\x1e\ufeffkey", "key", 1 | withMark, 0},
	"FF FE 00 00 marks two":          {"k", "\xff\xfe\x00\x00k\x00\x00\x00", 0, 0},
	"long line":                      {"key", strings.Repeat("x", 3000) + "key" + strings.Repeat("y", 3000), 0, 0},
	"long line of emoji, UTF-16":     {"key", strings.Repeat("\U0001f600", 700) + "key" + strings.Repeat("\U0001f601", 300), 2, 0},
	"same line many times":           {"key", strings.Repeat("key\n", 300), 0, 0},
	"same hash, other spaces":        {"key = 1", "key=1\n\tkey=1\r\nkey = 1\n", 0, 0},
	"same hash, three times before":  {"a b", strings.Repeat("ab\n"+strings.Repeat("x", 100)+"\n", 3) + "a b\n" + strings.Repeat("x", 100), 0, 0},
	"more text than is looked at":    {"key", "a key b\n" + strings.Repeat("y\n", 4000), 0, 0},
	"a mark and nothing else":        {"\ufeff", "\ufeff", 2, 0},
	"redacted, second rule":          {"a\x1epassword", "a password = hunter2\u2003x\n", redacted, 0},
	"LFS pointer":                    {"sha256", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", onDisk, 0},
	"across a window":                {"0.0.0.0/0\x1ekey", "0.0.0.0/0 key\n", onDisk, match.WindowSize - 4},
	"across a window, UTF-16":        {"0.0.0.0/0\nkey", "a 0.0.0.0/0\r\nkey\n", 2 | onDisk, match.WindowSize - 20},
	"begins with a window":           {"0.0.0.0/0", "0.0.0.0/0", onDisk, match.WindowSize},
	"ends a window":                  {"0.0.0.0/0", "0.0.0.0/0", onDisk, match.WindowSize - 9},
	"CRLF across a window":           {"\nkey\x1ekey", "\r\nkey", 0, match.WindowSize - 1},
	"character across a window":      {"key", "\u20ac\U0001f600key", 0, match.WindowSize - 2},
	"no line end in two windows":     {"key", strings.Repeat("z", 8000) + "key", 0, 2 * match.WindowSize},
}

func TestOracle(t *testing.T) {
	for name, j := range judgements {
		t.Run(name, func(t *testing.T) {
			if list, _ := j.build(); list == nil {
				t.Fatal("it means nothing")
			}
			j.hold(t)
		})
	}
}

// A match of every variant is found at every offset around the end of a window.
func TestOracleAroundWindows(t *testing.T) {
	step := uint32(3)
	if !*long {
		step = 23
	}
	for enc := range byte(len(oracleEncodings)) {
		for pad := uint32(match.WindowSize - 60); pad < match.WindowSize+4; pad += step {
			judgement{"a\nkey\x1ey\r\n\x1ekey", "\r\na\r\nkey\r\n\x00", enc + 1, pad}.hold(t)
		}
	}
}

// The longest possible match is found once at every offset near the end of a window.
func TestEveryPlaceAroundAWindow(t *testing.T) {
	const pattern, text = "a\n\nkey", "a\r\n\r\nkey"
	filler := bytes.Repeat([]byte("x = 10.0.0.0/8\n"), 2*match.WindowSize/15)
	for enc, e := range oracleEncodings {
		form := oracleEncodeAll(enc, text)
		for at := match.WindowSize - len(form) - 8; at <= match.WindowSize+8; at++ {
			data := slices.Concat(filler[:at], form, filler[:at%300])
			got, err := check.File(t.Context(), testBundle(pattern), "main.tf", data)
			must(t, err)
			if len(got) != 1 || got[0].Evidence.Offset != int64(at) || got[0].Evidence.Occurrences != 1 || got[0].Evidence.Encoding != e.name {
				t.Errorf("%s at %d: %+v", e.name, at, got)
			}
		}
	}
}

// FuzzCheck compares every way of checking a short content with the oracle. (TestOracleAroundWindows and FuzzStream
// test long ones; a file on disk takes the time of fifty contents in memory.)
func FuzzCheck(f *testing.F) {
	for _, j := range judgements {
		f.Add(j.patterns, j.content, j.encode)
	}
	f.Fuzz(func(t *testing.T, patterns, content string, encode byte) {
		judgement{patterns, content, encode &^ onDisk, 0}.hold(t)
	})
}

// FuzzStream: windows of a few bytes, shorter than the patterns and their evidence, give the same result as one
// window.
func FuzzStream(f *testing.F) {
	for _, j := range judgements {
		f.Add(j.patterns, j.content, j.encode, byte(len(j.content)))
	}
	f.Fuzz(func(t *testing.T, patterns, content string, encode, window byte) {
		list, data := judgement{patterns, content, encode, 0}.build()
		if list == nil {
			t.Skip()
		}
		b := rules.New(list, nil)
		whole, pieces := check.NewContentChecker(b), check.NewContentChecker(b)
		whole.Window = len(data) + 1    // a longer one would take most of the time
		pieces.Window = 1 + int(window) // and no shorter than four of the longest pattern
		want, err := whole.Check(t.Context(), "main.tf", data)
		must(t, err)
		got, err := pieces.Check(t.Context(), "main.tf", data)
		must(t, err)
		if !reflect.DeepEqual(want, got) {
			d := cmp.Diff(want, got)
			t.Errorf("patterns %q in %q: windows of %d bytes (+) and one (-):\n%s", patterns, data, pieces.Window, d)
		}
	})
}
