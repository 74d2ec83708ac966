package rules

import (
	"bytes"
	"slices"

	"github.com/policyscan/policyscan/rules/document"
)

// The key of a rule file that says its version, and the one version that says so. A file without it is one of 0.1.
const (
	versionKey = "bundle"
	version02  = "0.2"
)

// means02 reports whether a file says its version, or misspells the key. What is read of it then is read as 0.2, which
// has all that 0.1 has: a mistake in the version is one mistake.
func means02(doc *document.YAML, text []byte) bool {
	if doc.Root == nil { // it is not YAML, and a line of it must do
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

// checkBoundaries refuses a bundle in which a file is of 0.2, or holds allowances, and the first of them is not. A file
// that says another version has an error of its own, which may be that there should be no version.
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

// noVersion is the error that a file of a 0.2 bundle, whose name does not say what it holds, does not say it either.
func (f *ruleFile) noVersion() *document.Error {
	return &document.Error{
		Code: document.CodeValue, File: f.name,
		Found: `the file does not say bundle: "0.2" and which rules it holds`,
		Fix:   `begin it with the lines bundle: "0.2" and "type: boundary" (or invariant, or deprecated)`,
	}
}
