package formats

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// hclsyntax's parser recurses for each bracket, block, template, template directive, unary operator, condition and
// splat, and a Go program does not survive a stack overflow. Its lexer does not recurse, so levels are counted on the
// lexer's tokens before the text is parsed.

const (
	// hclBytes is the most bytes of a text: each may be a token, and takes half a kilobyte then.
	hclBytes = 2 << 20
	// hclBraces is the most opening braces of a text. After an error the parser may miss every closing brace, so that
	// each block is inside the one before, and each level copies the errors inside it: a few seconds.
	hclBraces = 30_000
	// hclDigits is the most digits of a number: converting it takes quadratic time.
	hclDigits = 4096
	// hclSkipped is how often line ends and comments may be skipped: once for each operator before the operand.
	hclSkipped = 100_000_000
	// hclNames is the most names joined by "::". The parser copies all of them for each. Terraform joins three.
	hclNames = 100
	// hclCopied is the most bytes copied to join the lines of templates. The parser copies all of them for each.
	hclCopied = 8 << 30
)

type hclFrame struct {
	opener   hclsyntax.TokenType
	level    int      // inside it
	unary    int      // operators before the next operand
	behind   int      // the most operators before an operand so far
	chain    int      // conditions and splats so far
	ifs      []string // of a template: "if" and "for" of its open directives
	literals int      // of a template: its tokens of text
	braces   int      // of an interpolation: how many braces were open before it
	start    int      // offset
}

// An hclCounter counts the levels of a text, and other costs.
type hclCounter struct {
	*meter
	frames  []*hclFrame
	operand bool // whether the last token ends an operand, so that a minus is not unary
	open    int  // braces, as the lexer counts them
	braces  int
	names   int
	skipped int
	copied  int
}

// checkHCL bounds what parsing a text costs.
func checkHCL(m *meter) error {
	if len(m.text) > hclBytes {
		return m.limit(0, "the file has more than %d bytes, the most for HCL", hclBytes)
	}
	// Without the end of a comment after the text, the lexer would search for one from each "/*".
	tokens, _ := hclsyntax.LexConfig(slices.Concat(m.text, []byte("\n*/")), "", hcl.InitialPos)
	c := &hclCounter{meter: m, frames: []*hclFrame{{}}}
	for i, t := range tokens {
		at := t.Range.Start.Byte
		switch {
		case at >= len(m.text):
			return nil
		case t.Range.End.Byte > len(m.text) && bytes.HasPrefix(t.Bytes, []byte("/*")):
			return m.bad(at, "not HCL: a comment without its end")
		case t.Type == hclsyntax.TokenTemplateControl:
			c.countDirective(tokens[i+1:])
		}
		if err := c.count(t, at); err != nil {
			return err
		}
		if err := c.deeper(c.level(), at); err != nil {
			return err
		}
	}
	return nil
}

func (c *hclCounter) top() *hclFrame { return c.frames[len(c.frames)-1] }

func (c *hclCounter) level() int {
	f := c.top()
	return f.level + f.unary + f.chain + len(f.ifs)
}

func (c *hclCounter) push(opener hclsyntax.TokenType, level, at int) {
	c.frames = append(c.frames, &hclFrame{opener: opener, level: level, braces: c.open, start: at})
	c.operand = false
}

// pop closes the innermost frame with this opener, and the frames in it.
func (c *hclCounter) pop(opener hclsyntax.TokenType) {
	for i, f := range slices.Backward(c.frames) {
		if f.opener == opener {
			c.frames = c.frames[:i]
			return
		}
	}
}

// close closes the innermost frame if it has this opener: the parser closes no other.
func (c *hclCounter) close(opener hclsyntax.TokenType) {
	if c.top().opener == opener {
		c.frames = c.frames[:len(c.frames)-1]
	}
	c.endOperand()
}

func (c *hclCounter) endOperand() {
	f := c.top()
	f.behind, f.unary = max(f.behind, f.unary), 0
	c.operand = true
}

func (c *hclCounter) count(t hclsyntax.Token, at int) error {
	f := c.top()
	switch t.Type {
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		c.push(t.Type, c.level(), at)
	case hclsyntax.TokenCQuote:
		c.pop(hclsyntax.TokenOQuote)
		c.endOperand()
	case hclsyntax.TokenCHeredoc:
		c.pop(hclsyntax.TokenOHeredoc)
		c.endOperand()
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		f.literals++
		if c.copied += 16*f.literals + at - f.start; c.copied > hclCopied {
			return c.limit(f.start, "the file has texts of too many lines: this one has %d", f.literals)
		}
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		c.push(hclsyntax.TokenTemplateInterp, c.level()+1, at)
	case hclsyntax.TokenTemplateSeqEnd:
		c.endSequence()
	case hclsyntax.TokenOBrace:
		c.open++
		if c.braces++; c.braces > hclBraces {
			return c.limit(at, "the file has more than %d blocks and objects", hclBraces)
		}
		c.push(t.Type, c.level()+1, at)
	case hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
		c.push(t.Type, c.level()+1, at)
	case hclsyntax.TokenCBrace:
		c.open--
		c.close(hclsyntax.TokenOBrace)
	case hclsyntax.TokenCBrack:
		c.close(hclsyntax.TokenOBrack)
	case hclsyntax.TokenCParen:
		c.close(hclsyntax.TokenOParen)
	case hclsyntax.TokenBang:
		f.unary++
		c.operand = false
	case hclsyntax.TokenMinus:
		if !c.operand {
			f.unary++
		}
		c.operand = false
	case hclsyntax.TokenQuestion:
		f.chain++
		f.unary, c.operand = 0, false
	case hclsyntax.TokenStar:
		if f.opener == hclsyntax.TokenOBrack && !c.operand { // a splat: its operand follows its bracket
			outer := c.frames[len(c.frames)-2]
			outer.chain++
			outer.unary = 0
		}
		c.operand = false
	case hclsyntax.TokenComma:
		f.chain, f.unary, c.operand = 0, 0, false
	case hclsyntax.TokenNewline, hclsyntax.TokenComment:
		if c.skipped += f.behind; c.skipped > hclSkipped {
			return c.limit(at, "the file has too many comments or line ends behind values with many operators")
		}
		if bytes.HasSuffix(t.Bytes, []byte("\n")) && (f.opener == 0 || f.opener == hclsyntax.TokenOBrace) {
			f.chain, f.unary, f.behind, c.operand = 0, 0, 0, false
		}
		return nil
	case hclsyntax.TokenDoubleColon:
		if c.names++; c.names > hclNames {
			return c.limit(at, "the file has a function with more than %d names before its own", hclNames)
		}
		c.operand = false
		return nil
	case hclsyntax.TokenNumberLit:
		if len(t.Bytes) > hclDigits {
			return c.limit(at, "the file has a number of more than %d digits", hclDigits)
		}
		c.endOperand()
	case hclsyntax.TokenIdent:
		c.endOperand()
		return nil
	default:
		c.operand = false
	}
	c.names = 0
	return nil
}

// endSequence closes an interpolation. A "~}" inside braces closes nothing; the lexer counts it as their end.
func (c *hclCounter) endSequence() {
	for _, f := range slices.Backward(c.frames) {
		if f.opener == hclsyntax.TokenTemplateInterp {
			if f.braces == c.open {
				c.pop(hclsyntax.TokenTemplateInterp)
				return
			}
			break
		}
	}
	c.open--
	c.endOperand()
}

// countDirective counts %{if} and %{for}, which end at %{endif} and %{endfor}; the tokens are those after the "%{".
func (c *hclCounter) countDirective(tokens hclsyntax.Tokens) {
	i := slices.IndexFunc(tokens, func(t hclsyntax.Token) bool {
		return t.Type != hclsyntax.TokenNewline && t.Type != hclsyntax.TokenComment
	})
	f := c.top()
	word := string(tokens[i].Bytes)
	last := len(f.ifs) - 1
	switch {
	case word == "if", word == "for":
		f.ifs = append(f.ifs, word)
	case last >= 0 && word == "end"+f.ifs[last]:
		f.ifs = f.ifs[:last]
	}
}
