package shard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/policyscan/policyscan/verdict"
)

// emptySum is the end of a document whose last member "sum" is still empty.
const emptySum = "  \"sum\": \"\"\n}\n"

// Seal returns the canonical JSON of a document (see [verdict.JSON]) with its checksum. The document is a struct whose
// last member is "sum", an empty string. The checksum is the SHA-256, in hexadecimal, of the same JSON with an empty
// sum. It detects accidental changes; it is no signature.
func Seal(document any) ([]byte, error) {
	text, err := verdict.JSON(document)
	if err != nil {
		return nil, err
	}
	head, ok := bytes.CutSuffix(text, []byte(emptySum))
	if !ok {
		return nil, errors.New("a bug in policyscan, please report it: the document does not end with an empty sum")
	}
	sum := sha256.Sum256(text)
	return fmt.Appendf(head, "  \"sum\": \"%x\"\n}\n", sum), nil
}

// Unseal reads the bytes of [Seal] into a pointer to a struct, and sets its member "sum". It fails for other,
// truncated or changed text.
func Unseal(text []byte, into any) error {
	const tail = len(emptySum) + sha256.Size*2
	switch {
	case len(text) == 0:
		return errors.New("it is empty")
	case !bytes.HasPrefix(text, []byte(verdict.DocumentHead)):
		return errors.New("it is not a shard file")
	case len(text) < tail || !bytes.HasPrefix(text[len(text)-tail:], []byte("  \"sum\": \"")) ||
		!bytes.HasSuffix(text, []byte("\"\n}\n")):
		return errors.New("it has no sum at its end: it was cut, or is not a shard file")
	}
	head, end := text[:len(text)-tail], text[len(text)-tail:]
	was := string(end[len("  \"sum\": \"") : len(end)-len("\"\n}\n")])
	h := sha256.New()
	h.Write(head)             // never fails
	h.Write([]byte(emptySum)) // never fails
	if hex.EncodeToString(h.Sum(nil)) != was {
		return errors.New("its sum is not that of its content: it was altered")
	}
	if err := json.Unmarshal(text, into, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("it is not a shard file of this version: %w", err)
	}
	return nil
}
