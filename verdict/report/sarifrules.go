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
		DefaultConfiguration: map[string]string{"level": "error"},
		Properties:           sarifRuleProperties{Tags: []string{}, Precision: "very-high", ProblemSeverity: "error"},
	}
}

// sarifRuleOf describes a rule. All that a bundle says in its help is plain words or code.
func sarifRuleOf(r *verdict.Rule, id string) sarifRule {
	// GitHub refuses an empty description; no bundle has a rule without a title.
	short := cmp.Or(sarifPlain(full(flow(r.Title)), sarifMostDescribed), "A rule without a title.")
	lines := append(namedLines("rule: ", r.Title), ruleLines(r)...)
	help := sarifText{
		Text: sarifEscape(strings.Join(lines, "\n")), Markdown: "**" + prose(r.Title, codeMarkdown) + "**\n",
	}
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
		all = with(all, verdict.Visible(t))
	}
	return all[:min(len(all), sarifMostTags)]
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

// sarifPlaceOf is the place of a violation that reports point to. GitHub wants a file and a region, and validators warn
// where there is none: what is at no place is at the start.
func sarifPlaceOf(f *finding) sarifPlace {
	place := sarifPlace{ArtifactLocation: artifact(cmp.Or(f.File, noFile)), Region: sarifStart()}
	switch {
	case !f.inFile():
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

// regions returns the match, and what the excerpt holds of the lines around it; nil if it holds no more. A snippet is
// the very text of its region: a match that the excerpt may not hold to its end has none.
func regions(e *verdict.Evidence) (match, context *sarifRegion) {
	match = &sarifRegion{StartLine: max(e.Line, 1), StartColumn: max(e.UTF16Column, 1)}
	match.EndLine, match.EndColumn = max(e.EndLine, match.StartLine), max(e.UTF16EndColumn, 1)
	if match.EndLine == match.StartLine {
		match.EndColumn = max(match.EndColumn, match.StartColumn)
		// The bytes of a line end are not known: a pattern's LF matches CRLF.
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

// relativeURI is a path as a relative reference of RFC 3986: every byte but those that no reader takes for anything
// else is percent-encoded, and a path that begins with a slash is no other root's.
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

// sarifPlain is a line of plain text of a message, at most n characters as it is written.
func sarifPlain(s string, n int) string {
	for room := n; ; room /= 2 {
		if text := sarifEscape(clip(s, room)); len([]rune(text)) <= n {
			return text
		}
	}
}

// sarifEscape writes a text so that nothing in it is a link, "[text](target)", or a placeholder, "{0}" (sections 3.11.5
// and 3.11.6). Outside links the standard names no way to write a bracket; CodeQL writes it with a backslash as within
// one, so that is what GitHub's readers take.
func sarifEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `{`, `{{`, `}`, `}}`).Replace(s)
}
