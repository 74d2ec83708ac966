package formats

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/policyscan/policyscan/scanner/keys"
)

var (
	update = flag.Bool("update", false, "write testdata/read again")
	long   = flag.Bool("long", false, "do all of the tests that otherwise do a part")
)

// TestRead: testdata/read has texts, by line, and how each is read: each entry and item with its offset and bytes, and
// what a value may be compared as.
func TestRead(t *testing.T) {
	files, err := filepath.Glob("testdata/read/*.txt")
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		golden, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		format := Format(strings.ReplaceAll(strings.TrimSuffix(filepath.Base(name), ".txt"), "_", " "))
		var got strings.Builder
		for _, c := range strings.Split(string(golden), "=== ")[1:] {
			head, _, _ := strings.Cut(c, "---\n")
			what, lines, _ := strings.Cut(head, "\n")
			var text []byte
			for line := range strings.Lines(lines) {
				part, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
				if err != nil {
					t.Fatalf("%s: %s: %v", name, line, err)
				}
				text = append(text, part...)
			}
			documents, err := Parse(format, text, Limits())
			if err != nil {
				t.Errorf("%s: %s: %v", name, what, err)
			}
			got.WriteString("=== " + head + "---\n" + dump(text, documents))
		}
		if *update {
			if err := os.WriteFile(name, []byte(got.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		} else if d := cmp.Diff(string(golden), got.String()); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

// dump writes a document for a test to compare: each entry, item and scalar on a line, with the bytes of its place.
func dump(text []byte, documents []keys.Document) string {
	var b strings.Builder
	for i, d := range documents {
		if i > 0 {
			b.WriteString("---\n")
		}
		dumpNode(&b, text, d.Root, "")
	}
	return b.String()
}

func at(text []byte, s keys.Span) string {
	const longest = 40
	if s.End-s.Start > longest {
		return fmt.Sprintf("%d %q…%q", s.Start, text[s.Start:s.Start+15], text[s.End-15:s.End])
	}
	return fmt.Sprintf("%d %q", s.Start, text[s.Start:s.End])
}

func dumpNode(b *strings.Builder, text []byte, n *keys.Node, indent string) {
	tagged := ""
	if n.Tagged {
		tagged = " tagged"
	}
	if n.Header {
		tagged = " header"
	}
	if n.Shared {
		b.WriteString("shared ")
	}
	switch n.Kind {
	case keys.Null:
		fmt.Fprintf(b, "null @%s\n", at(text, n.At))
	case keys.ScalarNode:
		s := n.Scalar
		fmt.Fprintf(b, "%q", s.Texts[0])
		for _, t := range s.Texts[1:] {
			fmt.Fprintf(b, " or %q", t)
		}
		switch s.Exact.Type {
		case keys.ExactText:
			b.WriteString(" text")
			if s.Exact.Text != s.Texts[0] {
				fmt.Fprintf(b, " %q", s.Exact.Text)
			}
		case keys.ExactNumber:
			b.WriteString(" number " + s.Exact.Text)
		case keys.ExactBool:
			b.WriteString(" bool " + s.Exact.Text)
		}
		if !s.Certain {
			b.WriteString(" uncertain")
		}
		if s.Variable {
			b.WriteString(" variable")
		}
		if s.OneIsTrue {
			b.WriteString(" 1=true")
		}
		fmt.Fprintf(b, " @%s\n", at(text, n.At))
	case keys.Mapping:
		fmt.Fprintf(b, "mapping%s @%s\n", tagged, at(text, n.At))
		for _, e := range n.Entries {
			name := fmt.Sprintf("%q", e.Name)
			if !e.Named {
				name = "?"
			}
			if e.Hidden {
				name += " hidden"
			}
			fmt.Fprintf(b, "%s  %s @%s: ", indent, name, at(text, e.At))
			dumpNode(b, text, e.Value, indent+"  ")
		}
	case keys.List:
		fmt.Fprintf(b, "list%s @%s\n", tagged, at(text, n.At))
		for _, item := range n.Items {
			b.WriteString(indent + "  - ")
			dumpNode(b, text, item, indent+"  ")
		}
	}
}

// TestHead: a document begins where its first line with content does, not at a comment or at "---".
func TestHead(t *testing.T) {
	for _, c := range []struct {
		format Format
		text   string
		want   []string
	}{
		{YAML, "# c\n---\n# d\n  a: 1\n  b: 2\n--- {c: d} # e\n---\n- &x y\r\n",
			[]string{"a: 1", "{c: d} # e", "- &x y"}},
		{JSON, "// c\n {\n  \"a\": 1}", []string{"{"}},
		{HCL, "# c\n\n b \"l\" {\n}\na = 1\n", []string{"b \"l\" {"}},
		{TOML, "# c\n\n [a.b]\nc = 1\n[a]\n", []string{"[a.b]"}},
		{TOML, "# c\n", []string{""}},
	} {
		documents, err := Parse(c.format, []byte(c.text), Limits())
		var got []string
		for _, d := range documents {
			got = append(got, c.text[d.Head.Start:d.Head.End])
		}
		if err != nil || strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

// TestParseErrors: a text that is not of its format is an error with a place, and what was read until then is nothing.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		format Format
		text   string
		offset int
		reason string
	}{
		{YAML, "a: {{ x }}", 4, "a mapping as a key: an unquoted {{ … }} of a template is one"},
		{YAML, "{{ x }}: 1", 1, "a mapping as a key"},
		{YAML, "a: &a {b: c}\n*a : d\n", 3, "a mapping as a key"},
		{YAML, "spec: [", 6, "not YAML: did not find expected node content"},
		{YAML, "é: {b: c\nd: e\n", 4, "not YAML: did not find expected ',' or '}'"},
		{YAML, "a: \"b", 3, "not YAML: found unexpected end of stream"},
		{YAML, "a: b-c: d\n", 6, "not YAML: mapping values are not allowed"},
		{YAML, "a: [b]]\n", 6, "not YAML: "},
		{YAML, "b: 1\n{{- if .c }}\n", 5, "not YAML: "},
		{YAML, "a: 1\n---\nb: [\n", 12, "not YAML: did not find expected node content"},
		{YAML, "a:\n  - b\n c: {% if d %}\n", 10, "not YAML: "},
		{YAML, "x: y\na: *q", 8, "not YAML: unknown anchor 'q' referenced"},
		{YAML, "%YAML 1.3\n---\na: b\n", 0, "not YAML: found incompatible YAML document"},
		{YAML, "a: |\n  x\n\xff", 9, "the byte 0xFF is not UTF-8"},
		{YAML, "\xff\xfea\x00", 0, "the byte 0xFF is not UTF-8"},
		{YAML, "a: é\nb: \x00", 9, "not YAML: control characters"},
		{YAML, "a: \u009f", 3, "not YAML: control characters"},
		{YAML, "a: \uffff", 3, "not YAML: control characters"},
		{YAML, "a: 1\rb: [\r", 8, "not YAML: did not find expected node content"},
		{YAML, strings.Repeat("- a\r", 100_000) + "- [\r", 400_000, "not YAML: did not find"},
		{YAML, strings.Repeat("- a\n", 100_000) + "- *b\n", 400_002, "not YAML: unknown anchor 'b' referenced"},
		{JSON, "[] /* x", 3, "not JSON: "},
		{JSON, "{\"a\": 1 / 2}", 8, "not JSON: a slash"},
		{JSON, "[1] ]", 4, "not JSON: "},
		{JSON, "[,]", 1, "not JSON: "},
		{JSON, "[1], 2", 3, "not JSON: "},
		{JSON, "[{\"a\": ,}]", 7, "not JSON: "},
		{YAML, "{\n\"a\": \"b\",\n\"c\": \"\\q\"}", 18, "not YAML: found unknown escape character"},
		{JSON, "{\n  \"a\": tru}", 12, "not JSON: invalid character"},
		{JSON, "// c\n{\n  \"a\": tru}", 17, "not JSON: invalid character '}' in literal true"},
		{JSON, `{"a":1,,}`, 7, "not JSON: invalid character ','"},
		{JSON, `[1,]]`, 4, "not JSON: "},
		{TOML, "a = 1\na = 2\n", 6, "not TOML: key a is already defined"},
		{TOML, "[a]\n[b]\n[a]\n", 9, "not TOML: table a already exists"},
		{TOML, "x = 1\ny = 1979-13-01", 15, "not TOML: impossible date"},
		{TOML, "a = \n", 4, "not TOML: unexpected character"},
		{TOML, "a = '\xc3'\n", 5, "the byte 0xC3 is not UTF-8"},
		{HCL, "a = 1\na = 2\n", 6, `not HCL: the argument "a" is there twice`},
		{HCL, "b {\n x @ }\n", 7, "not HCL: Invalid character"},
		{HCL, "a = 1 /* x", 6, "not HCL: a comment without its end"},
		{HCL, "a = [1,\n", 8, "not HCL: "},
		{HCL, "a = \"\uFFFD\xff\"", 8, "the byte 0xFF is not UTF-8"},
		{HCL, "a = 'x'", 4, "not HCL: Invalid character: Single quotes are not valid"},
	} {
		documents, err := Parse(c.format, []byte(c.text), Limits())
		var parse *ParseError
		if !errors.As(err, &parse) || parse.Disputed || documents != nil {
			t.Errorf("%.80q: %v, %v; want a parse error", c.text, documents, err)
			continue
		}
		if parse.Offset != c.offset || !strings.HasPrefix(parse.Reason, c.reason) {
			t.Errorf("%.80q: %d: %s; want %d: %s", c.text, parse.Offset, parse.Reason, c.offset, c.reason)
		}
	}
}

// TestDisputed: what programs read differently is refused, with its place and the reading that there is.
func TestDisputed(t *testing.T) {
	for _, c := range []struct {
		format Format
		text   string
		offset int
		reason string
		read   string
	}{
		{YAML, "a: {!!binary Yg==: c}", 4, "a key with the tag !!binary", `{"a":{"b":"c"}}`},
		{YAML, "a: {? &x !!binary Yg==\n : c, *x : 1}", 6, "a key with the tag !!binary", `{"a":{"b":1}}`},
		{YAML, "a: !!binary bmdp-bng6", 3, "a value with the tag !!binary that is not base64", `{"a":"bmdp-bng6"}`},
		{YAML, "a: {&m <<: {b: c}}\nd: {*m : {e: f}}", 23, "an alias of the key <<", `{"a":{"b":"c"},"d":{"e":"f"}}`},
		{YAML, "a: {! \"<<\": {b: c}}", 4, "the key << behind a !", `{"a":{"b":"c"}}`},
		{YAML, "a: {&m ! '<<': {b: c}}", 4, "the key << behind a !", `{"a":{"b":"c"}}`},
		{YAML, "a: {! '<<': b}", 4, "the key << behind a !", `{"a":{"<<":"b"}}`},
		{YAML, "a: {b:}", 5, "the colon before '}' is read differently by YAML parsers", `{"a":{"b:":null}}`},
		{YAML, "a: {b:, c: 1}", 5, "the colon before ',' is read differently", `{"a":{"b:":null,"c":1}}`},
		{YAML, "a: [b:]", 5, "the colon before ']' is read differently", `{"a":["b:"]}`},
		{YAML, "a: {? b:}", 7, "the colon before '}' is read differently", `{"a":{"b:":null}}`},
		{YAML, "a: {b\n c::, d: 1}", 9, "the colon before ',' is read differently", `{"a":{"b c::":null,"d":1}}`},
		{YAML, "a: {?b: 1}", 4, "the question mark is read differently by YAML parsers", `{"a":{"b":1}}`},
		{YAML, "a: [c , ?b]", 8, "the question mark is read differently", `{"a":["c",{"b":null}]}`},
		{YAML, "a: &x {?#\n b}", 7, "the question mark is read differently", `{"a":{"b":null}}`},
		{YAML, "a: {? :b}", 6, "the colon is read differently by YAML parsers", `{"a":{"":"b"}}`},
		{YAML, "a: {! :b}", 6, "the colon is read differently", `{"a":{"":"b"}}`},
		{YAML, "a: {&x :b}", 7, "the colon is read differently", `{"a":{"":"b"}}`},
		{YAML, "&a: b", 0, "the anchor is read differently by YAML parsers", `{"":"b"}`},
		{YAML, "- &a?b c", 2, "the anchor is read differently", `["?b c"]`},
		{YAML, "a: [!Ref, b]", 4, "the tag is read differently by YAML parsers", `{"a":["b"]}`},
		{YAML, "a: [&x !t,b c]", 7, "the tag is read differently", `{"a":["c"]}`},
		{YAML, "---\na: &x 1\n---\nb: *x", 19, "the alias *x has no anchor in its document", `{"a":1} {"b":1}`},
		{YAML, "a: x\u2028b: y", 4, "U+2028 ends a line for some YAML parsers and not for others", ""},
		{YAML, "# \u0085a: b\nc: d\n", 2, "U+0085 ends a line for some", ""},
		{YAML, "a: \"\u2029\"\nb: | # \u2029\n  \u2028\nc: 1\n", 4, "U+2029 ends", ""},
		{YAML, "{\"a\": \"\u0085{{\"} {{", 7, "U+0085 ends", ""},
		{YAML, "\ufeffa: b", 0, "a second byte order mark", ""},
		{YAML, "a: 1\n\ufeffb: 2\n", 5, "a byte order mark here", "{\"a\":1,\"\ufeffb\":2}"},
		{YAML, "# c\n\ufeffb: 2\n", 4, "a byte order mark here", `{"b":2}`},
		{YAML, "a: 1 # \ufeff\n", 7, "a byte order mark here", `{"a":1}`},
		{YAML, "a: '\ufeff'\n", 4, "a byte order mark here", "{\"a\":\"\ufeff\"}"},
		{YAML, "a: 1\n\ufeff---\nb: 1\n", 5, "a byte order mark here", ""},
		{YAML, "---\n\ufeff%b: 1\n", 7, "not YAML: found unexpected non-alphabetical", ""},
		{YAML, "---\n\ufeff---\n\ufeffb: 1\n", 11, "a byte order mark here", `{"b":1}`},
		{YAML, "a: 1\r---\r\ufeffb: 1\r", 9, "a byte order mark here", `{"a":1} {"b":1}`},
		{YAML, "---\n...\n\ufeffb: 1\n", 8, "a byte order mark here", `{"b":1}`},
		{YAML, "---#\n{\"a\":true}\n", 0, "a line that begins with --- ends a document for some", `{"a":true}`},
		{YAML, "b: 1\n---\u00a0\u3000\r\n{\"a\":true}\n", 5, "a line that begins with --- ends", `{"b":1} {"a":true}`},
		{YAML, "---{\"a\":true}\n", 0, "a line that begins with --- ends", `"---{\"a\":true}"`},
		{YAML, "a: \"b\n---c\"\n", 6, "a line that begins with --- ends", `{"a":"b ---c"}`},
		{YAML, "{\"a\": 1}\n{\"b\": 2}", 9, "not YAML: did not find expected <document start>", `{"a":1} {"b":2}`},
		{JSON, "{\"a\":\"\xff\"}", 6, "the byte 0xFF is not UTF-8", "{\"a\":\"\ufffd\"}"},
		{JSON, `{"a":"\ud800"}`, 6, "not JSON: ", "{\"a\":\"\ufffd\"}"},
		{JSON, "{ // x\r\"a\": 1\n}", 6, "a character that ends the comment for some", "{}"},
		{JSON, "{} // x\u2028\"a\": 1\r\n", 7, "a character that ends the comment", "{}"},
		{HCL, "a {\n  \"b.c\" = \"1\"\n}\n", 6, "this is HCL 1", ""},
		{HCL, "a {\n  b = 1,\n  c = 2\n}\n", 11, "this is HCL 1", ""},
		{HCL, "a { b = 1, c = 2 }\n", 9, "this is HCL 1", ""},
	} {
		documents, err := Parse(c.format, []byte(c.text), Limits())
		var parse *ParseError
		if !errors.As(err, &parse) || !parse.Disputed || parse.Offset != c.offset ||
			!strings.HasPrefix(parse.Reason, c.reason) {
			t.Errorf("%q: %+v; want %d: %s", c.text, err, c.offset, c.reason)
			continue
		}
		var read []string
		for _, d := range documents {
			read = append(read, strings.TrimSuffix(marshal(t, plain(d.Root)), "\n"))
		}
		if got := strings.Join(read, " "); got != c.read {
			t.Errorf("%q: it is read as %s; want %s", c.text, got, c.read)
		}
	}
}

func TestOf(t *testing.T) {
	for path, want := range map[string]Format{
		"a.yaml": YAML, "a/b.YML": YAML, "a.json": JSON, "a.jsonc": JSON, "main.tf": HCL, "MAIN.TF": HCL, "a.tofu": HCL,
		"a.tfvars": HCL, "a.hcl": HCL, "a.tf.json": TerraformJSON, "a.TF.Json": TerraformJSON,
		"a.tofu.json": TerraformJSON, "a.tfvars.json": JSON, "a.toml": TOML,
		".yaml": YAML, "a.toml.bak": "", "yaml": "", "a.tf/b": "", "": "", "a.yaml.j2": "", "Kelvin.\u212aaml": "",
	} {
		if got, ok := Of(path); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", path, got, ok)
		}
	}
	if _, err := Parse("xml", nil, Limits()); err == nil {
		t.Error("XML is read")
	}
}
