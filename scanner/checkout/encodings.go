package checkout

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

// ErrUnencodable is the error of a [Reader] whose text is not UTF-8, or has a character that systems write differently
// in the encoding: where the encoding lacks it, some write "?" or "*" instead, and git keeps the whole file as it is.
var ErrUnencodable = errors.New("a character has no portable form in the encoding")

// An Encoding is one way of a system to write text.
type Encoding struct {
	unit  int                    // bytes of a code unit: 1, 2 or 4
	order binary.AppendByteOrder // of a code unit
	bom   bool                   // a byte order mark comes first
	last  rune                   // characters above it cannot be written
	page  *codePage              // of a single byte; nil: Unicode
}

// Encodings returns how systems read a value of working-tree-encoding; nothing if git writes UTF-8. Where systems
// choose the byte order, both are returned. known is true only of Unicode's encodings and single-byte code pages.
func Encodings(value string) (all []Encoding, known bool) {
	name := strings.ToLower(value)
	if rest, ok := strings.CutPrefix(name, "utf"); ok { // as git, which reads utf16 as UTF-16
		name = "utf-" + strings.TrimPrefix(rest, "-")
	}
	if all, known = unicodeEncodings(name); !known {
		all, known = codePageOf(name)
	}
	return all, known
}

// unicodeEncodings is [Encodings] for Unicode's names, in lower case. UCS-2 is UTF-16 without surrogates.
func unicodeEncodings(name string) (all []Encoding, known bool) {
	little, big := Encoding{order: binary.LittleEndian}, Encoding{order: binary.BigEndian}
	of := func(unit int, bom bool, last rune, orders ...Encoding) ([]Encoding, bool) {
		for i := range orders {
			orders[i].unit, orders[i].bom, orders[i].last = unit, bom, last
		}
		return orders, true
	}
	switch name {
	case "", "utf-8", "iso-10646/utf-8/", "iso-10646/utf8/", "iso-ir-193", "osf05010001":
		return nil, true
	case "utf-16":
		return of(2, true, utf8.MaxRune, little, big)
	case "utf-16le":
		return of(2, false, utf8.MaxRune, little)
	case "utf-16be":
		return of(2, false, utf8.MaxRune, big)
	case "utf-16le-bom":
		return of(2, true, utf8.MaxRune, little)
	case "utf-16be-bom":
		return of(2, true, utf8.MaxRune, big)
	case "utf-32":
		return of(4, true, utf8.MaxRune, little, big)
	case "utf-32le", "ucs-4le":
		return of(4, false, utf8.MaxRune, little)
	case "utf-32be", "ucs-4be":
		return of(4, false, utf8.MaxRune, big)
	case "ucs-4", "ucs4", "csucs4", "iso-10646", "iso-10646/ucs4/", "iso-10646/ucs4", "iso-10646-ucs-4", "10646-1:1993",
		"10646-1:1993/ucs4/", "osf00010104", "osf00010105", "osf00010106",
		"internal", "ucs-4-internal", "ucs-4-swapped":
		return of(4, false, utf8.MaxRune, little, big)
	case "ucs-2", "ucs2", "iso-10646/ucs2/", "iso-10646-ucs-2", "osf00010100", "osf00010101", "osf00010102",
		"ucs-2-internal", "ucs-2-swapped": // the machine's order in the GNU C library, big-endian in others
		return of(2, false, 0xffff, little, big)
	case "unicode", "csunicode":
		return of(2, true, 0xffff, little, big)
	case "ucs-2le", "unicodelittle":
		return of(2, false, 0xffff, little)
	case "ucs-2be", "unicodebig", "unicode-1-1", "csunicode11":
		return of(2, false, 0xffff, big)
	case "wchar_t": // 4 bytes, on Windows 2
		all, _ = of(4, false, utf8.MaxRune, little, big)
		windows, _ := of(2, false, utf8.MaxRune, little)
		return append(all, windows...), true
	}
	return nil, false
}

// append appends a character; ok is false if it has no portable form.
func (e *Encoding) append(out []byte, c rune) (_ []byte, ok bool) {
	switch {
	case e.page != nil:
		b, ok := e.page.encode(c)
		return append(out, b), ok
	case c > e.last:
		return out, false
	case e.unit == 1:
		return append(out, byte(c)), true
	case e.unit == 4:
		return e.order.AppendUint32(out, uint32(c)), true
	}
	var units [2]uint16
	for _, u := range utf16.AppendRune(units[:0], c) {
		out = e.order.AppendUint16(out, u)
	}
	return out, true
}

// A Reader is a text in an encoding. Memory does not grow with its length.
type Reader struct {
	text    io.ReadSeeker // in UTF-8
	encoded *transform.Reader
	enc     Encoding
	offset  int64 // bytes, of the encoded text
}

// NewReader returns a text in an encoding. text is at its start.
func NewReader(text io.ReadSeeker, enc Encoding) *Reader {
	r := &Reader{text: text, enc: enc}
	r.encoded = transform.NewReader(text, &encoder{Encoding: enc})
	return r
}

// Read is io.Reader's.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.encoded.Read(p)
	r.offset += int64(n)
	return n, err
}

// Seek is io.Seeker's, from the start only. Going back reads the text from its start.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.New("an encoded text is sought from its start")
	}
	if offset < r.offset {
		if _, err := r.text.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		*r = *NewReader(r.text, r.enc)
	}
	_, err := io.CopyN(io.Discard, r, offset-r.offset)
	return r.offset, err
}

type encoder struct {
	Encoding
	begun bool
}

func (e *encoder) Reset() { e.begun = false }

func (e *encoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		c, n := rune(src[nSrc]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRune(src[nSrc:])
		}
		switch {
		case c != utf8.RuneError || n > 1:
		case !atEOF && !utf8.FullRune(src[nSrc:]):
			return nDst, nSrc, transform.ErrShortSrc
		default:
			return nDst, nSrc, ErrUnencodable
		}
		var room [8]byte
		out := room[:0]
		if e.bom && !e.begun {
			out, _ = e.append(out, '\ufeff')
		}
		out, ok := e.append(out, c)
		switch {
		case !ok:
			return nDst, nSrc, ErrUnencodable
		case len(out) > len(dst)-nDst:
			return nDst, nSrc, transform.ErrShortDst
		}
		e.begun = true
		nDst += copy(dst[nDst:], out)
		nSrc += n
	}
	return nDst, nSrc, nil
}

// A codePage is an encoding with one byte for each character.
type codePage struct {
	names string // of the GNU C library's iconv and of GNU libiconv, in lower case; see codePageOf
	*charmap.Charmap
	differing string // characters that some iconv writes differently from the charmap
}

func (p *codePage) encode(c rune) (byte, bool) {
	if 0x80 <= c && c < 0xa0 && strings.HasPrefix(p.names, "iso-8859-") { // which the charmap skips
		return byte(c), true
	}
	b, ok := p.EncodeRune(c)
	return b, ok && !strings.ContainsRune(p.differing, c)
}

// codePageOf returns the encoding of a name in lower case; known is false if it is not a code page. ISO 8859 has a
// name with and without each dash, and with a year.
func codePageOf(name string) (_ []Encoding, known bool) {
	if number, iso := strings.CutPrefix(strings.NewReplacer("-", "", "_", "").Replace(name), "iso8859"); iso {
		number, _, _ = strings.Cut(number, ":")
		name = "iso-8859-" + number
	}
	for _, p := range codePages() {
		switch {
		case !slices.Contains(strings.Fields(p.names), name):
		case p.Charmap == nil:
			return []Encoding{{unit: 1, last: 0x7f}}, true
		default:
			return []Encoding{{unit: 1, page: &p}}, true
		}
	}
	return nil, false
}

// codePages returns the known code pages. ASCII has no charmap.
func codePages() []codePage {
	return []codePage{
		{names: "us-ascii ascii ansi_x3.4-1968 ansi_x3.4-1986 iso646-us iso_646.irv:1991 us cp367 ibm367 csascii"},
		{"iso-8859-1 iso-ir-100 latin1 latin-1 l1 cp819 ibm819 csisolatin1", charmap.ISO8859_1, ""},
		{"iso-8859-2 iso-ir-101 latin2 l2 csisolatin2", charmap.ISO8859_2, ""},
		{"iso-8859-3 iso-ir-109 latin3 l3 csisolatin3", charmap.ISO8859_3, ""},
		{"iso-8859-4 iso-ir-110 latin4 l4 csisolatin4", charmap.ISO8859_4, ""},
		{"iso-8859-5 iso-ir-144 cyrillic csisolatincyrillic", charmap.ISO8859_5, ""},
		{"iso-8859-6 iso-ir-127 arabic asmo-708 ecma-114 csisolatinarabic", charmap.ISO8859_6, ""},
		{"iso-8859-7 iso-ir-126 greek greek8 ecma-118 elot_928 csisolatingreek", charmap.ISO8859_7, ""},
		{"iso-8859-8 iso-ir-138 hebrew csisolatinhebrew", charmap.ISO8859_8, ""},
		{"iso-8859-9 iso-ir-148 latin5 l5 csisolatin5", charmap.ISO8859_9, ""},
		{"iso-8859-10 iso-ir-157 latin6 l6 csisolatin6", charmap.ISO8859_10, ""},
		{"iso-8859-13 iso-ir-179 latin7 l7", charmap.ISO8859_13, ""},
		{"iso-8859-14 iso-ir-199 latin8 l8", charmap.ISO8859_14, ""},
		{"iso-8859-15 iso-ir-203 latin-9", charmap.ISO8859_15, ""},
		{"iso-8859-16 iso-ir-226 latin10 l10", charmap.ISO8859_16, ""},
		{"ibm037 cp037 ebcdic-cp-ca ebcdic-cp-nl ebcdic-cp-us ebcdic-cp-wt csibm037", charmap.CodePage037, ""},
		{"ibm437 cp437 437 cspc8codepage437", charmap.CodePage437, ""},
		{"ibm850 cp850 850 cspc850multilingual", charmap.CodePage850, ""},
		{"ibm852 cp852 852 cspcp852", charmap.CodePage852, ""},
		{"ibm855 cp855 855 csibm855", charmap.CodePage855, ""},
		{"ibm858 cp858 858 cspc858multilingual", charmap.CodePage858, ""},
		{"ibm860 cp860 860 csibm860", charmap.CodePage860, ""},
		{"ibm862 cp862 862 cspc862latinhebrew", charmap.CodePage862, ""},
		{"ibm863 cp863 863 csibm863", charmap.CodePage863, ""},
		{"ibm865 cp865 865 csibm865", charmap.CodePage865, ""},
		{"ibm866 cp866 866 csibm866", charmap.CodePage866, ""},
		{"ibm1047 ibm-1047 cp1047 1047", charmap.CodePage1047, ""},
		{"ibm1140 ibm-1140 cp1140", charmap.CodePage1140, ""},
		{"koi8-r koi8r cskoi8r", charmap.KOI8R, ""},
		{"koi8-u", charmap.KOI8U, "Ўў"},
		{"macintosh mac csmacintosh", charmap.Macintosh, "∆\uf8ff"},
		{"mac-cyrillic maccyrillic", charmap.MacintoshCyrillic, "Ґ€"},
		{"windows-874 cp874", charmap.Windows874, ""},
		{"windows-1250 cp1250 ms-ee", charmap.Windows1250, ""},
		{"windows-1251 cp1251 ms-cyrl", charmap.Windows1251, ""},
		{"windows-1252 cp1252 ms-ansi", charmap.Windows1252, ""},
		{"windows-1253 cp1253 ms-greek", charmap.Windows1253, ""},
		{"windows-1254 cp1254 ms-turk", charmap.Windows1254, ""},
		{"windows-1255 cp1255 ms-hebr", charmap.Windows1255, "\u05ba"},
		{"windows-1256 cp1256 ms-arab", charmap.Windows1256, ""},
		{"windows-1257 cp1257 winbaltrim", charmap.Windows1257, ""},
		{"windows-1258 cp1258", charmap.Windows1258, ""},
	}
}
