package keyitem

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func key(name string) Segment { return Segment{Name: name} }

func literal(name string) Segment { return Segment{Name: name, Quoted: true} }

var (
	star = Segment{Kind: Any}
	deep = Segment{Kind: Deep}
)

func TestParsePath(t *testing.T) {
	for text, want := range map[string]Path{
		`hostNetwork`:            {key("hostNetwork")},
		`spec.containers.image`:  {key("spec"), key("containers"), key("image")},
		`resource.*.*.acl`:       {key("resource"), star, star, key("acl")},
		`**.image`:               {deep, key("image")},
		`**`:                     {deep},
		`a.**`:                   {key("a"), deep},
		`a.**.**.b`:              {key("a"), deep, key("b")},
		`a.**.*.**.b`:            {key("a"), deep, star, deep, key("b")},
		`"**"."*"`:               {literal("**"), literal("*")},
		`a."b.c/d e".f`:          {key("a"), literal("b.c/d e"), key("f")},
		`"say \"no\" \\ 'yes'"`:  {literal(`say "no" \ 'yes'`)},
		`""`:                     {literal("")},
		`a."".b`:                 {key("a"), literal(""), key("b")},
		`aws:SourceIp.@type.#x`:  {key("aws:SourceIp"), key("@type"), key("#x")},
		`0.-.a-b.a/b.a$b.ü.~.!x`: {key("0"), key("-"), key("a-b"), key("a/b"), key("a$b"), key("ü"), key("~"), key("!x")},
	} {
		got, err := ParsePath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestPathErrors: refused paths and their fixes.
func TestPathErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                                  `an empty path; write the keys that lead to the value, such as spec.hostNetwork`,
		`.spec.a`:                           `a path that begins with a dot: .spec.a; begin with a key`,
		`spec.`:                             `a path that ends with a dot: spec.; end with a key`,
		`a..b`:                              `two dots in a row in a..b; write one, or .**. for any number of segments; a key without characters is ""`,
		`a..`:                               `two dots in a row in a..; write one, or .**. for any number of segments; a key without characters is ""`,
		`$.spec`:                            `a path that begins with $; begin with a key: a path starts at the top of the document`,
		`$ref.a`:                            `$ref, a segment that begins with $; write the segment in double quotes, "$ref"`,
		`/spec/a`:                           `/spec/a, a segment that begins with /; write the keys with dots between them, or, if the key has the slash, write the segment in double quotes, "/spec/a"`,
		`a.aws_*`:                           `aws_*, a segment with * next to other characters; write * alone for any one segment or ** for any number of them, or, if the key has the star, write the segment in double quotes, "aws_*"`,
		`a.***`:                             `***, a segment with * next to other characters; write * alone for any one segment or ** for any number of them, or, if the key has the star, write the segment in double quotes, "***"`,
		`containers[0].a`:                   `'[' in the path containers[0].a; remove the brackets: a path that comes to a list means each of its items; if the key has them, write the segment in double quotes, "containers[0]"`,
		`a["b.c"]`:                          `'[' in the path a["b.c"]; write the key with a dot before it and in double quotes: a."b.c" for a["b.c"]`,
		`a['b']`:                            `'[' in the path a['b']; write the key with a dot before it and in double quotes: a."b.c" for a["b.c"]`,
		`a.{b,c}`:                           `'{' in the path a.{b,c}; write a list of paths for several; if the key has it, write the segment in double quotes, "{b,c}"`,
		`a,b`:                               `',' in the path a,b; write a list for several paths: [a, b]; if the key has it, write the segment in double quotes, "a,b"`,
		`a.<b>`:                             `'<' in the path a.<b>; write a list of paths for several; if the key has it, write the segment in double quotes, "<b>"`,
		`a.f(x)`:                            `'(' in the path a.f(x); write a list of paths for several; if the key has it, write the segment in double quotes, "f(x)"`,
		`a.'b'`:                             `'\'' in the path a.'b'; put the whole segment in double quotes, such as metadata."app.kubernetes.io/name"`,
		`a.b"c"`:                            `'"' in the path a.b"c"; put the whole segment in double quotes, such as metadata."app.kubernetes.io/name"`,
		`a\.b`:                              `'\\' in the path a\.b; put the segment in double quotes, such as metadata."app.kubernetes.io/name"`,
		`a b.c`:                             `' ' in the path a b.c; write the segment in double quotes, "a b"`,
		`a. b`:                              `' ' in the path a. b; remove it; if the key has it, write the segment in double quotes, " b"`,
		"a\tb":                              `'\t' in the path a` + "\tb" + `; write the segment in double quotes, "a` + "\tb\"",
		"a.b\n":                             `'\n' in the path a.b` + "\n; write the path on one line",
		`"a"b.c`:                            `text after the closing quote in "a"b.c; write a dot there, or put the whole segment in quotes`,
		`"a".`:                              `a path that ends with a dot: "a".; end with a key`,
		`a."b`:                              `a segment without its closing quote: "b; write the "`,
		`a."\n"`:                            `the escape \n in the quotes of a path; write \\ for a backslash and \" for a quote; every other character stands for itself`,
		`"a\`:                               `the escape \ in the quotes of a path; write \\ for a backslash and \" for a quote; every other character stands for itself`,
		strings.Repeat("a.", 63) + "a":      "a path of more than 63 segments; write ** for the segments between the ends",
		strings.Repeat("\x95", 80) + " a":   `' ' in the path ` + strings.Repeat("\x95", 56) + "…; put the segment in double quotes",
		`a.$`:                               `$, a segment that begins with $; write the segment in double quotes, "$"`,
		strings.Repeat("é", 40) + "[" + "b": `'[' in the path ` + strings.Repeat("é", 30) + "…; remove the brackets: a path that comes to a list means each of its items; if the key has them, put the segment in double quotes",
	} {
		got, err := ParsePath(text)
		if err == nil {
			t.Errorf("%q is the path %v", text, got)
		} else if err.Error() != want {
			t.Errorf("%q:\n got %s\nwant %s", text, err, want)
		}
	}
	if path, err := ParsePath(strings.Repeat("a.", 62) + "a"); err != nil || len(path) != MaxSegments {
		t.Errorf("63 segments: %d, %v", len(path), err)
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

func TestPathNotes(t *testing.T) {
	for text, want := range map[string]int{
		`metadata.labels.app.kubernetes.io/name`:   1,
		`annotations.eks.amazonaws.com.x`:          1,
		`metadata.labels."app.kubernetes.io/name"`: 0,
		`environments.dev.io`:                      1,
		`environments.dev.size`:                    0,
		`io.x`:                                     0,
		`*.io`:                                     0,
		`spec.containers.0.image`:                  1,
		`spec.containers."0".image`:                0,
		`a.007.1x`:                                 1,
	} {
		path, err := ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		if notes := path.Notes(); len(notes) != want {
			t.Errorf("%s: %q", text, notes)
		}
	}
}
