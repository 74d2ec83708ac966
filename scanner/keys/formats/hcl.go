package formats

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/policyscan/policyscan/scanner/keys"
)

func readHCL(m *meter) ([]keys.Document, error) {
	if err := checkHCL(m); err != nil {
		return nil, err
	}
	h := &hclReader{meter: m}
	file, problems := hclsyntax.ParseConfig(m.text, "", hcl.InitialPos)
	if err := h.failed(problems); err != nil {
		return nil, err
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return nil, m.bad(0, "not HCL: %T", file.Body)
	}
	entries, err := h.entries(body, 0)
	if err != nil {
		return nil, err
	}
	root := &keys.Node{Kind: keys.Mapping, Body: true, Entries: entries}
	if len(entries) == 0 {
		return []keys.Document{{Root: root}}, nil
	}
	first, last := entries[0], entries[len(entries)-1]
	root.At = keys.Span{Start: first.At.Start, End: h.end(last)}
	return []keys.Document{{Root: root, Head: m.head(first.At.Start)}}, nil
}

func (h *hclReader) end(e keys.Entry) int {
	for e.Value.Header {
		e = e.Value.Entries[0]
	}
	return e.Value.At.End
}

type hclReader struct {
	*meter
	dynamic, unsure bool // in a dynamic block, in one that may not exist
}

func place(r hcl.Range) keys.Span { return keys.Span{Start: r.Start.Byte, End: r.End.Byte} }

func (h *hclReader) failed(problems hcl.Diagnostics) error {
	for _, p := range problems {
		if p.Severity != hcl.DiagError {
			continue
		}
		offset := 0
		if p.Subject != nil {
			offset = p.Subject.Start.Byte
		}
		if p.Summary == "Attribute redefined" {
			return h.bad(offset, "not HCL: the argument %q is there twice", p.Subject.SliceBytes(h.text))
		}
		if p.Summary == "Invalid argument name" || !strings.Contains(p.Summary, "expression") && h.isComma(offset) {
			h.disputed(offset, "this is HCL 1, as Nomad and Consul read it; "+
				"drop the quotes or the comma, or write the block as an object, NAME = {…}")
			return h.dispute
		}
		detail, _, _ := strings.Cut(p.Detail, "\n")
		return h.bad(offset, "not HCL: %s: %s", p.Summary, detail)
	}
	return nil
}

func (h *hclReader) isComma(i int) bool { return i < len(h.text) && h.text[i] == ',' }

// entries returns the arguments and blocks of a body at a level, in the order of the text.
func (h *hclReader) entries(body *hclsyntax.Body, level int) ([]keys.Entry, error) {
	all := make([]keys.Entry, 0, len(body.Attributes)+len(body.Blocks))
	for name, argument := range body.Attributes {
		value, err := h.value(argument.Expr)
		if err != nil {
			return nil, err
		}
		all = append(all, keys.Entry{Name: name, Named: true, At: place(argument.NameRange), Value: value})
	}
	for _, block := range body.Blocks {
		entries, err := h.block(block, level)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, func(a, b keys.Entry) int { return cmp.Compare(a.At.Start, b.At.Start) })
	return all, nil
}

// block returns the entry of a block in a body at a level. A dynamic block is replaced by its content.
func (h *hclReader) block(block *hclsyntax.Block, level int) ([]keys.Entry, error) {
	header := place(block.TypeRange)
	if n := len(block.LabelRanges); n > 0 {
		header.End = block.LabelRanges[n-1].End.Byte
	}
	whole := keys.Span{Start: header.Start, End: block.CloseBraceRange.End.Byte}
	if block.Type != "dynamic" || len(block.Labels) != 1 {
		entry, err := h.labelled(block.Type, block.Labels, header, whole, block.Body, level)
		return []keys.Entry{entry}, err
	}
	labels, unsure := h.dynamicLabels(block.Body), !bringsBlocks(block.Body)
	in := &hclReader{h.meter, true, h.unsure || unsure}
	var contents []*hclsyntax.Body
	for _, inner := range block.Body.Blocks {
		if inner.Type == "content" {
			contents = append(contents, inner.Body)
		}
	}
	if contents == nil { // Terraform refuses it; a block without content is the strictest reading
		contents = []*hclsyntax.Body{{}}
	}
	var all []keys.Entry
	for _, content := range contents {
		entry, err := in.labelled(block.Labels[0], labels, header, whole, content, level)
		if err != nil {
			return nil, err
		}
		entry.Unsure = unsure
		all = append(all, entry)
	}
	return all, nil
}

// labelled returns the entry of a block with labels, each of which is a level.
func (h *hclReader) labelled(
	name string, labels []string, header, whole keys.Span, body *hclsyntax.Body, level int,
) (keys.Entry, error) {
	level += 1 + len(labels)
	if err := h.deeper(level, header.Start); err != nil {
		return keys.Entry{}, err
	}
	if err := h.add(1 + len(labels)); err != nil {
		return keys.Entry{}, err
	}
	entries, err := h.entries(body, level)
	node := &keys.Node{Kind: keys.Mapping, Body: true, At: whole, Entries: entries}
	node.Dynamic, node.Unsure = h.dynamic, h.unsure
	return keys.Block(name, labels, header, node), err
}

// bare strips parentheses and a lone "${…}".
func bare(expr hclsyntax.Expression) hclsyntax.Expression {
	for {
		switch e := expr.(type) {
		case *hclsyntax.ParenthesesExpr:
			expr = e.Expression
		case *hclsyntax.TemplateWrapExpr:
			expr = e.Wrapped
		default:
			return expr
		}
	}
}

func (h *hclReader) value(expr hclsyntax.Expression) (*keys.Node, error) {
	if err := h.add(1); err != nil {
		return nil, err
	}
	node := &keys.Node{At: place(expr.Range()), Dynamic: h.dynamic, Unsure: h.unsure}
	switch e := bare(expr).(type) {
	case *hclsyntax.TupleConsExpr:
		node.Kind = keys.List
		for _, x := range e.Exprs {
			item, err := h.value(x)
			if err != nil {
				return nil, err
			}
			node.Items = append(node.Items, item)
		}
	case *hclsyntax.ObjectConsExpr:
		node.Kind = keys.Mapping
		for _, item := range e.Items {
			value, err := h.value(item.ValueExpr)
			if err != nil {
				return nil, err
			}
			entry := keys.Entry{At: place(item.KeyExpr.Range()), Value: value}
			entry.Name, entry.Named = h.key(item.KeyExpr)
			entry.Unsure = !entry.Named
			node.Entries = append(node.Entries, entry)
			if name, ok := h.numberKey(item.KeyExpr); ok && name != entry.Name {
				entry.Name, entry.Hidden, value.Shared = name, true, true
				node.Entries = append(node.Entries, entry)
			}
		}
	default:
		node.Kind, node.Scalar = h.scalar(e)
		if text := h.template(e, apart); node.Scalar.Variable && text != "" {
			if h.templates == nil {
				h.templates = map[*keys.Node]string{}
			}
			h.templates[node] = text
		}
		if argument := encoded(e); argument != nil {
			inside, err := h.value(argument)
			node.Inside = inside
			return node, err
		}
	}
	return node, nil
}

// encoded returns the object or list that jsonencode is given, perhaps amid white space; nil of any other expression.
func encoded(expr hclsyntax.Expression) hclsyntax.Expression {
	if template, ok := expr.(*hclsyntax.TemplateExpr); ok {
		isSpace := func(part hclsyntax.Expression) bool {
			text, ok := part.(*hclsyntax.LiteralValueExpr)
			return ok && text.Val.Type() == cty.String && strings.Trim(text.Val.AsString(), " \t\r\n") == ""
		}
		if parts := slices.DeleteFunc(slices.Clone(template.Parts), isSpace); len(parts) == 1 {
			expr = bare(parts[0])
		}
	}
	call, ok := expr.(*hclsyntax.FunctionCallExpr)
	if !ok || strings.TrimPrefix(call.Name, "core::") != "jsonencode" || len(call.Args) != 1 || call.ExpandFinal {
		return nil
	}
	switch bare(call.Args[0]).(type) {
	case *hclsyntax.ObjectConsExpr, *hclsyntax.TupleConsExpr:
		return call.Args[0]
	}
	return nil
}

func (h *hclReader) key(expr hclsyntax.Expression) (string, bool) {
	if k, ok := expr.(*hclsyntax.ObjectConsKeyExpr); ok {
		expr = k.Wrapped
		if word := hcl.ExprAsKeyword(k.Wrapped); word != "" && !k.ForceNonLiteral {
			return cty.NormalizeString(word), true
		}
	}
	value, known := h.constant(expr)
	return value.text, known && value.kind != hclNull
}

// numberKey returns HCL's text of a number used as a key: {1.0 = x} has the key 1.
func (h *hclReader) numberKey(expr hclsyntax.Expression) (string, bool) {
	if k, ok := expr.(*hclsyntax.ObjectConsKeyExpr); ok {
		expr = k.Wrapped
	}
	value, known := h.constant(expr)
	if !known || value.kind != hclNumber {
		return "", false
	}
	return plainNumber(value.text)
}

func (h *hclReader) scalar(expr hclsyntax.Expression) (keys.Kind, keys.Scalar) {
	value, certain := h.constant(expr)
	written := h.written(expr)
	switch {
	case !certain:
		for _, text := range []string{reference(bare(expr)), h.template(bare(expr), "")} {
			if text != "" && !slices.Contains(written, text) {
				written = append(written, text)
			}
		}
		return keys.ScalarNode, keys.Scalar{Texts: written, Variable: true}
	case value.kind == hclNull:
		return keys.Null, keys.Scalar{Texts: written}
	}
	types := [...]keys.ExactType{hclText: keys.ExactText, hclNumber: keys.ExactNumber, hclBool: keys.ExactBool}
	exact := keys.Exact{Type: types[value.kind], Text: value.text}
	texts := []string{value.text}
	for _, text := range written {
		if !slices.Contains(texts, text) && !isLiteral(expr) {
			texts = append(texts, text)
		}
	}
	return keys.ScalarNode, keys.Scalar{Texts: texts, Certain: true, Exact: exact, OneIsTrue: true}
}

// An hclValue is the value of an expression without variables and functions.
type hclValue struct {
	kind hclKind
	text string
}

type hclKind uint8

const (
	hclText hclKind = iota
	hclNumber
	hclBool
	hclNull
)

// constant returns the value of a literal, of a template of literals, and of these under !, - and parentheses.
func (h *hclReader) constant(expr hclsyntax.Expression) (hclValue, bool) {
	switch e := bare(expr).(type) {
	case *hclsyntax.LiteralValueExpr:
		switch {
		case e.Val.IsNull():
			return hclValue{kind: hclNull}, true
		case e.Val.Type() == cty.Bool:
			return hclValue{hclBool, strconv.FormatBool(e.Val.True())}, true
		case e.Val.Type() == cty.Number:
			return hclValue{hclNumber, string(e.SrcRange.SliceBytes(h.text))}, true
		case e.Val.Type() == cty.String:
			return hclValue{hclText, e.Val.AsString()}, true
		}
	case *hclsyntax.TemplateExpr:
		var text strings.Builder
		for _, part := range e.Parts {
			value, known := h.constant(part)
			if value.kind == hclNumber {
				value.text, known = plainNumber(value.text)
			}
			if !known || value.kind == hclNull {
				return hclValue{}, false
			}
			text.WriteString(value.text)
		}
		return hclValue{hclText, cty.NormalizeString(text.String())}, true
	case *hclsyntax.UnaryOpExpr:
		value, known := h.constant(e.Val)
		switch {
		case !known || value.kind == hclNull:
		case e.Op == hclsyntax.OpNegate && (value.kind == hclNumber || value.kind == hclText && isFloat(value.text)):
			return hclValue{hclNumber, negated(value.text)}, true
		case e.Op == hclsyntax.OpLogicalNot && value.kind != hclNumber:
			switch value.text {
			case "true", "1":
				return hclValue{hclBool, "false"}, true
			case "false", "0":
				return hclValue{hclBool, "true"}, true
			}
		}
	}
	return hclValue{}, false
}

func negated(number string) string {
	if positive, ok := strings.CutPrefix(number, "-"); ok {
		return positive
	}
	return "-" + strings.TrimPrefix(number, "+")
}

// plainNumber writes a number as HCL does in a template. Very long numbers have no known text.
func plainNumber(number string) (string, bool) {
	value, err := cty.ParseNumberVal(number)
	if err != nil {
		return "", false
	}
	float := value.AsBigFloat()
	if exponent := float.MantExp(nil); float.IsInf() || exponent > 4096 || exponent < -4096 {
		return "", false
	}
	return float.Text('f', -1), true
}
