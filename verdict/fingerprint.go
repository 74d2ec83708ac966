package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
)

// Fingerprint identifies a violation as long as its rule, its file, its pattern
// and the text of its line stay: the line's number is not part of it. It is the
// SHA-256, in lower-case hexadecimal, of the four texts, each preceded by its
// length in bytes as a decimal number and a colon (netstrings without the comma).
//
// file is written as [Path] does. line is the bytes of the line that the match
// begins in, without its line end, and of these at most 2,048 before the first
// byte of the match and 2,048 from there on. A violation at no place has no line: see [NoLine].
func Fingerprint(ruleID, file, pattern string, line []byte) string {
	h := sha256.New()
	for _, text := range []string{ruleID, file, pattern, string(line)} {
		_, _ = io.WriteString(h, strconv.Itoa(len(text))+":"+text) // a hash never fails to take bytes
	}
	return hex.EncodeToString(h.Sum(nil))
}

// NoLine is the line, for [Fingerprint], of a violation of a kind that is at no place. No line of a file is like it.
func NoLine(kind string) []byte { return []byte("\n" + kind) }
