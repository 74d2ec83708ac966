package match

import (
	"strings"
	"testing"
)

// TestPointer: what git-lfs (lfs/pointer.go, DecodeFrom) reads as a pointer when it checks out, and what it does not.
func TestPointer(t *testing.T) {
	const version, oid, size = "version https://git-lfs.github.com/spec/v1\n",
		"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n", "size 12345\n"
	const pointer, ext = version + oid + size, "ext-0-x sha256:1\n"
	padded := pointer + strings.Repeat(" ", lfsLimit-len(pointer))
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"as it is written": {pointer, true},
		"no end of line":   {strings.TrimSpace(pointer), true},
		"CRLF":             {strings.ReplaceAll(pointer, "\n", "\r\n"), true},
		"pre-release":      {strings.Replace(pointer, "git-lfs", "hawser", 1), true},
		"alpha": {strings.Replace(pointer, "https://git-lfs.github.com/spec/v1",
			"http://git-media.io/v/2", 1), true},
		"blanks before it":         {" \n\t\r\n" + pointer, true},
		"a no-break space":         {"\u00a0" + pointer, true},
		"empty lines":              {version + "\n\r\n" + oid + "\n" + size + "\n", true},
		"extensions":               {version + ext + oid + ext + size, true},
		"extensions first":         {ext + "\n" + pointer, true},
		"a sign":                   {version + oid + "size +5", true},
		"1,024 bytes":              {padded, true},
		"blanks without end":       {padded + strings.Repeat(" ", 3000), true},
		"what is not read":         {padded + "the rest", true},
		"short, and no pointer":    {version + "and so on", true}, // by its beginning alone
		"nothing":                  {"", false},
		"a byte too many":          {padded[:lfsLimit-1] + "x", false},
		"long, and no pointer":     {pointer + strings.Repeat("x", lfsLimit), false},
		"of 1,024 bytes, and none": {(version + strings.Repeat("x", lfsLimit))[:lfsLimit], false},
		"another version":          {"\n" + strings.Replace(pointer, "v1", "v2", 1), false},
		"words before it":          {"see\n" + pointer, false},
		"a line after it":          {"\n" + pointer + "x y\n", false},
		"another order":            {"\n" + version + size + oid, false},
		"no size":                  {"\n" + version + oid, false},
		"a short oid":              {"\n" + strings.Replace(pointer, "4d7a", "", 1), false},
	} {
		if got := isPointer([]byte(c.text), true); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if isPointer([]byte(version), false) {
		t.Error("a long file that begins as a pointer is one")
	}
}
