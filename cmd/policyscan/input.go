package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
)

// readStdin reads the file on standard input, but at most one byte more than the limit; 0: no limit.
func readStdin(ctx context.Context, in io.Reader, most int64) (text []byte, err error) {
	if isEmptyInput(in) {
		return nil, errors.New("standard input cannot be read: there is nothing on it; pipe the file in")
	}
	if 0 < most && most < math.MaxInt64 {
		in = io.LimitReader(in, most+1)
	}
	if text, err = readAll(ctx, func() (io.Reader, error) { return in, nil }); err != nil {
		err = fmt.Errorf("standard input cannot be read: %w", err)
	}
	return text, err
}

// isEmptyInput reports whether an input is a terminal or /dev/null, which replaces a closed standard input in Go.
func isEmptyInput(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err != nil || st.Mode()&os.ModeCharDevice != 0
}

// readAll reads an input that may never open or end. It returns the context's error if that ends first.
func readAll(ctx context.Context, open func() (io.Reader, error)) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		in, err := open()
		var text []byte
		if err == nil {
			text, err = io.ReadAll(in)
		}
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readNamed reads a file, possibly a FIFO such as a shell's <(...); "-" is standard input.
func readNamed(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	text, err := readAll(ctx, func() (io.Reader, error) {
		if name == "-" {
			return stdin, nil
		}
		return os.Open(name)
	})
	return text, disk.Cause(err)
}

// readList reads the entries of --files-from. A list that contains a NUL is NUL-separated;
// any other has lines that end in LF.
func readList(ctx context.Context, name string, stdin io.Reader) ([]string, error) {
	text, err := readNamed(ctx, name, stdin)
	if err != nil {
		return nil, fmt.Errorf("--files-from cannot be read: %w", err)
	}
	sep := "\n"
	if strings.IndexByte(string(text), 0) >= 0 {
		sep = "\x00"
	}
	list := strings.TrimSuffix(string(text), sep)
	if list == "" {
		return nil, nil
	}
	return strings.Split(list, sep), nil
}
