package summary

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
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
			v.Violations = append(v.Violations, verdict.Violation{RuleID: v.Rules[r.IntN(len(v.Rules))].ID})
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
		read, err := Decode(want)
		if err != nil {
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

// TestDecode refuses what contradicts itself.
func TestDecode(t *testing.T) {
	f := New("v1")
	pass := Repository{Name: "a", Revision: "HEAD", Verdict: verdict.Pass, Complete: true,
		SHA256: strings.Repeat("0", 64)}
	f.Add(pass, []verdict.Rule{{ID: "R-1", Type: "boundary"}})
	pass.Name = "b"
	f.Add(pass, nil)
	f.List.Repositories = 2
	f.Decide()
	text, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(text); err != nil || f.Verdict != verdict.Pass {
		t.Fatal(f.Verdict, err)
	}
	for _, change := range [][2]string{
		{`"violations": 0`, `"violations": 1`},
		{`"pass": 2`, `"pass": 1`},
		{`"repositories": 2`, `"repositories": 3`},
		{`"name": "b"`, `"name": "a"`},
		{`"complete": true`, `"complete": false`},
		{`"schema_version": "1"`, `"schema_version": "2"`},
		{`"sha256": "0000`, `"sha256": "", "x": "`},
		{`"error_count": 0`, `"error_count": 1`},
		{"{\n", "{ \n"},
	} {
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte(change[0]))
			if i < 0 {
				if at == 0 {
					t.Errorf("there is no %s", change[0])
				}
				break
			}
			at += i
			damaged := string(text[:at]) + change[1] + string(text[at+len(change[0]):])
			at += len(change[0])
			if read, err := Decode([]byte(damaged)); err == nil {
				t.Errorf("%s to %s: %+v", change[0], change[1], read)
			}
		}
	}
	for n := range text {
		if _, err := Decode(text[:n]); err == nil {
			t.Errorf("cut after %d of %d bytes, it is read", n, len(text))
		}
	}
}
