package match

import (
	"bytes"

	"github.com/policyscan/policyscan/internal/late"
)

// lfsLimit is the part of a file, in bytes, that git-lfs reads as a pointer. The rest is ignored.
const lfsLimit = 1024

// lfsPrefix begins a pointer as git-lfs writes it.
var lfsPrefix = []byte("version https://git-lfs.github.com/spec/")

// lfsPointer is a pointer as git-lfs reads it (docs/spec.md of git-lfs, and the more tolerant lfs/pointer.go): after
// spaces, in one of three versions, with empty lines and extensions anywhere, and spaces at its end.
var lfsPointer = late.Regexp(`^(?:ext-[0-9].*\n|\r?\n)*` +
	`version ` +
	`(?:https://git-lfs\.github\.com/spec/v1|https://hawser\.github\.com/spec/v1|http://git-media\.io/v/2)\r?\n` +
	`(?:ext-[0-9].*\n|\r?\n)*` +
	`oid sha256:[0-9a-f]{64}\r?\n(?:ext-[0-9].*\n|\r?\n)*` +
	`size [+-]?[0-9]+$`)

// isPointer reports whether a file that begins with these bytes, or consists of them, is a Git LFS pointer: git-lfs
// checks out other content. A short file that only begins like one counts, too.
func isPointer(data []byte, whole bool) bool {
	if whole && len(data) < lfsLimit && bytes.HasPrefix(data, lfsPrefix) {
		return true
	}
	head := bytes.TrimSpace(data[:min(len(data), lfsLimit)])
	return (bytes.HasPrefix(head, []byte("version ")) || bytes.HasPrefix(head, []byte("ext-"))) &&
		lfsPointer().Match(head)
}

// StandsFor reports whether a content is a placeholder: a Git LFS pointer, or a file encrypted by git-crypt.
func StandsFor(content []byte) bool {
	return isPointer(content, true) || bytes.HasPrefix(content, gitCrypt)
}

// gitCrypt begins a file encrypted by git-crypt.
var gitCrypt = []byte("\x00GITCRYPT\x00")
