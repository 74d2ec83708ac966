package formats

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/policyscan/policyscan/scanner/keys"
)

// levelsByTokens counts the levels of HCL as scanHCL does, on the tokens of hclsyntax's own scanner.
func levelsByTokens(text []byte) int {
	tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos)
	type frame struct {
		opens               hclsyntax.TokenType
		level, unary, chain int
		ifs                 []string
	}
	stack := []*frame{{}}
	deepest, operand := 0, false
	top := func() *frame { return stack[len(stack)-1] }
	level := func() int {
		f := top()
		return f.level + f.unary + f.chain + len(f.ifs)
	}
	reach := func() { deepest = max(deepest, level()) }
	closes := map[hclsyntax.TokenType]hclsyntax.TokenType{
		hclsyntax.TokenCBrace: hclsyntax.TokenOBrace, hclsyntax.TokenCBrack: hclsyntax.TokenOBrack, hclsyntax.TokenCParen: hclsyntax.TokenOParen,
	}
	for i, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			stack = append(stack, &frame{opens: t.Type, level: level()})
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			stack = stack[:len(stack)-1]
			top().unary, operand = 0, true
		case hclsyntax.TokenTemplateControl:
			f := top()
			next := tokens[i+1]
			for j := i + 1; next.Type == hclsyntax.TokenNewline || next.Type == hclsyntax.TokenComment; j++ {
				next = tokens[j]
			}
			if next.Type == hclsyntax.TokenIdent {
				last := ""
				if len(f.ifs) > 0 {
					last = f.ifs[len(f.ifs)-1]
				}
				switch word := string(next.Bytes); {
				case word == "if", word == "for":
					f.ifs = append(f.ifs, word)
				case word == "end"+last && last != "":
					f.ifs = f.ifs[:len(f.ifs)-1]
				}
			}
			fallthrough
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
			if t.Type == hclsyntax.TokenTemplateControl {
				t.Type = hclsyntax.TokenTemplateInterp
			}
			stack = append(stack, &frame{opens: t.Type, level: level() + 1})
			reach()
			operand = false
		case hclsyntax.TokenTemplateSeqEnd:
			open := false
			for _, f := range stack {
				open = open || f.opens == hclsyntax.TokenTemplateInterp
			}
			texts := 0
			for _, f := range stack {
				if f.opens == hclsyntax.TokenTemplateInterp {
					texts++
				}
			}
			if string(t.Bytes) == "~}" && !seqEnds(tokens[:i+1]) {
				top().unary, operand = 0, true
				continue
			}
			for open && top().opens != hclsyntax.TokenTemplateInterp {
				stack = stack[:len(stack)-1]
			}
			stack = stack[:len(stack)-1]
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen:
			if top().opens == closes[t.Type] {
				stack = stack[:len(stack)-1]
			}
			top().unary, operand = 0, true
		case hclsyntax.TokenBang:
			top().unary++
			operand = false
			reach()
		case hclsyntax.TokenMinus:
			if !operand {
				top().unary++
				reach()
			}
			operand = false
		case hclsyntax.TokenQuestion:
			top().chain++
			top().unary, operand = 0, false
			reach()
		case hclsyntax.TokenStar:
			if top().opens == hclsyntax.TokenOBrack && !operand {
				stack[len(stack)-2].chain++
				stack[len(stack)-2].unary = 0
				reach()
			}
			operand = false
		case hclsyntax.TokenComma:
			top().chain, top().unary, operand = 0, 0, false
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			if strings.HasSuffix(string(t.Bytes), "\n") && (top().opens == 0 || top().opens == hclsyntax.TokenOBrace) {
				top().chain, top().unary, operand = 0, 0, false
			}
		case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit:
			top().unary, operand = 0, true
		case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenQuotedNewline:
		default:
			operand = false
		}
	}
	return deepest
}

// seqEnds reports whether the last of the tokens, a "~}", ends an expression in a text: whether the braces since then
// are closed.
func seqEnds(tokens hclsyntax.Tokens) bool {
	depth := 1
	for i := len(tokens) - 2; i >= 0; i-- {
		switch tokens[i].Type {
		case hclsyntax.TokenCBrace:
			depth++
		case hclsyntax.TokenTemplateSeqEnd:
			depth++
		case hclsyntax.TokenOBrace:
			depth--
			if depth == 0 {
				return false
			}
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth--
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

func scanLevels(text []byte) int {
	for levels := 0; ; levels++ {
		bounds := Limits()
		bounds.Levels = levels
		_, err := scanHCL(&meter{text: text, bounds: bounds})
		var limit *LimitError
		if !errors.As(err, &limit) {
			return levels
		}
	}
}

func hclWords() []string {
	return []string{
		"a", "b", " ", "\n", "\r\n", "=", "1", "{", "}", "[", "]", "(", ")", "\"", "${", "${~", "%{", "%{~", "$${", "%%{", "$", "%", "?", ":", "!", "!=", "-",
		",", ".", "*", "[*]", "if ", "for ", "endif", "endfor", "<<E\n", "<<-E\n", "\nE\n", "\n  E\r\n", "E", "<<", "@", "'", "~}", "/* } */", "# {\n", "//[\n",
		"é", "\\", "\\\"", "\t", "\"x\"", "e-", "0x1", "b {\n", "}\n", "'", "`", "|", "&&", "::", "...", "=>", "~", "\xff", "\u2028",
	}
}

func TestHCLLevelsAreThoseOfItsTokens(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := hclWords()
	deep := 0
	for range 200_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(words[random.IntN(len(words))])
		}
		text := []byte(b.String())
		want := levelsByTokens(text)
		if got := scanLevels(text); got != want {
			t.Fatalf("%q: %d levels, by its tokens %d", text, got, want)
		}
		if want > 3 {
			deep++
		}
	}
	if deep < 1000 {
		t.Errorf("only %d texts have more than three levels", deep)
	}
}

// hclOracle evaluates each argument of the top level with hclsyntax and cty, without variables and functions. What is
// certain has the value that they say.
func hclOracle(t *testing.T, text []byte, root *keys.Node) {
	t.Helper()
	file, problems := hclsyntax.ParseConfig(text, "", hcl.InitialPos)
	if problems.HasErrors() {
		t.Fatalf("HCL: %q: %v", text, problems)
	}
	for _, e := range root.Entries {
		argument := file.Body.(*hclsyntax.Body).Attributes[e.Name]
		if argument == nil || argument.NameRange.Start.Byte != e.At.Start {
			continue
		}
		between := strings.TrimSpace(string(text[argument.EqualsRange.End.Byte:e.Value.At.Start]))
		if e.Value.At.End != argument.SrcRange.End.Byte || between != "" && !strings.HasPrefix(between, "/*") {
			t.Errorf("HCL: %q: the value of %s is %q", text, e.Name, text[e.Value.At.Start:e.Value.At.End])
		}
		value, problems := argument.Expr.Value(nil)
		sameHCL(t, text, e.Value, value, problems.HasErrors())
	}
}

func sameHCL(t *testing.T, text []byte, n *keys.Node, want cty.Value, failed bool) {
	t.Helper()
	switch {
	case n.Kind == keys.Null:
		if failed || !want.IsNull() {
			t.Errorf("HCL: %q: null, by cty %#v", text, want)
		}
	case n.Kind == keys.List && !failed:
		for i, item := range n.Items {
			sameHCL(t, text, item, want.Index(cty.NumberIntVal(int64(i))), false)
		}
	case n.Kind == keys.Mapping && !failed:
		last := map[string]*keys.Node{}
		for _, e := range n.Entries {
			last[e.Name] = e.Value
		}
		for name, value := range last {
			if want.Type().HasAttribute(name) { // a key such as 1.0 is "1" for cty
				sameHCL(t, text, value, want.GetAttr(name), false)
			}
		}
	case n.Kind == keys.ScalarNode && n.Scalar.Certain:
		exact := n.Scalar.Exact
		var got cty.Value
		switch exact.Type {
		case keys.ExactText:
			got = cty.StringVal(exact.Text)
		case keys.ExactBool:
			got = cty.BoolVal(exact.Text == "true")
		case keys.ExactNumber:
			got = cty.MustParseNumberVal(exact.Text)
		}
		if failed || want.IsNull() || !got.RawEquals(want) {
			t.Errorf("HCL: %q: %+v, by cty %#v", text, n.Scalar, want)
		}
	}
}
