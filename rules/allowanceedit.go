package rules

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
)

// EditAllowances returns the text of a rules/allowances.yml with other entries. change is asked of each entry of text
// in its order, and returns what it becomes and whether it stays; added are new ones, each on a line after the last
// entry that comes before it in the order of rules and files. All else stays as it is: comments, the order of the
// entries, keys that begin with "x-", line ends. An entry that goes takes the comments on its lines with it, and not
// those above.
//
// Without a text it is that of [FormatAllowances]. Without an entry that stays the text is nil: the file is to be
// deleted. What it returns was read again; a text, or an entry, that is not valid is a [document.Errors], and another
// error says which entry is written in a way that only a person can change.
func EditAllowances(text []byte, change func(Allowance) (Allowance, bool), added []Allowance) ([]byte, error) {
	if len(text) == 0 {
		return checked(FormatAllowances(added), sorted(added))
	}
	f, err := readAllowances(text)
	if err != nil {
		return nil, err
	}
	e := &allowanceEdit{ruleFile: f, text: bytes.TrimPrefix(text, []byte(byteOrderMark)), eol: "\n"}
	e.mark = text[:len(text)-len(e.text)]
	if bytes.Contains(text, []byte("\r\n")) {
		e.eol = "\r\n"
	}
	stay, alike := false, len(added) == 0
	for _, old := range f.loader.allowances {
		now, stays := change(old)
		if !stays {
			e.now = append(e.now, nil)
			continue
		}
		stay, alike = true, alike && old.Same(now)
		e.now = append(e.now, &now)
	}
	switch {
	case alike && !slices.Contains(e.now, nil):
		return text, nil
	case !stay && len(added) == 0:
		return nil, nil
	}
	want, err := e.edit(sorted(added))
	if err != nil {
		return nil, err
	}
	return checked(e.apply(), want)
}

// byteOrderMark is what editors of Windows write at the start of a file.
const byteOrderMark = "\uFEFF"

// readAllowances reads the text of an allowances.yml alone.
func readAllowances(text []byte) (*ruleFile, error) {
	l := newLoader(nil)
	f := l.parse(AllowancesFile, text)
	l.read(f)
	if len(l.batch.Errors) > 0 {
		return nil, l.batch.Errors
	}
	return f, nil
}

// checked returns the text if these are its entries.
func checked(text []byte, want []Allowance) ([]byte, error) {
	if text == nil {
		return nil, nil
	}
	f, err := readAllowances(text)
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(f.loader.allowances, want, Allowance.Same) {
		return nil, errors.New(AllowancesFile + " cannot be changed as it is written; write each entry on one line")
	}
	return text, nil
}

// Same reports whether two entries say the same, wherever they are.
func (a Allowance) Same(b Allowance) bool {
	return a.Rule == b.Rule && a.File == b.File && a.AtMost == b.AtMost && a.Owner == b.Owner && a.Reason == b.Reason &&
		a.Until == b.Until && slices.Equal(a.From, b.From) && a.MayGrow == b.MayGrow
}

// An allowanceEdit is a text while it is edited.
type allowanceEdit struct {
	*ruleFile
	text    []byte       // without a byte order mark, which is mark
	mark    []byte       //
	eol     string       // a line end of the text
	ended   bool         // a line was added after the last, which had no end
	now     []*Allowance // what each entry becomes; nil for one that goes
	splices []splice
}

// A splice replaces a part of the text. Those of an allowanceEdit do not overlap.
type splice struct {
	start, end int
	with       string
}

// replace replaces a part of the text.
func (e *allowanceEdit) replace(start, end int, with string) {
	e.splices = append(e.splices, splice{start, end, with})
}

// apply returns the text with all that was replaced.
func (e *allowanceEdit) apply() []byte {
	slices.SortStableFunc(e.splices, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	out := bytes.Clone(e.mark)
	at := 0
	for _, s := range e.splices {
		out = append(append(out, e.text[at:max(at, s.start)]...), s.with...)
		at = max(at, s.end)
	}
	return append(out, e.text[at:]...)
}

// edit notes what is to be replaced, and returns the entries that the text will have then.
func (e *allowanceEdit) edit(added []Allowance) ([]Allowance, error) {
	root := e.doc.Root
	list, _ := e.doc.Find(root, "allowances")
	if document.IsFlow(list.Value) {
		return e.inBrackets(list, document.IsFlow(root), added)
	}
	items, _ := e.doc.Items(list, "", "")
	after := e.places(added) // the new ones that follow each entry, and those before the first
	var want []Allowance
	from := e.doc.Start(list.Key)
	for i, item := range items {
		if i == 0 { // the colon, and what is between it and the first entry
			from += bytes.IndexByte(e.text[from:], ':') + 1
		}
		dash := e.doc.Skip(from, "")
		indent := e.text[e.lineStart(dash):dash]
		if len(bytes.TrimLeft(indent, " ")) > 0 {
			return nil, e.unclear(i)
		}
		_, end, ok := e.doc.Span(item.Value)
		if !ok {
			return nil, e.unclear(i)
		}
		from = end
		if i == 0 {
			e.insert(e.aboveComments(dash), indent, after[0])
			want = append(want, after[0]...)
		}
		if now := e.now[i]; now == nil {
			e.replace(e.lineStart(dash), e.nextLine(end), "")
		} else {
			if err := e.entry(i, item, *now); err != nil {
				return nil, err
			}
			want = append(want, *now)
		}
		e.insert(e.nextLine(end), indent, after[i+1])
		want = append(want, after[i+1]...)
	}
	return want, nil
}

// places says after which entry each new one goes, from 1; 0 is before the first: after the last of the greatest that
// come before it.
func (e *allowanceEdit) places(added []Allowance) [][]Allowance {
	after := make([][]Allowance, len(e.now)+1)
	order := make([]int, len(e.now))
	for i := range order {
		order[i] = i
	}
	old := e.loader.allowances
	slices.SortStableFunc(order, func(i, k int) int { return old[i].compare(old[k]) })
	for _, a := range added {
		at, _ := slices.BinarySearchFunc(order, a, func(i int, a Allowance) int {
			return cmp.Or(old[i].compare(a), -1) // an equal one comes before it, too
		})
		if at > 0 {
			at = order[at-1] + 1
		}
		after[at] = append(after[at], a)
	}
	return after
}

// insert adds lines for new entries where a line begins, or at the end of the text.
func (e *allowanceEdit) insert(at int, indent []byte, list []Allowance) {
	for _, a := range list {
		e.line(at, string(indent)+"- "+a.String())
	}
}

// inBrackets writes the list again, which is in brackets: as a list of lines, or in brackets if all of the file is.
func (e *allowanceEdit) inBrackets(list document.Entry, all bool, added []Allowance) ([]Allowance, error) {
	start, end, ok := e.doc.Span(list.Value)
	if !ok || bytes.Contains(e.text[start:end], []byte("#")) || bytes.Contains(e.text[start:end], []byte("x-")) {
		return nil, fmt.Errorf("%s:%d: the list is in brackets, with comments or keys of your own; write each entry "+
			"on a line, beginning with \"- \"", AllowancesFile, e.doc.Place(list.Value).Line)
	}
	var want []Allowance
	after := e.places(added)
	want = append(want, after[0]...)
	for i, now := range e.now {
		if now != nil {
			want = append(want, *now)
		}
		want = append(want, after[i+1]...)
	}
	var b strings.Builder
	for i, a := range want {
		switch {
		case all && i > 0:
			b.WriteString("," + e.eol + "  " + a.String())
		case all:
			b.WriteString("[" + a.String())
		default:
			b.WriteString(e.eol + "  - " + a.String())
		}
	}
	if all {
		b.WriteString("]")
	} else {
		start = e.doc.Start(list.Key)
		start += bytes.IndexByte(e.text[start:], ':') + 1
	}
	e.replace(start, end, b.String())
	return want, nil
}

// entry changes an entry to what it becomes: only the values that change.
func (e *allowanceEdit) entry(i int, item document.Entry, now Allowance) error {
	old := e.loader.allowances[i]
	goes := func(key string) bool {
		return slices.Contains(entryKeys, key) && old.value(key) != "" && now.value(key) == ""
	}
	for _, key := range entryKeys {
		was, is := old.value(key), now.value(key)
		ok := true
		switch {
		case was == is:
		case was == "":
			ok = e.addKey(item, key, is)
		case is == "":
			ok = e.removeKey(item, key, goes)
		case key == "from" && len(now.From) > len(old.From) && slices.Equal(old.From, now.From[:len(old.From)]):
			ok = e.addOrigins(item, now, len(old.From))
		default:
			ok = e.setKey(item, key, is)
		}
		if !ok {
			return e.unclear(i)
		}
	}
	return nil
}

// addKey adds a key to an entry, after the one that is always before it; false if that cannot be done.
func (e *allowanceEdit) addKey(item document.Entry, key, value string) bool {
	before := "reason"
	if key == "from" {
		before = "file"
	}
	anchor, _ := e.doc.Find(item.Value, before)
	_, end, ok := e.doc.Span(anchor.Value)
	if document.IsFlow(item.Value) {
		e.replace(end, end, ", "+key+": "+value)
		return ok
	}
	e.line(e.nextLine(end), e.column(item)+key+": "+value)
	return ok
}

// removeKey removes a key from an entry, and its lines with it if it is one of lines; false if that cannot be done.
// goes says which others go, too.
func (e *allowanceEdit) removeKey(item document.Entry, key string, goes func(key string) bool) bool {
	keys := item.Value.Content
	i := 0
	for keys[i].Value != key {
		i += 2
	}
	from := e.doc.Start(keys[i])
	_, end, ok := e.doc.Span(keys[i+1])
	switch {
	case !ok:
		return false
	case i == 0: // with all that go after it
		for i += 2; goes(keys[i].Value); i += 2 {
		}
		next := e.doc.Start(keys[i])
		e.replace(from, next, "")
		return !e.hasComment(end, next)
	case !document.IsFlow(item.Value):
		e.replace(e.lineStart(from), e.nextLine(end), "")
		return true
	case i+2 < len(keys): // with the comma after it
		next := e.doc.Start(keys[i+2])
		e.replace(from, next, "")
		return !e.hasComment(end, next)
	}
	last := i - 2 // that stays
	for goes(keys[last].Value) {
		last -= 2
	}
	_, before, ok := e.doc.Span(keys[last+1])
	e.replace(before, end, "")
	return ok && !e.hasComment(before, from)
}

// setKey replaces the value of a key; false if that cannot be done.
func (e *allowanceEdit) setKey(item document.Entry, key, value string) bool {
	found, _ := e.doc.Find(item.Value, key)
	start, end, ok := e.doc.Span(found.Value)
	isList := document.IsList(found.Value)
	if isList {
		ok = ok && !e.hasComment(start, end)
	}
	lines := e.lineStart(start) != e.lineStart(end) && !document.IsFlow(item.Value)
	if lines || isList && !document.IsFlow(found.Value) {
		_, start, _ = e.doc.Span(found.Key)
		start += bytes.IndexByte(e.text[start:], ':') + 1
		value = " " + value
		ok = ok && !e.hasComment(start, end)
	}
	e.replace(start, end, value)
	return ok
}

// addOrigins adds paths to the end of "from", of which the first are there; false if that cannot be done.
func (e *allowanceEdit) addOrigins(item document.Entry, now Allowance, there int) bool {
	from, _ := e.doc.Find(item.Value, "from")
	if !document.IsList(from.Value) {
		return e.setKey(item, "from", now.value("from"))
	}
	_, end, ok := e.doc.Span(from.Value.Content[there-1])
	for _, path := range now.From[there:] {
		if document.IsFlow(from.Value) {
			e.replace(end, end, ", "+yamlText(path))
			continue
		}
		start := e.doc.Start(from.Value)
		e.line(e.nextLine(end), string(e.text[e.lineStart(start):start])+"- "+yamlText(path))
	}
	return ok
}

// column returns the spaces before the keys of an entry that is not in brackets.
func (e *allowanceEdit) column(item document.Entry) string {
	start := e.doc.Start(item.Value)
	return strings.Repeat(" ", start-e.lineStart(start))
}

// hasComment reports whether there may be a comment in a part of the text.
func (e *allowanceEdit) hasComment(start, end int) bool {
	return bytes.IndexByte(e.text[start:end], '#') >= 0
}

// line adds a line where one begins, or at the end of the text.
func (e *allowanceEdit) line(at int, text string) {
	if at == len(e.text) && !e.ended && !bytes.HasSuffix(e.text, []byte("\n")) {
		e.ended = true
		text = e.eol + text
	}
	e.replace(at, at, text+e.eol)
}

// unclear is the error that an entry cannot be changed.
func (e *allowanceEdit) unclear(i int) error {
	return fmt.Errorf("%s:%d: the entry cannot be changed as it is written; write it on one line",
		AllowancesFile, e.loader.allowances[i].Line)
}

// lineStart returns where the line of a place begins.
func (e *allowanceEdit) lineStart(at int) int { return bytes.LastIndexByte(e.text[:at], '\n') + 1 }

// nextLine returns where the line after a place begins, or the end of the text.
func (e *allowanceEdit) nextLine(at int) int {
	if n := bytes.IndexByte(e.text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(e.text)
}

// aboveComments returns where the line of a place begins, or the first of the comments right above it.
func (e *allowanceEdit) aboveComments(at int) int {
	start := e.lineStart(at)
	for start > 0 {
		above := e.lineStart(start - 1)
		if !bytes.HasPrefix(bytes.TrimLeft(e.text[above:start], " \t"), []byte("#")) {
			break
		}
		start = above
	}
	return start
}
