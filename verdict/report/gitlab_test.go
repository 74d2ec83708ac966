package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// gitlabSchemas are GitLab's own schema of an entry, and its manual's table of fields, which
// says more.
var gitlabSchemas = sync.OnceValues(func() (all []*jsonschema.Schema, err error) {
	for _, name := range []string{"gitlab-codeclimate.schema.json", "gitlab-manual.schema.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(name, doc); err != nil {
			return nil, err
		}
		s, err := c.Compile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
})

// gitlabOf writes a verdict, and holds what is true of every report.
func gitlabOf(t *testing.T, v *verdict.Verdict) []gitlabIssue {
	t.Helper()
	var b bytes.Buffer
	if err := writeGitLab(&b, v); err != nil {
		t.Fatal(err)
	}
	wantSafe(t, b.String(), false)
	wantNoCommand(t, b.String())
	if !strings.HasPrefix(b.String(), "[") || !utf8.Valid(b.Bytes()) {
		t.Fatalf("not an array in UTF-8 without a byte order mark: %.20q", b.String())
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(b.Bytes(), &raw); err != nil {
		t.Fatal(err)
	}
	schemas, err := gitlabSchemas()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range raw {
		for _, s := range schemas {
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(entry))
			if err == nil {
				err = s.Validate(doc)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	var issues []gitlabIssue
	if err := json.Unmarshal(b.Bytes(), &issues); err != nil {
		t.Fatal(err)
	}
	if len(newView(v).undecided)+len(v.Violations) > len(issues) || v.Verdict != verdict.Pass && len(issues) == 0 {
		t.Errorf("%d entries for %d errors and %d violations", len(issues), len(v.Errors), len(v.Violations))
	}
	seen := map[string]bool{}
	for i, issue := range issues {
		if seen[issue.Fingerprint] {
			t.Errorf("the fingerprint %q is there twice: GitLab shows one of them", issue.Fingerprint)
		}
		seen[issue.Fingerprint] = true
		if issue.Description == "" || verdict.Visible(issue.Description) != issue.Description {
			t.Errorf("the description %q", issue.Description)
		}
		if blocks := i < len(newView(v).undecided); blocks && (issue.Severity != "blocker" || !strings.Contains(issue.Description, "could not decide")) {
			t.Errorf("an error is %+v", issue)
		}
	}
	return issues
}

func TestGitLabOfFixtures(t *testing.T) {
	for name, f := range fixtures(t) {
		issues := gitlabOf(t, f.verdict)
		if name == "pass" && len(issues) > 0 {
			t.Errorf("a PASS is %+v", issues)
		}
	}
}

func FuzzGitLab(f *testing.F) {
	f.Add("a.tf", "x BAD", "BAD", "<script>alert(1)</script> `code` [x](y)")
	f.Add("::error::\n", "##[x]", "##[", "\u202e\x1b[31m")
	f.Add("\xff\\", "\x00", "\x00", " ")
	f.Add("", "", "", "")
	f.Fuzz(func(t *testing.T, file, excerpt, pattern, text string) {
		skipLong(t, 300, file, excerpt, pattern, text)
		gitlabOf(t, hostileVerdict(file, excerpt, pattern, text))
	})
}

func TestGitLabEntries(t *testing.T) {
	v := newFixture()
	v.Rules = nil
	var want []string
	for _, s := range [][2]string{{"low", "minor"}, {"medium", "major"}, {"high", "critical"}, {"critical", "blocker"}, {"", "major"}} {
		r := verdict.Rule{ID: "R" + s[0], Type: "boundary", From: "base", Title: "T" + s[0], Severity: s[0]}
		v.Rules = append(v.Rules, r)
		v.Violations = append(v.Violations, found(r, "a b/"+s[0]+"\\.tf", "x\n\tBAD", "BAD"))
		want = append(want, s[1])
	}
	// The same of a rule of the head, which differs in a text that fingerprints do not hold.
	again := v.Rules[0]
	again.From, again.Title, again.Severity = "head", "other", "critical"
	v.Rules = append(v.Rules, again)
	v.Violations = append(v.Violations, found(again, "a b/low\\.tf", "x\n\tBAD", "BAD"))
	want = append(want, "blocker")
	v.Decide()
	issues := gitlabOf(t, v)
	var got []string
	for _, i := range issues {
		got = append(got, i.Severity)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the severities are %q, want %q", got, want)
	}
	if i := issues[0]; i.Location.Path != `a b/low\.tf` || i.Location.Lines.Begin != 2 || i.CheckName != "Rlow" || i.Fingerprint != v.Violations[0].Fingerprint {
		t.Errorf("%+v", i)
	}
	if i := issues[5]; i.Fingerprint != issues[0].Fingerprint+"-2" {
		t.Errorf("%+v", i)
	}

	v = verdict.Incomplete("1.0", verdict.Scope{Mode: "full"}, verdict.Error{Code: code.Read, File: `a\xff.tf`, Message: "m"}, verdict.Error{Code: code.Read, File: ".", Message: "n"}, verdict.Error{Code: code.Usage, Message: "o"})
	v.Decide()
	var paths []string
	for _, i := range gitlabOf(t, v) {
		paths = append(paths, i.CheckName+" "+i.Location.Path)
	}
	if want := []string{`E_READ a\xff.tf`, "E_READ verdict.json", "E_USAGE verdict.json"}; !slices.Equal(paths, want) {
		t.Errorf("%q", paths)
	}

	none := verdict.New("1.0") // no rule, so no PASS, and nothing else to say
	none.Decide()
	if issues := gitlabOf(t, none); len(issues) != 1 || issues[0].CheckName != "E_NO_RULES" {
		t.Errorf("%+v", issues)
	}
}
