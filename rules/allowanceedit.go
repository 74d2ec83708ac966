package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/rules/document"
)

// EditAllowances returns the text of rules/allowances.yml with other entries. It calls change with each entry of text,
// in order; change returns the new entry and whether it stays. Each entry of added gets its own line, after the last
// entry that sorts before it. Everything else stays: comments, the order of the entries, keys that begin with "x-",
// line ends. A changed entry is written on one line. A removed entry takes the comments on its lines with it, but not
// those above.
//
// Without a text, it works like [FormatAllowances]. If no entry stays, the text is nil: delete the file. The
// result is parsed again: an invalid text or entry is a [document.Errors]. Another error names an entry that only the
// user can edit.
func EditAllowances(text []byte, change func(Allowance) (Allowance, bool), added []Allowance) ([]byte, error) {
	if len(text) == 0 {
		return checked(FormatAllowances(added), sorted(added))
	}
	f, err := readAllowances(text)
	if err != nil {
		return nil, err
	}
	e := &allowanceEdit{lines: strings.SplitAfter(string(text), "\n"), eol: "\n", old: f.loader.allowances}
	if strings.Contains(string(text), "\r\n") {
		e.eol = "\r\n"
	}
	stay, alike := false, len(added) == 0
	for _, old := range e.old {
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
	if err := e.edit(f.doc, sorted(added)); err != nil {
		return nil, err
	}
	return checked([]byte(e.out.String()), e.want)
}

func readAllowances(text []byte) (*ruleFile, error) {
	l := newLoader(nil)
	f := l.parse(AllowancesFile, text)
	l.read(f)
	if len(l.batch.Errors) > 0 {
		return nil, l.batch.Errors
	}
	return f, nil
}

// checked returns the text if it parses to these entries.
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

// Same reports whether two entries are equal, regardless of their positions.
func (a Allowance) Same(b Allowance) bool {
	return a.Rule == b.Rule && a.File == b.File && a.AtMost == b.AtMost && a.Owner == b.Owner && a.Reason == b.Reason &&
		a.Until == b.Until && slices.Equal(a.From, b.From) && a.MayGrow == b.MayGrow
}

type allowanceEdit struct {
	lines []string // with line ends
	eol   string   // the line end of the text
	old   []Allowance
	now   []*Allowance // the new entries; nil for a removed one

	out  strings.Builder
	want []Allowance // the entries of out
}

func (e *allowanceEdit) edit(doc *document.YAML, added []Allowance) error {
	list, _ := doc.Find(doc.Root, "allowances")
	if document.IsFlow(list.Value) {
		return fmt.Errorf("%s:%d: the list is in brackets; write each entry on a line, beginning with \"- \"",
			AllowancesFile, doc.Place(list.Value).Line)
	}
	items, _ := doc.Items(list, "", "")
	after := e.places(added) // the added entries after each entry, and those before the first
	written := 0             // number of lines
	var indent string
	for i, item := range items {
		at := doc.Place(item.Value)
		first, end := at.Line-1, len(e.lines)
		dash := strings.TrimRight(e.lines[first][:at.Column-1], " ")
		if indent = strings.TrimSuffix(dash, "-"); indent == dash || strings.Trim(indent, " ") != "" {
			return e.unclear(i)
		}
		if i+1 < len(items) {
			end = doc.Place(items[i+1].Value).Line - 1
		} else if next := slices.Index(doc.Root.Content, list.Key) + 2; next < len(doc.Root.Content) {
			end = doc.Place(doc.Root.Content[next]).Line - 1
		}
		for end > first+1 && isComment(e.lines[end-1]) {
			end--
		}
		if i == 0 {
			above := first
			for above > 0 && strings.HasPrefix(strings.TrimLeft(e.lines[above-1], " \t"), "#") {
				above--
			}
			e.write(e.lines[:above])
			e.insert(indent, after[0])
			written = above
		}
		e.write(e.lines[written:first])
		if err := e.entry(i, item, first, end, at.Column-1); err != nil {
			return err
		}
		e.insert(indent, after[i+1])
		written = end
	}
	e.write(e.lines[written:])
	return nil
}

func isComment(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

func (e *allowanceEdit) write(lines []string) {
	for _, line := range lines {
		e.out.WriteString(line)
	}
}

// entry writes the new form of entry i, whose mapping begins at byte start of its first line.
func (e *allowanceEdit) entry(i int, item document.Entry, first, end, start int) error {
	now, text := e.now[i], strings.Join(e.lines[first:end], "")
	if now == nil {
		return nil
	}
	e.want = append(e.want, *now)
	if e.old[i].Same(*now) {
		e.out.WriteString(text)
		return nil
	}
	stop := len(strings.TrimRight(text, " \r\n"))
	keep := strings.Contains(text, " #") || strings.Contains(text, "\n#")
	if document.IsFlow(item.Value) {
		stop, keep = flowEnd(text, start)
	}
	for key := 0; key < len(item.Value.Content); key += 2 {
		keep = keep || strings.HasPrefix(item.Value.Content[key].Value, "x-")
	}
	if keep {
		return e.unclear(i)
	}
	e.out.WriteString(text[:start] + now.String() + text[stop:])
	return nil
}

// flowEnd returns where a mapping in brackets ends, and whether it contains a comment.
func flowEnd(text string, start int) (end int, comment bool) {
	depth := 0
	last := byte('{') // the last byte other than a space
	for end = start; end < len(text); end++ {
		c := text[end]
		switch {
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return end + 1, comment
			}
		case c == '#' && strings.IndexByte(" \t\n", text[end-1]) >= 0:
			comment = true
		case (c == '"' || c == '\'') && strings.IndexByte("{[,:", last) >= 0: // otherwise inside an unquoted string
			for end++; end < len(text) && text[end] != c; end++ {
				if c == '"' && text[end] == '\\' {
					end++
				}
			}
			if c == '\'' {
				c = ':' // '' is a quote inside quotes
			}
		}
		if strings.IndexByte(" \t\r\n", c) < 0 {
			last = c
		}
	}
	return end, true
}

// places returns the added entries by the entry that they follow, from 1: the last of the greatest that sort before
// it. 0 is before the first.
func (e *allowanceEdit) places(added []Allowance) [][]Allowance {
	after := make([][]Allowance, len(e.now)+1)
	order := make([]int, len(e.now))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int { return e.old[i].compare(e.old[k]) })
	for _, a := range added {
		at, _ := slices.BinarySearchFunc(order, a, func(i int, a Allowance) int {
			return cmp.Or(e.old[i].compare(a), -1) // an equal entry sorts before it
		})
		if at > 0 {
			at = order[at-1] + 1
		}
		after[at] = append(after[at], a)
	}
	return after
}

func (e *allowanceEdit) insert(indent string, list []Allowance) {
	for _, a := range list {
		if !strings.HasSuffix(e.out.String(), "\n") { // the last line of the text
			e.out.WriteString(e.eol)
		}
		e.out.WriteString(indent + "- " + a.String() + e.eol)
	}
	e.want = append(e.want, list...)
}

func (e *allowanceEdit) unclear(i int) error {
	return fmt.Errorf("%s:%d: the entry cannot be changed as it is written; write it on one line",
		AllowancesFile, e.old[i].Line)
}

// FormatAllowances returns rules/allowances.yml with these valid entries, one per line, sorted by rule and file. It
// returns nil for no entry, since an empty file is a mistake.
func FormatAllowances(list []Allowance) []byte {
	if len(list) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("bundle: \"0.2\"\nallowances:\n")
	for _, a := range sorted(list) {
		b.WriteString("  - " + a.String() + "\n")
	}
	return []byte(b.String())
}

func sorted(list []Allowance) []Allowance {
	return slices.SortedStableFunc(slices.Values(list), Allowance.compare)
}

func (a Allowance) compare(b Allowance) int {
	return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.File, b.File))
}

// String returns the entry as in rules/allowances.yml, without the leading "- ".
func (a Allowance) String() string {
	var fields []string
	for _, field := range a.fields() {
		if field[1] != "" {
			fields = append(fields, field[0]+": "+field[1])
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// fields returns the keys of an entry in writing order, each with its value for block or flow style; "" for an unset
// key.
func (a Allowance) fields() [][2]string {
	var list []string
	for _, path := range a.From {
		list = append(list, yamlText(path))
	}
	from, mayGrow := strings.Join(list, ", "), ""
	if len(list) > 1 {
		from = "[" + from + "]"
	}
	if a.MayGrow {
		mayGrow = "true"
	}
	return [][2]string{
		{"rule", yamlText(a.Rule)}, {"file", yamlText(a.File)}, {"from", from}, {"at_most", strconv.Itoa(a.AtMost)},
		{"owner", yamlText(a.Owner)}, {"reason", yamlQuoted(a.Reason)}, {"until", a.Until}, {"may_grow", mayGrow},
	}
}

// Strings that every YAML reader takes as strings without quotes, in brackets too: none begins like a number, and none
// is a boolean, a number or null to some reader.
var (
	plainText = late.Regexp(`^(?:[A-Za-z_]|\.[A-Za-z_])[A-Za-z0-9_./+@-]*$`)
	wordText  = late.Regexp(`(?i)^(?:y|n|yes|no|on|off|true|false|null|\.?nan|\.?inf)$`)
)

// yamlText returns a string as YAML, quoted if needed.
func yamlText(text string) string {
	if plainText().MatchString(text) && !wordText().MatchString(text) {
		return text
	}
	return yamlQuoted(text)
}

// yamlQuoted returns a string as a JSON string, which is valid YAML. It escapes the characters that a rule file must
// not contain.
func yamlQuoted(text string) string {
	var b strings.Builder
	for _, r := range jsonString(text) {
		if unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
