package report

import (
	"net/url"
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
func sarifIDs(ours []sarifRule, rules []verdict.Rule) []string {
	used, given := map[string]bool{}, map[string]bool{}
	for i := range ours {
		used[ours[i].ID], given[ours[i].ID] = true, true
	}
	for i := range rules {
		used[rules[i].ID] = true
	}
	ids := make([]string, len(rules))
	for i := range rules {
		r := &rules[i]
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

// sarifRuleOf describes a rule. Without texts its title is all that it says.
func sarifRuleOf(r *verdict.Rule, id string, texts bool) sarifRule {
	short := sarifPlain(full(flow(r.Title)), sarifMostDescribed)
	if short == "" { // GitHub refuses it; no bundle has it
		short = "A rule without a title."
	}
	d := sarifRule{
		ID:               id,
		Name:             sarifName(r.Title, id),
		ShortDescription: sarifText{Text: short},
		FullDescription:  sarifText{Text: short},
		Help:             sarifText{Text: short},
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
	if isURI(r.DocsURL) {
		d.HelpURI = r.DocsURL
	}
	if !texts {
		d.Name = ""
		return d
	}
	if flow(r.Message) != "" {
		d.FullDescription.Text = sarifPlain(full(flow(r.Message)), sarifMostDescribed)
	}
	if help := sarifHelp(r); help.Text != "" {
		d.Help = help
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

// sarifHelp is what a reader learns about a rule: in Markdown, all that a bundle says is in fences, where nothing is
// markup, except an address that is a link and nothing else.
func sarifHelp(r *verdict.Rule) sarifText {
	var plain, markdown []string
	for _, part := range [][2]string{
		{"Rule", r.Title}, {"Why", r.Message}, {"What to do", r.Remediation}, {"Documentation", r.DocsURL},
		{"Owner", r.Owner}, {"Severity", r.Severity},
	} {
		text := strings.TrimSpace(part[1])
		if text == "" {
			continue
		}
		lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		for i, l := range lines {
			lines[i] = strings.TrimRight(drawn(l), " ")
		}
		text = strings.Join(lines, "\n")
		plain = append(plain, part[0]+": "+sarifEscape(text))
		body := fenced(text)
		if text == r.DocsURL && isURI(text) {
			body = "<" + text + ">\n"
		}
		markdown = append(markdown, "**"+part[0]+"**\n\n"+body)
	}
	return sarifText{Text: strings.Join(plain, "\n\n"), Markdown: strings.Join(markdown, "\n")}
}

// fenced is a fenced code block of GitHub's Markdown around text that has no fence as long.
func fenced(text string) string {
	fence := strings.Repeat("`", max(longestRun(text, '`'), 2)+1)
	return fence + "text\n" + text + "\n" + fence + "\n"
}

// isURI reports whether s is an absolute http or https URI as in RFC 3986, except square brackets, which only an
// address of IPv6 may have.
func isURI(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Count(s, "#") > 1 {
		return false
	}
	const others = "-._~:/?#@!$&'()*+,;="
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			i += 2
		} else if !isAlphanumeric(s[i]) && strings.IndexByte(others, s[i]) < 0 {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
