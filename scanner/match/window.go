package match

import (
	"errors"
	"fmt"
	"io"
)

// WindowSize is the size of a window, and of the read that fetches most files whole: 256 KiB stay in the processor's
// cache.
const WindowSize = 256 << 10

type window struct {
	at   int64 // the first byte's offset in the file
	data []byte
	last bool // the file ends here
}

// A windows cuts a content into windows. Each begins with the last overlap bytes of the one before, so nothing of up
// to overlap+1 bytes is cut in two.
type windows struct {
	r       io.Reader
	buf     []byte // longer than overlap
	overlap int
	limit   int64 // the longest content, in bytes; 0: no limit

	at    int64
	n     int // bytes of buf in use
	reads int // that brought bytes
	eof   bool
}

// ErrLimit reports a content longer than [Examiner.Limit].
var ErrLimit = errors.New("over the limit")

// ErrSpaces reports a content of several windows with a longer run of spaces than a literal with the option Spaces
// allows.
var ErrSpaces = errors.New("too many spaces in a row")

// ErrChanged reports a content that changed until it was read again: it ended before one of its matches.
var ErrChanged = errors.New("it changed while it was read")

// next returns the next window, or false after the last one. The next call overwrites its bytes.
func (w *windows) next() (window, bool, error) {
	if w.eof {
		return window{}, false, nil
	}
	if w.n > 0 {
		keep := min(w.overlap, w.n)
		w.at += int64(w.n - keep)
		copy(w.buf, w.buf[w.n-keep:w.n])
		w.n = keep
	}
	for stalls := 0; w.n < len(w.buf) && !w.eof; {
		n, err := w.r.Read(w.buf[w.n:])
		w.n += n
		switch {
		case n > 0:
			w.reads++
			stalls = 0
		case err == nil:
			if stalls++; stalls == 100 {
				return window{}, false, io.ErrNoProgress
			}
		}
		if w.limit > 0 && w.read() > w.limit {
			return window{}, false, ErrLimit
		}
		if errors.Is(err, io.EOF) {
			w.eof = true
		} else if err != nil {
			return window{}, false, fmt.Errorf("read failed after %d bytes: %w", w.read(), err)
		}
	}
	return window{at: w.at, data: w.buf[:w.n], last: w.eof}, true, nil
}

func (w *windows) read() int64 { return w.at + int64(w.n) }
