package naive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/pelletier/go-toml/v2"
	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/scanner/keys"
	parser "github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/tailscale/hujson"
	"github.com/zclconf/go-cty/cty"
	"gopkg.in/yaml.v3"
	kubectl "sigs.k8s.io/yaml"
)

// A spelling is one way to write a value in a format, and what it is there.
type spelling struct {
	text string
	node *Node
}

// quoted reports whether the text is in quotes, and has no tag.
func (s spelling) quoted() bool { return !s.node.Scalar.Plain && s.node.Scalar.Exact.Kind == textKind }

// spellings are at least forty different ways to write a value.
func spellings(format string, v Value) []spelling {
	var all []spelling
	seen := map[string]bool{}
	for n := range 5000 {
		w := &writer{generator: &generator{Rand: rand.New(rand.NewPCG(9, uint64(n)))}, lineEnd: "\n"}
		want := &wish{kind: "value", value: v}
		var node *Node
		switch format {
		case "yaml":
			y := &yamlWriter{writer: w}
			if n%8 == 0 {
				node = y.blockScalar(v.Text, 2)
			}
			if node == nil {
				node = y.node(want, 2, false)
			}
		case "json":
			node = jsonWriter{w, false}.node(want)
		case "hcl":
			node = hclWriter{w}.expression(want)
		case "toml":
			node = tomlWriter{w}.node(want)
		}
		if text := strings.TrimSuffix(w.String(), "\n"); !seen[text] {
			seen[text] = true
			all = append(all, spelling{text, node})
		}
	}
	return all
}

// fileWith is a file that has a key with a value, two levels deep.
func fileWith(format, key, value string) string {
	return fmt.Sprintf(map[string]string{
		"yaml": "spec:\n  %s: %s\n", "json": "{\"spec\": {\"%s\": %s}}\n",
		"hcl": "spec {\n  %s = %s\n}\n", "toml": "[spec]\n%s = %s\n",
	}[format], key, value)
}

// decoys are files in which only comments, strings and the like have the key with the value.
func decoys(format, key, value string) []string {
	if strings.Contains(value, "\n") {
		return nil
	}
	line := map[string]string{"yaml": key + ": ", "json": `"` + key + `": `, "hcl": key + " = ", "toml": key + " = "}[format]
	line += value
	text, _ := json.Marshal(line) // a string in all four
	quoted := strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(text))
	switch format {
	case "yaml":
		return []string{
			"spec: # " + line + "\n  q: 1\n", "spec:\n  q: " + string(text) + "\n", "spec:\n  q: |\n    " + line + "\n",
			"spec:\n  q: >-\n    " + line + "\n", "spec:\n  q: '" + strings.ReplaceAll(line, "'", "''") + "'\n",
			"# " + line + "\n",
		}
	case "json":
		return []string{
			"{\"spec\": {\"q\": " + string(text) + "}} // " + line, "/* " + strings.ReplaceAll(line, "*/", "") + " */ {}",
			"{// " + line + "\n}",
		}
	case "hcl":
		body := strings.NewReplacer("${", "$${", "%{", "%%{").Replace(line)
		return []string{
			"# " + line + "\nspec {\n  q = " + quoted + " // " + line + "\n}\n", "/*\n" + line + "\n*/\n",
			"spec {\n  q = <<E\n" + body + "\nE\n}\n", "spec {\n  q = <<-E\n    " + body + "\n  E\n}\n",
		}
	}
	return []string{
		"# " + line + "\n[spec] # " + line + "\nq = " + string(text) + "\n",
		"[spec]\nq = '''\n" + strings.ReplaceAll(line, "'''", "") + "'''\n",
	}
}

// libraryEquals reports whether the library of a format makes a value of the text equal to another.
func libraryEquals(t *testing.T, format, text string, v Value) bool {
	t.Helper()
	want := map[ValueKind]any{booleanKind: v.Text == "true", textKind: v.Text, numberKind: 22.0}[v.Kind]
	decoded := map[string]any{}
	var err error
	switch format {
	case "yaml":
		var file map[string]map[string]any
		err = kubectl.Unmarshal([]byte(fileWith(format, "v", text)), &file)
		decoded = file["spec"]
	case "json":
		var plain []byte
		if plain, err = hujson.Standardize([]byte(`{"v": ` + text + "}")); err == nil {
			err = json.Unmarshal(plain, &decoded)
		}
	case "toml":
		err = toml.Unmarshal([]byte("v = "+text+"\n"), &decoded)
	case "hcl":
		expr, diags := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatalf("%s: %v", text, diags)
		}
		got, diags := expr.Value(nil)
		if diags.HasErrors() {
			t.Fatalf("%s: %v", text, diags)
		}
		switch got.Type() {
		case cty.Bool:
			decoded["v"] = got.True()
		case cty.Number:
			decoded["v"], _ = got.AsBigFloat().Float64()
		case cty.String:
			decoded["v"] = got.AsString()
		}
	}
	if err != nil {
		t.Fatalf("%s %s: %v", format, text, err)
	}
	if i, ok := decoded["v"].(int64); ok {
		decoded["v"] = float64(i)
	}
	return decoded["v"] == want
}

// A deviation is what kubectl reads in another way than the 1.2 core schema of YAML.
type deviation struct {
	what    string
	form    *regexp.Regexp // of the text, quotes, tag and escapes aside
	kubectl bool           // it takes the text for the value, and the core schema does not; else the other way round
}

// deviations are all of them that spellings of true, 22 and private show.
func deviations() []deviation {
	form := regexp.MustCompile
	return []deviation{
		{"yes, on and y are booleans", form(`^(yes|Yes|YES|on|On|ON|y|Y)$`), true},
		{"numbers with underscores", form(`^\+?[0-9][0-9a-fx_.]*_[0-9_.]*$`), true},
		{"octal numbers that begin with 0", form(`^0+26$`), true},
		{"decimal numbers that begin with 0 are octal", form(`^0+22$`), false},
		{"binary numbers", form(`^0[bB]_?10110$`), true},
		{"0X and 0O", form(`^0[XO][0-9]+$`), true},
		{"a sign before 0x and 0o", form(`^\+0[xo][0-9]+$`), true},
	}
}

// TestSpellings writes each of three values in all the ways that a format has, as the value of ten keys. Forbidden items
// find all, and nothing in comments, strings and heredocs. Required items accept what the format's own library takes for
// the value; kubectl's library of YAML has [deviations] from the core schema, and no other.
func TestSpellings(t *testing.T) {
	names := []string{
		"hostNetwork", "privileged", "encrypted", "publicly_accessible", "acl", "enabled", "on", "a-b", "x1", "is_public",
	}
	shown := map[string]int{}
	for _, format := range []string{"yaml", "json", "hcl", "toml"} {
		for _, v := range []Value{{booleanKind, "true"}, {numberKind, "22"}, {textKind, "private"}} {
			value, err := keyitem.ParseValue(v.Text, false)
			if err != nil {
				t.Fatal(err)
			}
			all := spellings(format, v)
			accepted := 0
			for n, s := range all {
				broad, exact := s.node.Scalar.couldBe(v), s.node.Scalar.Exact.is(v)
				library := libraryEquals(t, format, s.text, v)
				if exact != library {
					same := func(d deviation) bool { return d.kubectl == library && d.form.MatchString(s.node.Scalar.Texts[0]) }
					if i := slices.IndexFunc(deviations(), same); format == "yaml" && !s.quoted() && i >= 0 {
						shown[deviations()[i].what]++
					} else {
						t.Errorf("%s %q: for the library %s: %t", format, s.text, v.Text, library)
					}
				}
				if !broad {
					t.Errorf("%s %q is not found", format, s.text)
				}
				if exact {
					accepted++
				}
				key := names[n%len(names)]
				for _, key := range names {
					item := keyitem.Item{Paths: pathOf(t, "spec."+key), Asks: keyitem.Is, Values: []keyitem.Value{value}}
					documents := parsedBy(t, format, fileWith(format, key, s.text))
					if found := keys.Forbidden(&item, documents); len(found) != 1 {
						t.Errorf("%s %s: %q: policyscan finds %v", format, key, s.text, found)
					}
					if broken := keys.Required(&item, documents); (len(broken) == 0) != exact {
						t.Errorf("%s %s: %q: policyscan requires %v", format, key, s.text, broken)
					}
				}
				item := keyitem.Item{Paths: pathOf(t, "**."+key), Asks: keyitem.Is, Values: []keyitem.Value{value}}
				for _, decoy := range decoys(format, key, s.text) {
					if found := keys.Forbidden(&item, parsedBy(t, format, decoy)); len(found) > 0 {
						t.Errorf("%s %s: policyscan finds %v in %q", format, key, found, decoy)
					}
				}
			}
			if len(all) < 40 || accepted == 0 {
				t.Errorf("%s: %d spellings of %s, %d of them equal to it", format, len(all), v.Text, accepted)
			}
			t.Logf("measured: %s: %d spellings of %s, %d of them equal to it", format, len(all), v.Text, accepted)
		}
	}
	for _, d := range deviations() {
		if shown[d.what] == 0 {
			t.Errorf("not shown: %s", d.what)
		}
	}
}

func pathOf(t *testing.T, text string) []keyitem.Path {
	t.Helper()
	path, err := keyitem.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return []keyitem.Path{path}
}

func parsedBy(t *testing.T, format, text string) []keys.Document {
	t.Helper()
	documents, err := parser.Parse(parser.Format(format), []byte(text), parser.Limits())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return documents
}

// parses reports whether the library of a format reads a text.
func parses(format, text string) error {
	switch format {
	case "yaml":
		// For yaml.v3 a line ends at U+2028, and there is no YAML 1.2.
		text = strings.TrimPrefix(strings.ReplaceAll(text, "\u2028", "x"), "%YAML 1.2")
		d := yaml.NewDecoder(strings.NewReader(text))
		for {
			var n yaml.Node
			if err := d.Decode(&n); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	case "json":
		text, err := hujson.Standardize([]byte(text))
		if err != nil {
			return err
		}
		var v any
		return json.NewDecoder(bytes.NewReader(text)).Decode(&v)
	case "hcl":
		_, diags := hclsyntax.ParseConfig([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			return diags
		}
		return nil
	}
	var v map[string]any
	return toml.Unmarshal([]byte(text), &v)
}

// TestWritten checks the writers: the libraries of the formats read what they write, and do not read what is damaged.
func TestWritten(t *testing.T) {
	for _, format := range []string{"yaml", "json", "hcl", "toml"} {
		wrong := 0
		for n := range 1500 {
			g := &generator{Rand: rand.New(rand.NewPCG(5, uint64(n)))}
			f := g.keyFile(format)
			if f.meant.Starts != nil || f.meant.Code == "E_LIMIT" || strings.Contains(f.content, "{{ x }}") ||
				f.meant.Disputed || format == "json" && len(f.meant.Documents) > 1 {
				continue // yaml.v3 reads a template as a mapping with a mapping as its key, hujson one value
			}
			err := parses(format, f.content)
			if (err == nil) == (f.meant.Code == "") {
				continue
			}
			if wrong++; wrong < 5 {
				t.Errorf("%s %d: code %q, %v\n%s", format, n, f.meant.Code, err, f.content)
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d wrong", format, wrong)
		}
	}
}
