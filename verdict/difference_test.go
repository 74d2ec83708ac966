package verdict

import (
	"strings"
	"testing"
)

// TestDifference: the first value that differs, with its member and line; of lists and objects, which one has more.
func TestDifference(t *testing.T) {
	v := New("v1")
	v.Scope.MergeBases = []string{"a", "b"}
	v.Violations = []Violation{{RuleID: "A"}, {RuleID: "B", Title: strings.Repeat("ä", 300)}}
	want, err := v.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ old, now, says string }{
		{`"FAIL"`, `"PASS"`, `verdict (line 3) is "PASS", and "FAIL" when it is made again`},
		{`"FAIL"`, `7`, `verdict (line 3) is 7, and "FAIL" when it is made again`},
		{`"complete": false`, `"complete": true`, `complete (line 4) is true, and false when it is made again`},
		{`"rule_id": "B"`, `"rule_id": "C"`, `violations[1].rule_id (line 73) is "C", and "B" when it is made again`},
		{`"rule_id": "B"`, `"id": "B"`, `violations[1].rule_id (line 73) is "id", and "rule_id" when it is made again`},
		{"ää", "ö", `violations[1].title (line 75) is "ö` + strings.Repeat("ä", 249) + `", and "` +
			strings.Repeat("ä", 250) + `" when it is made again`},
		{",\n      \"b\"", "", `scope.merge_bases[1] (line 20) is missing, and "b" when it is made again`},
		{`"b"`, `"b", "c"`, `scope.merge_bases[2] (line 20) is "c", and missing when it is made again`},
		{`"rules": []`, `"rules": [{}]`, `rules[0] (line 13) is there, and missing when it is made again`},
		{"\n}\n", "}\n", "every value is the same, but not written as policyscan writes it"},
		{"\n}\n", "\n}", "every value is the same, but not written as policyscan writes it"},
		{`"A"`, `"\u0041"`, "every value is the same, but not written as policyscan writes it"},
		{"{\n", "{\"more\": 1, \"more\": \"\xff\",\n", `schema_version (line 1) is "more", and "schema_version" when it is made again`},
	} {
		text := strings.Replace(string(want), row.old, row.now, 1)
		if text == string(want) {
			t.Fatalf("%q is not in\n%s", row.old, want)
		}
		if got := Difference([]byte(text), want); got != row.says {
			t.Errorf("%q for %q:\n%s\nwant\n%s", row.now, row.old, got, row.says)
		}
	}
}
