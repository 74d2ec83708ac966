package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/policyscan/policyscan/agent/call/shell"
	"github.com/policyscan/policyscan/internal/cputime"
)

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
		t.Errorf("a missing value: %s", got)
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
