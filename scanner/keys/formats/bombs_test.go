package formats

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"unicode/utf8"
)

// yamlBomb is levels of anchored lists, each of ten aliases of the one before.
func yamlBomb(levels int) string {
	var b strings.Builder
	b.WriteString("l0: &l0 [x]\n")
	for i := range levels {
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i), 10),
			", "))
	}
	return b.String()
}

// yamlChain is mappings of which each leads to the one before, by an alias or by a merge.
func yamlChain(n int, by string) string {
	var b strings.Builder
	b.WriteString("- &a0 {k: v}\n")
	for i := range n {
		fmt.Fprintf(&b, "- &a%d {k%d: v, %s: *a%d}\n", i+1, i+1, by, i)
	}
	return b.String()
}

func numbered(line string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, i)
	}
	return b.String()
}

func nested(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

// TestBombs: what is over a bound is a limit error, however small its file, and does not end the process.
func TestBombs(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(200 << 20))
	const k = 1000
	deep := 2 * k
	if *long {
		deep = 100 * k
	}
	type bomb struct {
		what   string
		format Format
		text   string
	}
	bombs := []bomb{
		{"aliases of aliases", YAML, yamlBomb(9)},
		{"very many %TAG lines", YAML, numbered("%%TAG !a%d! x\n", 100*k) + "---\na: 1\n"},
		{"a long %TAG line and many tags", YAML, "%TAG !a! " + strings.Repeat("x", 1000*k) + "\n---\n" +
			strings.Repeat("- !a!x y\n", 10*k)},
		{"a cycle", YAML, "a: &a\n  b: [*a]\n"},
		{"a cycle of merges", YAML, "a: &a\n  <<: *a\n"},
		{"deep aliases", YAML, yamlChain(1500, "next")},
		{"merges that add up", YAML, yamlChain(5*k, "<<")},
		{"merges of a mapping of many keys", YAML, "- &a\n" + numbered("  k%d: v\n", k) +
			strings.Repeat("- <<: *a\n", 1100)},
		{"lists", YAML, nested("[", "", "]", 100*k)},
		{"lists, a little too deep", YAML, nested("[", "", "]", 1001)},
		{"block lists", YAML, strings.Repeat("- ", 100*k)},
		{"mappings", YAML, nested("{a: ", "1", "}", 2*k)},
		{"lists", JSON, nested("[", "", "]", 1000*k)},
		{"lists that are not closed", JSON, strings.Repeat(`["]",`, 1001)},
		{"objects behind a comment", JSON, "//\n" + nested(`{"a":`, "1", "}", 1000*k)},
		{"lists, a little too deep", JSON, nested("[", "", "]", 1001)},
		{"lists", TOML, "a = " + strings.Repeat("[", 100*k)},
		{"tables", TOML, "a = " + strings.Repeat("{a=", 100*k)},
		{"dotted keys", TOML, strings.Repeat("a.", 100*k) + "a = 1"},
		{"headers", TOML, "[" + strings.Repeat("a.", 1000) + "a]"},
		{"a header and keys", TOML, "[" + strings.Repeat("a.", 600) + "a]\n" + strings.Repeat("a.", 600) + "a = 1"},
		{"a table of very many keys", TOML, numbered("k%d = 1\n", 100*k)},
		{"very many tables", TOML, numbered("[k%d]\n", 100*k)},
		{"very many tables next to a table of many keys", TOML, "[a]\n" + numbered("k%d = 1\n", 50*k) +
			numbered("[t%d]\n", 40*k)},
		{"an array of tables next to a table of many keys", TOML, "[a]\n" + numbered("k%d = 1\n", 50*k) +
			strings.Repeat("[[b]]\n", 20*k)},
		{"keys next to many values", TOML, "b = [" + strings.Repeat("{},", 200*k) + "]\n" +
			numbered("k%d = 1\n", 20*k)},
		{"lists", HCL, "a = " + strings.Repeat("[", deep)},
		{"parentheses", HCL, "a = " + strings.Repeat("(", deep)},
		{"templates", HCL, "a = " + strings.Repeat(`"${`, deep)},
		{"blocks", HCL, strings.Repeat("a {\n", deep)},
		{"blocks, a little too deep", HCL, nested("a {\n", "", "}\n", 1001)},
		{"objects", HCL, "a = " + strings.Repeat("{a=", deep)},
		{"names before a function's", HCL, "a = " + strings.Repeat("a ::\t/**/ ", 200*k) + "f(1)\n"},
		{"not", HCL, "a = " + strings.Repeat("!", 5000*k) + "true"},
		{"minus", HCL, "a = " + strings.Repeat("- ", 1001) + "1"},
		{"minus and not behind comments", HCL, "a = (" + strings.Repeat("!/**/-#\n", 600) + "1)"},
		{"not, and line ends behind", HCL, "a = (" + strings.Repeat("!", 900) + "a.b[0]" + strings.Repeat("\n", 200*k) +
			")"},
		{"not, and comments behind", HCL, "a = " + strings.Repeat("!", 900) + "(a)" + strings.Repeat("/**/", 200*k)},
		{"conditions", HCL, "a = " + strings.Repeat("a ? a : ", deep) + "a"},
		{"splats", HCL, "a = a" + strings.Repeat("[*]", deep)},
		{"ifs in a text", HCL, `a = "` + strings.Repeat("%{if a}", deep)},
		{"fors in a heredoc", HCL, "a = <<E\n" + strings.Repeat("%{/**/ for a in b}\n", deep) + "\nE\n"},
		{"a heredoc of very many lines", HCL, "a = <<E\n" + strings.Repeat("x\n", 200*k) + "E\n"},
		{"a heredoc without an end", HCL, strings.Repeat("a = <<E\n", 200*k)},
		{"a text of very many dollars", HCL, `a = "` + strings.Repeat("$x", 200*k) + `"`},
		{"a long number", HCL, "a = " + strings.Repeat("9", 1000*k)},
		{"a block of very many blocks", HCL, "a {\n" + strings.Repeat("b {\n}\n", 31*k) + "}\n"},
		{"blocks that hclsyntax does not see closed", HCL, "a {\n" + strings.Repeat("b {\n x @ }\n", 200*k) + "}\n"},
		{"labels", HCL, "b " + strings.Repeat("a ", deep) + "{}\n"},
		{"labels, a little too deep", HCL, "b " + strings.Repeat("a ", 1000) + "{}\n"},
		{"labels of blocks in each other", HCL, nested("b "+strings.Repeat("a ", 100)+"{\n", "", "}\n", 10)},
		{"a large file", HCL, strings.Repeat("#\n", 1049*k)},
		{"instructions", Dockerfile, "FROM a\n" + strings.Repeat("USER a\n", 200*k)},
		{"stages that each name the one before", Dockerfile, "FROM a AS s\nUSER a\n" +
			strings.Repeat("FROM s AS s\nUSER a\n", 100*k)},
		{"values in an instruction", Dockerfile, "FROM a\nEXPOSE" + strings.Repeat(" 1\\\n", 1000*k)},
		{"values in a list", Dockerfile, "FROM a\nCMD [\"\"" + strings.Repeat(",\"\"\\\n", 1000*k) + "]"},
		{"values in one word", Dockerfile, "FROM a\nEXPOSE " + strings.Repeat("1\u00a0\\\n", 1000*k)},
		{"names in an instruction", Dockerfile, "FROM a\nENV" + strings.Repeat(" a=b\\\n", 1000*k)},
		{"flags", Dockerfile, "FROM a\nRUN" + strings.Repeat(" --mount=a\\\n", 1000*k) + " b"},
		{"here-documents in an instruction", Dockerfile, "FROM a\nRUN a" + strings.Repeat(" <<E\\\n", 1000*k) + " b\n" +
			strings.Repeat("E\n", 1000*k)},
		{"variables in each other", Dockerfile, "FROM a\nUSER " + strings.Repeat("${a:-\\\n", 100*k) + strings.Repeat("}\\\n", 100*k)},
		{"variables in each other, in a command", Dockerfile, "FROM a\nRUN <<E " + strings.Repeat("${a:-\\\n", 2*k)},
	}
	if *long {
		bombs = append(bombs, []bomb{
			{"very many values", YAML, "[" + strings.Repeat("a,", 10_001*k) + "]"},
			{"very many values", JSON, "[" + strings.Repeat("0,", 10_001*k) + "/**/]"},
			{"very many values", HCL, "a = [" + strings.Repeat("0,", 2_001*k) + "]"},
			{"labels of a dynamic block", HCL, "dynamic \"b\" {\n labels = [" + strings.Repeat(`"a",`, 100*k) +
				"]\n content {}\n}\n"},
			{"labels of many dynamic blocks", HCL, strings.Repeat(`dynamic "b" {
				labels = [`+strings.Repeat(`"a",`, 900)+"]\n"+strings.Repeat("content {}\n", k)+"}\n", 12)},
			{"a large file", YAML, strings.Repeat("#\n", 50_000*k)},
			{"a large file", Dockerfile, "FROM a\n" + strings.Repeat("#\n", 34_000*k)},
		}...)
	}
	for _, c := range bombs {
		documents, err := Parse(c.format, []byte(c.text), Limits())
		var limit *LimitError
		if !errors.As(err, &limit) || documents != nil {
			t.Errorf("%s: %s: %.200v, want a limit error", c.format, c.what, err)
		}
	}
	for format, text := range map[Format]string{
		YAML: "[a, a, a, a]", JSON: "[0,0,0,0/**/]", HCL: "a = [0,0,0,0]", TOML: "a = [0,0,0,0]",
		Dockerfile: "FROM a\nEXPOSE 1 2 3 4",
	} {
		for _, bounds := range []Bounds{{1 << 20, 1000, 3}, {1 << 20, 0, 1000}, {5, 1000, 1000}} {
			_, err := Parse(format, []byte(text), bounds)
			var limit *LimitError
			if !errors.As(err, &limit) {
				t.Errorf("%s: %+v: %v, want a limit error", format, bounds, err)
			}
		}
	}
}

// TestCountedFirst: what yaml.v3 would make very many nodes of is counted before it parses, so that the error is about
// the limit and not about the end of the text.
func TestCountedFirst(t *testing.T) {
	for _, text := range []string{
		"a\n", "a,", "[]", "{}", "-\r", "- a\r", "- a\r\n", "-\t-\t- a - - -\n", "- - - - - - - a\n",
		"? - ? - a\n", ": - ? - a\n",
	} {
		text = strings.Repeat(text, 2000) + "\n}"
		_, err := Parse(YAML, []byte(text), Bounds{Bytes: 1 << 20, Levels: 1000, Nodes: 1000})
		var limit *LimitError
		if !errors.As(err, &limit) {
			t.Errorf("%.20q: %v, want a limit error", text, err)
		}
	}
	lists := strings.Repeat(strings.Repeat("- ", 500)+"a\n", 10) + "}"
	if got := yamlMarks([]byte(lists)); got != 5000 {
		t.Errorf("lists in lines: %d marks", got)
	}
	if got := yamlMarks([]byte("# ------ a - b -c ?d\n--- \n- a: -1\n")); got != 3 {
		t.Errorf("no lists: %d marks", got)
	}
}

// TestHarmless: text that looks like a bomb but is within the bounds, or is not of its format.
func TestHarmless(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(200 << 20))
	const k = 1000
	n := 2 * k
	if *long {
		n = 10 * k
	}
	brackets := strings.Repeat("[{(", 2*k)
	for _, c := range []struct {
		what   string
		format Format
		text   string
		parses bool
	}{
		{"lists, not too deep", YAML, nested("[", "", "]", 1000), true},
		{"brackets in texts", YAML, "a: '" + brackets + "'\nb: |\n  " + brackets + "\n# " + brackets, true},
		{"many %TAG lines", YAML, strings.Repeat("%TAG !a! tag:example.org,2000:\n--- !a!b\na: !a!c x\n...\n", 500),
			true},
		{"merges that add up to little", YAML, yamlChain(500, "<<"), true},
		{"merges of a mapping of many keys", YAML, "- &a\n" + numbered("  k%d: v\n", k) +
			strings.Repeat("- <<: *a\n", 900), true},
		{"lists, not too deep", JSON, nested("[", "", "]", 1000), true},
		{"brackets in texts", JSON, `["` + brackets + `\"[[", /*` + brackets + "*/] //" + brackets, true},
		{"brackets in texts", TOML, "a = \"" + brackets + "\" # " + brackets + "\nb='" + brackets + "'\nc='''\n" +
			brackets + "'''\nd=\"\"\"\\\"\"\"\"\"\"", true},
		{"points", TOML, "a = [" + strings.Repeat("1.5, ", 2*k) + "]", true},
		{"many keys", TOML, numbered("k%d = 1\n", n) + numbered("[t%d]\na.b = 1\n", n), true},
		{"very many tables in an array", TOML, strings.Repeat("[[a.b]]\nc = 1\n", 25*k), true},
		{"very many tables of a key in an array", TOML, numbered("[a.t%d]\nc = 1\n", n) +
			numbered("[[b]]\nc%d = 1\n", n), true},
		{"lists, not too deep", TOML, "a = " + nested("[", "", "]", 999), true},
		{"blocks, not too deep", HCL, nested("a {\n", "", "}\n", 1000), true},
		{"many functions of providers", HCL, "a = [" + strings.Repeat("provider::aws::f(1), ", n) + "]\n", true},
		{"many operators and line ends", HCL, "a = [\n" + strings.Repeat("!!!!a # b\n,\n", 10*n) + "]\n", true},
		{"labels, not too deep", HCL, "b " + strings.Repeat("a ", 999) + "{}\n", true},
		{"brackets in texts", HCL, "a = \"" + brackets + "\" # " + brackets + "\nb = <<E\n" + brackets +
			"\nE\nc = 1 /* " + brackets + " */", true},
		{"many conditions", HCL, "a = [\n" + strings.Repeat("a ? b : c,\n", 2*k) + "]\n" +
			strings.Repeat("b {\na = a[*] ? -1 : !a\n}\n", 2*k), true},
		{"many ifs", HCL, "a = \"" + strings.Repeat("%{if a}b%{endif}", 2*k) + "\"", true},
		{"an argument of very many objects", HCL, "a = 1\nb = [\n" + strings.Repeat("{ a = -1 },\n", 21*k) +
			"]\nc = 2\n", true},
		{"a heredoc of many lines", HCL, "a = <<E\n" + strings.Repeat("x\n", n) + "E\n", true},
		{"very many blocks", HCL, strings.Repeat("b {\n}\n", 29*k), true},
		{"an argument that is there twice, far apart", HCL, "a = 1\n" + strings.Repeat("b {\n}\n", 29*k) + "a = 2\n",
			false},
		{"blocks that hclsyntax does not see closed", HCL, strings.Repeat("b {\n x @ }\n", n), false},
		{"comments that are not closed", HCL, strings.Repeat("/*", 50*n), false},
		{"brackets that are not closed, one after the other", HCL, strings.Repeat("a = (\n", 500) + "\n", false},
		{"closing brackets", JSON, strings.Repeat("]", 1000*k), false},
		{"commas", JSON, "[" + strings.Repeat(",", 1000*k), false},
		{"binary", YAML, "\x00\x01\x02\xff", false},
		{"binary", JSON, "\x00\x01\x02\xff", false},
		{"binary", HCL, "\x00\x01\x02\xff", false},
		{"binary", TOML, "\x00\x01\x02\xff", false},
		{"NUL", Dockerfile, "FROM \x00\nUSER \"\x00\"\nCMD [\"\\u0000\"]\n", true},
		{"UTF-16 without a mark", Dockerfile, "F\x00R\x00O\x00M\x00 \x00a\x00\n\x00", false},
		{"lines of nearly 64 KiB", Dockerfile, strings.Repeat("#"+strings.Repeat("x", 65534)+"\n", 100) + "FROM a", true},
		{"a comment of 64 KiB", Dockerfile, "FROM a\n#" + strings.Repeat("x", 65535), false},
		{"a here-document with a line of 64 KiB", Dockerfile, "FROM a\nRUN <<E\n" + strings.Repeat("x", 65536) + "\nE\n", false},
		{"a here-document without an end", Dockerfile, "FROM a\nRUN <<E\n" + strings.Repeat("x\n", 1000*k), false},
		{"here-documents without an end", Dockerfile, "FROM a\n" + strings.Repeat("RUN <<E\n", 200*k), false},
		{"many here-documents", Dockerfile, "FROM a\n" + strings.Repeat("RUN <<E\n\nE\n", 30*k), true},
		{"a command of many lines", Dockerfile, "FROM a\nRUN a" + strings.Repeat(" \\\n && b", 1000*k), true},
		{"an instruction that does not end", Dockerfile, "FROM a \\\n" + strings.Repeat("\\\n#\n\n", 1000*k), true},
		{"brackets in a command", Dockerfile, "FROM a\nRUN " + strings.Repeat("[", 60*k) + "\nCMD " +
			strings.Repeat("[\\\n", 1000*k), true},
		{"variables in each other, not too deep", Dockerfile, "FROM a\nUSER " + nested("${a:-\\\n", "", "}\\\n", 1000), true},
		{"variables without an end", Dockerfile, "FROM a\nUSER " + strings.Repeat("${a}.\\\n", 1000*k) + "${", false},
		{"stages that each name the one before", Dockerfile, "FROM a AS s\nUSER a\n" +
			strings.Repeat("FROM s AS s\nCMD a\n", 15*k), true},
	} {
		documents, err := Parse(c.format, []byte(c.text), Limits())
		var parse *ParseError
		switch {
		case c.parses && (err != nil || len(documents) == 0):
			t.Errorf("%s: %s: %.200v", c.format, c.what, err)
		case !c.parses && (!errors.As(err, &parse) || documents != nil):
			t.Errorf("%s: %s: %.200v, want a parse error", c.format, c.what, err)
		}
	}
}

// TestErrorsAreBrief: what is wrong may be megabytes long, and is not all quoted; and it has a place.
func TestErrorsAreBrief(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	letters := strings.Repeat("a", 1<<20)
	for _, c := range []struct {
		format Format
		text   string
	}{
		{YAML, "\na: *" + letters},
		{YAML, strings.Repeat("- a\r", 100_000) + "- [\r"},
		{YAML, strings.Repeat("- a\n", 100_000) + "- *b\n"},
		{YAML, "\na: &" + letters + " 1\n---\n- *" + letters},
		{YAML, "- " + letters + "\n- \x00\n"},
		{YAML, "\n" + nested("[", "", "]", 20_000)},
		{YAML, "\n- " + nested("[", "", "]", 20_000)},
		{JSON, "\n{\"a\": " + letters},
		{JSON, "//\n" + letters},
		{JSON, "\n{\"" + long + "\": 1, \"" + long + "\": x}"},
		{HCL, "a = 1\n" + letters[:1<<19] + " = 1\n" + letters[:1<<19] + " = 1\n"},
		{HCL, "\na {\n" + long[:1<<19] + "\n}"},
		{TOML, "\n" + letters + " = 1\n" + letters + " = 1\n"},
		{TOML, "\n\"" + long + "\" = 1\n[\"" + long + "\"]\n"},
		{TOML, "\na = " + strings.Repeat("9", 1<<20)},
		{Dockerfile, "FROM a\nUSER \"" + strings.Repeat("é\\\n", 1<<20)},
		{Dockerfile, "FROM a\n" + strings.Repeat("é\\\n", 1<<20)},
		{TOML, "\na = " + strings.Repeat("9", 1<<20) + "e1000000000"},
	} {
		_, err := Parse(c.format, []byte(c.text), Limits())
		var parse *ParseError
		var limit *LimitError
		offset := 0
		switch {
		case errors.As(err, &parse):
			offset = parse.Offset
		case errors.As(err, &limit):
			offset = limit.Offset
		default:
			t.Errorf("%s: %.40q: %v, want an error", c.format, c.text, err)
			continue
		}
		if n := len(err.Error()); n > 600 || offset == 0 || !utf8.ValidString(err.Error()) {
			t.Errorf("%s: %.40q: an error of %d bytes at %d: %.200v", c.format, c.text, n, offset, err)
		}
	}
}
