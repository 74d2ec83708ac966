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
