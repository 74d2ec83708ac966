package rules

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/keyitem"
)

type keyReader struct {
	*ruleFile
	item keyitem.Item
	json map[string]string // the JSON of its keys
}

func (f *ruleFile) keyItem(key document.Entry, m document.Entries, required bool) (Item, bool) {
	before := f.doc.Mistakes()
	f.refuseOptions(m, []foreignOption{
		{"spaces", `"text"`, `remove it: a key is found however the file is spaced`},
		{"words", `"text"`, `write \b in the expression of "matches": matches: '\bprivate\b'`},
		{"case", `"text"`, `write (?i) at the start of the expression of "matches": matches: '(?i)^private$'`},
		{"within_lines", `"text" and "regex"`, "remove it: a key is found wherever the file has it"},
	})
	k := &keyReader{ruleFile: f, json: map[string]string{}}
	if each, at := k.paths(m.At("each")); each != nil {
		k.item.Each, k.each[&k.item] = each, at
	}
	k.item.Paths, _ = k.paths(key)
	k.where(m.At("where"))
	condition := k.condition(m)
	if format := m.At("format"); format.Key != nil {
		k.item.Format = f.doc.Word(format, keyitem.Formats()...)
		k.json["format"] = jsonString(k.item.Format)
	}
	if f.doc.Mistakes() > before {
		return Item{}, false
	}
	if required && (k.item.Asks == keyitem.IsNot || k.item.Asks == keyitem.MatchesNot) {
		f.doc.Fail(document.CodeKey, m.At(condition).Key, fmt.Sprintf("%q in %q", condition, requiredKey),
			"write two items: "+k.twoItems(condition))
		return Item{}, false
	}
	return Item{Kind: Key, Key: &k.item, Name: keyItemName(k.json)}, f.doc.Mistakes() == before
}

// keyItemName returns the JSON of an item, given the JSON of its keys.
func keyItemName(json map[string]string) string {
	var parts []string
	for _, key := range []string{"each", "key", "where", "is", "is_not", "matches", "matches_not", "format"} {
		if text, ok := json[key]; ok {
			parts = append(parts, jsonString(key)+":"+text)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// oneOrMore returns the items of a list, or the single value; nothing if the key is unset.
func (f *ruleFile) oneOrMore(e document.Entry) (entries []document.Entry, isList bool) {
	switch {
	case e.Value == nil:
		return nil, false
	case document.IsList(e.Value):
		e.Required = true // an empty one has no effect
		return f.doc.List(e), true
	}
	return []document.Entry{e}, false
}

func jsonList(all []string, isList bool) string {
	text := strings.Join(all, ",")
	if isList {
		return "[" + text + "]"
	}
	return text
}

// listOf reads the values of a key, one or a list, with their positions and their JSON. read returns a value's text and
// its JSON, by which values are equal.
func listOf[T any](
	k *keyReader, e document.Entry, what string, read func(document.Entry) (v T, text, json string, ok bool),
) (all []T, at []document.Place, shown string) {
	var parts []string
	seen := map[string]bool{}
	entries, isList := k.oneOrMore(e)
	for _, entry := range entries {
		v, text, json, ok := read(entry)
		switch {
		case k.doc.Full():
			return nil, nil, ""
		case !ok:
		case seen[json]:
			k.doc.Fail(document.CodeDuplicate, entry.Value, "the "+what+" "+document.Quoted(text)+" is listed twice",
				"remove one of them")
		default:
			seen[json] = true
			all, at, parts = append(all, v), append(at, k.doc.Place(entry.Value)), append(parts, json)
		}
	}
	return all, at, jsonList(parts, isList)
}

func (k *keyReader) paths(e document.Entry) ([]keyitem.Path, []document.Place) {
	if e.Value == nil {
		return nil, nil
	}
	read := func(e document.Entry) (path keyitem.Path, text, json string, ok bool) {
		if text, ok = k.doc.Text(e); ok && k.fits(e, text) {
			path, ok = k.path(e, text)
			return path, text, jsonString(text), ok
		}
		return nil, "", "", false
	}
	paths, at, shown := listOf(k, e, "path", read)
	k.json[e.Key.Value] = shown
	return paths, at
}

func (k *keyReader) path(e document.Entry, text string) (keyitem.Path, bool) {
	path, err := keyitem.ParsePath(text)
	if err != nil {
		k.refuse(e, err)
	}
	return path, err == nil
}

func (k *keyReader) refuse(e document.Entry, err error) {
	var mistake *keyitem.Error
	if !errors.As(err, &mistake) {
		mistake = &keyitem.Error{Found: err.Error(), Fix: "write another"}
	}
	k.doc.Fail(document.CodeValue, e.Value, mistake.Found, mistake.Fix)
}

func (k *keyReader) values(e document.Entry) ([]keyitem.Value, string) {
	read := func(e document.Entry) (value keyitem.Value, text, json string, ok bool) {
		text, quoted, ok := k.doc.Scalar(e)
		if !ok || !k.fits(e, text) {
			return value, "", "", false
		}
		value, err := keyitem.ParseValue(text, quoted)
		if err != nil {
			k.refuse(e, err)
			return value, "", "", false
		}
		if json = value.Text; value.Kind == keyitem.TextValue {
			json = jsonString(json)
		}
		return value, value.Text, json, true
	}
	values, _, shown := listOf(k, e, "value", read)
	return values, shown
}

// condition reads the condition on the value, and returns its key; "" if the item has none.
func (k *keyReader) condition(m document.Entries) string {
	first := ""
	for _, c := range []struct {
		key  string
		asks keyitem.Asks
	}{
		{"is", keyitem.Is}, {"is_not", keyitem.IsNot},
		{"matches", keyitem.Matches}, {"matches_not", keyitem.MatchesNot},
	} {
		e := m.At(c.key)
		switch {
		case e.Key == nil:
			continue
		case first != "":
			k.doc.Fail(document.CodeKey, e.Key, fmt.Sprintf("%q and %q in one item", first, c.key), "write two items")
			continue
		}
		first, k.item.Asks = c.key, c.asks
		if c.asks == keyitem.Is || c.asks == keyitem.IsNot {
			k.item.Values, k.json[c.key] = k.values(e)
			continue
		}
		e.Required = true
		if text, ok := k.doc.Text(e); ok {
			k.item.Match, k.json[c.key] = k.compiled(e, text, true), jsonString(text)
		}
	}
	return first
}

func (k *keyReader) where(e document.Entry) {
	if e.Value == nil {
		return
	}
	entries, ok := k.doc.Fields(e.Value, `"where"`, k.doc.KeyForm("where"))
	if ok && len(entries) == 0 {
		k.doc.Fail(document.CodeValue, e.Value, `"where" is empty`,
			"write "+k.doc.KeyForm("where")+", or remove the key")
	}
	var shown []string
	for _, entry := range entries {
		if k.doc.Full() {
			return
		}
		text := entry.Key.Value
		path, _ := k.path(document.Entry{Key: e.Key, Value: entry.Key}, text)
		values, json := k.values(entry)
		k.item.Where = append(k.item.Where, keyitem.Where{Path: path, Values: values})
		shown = append(shown, jsonString(text)+":"+json)
	}
	k.json["where"] = "{" + strings.Join(shown, ",") + "}"
}

// twoItems returns the replacement for a required item with a negative condition: one that requires the key, and a
// forbidden item with the unwanted values.
func (k *keyReader) twoItems(condition string) string {
	there := maps.Clone(k.json)
	delete(there, condition)
	other := maps.Clone(there)
	delete(other, "each")
	other[strings.TrimSuffix(condition, "_not")] = k.json[condition]
	if len(k.item.Each) > 0 {
		var all []string
		for _, each := range k.item.Each {
			for _, path := range k.item.Paths {
				if len(all) < 100 { // a message shows no more
					all = append(all, jsonString(slices.Concat(each, path).String()))
				}
			}
		}
		other["key"] = jsonList(all, len(all) > 1)
	}
	cut := func(name string) string {
		cut, end := document.Cut(name)
		return cut + end
	}
	return fmt.Sprintf("%s here, and %s in %q", cut(keyItemName(there)), cut(keyItemName(other)), invariantKey)
}
