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

// IsVerdict reports whether there is a verdict at path, of whatever program: a JSON object with a member "verdict",
// however it is written.
func IsVerdict(path string) bool {
	there, err := lookAt(path)
	return err == nil && there == verdictFile
}

// What a file is whose place a verdict would take.
const (
	emptyFile = iota // it is empty
	verdictFile
	otherFile
)

// maxLook is how much of a file is looked at. One that goes on behind that is taken for a verdict if it begins as one
// could.
const maxLook = 256 << 20

// lookAt says what a regular file is.
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

// namesVerdict reports whether a text begins as a JSON object does and has a member "verdict". It takes whatever some
// reader of JSON might: what is between the members need not be valid, and further objects may follow.
func namesVerdict(r *bufio.Reader) (bool, error) {
	if head, _ := r.Peek(3); string(head) == "\ufeff" {
		_, _ = r.Discard(3) // which are there
	}
	depth, began, key := 0, false, false // key: the last token is a text that says verdict
	for n := 0; n < maxLook; n++ {
		c, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			text, read, err := shortText(r)
			if err != nil {
				return false, err
			}
			n += read
			key = depth == 1 && strings.EqualFold(text, "verdict")
			continue
		case ':':
			if key {
				return true, nil
			}
		}
		if !began && c != '{' {
			return false, nil
		}
		began, key = true, false
	}
	return began, nil
}

// shortText reads a text of JSON, behind its first quote, and returns how many bytes it has. It returns "" for one that
// is long, or not one.
func shortText(r *bufio.Reader) (text string, n int, err error) {
	const long = 64
	raw := []byte{'"'}
	for escaped := false; n < maxLook; {
		c, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			return "", n, nil
		}
		if err != nil {
			return "", n, err
		}
		n++
		if len(raw) < long {
			raw = append(raw, c)
		}
		if c == '"' && !escaped {
			break
		}
		escaped = c == '\\' && !escaped
	}
	if len(raw) == long || json.Unmarshal(raw, &text) != nil {
		return "", n, nil
	}
	return text, n, nil
}
