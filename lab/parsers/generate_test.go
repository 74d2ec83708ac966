package parsers

import (
	"math/rand/v2"
	"strings"
)

// Tokens are separated by blanks; in them ~ is a blank, and ⏎ a line end.
const (
	keys    = `a b c kind a b 'a' "b" "\x61" a~b a#b !!str~c &k~a 'a~b' "a\tb" a::b c/d !!merge~a = :a`
	tags    = `!t~ !!str~ !!int~ !!bool~ !!map~ !~ !!seq~ ! !!float~ !!binary~ !!null~ !!timestamp~ !!set~ !!omap~`
	plain   = `true yes on False n null 1 010 0x1F 0o14 1_0 1:30 0b11 +1 1.50 1e3 a~b no .5 a'b a"b http://x = -a ?a :x !!bool~tRuE`
	single  = `'true' 'a~b' 'it''s' 'a~#~no' 'a⏎~~~~~~~~b' 'a⏎⏎~~~~~~~~b~' '' 'a: 1' '#'`
	double  = `"true" "\x74rue" "a\tb" "a~⏎~~~~~~~~b" "a\⏎~~~~~~~~b" "\u0085" "\N\_\L" "a\nb" "\/" "" ` + "\"x\u0085y\""
	headers = `| > |- >+ |2 >2- |~#~no`
	lines   = "true a:~b #~no yes 'a' no~#~c ~more x\u2028"
	starts  = "\ufeff %YAML~1.1⏎---⏎ %YAML~1.2⏎---⏎ ---⏎ #~c⏎ #~c⏎\ufeff"
	between = "⏎---⏎ ⏎---⏎ ⏎---~#~c⏎ ⏎...⏎ ⏎...⏎---⏎ ⏎---⏎\ufeff"
	// wild are put where they do not belong.
	wild = "\u0085 \u2028 \u2029 \u0085 \u2028 \u2029 \ufeff \u00a0 \t \r \f ~ ⏎ ⏎~~ ~~ # ~# ~#~no : :~ - -~ ? ?~ , [ ] { } | > " +
		"|⏎ >-⏎ &x~ *x !t~ !!str~ !!binary~ !!null~ !<x>~ ' \" % @ ` \\ \\⏎ --- ... ⏎---⏎ ⏎...⏎ ⏎---~ ⏎---\ufeff⏎ " +
		"⏎---⏎\ufeff ⏎...⏎\ufeff ⏎%YAML~1.1⏎---⏎ ⏎%YAML~1.2⏎ ⏎%TAG~!~tag:x,2000:⏎---⏎ <<:~ !!merge~ =:~ :a a:~ b:~true = :: ! & * -~-~ " +
		"[a:~1] {a,~b:~2} ⏎⏎ true ⏎\t |2⏎ >+1⏎ \r⏎ {\"a\":~1} {\"a\":~1}⏎{\"b\":~2} {\"a\":\"b\"} ---# ⏎---\u00a0⏎ {{ é \"b\u2028c\""
)

// An author writes a document token by token, so that each can be left out.
type author struct {
	*rand.Rand
	tokens  []string
	anchors []string // of this document
	lineEnd string
}

func (a *author) percent(n int) bool { return a.IntN(100) < n }

func (a *author) one(of string) string {
	list := strings.Split(of, " ")
	return list[a.IntN(len(list))]
}

func (a *author) put(tokens ...string) {
	for _, t := range tokens {
		a.tokens = append(a.tokens, strings.NewReplacer("~", " ", "⏎", a.lineEnd).Replace(t))
	}
}

// line ends a line, sometimes with a comment, and begins another.
func (a *author) line(indent int) {
	if a.percent(15) {
		a.put(a.one("~# ~~#~no \t#~a:~1 ~#~{b:~true}"))
	}
	a.put("⏎")
	if a.percent(6) {
		a.put(a.one("#~a:~1 ~~#~no ~~"), "⏎")
	}
	a.put(strings.Repeat("~", indent))
}

// write returns the tokens of a file.
func write(seed, n uint64) []string {
	a := &author{Rand: rand.New(rand.NewPCG(seed, n)), lineEnd: "\n"}
	if a.percent(12) {
		a.lineEnd = a.one("\r \r\n")
	}
	if a.percent(10) {
		a.put(a.one(starts))
	}
	for i := range 1 + a.IntN(5)/3 {
		if i > 0 {
			a.put(a.one(between))
		}
		a.anchors = nil
		if a.percent(8) {
			for range 3 + a.IntN(9) {
				a.put(a.one(wild))
			}
			continue
		}
		a.collection(0, 0)
	}
	a.put("⏎")
	for range a.IntN(8) / 4 * (1 + a.IntN(4)/3) {
		end := a.IntN(len(a.tokens) + 1)
		rest := a.tokens[end:]
		a.tokens = a.tokens[:end:end]
		a.put(a.one(wild))
		a.tokens = append(a.tokens, rest...)
	}
	return a.tokens
}

// collection writes a mapping or a list in block style, whose first line is begun.
func (a *author) collection(indent, depth int) {
	list := a.percent(25)
	for i := range 1 + a.IntN(7)/3 {
		if i > 0 {
			a.line(indent)
		}
		switch {
		case list:
			a.put(a.one("-~ -~~~"))
		case a.percent(8):
			a.put("?~", a.one(keys))
			a.line(indent)
			a.put(":~")
		case len(a.anchors) > 0 && a.percent(25):
			a.put("<<:~", strings.ReplaceAll(a.one("*N *N [*N]"), "N", a.anchors[a.IntN(len(a.anchors))]))
			continue
		default:
			a.put(a.one(keys), a.one(":~ :~ :~ :~~ ~:~"))
		}
		a.node(indent+2, depth+1, false)
	}
}

// node writes what follows a key or a dash.
func (a *author) node(indent, depth int, flow bool) {
	anchored := a.percent(12)
	if anchored {
		name := a.one("x y")
		a.put("&" + name + "~")
		defer func() { a.anchors = append(a.anchors, name) }()
	}
	if a.percent(6) {
		a.put(a.one(tags))
	}
	switch n := a.IntN(20); {
	case n < 5 && !flow && depth < 3:
		a.line(indent)
		a.collection(indent, depth)
	case n < 8 && depth < 4:
		brackets := a.one("{} {} []")
		a.put(brackets[:1])
		for i := range a.IntN(3) {
			if i > 0 {
				a.put(a.one(",~ , ~, ,⏎~~~~~~~~"))
			}
			if brackets == "{}" || a.percent(15) {
				a.put(a.one(keys), a.one(":~ :~ : ~:~ :⏎~~~~~~~~"))
			}
			a.node(indent, depth+1, true)
		}
		a.put(brackets[1:])
	case n < 10 && !flow:
		a.put(a.one(headers))
		for range 1 + a.IntN(3) {
			a.put("⏎", strings.Repeat("~", indent), a.one(lines))
		}
	case n < 12 && len(a.anchors) > 0 && !anchored:
		a.put("*", a.anchors[a.IntN(len(a.anchors))])
	case n < 14:
		a.put(a.one(single))
	case n < 16:
		a.put(a.one(double))
	default:
		a.put(a.one(plain))
		if a.percent(15) {
			a.put("⏎~~~~~~~~", a.one("more #~no true -~a"))
		}
	}
}
