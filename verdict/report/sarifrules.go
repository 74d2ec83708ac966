package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/verdict"
)

// What GitHub takes of a rule (docs.github.com, "SARIF support for code scanning").
const (
	sarifMostDescribed = 1024 // characters of a description
	sarifMostName      = 255
	sarifMostTags      = 20
)

// sarifRuleOfCode describes the rule that an error is a result of.
func sarifRuleOfCode(code string) sarifRule {
	text := sarifText{Text: "policyscan could not decide. An incomplete run is not a PASS."}
	help := sarifText{Text: text.Text + " The result says what was found and what to do."}
	return sarifRule{
		ID: code, Name: "CouldNotDecide", ShortDescription: text, FullDescription: text, Help: help,
		HelpURI:              sarifHome + "/blob/main/docs/verdict.md#codes",
		DefaultConfiguration: sarifConfiguration{"error"},
		Properties:           sarifRuleProperties{Tags: []string{}, Precision: "very-high", ProblemSeverity: "error"},
	}
}

// sarifIDs are the ids of rules as SARIF has them, each once. The first rule of an id has it; another one (a change
// brings its own rule under the id of one of the base) has "ID@FROM", and so has one whose id is a code of ours. Not
// "ID/FROM": in SARIF that is a part of the rule ID, and no rule.
func sarifIDs(ours []sarifRule, rules []*ruleGroup) []string {
	used, given := map[string]bool{}, map[string]bool{}
	for i := range ours {
		used[ours[i].ID], given[ours[i].ID] = true, true
	}
	for _, g := range rules {
		used[g.rule.ID] = true
	}
	ids := make([]string, len(rules))
	for i, g := range rules {
		r := g.rule
		ids[i] = r.ID
		if !given[r.ID] {
			given[r.ID] = true
			continue
		}
		id := r.ID + "@" + r.From
		for n := 2; used[id]; n++ {
			id = r.ID + "@" + r.From + "-" + strconv.Itoa(n)
		}
		ids[i], used[id] = id, true
	}
	return ids
}

// sarifRuleOf describes a rule. All that a bundle says in its help is plain words or code.
func sarifRuleOf(r *verdict.Rule, id string) sarifRule {
	// GitHub refuses an empty description; no bundle has a rule without a title.
	short := cmp.Or(sarifPlain(full(flow(r.Title)), sarifMostDescribed), "A rule without a title.")
	lines := append(namedLines("rule: ", r.Title), ruleLines(r)...)
	help := sarifText{Text: sarifEscape(strings.Join(lines, "\n")), Markdown: "**" + prose(r.Title, codeMarkdown) + "**\n"}
	for _, note := range ruleNotes(r, r.Message) {
		help.Markdown += "\n" + note + "\n"
	}
	d := sarifRule{
		ID:               id,
		Name:             sarifName(r.Title, id),
		ShortDescription: sarifText{Text: short},
		FullDescription:  sarifText{Text: cmp.Or(sarifPlain(full(flow(r.Message)), sarifMostDescribed), short)},
		Help:             help,
		// Every violation is a FAIL: a level below "error" would let GitHub's check pass.
		DefaultConfiguration: sarifConfiguration{"error"},
		Properties: sarifRuleProperties{
			Tags: sarifTags(r.Tags), Precision: "very-high", ProblemSeverity: "error",
			Type: r.Type, From: r.From, Owner: verdict.Visible(r.Owner), Severity: r.Severity,
		},
	}
	if id != r.ID {
		d.Properties.RuleID = r.ID
	}
	if slices.Contains(r.Tags, "security") {
		d.Properties.SecuritySeverity = securitySeverity(r.Severity)
	}
	if isSafeURL(r.DocsURL) {
		d.HelpURI = r.DocsURL
	}
	return d
}

// securitySeverity is the number by which GitHub shows these words again: critical is over 9.0, high from 7.0, medium
// from 4.0. It makes a rule one of security, and then GitHub's check judges by it and not by the level: so only a rule
// that has the tag "security" has a number, and "low" is for its team to choose.
func securitySeverity(severity string) string {
	return map[string]string{"low": "2.0", "medium": "5.5", "high": "8.0", "critical": "9.5"}[severity]
}

// sarifTags are a rule's tags, each once, as many as GitHub takes of them.
func sarifTags(tags []string) []string {
	all := []string{}
	for _, t := range tags {
		if t = verdict.Visible(t); !slices.Contains(all, t) && len(all) < sarifMostTags {
			all = append(all, t)
		}
	}
	return all
}

// sarifName makes of a title the identifier that SARIF wants next to an id: the words of letters and digits, each with
// a capital, as in "NoIngressFromAnywhere". It is "" for a title of which no identifier can be made, and when the id is
// the same.
func sarifName(title, id string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(title,
		func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	name := b.String()
	if name == "" || unicode.IsDigit(rune(name[0])) || len(name) > sarifMostName || name == id {
		return ""
	}
	return name
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
