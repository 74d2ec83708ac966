package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
)

// Fingerprint identifies a violation by its rule, its file, its pattern and the text of its line, not the line's
// number. It is the SHA-256, in lower-case hexadecimal, of the four texts, each preceded by its length in bytes as a
// decimal number and a colon (netstrings without the comma).
//
// file is as in [Path]. line is the bytes of the match's first line without its line end: at most 2,048 before the
// first byte of the match and 2,048 from there on. A violation without a place has no line: see [NoLine].
func Fingerprint(ruleID, file, pattern string, line []byte) string {
	return netstrings(ruleID, file, pattern, string(line))
}

// netstrings returns the sum of texts. No two lists have the same.
func netstrings(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		_, _ = io.WriteString(h, strconv.Itoa(len(text))+":"+text) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// NoLine is the line, for [Fingerprint], of a violation without a place. No line of a file equals it.
func NoLine(kind string) []byte { return []byte("\n" + kind) }
