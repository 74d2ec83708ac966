package checkout

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

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
