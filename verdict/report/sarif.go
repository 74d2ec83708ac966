package report

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

const (
	sarifHome        = "https://github.com/policyscan/policyscan"
	sarifRoot        = "%SRCROOT%"     // what paths are relative to, by the name that tools have agreed on
	sarifFingerprint = "policyscan/v1" // the name of our own; GitHub's is "primaryLocationLineHash"

	nothingCovered = "No file is covered by a rule: no rule selects any file of this tree, so nothing was checked."
)

// sarifLimits is how much a file may hold.
type sarifLimits struct {
	results, errors, rules int
	bytes                  int // with gzip
}

// githubLimits are those of GitHub's code scanning (docs.github.com, "SARIF support for code scanning" and, of its REST
// API, "Upload an analysis as SARIF data").
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
// A violation is a result of level "error", whatever the rule's severity: there is no violation that is not a FAIL.
// Paths are from the tree's root. automationDetails.id is "policyscan/MODE/", GitHub's category, so that a diff's
// results close no alert of a full scan; a run that --rule or --exclude narrowed has "policyscan/MODE-partial/".
//
// What could not be decided is a notification, executionSuccessful is false, and each is a result too, of a rule that
// is named by the error's code: GitHub shows no notifications, and a file without results would close what an earlier
// run found.
//
// The file holds at most what GitHub takes: 5,000 results (errors before violations, and new violations before others),
// 25,000 rules, and 10 MB with gzip. To be that small it skips the snippets, then what rules say beyond their titles,
// then results. A notification and the run's properties say what is missing.
func writeSARIF(w io.Writer, v *verdict.Verdict) error { return writeSARIFWithin(w, v, githubLimits()) }

func writeSARIFWithin(w io.Writer, document *verdict.Verdict, most sarifLimits) error {
	v := newView(document)
	s := sarifWriter{view: v, sarifLimits: most, snippets: true, texts: true}
	s.results = min(s.results, len(v.undecided)+len(v.Violations))
	for {
		text, err := verdict.JSON(s.log())
		if err != nil {
			return err
		}
		if fits(text, most.bytes) || !s.truncateMore() {
			_, err = w.Write(text)
			return err
		}
	}
}

// A sarifWriter puts a run together, of as much of a verdict as goes into a file.
type sarifWriter struct {
	*view
	sarifLimits
	snippets, texts bool
	onlyUsed        bool // of the rules those that have a result
	run             *sarifRun
}

// truncateMore leaves out more, if there is more to leave out.
func (s *sarifWriter) truncateMore() bool {
	switch {
	case s.snippets:
		s.snippets = false
	case s.texts:
		s.texts = false
	case s.results > 0:
		s.results, s.onlyUsed = s.results/2, true
	default:
		return false
	}
	return true
}

// fits reports whether a file has at most so many bytes with gzip. Gzip adds next to nothing to what it cannot make
// smaller.
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

func (s *sarifWriter) log() sarifLog {
	v, run := s.Verdict, &sarifRun{Results: []sarifResult{}}
	s.run = run
	d := &run.Tool.Driver
	d.Name, d.FullName, d.Version = v.Tool.Name, v.Tool.Name+" "+v.Tool.Version, semanticVersion(v.Tool.Version)
	d.SemanticVersion, d.InformationURI, d.Rules = d.Version, sarifHome, []sarifRule{}
	run.OriginalURIBaseIDs = map[string]sarifArtifact{
		sarifRoot: {Description: &sarifText{Text: "The root of the tree that was scanned."}},
	}
	run.NewlineSequences, run.ColumnKind = []string{"\r\n", "\n", "\r"}, "utf16CodeUnits"
	category := v.Scope.Mode
	if v.Partial {
		category += "-partial"
	}
	run.AutomationDetails.ID = "policyscan/" + category + "/"
	run.AutomationDetails.Description.Text = "Files checked against a policy's rules."
	run.Properties = sarifRunProperties{
		Verdict: v.Verdict, Complete: v.Complete, Partial: v.Partial, Scope: v.Scope,
		Allowed: verdict.OrEmpty(v.Allowed),
		Coverage: sarifCoverage{
			v.Coverage.Files, v.Coverage.Governed, v.Coverage.Scanned, v.Coverage.Bytes, len(v.Coverage.NotScanned),
		},
		Violations: len(v.Violations), Policy: []sarifBundle{},
	}
	run.Properties.Scope.MergeBases = verdict.OrEmpty(v.Scope.MergeBases)
	for _, p := range v.Policy {
		run.Properties.Policy = append(run.Properties.Policy, sarifBundle{p.From, p.SHA256})
	}
	run.Invocations = []sarifInvocation{{
		ExecutionSuccessful: len(s.undecided) == 0,
		Execution:           []sarifNotification{},
		Configuration:       []sarifNotification{},
	}}
	s.writeErrors()
	s.writeViolations()
	s.notes()
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{*run}}
}

// writeErrors writes what could not be decided.
func (s *sarifWriter) writeErrors() {
	run, in, driver := s.run, &s.run.Invocations[0], &s.run.Tool.Driver
	byCode := map[string]int{}
	for i := range s.undecided {
		e := &s.undecided[i]
		if i == s.errors {
			run.Properties.ErrorsLeftOut = len(s.undecided) - i
			break
		}
		message := sarifText{Text: sarifPlain("Could not decide: "+full(flow(e.Message)), 1000)}
		n := sarifNotification{Descriptor: &sarifReference{e.Code}, Level: "error", Message: message}
		place := sarifPlace{artifact(noFile), sarifStart(), nil}
		if aboutFile(e) {
			place = sarifPlace{ArtifactLocation: artifact(e.File), Region: sarifPoint(e)}
			n.Locations = []sarifLocation{{PhysicalLocation: place}}
			place.Region = cmp.Or(place.Region, sarifStart())
		}
		if code.OfBundle(e.Code) || e.Code == code.Usage {
			in.Configuration = append(in.Configuration, n)
		} else {
			in.Execution = append(in.Execution, n)
		}
		index, known := byCode[e.Code]
		if !known {
			index = len(driver.Rules)
			byCode[e.Code] = index
			driver.Rules = append(driver.Rules, sarifRuleOfCode(e.Code))
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: e.Code, RuleIndex: index, Level: "error", Message: message,
			Locations:           []sarifLocation{{PhysicalLocation: place}},
			PartialFingerprints: map[string]string{sarifFingerprint: errorFingerprint(e)},
		})
	}
}

// writeViolations writes the violations, and the rules.
func (s *sarifWriter) writeViolations() {
	run, driver := s.run, &s.run.Tool.Driver
	found := s.newest(max(s.results-len(run.Results), 0))
	run.Properties.ViolationsLeftOut = len(s.Violations) - len(found)

	rules, ruleOf := slices.Clone(s.Rules), slices.Clone(s.ruleOf)
	for _, i := range found {
		if x := &s.Violations[i]; ruleOf[i] < 0 { // no scan writes this
			ruleOf[i] = len(rules)
			rules = append(rules, verdict.Rule{ID: x.RuleID, Type: x.RuleType, Title: x.Title})
		}
	}
	used := map[int]bool{}
	for _, i := range found {
		used[ruleOf[i]] = true
	}
	spare := s.rules - len(driver.Rules) - len(used)
	if s.onlyUsed {
		spare = 0
	}
	ids, index := sarifIDs(driver.Rules, rules), make([]int, len(rules))
	for i := range rules {
		if !used[i] {
			if spare <= 0 {
				run.Properties.RulesLeftOut++
				continue
			}
			spare--
		}
		index[i] = len(driver.Rules)
		driver.Rules = append(driver.Rules, sarifRuleOf(&rules[i], ids[i], s.texts))
	}
	for _, i := range found {
		r := ruleOf[i]
		run.Results = append(run.Results, s.result(newFinding(&s.Violations[i]), ids[r], index[r]))
	}
}

// newest returns at most so many violations, by their indexes and in order. Of more it takes the new ones first: a
// reader of a change must not miss what the change brings.
func (s *sarifWriter) newest(most int) []int {
	var kept []int
	for _, older := range []int{0, 1} {
		for i := range s.Violations {
			if newFirst(&s.Violations[i]) == older && len(kept) < most {
				kept = append(kept, i)
			}
		}
	}
	slices.Sort(kept)
	return kept
}

func (s *sarifWriter) result(f *finding, id string, index int) sarifResult {
	fingerprints := map[string]string{sarifFingerprint: f.Fingerprint}
	if f.at.LineHash != "" {
		fingerprints["primaryLocationLineHash"] = f.at.LineHash
	}
	r := sarifResult{
		RuleID: id, RuleIndex: index, Level: "error", Message: sarifText{Text: sarifPlain(f.sentence(), 2000)},
		Locations:           []sarifLocation{{PhysicalLocation: s.place(f)}},
		PartialFingerprints: fingerprints, Properties: &sarifResultProperties{f.at.Occurrences, f.at.Encoding},
		BaselineState: map[string]string{verdict.Introduced: "new", verdict.PreExisting: "unchanged"}[f.Status],
	}
	if !f.inFile() {
		return r
	}
	// The other places, as whole lines: a verdict has their columns in bytes only.
	last := int64(0)
	for i, p := range f.at.Places {
		if i == f.index || p.Line == last || p.Line == f.at.Line {
			continue
		}
		last = p.Line
		text := "The same is here."
		switch p.Status {
		case verdict.Introduced:
			text = "The same is here, and it is new."
		case verdict.PreExisting:
			text = "The same is here, and it was there before."
		}
		end := lastLine(&verdict.Evidence{Line: p.Line, EndLine: p.EndLine, EndColumn: p.EndColumn})
		r.RelatedLocations = append(r.RelatedLocations, sarifLocation{
			ID: len(r.RelatedLocations) + 1, Message: &sarifText{Text: text},
			PhysicalLocation: sarifPlace{ArtifactLocation: artifact(f.File), Region: wholeLines(p.Line, end)},
		})
	}
	return r
}

// notes writes the notifications that are not errors. Those of what is allowed are no results with suppressions, which
// GitHub does not heed: they would be open alerts, and fail the check of a change that passes.
func (s *sarifWriter) notes() {
	const (
		rest        = "; verdict.json has them all."
		mostAllowed = 100
	)
	p, in := &s.run.Properties, &s.run.Invocations[0]
	note := func(level, text string, at ...sarifLocation) {
		n := sarifNotification{Level: level, Message: sarifText{Text: text}, Locations: at}
		in.Execution = append(in.Execution, n)
	}
	if n := p.ViolationsLeftOut; n > 0 {
		all := len(s.Violations)
		note("warning", fmt.Sprintf("This file shows %d of %s"+rest, all-n, count(all, "violation")))
	}
	if n := p.ErrorsLeftOut; n > 0 {
		all := len(s.undecided)
		note("error", fmt.Sprintf("This file shows %d of %s"+rest, all-n, count(all, "error")))
	}
	if n := p.RulesLeftOut; n > 0 {
		note("warning", fmt.Sprintf("This file does not show all of %s: %d without a result are omitted"+rest,
			count(len(s.Rules), "rule"), n))
	}
	if !s.snippets {
		note("warning", "This file would be larger than GitHub accepts: the snippets are omitted.")
	}
	if !s.texts {
		note("warning", "This file would be larger than GitHub accepts: only the titles of the rules are included.")
	}
	if s.Partial {
		why, so := s.partialNote()
		note("warning", full(sentence(why+"; "+so)))
	}
	if s.coversNothing() && len(s.undecided) == 0 {
		level := "note"
		if s.ofWholeTree() {
			level = "warning"
		}
		note(level, nothingCovered)
	}
	if text := s.allowedNote(); text != "" { // it says how many there are
		note("note", sarifPlain(full(sentence(text)), 1000))
	}
	for _, a := range s.newAllowed[:min(len(s.newAllowed), mostAllowed)] {
		at := sarifLocation{PhysicalLocation: s.place(newFinding(&a.Violation))}
		note("note", sarifPlain(allowedSentence(a), 2000), at)
	}
	if text := s.requiredNote(); text != "" {
		note("note", sarifPlain(full(text), 1000))
	}
	if text := s.unparsedNote(); text != "" {
		note("note", full(text))
	}
	if n := len(s.Coverage.NotScanned); n > 0 {
		note("warning", count(n, "file")+" covered and not scanned; verdict.json names them.")
	}
}

// semanticVersion is a version of Go's modules as semver.org has it. What is not one, such as "devel", is not a
// release: "0.0.0-devel".
func semanticVersion(version string) string {
	version = strings.TrimPrefix(version, "v")
	const number, word = `(0|[1-9]\d*)`, `(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)`
	if regexp.MustCompile(`^` + number + `\.` + number + `\.` + number + `(-` + word + `(\.` + word +
		`)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`).MatchString(version) {
		return version
	}
	return "0.0.0-devel"
}
