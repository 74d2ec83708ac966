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
	update = flag.Bool("update", false, "write testdata/read and testdata/refused.txt again")
	long   = flag.Bool("long", false, "do all of the tests that otherwise do a part")
)

// TestRead: testdata/read has texts, by line, and how each is read: each entry and item with its offset and bytes, and
// what a value may be compared as.
func TestRead(t *testing.T) {
	files, err := filepath.Glob("testdata/read/*.txt")
	if err != nil || len(files) != 6 {
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
	if s.In > 0 {
		return fmt.Sprint(s.Start, " ", s.In)
	}
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
		if n.Inside != nil {
			b.WriteString(indent + "  inside: ")
			dumpNode(b, text, n.Inside, indent+"  ")
		}
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
		{Dockerfile, "# syntax=a\n\n  FROM a \\\n  AS b\n", []string{"FROM a \\"}},
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

// TestRefused: testdata/refused.txt has texts, and below each what is wrong with it, where, and what it is read as all
// the same, where programs differ.
func TestRefused(t *testing.T) {
	const name = "testdata/refused.txt"
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(want)) {
		if line[0] == '\t' {
			continue
		}
		format, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatal(line, err)
		}
		got.WriteString(line)
		documents, err := Parse(Format(format), []byte(text), Limits())
		var parse *ParseError
		if !errors.As(err, &parse) || !parse.Disputed && documents != nil {
			t.Errorf("%s: %v, %v; want a parse error", line, documents, err)
			continue
		}
		fmt.Fprintf(&got, "\t%d: %s\n", parse.Offset, parse.Reason)
		for _, d := range documents {
			fmt.Fprintf(&got, "\tread as %s", marshal(t, plain(d.Root)))
		}
		if parse.Disputed && documents == nil {
			got.WriteString("\tnot read\n")
		}
	}
	if *update {
		err = os.WriteFile(name, []byte(got.String()), 0o666)
	} else if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOf(t *testing.T) {
	for path, want := range map[string]Format{
		"a.yaml": YAML, "a/b.YML": YAML, "a.json": JSON, "a.jsonc": JSON, "main.tf": HCL, "MAIN.TF": HCL, "a.tofu": HCL,
		"a.tfvars": HCL, "a.hcl": HCL, "a.tf.json": TerraformJSON, "a.TF.Json": TerraformJSON,
		"a.tofu.json": TerraformJSON, "a.tfvars.json": JSON, "a.toml": TOML,
		"Dockerfile": Dockerfile, "a/CONTAINERFILE": Dockerfile, "Dockerfile.prod": Dockerfile, "dockerfile.": Dockerfile,
		"app.Dockerfile": Dockerfile, ".containerfile": Dockerfile, "Containerfile.a.b": Dockerfile,
		"Dockerfile.yml": YAML, "Dockerfile.tf.json": TerraformJSON, "Dockerfile.dockerignore": "",
		"Dockerfile.a.DockerIgnore": "", "Dockerfiles": "", "Dockerfile-a": "", "aDockerfile": "", "Dockerfile/a": "",
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
