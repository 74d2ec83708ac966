package match

import (
	"bytes"

	"github.com/policyscan/policyscan/internal/late"
)

// lfsLimit is how many bytes of a file git-lfs takes for a pointer, at the most; what
// follows them is not read.
const lfsLimit = 1024

// lfsPrefix begins a pointer as git-lfs writes it.
var lfsPrefix = []byte("version https://git-lfs.github.com/spec/")

// lfsPointer is a pointer as git-lfs reads it (docs/spec.md of git-lfs, and what its lfs/pointer.go
// takes beyond that): after spaces, in one of three versions, with empty lines and extensions
// anywhere, and spaces at its end.
var lfsPointer = late.Regexp(`^(?:ext-[0-9].*\n|\r?\n)*` +
	`version ` +
	`(?:https://git-lfs\.github\.com/spec/v1|https://hawser\.github\.com/spec/v1|http://git-media\.io/v/2)\r?\n` +
	`(?:ext-[0-9].*\n|\r?\n)*` +
	`oid sha256:[0-9a-f]{64}\r?\n(?:ext-[0-9].*\n|\r?\n)*` +
	`size [+-]?[0-9]+$`)

// isPointer reports whether a file that begins with these bytes, or is them as a whole, is a
// Git LFS pointer: what git-lfs checks out is other content. A short file that only begins as one
// is taken for one, too.
func isPointer(data []byte, whole bool) bool {
	if whole && len(data) < lfsLimit && bytes.HasPrefix(data, lfsPrefix) {
		return true
	}
	head := bytes.TrimSpace(data[:min(len(data), lfsLimit)])
	return (bytes.HasPrefix(head, []byte("version ")) || bytes.HasPrefix(head, []byte("ext-"))) &&
		lfsPointer().Match(head)
}

// StandsFor reports whether a whole content stands for another, which is not here: a Git LFS pointer, or what git-crypt
// has encrypted.
func StandsFor(content []byte) bool {
	return isPointer(content, true) || bytes.HasPrefix(content, gitCrypt)
}

// gitCrypt begins a file that git-crypt has encrypted.
var gitCrypt = []byte("\x00GITCRYPT\x00")
