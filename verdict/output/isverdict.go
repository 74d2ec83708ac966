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

// maxLook limits the bytes of a file that are searched. A longer file that could be a verdict counts as one.
const maxLook = 256 << 20

// lookAt returns the kind of a regular file.
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

// namesVerdict reports whether a text begins as a JSON object and has a member "verdict". It accepts anything that
// some JSON reader might: the values need not be valid, and further objects may follow.
func namesVerdict(r *bufio.Reader) (bool, error) {
	if head, _ := r.Peek(3); string(head) == "\ufeff" {
		_, _ = r.Discard(3) // already peeked
	}
	depth, began, key := 0, false, false // key: the last token is the string "verdict"
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

// shortText reads a JSON string after its first quote, and returns its length. text is "" for a long or invalid one.
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
