package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/policyscan/policyscan/lab/conformance/install"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// Microsoft's validator, which GitHub's manual sends people to.
const multitool = "@microsoft/sarif-multitool@5.7.0"

// sarifNotes are the notes of the validator that we do not follow, and why. There is no
// error and no warning that we do not.
func sarifNotes() map[string]string {
	return map[string]string{
		"SARIF2002": "a message by id: GitHub takes only its text (GH1007)",
		"SARIF2003": "versionControlProvenance: a verdict does not know the repository's address",
		"SARIF2006": "it could not fetch an address",
		"SARIF2009": "ids as CS2001: a rule's id is its team's, an error's its code",
		"SARIF2010": "a snippet of a file that could not be read",
		"SARIF2011": "the lines around a match that is all of its lines",
		"SARIF2012": "helpUri of a rule without docs_url, a name of a title without letters",
	}
}

// sarifVerdicts are all verdicts, and one that has two rules of one id.
func sarifVerdicts(t *testing.T) map[string]*verdict.Verdict {
	t.Helper()
	all := verdicts(t)
	two := fixture(t, "fail")
	for i := range two.Rules {
		r := two.Rules[i]
		r.From, r.Title = "head", "Another title"
		two.Rules = append(two.Rules, r)
	}
	again := two.Violations[0]
	again.Title = "Another title"
	two.Violations = append(two.Violations, again)
	all["two rules of one id"] = two
	return all
}

func TestSARIF(t *testing.T) {
	asked(t)
	t.Parallel()
	modules := install.NPM(t, "--ignore-scripts", multitool)
	// The package's own command hands its arguments to a shell, which ends one at "Sarif;".
	out, err := exec.Command("node", "-p", "require("+quote(t, filepath.Join(modules, "@microsoft/sarif-multitool"))+")").Output()
	if err != nil {
		t.Fatal(err)
	}
	program := strings.Trim(strings.TrimSpace(string(out)), `"`)
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	schema := sarifSchema(t, filepath.Join(filepath.Dir(program), "sarif-2.1.0.json"))

	docs := map[string]any{}
	for name, v := range sarifVerdicts(t) {
		var b bytes.Buffer
		if err := report.Named("sarif").Write(&b, v); err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		docs[name] = doc
	}
	notes, unused := sarifNotes(), sarifNotes()
	for name, found := range multitoolSays(t, program, docs) {
		for _, r := range found {
			delete(unused, r.RuleID)
			if why := notes[r.RuleID]; r.Level != "note" || why == "" {
				t.Errorf("%s: %s %s: %s %q", name, r.Level, r.RuleID, r.Message.ID, r.Message.Arguments)
			}
		}
	}
	for id := range unused {
		t.Errorf("no file has the note %s; take it out of the table", id)
	}
	if version, err := exec.Command(program, "--version").CombinedOutput(); err == nil {
		t.Logf("%s", version)
	}

	// Both validators see what they are here for.
	spoilt := map[string]any{}
	for what, spoil := range map[string]func(run map[string]any){
		"an absolute URI": func(run map[string]any) {
			dig(run, "results", 0, "locations", 0, "physicalLocation", "artifactLocation").(map[string]any)["uri"] = "https://example.com/x"
		},
		"a region that ends before it begins": func(run map[string]any) {
			dig(run, "results", 0, "locations", 0, "physicalLocation", "region").(map[string]any)["endColumn"] = 1
		},
		"a missing rule": func(run map[string]any) {
			dig(run, "results", 0).(map[string]any)["ruleIndex"] = 99
		},
		"no location": func(run map[string]any) {
			delete(dig(run, "results", 0).(map[string]any), "locations")
		},
	} {
		doc := written(t, fixture(t, "fail"))
		spoil(dig(doc, "runs", 0).(map[string]any))
		spoilt[what] = doc
	}
	for what, found := range multitoolSays(t, program, spoilt) {
		if !slices.ContainsFunc(found, func(r finding) bool { return r.Level != "note" }) {
			t.Errorf("the validator has nothing against %s", what)
		}
	}
	doc := written(t, fixture(t, "fail"))
	dig(doc, "runs", 0, "results", 0, "locations", 0, "physicalLocation", "region").(map[string]any)["startLine"] = 0
	if schema.Validate(doc) == nil {
		t.Error("the schema has nothing against a line 0")
	}
}

func written(t *testing.T, v *verdict.Verdict) any {
	t.Helper()
	var b bytes.Buffer
	if err := report.Named("sarif").Write(&b, v); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// dig goes down into JSON, by keys and indexes.
func dig(doc any, way ...any) any {
	for _, step := range way {
		switch step := step.(type) {
		case string:
			doc = doc.(map[string]any)[step]
		case int:
			doc = doc.([]any)[step]
		}
	}
	return doc
}

func quote(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A finding is a result of the validator, which writes SARIF itself.
type finding struct {
	RuleID  string `json:"ruleId"`
	Level   string `json:"level"`
	Message struct {
		ID        string   `json:"id"`
		Arguments []string `json:"arguments"`
	} `json:"message"`
	Locations []struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
		} `json:"physicalLocation"`
	} `json:"locations"`
}

// multitoolSays returns what the validator finds in each document, notes too. Its exit status is 0 whatever it finds.
func multitoolSays(t *testing.T, program string, docs map[string]any) map[string][]finding {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "out.sarif")
	args := []string{
		"validate", "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note", "--output", out,
	}
	names := map[string]string{} // by the name of the file
	all := map[string][]finding{}
	for name, doc := range docs {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		in := fmt.Sprintf("in-%d.sarif", len(names))
		names[in], all[name] = name, nil
		if err := os.WriteFile(filepath.Join(dir, in), text, 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, filepath.Join(dir, in))
	}
	command(t, dir, program, args...)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Results     []finding `json:"results"`
			Invocations []struct {
				ExecutionSuccessful bool              `json:"executionSuccessful"`
				Execution           []json.RawMessage `json:"toolExecutionNotifications"`
			} `json:"invocations"`
			Artifacts []json.RawMessage `json:"artifacts"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &log); err != nil {
		t.Fatal(err)
	}
	if len(log.Runs) != 1 || len(log.Runs[0].Invocations) != 1 || !log.Runs[0].Invocations[0].ExecutionSuccessful {
		t.Fatalf("the validator did not run:\n%s", text)
	}
	for _, r := range log.Runs[0].Results {
		if len(r.Locations) == 0 || names[path.Base(r.Locations[0].Physical.Artifact.URI)] == "" {
			t.Fatalf("a result is in no file: %+v", r)
		}
		if r.Level == "" {
			r.Level = "warning" // the default, which is left out
		}
		name := names[path.Base(r.Locations[0].Physical.Artifact.URI)]
		all[name] = append(all[name], r)
	}
	return all
}

// sarifSchema is the schema of the standard, formats included.
func sarifSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
