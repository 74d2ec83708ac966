package formats

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// written returns the source of an expression without what the specification ignores: parentheses and a lone "${…}"
// around it, the quotes of a template, the markers of a heredoc, and comments. With comments it returns two texts:
// without them, and also without the spaces before them.
func (h *hclReader) written(expr hclsyntax.Expression) []string {
	expr = bare(expr)
	text := expr.Range().SliceBytes(h.text)
	_, template := expr.(*hclsyntax.TemplateExpr)
	heredoc := template && bytes.HasPrefix(text, []byte("<<"))
	literal := template && !bytes.Contains(text, []byte("${")) && !bytes.Contains(text, []byte("%{"))
	if literal || !bytes.ContainsAny(text, "#/") {
		return []string{unmarked(text, template, heredoc)}
	}
	source := text
	if heredoc {
		source = append(bytes.Clone(text), '\n') // its marker does not end it otherwise
	}
	tokens, _ := hclsyntax.LexExpression(source, "", hcl.Pos{Line: 1, Column: 1})
	var exact, tight []byte
	last := 0
	for _, t := range tokens {
		if t.Type != hclsyntax.TokenComment {
			continue
		}
		exact = append(exact, text[last:t.Range.Start.Byte]...)
		tight = append(tight, bytes.TrimRight(text[last:t.Range.Start.Byte], " \t")...)
		last = t.Range.End.Byte
		if bytes.HasSuffix(t.Bytes, []byte("\n")) {
			last--
		}
	}
	if last == 0 {
		return []string{unmarked(text, template, heredoc)}
	}
	exact, tight = append(exact, text[last:]...), append(tight, text[last:]...)
	all := []string{unmarked(exact, template, heredoc), unmarked(tight, template, heredoc)}
	if all[0] == all[1] {
		all = all[:1]
	}
	return all
}

// reference returns a reference of names without spaces around its dots, or "" if expr is not a reference.
func reference(expr hclsyntax.Expression) string {
	e, ok := expr.(*hclsyntax.ScopeTraversalExpr)
	if !ok {
		return ""
	}
	names := []string{e.Traversal.RootName()}
	for _, step := range e.Traversal[1:] {
		attribute, ok := step.(hcl.TraverseAttr)
		if !ok {
			return ""
		}
		names = append(names, attribute.Name)
	}
	return strings.Join(names, ".")
}

// isLiteral reports whether an expression is a quoted string or heredoc without templates: its escapes are always
// resolved.
func isLiteral(expr hclsyntax.Expression) bool {
	e, ok := bare(expr).(*hclsyntax.TemplateExpr)
	return ok && !slices.ContainsFunc(e.Parts, func(part hclsyntax.Expression) bool {
		literal, ok := part.(*hclsyntax.LiteralValueExpr)
		return !ok || literal.Val.Type() != cty.String
	})
}

// template returns the text of a template, or "" if expr is not one. Known parts are read, without escapes and a
// heredoc's indentation; unknown parts stay as in the source. between separates the two characters of a "${" or "%{" in
// a known part.
func (h *hclReader) template(expr hclsyntax.Expression, between string) string {
	e, ok := expr.(*hclsyntax.TemplateExpr)
	if !ok {
		return ""
	}
	var text strings.Builder
	for _, part := range e.Parts {
		value, known := h.constant(part)
		if value.kind == hclNumber {
			value.text, known = plainNumber(value.text)
		}
		source := string(part.Range().SliceBytes(h.text))
		switch {
		case known && value.kind != hclNull:
			text.WriteString(strings.NewReplacer("${", "$"+between+"{", "%{", "%"+between+"{").Replace(value.text))
		case strings.HasPrefix(source, "%{"): // an if or for
			text.WriteString(source)
		default:
			text.WriteString("${" + h.written(part)[0] + "}")
		}
	}
	return text.String()
}

func unmarked(text []byte, template, heredoc bool) string {
	switch {
	case heredoc:
		first, last := bytes.IndexByte(text, '\n'), bytes.LastIndexByte(text, '\n')
		return string(text[first+1 : last+1])
	case template:
		return string(text[1 : len(text)-1])
	}
	return strings.TrimSpace(string(text))
}
