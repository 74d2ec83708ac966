package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/verdict"
)

// hostilePath draws the path of a file in git, in the verdict's spelling.
func hostilePath() *rapid.Generator[string] {
	part := rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "b", "Main", ".tf", "_", "-", "0", "1", "~", "null", "yes", "-", "- ", "? ", " ", "  ", "\t", "\n", "\r\n",
			`"`, `'`, "#", " #", ": ", ":", ",", "{", "}", "[", "]", "&", "*", "!", "|", ">", "%", "@", "`", `\`, `\x41`,
			"\xff", "\xc3", "\u00e9", "e\u0301", "\U0001F600", "\u2028", "\u0085", "\ufeff", "\x7f", "\x01", "\ufffd", "\ufffe",
		}), 1, 4).Draw(t, "part"), "")
		if text == "." || text == ".." {
			return "x"
		}
		return text
	})
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "plain") {
			return rapid.SampledFrom([]string{"main.tf", "legacy/main.tf", ".github/x.yml", "a/b-c_d.e", "1.tf"}).Draw(t, "path")
		}
		return verdict.Path(strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), "/"))
	})
}

// anyAllowance draws a valid entry.
func anyAllowance() *rapid.Generator[Allowance] {
	line := rapid.SampledFrom([]string{"o", "network-team", "NET-123", "yes", "1", "a: b", "# x", " x ", `"`, `'`, "é",
		"\U0001F600", "- a", "{a}", "~", "[", "2027-03-01", `\`, "a # b", "@x", "%"})
	return rapid.Custom(func(t *rapid.T) Allowance {
		a := Allowance{
			Rule: rapid.SampledFrom([]string{"A", "TF-NET-001", "yes", "é", "[x]", "#1", "a:b", "1", "{", `"q"`, "B"}).Draw(t, "rule"),
			File: hostilePath().Draw(t, "file"), AtMost: rapid.IntRange(1, 12).Draw(t, "at most"),
			Owner: line.Draw(t, "owner"), Reason: line.Draw(t, "reason"), MayGrow: rapid.IntRange(0, 4).Draw(t, "may grow") == 0,
		}
		if rapid.Bool().Draw(t, "has end") {
			a.Until = rapid.SampledFrom([]string{"2027-03-01", "2028-02-29", "0001-01-01"}).Draw(t, "until")
		}
		for _, from := range rapid.SliceOfNDistinct(hostilePath(), 0, 3, func(s string) string { return s }).Draw(t, "from") {
			if from != a.File {
				a.From = append(a.From, from)
			}
		}
		return a
	})
}

var ignorePlace = []cmp.Option{cmpopts.IgnoreFields(Allowance{}, "Line", "Column"), cmpopts.EquateEmpty()}

// entriesOf reads a single file.
func entriesOf(t interface{ Fatalf(string, ...any) }, text []byte) []Allowance {
	f, err := readAllowances(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f.loader.allowances
}

// TestFormatAllowances: written entries are read again unchanged, in order, one per line.
func TestFormatAllowances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(anyAllowance(), 1, 6).Draw(t, "list")
		text := FormatAllowances(list)
		slices.SortStableFunc(list, func(a, b Allowance) int {
			return strings.Compare(a.Rule+"\x00"+a.File, b.Rule+"\x00"+b.File) // neither has a NUL
		})
		if diff := cmp.Diff(list, entriesOf(t, text), ignorePlace...); diff != "" {
			t.Fatalf("(-written +read)\n%s\n%s", diff, text)
		}
		if lines := bytes.Count(text, []byte("\n")); lines != len(list)+2 {
			t.Fatalf("%d lines of %d entries:\n%s", lines, len(list), text)
		}
		for i, a := range list {
			if line := strings.Split(string(text), "\n")[i+2]; line != "  - "+a.String() {
				t.Fatalf("%s\nand not\n%s", line, a)
			}
		}
	})
	if text := FormatAllowances(nil); text != nil {
		t.Errorf("of no entry: %q", text)
	}
}

// A styled is a hand-written allowances.yml with its entries.
type styled struct {
	text     []byte
	list     []Allowance
	above    []string // comments above entries, in order
	trailing []string // the comment of each entry, or ""
}

// anyStyle draws a file: entries in braces, on one or several lines, or as blocks, with comments and own keys.
func anyStyle(t *rapid.T) styled {
	s := styled{list: rapid.SliceOfN(anyAllowance(), 1, 5).Draw(t, "list")}
	if rapid.Bool().Draw(t, "in order") {
		s.list = sorted(s.list)
	}
	var b strings.Builder
	if rapid.Bool().Draw(t, "mark") {
		b.WriteString("\uFEFF")
	}
	b.WriteString("# The list\nbundle: \"0.2\"\nx-own: {a: [b]}\nallowances:\n")
	quote := func(text string) string {
		switch ascii := strconv.QuoteToASCII(text); rapid.IntRange(0, 2).Draw(t, "quote") {
		case 0:
			return ascii // which is a string in YAML, too
		case 1:
			if ascii == `"`+text+`"` {
				return `'` + strings.ReplaceAll(text, `'`, `''`) + `'`
			}
		}
		return yamlText(text)
	}
	pad := rapid.SampledFrom([]string{"", "  ", "    "}).Draw(t, "indent")
	for i, a := range s.list {
		for n := range rapid.IntRange(0, 2).Draw(t, "comments") {
			s.above = append(s.above, fmt.Sprintf("# above %d %d", i, n))
			b.WriteString(pad + s.above[len(s.above)-1] + "\n")
			if rapid.Bool().Draw(t, "blank") {
				b.WriteString("\n")
			}
		}
		keys := rapid.Permutation(a.fields()).Draw(t, "keys")
		if rapid.IntRange(0, 9).Draw(t, "own key") == 0 {
			keys = slices.Insert(keys, rapid.IntRange(0, len(keys)).Draw(t, "at"), [2]string{"x-own", "1"})
		}
		style := rapid.IntRange(0, 2).Draw(t, "style")
		trailing := ""
		if rapid.IntRange(0, 1+3*style).Draw(t, "trailing") == 0 {
			trailing = fmt.Sprintf(" # trailing %d", i)
		}
		s.trailing = append(s.trailing, strings.TrimSpace(trailing))
		var fields []string
		for _, field := range keys {
			key, value := field[0], field[1]
			if key == "x-own" {
				fields = append(fields, key+": [1, {a: 2}]")
				continue
			}
			switch {
			case value == "":
				continue
			case key == "from" && (len(a.From) > 1 || rapid.Bool().Draw(t, "list of one")):
				var list []string
				for _, path := range a.From {
					list = append(list, quote(path))
				}
				value = "[" + strings.Join(list, ", ") + "]"
				if style == 2 && rapid.Bool().Draw(t, "lines of from") {
					value = "\n" + pad + "    - " + strings.Join(list, "\n"+pad+"    - ")
				}
			case key == "from":
				value = quote(a.From[0])
			case key == "until" && rapid.Bool().Draw(t, "quoted day"):
				value = `"` + value + `"`
			case key == "rule":
				value = quote(a.Rule)
			case key == "file":
				value = quote(a.File)
			case key == "owner":
				value = quote(a.Owner)
			}
			fields = append(fields, key+": "+value)
		}
		switch style {
		case 0:
			b.WriteString(pad + "- {" + strings.Join(fields, ", ") + "}" + trailing + "\n")
		case 1:
			b.WriteString(pad + "- {" + fields[0] + "," + trailing + "\n" + pad + "   " + strings.Join(fields[1:], ",\n"+pad+"   ") + "}\n")
		default:
			if strings.Contains(fields[0], "\n") {
				trailing, s.trailing[i] = "", ""
			}
			b.WriteString(pad + "- " + fields[0] + trailing + "\n" + pad + "  " + strings.Join(fields[1:], "\n"+pad+"  ") + "\n")
		}
	}
	if rapid.Bool().Draw(t, "key after") {
		b.WriteString("# after\nx-last: 1\n")
	}
	text := b.String()
	if rapid.Bool().Draw(t, "no end") {
		text = strings.TrimSuffix(text, "\n")
	}
	if rapid.Bool().Draw(t, "CRLF") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	s.text = []byte(text)
	if diff := cmp.Diff(s.list, entriesOf(t, s.text), ignorePlace...); diff != "" {
		t.Fatalf("the test writes something else (-want +got)\n%s\n%s", diff, s.text)
	}
	return s
}

// TestEditAllowances: any change, addition and removal gives the expected entries and leaves the rest unchanged.
func TestEditAllowances(t *testing.T) {
	unclear, edited := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := anyStyle(t)
		now := make([]*Allowance, len(s.list)) // nil: removed
		same := make([]bool, len(s.list))
		for i, a := range s.list {
			other := anyAllowance().Draw(t, "other")
			switch rapid.IntRange(0, 6).Draw(t, "edit") {
			case 0:
				continue
			case 1:
				a.AtMost, a.Until = other.AtMost, other.Until
			case 2:
				a.From = slices.DeleteFunc(slices.Clone(other.From), func(p string) bool { return p == a.File })
			case 3:
				for _, p := range other.From {
					if p != a.File && !slices.Contains(a.From, p) {
						a.From = append(slices.Clone(a.From), p)
					}
				}
			case 4:
				a = other
			case 5:
				a.MayGrow, a.Until = !a.MayGrow, ""
			default:
				same[i] = true
			}
			now[i] = &a
		}
		added := rapid.SliceOfN(anyAllowance(), 0, 3).Draw(t, "added")
		i := -1
		text, err := EditAllowances(s.text, func(a Allowance) (Allowance, bool) {
			if i++; now[i] == nil {
				return Allowance{}, false
			}
			return *now[i], true
		}, added)
		if err != nil {
			unclear++
			if _, isMistake := err.(document.Errors); isMistake || strings.Contains(err.Error(), "cannot be changed as it is written; write each") {
				t.Fatalf("%v\n%s", err, s.text)
			}
			return
		}
		edited++
		var kept []Allowance
		for i := range now {
			if now[i] != nil {
				kept = append(kept, *now[i])
			}
		}
		if len(kept)+len(added) == 0 {
			if text != nil {
				t.Fatalf("no entry stays, and the file is\n%s", text)
			}
			return
		}
		got := entriesOf(t, text)
		rest := slices.Clone(got)
		for _, a := range slices.Backward(added) { // the last of equal ones is a new one
			k := -1
			for i := range rest {
				if cmp.Equal(rest[i], a, ignorePlace...) {
					k = i
				}
			}
			if k < 0 {
				t.Fatalf("%s was not added:\n%s", a, text)
			}
			rest = slices.Delete(rest, k, k+1)
		}
		if diff := cmp.Diff(kept, rest, ignorePlace...); diff != "" {
			t.Fatalf("(-want +got)\n%s\nof\n%s\nis\n%s", diff, s.text, text)
		}
		if slices.IsSortedFunc(s.list, Allowance.compare) && slices.IsSortedFunc(kept, Allowance.compare) &&
			slices.Equal(same, slices.Repeat([]bool{true}, len(same))) && !slices.IsSortedFunc(got, Allowance.compare) {
			t.Fatalf("no longer in order:\n%s", text)
		}
		checkRest(t, s, now, same, text)
	})
	if edited < 10 { // otherwise comments and own keys are within entries
		t.Errorf("%d of %d could not be edited", unclear, unclear+edited)
	}
}

// checkRest checks that comments, own keys, line ends and the lines of other entries are unchanged.
func checkRest(t *rapid.T, s styled, now []*Allowance, same []bool, text []byte) {
	rest := string(text)
	for _, comment := range s.above {
		_, after, found := strings.Cut(rest, comment)
		if !found {
			t.Fatalf("%q is gone, or elsewhere:\n%s\n%s", comment, s.text, text)
		}
		rest = after
	}
	for i, comment := range s.trailing {
		if now[i] != nil && !strings.Contains(string(text), comment) {
			t.Fatalf("%q is gone:\n%s\n%s", comment, s.text, text)
		}
	}
	unchanged := !slices.Contains(same, false)
	had := map[string]int{}
	for line := range strings.Lines(string(text)) {
		had[strings.TrimRight(line, "\r\n")]++
	}
	for line := range strings.Lines(string(s.text)) {
		line = strings.TrimRight(line, "\r\n")
		if had[line]--; had[line] < 0 && (unchanged || !strings.Contains(line, ": ") || strings.HasPrefix(line, "x-")) &&
			!strings.Contains(line, "- ") {
			t.Fatalf("the line %q is gone:\n%s\n%s", line, s.text, text)
		}
	}
	crlf := bytes.Contains(s.text, []byte("\r\n"))
	if bytes.Count(text, []byte("\r\n")) != bytes.Count(text, []byte("\n")) && crlf || !crlf && bytes.Contains(text, []byte("\r\n")) {
		t.Fatalf("the line ends are not those of the file:\n%q", text)
	}
	if bytes.HasPrefix(text, []byte("\uFEFF")) != bytes.HasPrefix(s.text, []byte("\uFEFF")) {
		t.Fatal("the byte order mark is another")
	}
}

// TestEditAllowancesText: edits of hand-written files.
func TestEditAllowancesText(t *testing.T) {
	const text = `# Signed for by the platform team.
bundle: "0.2"

allowances:
  # Databases
  - {rule: DB-1, file: legacy/b.tf, at_most: 3, owner: db, reason: "DB-7"}   # until the move
  - {at_most: 1, rule: DB-1, file: legacy/c.tf, owner: 'db', reason: DB-8, until: "2027-03-01"}
  # Network
  - rule: NET-1
    file: "legacy/main.tf"
    from:
      - old/main.tf
    at_most: 12
    owner: network-team
    reason: >-
      A long
      reason

  # As it is
  - rule: NET-2
    file: legacy/main.tf   # and nothing else
    at_most: 1
    owner: network-team
    reason: "NET-9"
    x-ticket: NET-7
x-after: true
`
	edited, err := EditAllowances([]byte(text), func(a Allowance) (Allowance, bool) {
		switch a.File {
		case "legacy/b.tf":
			a.AtMost, a.From = 2, []string{"x: y.tf"}
		case "legacy/c.tf":
			return a, false
		case "legacy/main.tf":
			if a.Rule == "NET-2" {
				return a, true
			}
			a.AtMost, a.Until, a.From = 9, "2028-01-01", append(a.From, "old/other.tf")
		}
		return a, true
	}, []Allowance{
		{Rule: "NET-1", File: "a", AtMost: 1, Owner: "o", Reason: "r"},
		{Rule: "AAA", File: "#1", AtMost: 1, Owner: "o", Reason: "r", From: []string{"b", "yes"}, MayGrow: true},
		{Rule: "ZZZ", File: `a\\b\xff`, AtMost: 1, Owner: "o", Reason: "r"},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `# Signed for by the platform team.
bundle: "0.2"

allowances:
  - {rule: AAA, file: "#1", from: [b, "yes"], at_most: 1, owner: o, reason: "r", may_grow: true}
  # Databases
  - {rule: DB-1, file: legacy/b.tf, from: "x: y.tf", at_most: 2, owner: db, reason: "DB-7"}   # until the move
  - {rule: NET-1, file: a, at_most: 1, owner: o, reason: "r"}
  # Network
  - {rule: NET-1, file: legacy/main.tf, from: [old/main.tf, old/other.tf], at_most: 9, owner: network-team, ` +
		`reason: "A long reason", until: 2028-01-01}

  # As it is
  - rule: NET-2
    file: legacy/main.tf   # and nothing else
    at_most: 1
    owner: network-team
    reason: "NET-9"
    x-ticket: NET-7
  - {rule: ZZZ, file: "a\\\\b\\xff", at_most: 1, owner: o, reason: "r"}
x-after: true
`
	if diff := cmp.Diff(want, string(edited)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	keep := func(a Allowance) (Allowance, bool) { return a, true }
	one := Allowance{Rule: "A", File: "a", AtMost: 1, Owner: "o", Reason: "r"}
	const header, entry = "bundle: \"0.2\"\nallowances:", `{rule: A, file: a, at_most: 1, owner: o, reason: "r"}`
	for _, c := range []struct{ text, want, err string }{
		{"", header + "\n  - " + entry + "\n", ""},
		{header + " [{rule: B, file: b, at_most: 1, owner: o, reason: r}]\nx-y: 1\n", "",
			"rules/allowances.yml:2: the list is in brackets; write each entry on a line"},
		{header + "\n", "", `rules/allowances.yml:2:1: "allowances" is empty`},
		{header + "\n- rule: B\n  file: b\n  at_most: 1\n  owner: o\n  reason: |2-\n    r\n",
			header + "\n- " + entry + "\n- rule: B\n  file: b\n  at_most: 1\n  owner: o\n  reason: |2-\n    r\n", ""},
		{header + "\n-\n  {rule: B, file: b, at_most: 1, owner: o, reason: r}\n", "",
			"rules/allowances.yml:4: the entry cannot be changed as it is written"},
	} {
		got, err := EditAllowances([]byte(c.text), keep, []Allowance{one})
		if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%q is\n%s%v", c.text, got, err)
		}
	}
	for _, a := range []Allowance{{}, {Rule: "A", File: "/a", AtMost: 1, Owner: "o", Reason: "r"}} {
		if text, err := EditAllowances(nil, keep, []Allowance{a}); err == nil {
			t.Errorf("an entry that is not valid is written: %s", text)
		}
	}
}
