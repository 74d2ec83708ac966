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
		{"except", `"regex"`, `remove it, or ask for the values in "is_not" or "matches_not"`},
		{"only", `"text" and "regex"`, "remove it: a key is never asked of a file that cannot be parsed"},
		{"within_lines", `"text" and "regex"`, "remove it: a key is found wherever the file has it"},
	})
	k := &keyReader{ruleFile: f, json: map[string]string{}}
	if each, at := k.paths(m.At("each")); each != nil {
		k.item.Each, k.each[&k.item] = each, at
	}
	k.item.Paths, _ = k.paths(key)
	k.item.Where, k.item.If = k.conditions(m.At("where")), k.conditions(m.At("if"))
	condition := k.condition(m, &k.item.Condition, map[string]keyitem.Asks{
		"is": keyitem.Is, "is_not": keyitem.IsNot, "matches": keyitem.Matches, "matches_not": keyitem.MatchesNot,
		"below": keyitem.Below, "above": keyitem.Above, "at_least": keyitem.AtLeast, "at_most": keyitem.AtMost,
	}, k.json)
	k.fitting(m, condition, required)
	if format := m.At("format"); format.Key != nil {
		k.item.Format = f.doc.Word(format, keyitem.Formats()...)
		k.json["format"] = jsonString(k.item.Format)
	}
	if f.doc.Mistakes() == before && required && (condition == "is_not" || condition == "matches_not") {
		f.doc.Fail(document.CodeKey, m.At(condition).Key, fmt.Sprintf("%q in %q", condition, requiredKey),
			"write two items: "+k.twoItems(condition))
	}
	return Item{Kind: Key, Key: &k.item, Name: keyItemName(k.json)}, f.doc.Mistakes() == before
}

// keyItemName returns the JSON of an item, given the JSON of its keys.
func keyItemName(json map[string]string) string {
	var parts []string
	for _, key := range slices.Insert(keyOptions(), 1, "key") {
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

// pathConditions are the conditions of where and if, by their keys.
func pathConditions() map[string]keyitem.Asks {
	return map[string]keyitem.Asks{
		"is": keyitem.Is, "is_not": keyitem.IsNot, "matches": keyitem.Matches, "matches_not": keyitem.MatchesNot,
		"below": keyitem.Below, "above": keyitem.Above, "missing": keyitem.Missing, "present": keyitem.Present,
	}
}

// condition reads the condition among the keys of a mapping, and its JSON into shown. It returns its key, or "".
func (k *keyReader) condition(
	m document.Entries, c *keyitem.Condition, known map[string]keyitem.Asks, shown map[string]string,
) string {
	first := ""
	if quantity := m.At("quantity"); quantity.Key != nil && k.doc.Only(quantity, "true") {
		c.Quantity, shown["quantity"] = true, "true"
	}
	for _, e := range m {
		key := e.Key.Value
		asks, ok := known[key]
		switch {
		case !ok:
			continue
		case first != "":
			k.doc.Fail(document.CodeKey, e.Key, fmt.Sprintf("%q and %q in one item", first, key), "write two items")
			continue
		}
		first, c.Asks = key, asks
		switch asks {
		case keyitem.Is, keyitem.IsNot:
			c.Values, shown[key] = k.values(e)
		case keyitem.Matches, keyitem.MatchesNot:
			e.Required = true
			if text, ok := k.doc.Text(e); ok {
				c.Match, shown[key] = k.compiled(e, text, true), jsonString(text)
			}
		case keyitem.Missing, keyitem.Present:
			k.doc.Only(e, "true")
			shown[key] = "true"
		default:
			c.Limit, shown[key] = k.limit(e, c.Quantity)
		}
	}
	return first
}

// limit reads a number, or a quantity, and its JSON.
func (k *keyReader) limit(e document.Entry, quantity bool) (n keyitem.Number, shown string) {
	text, quoted, ok := k.doc.Scalar(e)
	if !ok || !k.fits(e, text) {
		return n, ""
	}
	if quantity {
		if n, ok = keyitem.ParseQuantity(text); !ok {
			k.doc.Fail(document.CodeValue, e.Value, document.Quoted(text)+" is no quantity of Kubernetes",
				"write one such as 500m, 1Gi or 2")
		}
		return n, jsonString(text)
	}
	value, err := keyitem.ParseValue(text, quoted)
	switch _, isQuantity := keyitem.ParseQuantity(text); {
	case err != nil:
		k.refuse(e, err)
	case value.Kind != keyitem.NumberValue && isQuantity:
		k.doc.Fail(document.CodeValue, e.Value, document.Quoted(text)+" is no number",
			"write a number without quotes, and also quantity: true for a quantity of Kubernetes")
	case value.Kind != keyitem.NumberValue:
		k.doc.Fail(document.CodeValue, e.Value, document.Quoted(text)+" is no number", "write a number without quotes")
	}
	return value.Number, value.Text
}

// fitting refuses keys that do not fit each other, or the kind of item.
func (k *keyReader) fitting(m document.Entries, condition string, required bool) {
	fail := func(key, found, fix string) { k.doc.Fail(document.CodeKey, m.At(key).Key, found, fix) }
	others := map[string]string{"below": "at_least", "above": "at_most", "at_least": "below", "at_most": "above"}
	other := others[condition]
	switch isLimit := other != ""; {
	case !isLimit && m.At("quantity").Key != nil:
		fail("quantity", `"quantity" without a number to compare with`,
			"write "+k.doc.KeyForm("below")+", or remove it")
	case isLimit && required == (k.item.Asks == keyitem.Below || k.item.Asks == keyitem.Above):
		in, says := requiredKey, "required"
		if !required {
			in, says = "a pattern that forbids", "forbidden"
		}
		fail(condition, fmt.Sprintf("%q in %s", condition, in),
			fmt.Sprintf("write %q for what is %s, or move the item", other, says))
	}
	switch of := m.At("any"); {
	case of.Key == nil || !k.doc.Only(of, "true"):
	case !required:
		fail("any", `"any" in a pattern that forbids, where any value counts`, "remove it")
	case condition == "":
		fail("any", `"any" without a condition on the value`, "write "+k.doc.KeyForm("is")+", or remove it")
	default:
		k.item.AnyValue, k.json["any"] = true, "true"
	}
	switch alone := func(p keyitem.Path) bool { return len(p) == 1 && p[0].Kind == keyitem.Deep }; {
	case len(k.item.If) == 0:
	case required && m.At("each").Key == nil:
		fail("if", `"if" without "each"`,
			`write "each" and the path of the objects that it asks, or "where" for the document`)
	case !required && slices.ContainsFunc(k.item.Paths, alone):
		fail("if", `"if" with the path **, which stands for whole documents too`, `write a key at its end, or "where"`)
	}
}

// conditions reads "where" or "if": paths, each with values or with a condition.
func (k *keyReader) conditions(e document.Entry) (all []keyitem.At) {
	if e.Value == nil {
		return nil
	}
	name := e.Key.Value
	entries, ok := k.doc.Fields(e.Value, fmt.Sprintf("%q", name), k.doc.KeyForm(name))
	if ok && len(entries) == 0 {
		k.doc.Fail(document.CodeValue, e.Value, fmt.Sprintf("%q is empty", name),
			"write "+k.doc.KeyForm(name)+", or remove the key")
	}
	var shown []string
	for _, entry := range entries {
		if k.doc.Full() {
			return nil
		}
		text := entry.Key.Value
		at := keyitem.At{}
		at.Path, _ = k.path(document.Entry{Key: e.Key, Value: entry.Key}, text)
		json := ""
		if document.IsMapping(entry.Value) {
			json = k.longCondition(entry, &at.Condition)
		} else {
			at.Asks = keyitem.Is
			at.Values, json = k.values(entry)
		}
		all, shown = append(all, at), append(shown, jsonString(text)+":"+json)
	}
	k.json[name] = "{" + strings.Join(shown, ",") + "}"
	return all
}

// longCondition reads a condition that is a mapping, and returns its JSON.
func (k *keyReader) longCondition(e document.Entry, c *keyitem.Condition) string {
	const form = `a value, or one of {is: …}, {is_not: …}, {matches: …}, {matches_not: …}, {below: …}, {above: …}, ` +
		`{missing: true}, {present: true}`
	level := document.Level{Name: "a condition", Optional: slices.Sorted(maps.Keys(pathConditions()))}
	level.Wrong = map[string]document.Wrong{}
	for key, instead := range map[string]string{"at_least": "above", "at_most": "below"} {
		level.Wrong[key] = document.Wrong{Found: fmt.Sprintf("%q in a condition", key),
			Fix: fmt.Sprintf("write %q: a condition holds where it could hold", instead)}
	}
	for _, key := range []string{"quantity", "any"} {
		level.Wrong[key] = document.Wrong{Found: fmt.Sprintf("%q in a condition", key), Fix: "remove it"}
	}
	before := k.doc.Mistakes()
	shown := map[string]string{}
	m := k.doc.Mapping(e.Value, "the condition", form, level)
	key := k.condition(m, c, pathConditions(), shown)
	if key == "" && k.doc.Mistakes() == before {
		k.doc.Fail(document.CodeValue, e.Value, "a condition that asks nothing", "write "+form)
	}
	return "{" + jsonString(key) + ":" + shown[key] + "}"
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
