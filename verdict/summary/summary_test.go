package summary

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/policyscan/policyscan/verdict"
)

var long = flag.Bool("long", false, "do all of the tests that otherwise do a part")

// seeds is how many of n random cases a test tries.
func seeds(n uint64) uint64 {
	if *long {
		return n
	}
	return n / 10
}

// A generated repository, and the rules that it was checked with.
type generated struct {
	row   Repository
	rules []verdict.Rule
}

// generate returns repositories of all kinds. Rules of one id differ in their titles.
func generate(r *rand.Rand, n int) []generated {
	var all []generated
	for i := range n {
		v := verdict.New("v1")
		v.Scope.HeadCommit = strings.Repeat("a", 40)
		for k := range 1 + r.IntN(4) {
			v.Rules = append(v.Rules, verdict.Rule{
				ID: fmt.Sprintf("R-%d", k), Type: "boundary", Title: fmt.Sprint("title ", r.IntN(3)),
			})
		}
		for range r.IntN(4) * r.IntN(2) {
			v.Violations = append(v.Violations, verdict.Violation{
				RuleID: v.Rules[r.IntN(len(v.Rules))].ID, PlaceCount: int64(1 + r.IntN(3)),
			})
		}
		for range r.IntN(6) * r.IntN(2) {
			v.Errors = append(v.Errors, verdict.Error{Code: "E_READ", Message: strings.Repeat("ü",
				r.IntN(2*MaxMessage)) + "!"})
		}
		v.Coverage.Files, v.Coverage.Bytes = r.IntN(9), int64(r.IntN(999))
		v.Decide()
		row := Row(v)
		row.Name, row.Path, row.Revision = fmt.Sprintf("r%04d", i), fmt.Sprintf("p/%d", i), "HEAD"
		row.SHA256 = strings.Repeat("0", 64)
		all = append(all, generated{row, v.Rules})
	}
	return all
}

// TestOrder: neither the order of repositories nor their division into parts matters; each document is valid by the
// schema, and is read back.
func TestOrder(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("fleet.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("fleet.json")
	if err != nil {
		t.Fatal(err)
	}
	passed, longest := 0, 0
	for seed := range seeds(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := generate(r, r.IntN(7))
		end := func(f *Fleet) []byte {
			f.List.Repositories = len(all)
			f.Decide()
			text, err := f.Encode()
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		one := New("v1")
		for _, g := range all {
			one.Add(g.row, g.rules)
		}
		want := end(one)
		r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		parts := []*Fleet{New("v1"), New("v1"), New("v1")}
		for _, g := range all {
			parts[r.IntN(len(parts))].Add(g.row, g.rules)
		}
		joined := New("v1")
		for _, i := range r.Perm(len(parts)) {
			parts[i].Decide()
			joined.Join(parts[i])
		}
		if got := end(joined); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: joined\n%s\nnot\n%s", seed, got, want)
		}
		x, err := jsonschema.UnmarshalJSON(bytes.NewReader(want))
		if err == nil {
			err = s.Validate(x)
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, want)
		}
		var read Fleet
		if err := json.Unmarshal(want, &read); err != nil || !read.consistent() {
			t.Fatalf("seed %d: %v\n%s", seed, err, want)
		}
		wantPass := len(all) > 0
		for _, g := range all {
			wantPass = wantPass && g.row.Verdict == verdict.Pass
			for _, e := range g.row.Errors {
				longest = max(longest, len([]rune(e.Message)))
			}
		}
		if (read.Verdict == verdict.Pass) != wantPass {
			t.Errorf("seed %d: %s\n%s", seed, read.Verdict, want)
		}
		if wantPass {
			passed++
		}
	}
	if passed == 0 || longest != MaxMessage {
		t.Errorf("%d passed, the longest message has %d characters: the test sees too little", passed, longest)
	}
}

// TestRow: a row counts places, as the verdict's reports do, and the allowed ones apart.
func TestRow(t *testing.T) {
	v := verdict.New("v1")
	v.Violations = []verdict.Violation{
		{RuleID: "R-2", PlaceCount: 5}, {RuleID: "R-1", PlaceCount: 3}, {RuleID: "R-1"},
	}
	v.AllowedViolations = []verdict.AllowedViolation{
		{Violation: verdict.Violation{RuleID: "R-3", PlaceCount: 4}}, {Violation: verdict.Violation{RuleID: "R-3", PlaceCount: 2}},
	}
	r := Row(v)
	if want := []RuleCount{{"R-1", 3}, {"R-2", 5}}; r.Places != 8 || r.AllowedPlaces != 6 ||
		!slices.Equal(r.Rules, want) || !slices.Equal(r.AllowedRules, []RuleCount{{"R-3", 6}}) {
		t.Errorf("%+v", r)
	}
}

// TestConsistent: a fleet that contradicts itself is not one that policyscan wrote.
func TestConsistent(t *testing.T) {
	for i, change := range []func(f *Fleet){
		func(*Fleet) {},
		func(f *Fleet) { f.Repositories[0].Places = 1 },
		func(f *Fleet) { f.Totals.Pass = 1 },
		func(f *Fleet) { f.Totals.AllowedPlaces = 1 },
		func(f *Fleet) { f.Repositories[0].AllowedRules = []RuleCount{{"R-1", 1}} },
		func(f *Fleet) { f.Verdict = verdict.Pass },
		func(f *Fleet) { f.Repositories[1].Name = "a" },
		func(f *Fleet) { f.Complete = false },
		func(f *Fleet) { f.Repositories[0].Complete = false },
		func(f *Fleet) { f.Repositories[0].SHA256 = "" },
		func(f *Fleet) { f.Repositories[0].ErrorCount = 1 },
		func(f *Fleet) { f.Rules[0].Repositories = 0 },
		func(f *Fleet) { f.Rules[0].Enforced = 4 },
		func(f *Fleet) { f.Rules = append(f.Rules, f.Rules[0]) },
		func(f *Fleet) { f.Rules = nil },
	} {
		f := New("v1")
		for _, name := range []string{"a", "b"} {
			f.Add(Repository{Name: name, Verdict: verdict.Pass, Complete: true, SHA256: strings.Repeat("0", 64)},
				[]verdict.Rule{{ID: "R-1", Type: "boundary"}})
		}
		f.Add(Repository{Name: "c", Verdict: verdict.Fail, Complete: true, Places: 1,
			Rules: []RuleCount{{RuleID: "R-1", Places: 1}}}, []verdict.Rule{{ID: "R-1", Type: "boundary"}})
		f.Decide()
		change(f)
		text, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(text); (err == nil) != (i == 0) || i == 0 && got.Totals.Fail != 1 {
			t.Errorf("change %d: %v", i, err)
		}
		if got := f.consistent(); got != (i == 0 || f.Verdict == verdict.Pass) {
			t.Errorf("change %d: %t", i, got)
		}
	}
	for text, want := range map[string]string{`{"schema_version": "9", "list": 1}`: `"9"; this policyscan reads "1"`, "{": "it is not a fleet's summary"} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
