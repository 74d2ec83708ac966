// Package recode writes UTF-8 in other encodings, as git does on checkout for the attribute working-tree-encoding.
//
// It is pure: it knows bytes, and no files and no git. [Forms] says what a value of the attribute means, a
// [Reader] is a blob as one of them.
//
// Git has iconv do the work, and several iconvs are in use. They agree, but for this:
//
//   - UTF-16 and UTF-32 without a byte order are big-endian here and little-endian there, with a byte order mark. Both
//     are forms.
//   - UCS-2, UCS-4 and the like have no fixed byte order. Both are forms.
//   - At a character that the encoding lacks, most give up, and git writes the blob as it is. Others go on: musl's
//     writes `*` in its place, the BSDs' and newer macOS's write `?`. The GNU C library's drops Unicode's tag
//     characters (U+E0000 to U+E007F). [Form.Fallbacks] are these forms.
//   - Some characters are in one's table and not in the other's. A text that has one is [ErrUnsure]. The comparison is
//     of x/text, which writes the forms, with the GNU C library's iconv.
//
// Encodings with escapes (UTF-7, ISO-2022-JP, HZ) are not known: when to switch is for each iconv to choose. Neither
// are those that x/text lacks (EUC-TW, Johab, IBM-943, Shift_JISX0213).
package recode

import (
	"errors"
	"io"
	"unicode/utf8"
)

// Errors of a reader.
var (
	// ErrAsIs says that the text is not UTF-8, or that the encoding lacks one of its characters. Git then writes it as
	// it is.
	ErrAsIs = errors.New("git writes the file as it is")
	// ErrUnsure says that the text has a character of which some iconvs say this and some that.
	ErrUnsure = errors.New("iconv versions write one of its characters differently")

	// errDropped says that the encoding lacks a character which the GNU C library drops.
	errDropped = errors.New("a tag character is dropped")
)

// A Form is an encoding that text is written in.
type Form struct {
	mark   string // that a text begins with
	width  int    // bytes of a unit: 2, 4; 1: see table
	big    bool   // the higher byte comes first
	bmp    bool   // there is no character over U+FFFF
	beyond bool   // the GNU C library has characters over U+10FFFF, up to U+1FFFFF
	table  *table

	lossy bool   // what cannot be written is replaced
	lost  string // by this
}

// Fallbacks returns the form as iconvs write it that do not give up at a character which the encoding lacks: those
// that put `?` or `*` in its place, and those that drop it. They take a byte that is not UTF-8 for such a character.
func (f Form) Fallbacks() []Form {
	var all []Form
	for _, lost := range []string{"?", "*", ""} {
		next := f
		next.lossy, next.lost = true, ""
		for _, c := range lost {
			out, _ := f.append(nil, c) // every encoding has both
			next.lost = string(out)
		}
		all = append(all, next)
	}
	return all
}

// A Reader is a text in a form, to be read more than once. Memory does not grow with its length.
type Reader struct {
	text io.ReadSeeker
	form Form

	in    []byte // of the text: read, and not yet written in the form
	out   []byte // written, and not yet handed on
	space []byte // of out
	at    int64  // of the next byte of the form
	began bool
	lacks bool
	err   error // when out is empty
}

// chunk is how many bytes of the text are written at a time.
const chunk = 32 << 10

// NewReader returns a text in a form. text is at its start.
func NewReader(text io.ReadSeeker, form Form) *Reader { return &Reader{text: text, form: form} }

// Lacks reports whether what was read of the text has something that the encoding lacks: then [Form.Fallbacks] are
// forms, too.
func (r *Reader) Lacks() bool { return r.lacks }

// Read is io.Reader's.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		r.more()
	}
	if len(r.out) == 0 {
		return 0, r.err
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	r.at += int64(n)
	return n, nil
}

// more writes the next chunk of the text.
func (r *Reader) more() {
	if r.space == nil {
		r.in, r.space = make([]byte, 0, chunk), make([]byte, 0, 4*chunk+4)
	}
	n, err := r.text.Read(r.in[len(r.in):cap(r.in)])
	r.in = r.in[:len(r.in)+n]
	r.out = r.space[:0]
	if !r.began && n > 0 {
		r.began = true
		r.out = append(r.out, r.form.mark...)
	}
	rest := r.in
	for len(rest) > 0 && r.err == nil {
		c, n := rune(rest[0]), 1
		if c >= utf8.RuneSelf {
			if (!utf8.FullRune(rest) || r.form.beyond && rest[0] >= 0xf4 && len(rest) < utf8.UTFMax) && err == nil {
				break // the rest of it follows
			}
			c, n = utf8.DecodeRune(rest)
		}
		bad := c == utf8.RuneError && n == 1
		if bad && r.form.beyond {
			c, n = decodeBeyond(rest)
			bad = n == 1
			r.lacks = true // for others
		}
		if bad {
			r.err = ErrAsIs
		} else {
			r.out, r.err = r.form.append(r.out, c)
		}
		if r.err != nil {
			r.give()
		}
		rest = rest[n:]
	}
	r.in = r.in[:copy(r.in, rest)]
	if r.err == nil {
		r.err = err
	}
}

// decodeBeyond decodes a character over U+10FFFF, as UTF-8 would have it if there were such; its length is 1 if it is
// none.
func decodeBeyond(p []byte) (c rune, n int) {
	if len(p) < utf8.UTFMax || p[0] < 0xf4 || p[0] > 0xf7 {
		return utf8.RuneError, 1
	}
	c = rune(p[0] & 7)
	for _, b := range p[1:utf8.UTFMax] {
		if b&0xc0 != 0x80 {
			return utf8.RuneError, 1
		}
		c = c<<6 | rune(b&0x3f)
	}
	return c, utf8.UTFMax
}

// give gives up at what cannot be written, or does not.
func (r *Reader) give() {
	dropped := errors.Is(r.err, errDropped)
	if !dropped && !errors.Is(r.err, ErrAsIs) {
		return
	}
	r.lacks = true
	if r.form.lossy {
		r.out = append(r.out, r.form.lost...)
	}
	if dropped || r.form.lossy {
		r.err = nil
	}
}

// append appends a character.
func (f *Form) append(out []byte, c rune) ([]byte, error) {
	switch {
	case f.width == 1:
		return f.table.append(out, c)
	case f.bmp && c > 0xffff:
		if 0xe0000 <= c && c < 0xe0080 {
			return out, errDropped
		}
		return out, ErrAsIs
	case f.width == 2 && c > 0xffff:
		c -= 0x10000
		return f.unit(f.unit(out, 0xd800+c>>10), 0xdc00+c&0x3ff), nil
	}
	return f.unit(out, c), nil
}

// unit appends a unit of 2 or 4 bytes.
func (f *Form) unit(out []byte, v rune) []byte {
	switch {
	case f.width == 2 && f.big:
		return append(out, byte(v>>8), byte(v))
	case f.width == 2:
		return append(out, byte(v), byte(v>>8))
	case f.big:
		return append(out, 0, byte(v>>16), byte(v>>8), byte(v))
	}
	return append(out, byte(v), byte(v>>8), byte(v>>16), 0)
}

// Seek is io.Seeker's, from the start only. To go back, the text is read from its start.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.New("a form is sought from its start")
	}
	if offset < r.at {
		if _, err := r.text.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		r.in, r.out, r.at, r.began, r.err = r.in[:0], nil, 0, false, nil
	}
	_, err := io.CopyN(io.Discard, r, offset-r.at)
	return r.at, err
}
