package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/pelletier/go-toml/v2"
	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/scanner/keys"
)

// words are the parts of a format's random texts; each § is replaced by another word.
func words(format Format) []string {
	switch format {
	case YAML:
		return []string{
			"a: ", "b: ", "- ", "\n", "\n  ", "\n    ", "\r\n", "\r", "[", "]", "{", "}", ", ", "? ", ": ", "x", "yes",
			"0x1F", "1_0", "~", "\"", "'", "\\\"",
			"''", "|", ">-", "|2+", "\n\n", " # c", "#", "&a ", "&b ", "*a", "*b", "!!str ", "!!int ", "!own ", "! ",
			"<<: ", "<<: *a\n", "---\n", "...\n",
			"[§, §]", "{§: §, a: §}", "a: §\nb: §\n", "- §\n- §\n", "? §\n: §\n", "{a: §}", "[§: §]", "&c §", "!own §",
			"%YAML 1.2\n", "é", "\u2028", "\u0085", "𝄞", "\t", "!!map ", "!!null", "a: &a {b: c}\n", "- &b x\n",
			"\ufeff", "%", "{{ .x }}", "=", "null",
			"{§:}", "[§:, §]", "[?§]", "{:§}", "[! :§]", "&a:", "!t,", "!!binary ", "[! ]",
		}
	case JSON:
		return []string{
			`"a"`, `"b"`, `"é\n"`, `""`, ":", ",", "[", "]", "{", "}", "1", "-0.5e+3", "true", "false", "null", " ",
			"\n", "/* } */", "// [\n", "//", "/*",
			"[§, §]", "[§]", `{"a": §, "b": §}`, `{"a": § /**/, "a": §,}`, "[ §, § ,] // x\n", `"a": `, `"a": [1, 2]`,
			`{"a": {}}`, `"\u00e9"`, `"\ud800"`, "\"\xff\"", "[]", ",}", ",]", "\"", "\\", "/", "\x00", "nul",
		}
	case Dockerfile:
		return []string{
			"FROM a\n", "FROM a AS b\n", "FROM §\n", "RUN §\n", "RUN [§]\n", "COPY § §\n", "ENV a=§\n", "ENV a §\n", "ARG §\n",
			"USER §\n", "EXPOSE §\n", "CMD §\n", "HEALTHCHECK CMD §\n", "ONBUILD §", "# escape=`\n", "# c\n", "\\\n", "`\r\n", "\n",
			"<<E", "E\n", "<<-'E'", "\"", "'", "\\", "$a", "${a:-§}", "${", "}", " ", "\t", "--a=§ ", "--from=b ", "a", "é", "\"a\"",
			",", "\x00", "\u00a0", "\ufeff", "80", "{\"a\": §}",
		}
	case TOML:
		return []string{
			"[§, §]", "[ § ,# ]\n § , ]", "{a = §, b.c = §}", "a = §\n", "b.c = §\n", "c = §\n", "[d]\n", "a = ",
			"b.c = ", "\"é\" = ", "'x' = ", "[a]\n", "[a.b]\n", "[[a]]\n", "[[ t . u ]] # c\n", "1_0", "0x1F", "-1.5e3",
			"inf", "true", "'x'", "\"\\n\"", "\n", "\r\n",
			"\"\"\"\nx\"\"\"", "'''x'y'''", "[", "]", "{", "}", ",", " ", "# c\n", "1979-05-27", "07:32:00", "{a = 1}",
			"[1, 2]", "é", ".", "=", "a = 1\n", "c = [ # [\n1]\n",
		}
	}
	return append(hclWords(), "a = §\n", "b = §\n", "c = §\n", "§", "[§, §]", "{ a = §, § : § }", "(§)", "\"${§}\"",
		"!§", "-§", "\"x${§}y\"", "true", "null", "2.50", "1e3",
		"<<E\nx\nE\n", "a ? § : §", "a.b[§].c", "f(§)", "b \"l\" {\n§\n}\n",
		"dynamic \"d\" {\ncontent {\na = §\n}\n}\n", "<<-E\n  x ${§}\n    y\n  E\n", "{\na = §\n}")
}

func randomText(random *rand.Rand, words []string, longest int) []byte {
	var b strings.Builder
	for range 1 + random.IntN(longest) {
		b.WriteString(randomWord(random, words, 4))
	}
	return []byte(b.String())
}

func randomWord(random *rand.Rand, words []string, depth int) string {
	before, after, more := strings.Cut(words[random.IntN(len(words))], "§")
	for more {
		inner := "1"
		if depth > 0 {
			inner = randomWord(random, words, depth-1)
		}
		before += inner
		var rest string
		rest, after, more = strings.Cut(after, "§")
		before += rest
	}
	return before + after
}

// TestRandomTexts: what holds for every text holds for many. Most are not of their format; enough are.
func TestRandomTexts(t *testing.T) {
	for _, format := range []Format{YAML, JSON, HCL, TOML, Dockerfile} {
		random := rand.New(rand.NewPCG(3, 4))
		values, rounds := 0, 6000
		if *long {
			rounds *= 5
		}
		for range rounds {
			text := randomText(random, words(format), 1+random.IntN(1+random.IntN(12)))
			if format == HCL && random.IntN(2) == 0 {
				text = append([]byte("a = "), text...)
			}
			if format == Dockerfile && random.IntN(2) == 0 {
				text = append([]byte("FROM a\n"), text...)
			}
			values += check(t, format, text)
			if t.Failed() {
				return
			}
		}
		if values < rounds/10 {
			t.Errorf("%s: only %d values", format, values)
		}
	}
}

func fuzz(f *testing.F, format Format) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		f.Add(randomText(random, words(format), 12))
	}
	f.Fuzz(func(t *testing.T, text []byte) { check(t, format, text) })
}

func FuzzYAML(f *testing.F) { fuzz(f, YAML) }
func FuzzJSON(f *testing.F) { fuzz(f, JSON) }
func FuzzHCL(f *testing.F)  { fuzz(f, HCL) }
func FuzzTOML(f *testing.F) { fuzz(f, TOML) }

func FuzzDockerfile(f *testing.F) { fuzz(f, Dockerfile) }

// check checks what holds for every text, and returns how many values it has.
func check(t *testing.T, format Format, text []byte) int {
	t.Helper()
	before := bytes.Clone(text)
	documents, err := Parse(format, text, Limits())
	if !bytes.Equal(before, text) {
		t.Fatalf("%s: %q was changed to %q", format, before, text)
	}
	if err != nil {
		var parse *ParseError
		var limit *LimitError
		_ = errors.As(err, &parse)
		switch {
		case documents != nil && (parse == nil || !parse.Disputed):
			t.Errorf("%s: %q: documents and an error", format, text)
		case parse != nil && parse.Offset >= 0 && parse.Offset <= len(text) &&
			!strings.Contains(parse.Reason, "is not where"):
		case errors.As(err, &limit) && limit.Offset >= 0 && limit.Offset <= len(text):
		default:
			t.Errorf("%s: %q: %v", format, text, err)
		}
		if parse != nil && !refused(format, text, parse.Reason) {
			t.Errorf("%s: %q: %s, and its own reader does not refuse it", format, text, parse.Reason)
		}
		return 0
	}
	values := 0
	for _, d := range documents {
		if d.Root == nil || d.Root.Kind == keys.Null || d.Head.Start > d.Head.End || d.Head.End > len(text) {
			t.Errorf("%s: %q: %+v", format, text, d)
			return 0
		}
		checkNode(t, format, text, d.Root, true, &values)
	}
	return values
}

// refused reports whether another reader of a format refuses a text, too, or should.
func refused(format Format, text []byte, reason string) bool {
	if !utf8.Valid(text) || bytes.ContainsAny(text, "\ufeff\u0085\u2028\u2029") {
		return true
	}
	switch format {
	case Dockerfile:
		return true // lab/dockerfile asks BuildKit
	case JSON:
		return !json.Valid(text) || strings.Contains(reason, "surrogate")
	case TOML:
		var all map[string]any
		return toml.Unmarshal(text, &all) != nil
	case HCL:
		_, problems := hclsyntax.ParseConfig(text, "", hcl.InitialPos)
		return problems.HasErrors()
	}
	for _, ours := range []string{"a mapping as a key", "has no anchor in its document", "ends a line for some",
		"read differently by YAML parsers", "for some programs and not for others", "some programs take for a merge",
		"the tag !!binary", "is within what it names",
		"found a tab character where"} {
		if strings.Contains(reason, ours) {
			return true
		}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := nextYAML(decoder); err != nil {
			return !errors.Is(err, io.EOF)
		}
	}
}

// checkNode checks the bytes of each place: parsed alone, they give the same value. A root, a block and a table cannot
// be parsed alone.
func checkNode(t *testing.T, format Format, text []byte, n *keys.Node, part bool, values *int) {
	t.Helper()
	*values++
	if n.At.Start < 0 || n.At.End < n.At.Start || n.At.End > len(text) {
		t.Fatalf("%s: %q: %v", format, text, n.At)
	}
	if !part && format != Dockerfile { // whose values have the place of their instruction
		checkText(t, format, text, n)
	}
	for _, e := range n.Entries {
		if e.At.Start < 0 || e.At.End < e.At.Start || e.At.End > len(text) {
			t.Fatalf("%s: %q: key at %v", format, text, e.At)
		}
		if format != Dockerfile {
			checkKey(t, format, text, e)
		}
		checkNode(t, format, text, e.Value, format == HCL && e.Value.At.Start == e.At.Start, values)
	}
	for _, item := range n.Items {
		checkNode(t, format, text, item, false, values)
	}
	if n.Kind == keys.ScalarNode && (len(n.Scalar.Texts) == 0 || n.Scalar.Variable && n.Scalar.Certain ||
		n.Scalar.Exact.Type != keys.NoType && !n.Scalar.Certain) {
		t.Errorf("%s: %q: %+v", format, text, n.Scalar)
	}
}

// checkText reads the text of a value by itself.
func checkText(t *testing.T, format Format, text []byte, n *keys.Node) {
	t.Helper()
	piece := string(text[n.At.Start:n.At.End])
	var alone string
	switch format {
	case JSON:
		alone = piece
	case TOML:
		if n.Kind != keys.ScalarNode && !strings.HasSuffix(piece, "]") && !strings.HasSuffix(piece, "}") ||
			strings.HasPrefix(piece, "[") && n.Kind == keys.Mapping {
			return // a table, whose place is a header, or what a dotted key implies
		}
		if n.Kind == keys.List && strings.HasPrefix(piece, "[[") && strings.HasSuffix(piece, "]]") &&
			len(n.Items) > 0 && n.Items[0].Kind == keys.Mapping {
			return // an array of tables
		}
		if n.Kind == keys.Mapping && !strings.HasPrefix(piece, "{") {
			return
		}
		alone = "x = " + piece
	case HCL:
		alone = "x = (" + piece + "\n)\n"
	case YAML:
		if !checkYAMLText(t, text, piece, n) {
			return
		}
		alone = "- " + piece
	}
	documents, err := Parse(format, []byte(alone), Limits())
	if err != nil {
		t.Fatalf("%s: %q: the value %q: %v", format, text, piece, err)
	}
	var got *keys.Node
	switch {
	case len(documents) == 0: // null
		got = &keys.Node{Kind: keys.Null}
	case format == JSON:
		got = documents[0].Root
	case format == YAML:
		got = documents[0].Root.Items[0]
	default:
		got = documents[0].Root.Entries[0].Value
	}
	if a, b := shape(got), shape(n); a != b {
		t.Errorf("%s: %q: the value %q is\n%s, by itself\n%s", format, text, piece, b, a)
	}
}

// checkYAMLText checks what is in front of and behind a value, and reports whether it can be read by itself.
func checkYAMLText(t *testing.T, text []byte, piece string, n *keys.Node) bool {
	t.Helper()
	if piece == "" {
		return false // nothing is there
	}
	if n.At.Start > 0 && strings.IndexByte(" \t\r\n[{,:-?", text[n.At.Start-1]) < 0 ||
		n.At.End < len(text) && strings.IndexByte(" \t\r\n]},:", text[n.At.End]) < 0 &&
			!strings.ContainsAny(piece[len(piece)-1:], `"']}`) &&
			!strings.ContainsAny(piece, "|>") {
		t.Errorf("%q: %q is not a value by itself", text, piece)
	}
	if strings.Trim(piece, " \t\r\n") != piece {
		t.Errorf("%q: %q has space at its ends", text, piece)
	}
	return n.Kind != keys.Mapping && n.Kind != keys.List && !strings.ContainsAny(piece, "\r\n\u0085\u2028\u2029") &&
		!strings.HasPrefix(piece, "|") && !strings.HasPrefix(piece, ">") && !strings.Contains(piece, " |") &&
		!strings.Contains(piece, " >") &&
		!bytes.Contains(text, []byte("%")) && !strings.HasPrefix(piece, "- ") && !strings.HasPrefix(piece, "? ")
}

// checkKey reads the text of a key by itself.
func checkKey(t *testing.T, format Format, text []byte, e keys.Entry) {
	t.Helper()
	piece := string(text[e.At.Start:e.At.End])
	var name string
	switch {
	case format == JSON:
		if err := json.Unmarshal([]byte(piece), &name); err != nil {
			t.Errorf("JSON: %q: the key %q: %v", text, piece, err)
		}
	case format == HCL && e.Value.At.Start == e.At.Start:
		return // a block
	case format == HCL:
		name = strings.Trim(piece, `"() `)
		if strings.ContainsAny(piece, "\\$%#/\n-!") || !e.Named {
			return
		}
	case format == TOML:
		if strings.HasPrefix(piece, "[") {
			return
		}
		var all map[string]any
		if err := toml.Unmarshal([]byte(piece+" = 1"), &all); err != nil || len(all) != 1 {
			t.Fatalf("TOML: %q: the key %q: %v", text, piece, err)
		}
		for name = range all {
		}
	case !e.Named || piece == "" || strings.ContainsAny(piece, "\r\n*\u2028\u2029\u0085\ufeff|>!:"):
		return
	default:
		var node yaml.Node
		if len(piece) > 100 {
			return // an implicit key has 1,024 characters at most
		}
		if err := yaml.Unmarshal([]byte(piece+": 1"), &node); err != nil {
			t.Fatalf("YAML: %q: the key %q: %v", text, piece, err)
		}
		name = node.Content[0].Content[0].Value
	}
	if name != e.Name {
		t.Errorf("%s: %q: the key %q is %q, by itself %q", format, text, piece, e.Name, name)
	}
}

// shape is a node without its places.
func shape(n *keys.Node) string {
	var b strings.Builder
	switch n.Kind {
	case keys.Null:
		b.WriteString("null")
	case keys.ScalarNode:
		fmt.Fprintf(&b, "%+v", n.Scalar)
	case keys.Mapping:
		b.WriteString("{")
		for _, e := range n.Entries {
			fmt.Fprintf(&b, "%q %v: %s, ", e.Name, e.Named, shape(e.Value))
		}
		b.WriteString("}")
	case keys.List:
		b.WriteString("[")
		for _, item := range n.Items {
			b.WriteString(shape(item) + ", ")
		}
		b.WriteString("]")
	}
	return b.String()
}

// plain is the value of a node as encoding/json and go-toml have it: numbers and dates as they are written, of a key
// that is there twice the last.
func plain(n *keys.Node) any {
	switch n.Kind {
	case keys.Mapping:
		all := map[string]any{}
		for _, e := range n.Entries {
			all[e.Name] = plain(e.Value)
		}
		return all
	case keys.List:
		all := []any{}
		for _, item := range n.Items {
			all = append(all, plain(item))
		}
		return all
	case keys.ScalarNode:
		switch exact := n.Scalar.Exact; exact.Type {
		case keys.ExactBool:
			return exact.Text == "true"
		case keys.ExactNumber:
			return json.Number(exact.Text)
		}
		return n.Scalar.Texts[0]
	}
	return nil
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
