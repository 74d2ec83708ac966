package verdict

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzEncode: valid JSON that means what was put in, and nothing raw that is not safe to print.
func FuzzEncode(f *testing.F) {
	f.Add("a.tf", "plain", "title", "message", int64(3))
	f.Add("\u2028\x00\x1b", "\xff##[error]x", "\U000e0001", `\u0023 "quoted" \`, int64(-1))
	f.Add("<&>", "\u202e\u009b", "##[##[", "\ufffd", int64(1)<<62)
	f.Fuzz(func(t *testing.T, file, excerpt, title, message string, offset int64) {
		skipLong(t, 300, file, excerpt, title, message)
		v := hostileVerdict(file, excerpt, title, message)
		v.Violations[0].Evidence.Offset = offset
		text, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		wantSafe(t, string(text), false)
		wantNoCommand(t, string(text))
		if !utf8.Valid(text) || bytes.Count(text, []byte("\n")) < 20 || text[len(text)-1] != '\n' {
			t.Errorf("not lines of UTF-8: %q", text)
		}
		var got Verdict
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		again, err := got.Encode()
		// encoding/json tells a byte that is not UTF-8 from U+FFFD by its escape.
		if again = bytes.ReplaceAll(again, []byte("\ufffd"), []byte(`\ufffd`)); err != nil || !bytes.Equal(again, bytes.ReplaceAll(text, []byte("\ufffd"), []byte(`\ufffd`))) {
			t.Errorf("%v: encoded again it is\n%s\nnot\n%s", err, again, text)
		}
		x := got.Violations[0]
		for _, pair := range [][2]string{
			{x.File, Path(file)}, {x.Evidence.Excerpt, excerpt}, {x.Title, message}, {x.RuleID, title}, {got.Errors[0].Message, message},
		} {
			if want := string([]rune(pair[1])); pair[0] != want { // a byte that is not UTF-8 is U+FFFD
				t.Errorf("%+q became %+q", want, pair[0])
			}
		}
		if x.Evidence.Offset != offset {
			t.Errorf("%d became %d", offset, x.Evidence.Offset)
		}
	})
}

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
