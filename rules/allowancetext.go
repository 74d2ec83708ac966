package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/internal/late"
)

// FormatAllowances returns the text of a rules/allowances.yml with these entries, which are valid: one a line, in the
// order of their rules and files. It returns nil for no entry, since such a file is a mistake.
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

// sorted returns entries in the order of a file that policyscan writes.
func sorted(list []Allowance) []Allowance {
	return slices.SortedStableFunc(slices.Values(list), Allowance.compare)
}

func (a Allowance) compare(b Allowance) int {
	return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.File, b.File))
}

// String returns the entry as a line of rules/allowances.yml has it, without the "- " before it.
func (a Allowance) String() string {
	var fields []string
	for _, field := range a.fields() {
		if field[1] != "" {
			fields = append(fields, field[0]+": "+field[1])
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// fields are the keys of an entry in the order in which they are written, each with how its value is written, within
// brackets or not: "" for a key that is not there.
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

// Texts that every reader of YAML takes for a text, without quotes and in brackets, too: none that begins as a number
// does, and no word that some read as a truth value, as a number or as nothing.
var (
	plainText = late.Regexp(`^(?:[A-Za-z_]|\.[A-Za-z_])[A-Za-z0-9_./+@-]*$`)
	wordText  = late.Regexp(`(?i)^(?:y|n|yes|no|on|off|true|false|null|\.?nan|\.?inf)$`)
)

// yamlText returns a text as YAML has it, quoted if that is needed.
func yamlText(text string) string {
	if plainText().MatchString(text) && !wordText().MatchString(text) {
		return text
	}
	return yamlQuoted(text)
}

// yamlQuoted returns a text as a string of JSON, which is one of YAML, too. What a rule file may not have as it is, is
// escaped.
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
