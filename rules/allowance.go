package rules

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/verdict"
)

// An Allowance is an entry of rules/allowances.yml: the file may keep AtMost occurrences of the rule. Whether the file
// exists does not matter here.
type Allowance struct {
	Rule   string // the id of a rule, perhaps of another bundle: see [CheckAllowances]
	File   string // the path, spelt as the verdict spells it
	AtMost int    // occurrences; 0 in an entry that withdraws others
	Owner  string // one line, and so is Reason
	Reason string //
	// the last day on which it counts, such as "2027-03-01"; for a withdrawing entry, the last day on which it is
	// kept; "" if unset
	Until string
	From  []string // other paths than File, spelt like it, each once; nil if unset

	MayGrow bool // the file may have AtMost even if it had fewer before

	Line, Column int // where the entry begins in rules/allowances.yml; 1-based, the column in bytes
}

// allowanceSpots are the positions of an entry's values, for later messages.
type allowanceSpots struct {
	rule       document.Spot
	file, from document.Place // from is the position of the key's value; the zero Place if unset
}

// maxAtMost is the largest limit of an allowance; the sum of all entries of a file fits into an int.
const maxAtMost = 1_000_000_000

var allowanceLevel = document.Level{
	Name:     "an allowance",
	Required: []string{"rule", "file", "at_most", "owner", "reason"},
	Optional: []string{"until", "from", "may_grow"},
}

var allowancesLevel = document.Level{
	Name:     "the file",
	Required: []string{versionKey, "allowances"},
	Wrong: map[string]document.Wrong{"rules": {
		For:   "allowances",
		Found: `"rules" in ` + path.Base(AllowancesFile) + ", which has allowances only",
		Fix:   "move the rules to another file",
	}},
}

const allowanceForm = `{rule: TF-RDS-001, file: legacy/main.tf, at_most: 3, owner: network-team, reason: "NET-123"}`

func allowancesForm() document.Form {
	return document.Form{
		File: `bundle: "0.2" and the entries below "allowances:", or delete the file`,
		Keys: map[string]string{
			versionKey:   `bundle: "0.2"`,
			"allowances": `"allowances:" and the entries below it, each beginning with "- "`,
			"rule":       `"rule: TF-RDS-001", the id of a rule`,
			"file":       `"file: legacy/main.tf", the path from the root of the tree`,
			"at_most":    `"at_most: 3", how many occurrences the file may have`,
			"owner":      `"owner: network-team", who answers for it`,
			"reason":     `reason: "NET-123", why it is allowed`,
			"until":      `"until: 2027-03-01", the last day that counts`,
			"from":       `"from: legacy/old.tf", or a list of paths`,
			"may_grow":   `"may_grow: true"`,
		},
		Mappings: []string{"allowances"},
		Levels:   []document.Level{allowancesLevel, allowanceLevel},
	}
}

func (f *ruleFile) listAllowances() {
	const instead = "write an entry, or delete the file"
	top, list, ok := f.top(allowancesLevel, "allowances", `bundle: "0.2", and the entries below "allowances:"`,
		`a list, each entry beginning with "- rule:"`, instead)
	if ok && len(list) == 0 {
		f.doc.Fail(document.CodeValue, top.At("allowances").Value, `"allowances" is an empty list`, instead)
	}
	for i, item := range list {
		if f.doc.Full() {
			break
		}
		f.doc.BeginAbout(item.Value, "rule")
		f.allowance(item)
		f.doc.End(list[i:])
	}
}

func (f *ruleFile) allowance(item document.Entry) {
	m := f.doc.Mapping(item.Value, "the allowance", allowanceForm, allowanceLevel)
	if m == nil {
		return
	}
	at := f.doc.Place(item.Value)
	a := Allowance{Line: at.Line, Column: at.Column}
	a.Rule = f.doc.RuleID(m.At("rule"))
	a.File = f.treePath(m.At("file"))
	a.AtMost = f.doc.Count(m.At("at_most"), 0, maxAtMost)
	a.Owner = f.doc.Line(m.At("owner"))
	a.Reason = f.doc.Line(m.At("reason"))
	a.Until = f.day(m.At("until"))
	a.From = f.origins(m.At("from"), a.File)
	if e := m.At("may_grow"); e.Key != nil {
		a.MayGrow = f.doc.Only(e, "true")
	}
	if e := m.At("at_most"); a.AtMost == 0 && e.Value != nil && e.Value.Value == "0" {
		for _, name := range []string{"may_grow", "from"} {
			if e := m.At(name); e.Key != nil {
				found := fmt.Sprintf("%q in an entry with at_most: 0, which allows nothing", name)
				f.doc.Fail(document.CodeValue, e.Key, found, "remove it")
			}
		}
	}
	if f.doc.Mistakes() > 0 {
		return // a bundle with a mistake is dropped
	}
	spots := allowanceSpots{rule: f.doc.Spot(m.At("rule").Value), file: f.doc.Place(m.At("file").Value)}
	if len(a.From) > 0 {
		spots.from = f.doc.Place(m.At("from").Value)
	}
	f.loader.allowances, f.loader.spots = append(f.loader.allowances, a), append(f.loader.spots, spots)
}

// day reads an ISO 8601 day, quoted or not; "" if it is invalid or missing.
func (f *ruleFile) day(e document.Entry) string {
	if e.Value != nil && f.doc.Empty(e.Value) {
		f.doc.Text(e) // reports the error
		return ""
	}
	text, _, ok := f.doc.Scalar(e)
	if !ok {
		return ""
	}
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		found := fmt.Sprintf("%q is %s, which is not a date", e.Key.Value, document.Quoted(text))
		f.doc.Fail(document.CodeValue, e.Value, found, "write a day of the calendar as 2027-03-01")
		return ""
	}
	return text
}

// origins reads the earlier paths of a file: one string, or a list.
func (f *ruleFile) origins(e document.Entry, file string) []string {
	list, _ := f.oneOrMore(e)
	var all []string
	known := make(map[string]bool, len(list))
	for _, item := range list {
		text := f.treePath(item)
		switch {
		case text == "":
			continue
		case text == file:
			f.doc.Fail(document.CodeValue, item.Value, `"from" names the file of the entry itself`,
				"write the path that it had before, or remove it")
		case known[text]:
			f.doc.Fail(document.CodeDuplicate, item.Value, document.Quoted(text)+` is in "from" twice`,
				"remove one of them")
		}
		known[text] = true
		all = append(all, text)
	}
	return all
}

// treePath reads the path of a file in the verdict's spelling; "" if it is invalid or missing.
func (f *ruleFile) treePath(e document.Entry) string {
	read := f.doc.Text
	if n := e.Value; n != nil && n.Value != "" && n.Style != 0 && strings.TrimSpace(n.Value) == "" {
		read = func(e document.Entry) (string, bool) { // a file may have such a name
			text, _, ok := f.doc.Scalar(e)
			return text, ok
		}
	}
	text, ok := read(e)
	if !ok {
		return ""
	}
	if found, fix := pathMistake(text); found != "" {
		f.doc.Fail(document.CodeValue, e.Value,
			fmt.Sprintf("%q is %s, %s", e.Key.Value, document.Quoted(text), found), fix)
		return ""
	}
	return text
}

// pathMistake says why a string is not a tree path in the verdict's spelling; "" if it is one.
func pathMistake(text string) (found, fix string) {
	const form = `write the path from the root of the tree, with "/" between directories`
	switch {
	case strings.HasPrefix(text, "/"):
		return "an absolute path", form
	case strings.Contains(text, "\x00"):
		return "which has a NUL and is no file's path", form
	case verdict.Path(verdict.RawPath(text)) != text:
		return "which is not how a verdict spells a path", form +
			`; a backslash in a name is spelt \\, and a byte that is not UTF-8 as \xff`
	case strings.HasSuffix(text, "/"):
		return "a directory", "write an entry for each file in it"
	case !fs.ValidPath(text) || text == ".":
		clean := path.Clean(text)
		if clean == "." || clean == ".." || strings.HasPrefix(clean, "../") {
			return "which is not in the tree", form
		}
		return "which is not the shortest way to write that path", fmt.Sprintf("write %q", clean)
	}
	return "", ""
}
