package shard

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/policyscan/policyscan/verdict"
)

// TestOf: the split must never change, since the shards of one run can be on several machines.
func TestOf(t *testing.T) {
	for name, want := range map[string]int{"": 4, "main.tf": 7, "a/b.tf": 1, "\xff": 0} {
		if got := Of(name, 8); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
	sizes := make([]int, 8)
	for i := range 80_000 {
		sizes[Of(fmt.Sprint("dir/file", i, ".tf"), len(sizes))]++
	}
	for i, n := range sizes {
		if n < 9_500 || n > 10_500 {
			t.Errorf("shard %d has %d of 80,000 names", i, n)
		}
	}
	if !(Split{0, 1}).Owns("x") {
		t.Error("the only shard does not own everything")
	}
	for _, s := range []Split{{0, 3}, {1, 3}, {2, 3}} {
		if s.Owns("x") != (Of("x", 3) == s.Index) {
			t.Error(s)
		}
	}
}

// full is a document with everything in it.
func full() *Document {
	v := verdict.Violation{
		RuleID: "A", RuleType: "boundary", Title: "t", File: "a", Reason: "r", Fingerprint: strings.Repeat("0", 64),
		Evidence: verdict.Evidence{
			Kind: verdict.KindFile, Pattern: "p", Line: 1, Column: 1, EndLine: 1, EndColumn: 1, UTF16Column: 1,
			UTF16EndColumn: 1, Occurrences: 1,
		},
	}
	signed := verdict.Allowance{AtMost: 1, Owner: "o", Reason: "r"}
	return &Document{
		Verdict: Fail, Shard: Split{1, 3}, State: Done, Tree: Tree{Files: 3, Own: 1, Sum: strings.Repeat("0", 16)},
		Run: Run{
			Tool: verdict.Tool{Name: "policyscan", Version: "1"}, Scope: verdict.Scope{Mode: "full"},
			Options: Options{Allow: []string{"empty", "symlink=a"}, Rule: []string{"A"}, Partial: true},
			Policy: []verdict.Policy{{From: "disk", SHA256: strings.Repeat("0", 64),
				Excluded: []verdict.Excluded{{File: "rules/a.yml"}}}},
			Rules: []Rule{{Rule: verdict.Rule{ID: "A", Type: "boundary", From: "disk", Title: "t"}, Paths: true}},
			Required: []Required{
				{Violation: v},
			},
			NotLookedFor: []verdict.Omission{{File: "README", Reason: verdict.LeftRequiredFile}},
		},
		Findings: Findings{
			Listed: true, Taken: []int{2}, RuleFiles: []int{1}, Found: []int{0}, RequiredFiles: -1,
			Coverage:   verdict.Coverage{Files: 1, Governed: 1, Scanned: 1},
			TreeErrors: []verdict.Error{{Code: "E_READ", Message: "m"}},
			Violations: []Violation{{Violation: v}, {Violation: v, Allowance: &signed}},
		},
	}
}

// TestDocument: a document is valid by the schema, and is read as it was written; no other text is accepted.
func TestDocument(t *testing.T) {
	c := jsonschema.NewCompiler()
	for name, text := range map[string][]byte{"verdict-2.json": verdict.Schema(), "shard-1.json": Schema()} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("https://github.com/policyscan/policyscan/schema/"+name, doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("https://github.com/policyscan/policyscan/schema/shard-1.json")
	if err != nil {
		t.Fatal(err)
	}
	begun := &Document{Verdict: Undecided, Shard: Split{0, 1}, State: InProgress}
	begun.Run.Tool, begun.Run.Scope = verdict.New("1").Tool, verdict.Scope{Mode: "full"}
	for _, d := range []*Document{full(), begun} {
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		x, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(x); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		again, err := Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(twice, text) {
			t.Errorf("%v: %s", err, twice)
		}
		if strings.Contains(string(text), "PASS") || d.Sum != "" {
			t.Errorf("%s", text)
		}
	}
	if d := full(); d.Decided() || d.Run.Policy[0].Excluded == nil {
		t.Error("a partial run with an error was decided")
	}
	for name, change := range map[string]func(*Document){
		"it is not as": func(d *Document) { d.Verdict = "PASS" },
		"it is not":    func(d *Document) { d.State = "gone" },
		"it is":        func(d *Document) { d.Shard.Index = 3 },
		"not as":       func(d *Document) { d.Findings.RuleFiles = nil },
		"as policy":    func(d *Document) { d.Findings.Violations[0].Rule = 1 },
		"policyscan":   func(d *Document) { d.Findings.Found = []int{0, 0} },
		"writes":       func(d *Document) { d.Findings.Taken = nil },
		"writes it":    func(d *Document) { d.Run.Required[0].Rule = -1 },
	} {
		d := full()
		change(d)
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(text); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	v, err := verdict.New("1").Encode()
	if err != nil {
		t.Fatal(err)
	}
	type newer struct {
		SchemaVersion string `json:"schema_version"`
		Sum           string `json:"sum"`
	}
	next, err := Seal(newer{"shard-2", ""})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"": "it is empty", "x": "it is not a shard file", string(v): "it has no sum",
		string(next):         `its schema_version is "shard-2"`,
		verdict.DocumentHead: "it has no sum at its end",
	} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
	if _, err := Seal(struct {
		Other string `json:"other"`
	}{}); err == nil {
		t.Error("what has no sum was sealed")
	}
}
