package rules

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules/document"
)

// The version key of a rule file, and its only value. A file without it is version 0.1.
const (
	versionKey = "bundle"
	version02  = "0.2"
)

// keys02 returns the keys that a file of version 0.1 cannot have, with their depth.
func keys02() map[string]int {
	return map[string]int{
		"type": 0, "exclude": 0, "owner": 0, bundlesKey: 0, neverKey: 1,
		requiredKey: 2, forbiddenFilesKey: 2, requiredFilesKey: 2, "path_case": 2, "unparsable": 2,
		"text": 3, "regex": 3, "key": 3, "each": 3,
	}
}

// needs02 returns what in a file of rules needs version 0.2; "" without anything of the kind.
func (f *ruleFile) needs02() string {
	near := func(at int, word string) bool {
		key, _ := f.doc.FirstKey(func(key string, depth int) bool {
			return depth == at && document.Nearest(key, []string{word}) != ""
		})
		return key != ""
	}
	of02 := keys02()
	key, line := f.doc.FirstKey(func(key string, depth int) bool {
		d, is := of02[key]
		return is && d == depth
	})
	switch {
	case f.holds == allowances || !near(0, "rules"):
	case key != "":
		return fmt.Sprintf("%q in line %d needs version 0.2", key, line)
	case near(1, "match") && !near(1, "enforcement"):
		return `no rule has "enforcement", which needs version 0.2`
	}
	return ""
}

// means02 reports whether a file has the version key, or misspells it. It is then read as 0.2, which includes 0.1, so
// that a mistake in the version is only one mistake.
func means02(doc *document.YAML, text []byte) bool {
	if doc.Root == nil { // not YAML: look for the line
		return bytes.HasPrefix(text, []byte(versionKey+":")) || bytes.Contains(text, []byte("\n"+versionKey+":"))
	}
	return document.IsMapping(doc.Root) && doc.Has(doc.Root, document.Level{}, versionKey)
}

func (f *ruleFile) checkVersion(e document.Entry) {
	text, ok := f.doc.Text(e)
	f.otherVersion = text != version02
	if !ok || !f.otherVersion && e.Value.Tag == "!!str" {
		return
	}
	switch text {
	case version02:
		f.doc.Fail(document.CodeType, e.Value, `"bundle" is the number 0.2`, `put it in quotes: bundle: "0.2"`)
	case "0.1":
		f.doc.Fail(document.CodeValue, e.Value, `"bundle" is 0.1, which a file says by not having the key`,
			`remove the line, or write bundle: "0.2"`)
	default:
		f.doc.Fail(document.CodeValue, e.Value, `"bundle" is `+document.Quoted(text)+`, a version that is not known`,
			`write bundle: "0.2", or use the version of policyscan that reads it`)
	}
}

// checkBoundaries refuses a bundle with a 0.2 file or allowances whose boundaries.yml is 0.1. A file with another
// version has its own error, perhaps that it must not have one.
func (l *loader) checkBoundaries() {
	if f := l.files; len(f) == 0 || f[0].name != BoundariesFile || f[0].is02 {
		return
	}
	needs := func(f *ruleFile) bool { return f.is02 && !f.otherVersion || f.holds == allowances }
	if i := slices.IndexFunc(l.files, needs); i >= 0 {
		l.batch.Errors = append(l.batch.Errors, newError(document.CodeValue, BoundariesFile,
			`the file does not say bundle: "0.2", which `+l.files[i].name+" needs", writeVersion))
	}
}

// read02 reads a file that has no version as 0.2. why is the mistake in that.
func (f *ruleFile) read02(why string) {
	f.is02, f.unversioned = true, why
	f.doc.Reform(f.form())
}
