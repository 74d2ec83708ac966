package call

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/agent/call/shell"
	"github.com/policyscan/policyscan/internal/cputime"
)

// A made text is JSON in some layout, and the value that it is.
type made struct {
	text  string
	value *Value
}

// spaced is a token with whitespace around it.
func spaced(t *rapid.T, token string) string {
	space := rapid.SampledFrom([]string{"", "", " ", "\t\r\n"})
	return space.Draw(t, "before") + token + space.Draw(t, "after")
}

// madeString is a string of which each character is written in one of the ways that JSON has.
func madeString(t *rapid.T, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		how := rapid.IntRange(0, 2).Draw(t, "how")
		switch i := strings.IndexRune("\b\t\n\f\r\"\\/", r); {
		case i >= 0 && how > 0:
			b.WriteString(`\` + string(`btnfr"\/`[i]))
		case r > 0xFFFF && how == 0:
			fmt.Fprintf(&b, `\u%04x\u%04X`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
		case r < ' ' || i >= 0 || r <= 0xFFFF && how == 0:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return spaced(t, b.String())
}

// numbers are some, and what they are.
var numbers = map[string]float64{
	"0": 0, "-0": 0, "1": 1, "-1.50": -1.5, "1e2": 100, "1E+2": 100, "25e-1": 2.5, "1e-999": 0, "5e-324": 5e-324,
	"123456789012345678901": 123456789012345678901, "1.7976931348623157e308": 1.7976931348623157e308,
}

// makeValue makes a value. In the place of each scalar there may be the text broken, once.
func makeValue(t *rapid.T, depth int, broken *string) made {
	runes := []rune("ab\"\\/\b\n\x00\x7fé\u2028\ufeff\ufffd😀\U0010ffff")
	text := rapid.StringOfN(rapid.SampledFrom(runes), 0, 4, -1)
	kinds := 5
	if depth == 0 {
		kinds = 3
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		if *broken != "" {
			b := *broken
			*broken = ""
			return made{b, nil}
		}
		return made{spaced(t, "null"), &Value{kind: Null}}
	case 1:
		truth := rapid.Bool().Draw(t, "truth")
		return made{spaced(t, fmt.Sprint(truth)), &Value{kind: Bool, truth: truth}}
	case 2:
		number := rapid.SampledFrom(slices.Sorted(maps.Keys(numbers))).Draw(t, "number")
		return made{spaced(t, number), &Value{kind: Number, num: numbers[number]}}
	case 3:
		s := text.Draw(t, "text")
		return made{madeString(t, s), Text(s)}
	case 4:
		v := &Value{kind: List}
		var texts []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			item := makeValue(t, depth-1, broken)
			texts, v.items = append(texts, item.text), append(v.items, item.value)
		}
		return made{spaced(t, "["+strings.Join(texts, ",")+spaced(t, "]")), v}
	}
	v := &Value{kind: Object}
	var texts []string
	for _, name := range rapid.SliceOfNDistinct(text, 0, 3, rapid.ID[string]).Draw(t, "names") {
		item := makeValue(t, depth-1, broken)
		texts = append(texts, madeString(t, name)+":"+item.text)
		v.names, v.items = append(v.names, name), append(v.items, item.value)
	}
	return made{spaced(t, "{"+strings.Join(texts, ",")+spaced(t, "}")), v}
}

// TestParseMade: a value comes out as it was made, however it is written, and the text stays as it is.
func TestParseMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := makeValue(t, 4, new(string))
		text := []byte(m.text)
		got, err := ParseValue(text)
		if err != nil || !reflect.DeepEqual(got, m.value) {
			t.Fatalf("%q: %s, %v; want %s", m.text, got.JSON(), err, m.value.JSON())
		}
		if !bytes.Equal(text, []byte(m.text)) {
			t.Fatalf("%q became %q", m.text, text)
		}
	})
}

// broken are texts with which none is JSON that ParseValue takes, wherever a value belongs.
var broken = []string{
	`01`, `+1`, `.5`, `1.`, `1e`, `-`, `0x1`, `1e999`, `-1e400`, `NaN`, `Infinity`, `nul`, `True`, `undefined`, `'a'`,
	`a`, `1 2`, `1,`, `1}`, `1]`, `"`, `"\x"`, `"\u12"`, `"\u123g"`, `"\`, "\"\n\"", "\"\t\"", "\"\x00\"", "\"\x1f\"",
	"\xff", "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\xbd\"",
	`"\ud83d"`, `"\ude00"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ud83dx\ude00"`, `"\ud83d\\ude00"`,
	`"\\\ud83d"`, `{"\ud83d":1}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":1}`, `{"":1,"":1}`, `{"😀":1,"\ud83d\ude00":1}`,
	`[{"a":{"b":1,"c":2,"b":3}}]`, `[1,]`, `[,1]`, `[1 2]`, `[1`, `[}`, `{"a":1,}`, `{,}`, `{a:1}`, `{"a" 1}`,
	`{"a":}`, `{"a"}`, `{1:1}`, `{"a":1 "b":2}`, `{"a":1`, `{]`,
	"\x00", "\ufeff1", "\u00a01", "\v1", "//x\n1", "/**/1", "#\n1",
}

// TestParseBroken: one mistake anywhere refuses the whole text.
func TestParseBroken(t *testing.T) {
	for _, text := range broken {
		if v, err := ParseValue([]byte(text)); err == nil {
			t.Errorf("%q is taken as %s", text, v.JSON())
		}
	}
	placed := 0
	rapid.Check(t, func(t *rapid.T) {
		mistake := rapid.SampledFrom(broken).Draw(t, "mistake")
		left := mistake
		m := makeValue(t, 4, &left)
		text := m.text
		if left != "" { // it found no place within
			text = rapid.SampledFrom([]string{
				text + " " + mistake, text + " 1", text + ",", text + "\x00", "\ufeff" + text, "," + text,
			}).Draw(t, "text")
		} else {
			placed++
		}
		if v, err := ParseValue([]byte(text)); err == nil {
			t.Fatalf("%q is taken as %s", text, v.JSON())
		}
	})
	if placed == 0 {
		t.Error("no mistake was within a value")
	}
}

// TestParseDepth: 10,000 lists and objects may be in one another.
func TestParseDepth(t *testing.T) {
	for _, nest := range []struct{ open, value, shut string }{{"[", "", "]"}, {`{"a":`, "1", "}"}} {
		for n, ok := range map[int]bool{10_000: true, 10_001: false} {
			text := strings.Repeat(nest.open, n) + nest.value + strings.Repeat(nest.shut, n)
			if _, err := ParseValue([]byte(text)); (err == nil) != ok {
				t.Errorf("%d of %s: %v", n, nest.open, err)
			}
		}
	}
	if _, err := ParseValue([]byte(strings.Repeat("[", 1_000_000))); err == nil {
		t.Error("a million brackets are taken")
	}
}

// An input is an agent's to choose, and a hook that is late is one that did not speak: what is under 100 KB takes no
// second, whatever it is. These took 2 s and 0.9 s.
func TestInputsAreFast(t *testing.T) {
	var members []Member
	for i := 12_000; i > 0; i-- { // JavaScript has such names in numerical order
		members = append(members, Member{fmt.Sprint(i), Text("x")})
	}
	names := NewObject(Member{"a", NewObject(members...)})
	for name, work := range map[string]func(){
		"operators":        func() { shell.Tokens(strings.Repeat(";", 100_000)) },
		"parentheses":      func() { shell.Tokens(strings.Repeat("(", 100_000)) },
		"names of indexes": func() { names.JSON() },
	} {
		if took := cputime.Of(work); took > 800*time.Millisecond {
			t.Errorf("%s: %s", name, took)
		}
	}
}
