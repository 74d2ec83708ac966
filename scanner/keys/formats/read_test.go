package formats

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/scanner/keys"
)

// TestRead shows what is read of a text: each entry and item with its place, offset and bytes, and what a value may be
// compared as.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		what   string
		format Format
		text   string
		want   string
	}{
		{"anchors, tags, quotes, block and plain texts", YAML, `a: &x !t 'b''c' # d
"k": |
  hello
  world

# c
plain: foo
  bar baz # x
al: *x
*x : y
? l
: |2+
    two

`, `
mapping @0 "a: &x !t 'b''c'"…"l\n: |2+\n    two"
  "a" @0 "a": shared "b'c" uncertain variable @3 "&x !t 'b''c'"
  "k" @20 "\"k\"": "hello\nworld\n" text @25 "|\n  hello\n  world"
  "plain" @48 "plain": "foo bar baz" text @55 "foo\n  bar baz"
  "al" @73 "al": shared "b'c" uncertain variable @3 "&x !t 'b''c'"
  "b'c" @80 "*x": "y" text @85 "y"
  "l" @89 "l": "  two\n\n" text @93 "|2+\n    two"
`},
		{"flow collections and what is not there", YAML, `flow: {a: , b, c: [1, 0x1F , ~], "d": [x: y, &q r: s], e: [], f: {}}
null:
n2: !!null
n3: &n
seq:
- 1
-
- &z
- - - deep
? [l, i]
: v
`, `
mapping @0 "flow: {a: , b, "…"ep\n? [l, i]\n: v"
  "flow" @0 "flow": mapping @6 "{a: , b, c: [1,"…", e: [], f: {}}"
    "a" @7 "a": null @9 ""
    "b" @12 "b": null @13 ""
    "c" @15 "c": list @18 "[1, 0x1F , ~]"
      - "1" number 1 @19 "1"
      - "0x1F" number 0x1F @22 "0x1F"
      - null @29 "~"
    "d" @33 "\"d\"": list @38 "[x: y, &q r: s]"
      - mapping @39 "x: y"
        "x" @39 "x": "y" text @42 "y"
      - mapping @45 "&q r: s"
        "r" @45 "&q r": "s" text @51 "s"
    "e" @55 "e": list @58 "[]"
    "f" @62 "f": mapping @65 "{}"
  "null" @69 "null": null @74 ""
  "n2" @75 "n2": null @79 "!!null"
  "n3" @86 "n3": null @90 "&n"
  "seq" @93 "seq": list @98 "- 1\n-\n- &z\n- - - deep"
    - "1" number 1 @100 "1"
    - null @103 ""
    - null @106 "&z"
    - list @111 "- - deep"
      - list @113 "- deep"
        - "deep" text @115 "deep"
  ? @122 "[l, i]": "v" text @131 "v"
`},
		{"documents, tags of collections", YAML, `%YAML 1.2
--- # x
a: 1
...
# c
%YAML 1.2
--- !own
- !foo {a: b}
- !!map {a: b}
- !!seq {a: b}
- - x
- !!set {a}
---
~
---
# nothing
`, `
mapping @18 "a: 1"
  "a" @18 "a": "1" number 1 @21 "1"
---
list tagged @45 "!own\n- !foo {a:"…"- x\n- !!set {a}"
  - mapping tagged @52 "!foo {a: b}"
    "a" @58 "a": "b" text @61 "b"
  - mapping @66 "!!map {a: b}"
    "a" @73 "a": "b" text @76 "b"
  - mapping tagged @81 "!!seq {a: b}"
    "a" @88 "a": "b" text @91 "b"
  - list @96 "- x"
    - "x" text @98 "x"
  - mapping tagged @102 "!!set {a}"
    "a" @109 "a": null @110 ""
`},
		{"the core schema", YAML, `[1.50, .inf, -.INF, .NaN, 0777, 0o17, 0x1f, -0x1f, 1_000, 1e3, .5, 5., +5, yes, On, TRUE, tRue, 2020-01-01, 1:30, "5", '5', ! 5, !!int "5",
!!int x, !!str 5, !!str , !!float 5, !!float 0x5, !!bool yes, !!bool "true", !!null "", !!null x, !!binary aGk=, !own 5, 0b1, 1.2.3, e3, 1e, +, .]
`, `
list @0 "[1.50, .inf, -."…", e3, 1e, +, .]"
  - "1.50" number 1.50 @1 "1.50"
  - ".inf" uncertain @7 ".inf"
  - "-.INF" uncertain @13 "-.INF"
  - ".NaN" uncertain @20 ".NaN"
  - "0777" number 0777 @26 "0777"
  - "0o17" number 0o17 @32 "0o17"
  - "0x1f" number 0x1f @38 "0x1f"
  - "-0x1f" text @44 "-0x1f"
  - "1_000" text @51 "1_000"
  - "1e3" number 1e3 @58 "1e3"
  - ".5" number .5 @63 ".5"
  - "5." number 5. @67 "5."
  - "+5" number +5 @71 "+5"
  - "yes" text @75 "yes"
  - "On" text @80 "On"
  - "TRUE" bool true @84 "TRUE"
  - "tRue" text @90 "tRue"
  - "2020-01-01" text @96 "2020-01-01"
  - "1:30" text @108 "1:30"
  - "5" text @114 "\"5\""
  - "5" text @119 "'5'"
  - "5" text @124 "! 5"
  - "5" number 5 @129 "!!int \"5\""
  - "x" uncertain variable @140 "!!int x"
  - "5" text @149 "!!str 5"
  - "" text @158 "!!str"
  - "5" number 5 @166 "!!float 5"
  - "0x5" uncertain variable @177 "!!float 0x5"
  - "yes" uncertain variable @190 "!!bool yes"
  - "true" bool true @202 "!!bool \"true\""
  - null @217 "!!null \"\""
  - "x" uncertain variable @228 "!!null x"
  - "aGk=" or "hi" uncertain variable @238 "!!binary aGk="
  - "5" uncertain variable @253 "!own 5"
  - "0b1" text @261 "0b1"
  - "1.2.3" text @266 "1.2.3"
  - "e3" text @273 "e3"
  - "1e" text @277 "1e"
  - "+" text @281 "+"
  - "." text @284 "."
`},
		{"merges", YAML, `base: &base {a: 1, b: 2}
more: &more {<<: *base, b: 3, c: 4}
one:
  b: 0
  <<: [*more, *base]
  d: 5
"<<": {x: 1}
two: {"<<": *base}
three: {<<: [*base, 1]}
four: {<<: !own {z: 1}}
five: {<<: *base, <<: *more}
`, `
mapping @0 "base: &base {a:"…"ase, <<: *more}"
  "base" @0 "base": shared mapping @6 "&base {a: 1, b: 2}"
    "a" @13 "a": shared "1" number 1 @16 "1"
    "b" @19 "b": shared "2" number 2 @22 "2"
  "more" @25 "more": shared mapping @31 "&more {<<: *base, b: 3, c: 4}"
    "a" @13 "a": shared "1" number 1 @16 "1"
    "b" hidden @19 "b": shared "2" number 2 @22 "2"
    "b" @49 "b": shared "3" number 3 @52 "3"
    "c" @55 "c": shared "4" number 4 @58 "4"
  "one" @61 "one": mapping @68 "b: 0\n  <<: [*more, *base]\n  d: 5"
    "b" @68 "b": "0" number 0 @71 "0"
    "a" @13 "a": shared "1" number 1 @16 "1"
    "b" hidden @19 "b": shared "2" number 2 @22 "2"
    "b" @49 "b": shared "3" number 3 @52 "3"
    "c" @55 "c": shared "4" number 4 @58 "4"
    "a" hidden @13 "a": shared "1" number 1 @16 "1"
    "b" hidden @19 "b": shared "2" number 2 @22 "2"
    "d" @96 "d": "5" number 5 @99 "5"
  "<<" @101 "\"<<\"": mapping @107 "{x: 1}"
    "x" @108 "x": "1" number 1 @111 "1"
  "two" @114 "two": mapping @119 "{\"<<\": *base}"
    "<<" @120 "\"<<\"": shared mapping @6 "&base {a: 1, b: 2}"
      "a" @13 "a": shared "1" number 1 @16 "1"
      "b" @19 "b": shared "2" number 2 @22 "2"
  "three" @133 "three": mapping @140 "{<<: [*base, 1]}"
    "<<" @141 "<<": list @145 "[*base, 1]"
      - shared mapping @6 "&base {a: 1, b: 2}"
        "a" @13 "a": shared "1" number 1 @16 "1"
        "b" @19 "b": shared "2" number 2 @22 "2"
      - "1" number 1 @153 "1"
  "four" @157 "four": mapping tagged @163 "{<<: !own {z: 1}}"
    "z" @174 "z": shared "1" number 1 @177 "1"
  "five" @181 "five": mapping @187 "{<<: *base, <<: *more}"
    "a" @13 "a": shared "1" number 1 @16 "1"
    "b" @19 "b": shared "2" number 2 @22 "2"
    "a" @13 "a": shared "1" number 1 @16 "1"
    "b" hidden @19 "b": shared "2" number 2 @22 "2"
    "b" @49 "b": shared "3" number 3 @52 "3"
    "c" @55 "c": shared "4" number 4 @58 "4"
`},
		{"what all YAML parsers read in the same way", YAML, `{a: , "b":1, c::d: 2, 'h' :{i}, &x j: k::l, m: !<!a,b> n, ? o}`, `
mapping @0 "{a: , \"b\":1, c:"…"!<!a,b> n, ? o}"
  "a" @1 "a": null @3 ""
  "b" @6 "\"b\"": "1" number 1 @10 "1"
  "c::d" @13 "c::d": "2" number 2 @19 "2"
  "h" @22 "'h'": mapping @27 "{i}"
    "i" @28 "i": null @29 ""
  "j" @32 "&x j": "k::l" text @38 "k::l"
  "m" @44 "m": "n" uncertain variable @47 "!<!a,b> n"
  "o" @60 "o": null @61 ""
`},
		{"a text by its !, and nothing in front of one", YAML, "--- !\n---\n- [!\n , a, ! ]\n- ? a\n  ! b: c\n", `
"" text @4 "!"
---
list @10 "- [!\n , a, ! ]\n- ? a\n  ! b: c"
  - list @12 "[!\n , a, ! ]"
    - "" text @13 "!"
    - "a" text @18 "a"
    - "" text @21 "!"
  - mapping @27 "? a\n  ! b: c"
    "a" @29 "a": null @30 ""
    "b" @33 "! b": "c" text @38 "c"
`},
		{"characters of several bytes", YAML, "é: \"x\u2027y\" # \u2027\nb: é\r\nc: z\nd: {\"é\": 1, é: 2}", `
mapping @0 "é: \"x‧y\" # \xe2"…"\"é\": 1, é: 2}"
  "é" @0 "é": "x‧y" text @4 "\"x‧y\""
  "b" @18 "b": "é" text @21 "é"
  "c" @25 "c": "z" text @28 "z"
  "d" @30 "d": mapping @33 "{\"é\": 1, é: 2}"
    "é" @34 "\"é\"": "1" number 1 @40 "1"
    "é" @43 "é": "2" number 2 @47 "2"
`},
		{"spaces in a reference", HCL, "a = aws . east\nb = (aws\n.east)\nc = a . b[0]\n", `
mapping @0 "a = aws . east\n"…"t)\nc = a . b[0]"
  "a" @0 "a": "aws . east" or "aws.east" uncertain variable @4 "aws . east"
  "b" @15 "b": "aws\n.east" or "aws.east" uncertain variable @19 "(aws\n.east)"
  "c" @31 "c": "a . b[0]" uncertain variable @35 "a . b[0]"
`},
		{"slashes with a backslash", YAML, "a: \"\\/x\\\\/\"\n? \"\\/\"\n: '\\/'\nb: \\/ # \\/\nc: |\n  \\/\n", `
mapping @0 "a: \"\\/x\\\\/\"\n? \""…" # \\/\nc: |\n  \\/"
  "a" @0 "a": "/x\\/" text @3 "\"\\/x\\\\/\""
  "/" @14 "\"\\/\"": "\\/" text @21 "'\\/'"
  "b" @26 "b": "\\/" text @29 "\\/"
  "c" @37 "c": "\\/\n" text @40 "|\n  \\/"
`},
		{"tabs that begin a block scalar", YAML, "a: |\n  \t\tx\n  y\nb:\n- |- # c\n\n \ty\nc: \"|\"\n", `
mapping @0 "a: |\n  \t\tx\n  y\nb:\n- |- # c\n\n \ty\nc: \"|\""
  "a" @0 "a": "\t\tx\ny\n" text @3 "|\n  \t\tx\n  y"
  "b" @15 "b": list @18 "- |- # c\n\n \ty"
    - "\n\ty" text @20 "|- # c\n\n \ty"
  "c" @32 "c": "|" text @35 "\"|\""
`},
		{"documents behind ...", YAML, "a: 1\n...\n# c\nb: 2\n... # d\n...\n%YAML 1.2\n---\nc: 3\n...\n---\nd: 4\n...\n", `
mapping @0 "a: 1"
  "a" @0 "a": "1" number 1 @3 "1"
---
mapping @13 "b: 2"
  "b" @13 "b": "2" number 2 @16 "2"
---
mapping @44 "c: 3"
  "c" @44 "c": "3" number 3 @47 "3"
---
mapping @57 "d: 4"
  "d" @57 "d": "4" number 4 @60 "4"
`},
		{"byte order marks before documents", YAML, "a: 1\n---\n\ufeffb: 2\nc: 3\n...\n\ufeff%YAML 1.2\n---\r\n\ufeff# x\r\nd: é\n---\n\ufeff{\"e\": 5}\n--- # c\n\ufeff\nf: 6\n", `
mapping @0 "a: 1"
  "a" @0 "a": "1" number 1 @3 "1"
---
mapping @12 "b: 2\nc: 3"
  "b" @12 "b": "2" number 2 @15 "2"
  "c" @17 "c": "3" number 3 @20 "3"
---
mapping @52 "d: é"
  "d" @52 "d": "é" text @55 "é"
---
mapping @65 "{\"e\": 5}"
  "e" @66 "\"e\"": "5" number 5 @71 "5"
---
mapping @86 "f: 6"
  "f" @86 "f": "6" number 6 @89 "6"
`},
		{"lines of dashes", YAML, "a: \"b\n-----\"\n---\t# c\nb: |\n  ---c\n", `
mapping @0 "a: \"b\n-----\""
  "a" @0 "a": "b -----" text @3 "\"b\n-----\""
---
mapping @21 "b: |\n  ---c"
  "b" @21 "b": "---c\n" text @24 "|\n  ---c"
`},
		{"JSON that is no YAML", YAML, "\n{\"a\": \"\\ud83d\\ude00\"}\n", `
mapping @1 "{\"a\": \"\\ud83d\\ude00\"}"
  "a" @2 "\"a\"": "😀" text @7 "\"\\ud83d\\ude00\""
`},
		{"an empty file", YAML, "", `
`},
		{"several values", JSON, "{\"a\": 1} // x\n[2]\"b\"null\n3\n", `
mapping @0 "{\"a\": 1}"
  "a" @1 "\"a\"": "1" number 1 @6 "1"
---
list @14 "[2]"
  - "2" number 2 @15 "2"
---
"b" text @17 "\"b\""
---
"3" number 3 @25 "3"
`},
		{"no value", JSON, " /* none */\n", `
`},
		{"comments, trailing commas, keys that are there twice", JSON, `// c
{"a": [1, 2.50, true, null,], /* x */ "a": "\u00e9/*", "\n": {}, "//": [], "e": -1E+99999999999, }
`, `
mapping @5 "{\"a\": [1, 2.50,"…"+99999999999, }"
  "a" @6 "\"a\"": list @11 "[1, 2.50, true, null,]"
    - "1" number 1 @12 "1"
    - "2.50" number 2.50 @15 "2.50"
    - "true" bool true @21 "true"
    - null @27 "null"
  "a" @43 "\"a\"": "é/*" text @48 "\"\\u00e9/*\""
  "\n" @60 "\"\\n\"": mapping @66 "{}"
  "//" @70 "\"//\"": list @76 "[]"
  "e" @80 "\"e\"": "-1E+99999999999" number -1E+99999999999 @85 "-1E+99999999999"
`},
		{"plain JSON", JSON, "{\"a\": 0, \"b\": \"c\"} // ", `
mapping @0 "{\"a\": 0, \"b\": \"c\"}"
  "a" @1 "\"a\"": "0" number 0 @6 "0"
  "b" @9 "\"b\"": "c" text @14 "\"c\""
`},
		{"templates of Terraform", TerraformJSON, `{"a": "${true}", "b": "x%{if y}", "c": ["$", "{", "1", 1, true, null], "${d}": "$$"}`, `
mapping @0 "{\"a\": \"${true}\""…", \"${d}\": \"$$\"}"
  "a" @1 "\"a\"": "${true}" uncertain variable 1=true @6 "\"${true}\""
  "b" @17 "\"b\"": "x%{if y}" uncertain variable 1=true @22 "\"x%{if y}\""
  "c" @34 "\"c\"": list @39 "[\"$\", \"{\", \"1\", 1, true, null]"
    - "$" text 1=true @40 "\"$\""
    - "{" text 1=true @45 "\"{\""
    - "1" text 1=true @50 "\"1\""
    - "1" number 1 1=true @55 "1"
    - "true" bool true 1=true @58 "true"
    - null @64 "null"
  "${d}" @71 "\"${d}\"": "$$" text 1=true @79 "\"$$\""
`},
		{"the same in JSON", JSON, `["${true}", "1"]`, `
list @0 "[\"${true}\", \"1\"]"
  - "${true}" text @1 "\"${true}\""
  - "1" text @12 "\"1\""
`},
		{"null", JSON, " null", `
`},
		{"a list at the top", JSON, "[[], \"x\"]", `
list @0 "[[], \"x\"]"
  - list @1 "[]"
  - "x" text @5 "\"x\""
`},
		{"tables, dotted keys, dates", TOML, `# c
title = "x\ty" # d
n = 1_000
h=0x1F
f=+1.50e+3
i=-inf
d=1979-05-27 07:32:00Z
b = false
[a.b]
c.d = [1, [2, # x
 3],]
it = {x = 1, y.z = '''q''', "é" = []}
c.e = """
"quoted" \
  text"""
[a]
k = true
[[arr]]
x=1
 [ arr . "sub.x" ] # [
z=2
[[ arr ]] # c
x=2
`, `
mapping @4 "title = \"x\\ty\" "…" arr ]] # c\nx=2"
  "title" @4 "title": "x\ty" text @12 "\"x\\ty\""
  "n" @23 "n": "1_000" number 1_000 @27 "1_000"
  "h" @33 "h": "0x1F" number 0x1F @35 "0x1F"
  "f" @40 "f": "+1.50e+3" number +1.50e+3 @42 "+1.50e+3"
  "i" @51 "i": "-inf" uncertain @53 "-inf"
  "d" @58 "d": "1979-05-27 07:32:00Z" uncertain @60 "1979-05-27 07:32:00Z"
  "b" @81 "b": "false" bool false @85 "false"
  "a" @191 "[a]": mapping @191 "[a]"
    "b" @91 "[a.b]": mapping @91 "[a.b]"
      "c" @97 "c": mapping @99 "d = [1, [2, # x\n 3],]"
        "d" @99 "d": list @103 "[1, [2, # x\n 3],]"
          - "1" number 1 @104 "1"
          - list @107 "[2, # x\n 3]"
            - "2" number 2 @108 "2"
            - "3" number 3 @116 "3"
        "e" @162 "e": "\"quoted\" text" text @166 "\"\"\"\n\"quoted\" \\\n  text\"\"\""
      "it" @121 "it": mapping @126 "{x = 1, y.z = '''q''', \"é\" = []}"
        "x" @127 "x": "1" number 1 @131 "1"
        "y" @134 "y": mapping @136 "z = '''q'''"
          "z" @136 "z": "q" text @140 "'''q'''"
        "é" @149 "\"é\"": list @156 "[]"
    "k" @195 "k": "true" bool true @199 "true"
  "arr" @204 "[[arr]]": list @204 "[[arr]]"
    - mapping @204 "[[arr]]"
      "x" @212 "x": "1" number 1 @214 "1"
      "sub.x" @217 "[ arr . \"sub.x\" ]": mapping @217 "[ arr . \"sub.x\" ]"
        "z" @239 "z": "2" number 2 @241 "2"
    - mapping @243 "[[ arr ]]"
      "x" @257 "x": "2" number 2 @259 "2"
`},
		{"no key", TOML, `# nothing
`, `
mapping @0 ""
`},
		{"expressions", HCL, `# c
provider = aws.east // d
x = (true)
y = "${false}"
z = !"false"
n = - 5
o = -("1e3")
big = 1e999999999
inf = 1 / 0
f = [for x in [true]: x]
l = ["0.0.0.0/0", var.office, ("b"), 1.50, null]
m = { a = 1, "b" : "2", (c) = 3, ("d") = 4, 5 = 6, true = false }
t = "a${"b"}${1.50}${true}"
v = "a-${var.x /* c */}"
call = foo(a, /* c */ b) # d
esc = "a\n$${x}"
h = <<-EOT
    hello ${var.x}
      world
  EOT
e2 = "${var.x}:l\u0061te${"st"}%{ if a }\n%{ endif }${null}"
h2 = <<EOT
lit
EOT
wrap = "${[1, "two"]}"
cond = a ? b : c
`, `
mapping @4 "provider = aws."…"ond = a ? b : c"
  "provider" @4 "provider": "aws.east" uncertain variable @15 "aws.east"
  "x" @29 "x": "true" bool true 1=true @33 "(true)"
  "y" @40 "y": "false" bool false 1=true @44 "\"${false}\""
  "z" @55 "z": "true" or "!\"false\"" bool true 1=true @59 "!\"false\""
  "n" @68 "n": "-5" or "- 5" number -5 1=true @72 "- 5"
  "o" @76 "o": "-1e3" or "-(\"1e3\")" number -1e3 1=true @80 "-(\"1e3\")"
  "big" @89 "big": "1e999999999" number 1e999999999 1=true @95 "1e999999999"
  "inf" @107 "inf": "1 / 0" uncertain variable @113 "1 / 0"
  "f" @119 "f": "[for x in [true]: x]" uncertain variable @123 "[for x in [true]: x]"
  "l" @144 "l": list @148 "[\"0.0.0.0/0\", v"…"\"), 1.50, null]"
    - "0.0.0.0/0" text 1=true @149 "\"0.0.0.0/0\""
    - "var.office" uncertain variable @162 "var.office"
    - "b" text 1=true @174 "(\"b\")"
    - "1.50" number 1.50 1=true @181 "1.50"
    - null @187 "null"
  "m" @193 "m": mapping @197 "{ a = 1, \"b\" : "…" true = false }"
    "a" @199 "a": "1" number 1 1=true @203 "1"
    "b" @206 "\"b\"": "2" text 1=true @212 "\"2\""
    ? @217 "(c)": "3" number 3 1=true @223 "3"
    "d" @226 "(\"d\")": "4" number 4 1=true @234 "4"
    "5" @237 "5": "6" number 6 1=true @241 "6"
    "true" @244 "true": "false" bool false 1=true @251 "false"
  "t" @259 "t": "ab1.5true" or "a${\"b\"}${1.50}${true}" text 1=true @263 "\"a${\"b\"}${1.50}${true}\""
  "v" @287 "v": "a-${var.x }" or "a-${var.x}" uncertain variable @291 "\"a-${var.x /* c */}\""
  "call" @312 "call": "foo(a,  b)" or "foo(a, b)" uncertain variable @319 "foo(a, /* c */ b)"
  "esc" @341 "esc": "a\n${x}" text 1=true @347 "\"a\\n$${x}\""
  "h" @358 "h": "    hello ${var.x}\n      world\n" or "hello ${var.x}\n  world\n" uncertain variable @362 "<<-EOT\n    hell"…"    world\n  EOT"
  "e2" @406 "e2": "${var.x}:l\\u0061te${\"st\"}%{ if a }\\n%{ endif }${null}" or "${var.x}:latest%{ if a }\\n%{ endif }${null}" uncertain variable @411 "\"${var.x}:l\\u00"…"endif }${null}\""
  "h2" @467 "h2": "lit\n" text 1=true @472 "<<EOT\nlit\nEOT"
  "wrap" @486 "wrap": list @493 "\"${[1, \"two\"]}\""
    - "1" number 1 1=true @497 "1"
    - "two" text 1=true @500 "\"two\""
  "cond" @509 "cond": "a ? b : c" uncertain variable @516 "a ? b : c"
`},
		{"blocks", HCL, `resource "aws_db" "é" {
  k = "é"
  nested {}
  dynamic "ingress" {
    for_each = x
    content {
      p = 1
    }
  }
  single { q = 2 }
}
dynamic "foo" {
}
multi "a" b {
  dynamic "x" {
    labels = ["l", var.m, 1]
    content {
      dynamic "y" {
        content {
          z = 1
        }
      }
    }
    content {}
  }
  dynamic "a" "b" {}
}
`, `
mapping @0 "resource \"aws_d"…"ic \"a\" \"b\" {}\n}"
  "resource" @0 "resource \"aws_db\" \"é\"": mapping header @0 "resource \"aws_db\" \"é\""
    "aws_db" @0 "resource \"aws_db\" \"é\"": mapping header @0 "resource \"aws_db\" \"é\""
      "é" @0 "resource \"aws_db\" \"é\"": mapping @0 "resource \"aws_d"…"gle { q = 2 }\n}"
        "k" @27 "k": "é" text 1=true @31 "\"é\""
        "nested" @38 "nested": mapping @38 "nested {}"
        "ingress" @50 "dynamic \"ingress\"": mapping @50 "dynamic \"ingres"…"p = 1\n    }\n  }"
          "p" @107 "p": "1" number 1 1=true @111 "1"
        "single" @125 "single": mapping @125 "single { q = 2 }"
          "q" @134 "q": "2" number 2 1=true @138 "2"
  "foo" @144 "dynamic \"foo\"": mapping @144 "dynamic \"foo\" {\n}"
  "multi" @162 "multi \"a\" b": mapping header @162 "multi \"a\" b"
    "a" @162 "multi \"a\" b": mapping header @162 "multi \"a\" b"
      "b" @162 "multi \"a\" b": mapping @162 "multi \"a\" b {\n "…"ic \"a\" \"b\" {}\n}"
        "x" @178 "dynamic \"x\"": mapping header @178 "dynamic \"x\""
          "l" @178 "dynamic \"x\"": mapping header @178 "dynamic \"x\""
            "var.m" @178 "dynamic \"x\"": mapping header @178 "dynamic \"x\""
              "1" @178 "dynamic \"x\"": mapping @178 "dynamic \"x\" {\n "…" content {}\n  }"
                "y" @241 "dynamic \"y\"": mapping @241 "dynamic \"y\" {\n "…"      }\n      }"
                  "z" @283 "z": "1" number 1 1=true @287 "1"
        "x" @178 "dynamic \"x\"": mapping header @178 "dynamic \"x\""
          "l" @178 "dynamic \"x\"": mapping header @178 "dynamic \"x\""
            "var.m" @178 "dynamic \"x\"": mapping header @178 "dynamic \"x\""
              "1" @178 "dynamic \"x\"": mapping @178 "dynamic \"x\" {\n "…" content {}\n  }"
        "dynamic" @334 "dynamic \"a\" \"b\"": mapping header @334 "dynamic \"a\" \"b\""
          "a" @334 "dynamic \"a\" \"b\"": mapping header @334 "dynamic \"a\" \"b\""
            "b" @334 "dynamic \"a\" \"b\"": mapping @334 "dynamic \"a\" \"b\" {}"
`},
		{"no argument", HCL, `# nothing
`, `
mapping @0 ""
`},
		{"line ends, operators, templates", HCL, "a = \"é${true}\"\r\nb = <<E\r\nx\r\nE\r\nc = {}\r\n  d = -\"1\"\ne = !1\nf = !!\"0\"\ng = --2\nh = \"${null}\"\ni = \"x${null}\"\nj = -true\nk = \"%{ if true }x%{ endif }\"\nl = \"${ 1 }x${ 1.0 }${1e3}\"\nm = \"$${x} %%{y}\"\n", `
mapping @0 "a = \"é${true}\""…"= \"$${x} %%{y}\""
  "a" @0 "a": "étrue" or "é${true}" text 1=true @4 "\"é${true}\""
  "b" @17 "b": "x\r\n" text 1=true @21 "<<E\r\nx\r\nE"
  "c" @32 "c": mapping @36 "{}"
  "d" @42 "d": "-1" or "-\"1\"" number -1 1=true @46 "-\"1\""
  "e" @51 "e": "!1" uncertain variable @55 "!1"
  "f" @58 "f": "false" or "!!\"0\"" bool false 1=true @62 "!!\"0\""
  "g" @68 "g": "2" or "--2" number 2 1=true @72 "--2"
  "h" @76 "h": null @80 "\"${null}\""
  "i" @90 "i": "x${null}" uncertain variable @94 "\"x${null}\""
  "j" @105 "j": "-true" uncertain variable @109 "-true"
  "k" @115 "k": "%{ if true }x%{ endif }" uncertain variable @119 "\"%{ if true }x%{ endif }\""
  "l" @145 "l": "1x11000" or "${ 1 }x${ 1.0 }${1e3}" text 1=true @149 "\"${ 1 }x${ 1.0 }${1e3}\""
  "m" @173 "m": "${x} %{y}" text 1=true @177 "\"$${x} %%{y}\""
`},
	} {
		documents, err := Parse(c.format, []byte(c.text), Limits())
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
		} else if got := "\n" + dump([]byte(c.text), documents); got != c.want {
			t.Errorf("%s: got%s\nwant%s", c.what, got, c.want)
		}
	}
}

// dump writes a document for a test to compare: each entry, item and scalar on a line, with the bytes of its place.
func dump(text []byte, documents []keys.Document) string {
	var b strings.Builder
	for i, d := range documents {
		if i > 0 {
			b.WriteString("---\n")
		}
		dumpNode(&b, text, d.Root, "")
	}
	return b.String()
}

func at(text []byte, s keys.Span) string {
	const longest = 40
	if s.End-s.Start > longest {
		return fmt.Sprintf("%d %q…%q", s.Start, text[s.Start:s.Start+15], text[s.End-15:s.End])
	}
	return fmt.Sprintf("%d %q", s.Start, text[s.Start:s.End])
}

func dumpNode(b *strings.Builder, text []byte, n *keys.Node, indent string) {
	tagged := ""
	if n.Tagged {
		tagged = " tagged"
	}
	if n.Header {
		tagged = " header"
	}
	if n.Shared {
		b.WriteString("shared ")
	}
	switch n.Kind {
	case keys.Null:
		fmt.Fprintf(b, "null @%s\n", at(text, n.At))
	case keys.ScalarNode:
		s := n.Scalar
		fmt.Fprintf(b, "%q", s.Texts[0])
		for _, t := range s.Texts[1:] {
			fmt.Fprintf(b, " or %q", t)
		}
		switch s.Exact.Type {
		case keys.ExactText:
			b.WriteString(" text")
			if s.Exact.Text != s.Texts[0] {
				fmt.Fprintf(b, " %q", s.Exact.Text)
			}
		case keys.ExactNumber:
			b.WriteString(" number " + s.Exact.Text)
		case keys.ExactBool:
			b.WriteString(" bool " + s.Exact.Text)
		}
		if !s.Certain {
			b.WriteString(" uncertain")
		}
		if s.Variable {
			b.WriteString(" variable")
		}
		if s.OneIsTrue {
			b.WriteString(" 1=true")
		}
		fmt.Fprintf(b, " @%s\n", at(text, n.At))
	case keys.Mapping:
		fmt.Fprintf(b, "mapping%s @%s\n", tagged, at(text, n.At))
		for _, e := range n.Entries {
			name := fmt.Sprintf("%q", e.Name)
			if !e.Named {
				name = "?"
			}
			if e.Hidden {
				name += " hidden"
			}
			fmt.Fprintf(b, "%s  %s @%s: ", indent, name, at(text, e.At))
			dumpNode(b, text, e.Value, indent+"  ")
		}
	case keys.List:
		fmt.Fprintf(b, "list%s @%s\n", tagged, at(text, n.At))
		for _, item := range n.Items {
			b.WriteString(indent + "  - ")
			dumpNode(b, text, item, indent+"  ")
		}
	}
}

// TestHead: a document begins where its first line with content does, not at a comment or at "---".
func TestHead(t *testing.T) {
	for _, c := range []struct {
		format Format
		text   string
		want   []string
	}{
		{YAML, "# c\n---\n# d\n  a: 1\n  b: 2\n--- {c: d} # e\n---\n- &x y\r\n", []string{"a: 1", "{c: d} # e", "- &x y"}},
		{JSON, "// c\n {\n  \"a\": 1}", []string{"{"}},
		{HCL, "# c\n\n b \"l\" {\n}\na = 1\n", []string{"b \"l\" {"}},
		{TOML, "# c\n\n [a.b]\nc = 1\n[a]\n", []string{"[a.b]"}},
		{TOML, "# c\n", []string{""}},
	} {
		documents, err := Parse(c.format, []byte(c.text), Limits())
		var got []string
		for _, d := range documents {
			got = append(got, c.text[d.Head.Start:d.Head.End])
		}
		if err != nil || strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

// TestParseErrors: a text that is not of its format is an error with a place, and what was read until then is nothing.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		format Format
		text   string
		offset int
		reason string
	}{
		{YAML, "a: {{ x }}", 4, "a mapping as a key: an unquoted {{ … }} of a template is one"},
		{YAML, "{{ x }}: 1", 1, "a mapping as a key"},
		{YAML, "a: &a {b: c}\n*a : d\n", 3, "a mapping as a key"},
		{YAML, "spec: [", 6, "not YAML: did not find expected node content"},
		{YAML, "é: {b: c\nd: e\n", 4, "not YAML: did not find expected ',' or '}'"},
		{YAML, "a: \"b", 3, "not YAML: found unexpected end of stream"},
		{YAML, "a: b-c: d\n", 6, "not YAML: mapping values are not allowed"},
		{YAML, "a: [b]]\n", 6, "not YAML: "},
		{YAML, "b: 1\n{{- if .c }}\n", 5, "not YAML: "},
		{YAML, "a: 1\n---\nb: [\n", 12, "not YAML: did not find expected node content"},
		{YAML, "a:\n  - b\n c: {% if d %}\n", 10, "not YAML: "},
		{YAML, "x: y\na: *q", 8, "not YAML: unknown anchor 'q' referenced"},
		{YAML, "%YAML 1.3\n---\na: b\n", 0, "not YAML: found incompatible YAML document"},
		{YAML, "a: |\n  x\n\xff", 9, "the byte 0xFF is not UTF-8"},
		{YAML, "\xff\xfea\x00", 0, "the byte 0xFF is not UTF-8"},
		{YAML, "a: é\nb: \x00", 9, "not YAML: control characters"},
		{YAML, "a: \u009f", 3, "not YAML: control characters"},
		{YAML, "a: \uffff", 3, "not YAML: control characters"},
		{YAML, "a: 1\rb: [\r", 8, "not YAML: did not find expected node content"},
		{YAML, strings.Repeat("- a\r", 100_000) + "- [\r", 400_000, "not YAML: did not find"},
		{YAML, strings.Repeat("- a\n", 100_000) + "- *b\n", 400_002, "not YAML: unknown anchor 'b' referenced"},
		{JSON, "[] /* x", 3, "not JSON: "},
		{JSON, "{\"a\": 1 / 2}", 8, "not JSON: a slash"},
		{JSON, "[1] ]", 4, "not JSON: "},
		{JSON, "[,]", 1, "not JSON: "},
		{JSON, "[1], 2", 3, "not JSON: "},
		{JSON, "[{\"a\": ,}]", 7, "not JSON: "},
		{YAML, "{\n\"a\": \"b\",\n\"c\": \"\\q\"}", 18, "not YAML: found unknown escape character"},
		{JSON, "{\n  \"a\": tru}", 12, "not JSON: invalid character"},
		{JSON, "// c\n{\n  \"a\": tru}", 17, "not JSON: invalid character '}' in literal true"},
		{JSON, `{"a":1,,}`, 7, "not JSON: invalid character ','"},
		{JSON, `[1,]]`, 4, "not JSON: "},
		{TOML, "a = 1\na = 2\n", 6, "not TOML: key a is already defined"},
		{TOML, "[a]\n[b]\n[a]\n", 9, "not TOML: table a already exists"},
		{TOML, "x = 1\ny = 1979-13-01", 15, "not TOML: impossible date"},
		{TOML, "a = \n", 4, "not TOML: unexpected character"},
		{TOML, "a = '\xc3'\n", 5, "the byte 0xC3 is not UTF-8"},
		{HCL, "a = 1\na = 2\n", 6, `not HCL: the argument "a" is there twice`},
		{HCL, "b {\n x @ }\n", 7, "not HCL: Invalid character"},
		{HCL, "a = 1 /* x", 6, "not HCL: a comment without its end"},
		{HCL, "a = [1,\n", 8, "not HCL: "},
		{HCL, "a = \"\uFFFD\xff\"", 8, "the byte 0xFF is not UTF-8"},
		{HCL, "a = 'x'", 4, "not HCL: Invalid character: Single quotes are not valid"},
	} {
		documents, err := Parse(c.format, []byte(c.text), Limits())
		var parse *ParseError
		if !errors.As(err, &parse) || parse.Disputed || documents != nil {
			t.Errorf("%.80q: %v, %v; want a parse error", c.text, documents, err)
			continue
		}
		if parse.Offset != c.offset || !strings.HasPrefix(parse.Reason, c.reason) {
			t.Errorf("%.80q: %d: %s; want %d: %s", c.text, parse.Offset, parse.Reason, c.offset, c.reason)
		}
	}
}

// TestDisputed: what programs read differently is refused, with its place and the reading that there is.
func TestDisputed(t *testing.T) {
	for _, c := range []struct {
		format Format
		text   string
		offset int
		reason string
		read   string
	}{
		{YAML, "a: {!!binary Yg==: c}", 4, "a key with the tag !!binary", `{"a":{"b":"c"}}`},
		{YAML, "a: {? &x !!binary Yg==\n : c, *x : 1}", 6, "a key with the tag !!binary", `{"a":{"b":1}}`},
		{YAML, "a: !!binary bmdp-bng6", 3, "a value with the tag !!binary that is not base64", `{"a":"bmdp-bng6"}`},
		{YAML, "a: {&m <<: {b: c}}\nd: {*m : {e: f}}", 23, "an alias of the key <<", `{"a":{"b":"c"},"d":{"e":"f"}}`},
		{YAML, "a: {! \"<<\": {b: c}}", 4, "the key << behind a !", `{"a":{"b":"c"}}`},
		{YAML, "a: {&m ! '<<': {b: c}}", 4, "the key << behind a !", `{"a":{"b":"c"}}`},
		{YAML, "a: {! '<<': b}", 4, "the key << behind a !", `{"a":{"<<":"b"}}`},
		{YAML, "a: {b:}", 5, "the colon before '}' is read differently by YAML parsers: as the end of a key", `{"a":{"b:":null}}`},
		{YAML, "a: {b:, c: 1}", 5, "the colon before ',' is read differently", `{"a":{"b:":null,"c":1}}`},
		{YAML, "a: [b:]", 5, "the colon before ']' is read differently", `{"a":["b:"]}`},
		{YAML, "a: {? b:}", 7, "the colon before '}' is read differently", `{"a":{"b:":null}}`},
		{YAML, "a: {b\n c::, d: 1}", 9, "the colon before ',' is read differently", `{"a":{"b c::":null,"d":1}}`},
		{YAML, "a: {?b: 1}", 4, "the question mark is read differently by YAML parsers", `{"a":{"b":1}}`},
		{YAML, "a: [c , ?b]", 8, "the question mark is read differently", `{"a":["c",{"b":null}]}`},
		{YAML, "a: &x {?#\n b}", 7, "the question mark is read differently", `{"a":{"b":null}}`},
		{YAML, "a: {? :b}", 6, "the colon is read differently by YAML parsers", `{"a":{"":"b"}}`},
		{YAML, "a: {! :b}", 6, "the colon is read differently", `{"a":{"":"b"}}`},
		{YAML, "a: {&x :b}", 7, "the colon is read differently", `{"a":{"":"b"}}`},
		{YAML, "&a: b", 0, "the anchor is read differently by YAML parsers: with ':' in its name", `{"":"b"}`},
		{YAML, "- &a?b c", 2, "the anchor is read differently", `["?b c"]`},
		{YAML, "a: [!Ref, b]", 4, "the tag is read differently by YAML parsers: with a comma or bracket", `{"a":["b"]}`},
		{YAML, "a: [&x !t,b c]", 7, "the tag is read differently", `{"a":["c"]}`},
		{YAML, "---\na: &x 1\n---\nb: *x", 19, "the alias *x has no anchor in its document", `{"a":1} {"b":1}`},
		{YAML, "a: x\u2028b: y", 4, "U+2028 ends a line for some YAML parsers and not for others", ""},
		{YAML, "# \u0085a: b\nc: d\n", 2, "U+0085 ends a line for some", ""},
		{YAML, "a: \"\u2029\"\nb: | # \u2029\n  \u2028\nc: 1\n", 4, "U+2029 ends", ""},
		{YAML, "{\"a\": \"\u0085{{\"} {{", 7, "U+0085 ends", ""},
		{YAML, "\ufeffa: b", 0, "a second byte order mark", ""},
		{YAML, "a: 1\n\ufeffb: 2\n", 5, "a byte order mark here", "{\"a\":1,\"\ufeffb\":2}"},
		{YAML, "# c\n\ufeffb: 2\n", 4, "a byte order mark here", `{"b":2}`},
		{YAML, "a: 1 # \ufeff\n", 7, "a byte order mark here", `{"a":1}`},
		{YAML, "a: '\ufeff'\n", 4, "a byte order mark here", "{\"a\":\"\ufeff\"}"},
		{YAML, "a: 1\n\ufeff---\nb: 1\n", 5, "a byte order mark here", ""},
		{YAML, "---\n\ufeff%b: 1\n", 7, "not YAML: found unexpected non-alphabetical", ""},
		{YAML, "---\n\ufeff---\n\ufeffb: 1\n", 11, "a byte order mark here", `{"b":1}`},
		{YAML, "a: 1\r---\r\ufeffb: 1\r", 9, "a byte order mark here", `{"a":1} {"b":1}`},
		{YAML, "---\n...\n\ufeffb: 1\n", 8, "a byte order mark here", `{"b":1}`},
		{YAML, "---#\n{\"a\":true}\n", 0, "a line that begins with --- ends a document for some", `{"a":true}`},
		{YAML, "b: 1\n---\u00a0\u3000\r\n{\"a\":true}\n", 5, "a line that begins with --- ends", `{"b":1} {"a":true}`},
		{YAML, "---{\"a\":true}\n", 0, "a line that begins with --- ends", `"---{\"a\":true}"`},
		{YAML, "a: \"b\n---c\"\n", 6, "a line that begins with --- ends", `{"a":"b ---c"}`},
		{YAML, "{\"a\": 1}\n{\"b\": 2}", 9, "not YAML: did not find expected <document start>", `{"a":1} {"b":2}`},
		{JSON, "{\"a\":\"\xff\"}", 6, "the byte 0xFF is not UTF-8", "{\"a\":\"\ufffd\"}"},
		{JSON, `{"a":"\ud800"}`, 6, "not JSON: ", "{\"a\":\"\ufffd\"}"},
		{JSON, "{ // x\r\"a\": 1\n}", 6, "a character that ends the line, and so the comment", "{}"},
		{JSON, "{} // x\u2028\"a\": 1\r\n", 7, "a character that ends the line", "{}"},
		{HCL, "a {\n  \"b.c\" = \"1\"\n}\n", 6, "this is HCL 1", ""},
		{HCL, "a {\n  b = 1,\n  c = 2\n}\n", 11, "this is HCL 1", ""},
		{HCL, "a { b = 1, c = 2 }\n", 9, "this is HCL 1", ""},
	} {
		documents, err := Parse(c.format, []byte(c.text), Limits())
		var parse *ParseError
		if !errors.As(err, &parse) || !parse.Disputed || parse.Offset != c.offset || !strings.HasPrefix(parse.Reason, c.reason) {
			t.Errorf("%q: %+v; want %d: %s", c.text, err, c.offset, c.reason)
			continue
		}
		var read []string
		for _, d := range documents {
			read = append(read, strings.TrimSuffix(marshal(t, plain(d.Root)), "\n"))
		}
		if got := strings.Join(read, " "); got != c.read {
			t.Errorf("%q: it is read as %s; want %s", c.text, got, c.read)
		}
	}
}

func TestOf(t *testing.T) {
	for path, want := range map[string]Format{
		"a.yaml": YAML, "a/b.YML": YAML, "a.json": JSON, "a.jsonc": JSON, "main.tf": HCL, "MAIN.TF": HCL, "a.tofu": HCL,
		"a.tfvars": HCL, "a.hcl": HCL, "a.tf.json": TerraformJSON, "a.TF.Json": TerraformJSON,
		"a.tofu.json": TerraformJSON, "a.tfvars.json": JSON, "a.toml": TOML,
		".yaml": YAML, "a.toml.bak": "", "yaml": "", "a.tf/b": "", "": "", "a.yaml.j2": "", "Kelvin.\u212aaml": "",
	} {
		if got, ok := Of(path); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", path, got, ok)
		}
	}
	if _, err := Parse("xml", nil, Limits()); err == nil {
		t.Error("XML is read")
	}
}
