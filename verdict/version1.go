package verdict

import "encoding/json"

// The shape of version 1, which policyscan wrote before it knew changes to a policy, allowances and more than the
// first place of a violation. Each member of it is in version 2, with the same meaning.

const version1 = "1"

type verdict1 struct {
	SchemaVersion string       `json:"schema_version"`
	Verdict       Outcome      `json:"verdict"`
	Complete      bool         `json:"complete"`
	Tool          Tool         `json:"tool"`
	Partial       bool         `json:"partial"`
	Policy        []policy1    `json:"policy"`
	Rules         []Rule       `json:"rules"`
	Scope         scope1       `json:"scope"`
	Coverage      coverage1    `json:"coverage"`
	Allowed       []string     `json:"allowed"`
	Violations    []violation1 `json:"violations"`
	Errors        []Error      `json:"errors"`
}

type policy1 struct {
	From       string `json:"from"`
	Commit     string `json:"commit"`
	SHA256     string `json:"sha256"`
	Boundaries int    `json:"boundaries"`
	Invariants int    `json:"invariants"`
	Deprecated int    `json:"deprecated"`
}

type scope1 struct {
	Mode       string   `json:"mode"`
	Base       string   `json:"base"`
	BaseCommit string   `json:"base_commit"`
	MergeBases []string `json:"merge_bases"`
	HeadCommit string   `json:"head_commit"`
	Strategy   string   `json:"strategy"`
}

type coverage1 struct {
	Files      int        `json:"files"`
	Governed   int        `json:"governed"`
	Scanned    int        `json:"scanned"`
	Bytes      int64      `json:"bytes"`
	Deleted    int        `json:"deleted"`
	LeftOut    []Omission `json:"left_out"`
	NotScanned []Omission `json:"not_scanned"`
}

type violation1 struct {
	RuleID      string    `json:"rule_id"`
	RuleType    string    `json:"rule_type"`
	Title       string    `json:"title"`
	File        string    `json:"file"`
	Reason      string    `json:"reason"`
	Evidence    evidence1 `json:"evidence"`
	Fingerprint string    `json:"fingerprint"`
}

type evidence1 struct {
	Pattern        string `json:"pattern"`
	Excerpt        string `json:"excerpt"`
	Offset         int64  `json:"offset"`
	Line           int64  `json:"line"`
	Column         int64  `json:"column"`
	EndLine        int64  `json:"end_line"`
	EndColumn      int64  `json:"end_column"`
	UTF16Column    int64  `json:"utf16_column"`
	UTF16EndColumn int64  `json:"utf16_end_column"`
	Occurrences    int64  `json:"occurrences"`
	Encoding       string `json:"encoding"`
	LineHash       string `json:"line_hash"`
}

// fromVersion1 reads a document of version 1. Its version stays in the verdict.
func fromVersion1(text []byte) (*Verdict, error) {
	var d verdict1
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	v := &Verdict{
		SchemaVersion: d.SchemaVersion, Verdict: d.Verdict, Complete: d.Complete, Tool: d.Tool, Partial: d.Partial,
		Rules: d.Rules, Allowed: d.Allowed, Errors: d.Errors,
	}
	for _, p := range d.Policy {
		v.Policy = append(v.Policy, Policy{
			From: p.From, Commit: p.Commit, SHA256: p.SHA256,
			Boundaries: p.Boundaries, Invariants: p.Invariants, Deprecated: p.Deprecated,
		})
	}
	s, c := &d.Scope, &d.Coverage
	v.Scope = Scope{
		Mode: s.Mode, Base: s.Base, BaseCommit: s.BaseCommit, MergeBases: s.MergeBases,
		HeadCommit: s.HeadCommit, Strategy: s.Strategy,
	}
	v.Coverage = Coverage{
		Files: c.Files, Governed: c.Governed, Scanned: c.Scanned, Bytes: c.Bytes, Deleted: c.Deleted,
		LeftOut: c.LeftOut, NotScanned: c.NotScanned,
	}
	for _, o := range d.Violations {
		e := &o.Evidence
		v.Violations = append(v.Violations, Violation{
			RuleID: o.RuleID, RuleType: o.RuleType, Title: o.Title, File: o.File, Reason: o.Reason,
			Fingerprint: o.Fingerprint,
			Evidence: Evidence{
				Kind: KindText, Pattern: e.Pattern, Excerpt: e.Excerpt, Offset: e.Offset,
				Line: e.Line, Column: e.Column, EndLine: e.EndLine, EndColumn: e.EndColumn,
				UTF16Column: e.UTF16Column, UTF16EndColumn: e.UTF16EndColumn,
				Occurrences: e.Occurrences, Encoding: e.Encoding, LineHash: e.LineHash,
			},
		})
	}
	return v, nil
}

// toVersion1 is what [fromVersion1] read.
func (v *Verdict) toVersion1() *verdict1 {
	s, c := &v.Scope, &v.Coverage
	d := &verdict1{
		SchemaVersion: v.SchemaVersion, Verdict: v.Verdict, Complete: v.Complete, Tool: v.Tool, Partial: v.Partial,
		Policy: []policy1{}, Rules: v.Rules,
		Scope: scope1{s.Mode, s.Base, s.BaseCommit, s.MergeBases, s.HeadCommit, s.Strategy},
		Coverage: coverage1{
			Files: c.Files, Governed: c.Governed, Scanned: c.Scanned, Bytes: c.Bytes, Deleted: c.Deleted,
			LeftOut: c.LeftOut, NotScanned: c.NotScanned,
		},
		Allowed: v.Allowed, Violations: []violation1{}, Errors: v.Errors,
	}
	for _, p := range v.Policy {
		d.Policy = append(d.Policy, policy1{p.From, p.Commit, p.SHA256, p.Boundaries, p.Invariants, p.Deprecated})
	}
	for i := range v.Violations {
		o, e := &v.Violations[i], &v.Violations[i].Evidence
		d.Violations = append(d.Violations, violation1{
			RuleID: o.RuleID, RuleType: o.RuleType, Title: o.Title, File: o.File, Reason: o.Reason,
			Fingerprint: o.Fingerprint,
			Evidence: evidence1{
				Pattern: e.Pattern, Excerpt: e.Excerpt, Offset: e.Offset, Line: e.Line, Column: e.Column,
				EndLine: e.EndLine, EndColumn: e.EndColumn,
				UTF16Column: e.UTF16Column, UTF16EndColumn: e.UTF16EndColumn,
				Occurrences: e.Occurrences, Encoding: e.Encoding, LineHash: e.LineHash,
			},
		})
	}
	return d
}
