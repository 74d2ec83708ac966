package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// GitHub's limits of a rule (docs.github.com, "SARIF support for code scanning").
const (
	sarifMostDescribed = 1024 // characters of a description
	sarifMostName      = 255
	sarifMostTags      = 20
)

// sarifRuleOfCode describes the rule of the results that are errors with a code.
func sarifRuleOfCode(code string) sarifRule {
	text := sarifText{Text: "policyscan could not decide. An incomplete run is not a PASS."}
	help := sarifText{Text: text.Text + " The result describes the error and the fix."}
	return sarifRule{
		ID: code, Name: "CouldNotDecide", ShortDescription: text, FullDescription: text, Help: help,
		HelpURI:              sarifHome + "/blob/main/docs/verdict.md#codes",
		DefaultConfiguration: map[string]string{"level": "error"},
		Properties:           sarifRuleProperties{Tags: []string{}, Precision: "very-high", ProblemSeverity: "error"},
	}
}

// sarifRuleOf describes a rule. The bundle's texts in its help are plain words or code.
func sarifRuleOf(r *verdict.Rule, id string) sarifRule {
	// GitHub refuses an empty description. Every rule of a bundle has a title.
	short := cmp.Or(sarifPlain(full(flow(r.Title)), sarifMostDescribed), "A rule without a title.")
	lines := append(namedLines("rule: ", r.Title), ruleLines(r, r.Owner, []string{r.Remediation})...)
	help := sarifText{
		Text: sarifEscape(strings.Join(lines, "\n")), Markdown: "**" + prose(r.Title, codeMarkdown) + "**\n",
	}
	for _, note := range ruleNotes(r, r.Message, []string{r.Remediation}) {
		help.Markdown += "\n" + note + "\n"
	}
	d := sarifRule{
		ID:               id,
		Name:             sarifName(r.Title, id),
		ShortDescription: sarifText{Text: short},
		FullDescription:  sarifText{Text: cmp.Or(sarifPlain(full(flow(r.Message)), sarifMostDescribed), short)},
		Help:             help,
		// Every violation is a FAIL: a level below "error" would let GitHub's check pass.
		DefaultConfiguration: map[string]string{"level": "error"},
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

// securitySeverity is a number that GitHub shows as the same word: critical from 9.0, high from 7.0, medium from 4.0.
// For a rule with a number, GitHub's check ignores the level: so only rules with the tag "security" have one.
func securitySeverity(severity string) string {
	return map[string]string{"low": "2.0", "medium": "5.5", "high": "8.0", "critical": "9.5"}[severity]
}

// sarifTags are a rule's first tags, each once.
func sarifTags(tags []string) []string {
	all := []string{}
	for _, t := range tags {
		all = with(all, verdict.Visible(t))
	}
	return all[:min(len(all), sarifMostTags)]
}

// sarifName makes an identifier from a title: its words of letters and digits, capitalized, as in
// "NoIngressFromAnywhere". It is "" if the title has none or it equals the id.
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

// sarifPlaceOf is the place of a violation; without one, the start of the file, since GitHub requires a region.
func sarifPlaceOf(f *finding) sarifPlace {
	place := sarifPlace{ArtifactLocation: artifact(cmp.Or(f.File, noFile)), Region: sarifStart()}
	switch {
	case !f.hasLine():
	case !f.exact:
		place.Region = wholeLines(f.at.Line, lastLine(&f.at))
	default:
		place.Region, place.ContextRegion = regions(&f.at)
	}
	return place
}

func wholeLines(first, last int64) *sarifRegion {
	return &sarifRegion{StartLine: max(first, 1), EndLine: max(first, last, 1)}
}

// regions returns the match, and the excerpt around it, or nil if the excerpt has no more. A snippet is the exact text
// of its region: a match that may be cut in the excerpt has none.
func regions(e *verdict.Evidence) (match, context *sarifRegion) {
	match = &sarifRegion{StartLine: max(e.Line, 1), StartColumn: max(e.UTF16Column, 1)}
	match.EndLine, match.EndColumn = max(e.EndLine, match.StartLine), max(e.UTF16EndColumn, 1)
	if match.EndLine == match.StartLine {
		match.EndColumn = max(match.EndColumn, match.StartColumn)
		// The length of a line end is unknown: a pattern's LF matches CRLF.
		if n := e.EndColumn - e.Column; e.Line == e.EndLine && n > 0 && e.Offset >= 0 {
			match.ByteOffset, match.ByteLength = &e.Offset, n
		}
	}
	start, end := matchInExcerpt(e)
	before, text, after := e.Excerpt[:start], e.Excerpt[start:end], e.Excerpt[end:]
	if text == "" || after == "" && utf8.RuneCountInString(e.Excerpt) >= excerptLimit {
		return match, nil
	}
	match.Snippet = &sarifText{Text: text}
	if before == "" && after == "" {
		return match, nil
	}
	around := *match
	around.ByteOffset, around.ByteLength = nil, 0
	around.StartColumn = max(around.StartColumn-utf16Len(before), 1)
	around.EndColumn += utf16Len(after)
	around.Snippet = &sarifText{Text: e.Excerpt}
	return match, &around
}

func artifact(file string) sarifArtifact {
	return sarifArtifact{URI: relativeURI(verdict.RawPath(file)), URIBaseID: sarifRoot}
}

// relativeURI is a path as a relative reference of RFC 3986: all bytes are percent-encoded, except letters, digits,
// some punctuation, and slashes after the first byte.
func relativeURI(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; isAlphanumeric(c) || strings.IndexByte("-._~", c) >= 0 || c == '/' && i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// sarifPlain escapes a line of a message, and cuts it to n characters.
func sarifPlain(s string, n int) string {
	for room := n; ; room /= 2 {
		if text := sarifEscape(clip(s, room)); len([]rune(text)) <= n {
			return text
		}
	}
}

// sarifEscape escapes links, "[text](target)", and placeholders, "{0}" (sections 3.11.5 and 3.11.6). The standard has
// no escape for a bracket outside a link; like CodeQL, it uses a backslash, which GitHub reads.
func sarifEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `{`, `{{`, `}`, `}}`).Replace(s)
}
