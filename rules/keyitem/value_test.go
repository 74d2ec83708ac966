package keyitem

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// TestValuesOfYAML: a value that yaml.v3 does not read as a string is no string here, or is a JSON number.
func TestValuesOfYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+]?[0-9.]{0,3}[-_:xobXOBeE.]?[0-9a-fA-F_:T-]{0,6}|true|[yY]es|[oO]ff|null|~|2[0-9]{3}-[01]?[0-9]-[0-3]?[0-9]`).Draw(t, "text")
		var n yaml.Node
		if err := yaml.Unmarshal([]byte("- "+text), &n); err != nil || n.Content[0].Content[0].Kind != yaml.ScalarNode || n.Content[0].Content[0].Value != text {
			t.Skip()
		}
		v, err := ParseValue(text, false)
		tag := n.Content[0].Content[0].Tag
		if err == nil && (tag == "!!str") != (v.Kind == TextValue) && !strings.ContainsAny(text, "eE") { // 1e999 is too large for it
			t.Errorf("%s: %+v, and yaml.v3 has %s", text, v, tag)
		}
		if err == nil && v.Kind == NumberValue && !json.Valid([]byte(text)) {
			t.Errorf("%s is a number", text)
		}
	})
}

// A grammar is a format's syntax of numbers, with their values.
type grammar struct {
	form  *regexp.Regexp
	value func(m []string) *big.Rat
}

func inRat(base int) func(m []string) *big.Rat {
	return func(m []string) *big.Rat {
		n, ok := new(big.Int).SetString(m[1]+m[2], base)
		if !ok {
			return nil
		}
		return new(big.Rat).SetInt(n)
	}
}

func floatRat(m []string) *big.Rat {
	mantissa := m[2]
	if strings.HasPrefix(mantissa, ".") {
		mantissa = "0" + mantissa
	}
	n, ok := new(big.Rat).SetString(m[1] + strings.TrimSuffix(mantissa, ".") + m[3])
	if !ok {
		return nil
	}
	return n
}

func sixtyRat(m []string) *big.Rat {
	sum := new(big.Rat)
	for _, part := range strings.Split(m[2], ":") {
		n, _ := new(big.Rat).SetString(part)
		sum.Add(sum.Mul(sum, big.NewRat(60, 1)), n)
	}
	if len(m) > 3 && m[3] != "" {
		n, _ := new(big.Rat).SetString("0." + m[3])
		sum.Add(sum, n)
	}
	if m[1] == "-" {
		sum.Neg(sum)
	}
	return sum
}

// grammars are https://yaml.org/type/int.html and float.html, YAML 1.2's core schema, strconv.ParseInt, TOML, JSON and
// HCL, all without underscores.
func grammars() []grammar {
	return []grammar{
		{regexp.MustCompile(`^([-+]?)0[bB]([01]+)$`), inRat(2)},
		{regexp.MustCompile(`^([-+]?)0[oO]?([0-7]+)$`), inRat(8)},
		{regexp.MustCompile(`^([-+]?)0[xX]([0-9a-fA-F]+)$`), inRat(16)},
		{regexp.MustCompile(`^([-+]?)([0-9]+)$`), inRat(10)},
		{regexp.MustCompile(`^([-+]?)(\.[0-9]+|[0-9]+(?:\.[0-9]*)?)((?:[eE][-+]?[0-9]+)?)$`), floatRat},
		{regexp.MustCompile(`^([-+]?)([1-9][0-9]*(?::[0-5]?[0-9])+)$`), sixtyRat},
		{regexp.MustCompile(`^([-+]?)([0-9]+(?::[0-5]?[0-9])+)\.([0-9]*)$`), sixtyRat},
	}
}

// numberLike matches strings that often are numbers, with exponents that a big.Rat can hold.
const numberLike = `[-+]?(0[xXoObB][0-9a-fA-F_]{0,8}|[0-9_]{0,6}\.?[0-9_]{0,4}([eE][-+]{0,2}[0-9]{1,3})?|[0-9]{1,3}(:[0-9]{1,2}){1,4}(\.[0-9]{0,3})?|0{0,3}[1-9]{0,3}0{0,3}\.?0{0,3})`

// TestReadings: the readings of a string are exactly the numbers of the grammars.
func TestReadings(t *testing.T) {
	all := grammars()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(numberLike).Draw(t, "text")
		var want []*big.Rat
		if !strings.HasPrefix(text, "_") {
			for _, g := range all {
				if m := g.form.FindStringSubmatch(strings.ReplaceAll(text, "_", "")); m != nil {
					want = append(want, g.value(m))
				}
			}
		}
		got := Readings(text)
		for _, w := range want {
			if !hasRat(got, w) {
				t.Errorf("%s has no reading %s: %v", text, w.RatString(), got)
			}
		}
		for _, n := range got {
			found := false
			for _, w := range want {
				found = found || hasRat([]Number{n}, w)
			}
			if !found {
				t.Errorf("%s has the reading %s", text, n)
			}
		}
	})
}

func hasRat(numbers []Number, want *big.Rat) bool {
	for _, n := range numbers {
		if r, ok := new(big.Rat).SetString(n.String()); ok && r.Cmp(want) == 0 {
			return true
		}
	}
	return false
}

// TestNumbersAreEqual: numbers are equal if and only if math/big says so.
func TestNumbersAreEqual(t *testing.T) {
	form := rapid.StringMatching(`[-+]?0{0,2}[12]{0,2}0{0,3}(\.0{0,3}[12]?0{0,2})?([eE][-+]?0{0,2}[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := form.Draw(t, "a"), form.Draw(t, "b")
		m, okA := Decimal(a)
		n, okB := Decimal(b)
		if !okA || !okB {
			t.Skip()
		}
		x, y := rat(t, a), rat(t, b)
		if (m == n) != (x.Cmp(y) == 0) || m.CouldBe(n) != (m == n) || !m.Certain() {
			t.Errorf("%s and %s: %v, %v", a, b, m == n, x.Cmp(y) == 0)
		}
		if again, ok := Decimal(m.String()); !ok || again != m {
			t.Errorf("%s is %s, which is %s", a, m, again)
		}
	})
}

func rat(t *rapid.T, text string) *big.Rat {
	text = strings.Replace(text, ".e", ".0e", 1)
	text = strings.Replace(text, ".E", ".0E", 1)
	r, ok := new(big.Rat).SetString(strings.TrimSuffix(text, "."))
	if !ok {
		t.Fatalf("math/big does not read %s", text)
	}
	return r
}

// TestLongExponents: an exponent of many digits is cheap and exact.
func TestLongExponents(t *testing.T) {
	nines := strings.Repeat("9", 40)
	for _, same := range [][2]string{
		{"1e999999999", "10e999999998"},
		{"1e" + nines, "0.1e1" + strings.Repeat("0", 40)},
		{"1e-1" + strings.Repeat("0", 40), "10e-1" + strings.Repeat("0", 39) + "1"},
		{"1e-1" + strings.Repeat("0", 40), "0.1e-" + nines},
		{"100e99999999999999999", "1e100000000000000001"},
		{"0e" + nines, "-0.0"},
		{"1e+00" + nines, "1E" + nines},
	} {
		m, okM := Decimal(same[0])
		n, okN := Decimal(same[1])
		if !okM || !okN || m != n {
			t.Errorf("%s and %s: %+v, %+v", same[0], same[1], m, n)
		}
	}
	long := strings.Repeat("9", 5000)
	huge, _ := Decimal("1e" + long)
	tiny, _ := Decimal("1e-" + long)
	if huge.Certain() || tiny.Certain() || huge.CouldBe(tiny) || !tiny.CouldBe(tiny) || tiny.CouldBe(Number{}) {
		t.Errorf("an exponent of 5000 digits: %+v and %+v", huge, tiny)
	}
}

// TestLongDigits: a long number in another base is not converted, and could be any of about its length.
func TestLongDigits(t *testing.T) {
	long := Readings("0x" + strings.Repeat("f", 5000))[0]
	alike, ok := Decimal(strings.Repeat("7", 6000))
	if !ok || long.Certain() || !long.CouldBe(alike) || !alike.CouldBe(long) || !long.CouldBe(long) {
		t.Errorf("a number of 5000 hexadecimal digits: %+v", long)
	}
	for _, other := range []string{"22", "-" + strings.Repeat("7", 6000), "0.1e-99999999999999999999", "1e1000", "0"} {
		n, ok := Decimal(other)
		if !ok || long.CouldBe(n) || n.CouldBe(long) {
			t.Errorf("a number of 5000 hexadecimal digits could be %s", other)
		}
	}
	if n, ok := Decimal("1e99999999999999999999"); !ok || !long.CouldBe(n) {
		t.Errorf("%+v", n)
	}
	if n := Readings(strings.Repeat("1:", 5000) + "1"); len(n) != 1 || n[0].Certain() {
		t.Errorf("%+v", n)
	}
	if a, b := Readings("0x" + strings.Repeat("0", 9000) + "16")[0], Readings("22")[0]; a != b {
		t.Errorf("%+v is not %+v", a, b)
	}
}

// FuzzNumber: parsing never fails, and a JSON number is the one that math/big reads.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"022", "0x_1", "1:30.5", "1e999999999", "-0.0e-0", "+.5", "1_", "0b", "9.e+1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := Readings(text)
		n, ok := Decimal(text)
		if ok && !strings.Contains(text, ":") {
			found := false
			for _, other := range all {
				found = found || other == n
			}
			if !found {
				t.Errorf("%q is %s, and its readings are %v", text, n, all)
			}
		}
		if isJSONNumber(text) != (json.Valid([]byte(text)) && strings.TrimSpace(text) == text && text != "" && (text[0] == '-' || isDigit(text[0]))) {
			t.Errorf("%q is a number of JSON: %v", text, isJSONNumber(text))
		}
		if _, exponent, _ := cutAny(text, "eE"); len(exponent) > 4 || len(text) > 1000 || !isJSONNumber(text) {
			return
		}
		if want, good := new(big.Rat).SetString(text); !good || !hasRat([]Number{n}, want) {
			t.Errorf("%q is %s", text, n)
		}
	})
}
