package verdict

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
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
}

// TestJSON: other printed JSON is as safe.
func TestJSON(t *testing.T) {
	text, err := JSON(map[string]string{"a": "##[x] <&> \u202e\uffff\U000e0041", "b": "###[[", "c": "##VSO[x] ##v #vso["})
	want := "{\n  \"a\": \"#\\u0023[x] <&> \\u202e\\uffff\\udb40\\udc41\",\n  \"b\": \"##\\u0023[[\",\n  \"c\": " +
		"\"#\\u0023VSO[x] #\\u0023v #vso[\"\n}\n"
	if err != nil || string(text) != want {
		t.Errorf("got %s, want %s: %v", text, want, err)
	}
	if _, err := JSON(func() {}); err == nil || !strings.Contains(err.Error(), "unsupported type") {
		t.Errorf("a function is JSON? %v", err)
	}
}

// FuzzJSON: JSON writes the bytes of encoding/json, except for the additional escapes.
func FuzzJSON(f *testing.F) {
	f.Add("a", 0, true)
	f.Add("<&>\u2028\u2029\x00\b\f\x1f\xff\xed\xa0\x80\ufffd\"\\/#", -1, false)
	f.Fuzz(func(t *testing.T, text string, number int, yes bool) {
		shape := func(text string) any {
			return struct {
				Text  string            `json:"text"`
				Left  string            `json:"left,omitempty"`
				N     int               `json:"n,omitempty"`
				Map   map[string]string `json:"map"`
				List  []any             `json:"list"`
				None  []string          `json:"none"`
				Empty []string          `json:"empty"`
				Yes   *bool             `json:"yes,omitempty"`
				Error
			}{
				Text: text, Left: text, N: number, Map: map[string]string{text: "1", "b": text}, List: []any{number,
					yes, nil},
				Empty: []string{}, Yes: &yes, Error: Error{Code: text, Line: int64(number)},
			}
		}
		got, err := JSON(shape(text))
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		// The standard library writes an escape for a byte that is not text; this one U+FFFD, which is equivalent.
		if err := enc.Encode(shape(string([]rune(text)))); err != nil {
			t.Fatal(err)
		}
		// It writes null for a nil list; this one [].
		none := bytes.Replace(want.Bytes(), []byte("\n  \"none\": null"), []byte("\n  \"none\": []"), 1)
		if want := EscapeJSON(none); !bytes.Equal(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	})
}

// BenchmarkWrite writes a verdict with 50,000 violations.
func BenchmarkWrite(b *testing.B) {
	v := New("1.0")
	at := Evidence{Kind: KindText, Pattern: "0.0.0.0/0", Excerpt: "  cidr_blocks = [\"0.0.0.0/0\"]",
		Places: make([]Place, 1)}
	for range 50_000 {
		v.Violations = append(v.Violations, Violation{
			RuleID: "NET-1", Title: "No ingress from anywhere", File: "modules/network/main.tf", Evidence: at,
			Fingerprint: strings.Repeat("0123", 16),
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// TestIsJSON: only the written text is accepted, to the last byte.
func TestIsJSON(t *testing.T) {
	v := []string{"a", strings.Repeat("b", 10_000), "\u202e"}
	text, err := JSON(v)
	if err != nil {
		t.Fatal(err)
	}
	if !IsJSON(text, v) {
		t.Error("what was written is another text")
	}
	for at := 0; at < len(text); at += 1 + len(text)/500 {
		for what, other := range map[string][]byte{
			"cut":     text[:at],
			"changed": slices.Concat(text[:at], []byte{text[at] ^ 1}, text[at+1:]),
			"longer":  slices.Concat(text[:at], []byte{' '}, text[at:]),
		} {
			if IsJSON(other, v) {
				t.Errorf("%s at %d: it is still what was written", what, at)
			}
		}
	}
	if IsJSON(slices.Concat(text, []byte("\n")), v) {
		t.Error("longer at the end: it is still what was written")
	}
}

func TestErrorText(t *testing.T) {
	for e, want := range map[Error]string{{Message: "no rules"}: "no rules",
		{Message: "it cannot be read", File: "a.tf"}: "a.tf: it cannot be read"} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestEscaper: a text in parts is escaped like the whole, wherever it is cut.
func TestEscaper(t *testing.T) {
	const text = "\"###[[ ##[a ##vso[ ###V #\u202e\U000e0041 é \xff\xe2\x80\" ##"
	want := string(EscapeJSON([]byte(text + "\n")))
	for i := range len(text) + 1 {
		for k := i; k <= len(text); k++ {
			var got bytes.Buffer
			e := &escaper{to: &got}
			for _, part := range []string{text[:i], text[i:k], text[k:]} {
				if n, err := e.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := e.end(); err != nil || got.String() != want {
				t.Fatalf("cut at %d and %d: %q, %v; want %q", i, k, got.String(), err, want)
			}
		}
	}
}
