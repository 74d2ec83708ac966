package report

import (
	"bytes"
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
	sarifRoot        = "%SRCROOT%"     // the usual name for the base of relative paths
	sarifFingerprint = "policyscan/v1" // GitHub's own is "primaryLocationLineHash"
)

type sarifLimits struct {
	results, errors, rules int
	bytes                  int // with gzip
}

// githubLimits are those of GitHub's code scanning (docs.github.com, "SARIF support for code scanning" and, of its
// REST API, "Upload an analysis as SARIF data").
func githubLimits() sarifLimits {
	return sarifLimits{
		results: 5_000, // it shows no more, and refuses a file of more than 25,000
		errors:  100,   // of the results; our own limit, to leave room for violations
		rules:   25_000,
		bytes:   9_500_000, // GitHub's 10 MB, and another gzip may do worse than ours
	}
}

// writeSARIF writes the verdict as SARIF 2.1.0 for GitHub's code scanning and others.
//
// A violation is a result of level "error", whatever the rule's severity, since it is a FAIL. Paths are from the
// tree's root. automationDetails.id is "policyscan/MODE/", GitHub's category, so that a diff's results do not close
// alerts of a full scan; a narrowed run has "policyscan/MODE-partial/".
//
// An error is a notification, and also a result of a rule with the error's code: GitHub does not show notifications,
// and a file without results would close the alerts of an earlier run. executionSuccessful is then false.
//
// The file keeps GitHub's limits: 5,000 results (errors before violations, new violations before others), 25,000
// rules, and 10 MB with gzip, for which both are halved until the file fits. A notification and the run's properties
// count the missing ones.
func writeSARIF(w io.Writer, v *verdict.Verdict) error { return writeSARIFWithin(w, v, githubLimits()) }

func writeSARIFWithin(w io.Writer, document *verdict.Verdict, most sarifLimits) error {
	s := sarifWriter{view: newView(document), most: most}
	for s.most.results = min(most.results, len(s.undecided)+s.reported()); ; {
		text, err := verdict.JSON(s.log())
		if err != nil {
			return err
		}
		if len(text) < most.bytes || s.most.results == 0 || zipped(text) <= most.bytes {
			_, err = w.Write(text)
			return err
		}
		s.most.results, s.most.rules = s.most.results/2, s.most.rules/2
	}
}

type sarifWriter struct {
	*view
	most sarifLimits
	run  *sarifRun
}

func zipped(text []byte) int {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text) // a Buffer takes all
	_ = z.Close()
	return b.Len()
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
		Verdict: v.Verdict, Complete: v.Complete, Partial: v.Partial, Allowed: v.Allowed, Scope: v.Scope,
		Violations: s.reported(), Policy: []map[string]string{}, Coverage: map[string]int64{
			"files": int64(v.Coverage.Files), "governed": int64(v.Coverage.Governed), "bytes": v.Coverage.Bytes,
			"scanned": int64(v.Coverage.Scanned), "notScanned": int64(len(v.Coverage.NotScanned)),
		},
	}
	for _, p := range v.Policy {
		run.Properties.Policy = append(run.Properties.Policy, map[string]string{"from": p.From, "sha256": p.SHA256})
	}
	run.Invocations = []sarifInvocation{{
		ExecutionSuccessful: len(s.undecided) == 0,
		Execution:           []sarifNotification{},
		Configuration:       []sarifNotification{},
	}}
	s.writeErrors()
	s.writeViolations()
	s.writeNotes()
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{*run}}
}

func (s *sarifWriter) writeErrors() {
	run, in, driver := s.run, &s.run.Invocations[0], &s.run.Tool.Driver
	byCode := map[string]int{}
	for i := range s.undecided {
		e := &s.undecided[i]
		if i == s.most.errors {
			run.Properties.ErrorsLeftOut = len(s.undecided) - i
			break
		}
		message := sarifText{Text: sarifPlain("Could not decide: "+full(flow(e.Message)), 1000)}
		n := sarifNotification{Descriptor: map[string]string{"id": e.Code}, Level: "error", Message: message}
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

func (s *sarifWriter) writeViolations() {
	run, driver := s.run, &s.run.Tool.Driver
	found := s.newest(max(s.most.results-len(run.Results), 0))
	run.Properties.ViolationsLeftOut = s.reported() - len(found)
	used := map[*ruleGroup]bool{}
	for _, i := range found {
		used[s.ruleOf[i]] = true
	}
	spare := s.most.rules - len(driver.Rules) - len(used)
	ids, index := map[string]int{}, map[*ruleGroup]int{}
	for i := range driver.Rules {
		ids[driver.Rules[i].ID] = 1
	}
	for _, g := range s.byRule {
		if !used[g] {
			if spare <= 0 {
				run.Properties.RulesLeftOut++
				continue
			}
			spare--
		}
		// The head's rule can have the id of one of the base. In SARIF, "ID/FROM" would be a part of the rule ID.
		id := g.rule.ID
		if ids[id] > 0 {
			id += "@" + g.rule.From
		}
		index[g] = len(driver.Rules)
		driver.Rules = append(driver.Rules, sarifRuleOf(g.rule, unique(ids, id)))
	}
	for _, i := range found {
		n := index[s.ruleOf[i]]
		run.Results = append(run.Results, s.result(newFinding(&s.Violations[i]), driver.Rules[n].ID, n))
	}
}

// reported is the number of violations with a place to fix.
func (s *sarifWriter) reported() (n int) {
	for _, g := range s.groups {
		n += len(g.violations)
	}
	return n
}

// newest returns the indexes of at most this many violations, in order. If there are more, it omits old ones first.
func (s *sarifWriter) newest(most int) []int {
	var kept []int
	for _, older := range []int{0, 1} {
		for i := range s.Violations {
			x := &s.Violations[i]
			if newFirst(x) == older && x.PlaceCount > 0 && len(kept) < most {
				kept = append(kept, i)
			}
		}
	}
	slices.Sort(kept)
	return kept
}

func (s *sarifWriter) result(f *finding, id string, index int) sarifResult {
	fingerprints := map[string]string{sarifFingerprint: f.Fingerprint}
	if f.at.LineHash != "" && f.hasLine() {
		fingerprints["primaryLocationLineHash"] = f.at.LineHash
	}
	r := sarifResult{
		RuleID: id, RuleIndex: index, Level: "error", Message: sarifText{Text: sarifPlain(f.sentence(), 2000)},
		Locations:           []sarifLocation{{PhysicalLocation: sarifPlaceOf(f)}},
		PartialFingerprints: fingerprints, Properties: &sarifResultProperties{f.at.Occurrences, f.at.Encoding},
		BaselineState: map[string]string{verdict.Introduced: "new", verdict.PreExisting: "unchanged"}[f.Status],
	}
	if !f.hasLine() {
		return r
	}
	// The other places, as whole lines: a verdict has only their columns in bytes.
	last := int64(0)
	for _, x := range findingsOf(f.Violation) {
		p := &x.at
		if p.Line == last || p.Line == f.at.Line {
			continue
		}
		last = p.Line
		text := strings.TrimSuffix(cmp.Or(x.why(), "the same")+", "+label(x.status()), ", ")
		r.RelatedLocations = append(r.RelatedLocations, sarifLocation{
			ID: len(r.RelatedLocations) + 1, Message: &sarifText{Text: sarifPlain(full(sentence(text)), 2000)},
			PhysicalLocation: sarifPlace{ArtifactLocation: artifact(f.File), Region: wholeLines(p.Line, lastLine(p))},
		})
	}
	return r
}

// writeNotes writes the notifications that are not errors. Allowed violations are not results with suppressions:
// GitHub ignores those, so they would fail the check of a change that passes.
func (s *sarifWriter) writeNotes() {
	const mostAllowed = 100
	p, in := &s.run.Properties, &s.run.Invocations[0]
	note := func(level, text string, at ...sarifLocation) {
		message := sarifText{Text: sarifPlain(full(sentence(text)), 2000)}
		in.Execution = append(in.Execution, sarifNotification{Level: level, Message: message, Locations: at})
	}
	for _, omitted := range []struct {
		n, of        int
		level, thing string
	}{
		{p.ViolationsLeftOut, s.reported(), "warning", "violation"},
		{p.ErrorsLeftOut, len(s.undecided), "error", "error"},
		{p.RulesLeftOut, len(s.byRule), "warning", "rule"},
	} {
		if omitted.n > 0 {
			note(omitted.level, fmt.Sprintf("this file shows %s of %s; verdict.json has them all",
				number(omitted.of-omitted.n), count(omitted.of, omitted.thing)))
		}
	}
	for _, text := range s.caveats() {
		note("warning", text)
	}
	if text := s.allowedNote(); text != "" { // with their number
		note("note", text)
	}
	for _, a := range s.newAllowed[:min(len(s.newAllowed), mostAllowed)] {
		note("note", allowedSentence(a), sarifLocation{PhysicalLocation: sarifPlaceOf(newFinding(&a.Violation))})
	}
}

// semanticVersion is a module version in the syntax of semver.org; "0.0.0-devel" for others.
func semanticVersion(version string) string {
	version = strings.TrimPrefix(version, "v")
	if regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`).MatchString(version) {
		return version
	}
	return "0.0.0-devel"
}
