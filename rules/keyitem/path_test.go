package keyitem

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func literal(name string) Segment { return Segment{Name: name, Quoted: true} }

// TestPathLimits: a path of the most segments, and one that a message cuts within a character.
func TestPathLimits(t *testing.T) {
	if path, err := ParsePath(strings.Repeat("a.", 62) + "a"); err != nil || len(path) != MaxSegments {
		t.Errorf("63 segments: %d, %v", len(path), err)
	}
	if _, err := ParsePath(strings.Repeat("\x95", 80) + " a"); err == nil || !strings.Contains(err.Error(), "…; put") {
		t.Error(err)
	}
}

// spelled writes a path with all its names in quotes.
func spelled(p Path) string {
	var all []string
	for _, s := range p {
		switch s.Kind {
		case Any:
			all = append(all, "*")
		case Deep:
			all = append(all, "**")
		default:
			all = append(all, quote(s.Name))
		}
	}
	return strings.Join(all, ".")
}

// FuzzPath: the parser does not fail, and a path equals the one with its names in quotes. Without special characters,
// the segments are the parts between the dots.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"a.*.**.b", `a."b.c"."\"\\"`, "$.a", "a..b", `"a"b`, "aws_*.x", "\xff.a", `"a`, `"\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := ParsePath(text)
		if err != nil {
			if e := err.(*Error); e.Found == "" || e.Fix == "" {
				t.Errorf("%q: %#v", text, e)
			}
			return
		}
		if len(path) == 0 || len(path) > MaxSegments {
			t.Fatalf("%q: %d segments", text, len(path))
		}
		again, err := ParsePath(spelled(path))
		if err != nil || spelled(again) != spelled(path) {
			t.Errorf("%q is %s, which is %s, %v", text, spelled(path), spelled(again), err)
		}
		if path, err := ParsePath(path.String()); err != nil || spelled(path) != spelled(again) {
			t.Errorf("%q is %s, %v", text, path, err)
		}
		if strings.ContainsAny(text, `"*`) {
			return
		}
		var names []string
		for _, s := range path {
			names = append(names, s.Name)
		}
		if strings.Join(names, ".") != text {
			t.Errorf("%q is %q", text, names)
		}
	})
}

// TestQuotedNames: every name can be written in quotes.
func TestQuotedNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want Path
		for _, name := range rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "names") {
			want = append(want, literal(name))
		}
		got, err := ParsePath(spelled(want))
		if err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %v, %v", spelled(want), got, err)
		}
	})
}
