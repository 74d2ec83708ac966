package naive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/regex"
)

// meaning reads a small file of a table: what it means by the library of its format. Texts in it are ASCII.
func meaning(format, text string) *Parsed {
	p := &Parsed{}
	switch format {
	case "yaml":
		r := yamlReader{text, map[*yaml.Node]*Node{}}
		for d := yaml.NewDecoder(strings.NewReader(text)); ; {
			var n yaml.Node
			if err := d.Decode(&n); errors.Is(err, io.EOF) {
				return p
			} else if err != nil {
				return &Parsed{Code: "E_PARSE", Template: hasTemplate(text)}
			}
			if root := r.node(n.Content[0]); root.Kind != NullNode {
				p.Documents = append(p.Documents, Document{Root: root, Head: root.At, Lists: true})
			}
		}
	case "json":
		r := &jsonReader{text: text, place: func(offset int) (int, string) { return offset, "" }}
		root, ok := r.value()
		if !ok {
			return &Parsed{Code: "E_PARSE"}
		}
		p.Documents = []Document{{Root: root, Head: root.At, Lists: true}}
	case "hcl":
		f, diags := hclsyntax.ParseConfig([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			return &Parsed{Code: "E_PARSE"}
		}
		p.Documents = []Document{{Root: hclReader(text).body(f.Body.(*hclsyntax.Body), 0)}}
	}
	return p
}

// A yamlReader keeps what it has read, for aliases.
type yamlReader struct {
	text string
	read map[*yaml.Node]*Node
}

func (r yamlReader) node(n *yaml.Node) *Node {
	if n.Kind == yaml.AliasNode {
		return r.read[n.Alias]
	}
	const quotes = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	out := &Node{Tagged: n.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(n.Tag, "!!")}
	for range n.Line - 1 {
		out.At += strings.IndexByte(r.text[out.At:], '\n') + 1
	}
	out.At += n.Column - 1
	r.read[n] = out
	switch n.Kind {
	case yaml.SequenceNode:
		out.Kind = ListNode
		for _, item := range n.Content {
			out.Items = append(out.Items, r.node(item))
		}
	case yaml.MappingNode:
		out.Kind = MappingNode
		var merged []*Node
		for i := 0; i < len(n.Content); i += 2 {
			key, value := n.Content[i], r.node(n.Content[i+1])
			switch {
			case key.Tag == "!!merge" && value.Kind == ListNode:
				merged = append(merged, value.Items...)
			case key.Tag == "!!merge":
				merged = append(merged, value)
			default:
				out.Entries = append(out.Entries, Entry{Key: key.Value, At: r.node(key).At, Value: value})
			}
		}
		out.merge(merged, 0)
	default:
		switch out.Kind = ScalarNode; {
		case out.Tagged:
			out.Scalar = Scalar{Texts: []string{n.Value}, Open: true}
		case n.Style&quotes != 0:
			out.Scalar = textScalar(n.Value)
		case n.Tag == "!!null":
			out.Kind = NullNode
		default:
			out.Scalar = plainScalar(n.Value)
		}
	}
	return out
}

// An hclReader is the text that it reads.
type hclReader string

func (r hclReader) body(b *hclsyntax.Body, at int) *Node {
	n := &Node{Kind: MappingNode, At: at}
	for _, a := range b.Attributes {
		n.Entries = append(n.Entries, Entry{Key: a.Name, At: a.NameRange.Start.Byte, Value: r.expression(a.Expr)})
	}
	for _, block := range b.Blocks {
		at := block.TypeRange.Start.Byte
		e := Entry{Key: block.Type, At: at, Block: true, Dynamic: block.Type == "dynamic"}
		if e.Dynamic {
			each, _ := block.Body.Attributes["for_each"].Expr.(*hclsyntax.TupleConsExpr)
			e.Key, e.Unsure = block.Labels[0], each == nil || len(each.Exprs) == 0
			block.Labels, block.Body = nil, block.Body.Blocks[0].Body
		}
		e.Value = r.body(block.Body, at)
		for _, label := range slices.Backward(block.Labels) {
			e.Value = &Node{Kind: MappingNode, At: at, Label: true, Entries: []Entry{{Key: label, At: at, Value: e.Value}}}
		}
		n.Entries = append(n.Entries, e)
	}
	slices.SortFunc(n.Entries, func(a, b Entry) int { return a.At - b.At })
	return n
}

func (r hclReader) source(e hclsyntax.Expression) string {
	return string(r[e.Range().Start.Byte:e.Range().End.Byte])
}

func (r hclReader) expression(e hclsyntax.Expression) *Node {
	n := &Node{Kind: ScalarNode, At: e.Range().Start.Byte}
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return r.expression(e.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return r.expression(e.Wrapped)
	case *hclsyntax.TupleConsExpr:
		n.Kind = ListNode
		for _, item := range e.Exprs {
			n.Items = append(n.Items, r.expression(item))
		}
		return n
	case *hclsyntax.ObjectConsExpr:
		n.Kind = MappingNode
		for _, item := range e.Items {
			entry := Entry{At: item.KeyExpr.Range().Start.Byte, Value: r.expression(item.ValueExpr)}
			if key, diags := item.KeyExpr.Value(nil); diags.HasErrors() {
				entry.Any, entry.Unsure = true, true
			} else {
				entry.Key = key.AsString()
			}
			n.Entries = append(n.Entries, entry)
		}
		return n
	case *hclsyntax.LiteralValueExpr:
		text := r.source(e)
		switch kind := coreSchema(text).Kind; kind {
		case noKind:
			n.Kind = NullNode
		default:
			n.Scalar = Scalar{Texts: []string{text}, Exact: Value{kind, text}, Asked: text, Binary: true}
		}
		return n
	case *hclsyntax.TemplateExpr:
		var template bytes.Buffer
		variables := false
		for _, part := range e.Parts {
			if value, diags := part.Value(nil); !diags.HasErrors() {
				template.WriteString(value.AsString())
				continue
			}
			if _, directive := part.(*hclsyntax.ConditionalExpr); directive {
				n.Scalar = Scalar{Texts: []string{r.source(e)}, Open: true, Binary: true}
				return n
			}
			variables = true
			template.WriteString(holeStart + "${" + r.source(part) + "}" + holeEnd)
		}
		if n.Scalar = textScalar(template.String()); variables {
			read := strings.NewReplacer(holeStart, "", holeEnd, "").Replace(template.String())
			n.Scalar = Scalar{Texts: []string{read}, Open: true, Template: template.String()}
		}
	case *hclsyntax.FunctionCallExpr:
		n.Scalar = Scalar{Texts: []string{r.source(e)}, Open: true}
		if e.Name == "jsonencode" && len(e.Args) == 1 {
			if inner := r.expression(e.Args[0]); inner.Kind == MappingNode || inner.Kind == ListNode {
				n.Encoded = inner
			}
		}
	default:
		n.Scalar = Scalar{Texts: []string{r.source(e)}, Open: true}
	}
	n.Scalar.Binary = true
	return n
}

// TestRefusals: both programs refuse the same of random expressions, most of which ask for more than a line or nearly do.
func TestRefusals(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 53))
	parts := []string{
		"a", "b", ".", "|", "(", ")", "(?:", "[", "]", "[^", "^", "$", `\n`, `\r`, `\x0a`, `\x{d}`, `\x{a}`, `\12`, `\015`,
		`\1`, "1", `\s`, `\S`, `\w`, `\W`, `\b`, `\A`, `\z`, "(?s)", "(?i)", "(?s:", "(?m)", "(?is)", "(?-s)", "(?s-i:",
		`\Q`, `\E`, `[:alpha:]`, "[:space:]", `[^\n]`, `[\s\S]`, "*", "+", "?", `\\`, `\x{FEFF}`, "-", `\t`, "(?P<s>", `\pL`,
	}
	accepted := map[bool]int{} // of a file's lines, of a value
	for range 20_000 {
		var b strings.Builder
		if r.IntN(4) == 0 {
			b.WriteString("(?s)")
		}
		for range 1 + r.IntN(6) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		for _, ofFile := range []bool{true, false} {
			_, want := compile(b.String(), ofFile)
			_, got := regex.Compile(b.String())
			if !ofFile {
				_, got = regex.CompileValue(b.String())
				if isWhole(b.String()) {
					_, want = compileWhole(b.String())
				}
			}
			if (want == nil) != (got == nil) {
				t.Errorf("%#q, of a file: %v: %v, naively %v", b.String(), ofFile, got, want)
			}
			if want == nil {
				accepted[ofFile]++
			}
		}
	}
	if accepted[true] < 1000 || accepted[false] < 1500 {
		t.Errorf("accepted %v: too few to say anything", accepted)
	}
}

// TestBadItems: both programs refuse each item that a 0.2 file cannot have, in a list that forbids and in one that
// requires, and name the same line.
func TestBadItems(t *testing.T) {
	dir := t.TempDir()
	plain := ruleText{version: "0.2", rules: []ruleYAML{plainRule("PLAIN", "boundary")}}
	for _, item := range badItems() {
		for _, list := range []string{"required_absent", "required_patterns"} {
			r := ruleWith("BAD", "invariant", "q", item)
			r.lists[1].key = list
			text := ruleText{version: "0.2", rules: []ruleYAML{r}}.yaml()
			_, mistakes := loadFile("invariants.yml", text)
			err := WriteTree(dir, []File{
				{"rules/boundaries.yml", plain.yaml(), Regular}, {"rules/invariants.yml", text, Regular},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = rules.LoadDir(dir)
			switch {
			case len(mistakes) == 0:
				t.Errorf("naively %s is accepted in %s", item, list)
			case err == nil:
				t.Errorf("%s is accepted in %s; naively %+v", item, list, mistakes)
			case mistakes[0].Line > 0 && !strings.Contains(err.Error(), fmt.Sprintf("invariants.yml:%d:", mistakes[0].Line)):
				t.Errorf("%s in %s: %v; naively %+v", item, list, err, mistakes)
			}
		}
	}
}
