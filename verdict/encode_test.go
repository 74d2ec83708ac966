package verdict

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEncodeLists: an absent list is [], never null, and the caller's verdict stays as it is.
func TestEncodeLists(t *testing.T) {
	v := New("1.0")
	v.Rules = []Rule{{ID: "R"}}
	text, err := v.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("null")) {
		t.Errorf("null in %s", text)
	}
	if v.Rules[0].Tags != nil || v.Policy != nil || v.Errors != nil {
		t.Errorf("Encode changed the verdict: %+v", v)
	}
	other := Verdict{
		SchemaVersion: SchemaVersion, Verdict: Fail, Tool: v.Tool,
		Policy: []Policy{}, Rules: []Rule{{ID: "R", Tags: []string{}}}, Scope: Scope{MergeBases: []string{}},
		Coverage: Coverage{LeftOut: []Omission{}, NotScanned: []Omission{}}, Allowed: []string{}, Violations: []Violation{}, Errors: []Error{},
	}
	same, err := other.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(same)); diff != "" {
		t.Errorf("an empty list is another than none:\n%s", diff)
	}
}

// TestJSON: what else is printed as JSON is as safe.
func TestJSON(t *testing.T) {
	text, err := JSON(map[string]string{"a": "##[x] <&> \u202e\uffff\U000e0041", "b": "###[["})
	want := "{\n  \"a\": \"#\\u0023[x] <&> \\u202e\\uffff\\udb40\\udc41\",\n  \"b\": \"##\\u0023[[\"\n}\n"
	if err != nil || string(text) != want {
		t.Errorf("got %s, want %s: %v", text, want, err)
	}
	if _, err := JSON(func() {}); err == nil || !strings.Contains(err.Error(), "unsupported type") {
		t.Errorf("a function is JSON? %v", err)
	}
}

func TestErrorText(t *testing.T) {
	for e, want := range map[Error]string{{Message: "no rules"}: "no rules", {Message: "it cannot be read", File: "a.tf"}: "a.tf: it cannot be read"} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
