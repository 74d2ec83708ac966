package summary

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/shard"
)

// divided returns the document of a whole run over generated repositories, and the documents of its shards.
func divided(t *testing.T, r *rand.Rand, count int) (whole []byte, parts []*Part) {
	all := generate(r, r.IntN(12))
	var list []Repository
	for _, g := range all {
		list = append(list, g.row)
	}
	begin := func() *Fleet {
		f := New("v1")
		f.List = List{ListHash(list), len(all)}
		f.Policy = []Policy{{From: "disk", SHA256: strings.Repeat("1", 64)}}
		return f
	}
	one := begin()
	one.AsOf = []string{"", "2027-01-01"}[r.IntN(2)]
	for _, g := range all {
		one.Add(g.row, g.rules)
	}
	asOf := one.AsOf
	if len(all) == 0 {
		one.AsOf = ""
	}
	one.Decide()
	whole, err := one.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		of := shard.Split{Index: i, Count: count}
		f := begin()
		for _, g := range all {
			if of.Owns(g.row.Name) {
				f.Add(g.row, g.rules)
				f.AsOf = asOf
			}
		}
		f.Decide()
		parts = append(parts, NewPart(of, shard.Done, Options{}, f))
	}
	return whole, parts
}

// TestPartSchema: the shards of generated fleets are valid by the schema, in every state, and a PASS is not.
func TestPartSchema(t *testing.T) {
	const at = "https://github.com/policyscan/policyscan/schema/"
	c := jsonschema.NewCompiler()
	for name, text := range map[string][]byte{"fleet-1.json": Schema(), "fleet-shard-1.json": PartSchema()} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = c.AddResource(at+name, doc)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile(at + "fleet-shard-1.json")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range seeds(100) {
		_, parts := divided(t, rand.New(rand.NewPCG(seed, 4)), 1+int(seed%4))
		for i, p := range parts {
			p.State = []string{shard.InProgress, shard.Interrupted, shard.Stopped, shard.Done}[(int(seed)+i)%4]
			text, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			for _, passes := range []bool{false, true} {
				if passes {
					text = bytes.ReplaceAll(text, []byte("\n    \"verdict\": \"FAIL\""),
						[]byte("\n    \"verdict\": \"PASS\""))
				}
				x, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Validate(x); (err == nil) == passes {
					t.Fatalf("seed %d: %v\n%s", seed, err, text)
				}
			}
		}
	}
}

// read encodes and decodes parts, as before a merge.
func read(t *testing.T, parts []*Part) (all []NamedPart) {
	for i, p := range parts {
		text, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if passes := []byte(`"verdict": "PASS"`); bytes.Contains(text, slices.Concat([]byte("\n  "), passes)) ||
			bytes.Contains(text, slices.Concat([]byte("\n    "), passes)) {
			t.Fatalf("a shard says PASS:\n%s", text)
		}
		p, err := DecodePart(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		all = append(all, NamedPart{Name: fmt.Sprint("s", i), Part: p})
	}
	return all
}

// TestMerge: generated fleets, each in 1 to 16 shards, merge to the bytes of the single run, in any order.
func TestMerge(t *testing.T) {
	for seed := range seeds(1000) {
		r := rand.New(rand.NewPCG(seed, 2))
		whole, parts := divided(t, r, 1+int(seed%16))
		named := read(t, parts)
		r.Shuffle(len(named), func(i, k int) { named[i], named[k] = named[k], named[i] })
		f, wrong := Merge("v1", named)
		got, err := f.Encode()
		if err != nil || wrong != nil || !bytes.Equal(got, whole) {
			t.Fatalf("seed %d: %v %v\n%s\nnot\n%s", seed, err, wrong, got, whole)
		}
	}
}

// TestAttempts: whatever attempts of shards are next to one that is done, begun, interrupted, done without a decision
// or done again, the merge is the single run's. A done one with another result is an error that names both.
func TestAttempts(t *testing.T) {
	differed, fleets := 0, seeds(1000)
	for seed := range fleets {
		r := rand.New(rand.NewPCG(seed, 3))
		whole, parts := divided(t, r, 1+int(seed%8))
		var found []NamedPart
		add := func(name string, p Part) {
			for _, n := range read(t, []*Part{&p}) {
				n.Name = name
				found = append(found, n)
			}
		}
		differs := -1
		for i, p := range parts {
			add(fmt.Sprint(i, "-done"), *p)
			for _, state := range []string{shard.InProgress, shard.Interrupted, shard.Stopped, shard.Done} {
				for range r.IntN(2) {
					again := *p
					again.State = state
					add(fmt.Sprint(i, "-", state), again)
				}
			}
			if p.Decided() && r.IntN(4) == 0 {
				worse := *p
				worse.Fleet.Errors = []verdict.Error{{Code: "E_READ", Message: "x"}}
				worse.Fleet.Decide()
				worse.Fleet.Verdict = verdict.Fail
				add(fmt.Sprint(i, "-undecided"), worse)
			}
			if differs < 0 && r.IntN(20) == 0 {
				differs = i
				other := *p
				other.Fleet.AsOf = "2001-01-01"
				add(fmt.Sprint(i, "-other"), other)
			}
		}
		r.Shuffle(len(found), func(i, k int) { found[i], found[k] = found[k], found[i] })
		f, wrong := Merge("v1", Attempts(found))
		if differs >= 0 {
			differed++
			if text := fmt.Sprint(wrong); !strings.Contains(text, "with another result") ||
				!strings.Contains(text, fmt.Sprint(differs, "-other")) || len(f.Repositories) > 0 {
				t.Fatalf("seed %d: another result of shard %d: %v", seed, differs, wrong)
			}
			continue
		}
		got, err := f.Encode()
		if err != nil || wrong != nil || !bytes.Equal(got, whole) {
			t.Fatalf("seed %d: %v %v\n%s\nnot\n%s", seed, err, wrong, got, whole)
		}
	}
	if differed < int(fleets)/20 {
		t.Errorf("only %d fleets had two results of a shard", differed)
	}
	unread := NamedPart{Name: "torn", Err: errors.New("it is cut")}
	if left := Attempts([]NamedPart{unread, unread}); len(left) != 2 {
		t.Errorf("attempts that cannot be read are left out: %v", left)
	}
}

// TestPartRewritten: a shard file that is not canonical is refused, even with a valid checksum.
func TestPartRewritten(t *testing.T) {
	_, parts := divided(t, rand.New(rand.NewPCG(5, 9)), 2)
	text, err := parts[0].Encode()
	if err != nil {
		t.Fatal(err)
	}
	const tail = "  \"sum\": \""
	body := string(text[:bytes.LastIndex(text, []byte(tail))])
	sealed := func(body string) []byte {
		empty := body + tail + "\"\n}\n"
		return fmt.Appendf([]byte(body), "%s%x\"\n}\n", tail, sha256.Sum256([]byte(empty)))
	}
	if !bytes.Equal(sealed(body), text) {
		t.Fatal("the test does not compute the sum that is written")
	}
	for _, other := range []string{
		strings.Replace(body, "[]", "null", 1),
		strings.Replace(body, "[]", "[ ]", 1),
		strings.Replace(body, "\"index\": 0", "\"index\": -0", 1),
		strings.Replace(body, "\"state\"", "\"\\u0073tate\"", 1),
	} {
		if other == body {
			t.Fatal("nothing was replaced")
		}
		if _, err := DecodePart(sealed(other)); err == nil || !strings.Contains(err.Error(),
			"not as policyscan writes it") {
			t.Errorf("%v; %.300s", err, other)
		}
	}
}

// TestMergeDamage: every kind of damage is an error that names a part, and the fleet stays empty.
func TestMergeDamage(t *testing.T) {
	named := func(name string, p *Part, mine bool) string {
		for i := 0; p.Shard.Owns(name) != mine; i++ {
			name = fmt.Sprint(name, i)
		}
		return name
	}
	kinds := []struct {
		says   string
		damage func(p *Part)
	}{
		{"is missing", nil},
		{"is also in", nil},
		{"in progress", func(p *Part) { p.State = shard.InProgress }},
		{"not done", func(p *Part) { p.State = shard.Interrupted }},
		{"written by policyscan v2", func(p *Part) { p.Fleet.Tool.Version = "v2" }},
		{"another list", func(p *Part) { p.Fleet.List.SHA256 = strings.Repeat("2", 64) }},
		{"other bundles", func(p *Part) {
			p.Fleet.Policy = []Policy{{From: "disk",
				SHA256: strings.Repeat("2", 64)}}
		}},
		{"other flags", func(p *Part) { p.Options.MaxFileBytes = 7 }},
		{"another number of shards", func(p *Part) { p.Shard.Count += 20 }},
		{"is not one of shard", func(p *Part) { p.Fleet.Add(Repository{Name: named("foreign", p, false)}, nil) }},
		{"are not the", func(p *Part) {
			p.Fleet.Add(Repository{Name: named("more", p, true), Verdict: verdict.Pass}, nil)
		}},
	}
	for seed := range seeds(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		count := 2 + r.IntN(15)
		_, parts := divided(t, r, count)
		for _, kind := range kinds {
			named := read(t, parts)
			switch i := r.IntN(count); kind.says {
			case "is missing":
				named = slices.Delete(named, i, i+1)
			case "is also in":
				named = append(named, NamedPart{Name: "again", Part: named[i].Part})
			default:
				kind.damage(named[i].Part)
			}
			f, wrong := Merge("v1", named)
			said := fmt.Sprint(wrong)
			if wrong == nil || !strings.Contains(said, kind.says) || len(f.Repositories) > 0 ||
				f.Verdict == verdict.Pass {
				t.Fatalf("seed %d, %s: %v\n%+v", seed, kind.says, wrong, f)
			}
		}
		// Changed or truncated bytes.
		text, err := parts[r.IntN(count)].Encode()
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			at := r.IntN(len(text))
			altered := slices.Clone(text)
			altered[at] ^= byte(1 + r.IntN(255))
			if _, err := DecodePart(altered); err == nil {
				t.Fatalf("seed %d: byte %d is altered, and the shard is read", seed, at)
			}
			if _, err := DecodePart(text[:at]); err == nil {
				t.Fatalf("seed %d: cut at %d, the shard is read", seed, at)
			}
		}
	}
}
