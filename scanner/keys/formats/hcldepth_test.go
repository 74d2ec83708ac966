package formats

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// hclDepth is the depth of hclsyntax's tree for a text, by the nodes for which its parser recurses.
type hclDepth struct {
	text           []byte
	depth, deepest int
}

func (d *hclDepth) isLevel(n hclsyntax.Node) bool {
	switch n := n.(type) {
	case *hclsyntax.Block, *hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr, *hclsyntax.ParenthesesExpr,
		*hclsyntax.FunctionCallExpr,
		*hclsyntax.UnaryOpExpr, *hclsyntax.ConditionalExpr, *hclsyntax.ForExpr, *hclsyntax.TemplateWrapExpr:
		return true
	case *hclsyntax.TemplateExpr:
		return strings.HasPrefix(string(n.SrcRange.SliceBytes(d.text)), `"`) && !n.IsStringLiteral() && !isLiteral(n)
	}
	return false
}

func (d *hclDepth) Enter(n hclsyntax.Node) hcl.Diagnostics {
	if d.isLevel(n) {
		d.depth++
		d.deepest = max(d.deepest, d.depth)
	}
	return nil
}

func (d *hclDepth) Exit(n hclsyntax.Node) hcl.Diagnostics {
	if d.isLevel(n) {
		d.depth--
	}
	return nil
}

// isOver reports whether more levels are counted in a text.
func isOver(text []byte, levels int) bool {
	bounds := Limits()
	bounds.Levels = levels
	var limit *LimitError
	return errors.As(checkHCL(&meter{text: text, bounds: bounds}), &limit)
}

// randomHCL is an expression of HCL.
func randomHCL(random *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"a", "1", `"x"`, "a.b", `"$${"`, "-1", "!a", "a[*]", "a.b.c", `"\""`, "/* } */ a", "p::f(1)",
			"a // {\n"}[random.IntN(12)]
	}
	x := randomHCL(random, random.IntN(depth))
	y := randomHCL(random, depth-1)
	return strings.NewReplacer("X", x, "Y", y).Replace([]string{
		"[X, Y]", "{ a = X, b = Y }", "(Y)", "f(X, Y)", "-Y", "!Y", "X ? Y : X", "X - Y", "a[Y]", "[for v in X : Y]",
		`"${Y}"`, `"a${Y}~}"`, `"%{ if X }b%{ endif }${Y}"`,
		`"%{if X~}%{for v in X}${Y}%{endfor}%{~endif}"`, "Y[*][*]", "{\n a = X # [\n b = Y\n}", "[\n# {\nX,\n\nY,\n]",
		"{for k, v in X : k => Y}",
	}[random.IntN(18)])
}

// TestHCLLevels: of the levels that the parser goes down at least half are counted (a minus behind a word such as "in"
// is not), and in a text of a few not many more.
func TestHCLLevels(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	deep, parsed, rounds := 0, 0, 800
	if *long {
		rounds *= 5
	}
	for range rounds {
		blocks := random.IntN(4)
		text := []byte(nested("b {\n", "a = "+randomHCL(random, random.IntN(12))+"\n", "}\n", blocks))
		file, problems := hclsyntax.ParseConfig(text, "", hcl.InitialPos)
		if problems.HasErrors() {
			continue
		}
		parsed++
		d := &hclDepth{text: text}
		if err := hclsyntax.Walk(file.Body.(*hclsyntax.Body), d); err != nil {
			t.Fatal(err)
		}
		if !isOver(text, (d.deepest-1)/2) && d.deepest > 0 || isOver(text, 4*d.deepest+4) {
			t.Fatalf("%q: fewer than half of the %d levels in its tree, or more than four times as many", text,
				d.deepest)
		}
		if d.deepest > 10 {
			deep++
		}
	}
	if parsed < rounds/4 || deep < rounds/20 {
		t.Errorf("only %d texts are HCL, and %d of these deep", parsed, deep)
	}
}

func hclWords() []string {
	return []string{
		"a", "b", " ", "\n", "\r\n", "=", "1", "{", "}", "[", "]", "(", ")", "\"", "${", "${~", "%{", "%{~", "$${",
		"%%{", "$", "%", "?", ":", "!", "!=", "-",
		",", ".", "*", "[*]", "if ", "for ", "endif", "endfor", "<<E\n", "<<-E\n", "\nE\n", "\n  E\r\n", "E", "<<", "@",
		"'", "~}", "/* } */", "# {\n", "//[\n",
		"é", "\\", "\\\"", "\t", "\"x\"", "e-", "0x1", "b {\n", "}\n", "'", "`", "|", "&&", "::", "...", "=>", "~",
		"\xff", "\u2028",
	}
}
