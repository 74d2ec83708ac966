package checkout

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/policyscan/policyscan/internal/cputime"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// encoded returns a text in an encoding.
func encoded(enc Encoding, text string) (string, error) {
	out, err := io.ReadAll(NewReader(strings.NewReader(text), enc))
	return string(out), err
}

// encodingNames returns names of all encodings that are known.
func encodingNames() []string {
	all := []string{
		"UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "UTF-32BE", "utf16", "Utf16le", "utf32be",
		"UCS-2", "ucs2", "ISO-10646/UCS2/", "OSF00010100", "UCS-2LE", "UNICODELITTLE", "UCS-2BE", "UnicodeBig",
		"UNICODE", "CSUNICODE", "UCS-4", "UCS4", "CSUCS4", "ISO-10646", "ISO-10646/UCS4/", "ISO-10646/UCS4",
		"10646-1:1993", "10646-1:1993/UCS4/", "OSF00010104", "UCS-4LE", "UCS-4BE", "WCHAR_T", "INTERNAL",
		"ISO-10646-UCS-2", "UCS-4-INTERNAL", "UCS-2-SWAPPED", "UNICODE-1-1",
		"ISO8859-1", "ISO88592", "ISO_8859-3", "ISO_8859-4:1988",
	}
	for _, p := range codePages() {
		all = append(all, strings.Fields(p.names)...)
	}
	return all
}

func TestEncodings(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"UTF-16LE", "aé😀", "a\x00\xe9\x00\x3d\xd8\x00\xde"},
		{"utf16be", "aé😀", "\x00a\x00\xe9\xd8\x3d\xde\x00"},
		{"UTF-16", "a", "\xff\xfea\x00|\xfe\xff\x00a"},
		{"UTF-16LE-BOM", "a", "\xff\xfea\x00"},
		{"utf16be-bom", "a", "\xfe\xff\x00a"},
		{"UTF-32", "😀", "\xff\xfe\x00\x00\x00\xf6\x01\x00|\x00\x00\xfe\xff\x00\x01\xf6\x00"},
		{"UTF-32LE", "a", "a\x00\x00\x00"},
		{"UTF-16", "", "|"},
		{"UTF-16LE", "\ufeffa\ufffd", "\xff\xfea\x00\xfd\xff"},
		{"IBM037", "cidr = ÷ 0", "\x83\x89\x84\x99\x40\x7e\x40\xe1\x40\xf0"},
		{"ISO-8859-2", "ł\u0085", "\xb3\x85"},
		{"latin1", "é", "\xe9"},
		{"cp1258", "ăé", "\xe3\xe9"},
		{"MS-HEBR", "שלום", "\xf9\xec\xe5\xed"},
		{"UCS-2", "aé", "a\x00\xe9\x00|\x00a\x00\xe9"},
		{"unicode", "a", "\xff\xfea\x00|\xfe\xff\x00a"},
		{"UCS-4", "😀", "\x00\xf6\x01\x00|\x00\x01\xf6\x00"},
		{"wchar_t", "a", "a\x00\x00\x00|\x00\x00\x00a|a\x00"},
	} {
		encodings, known := Encodings(c.name)
		var got []string
		for _, enc := range encodings {
			out, err := encoded(enc, c.text)
			must(t, err)
			got = append(got, out)
		}
		if strings.Join(got, "|") != c.want || !known {
			t.Errorf("%s: %q is %q, want %q", c.name, c.text, got, c.want)
		}
	}
	for _, name := range []string{"ISO-IR-193", "", "UTF-8", "utf8", "Utf-8"} {
		if encodings, known := Encodings(name); len(encodings) != 0 || !known {
			t.Errorf("%q: %d encodings", name, len(encodings))
		}
	}
	for _, name := range []string{
		"UTF--16", "UTF_16", "UTF-16LE//TRANSLIT", "UTF-16LE//IGNORE", "ISO-8859-1//TRANSLIT", "ISO-8859-1 ", "IBM874",
		"UTF-7", "ISO-2022-JP", "HZ", "Shift_JIS", "EUC-JP", "EUC-KR", "GBK", "GB18030", "Big5", "ISO-8859-11", "x",
	} {
		if _, known := Encodings(name); known {
			t.Errorf("%q is known", name)
		}
	}
}

func TestUnencodable(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"UTF-16LE", "a\xff"},
		{"UTF-16LE", "a\xe4\xb8"},
		{"UTF-16LE", "\xed\xa0\x80"},
		{"UTF-32", "\xf4\x90\x80\x80"},
		{"UCS-4", "\xf4\x90\x80\x80"},
		{"UCS-2", "😀"},
		{"IBM037", "€"},
		{"latin1", strings.Repeat("a", 1<<17) + "€"},
		{"latin1", "0.\U000e00410"},
		{"ascii", "é"},
		{"koi8-u", "a\u045e"},
		{"macintosh", "\u2206"},
		{"windows-1258", "\u1ea5"},
	} {
		encodings, _ := Encodings(c.name)
		if len(encodings) == 0 {
			t.Fatal(c.name)
		}
		for _, enc := range encodings {
			if _, err := encoded(enc, c.text); !errors.Is(err, ErrUnencodable) {
				t.Errorf("%s: %.20q: %v", c.name, c.text, err)
			}
		}
	}
}

// TestReader: however a text is read and sought, it is the same in an encoding.
func TestReader(t *testing.T) {
	text := strings.Repeat("aé€😀\n", 10_000)
	encodings, _ := Encodings("UTF-16")
	enc := encodings[0]
	want, err := encoded(enc, text)
	must(t, err)
	for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
		source := strings.NewReader(text)
		got, err := io.ReadAll(NewReader(struct {
			io.Reader
			io.Seeker
		}{wrap(source), source}, enc))
		must(t, err)
		if string(got) != want {
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		}
	}
	r := NewReader(strings.NewReader(text), enc)
	for _, at := range []int{0, 1, 7, len(want) - 3, 5, len(want), 70_001, 70_000} {
		if n, err := r.Seek(int64(at), io.SeekStart); err != nil || n != int64(at) {
			t.Fatal(n, err)
		}
		got := make([]byte, min(100, len(want)-at))
		if _, err := io.ReadFull(r, got); err != nil || string(got) != want[at:at+len(got)] {
			t.Errorf("at %d: %v", at, err)
		}
	}
	if _, err := r.Seek(0, io.SeekEnd); err == nil {
		t.Error("sought from the end")
	}
}

// TestFault_143_Iconv: what is written for a character is what iconv writes.
func TestFault_143_Iconv(t *testing.T) {
	t.Parallel()
	if cputime.RaceDetector {
		t.Skip("there is one goroutine, and each character takes long with the race detector")
	}
	iconv, err := exec.LookPath("iconv")
	if err != nil {
		t.Skip("iconv is not installed")
	}
	tried := 0
	for _, name := range encodingNames() {
		encodings, _ := Encodings(name)
		enc := encodings[0]
		var text strings.Builder
		for c := rune(0); c <= 0x10ffff; c++ {
			if 0xd800 <= c && c < 0xe000 || c > 0xffff && c%61 != 0 {
				continue
			}
			if _, ok := enc.append(nil, c); ok {
				text.WriteRune(c)
			}
		}
		cmd := exec.Command(iconv, "-f", "UTF-8", "-t", name)
		cmd.Stdin = strings.NewReader(text.String())
		got, failed := cmd.Output()
		if failed != nil && len(got) == 0 {
			continue // it does not know the name
		}
		tried++
		same := false
		for _, enc := range encodings { // of the byte orders, iconv has one
			want, err := encoded(enc, text.String())
			must(t, err)
			same = same || string(got) == want
		}
		if !same || failed != nil {
			t.Errorf("%s: iconv writes %d other bytes, %v", name, len(got), failed)
		}
	}
	if tried < 100 {
		t.Errorf("only %d names were tried", tried)
	}
}

// TestFault_143_Checkout: git checkout writes one of a file's encodings, byte for byte, or the blob, which is checked
// anyway.
func TestFault_143_Checkout(t *testing.T) {
	t.Parallel()
	g := newRepository(t)
	texts := map[string]string{
		"ascii": "cidr = \"0.0.0.0/0\"\n", "empty": "", "mark": "\ufeffa\n", "accents": "é\n", "cjk": "椽摩⁲\n",
		"emoji": "😀\n", "tag": "a\U000e0041b\n", "broken": "a\xffb\n", "cut": "a\xe4\xb8",
		"surrogate": "\xed\xa0\x80\n",
		"controls":  "\u0085\u0080\n", "beyond": "\xf4\x90\x80\x80",
	}
	var attributes, stream strings.Builder
	stream.WriteString("commit refs/heads/main\ncommitter a <a@example.com> 1700000000 +0000\ndata 0\n")
	data := func(name, text string) {
		stream.WriteString("M 644 inline " + name + "\ndata " + strconv.Itoa(len(text)) + "\n" + text + "\n")
	}
	all := append(encodingNames(), "UTF-16LE-BOM", "utf-16be-bom")
	for i, name := range all {
		for text := range texts {
			attributes.WriteString(text + strconv.Itoa(i) + " working-tree-encoding=" + name + "\n")
			data(text+strconv.Itoa(i), texts[text])
		}
	}
	data(".gitattributes", attributes.String())
	g.git(stream.String(), "fast-import", "--quiet")
	g.git("", "checkout", "-q", "-f", "main")
	same, encodable := 0, 0
	for i, name := range all {
		encodings, _ := Encodings(name)
		for text := range texts {
			got, err := os.ReadFile(filepath.Join(g.dir, text+strconv.Itoa(i)))
			must(t, err)
			ok := false
			for _, enc := range encodings {
				want, err := encoded(enc, texts[text])
				ok = ok || err == nil && string(got) == want
			}
			if _, err := encoded(encodings[0], texts[text]); err != nil {
				continue // an error of the run, whatever git writes
			}
			encodable++
			switch {
			case ok:
				same++
			case string(got) != texts[text]:
				t.Errorf("%s, %s: git writes %q", name, text, got)
			}
		}
	}
	if same < encodable*9/10 || encodable < len(all)*3 {
		t.Errorf("only %d of %d are as git writes them", same, encodable)
	}
}
