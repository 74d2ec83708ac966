package rules

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/regex"
)

// itemLevel returns the keys of an item that is a mapping. required: it is in required_patterns.
func itemLevel(required bool) document.Level {
	l := document.Level{
		Name: "a pattern",
		Optional: slices.Concat(itemKinds, []string{"except", "within_lines", "only", "spaces", "words", "case"},
			keyOptions()),
	}
	l.Wrong = map[string]document.Wrong{}
	alone := `write {key: "…"} alone, which requires the key; in "forbidden_patterns" it forbids it`
	if !required {
		alone = `write {key: "…"} alone, which forbids the key; in "required_patterns" it requires it`
		l.Optional = slices.DeleteFunc(l.Optional, func(key string) bool { return key == "each" })
		l.Wrong["each"] = document.Wrong{
			Found: `unknown key "each" in a pattern that is not one of "required_patterns"`,
			Fix:   `write the whole path in "key": each value there is checked`,
		}
	}
	for _, word := range []string{"exists", "present", "missing"} {
		l.Wrong[word] = document.Wrong{Found: fmt.Sprintf("unknown key %q in a pattern", word), Fix: alone}
	}
	return l
}

// itemKinds are the keys of which an item needs exactly one.
var itemKinds = []string{"text", "regex", "key"}

// keyOptions are the keys allowed only next to "key".
func keyOptions() []string {
	return []string{"each", "where", "if", "is", "is_not", "matches", "matches_not", "below", "above", "at_least",
		"at_most", "quantity", "any", "format"}
}

// patterns reads a list of items, and appends the items and their positions. A second item with the same name is a
// mistake: the name identifies violations.
func (f *ruleFile) patterns(e document.Entry, seen map[string]Item, items *[]Item, at *[]document.Place) {
	required := e.Key.Value == requiredKey
	list := f.doc.List(e)
	*items, *at = slices.Grow(*items, len(list)), slices.Grow(*at, len(list))
	for _, entry := range list {
		item, ok := f.item(entry, required)
		if f.doc.Full() {
			break
		}
		if !ok || item.Kind == Text && !f.fits(entry, item.Text) || item.Kind == Key && !f.fits(entry, item.Name) {
			continue
		}
		if before, ok := seen[item.Name]; ok {
			found, fix := "a pattern is listed twice: "+Shown(item), "remove one of them"
			if !before.Means(item) {
				found = "the pattern " + Shown(item) + " has the name of the pattern " + Shown(before) +
					" in reports and fingerprints: its JSON"
				fix = "put one of them in a separate rule"
			}
			f.doc.Fail(document.CodeDuplicate, entry.Value, found, fix)
			continue
		}
		seen[item.Name] = item
		if item.Kind == Regex && f.regex(regexSource{item.Text, false}).expr.Slow() {
			f.slow = append(f.slow, item.Text)
		}
		*items, *at = append(*items, item), append(*at, f.doc.Place(entry.Value))
	}
}

func (f *ruleFile) fits(e document.Entry, text string) bool {
	if len(text) <= document.MaxPatternBytes {
		return true
	}
	f.doc.Fail(document.CodeLimit, e.Value,
		fmt.Sprintf("a pattern of %d bytes; the limit is %d", len(text), document.MaxPatternBytes),
		"write only the part that identifies it, or several patterns")
	return false
}

func (f *ruleFile) item(e document.Entry, required bool) (Item, bool) {
	if f.is02 && document.IsMapping(e.Value) && f.isItem(e) {
		before := f.doc.Mistakes()
		item, ok := f.mapping(e, required)
		return item, ok && f.doc.Mistakes() == before
	}
	text, ok := f.doc.Text(e)
	if !ok || !f.is02 {
		return Plain(text), ok
	}
	if part := expressionIn(text); part != "" {
		f.doc.Fail(document.CodeValue, e.Value,
			fmt.Sprintf("the pattern %s looks like a regular expression or a wildcard, because of %s",
				shownText(text), shownText(part)),
			fmt.Sprintf("write {regex: %s} if it is one, or {text: %[1]s} for the text itself",
				document.QuoteYAML(text)))
		return Item{}, false
	}
	return Item{Text: text}.Named(), true
}

// isItem reports whether a mapping is meant as an item. Other mappings are unquoted strings with a colon.
func (f *ruleFile) isItem(e document.Entry) bool {
	has := func(kind string) bool { return f.doc.Has(e.Value, document.Level{}, kind) }
	if slices.ContainsFunc(itemKinds, has) {
		return true // misspelt
	}
	return slices.ContainsFunc(itemLevel(true).Optional, func(key string) bool {
		_, ok := f.doc.Find(e.Value, key)
		return ok
	})
}

func (f *ruleFile) mapping(e document.Entry, required bool) (Item, bool) {
	level := itemLevel(required)
	m := f.doc.Mapping(e.Value, "the pattern", itemForms, level)
	var kinds []document.Entry // exactly one, if there is no mistake
	for _, kind := range itemKinds {
		if e := m.At(kind); e.Key != nil {
			e.Required = true
			kinds = append(kinds, e)
		}
	}
	switch {
	case len(kinds) > 1:
		first, second := kinds[0].Key, kinds[1].Key
		f.doc.Fail(document.CodeKey, second, fmt.Sprintf("%q and %q in one item", first.Value, second.Value),
			fmt.Sprintf("write %s items", map[int]string{2: "two", 3: "three"}[len(kinds)]))
		return Item{}, false
	case len(kinds) == 0:
		if slices.ContainsFunc(itemKinds, func(kind string) bool { return f.doc.Has(e.Value, level, kind) }) {
			return Item{}, false // misspelt
		}
		found, fix := `a pattern without "text", "regex" or "key"`, "write "+itemForms
		for _, option := range keyOptions() {
			if m.At(option).Key != nil {
				found = fmt.Sprintf(`%q without "key"`, option)
				fix = "write the path of the value: " + f.doc.KeyForm("key")
				break
			}
		}
		f.doc.Fail(document.CodeValue, e.Value, found, fix)
		return Item{}, false
	}
	kind := kinds[0]
	if kind.Key.Value == "key" {
		return f.keyItem(kind, m, required)
	}
	for _, option := range keyOptions() {
		if o := m.At(option); o.Key != nil {
			f.doc.Fail(document.CodeKey, o.Key, fmt.Sprintf(`%q belongs to items with "key"`, option),
				`remove it, or write "key" and the path of a value for `+fmt.Sprintf("%q", kind.Key.Value))
		}
	}
	if kind.Key.Value == "regex" {
		return f.expression(kind, m)
	}
	return f.text(kind, m)
}

const itemForms = `{text: "…"}, {regex: "…"} or {key: "…"}`

func (f *ruleFile) expression(e document.Entry, m document.Entries) (Item, bool) {
	f.refuseOptions(m, []foreignOption{
		{"spaces", `"text"`, `write \s* or \s+ in the expression`},
		{"words", `"text"`, `write \b in the expression`},
		{"case", `"text"`, `write (?i) at the start of the expression`},
	})
	item := Item{Kind: Regex, WithinLines: f.withinLines(m), OnlyUnparsable: f.onlyUnparsable(m)}
	for i, e := range []document.Entry{e, m.At("except")} {
		if e.Key == nil {
			continue
		}
		e.Required = true
		text, ok := f.doc.Text(e)
		if !ok || f.compiled(e, text, false) == nil {
			return Item{}, false
		}
		*[]*string{&item.Text, &item.Except}[i] = text
	}
	return item.Named(), true
}

// A foreignOption is a key of an item that belongs to other kinds of item.
type foreignOption struct{ key, of, instead string }

func (f *ruleFile) refuseOptions(m document.Entries, options []foreignOption) {
	for _, option := range options {
		if e := m.At(option.key); e.Key != nil {
			found := fmt.Sprintf("%q is an option of %s", option.key, option.of)
			f.doc.Fail(document.CodeKey, e.Key, found, option.instead)
		}
	}
}

// withinLines reads the number of lines in which a match may begin; 0 for all.
func (f *ruleFile) withinLines(m document.Entries) int {
	return f.doc.Count(m.At("within_lines"), 1, math.MaxInt32)
}

func (f *ruleFile) onlyUnparsable(m document.Entries) bool {
	e := m.At("only")
	if e.Key == nil || !f.doc.Only(e, "unparsable") {
		return false
	}
	f.only = append(f.only, e)
	return true
}

// compiled returns the compiled regex, for a value or for a file, or nil if it is refused.
func (f *ruleFile) compiled(e document.Entry, text string, ofValue bool) *regex.Expr {
	compiled := f.regex(regexSource{text, ofValue})
	if mistake := compiled.mistake; mistake != nil {
		f.doc.Fail(mistake.Code, e.Value, mistake.Found, mistake.Fix)
		return nil
	}
	return compiled.expr
}

// Limits of all distinct regexes of a bundle together.
const (
	maxRegexBytes  = 100 << 20 // of memory, by [regex.Expr.Bytes]
	maxRegexSource = 1 << 20   // of source
	maxRegexFolded = 1000      // of [regex.FoldedRanges]: 4 s to compile
)

type compiledRegex struct {
	expr    *regex.Expr
	mistake *document.Error
}

// A regexSource is the text of a regex, for a value or for a file.
type regexSource struct {
	text    string
	ofValue bool
}

// regex compiles each distinct regex once.
func (l *loader) regex(s regexSource) compiledRegex {
	if known, ok := l.regexes[s]; ok {
		return known
	}
	found := l.compile(s)
	l.regexes[s] = found
	return found
}

func (l *loader) compile(s regexSource) compiledRegex {
	refused := func(code, found, fix string) compiledRegex {
		return compiledRegex{mistake: newError(code, "", found, fix)}
	}
	limit := func(found string) compiledRegex {
		return refused(document.CodeLimit, found, "write fewer or smaller ones")
	}
	if l.regexSource += len(s.text); l.regexSource > maxRegexSource {
		return limit(fmt.Sprintf("the expressions of the bundle are longer than %d bytes together", maxRegexSource))
	}
	if l.regexFolded += regex.FoldedRanges(s.text); l.regexFolded > maxRegexFolded {
		const found = "the expressions of the bundle have more than %d ranges up to characters beyond ASCII under (?i)"
		return limit(fmt.Sprintf(found, maxRegexFolded))
	}
	compile := regex.Compile
	if s.ofValue {
		compile = regex.CompileValue
	}
	expr, err := compile(s.text)
	var mistake *regex.Error
	switch {
	case errors.As(err, &mistake):
		return refused(document.CodeRegex, mistake.Found, mistake.Fix)
	case err != nil:
		return refused(document.CodeRegex, err.Error(), "write it in RE2's syntax")
	}
	if l.regexBytes += expr.Bytes(); l.regexBytes > maxRegexBytes {
		return limit(fmt.Sprintf("the expressions of the bundle need more than %d MiB of memory", maxRegexBytes>>20))
	}
	return compiledRegex{expr: expr}
}

func (f *ruleFile) text(e document.Entry, m document.Entries) (Item, bool) {
	f.refuseOptions(m, []foreignOption{{"except", `"regex"`, "write the text as a regex, or remove it"}})
	text, ok := f.doc.Text(e)
	item := Item{Text: text, WithinLines: f.withinLines(m), OnlyUnparsable: f.onlyUnparsable(m)}
	for _, option := range []struct {
		key, value string
		is         *bool
	}{{"spaces", "any", &item.Spaces}, {"words", "true", &item.Words}, {"case", "ignore", &item.IgnoreCase}} {
		if o := m.At(option.key); o.Key != nil {
			*option.is = f.doc.Only(o, option.value)
			ok = ok && *option.is
		}
	}
	if !ok || !f.changes(item, m) {
		return Item{}, false
	}
	return item.Named(), true
}

func (f *ruleFile) changes(item Item, m document.Entries) bool {
	ok := true
	fail := func(key, found, fix string) {
		f.doc.Fail(document.CodeValue, m.At(key).Key, found, fix)
		ok = false
	}
	text := item.Text
	switch {
	case !item.Spaces:
	case !strings.ContainsAny(text, " \t"):
		fail("spaces", `"spaces" changes nothing in a text without a space or a tab`,
			"write a space wherever one may occur, or remove it")
	case strings.Trim(text, " \t") != text:
		fail("spaces", `"spaces" in a text that begins or ends with a space or a tab, which changes nothing there`,
			"remove the space at the end of the text")
	}
	if item.Words && !isWord(text[0]) && !isWord(text[len(text)-1]) {
		fail("words", `"words" changes nothing in a text that neither begins nor ends with a letter, a digit or "_"`,
			"remove it")
	}
	if item.IgnoreCase && !strings.ContainsFunc(text, isLetter) {
		fail("case", `"case" changes nothing in a text without an ASCII letter`, "remove it")
	}
	return ok
}

// isWord reports whether a byte is a word character. A byte of a non-ASCII character is not.
func isWord(c byte) bool {
	return isLetter(rune(c)) || '0' <= c && c <= '9' || c == '_'
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
