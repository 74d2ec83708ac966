package report

import "github.com/policyscan/policyscan/verdict"

// The part of SARIF 2.1.0 that [writeSARIF] writes, under the names of the standard
// (docs.oasis-open.org/sarif/sarif/v2.1.0, section 3).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name            string      `json:"name"`
				FullName        string      `json:"fullName"`
				Version         string      `json:"version"`
				SemanticVersion string      `json:"semanticVersion"`
				InformationURI  string      `json:"informationUri"`
				Rules           []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Invocations        []sarifInvocation        `json:"invocations"`
		OriginalURIBaseIDs map[string]sarifArtifact `json:"originalUriBaseIds"`
		Results            []sarifResult            `json:"results"`
		AutomationDetails  struct {
			ID          string    `json:"id"`
			Description sarifText `json:"description"`
		} `json:"automationDetails"`
		NewlineSequences []string           `json:"newlineSequences"`
		ColumnKind       string             `json:"columnKind"`
		Properties       sarifRunProperties `json:"properties"`
	}
	// sarifRunProperties has facts of the whole run, under the verdict's names.
	sarifRunProperties struct {
		Verdict           verdict.Outcome     `json:"verdict"`
		Complete          bool                `json:"complete"`
		Partial           bool                `json:"partial"`
		Allowed           []string            `json:"allowed"`
		Scope             verdict.Scope       `json:"scope"`
		Coverage          map[string]int64    `json:"coverage"`
		Violations        int                 `json:"violations"` // of the verdict, whether they are here or not
		ViolationsLeftOut int                 `json:"violationsLeftOut"`
		ErrorsLeftOut     int                 `json:"errorsLeftOut"`
		RulesLeftOut      int                 `json:"rulesLeftOut"`
		Policy            []map[string]string `json:"policy"`
	}
	// sarifRule is a reportingDescriptor.
	sarifRule struct {
		ID                   string              `json:"id"`
		Name                 string              `json:"name,omitempty"`
		ShortDescription     sarifText           `json:"shortDescription"`
		FullDescription      sarifText           `json:"fullDescription"`
		Help                 sarifText           `json:"help"`
		HelpURI              string              `json:"helpUri,omitempty"`
		DefaultConfiguration map[string]string   `json:"defaultConfiguration"`
		Properties           sarifRuleProperties `json:"properties"`
	}
	sarifRuleProperties struct {
		Tags             []string `json:"tags"`
		Precision        string   `json:"precision"`
		ProblemSeverity  string   `json:"problem.severity,omitempty"`
		SecuritySeverity string   `json:"security-severity,omitempty"`
		RuleID           string   `json:"ruleId,omitempty"` // of the bundle, where id is another
		Type             string   `json:"type,omitempty"`
		From             string   `json:"from,omitempty"`
		Owner            string   `json:"owner,omitempty"`
		Severity         string   `json:"severity,omitempty"`
	}
	// sarifText is a message or a multiformatMessageString.
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		Execution           []sarifNotification `json:"toolExecutionNotifications"`
		Configuration       []sarifNotification `json:"toolConfigurationNotifications"`
	}
	sarifNotification struct {
		Descriptor map[string]string `json:"descriptor,omitempty"`
		Level      string            `json:"level"`
		Message    sarifText         `json:"message"`
		Locations  []sarifLocation   `json:"locations,omitempty"`
	}
	sarifResult struct {
		RuleID              string                 `json:"ruleId"`
		RuleIndex           int                    `json:"ruleIndex"`
		Level               string                 `json:"level"`
		Message             sarifText              `json:"message"`
		Locations           []sarifLocation        `json:"locations"`
		RelatedLocations    []sarifLocation        `json:"relatedLocations,omitempty"`
		BaselineState       string                 `json:"baselineState,omitempty"`
		PartialFingerprints map[string]string      `json:"partialFingerprints"`
		Properties          *sarifResultProperties `json:"properties,omitempty"`
	}
	sarifResultProperties struct {
		Occurrences int64  `json:"occurrences"`
		Encoding    string `json:"encoding"`
	}
	sarifLocation struct {
		ID               int        `json:"id,omitempty"` // of a related one, from 1
		PhysicalLocation sarifPlace `json:"physicalLocation"`
		Message          *sarifText `json:"message,omitempty"`
	}
	sarifPlace struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
		ContextRegion    *sarifRegion  `json:"contextRegion,omitempty"`
	}
	sarifArtifact struct {
		URI         string     `json:"uri,omitempty"`
		URIBaseID   string     `json:"uriBaseId,omitempty"`
		Description *sarifText `json:"description,omitempty"`
	}
	// sarifRegion is 1-based; columns are UTF-16 code units, EndColumn is exclusive.
	sarifRegion struct {
		StartLine   int64      `json:"startLine"`
		StartColumn int64      `json:"startColumn,omitempty"` // without columns: whole lines
		EndLine     int64      `json:"endLine"`
		EndColumn   int64      `json:"endColumn,omitempty"`
		ByteOffset  *int64     `json:"byteOffset,omitempty"` // 0-based
		ByteLength  int64      `json:"byteLength,omitempty"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
)

// sarifPoint is the place of an error, or nil.
func sarifPoint(e *verdict.Error) *sarifRegion {
	if e.Line < 1 {
		return nil
	}
	column := max(e.UTF16Column, 1)
	return &sarifRegion{StartLine: e.Line, StartColumn: column, EndLine: e.Line, EndColumn: column}
}

// sarifStart is the start of a file.
func sarifStart() *sarifRegion { return sarifPoint(&verdict.Error{Line: 1}) }
