package output

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// IsVerdict reports whether path has a verdict of any program: a JSON object with a member "verdict".
func IsVerdict(path string) bool {
	there, err := lookAt(path)
	return err == nil && there == verdictFile
}

// The kinds of a file at the verdict's path.
const (
	emptyFile = iota
	verdictFile
	otherFile
)

// maxLook limits the bytes of a file that are searched.
const maxLook = 16 << 20

func lookAt(path string) (there int, err error) {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() {
		return otherFile, errors.Join(err, fs.ErrInvalid)
	}
	f, err := os.Open(path)
	if err != nil {
		return otherFile, err
	}
	defer f.Close() // read only: nothing to lose
	r := bufio.NewReaderSize(f, 64<<10)
	head, err := r.Peek(len(verdict.DocumentHead))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return otherFile, err
	case len(head) == 0:
		return emptyFile, nil
	case string(head) == verdict.DocumentHead:
		return verdictFile, nil
	}
	if named, err := namesVerdict(r); err != nil || named {
		return verdictFile, err
	}
	return otherFile, nil
}

// namesVerdict reports whether a text begins as a JSON object with a member "verdict".
func namesVerdict(r *bufio.Reader) (bool, error) {
	if head, _ := r.Peek(3); string(head) == "\ufeff" {
		_, _ = r.Discard(3) // already peeked
	}
	d := json.NewDecoder(io.LimitReader(r, maxLook))
	token, err := d.Token()
	for within := token == json.Delim('{'); within && err == nil; {
		var name string
		if token, err = d.Token(); err == nil {
			if name, within = token.(string); strings.EqualFold(name, "verdict") {
				return true, nil
			}
		}
		if within && err == nil {
			var value json.RawMessage
			err = d.Decode(&value)
		}
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return false, err
}
