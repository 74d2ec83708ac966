package match

import (
	"cmp"
	"context"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// A chars reads a content as characters, for a regex. An invalid byte or unit is U+FFFD, and a rest shorter than a
// unit is not read. Others may move the content's position meanwhile.
type chars struct {
	ctx     context.Context
	enc     encoding
	content io.ReadSeeker
	windows windows
	window  window
	place   int // the next character's offset in the window
}

// charBytes is the size of each read of a content.
const charBytes = 16 << 10

// newChars reads into buf, or into its own buffer if buf is nil.
func newChars(ctx context.Context, content io.ReadSeeker, r exprReading, x *Examiner, buf []byte) *chars {
	if buf == nil {
		buf = make([]byte, max(cmp.Or(x.Window, charBytes), 4*utf8.UTFMax))
	}
	// Windows overlap by the longest character, so none is cut in two.
	return &chars{ctx: ctx, enc: r.enc, content: content, windows: windows{
		r: content, buf: buf, overlap: utf8.UTFMax, limit: x.Limit, at: r.from,
	}}
}

// ReadRune returns the next character and its length in bytes.
func (c *chars) ReadRune() (rune, int, error) {
	for {
		if char, n := c.enc.char(c.window.data[c.place:], c.window.last); n > 0 {
			c.place += n
			return char, n, nil
		}
		if c.window.last {
			return 0, 0, io.EOF
		}
		if err := c.fill(); err != nil {
			return 0, 0, err
		}
	}
}

func (c *chars) at() int64 {
	if c.window.data == nil {
		return c.windows.at
	}
	return c.window.at + int64(c.place)
}

func (c *chars) jump(offset int64) {
	if place := offset - c.window.at; c.window.data != nil && place <= int64(len(c.window.data)) {
		c.place = int(place)
		return
	}
	c.window, c.place = window{}, 0
	c.windows.at, c.windows.n = offset, 0
}

func (c *chars) fill() error {
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	if _, err := c.content.Seek(c.windows.read(), io.SeekStart); err != nil {
		return err
	}
	before := c.at()
	w, _, err := c.windows.next()
	c.window, c.place = w, int(before-w.at)
	return err
}

// char returns the first character of data and its length in bytes; 0 if data ends within it. last is set if nothing
// follows data.
func (e encoding) char(data []byte, last bool) (rune, int) {
	if e == utf8Enc {
		if len(data) > 0 && data[0] < utf8.RuneSelf { // nearly always
			return rune(data[0]), 1
		}
		if len(data) == 0 || !last && !utf8.FullRune(data) {
			return 0, 0
		}
		return utf8.DecodeRune(data)
	}
	c, n := e.decodeUnit(data)
	if n != 2 || !utf16.IsSurrogate(c) {
		return c, n
	}
	low, m := e.decodeUnit(data[n:])
	if m == 0 && !last {
		return 0, 0
	}
	if pair := utf16.DecodeRune(c, low); m > 0 && pair != utf8.RuneError {
		return pair, n + m
	}
	return utf8.RuneError, n
}
