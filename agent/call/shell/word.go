package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/policyscan/policyscan/internal/late"
)

// A word is an argument, or the program.
type word struct {
	text  string // without quotes; what is expanded is as it is written
	whole bool   // nothing is expanded
	gone  bool   // it may be no word at all: an unquoted expansion with nothing next to it
	added bool   // it represents the words that xargs adds, and has no text
}

type piece struct {
	text  []byte
	whole bool
	fixed bool // it has a quote or a letter, so that it is a word in any case
}

func (r *reader) expand(src string, written []*syntax.Word) []word {
	words := make([]word, 0, len(written))
	for _, w := range written {
		split := &syntax.Word{Parts: w.Parts} // the tree is walked later, and knows no braces
		braces := 0
		for _, part := range w.Parts {
			if lit, ok := part.(*syntax.Lit); ok {
				braces += strings.Count(lit.Value, "{")
			}
		}
		if braces > maxBraces { // to split them takes a time that grows as their square
			words = append(words, word{text: text(src, w)})
			continue
		}
		if syntax.SplitBraces(split) {
			if all, ok := r.times(src, []piece{{whole: true}}, split.Parts); ok {
				for i := range all {
					if p := &all[i]; len(p.text) > 0 || p.fixed { // {git,} is one word
						words = append(words, p.word())
					}
				}
				continue
			}
			words = append(words, word{text: text(src, w)})
			continue
		}
		p := piece{whole: true}
		for _, part := range w.Parts {
			p.add(src, part)
		}
		words = append(words, p.word())
	}
	return words
}

func (p *piece) word() word {
	return word{text: string(p.text), whole: p.whole, gone: !p.fixed && !p.whole}
}

// times appends parts to each piece. A braced list of words multiplies them. ok is false for {1..9}, and for too many.
func (r *reader) times(src string, all []piece, parts []syntax.WordPart) (product []piece, ok bool) {
	for _, part := range parts {
		braces, list := part.(*syntax.BraceExp)
		if r.words -= len(all); r.words < 0 || list && braces.Sequence {
			return nil, false
		}
		if !list {
			for i := range all {
				all[i].add(src, part)
			}
			continue
		}
		product = nil
		for _, a := range all {
			for _, elem := range braces.Elems {
				made, ok := r.times(src, []piece{{slices.Clone(a.text), a.whole, a.fixed}}, elem.Parts)
				if !ok {
					return nil, false
				}
				product = append(product, made...)
			}
		}
		all = product
	}
	return all, true
}

func (p *piece) add(src string, part syntax.WordPart) {
	switch part := part.(type) {
	case *syntax.Lit:
		p.fixed = p.fixed || part.Value != ""
		p.literal(part.Value)
	case *syntax.SglQuoted:
		p.fixed = true
		if part.Dollar {
			p.text = append(p.text, ansi(part.Value)...)
		} else {
			p.text = append(p.text, part.Value...)
		}
	case *syntax.DblQuoted:
		p.fixed = true
		for _, in := range part.Parts {
			p.quoted(src, in)
		}
	default:
		p.text, p.whole = append(p.text, text(src, part)...), false
	}
}

// literal adds text without quotes: backslashes are removed, and a glob, zsh's (a|b) too, makes the word unknown.
func (p *piece) literal(s string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		case strings.IndexByte("*?()|<>", c) >= 0, c == '[' && strings.IndexByte(s[i:], ']') > 1:
			p.whole = false
		}
		b.WriteByte(s[i])
	}
	p.text = append(p.text, b.String()...)
}

func (p *piece) quoted(src string, part syntax.WordPart) {
	lit, ok := part.(*syntax.Lit)
	if !ok {
		p.text, p.whole = append(p.text, text(src, part)...), false
		return
	}
	var b strings.Builder
	for i := 0; i < len(lit.Value); i++ {
		if s := lit.Value; s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(lit.Value[i])
	}
	p.text = append(p.text, b.String()...)
}

var ansiEscapes = late.Regexp(`(?s)\\(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|c.|.)`)

// ansi is what is written in $'…'. A NUL ends it, as in bash.
func ansi(s string) string {
	s = ansiEscapes().ReplaceAllStringFunc(s, func(escape string) string {
		c, rest := escape[1], escape[2:]
		switch {
		case '0' <= c && c <= '7':
			n, _ := strconv.ParseUint(escape[1:], 8, 16)
			return string([]byte{byte(n)})
		case c == 'x' && rest != "":
			n, _ := strconv.ParseUint(rest, 16, 8)
			return string([]byte{byte(n)})
		case (c == 'u' || c == 'U') && rest != "":
			n, _ := strconv.ParseUint(rest, 16, 32)
			return string(rune(n))
		case c == 'c' && rest != "":
			return string(rest[0]&0x1f) + rest[1:]
		case strings.IndexByte(`\'"?`, c) >= 0:
			return string(c)
		}
		if at := strings.IndexByte("abeEfnrtv", c); at >= 0 {
			return "\a\b\x1b\x1b\f\n\r\t\v"[at : at+1]
		}
		return escape
	})
	text, _, _ := strings.Cut(s, "\x00")
	return text
}
