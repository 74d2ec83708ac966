package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
)

func (f *ruleFile) selects(r *Rule, e document.Entry) {
	if e.Value == nil {
		return
	}
	m := f.doc.Mapping(e.Value, `"match"`, f.doc.KeyForm("match"), f.matches)
	if m == nil {
		return
	}
	mistakes := f.doc.Mistakes()
	if f.is02 {
		r.PathCase = f.pathCase(e, m)
	}
	var fold func(string) *glob.Mistake
	if r.PathCase {
		fold = glob.CheckFolded
	}
	files := m.At("files")
	for _, key := range []string{boundaryKey, invariantKey, requiredKey} {
		files.Required = files.Required || m.At(key).Key != nil
	}
	r.Files, r.places[FilesGlob] = f.globs(files, fold)
	r.Exclude, r.places[ExcludeGlob] = f.globs(m.At("exclude"), nil)
	r.ForbiddenFiles, r.places[ForbiddenFilesGlob] = f.globs(m.At(forbiddenFilesKey), fold)
	r.RequiredFiles, r.places[RequiredFilesGlob] = f.globs(m.At(requiredFilesKey), nil)
	seen := map[string]Item{}
	for _, list := range []struct {
		key   string
		items *[]Item
		kind  PartKind
	}{
		{boundaryKey, &r.Patterns, PatternItem},
		{invariantKey, &r.Patterns, PatternItem},
		{requiredKey, &r.Required, RequiredItem},
	} {
		e := m.At(list.key)
		if e.Key == nil {
			continue
		}
		e.Required = true // even if the key is optional, it must not be empty
		if !f.is02 {
			clear(seen) // in a 0.2 file, an item may be in only one list of the rule
		}
		f.patterns(e, seen, list.items, &r.places[list.kind])
	}
	if f.is02 {
		f.checkMatch(e, m)
		f.unparsable(r, m, mistakes)
		f.containing(r, m)
	}
	if f.holds != deprecated {
		return
	}
	// The key determines the type of a deprecated rule; with both keys it is a boundary.
	has := func(key string) bool { return m.At(key).Value != nil }
	if !has(boundaryKey) && (has(invariantKey) || has(requiredKey) || has(requiredFilesKey)) {
		r.Type = Invariant
	}
	if !f.is02 && !f.doc.Has(e.Value, f.matches, boundaryKey) { // the other is missing too
		f.doc.Fail(document.CodeValue, e.Value,
			fmt.Sprintf(`"match" has neither %q nor %q`, boundaryKey, invariantKey),
			"write "+f.doc.KeyForm(boundaryKey))
	}
}

// checkMatch refuses a 0.2 rule without patterns and files, "files" without patterns, and patterns without "files".
func (f *ruleFile) checkMatch(e document.Entry, m document.Entries) {
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return f.hasKey(e, key) })
	}
	items, paths := has(boundaryKey, invariantKey, requiredKey), has(forbiddenFilesKey, requiredFilesKey)
	own := boundaryKey
	if f.holds == Invariant {
		own = invariantKey
	}
	switch {
	case !items && !paths:
		f.doc.Fail(document.CodeValue, e.Value,
			`"match" has neither a pattern nor a path that is forbidden or required`,
			"write "+f.doc.KeyForm(own)+", or "+f.doc.KeyForm(forbiddenFilesKey))
	case items && !has("files"):
		f.doc.Fail(document.CodeValue, e.Value, `"match" has no "files", and patterns need it`,
			"write "+f.doc.KeyForm("files"))
	case !items && m.At("files").Key != nil:
		f.doc.Fail(document.CodeValue, m.At("files").Key, `"files" changes nothing in a rule without patterns`,
			"remove it, or write "+f.doc.KeyForm(own)+", too")
	}
}

// hasKey reports whether "match" has a key, or a key that counts as it.
func (f *ruleFile) hasKey(match document.Entry, key string) bool {
	return slices.Contains(f.matches.Optional, key) && f.doc.Has(match.Value, f.matches, key)
}

func (f *ruleFile) pathCase(match document.Entry, m document.Entries) bool {
	e := m.At("path_case")
	if e.Key == nil || !f.doc.Only(e, "ignore") {
		return false
	}
	if !f.hasKey(match, "files") && !f.hasKey(match, forbiddenFilesKey) {
		f.doc.Fail(document.CodeValue, e.Key, `"path_case" changes nothing without "files" or "forbidden_files"`,
			"remove it")
	}
	return true
}

// unparsable reads how the rule treats a file that cannot be parsed. before is the number of mistakes before the items
// were read: after a mistake in an item, it is unknown whether one has a key.
func (f *ruleFile) unparsable(r *Rule, m document.Entries, before int) {
	e := m.At("unparsable")
	for _, only := range f.only {
		if e.Key == nil {
			f.doc.Fail(document.CodeKey, only.Key, `"only" in a rule without "unparsable: text"`,
				`remove it, or write "unparsable: text" in "match"`)
		}
	}
	if e.Key == nil || !f.doc.Only(e, "text") || f.doc.Mistakes() > before {
		return
	}
	r.Unparsable = true
	isKey := func(i Item) bool { return i.Kind == Key }
	items := slices.Concat(r.Patterns, r.Required)
	switch keys := slices.ContainsFunc(items, isKey); {
	case !keys:
		f.doc.Fail(document.CodeValue, e.Key, `"unparsable" changes nothing in a rule without a pattern with "key"`,
			"remove it")
	case !slices.ContainsFunc(items, func(i Item) bool { return !isKey(i) }):
		f.doc.Fail(document.CodeValue, e.Key,
			`"unparsable" in a rule without a text or a regex, which would then pass each file that cannot be parsed`,
			"remove it, or write a text or a regex next to the key")
	}
}

// containing reads the patterns that a file must have one of. They may be among the rule's own.
func (f *ruleFile) containing(r *Rule, m document.Entries) {
	e := m.At(containingKey)
	if e.Key == nil {
		return
	}
	e.Required, f.only = true, nil
	f.patterns(e, map[string]Item{}, &r.Containing, new([]document.Place))
	for _, only := range f.only {
		f.doc.Fail(document.CodeKey, only.Key, fmt.Sprintf(`"only" in %q`, containingKey), "remove it")
	}
	if m.At(boundaryKey).Key == nil && m.At(invariantKey).Key == nil && m.At(requiredKey).Key == nil {
		f.doc.Fail(document.CodeValue, e.Key,
			fmt.Sprintf("%q changes nothing in a rule without patterns", containingKey),
			"remove it, or name the files by their paths alone")
	}
}

// globs reads a list of globs. more, if not nil, is an additional check.
func (f *ruleFile) globs(e document.Entry, more func(string) *glob.Mistake) (globs []string, at []document.Place) {
	seen := map[string]bool{}
	for _, item := range f.doc.List(e) {
		text, ok := f.doc.Text(item)
		if f.doc.Full() {
			break
		}
		if !ok {
			continue
		}
		written := text
		if f.is02 {
			text = strings.TrimPrefix(text, "/") // it anchors: paths start at the root
		}
		if seen[text] {
			f.doc.Fail(document.CodeDuplicate, item.Value, "the glob "+document.Quoted(text)+" is listed twice",
				"remove one of them")
			continue
		}
		seen[text] = true
		if mistake := f.globMistake(globOf{written, f.is02}, text); mistake != nil {
			f.doc.Fail(mistake.Code, item.Value, mistake.Found, mistake.Fix)
			continue
		}
		if more != nil {
			if mistake := more(text); mistake != nil {
				f.doc.Fail(document.CodeGlob, item.Value, mistake.Found, mistake.Fix)
				continue
			}
		}
		globs, at = append(globs, text), append(at, f.doc.Place(item.Value))
	}
	return globs, at
}

// globMistake checks each distinct glob once, since a bundle may repeat a glob in all of its rules. text is the glob
// without its anchoring slash.
func (l *loader) globMistake(written globOf, text string) *document.Error {
	if mistake, known := l.globs[written]; known {
		return mistake
	}
	var found *document.Error
	mistake := glob.Check(text)
	switch {
	case written.in02 && strings.HasPrefix(text, "/"):
		mistake = &glob.Mistake{Found: `"//": no path has an empty segment`, Fix: `write a single "/"`}
	case mistake == nil && written.in02:
		mistake = glob.Ambiguous(written.glob)
	}
	if mistake != nil {
		found = newError(document.CodeGlob, "", mistake.Found, mistake.Fix)
	} else if l.expansions += glob.Expansions(text); l.expansions > maxExpansions {
		const what = "more than %d different globs in the bundle, with braces expanded"
		found = newError(document.CodeLimit, "", fmt.Sprintf(what, maxExpansions), "write fewer")
	}
	l.globs[written] = found
	return found
}
