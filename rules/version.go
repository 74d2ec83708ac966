package rules

import (
	"bytes"
	"slices"

	"github.com/policyscan/policyscan/rules/document"
)

// The version key of a rule file, and its only value. A file without it is version 0.1.
const (
	versionKey = "bundle"
	version02  = "0.2"
)

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
	says := func(f *ruleFile) bool { return f.is02 && !f.otherVersion }
	e := &document.Error{Code: document.CodeValue, File: BoundariesFile, Fix: writeVersion}
	switch i := slices.IndexFunc(l.files, says); {
	case i >= 0:
		e.Found = `the file does not say bundle: "0.2", and ` + l.files[i].name + " does"
	case slices.ContainsFunc(l.files, func(f *ruleFile) bool { return f.holds == allowances }):
		e.Found = `the file does not say bundle: "0.2", which ` + AllowancesFile + " needs"
	default:
		return
	}
	l.batch.Errors = append(l.batch.Errors, e)
}

// noVersion returns the error about a file of a 0.2 bundle that has neither a fixed name nor a version.
func (f *ruleFile) noVersion() *document.Error {
	return &document.Error{
		Code: document.CodeValue, File: f.name,
		Found: `the file does not say bundle: "0.2" and which rules it holds`,
		Fix:   `begin it with the lines bundle: "0.2" and "type: boundary" (or invariant, or deprecated)`,
	}
}
