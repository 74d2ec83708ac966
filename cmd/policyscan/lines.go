package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line of JSON that is read: a call has the content of a file in it.
const maxLine = 64 << 20

// lines reads the lines of an input that are not empty.
type lines struct {
	scan   *bufio.Scanner
	line   []byte
	number int // of line, counted from 1
	err    error
}

func newLines(in io.Reader) *lines {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	return &lines{scan: s}
}

// next reads the next line, and reports whether there is one.
func (l *lines) next(ctx context.Context) bool {
	for l.scan.Scan() {
		if l.err = context.Cause(ctx); l.err != nil {
			return false
		}
		l.number++
		if l.line = bytes.TrimSpace(l.scan.Bytes()); len(l.line) > 0 {
			return true
		}
	}
	if l.err = l.scan.Err(); errors.Is(l.err, bufio.ErrTooLong) {
		l.err = fmt.Errorf("line %d has over %d bytes", l.number+1, maxLine)
	}
	return false
}
