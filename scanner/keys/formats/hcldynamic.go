package formats

import "github.com/hashicorp/hcl/v2/hclsyntax"

// bringsBlocks reports whether a dynamic block certainly produces a block: its for_each is a literal list or set with
// an item.
func bringsBlocks(dynamic *hclsyntax.Body) bool {
	argument := dynamic.Attributes["for_each"]
	if argument == nil {
		return false
	}
	expr := bare(argument.Expr)
	if call, ok := expr.(*hclsyntax.FunctionCallExpr); ok && call.Name == "toset" && len(call.Args) == 1 &&
		!call.ExpandFinal {
		expr = bare(call.Args[0])
	}
	list, ok := expr.(*hclsyntax.TupleConsExpr)
	return ok && len(list.Exprs) > 0
}

// dynamicLabels returns the labels that a dynamic block gives its blocks. A label that is not a literal is unknown.
func (h *hclReader) dynamicLabels(body *hclsyntax.Body) []string {
	argument := body.Attributes["labels"]
	if argument == nil {
		return nil
	}
	tuple, ok := bare(argument.Expr).(*hclsyntax.TupleConsExpr)
	if !ok {
		return []string{h.written(argument.Expr)[0]}
	}
	labels := []string{}
	for _, expr := range tuple.Exprs {
		label, known := h.constant(expr)
		if !known {
			label.text = h.written(expr)[0]
		}
		labels = append(labels, label.text)
	}
	return labels
}
