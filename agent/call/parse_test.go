package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/policyscan/policyscan/agent/call/shell"
	"github.com/policyscan/policyscan/internal/cputime"
	"pgregory.net/rapid"
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

// makeValue makes a value. One scalar may be replaced by the text broken, once.
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

// TestLines: empty lines are counted but not returned, the last line needs no end, and what cannot be read is said.
func TestLines(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		in   io.Reader
		want string
	}{
		{strings.NewReader(""), ""},
		{strings.NewReader("\n \r\n"), ""},
		{strings.NewReader("{}\r\n\n\t[1] \nx"), "1:{} 3:[1] 4:x"},
		{io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)), "1:a broken"},
		{
			io.MultiReader(strings.NewReader("a\n"), bytes.NewReader(make([]byte, MaxLine+1))),
			"1:a line 2 has over 67108864 bytes",
		},
	} {
		var got []string
		for line := range Lines(c.in) {
			text := string(rune('0'+line.Number)) + ":" + string(line.Text)
			if line.Err != nil {
				text = line.Err.Error()
			}
			got = append(got, text)
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("got %q, want %q", all, c.want)
		}
	}
	for line := range Lines(strings.NewReader("a\nb\n")) {
		if string(line.Text) != "a" {
			t.Errorf("%q is read after the reader has stopped", line.Text)
		}
		break
	}
}

func value(t testing.TB, text string) *Value {
	t.Helper()
	v, err := ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestJSON: what JSON.stringify(JSON.parse(x)) is in Node 22 for each of these.
func TestJSON(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` { "b" : [ 1 , true , null ] , "a" : "x" } `, `{"b":[1,true,null],"a":"x"}`},
		{`{"b":1,"10":2,"9":3,"-1":4,"01":5,"4294967294":6,"4294967295":7}`,
			`{"9":3,"10":2,"4294967294":6,"b":1,"-1":4,"01":5,"4294967295":7}`},
		{`[1.0,1e2,-0,0.1,1e21,1e-7,123456789012345678901,5e-324]`,
			`[1,100,0,0.1,1e+21,1e-7,123456789012345680000,5e-324]`},
		{`"\u2028\u00e9\/<>&\u007f"`, "\"\u2028é/<>&\x7f\""},
		{`" a b"`, `" a b"`},
		{`"\b\t\n\f\r\u0001\u001f\\\""`, `"\b\t\n\f\r\u0001\u001f\\\""`},
		{`{}`, `{}`}, {`[]`, `[]`},
	} {
		if got := value(t, c.in).JSON(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
	if got := (*Value)(nil).JSON(); got != "null" {
		t.Errorf("a value that is not there: %s", got)
	}
}

func TestParseValueRefuses(t *testing.T) {
	for in, want := range map[string]string{
		``:                         "empty",
		` `:                        "empty",
		`{"a":1} x`:                "more after",
		`{"a":1}{"a":1}`:           "more after",
		`{"a":1,"a":2}`:            `the name "a" occurs twice`,
		`[{"b":{"a":1,"a":2}}]`:    `the name "a" occurs twice`,
		`{"a":`:                    "not JSON",
		`nul`:                      "not JSON",
		"\"\xff\"":                 "invalid UTF-8, at byte 1",
		`1e999`:                    "out of range",
		strings.Repeat("[", 20000): "not JSON",
		`"\ud83d"`:                 "invalid surrogate pair `\\ud83d\"` in string, at byte 1",
		`"\uDE00"`:                 "invalid surrogate pair `\\uDE00\"`",
		`{"\ud83d":1}`:             "invalid surrogate pair",
		`"\ud83dx\ude00"`:          "invalid surrogate pair",
		`"\ud83d\u0041"`:           "invalid surrogate pair",
		`"\ud83d\ud83d\ude00"`:     "invalid surrogate pair",
		`"\ud83d\\ude00"`:          "invalid surrogate pair",
		`"\\\ude00"`:               "invalid surrogate pair `\\ude00\"`",
		`["\ud83d","\ude00"]`:      "invalid surrogate pair",
	} {
		v, err := ParseValue([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v and %v, want an error with %q", in, v.JSON(), err, want)
		}
	}
}

// FuzzParseValue: what is taken means the same to encoding/json, and so does what is written of it.
func FuzzParseValue(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e3,"x",null,true]}`, `"é\ud83d\ude00"`, `{"2":1,"1":2}`, `[[[]]]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := ParseValue(text)
		if err != nil {
			return
		}
		var want, got any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q was taken, but encoding/json says %v", text, err)
		}
		if err := json.Unmarshal([]byte(v.JSON()), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q became %q: %v", text, v.JSON(), err)
		}
	})
}

// TestParsePairs: a pair of surrogates is a character, and a broken escape is text.
func TestParsePairs(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud83d\ude00"`: "😀", `"\uD83D\uDE00\uD83D\uDE00"`: "😀😀", `"\\ud83d"`: `\ud83d`,
		`"\\\\ud83d\u0041"`: `\\ud83dA`, `"\ufffd"`: "\ufffd",
	} {
		if got := value(t, in).Str(); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	v := value(t, `{"a":{"b":[10,{"c":"x"}]},"a.b":1,"":{"":2},"n":null}`)
	for _, c := range []struct {
		path string
		want string // "" is nothing
	}{
		{"a b 0", "10"}, {"a b 1 c", `"x"`}, {"a b 2", ""}, {"a b -1", ""}, {"a b 00", ""}, {"a b length", ""},
		{"a.b", "1"}, {"a b c", ""}, {"n", "null"}, {"n x", ""}, {"a x y", ""},
	} {
		got := v.At(strings.Fields(c.path)...)
		if c.want == "" && got != nil || c.want != "" && got.JSON() != c.want {
			t.Errorf("%s: got %s, want %s", c.path, got.JSON(), c.want)
		}
	}
	if got := v.At("", ""); got.JSON() != "2" {
		t.Errorf("an empty name is a name: got %s", got.JSON())
	}
}

func TestSame(t *testing.T) {
	all := []string{`null`, `true`, `false`, `0`, `1`, `"1"`, `"true"`, `""`, `[]`, `[1]`, `{}`}
	for i, a := range all {
		for j, b := range all {
			want := i == j && a[0] != '[' && a[0] != '{'
			if got := value(t, a).Same(value(t, b)); got != want {
				t.Errorf("%s and %s: got %v", a, b, got)
			}
		}
	}
	if !value(t, `1.0`).Same(value(t, `1`)) {
		t.Error("1.0 and 1 are one number")
	}
}

// A value of another kind is neither true nor a number, nor has it a text.
func TestKinds(t *testing.T) {
	for text, want := range map[string]struct {
		truth bool
		num   float64
		str   string
	}{`true`: {truth: true}, `false`: {}, `2.5`: {num: 2.5}, `"true"`: {str: "true"}, `null`: {}, `[1]`: {}} {
		if v := value(t, text); v.True() != want.truth || v.Num() != want.num || v.Str() != want.str {
			t.Errorf("%s: %v, %v, %q", text, v.True(), v.Num(), v.Str())
		}
	}
}

func TestWith(t *testing.T) {
	v := value(t, `{"a":1,"b":2}`)
	if got := v.With(Member{"b", Text("x")}, Member{"c", Text("y")},
		Member{"d", nil}).JSON(); got != `{"a":1,"b":"x","c":"y"}` {
		t.Error(got)
	}
	if v.JSON() != `{"a":1,"b":2}` {
		t.Errorf("the value itself changed: %s", v.JSON())
	}
}

// TestManyIndexes: names that are array indexes are put in order in less than the square of their number. 100000 of
// them, downwards, took four minutes.
func TestManyIndexes(t *testing.T) {
	var members []Member
	for i := 30_000; i > 0; i-- {
		members = append(members, Member{strconv.Itoa(i), Text("")})
	}
	var got string
	took := cputime.Of(func() {
		got = NewObject(append(members, Member{"a", Text("")},
			Member{"0", Text("")})...).JSON()
	})
	if took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if !strings.HasPrefix(got, `{"0":"","1":"","2":"",`) || !strings.HasSuffix(got, `,"30000":"","a":""}`) {
		t.Errorf("%.40s", got)
	}
}
