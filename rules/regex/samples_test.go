package regex

import (
	"slices"
	"testing"
)

// TestSamples: the first sample matches, and the others vary each part.
func TestSamples(t *testing.T) {
	for source, want := range map[string][]string{
		`a|bc`:                  {"a", "bc"},
		`(?i)key`:               {"KEY", "key"},
		`x\d{2,}y`:              {"x00y"},
		`[a-f][0-9]`:            {"a0", "f0", "a9"},
		`foo(bar)?$`:            {"foo", "foobar"},
		`^\bkey:\s*(x|y1)`:      {"key:x", "key: x", "key:y1"},
		`:latest@sha256:[0]{4}`: {":latest@sha256:0000"},
	} {
		got := Samples(source)
		if e := compiled(t, source); !e.Match([]byte(got[0])) {
			t.Errorf("%s: it does not match %q", source, got[0])
		}
		for _, s := range want {
			if !slices.Contains(got, s) {
				t.Errorf("%s: %q is not in %q", source, s, got)
			}
		}
	}
	for _, source := range []string{`(`, `((((a{30}){30}){1}){1}b?){1}`, `(?:[a-z]{100}|\pL){9}`} {
		for _, s := range Samples(source) {
			if len(s) > 2*maxSampleBytes {
				t.Errorf("%s: a sample of %d bytes", source, len(s))
			}
		}
	}
}
