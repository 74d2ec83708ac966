package report

import (
	"compress/gzip"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// sarifLimits is how much a file may hold.
type sarifLimits struct {
	results, errors, rules int
	bytes                  int // with gzip
}

// githubLimits are those of GitHub's code scanning (docs.github.com, "SARIF support for code
// scanning" and, of its REST API, "Upload an analysis as SARIF data").
func githubLimits() sarifLimits {
	return sarifLimits{
		results: 5_000, // it shows these, and refuses a file of more than 25,000
		errors:  100,   // of the results; our own limit: they come first, and leave room for violations
		rules:   25_000,
		bytes:   9_500_000, // it takes 10 MB, and another gzip may do worse than ours
	}
}

// writeSARIF writes the verdict as SARIF 2.1.0 for GitHub's code scanning and others.
//
// A violation is a result of level "error", whatever the rule's severity: there is no
// violation that is not a FAIL. Paths are from the tree's root. automationDetails.id is
// "policyscan/MODE/", GitHub's category, so that a diff's results close no alert of a full
// scan; a run that --rule or --exclude narrowed has "policyscan/MODE-partial/".
//
// What could not be decided is a notification, executionSuccessful is false, and each is a
// result too, of a rule that is named by the error's code: GitHub shows no notifications, and
// a file without results would close what an earlier run found.
//
// The file holds at most what GitHub takes: 5,000 results (errors before violations, and new violations before others),
// 25,000 rules, and 10 MB with gzip. To be that small it skips the snippets, then what rules say beyond
// their titles, then results. A notification and the run's properties say what is missing.
func writeSARIF(w io.Writer, v *verdict.Verdict) error {
	return writeSARIFWithin(w, v, githubLimits())
}

func writeSARIFWithin(w io.Writer, v *verdict.Verdict, most sarifLimits) error {
	c := sarifCut{sarifLimits: most, snippets: true, texts: true}
	c.results = min(c.results, len(undecidedOf(v))+len(v.Violations))
	for {
		text, err := verdict.JSON(newSARIF(v, c).log())
		if err != nil {
			return err
		}
		if fits(text, most.bytes) || !c.less() {
			_, err = w.Write(text)
			return err
		}
	}
}

// A sarifCut is how much of a verdict goes into a file.
type sarifCut struct {
	sarifLimits
	snippets, texts bool
	only            bool // of the rules those that have a result
}

// less cuts more, if there is more to cut.
func (c *sarifCut) less() bool {
	switch {
	case c.snippets:
		c.snippets = false
	case c.texts:
		c.texts = false
	case c.results > 0:
		c.results, c.only = c.results/2, true
	default:
		return false
	}
	return true
}

// fits reports whether a file has at most so many bytes with gzip. Gzip adds next to
// nothing to what it cannot make smaller.
func fits(text []byte, most int) bool {
	if len(text) < most {
		return true
	}
	room := limitedWriter(most)
	z := gzip.NewWriter(&room)
	if _, err := z.Write(text); err != nil {
		return false
	}
	return z.Close() == nil
}

// limitedWriter takes so many bytes more.
type limitedWriter int

func (w *limitedWriter) Write(p []byte) (int, error) {
	if *w -= limitedWriter(len(p)); *w < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// sarifWriter puts a run together.
type sarifWriter struct {
	*verdict.Verdict
	cut    sarifCut
	errors []verdict.Error // what could not be decided
	run    sarifRun
}

func newSARIF(v *verdict.Verdict, c sarifCut) *sarifWriter {
	return &sarifWriter{Verdict: v, cut: c, errors: undecidedOf(v), run: sarifRun{Results: []sarifResult{}}}
}

func (s *sarifWriter) log() sarifLog {
	v, run := s.Verdict, &s.run
	version := semanticVersion(v.Tool.Version)
	run.Tool.Driver = sarifDriver{
		Name: v.Tool.Name, FullName: v.Tool.Name + " " + v.Tool.Version, Version: version, SemanticVersion: version,
		InformationURI: sarifHome, Rules: []sarifRule{},
	}
	run.OriginalURIBaseIDs = map[string]sarifArtifact{sarifRoot: {Description: &sarifText{Text: "The root of the " +
		"tree that was scanned."}}}
	run.NewlineSequences = []string{"\r\n", "\n", "\r"}
	run.ColumnKind = "utf16CodeUnits"
	category := v.Scope.Mode
	if v.Partial {
		category += "-partial"
	}
	run.AutomationDetails = sarifAutomation{
		ID:          "policyscan/" + category + "/",
		Description: sarifText{Text: "Files checked against a policy's rules."},
	}
	run.Properties = sarifRunProperties{
		Verdict: v.Verdict, Complete: v.Complete, Partial: v.Partial,
		Allowed: verdict.OrEmpty(v.Allowed), Scope: v.Scope,
		Coverage: sarifCoverage{
			Files: v.Coverage.Files, Governed: v.Coverage.Governed, Scanned: v.Coverage.Scanned,
			Bytes: v.Coverage.Bytes, NotScanned: len(v.Coverage.NotScanned),
		},
		Violations: len(v.Violations), Policy: []sarifBundles{},
	}
	run.Properties.Scope.MergeBases = verdict.OrEmpty(v.Scope.MergeBases)
	for _, p := range v.Policy {
		run.Properties.Policy = append(run.Properties.Policy, sarifBundles{p.From, p.SHA256})
	}
	run.Invocations = []sarifInvocation{{
		ExecutionSuccessful: len(s.errors) == 0,
		Execution:           []sarifNotification{},
		Configuration:       []sarifNotification{},
	}}

	s.writeErrors()
	s.violations()
	s.notes()
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{*run}}
}

// writeErrors writes the errors.
func (s *sarifWriter) writeErrors() {
	run, in := &s.run, &s.run.Invocations[0]
	byCode := map[string]int{}
	for i, e := range s.errors {
		if i == s.cut.errors {
			run.Properties.ErrorsLeftOut = len(s.errors) - i
			break
		}
		message := sarifText{Text: sarifPlain("Could not decide: "+full(flow(e.Message)), 1000)}
		n := sarifNotification{Descriptor: &sarifReference{e.Code}, Level: "error", Message: message}
		if e.File != "" && e.File != "." {
			place := sarifPlace{ArtifactLocation: artifact(e.File), Region: sarifPoint(&e)}
			n.Locations = []sarifLocation{{PhysicalLocation: place}}
		}
		if code.OfBundle(e.Code) || e.Code == code.Usage {
			in.Configuration = append(in.Configuration, n)
		} else {
			in.Execution = append(in.Execution, n)
		}

		index, ok := byCode[e.Code]
		if !ok {
			index = len(run.Tool.Driver.Rules)
			byCode[e.Code] = index
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOfCode(e.Code))
		}
		file, region := e.File, sarifPoint(&e)
		if file == "" || file == "." {
			file, region = noFile, nil
		}
		if region == nil {
			region = sarifStart()
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: run.Tool.Driver.Rules[index].ID, RuleIndex: index, Level: "error", Message: message,
			Locations: []sarifLocation{{PhysicalLocation: sarifPlace{
				ArtifactLocation: artifact(file),
				Region:           region,
			}}},
			PartialFingerprints: map[string]string{sarifFingerprint: errorFingerprint(&e)},
		})
	}
}

// sarifRuleOfCode describes the rule that an error is a result of.
func sarifRuleOfCode(code string) sarifRule {
	text := sarifText{Text: "policyscan could not decide. An incomplete run is not a PASS."}
	help := text
	help.Text += " The result says what was found and what to do."
	return sarifRule{
		ID: code, Name: "CouldNotDecide", ShortDescription: text, FullDescription: text, Help: help,
		HelpURI:              sarifHome + "/blob/main/docs/verdict.md#codes",
		DefaultConfiguration: sarifConfiguration{"error"},
		Properties:           sarifRuleProperties{Tags: []string{}, Precision: "very-high", ProblemSeverity: "error"},
	}
}

// violations writes the violations, and the rules.
func (s *sarifWriter) violations() {
	v, run := s.Verdict, &s.run
	room := max(s.cut.results-len(run.Results), 0)
	found := newestOf(v.Violations, room)
	run.Properties.ViolationsLeftOut = len(v.Violations) - len(found)

	rules, indexes := v.Rules, ruleIndexes(v)
	for _, i := range found {
		if x := &v.Violations[i]; indexes[i] < 0 { // no scan writes this
			indexes[i] = len(rules)
			rules = append(rules[:len(rules):len(rules)], verdict.Rule{ID: x.RuleID, Type: x.RuleType, Title: x.Title})
		}
	}
	has := make([]bool, len(rules))
	wanted := 0
	for _, i := range found {
		if r := indexes[i]; !has[r] {
			has[r] = true
			wanted++
		}
	}
	spare := s.cut.rules - len(run.Tool.Driver.Rules) - wanted
	if s.cut.only {
		spare = 0
	}
	ids, place := sarifIDs(run.Tool.Driver.Rules, rules), make([]int, len(rules))
	for i := range rules {
		if !has[i] {
			if spare <= 0 {
				run.Properties.RulesLeftOut++
				continue
			}
			spare--
		}
		place[i] = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(&rules[i], ids[i], s.cut.texts))
	}
	for _, i := range found {
		r := indexes[i]
		run.Results = append(run.Results, s.result(&v.Violations[i], ids[r], place[r]))
	}
}

// sarifHome is where a reader learns what policyscan is.
const sarifHome = "https://github.com/policyscan/policyscan"

// sarifFingerprint is the name of our own fingerprint. GitHub's is "primaryLocationLineHash".
const sarifFingerprint = "policyscan/v1"

func (s *sarifWriter) result(v *verdict.Violation, id string, index int) sarifResult {
	p := pointed(v)
	fingerprints := map[string]string{sarifFingerprint: v.Fingerprint}
	if p.LineHash != "" {
		fingerprints["primaryLocationLineHash"] = p.LineHash
	}
	return sarifResult{
		RuleID: id, RuleIndex: index, Level: "error",
		Message:             sarifText{Text: sarifPlain(sentenceOf(v), 2000)},
		Locations:           []sarifLocation{{PhysicalLocation: s.place(v)}},
		RelatedLocations:    relatedLocations(v),
		BaselineState:       baselineState(v.Status),
		PartialFingerprints: fingerprints,
		Properties:          &sarifResultProperties{v.Evidence.Occurrences, v.Evidence.Encoding},
	}
}

// regions returns the match, and what the excerpt holds of the lines around it; nil if it
// holds no more. A snippet is the very text of its region; only that of a match that the
// excerpt does not hold to its end is cut, and ends in an ellipsis.
func regions(e *verdict.Evidence) (match, context *sarifRegion) {
	match = &sarifRegion{StartLine: max(e.Line, 1), StartColumn: max(e.UTF16Column, 1)}
	match.EndLine, match.EndColumn = max(e.EndLine, match.StartLine), max(e.UTF16EndColumn, 1)
	if match.EndLine == match.StartLine {
		match.EndColumn = max(match.EndColumn, match.StartColumn)
		// Columns of bytes: that is known of a match within a line, in any encoding. The bytes of
		// a line end are not: a pattern's LF matches CRLF.
		if n := e.EndColumn - e.Column; e.Line == e.EndLine && n > 0 && e.Offset >= 0 {
			offset := e.Offset
			match.ByteOffset, match.ByteLength = &offset, &n
		}
	}
	start, end := matchInExcerpt(e)
	before, text, after := e.Excerpt[:start], e.Excerpt[start:end], e.Excerpt[end:]
	switch {
	case text == "":
		return match, nil
	case after == "" && !whole(text, e):
		match.Snippet = &sarifText{Text: text + ellipsis}
		return match, nil
	}
	match.Snippet = &sarifText{Text: text}
	if before == "" && after == "" {
		return match, nil
	}
	c := *match
	c.ByteOffset, c.ByteLength = nil, nil
	c.StartColumn = max(c.StartColumn-utf16Len(before), 1)
	c.EndColumn += utf16Len(after)
	c.Snippet = &sarifText{Text: e.Excerpt}
	return match, &c
}

// whole reports whether text is the match to its end. Of a text, LF matches CRLF.
func whole(text string, e *verdict.Evidence) bool {
	n := named(e)
	if n.isMapping() {
		return utf8.RuneCountInString(text) < excerptLimit
	}
	lines := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	return lines(text) == lines(n.plain)
}

// notes writes the notifications that are not errors.
func (s *sarifWriter) notes() {
	v, p, in := s.Verdict, &s.run.Properties, &s.run.Invocations[0]
	note := func(level, format string, args ...any) {
		in.Execution = append(in.Execution,
			sarifNotification{Level: level, Message: sarifText{Text: fmt.Sprintf(format, args...)}})
	}
	const rest = "; verdict.json has them all."
	if n := p.ViolationsLeftOut; n > 0 {
		note("warning", "This file shows %d of %s"+rest, len(v.Violations)-n, count(len(v.Violations), "violation"))
	}
	if n := p.ErrorsLeftOut; n > 0 {
		note("error", "This file shows %d of %s"+rest, len(s.errors)-n, count(len(s.errors), "error"))
	}
	if n := p.RulesLeftOut; n > 0 {
		note("warning", "This file does not show all of %s: %d without a result are omitted"+rest,
			count(len(v.Rules), "rule"), n)
	}
	if !s.cut.snippets {
		note("warning", "This file would be larger than GitHub accepts: the snippets are omitted.")
	}
	if !s.cut.texts {
		note("warning", "This file would be larger than GitHub accepts: only the titles of the rules are included.")
	}
	if v.Partial {
		why, so := partialNote(v)
		note("warning", "%s", full(sentence(why+"; "+so)))
	}
	if coversNothing(v) && len(s.errors) == 0 {
		level := "note"
		if ofWholeTree(v) {
			level = "warning"
		}
		note(level, "%s", nothingCovered)
	}
	s.allowed()
	if text := notJudgedNote(v); text != "" {
		note("note", "%s", sarifPlain(full(text), 1000))
	}
	if text := unparsedNote(v); text != "" {
		note("note", "%s", full(text))
	}
	if n := len(v.Coverage.NotScanned); n > 0 {
		note("warning", "%s covered and not scanned; verdict.json names them.", count(n, "file"))
	}
}

// sarifRoot is what paths are relative to, by the name that tools have agreed on.
const sarifRoot = "%SRCROOT%"

func artifact(file string) sarifArtifact {
	return sarifArtifact{URI: relativeURI(verdict.RawPath(file)), URIBaseID: sarifRoot}
}

// relativeURI is a path as a relative reference of RFC 3986: every byte but those that no
// reader takes for anything else is percent-encoded, and a path that begins with a slash is
// no other root's.
func relativeURI(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case isAlphanumeric(c), strings.IndexByte("-._~", c) >= 0, c == '/' && i > 0:
			b.WriteByte(c)
		default:
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

// sarifEscape writes a text so that nothing in it is a link, "[text](target)", or a
// placeholder, "{0}" (sections 3.11.5 and 3.11.6). Outside links the standard names no
// way to write a bracket; CodeQL writes it with a backslash as within one, so that is what
// GitHub's readers take.
func sarifEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `{`, `{{`, `}`, `}}`).Replace(s)
}

// semanticVersion is a version of Go's modules as semver.org has it. What is not one, such as
// "devel", is not a release: "0.0.0-devel".
func semanticVersion(version string) string {
	version = strings.TrimPrefix(version, "v")
	const number, word = `(0|[1-9]\d*)`, `(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)`
	if regexp.MustCompile(`^` + number + `\.` + number + `\.` + number + `(-` + word + `(\.` + word +
		`)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`).MatchString(version) {
		return version
	}
	return "0.0.0-devel"
}
