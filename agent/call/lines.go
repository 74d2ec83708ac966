package call

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxLine is how many bytes of JSON a call may have: it has the content of a file in it.
const MaxLine = 64 << 20

// A Line is one line of an input, or its error.
type Line struct {
	Number int    // counted from 1
	Text   []byte // without spaces at its ends; valid until the next line is read
	Err    error
}

// Lines returns the lines of an input that are not empty. One that has an error is the last.
func Lines(in io.Reader) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		s := bufio.NewScanner(in)
		s.Buffer(nil, MaxLine)
		n := 0
		for s.Scan() {
			n++
			if text := bytes.TrimSpace(s.Bytes()); len(text) > 0 && !yield(Line{Number: n, Text: text}) {
				return
			}
		}
		err := s.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("line %d has over %d bytes", n+1, MaxLine)
		}
		if err != nil {
			yield(Line{Err: err})
		}
	}
}
