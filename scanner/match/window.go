package match

import (
	"errors"
	"fmt"
	"io"
)

// WindowSize is how much of a file is looked at in one piece, and the size of the
// read that fetches most files whole: 256 KiB stay in the processor's cache.
const WindowSize = 256 << 10

type window struct {
	at   int64 // of the first byte in the file
	data []byte
	last bool // the file ends here
}

// A windows cuts a content into windows. Each begins with the last overlap bytes
// of the one before, so that nothing of up to overlap+1 bytes is cut in two.
type windows struct {
	r       io.Reader
	buf     []byte // longer than overlap
	overlap int
	limit   int64 // the most bytes the content may have; 0: no limit

	at    int64
	n     int // bytes of buf in use
	reads int // that brought bytes
	eof   bool
}

// ErrLimit says that a content is longer than [Examiner.Limit].
var ErrLimit = errors.New("over the limit")

// ErrSpaces says that a content of several windows has more spaces in a row than a text with the option Spaces can.
var ErrSpaces = errors.New("too many spaces in a row")

// ErrChanged says that a content was not the same when it was read again: it ended before a match that was in it.
var ErrChanged = errors.New("it changed while it was read")

// next returns the next window; its bytes are overwritten by the call after. After
// the last one it returns false.
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
