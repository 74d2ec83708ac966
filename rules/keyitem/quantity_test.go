package keyitem

import (
	"math/big"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// scaled is the value of a decimal number without exponent, times a power.
func scaled(text string, base, exponent int64) *big.Rat {
	r, ok := new(big.Rat).SetString(strings.TrimSuffix(strings.TrimPrefix(text, "+"), "."))
	if !ok {
		return nil
	}
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(base), big.NewInt(max(exponent, -exponent)), nil))
	if exponent < 0 {
		power.Inv(power)
	}
	return r.Mul(r, power)
}

// TestQuantities: a quantity is a number and one of the suffixes, and has their product as its value.
func TestQuantities(t *testing.T) {
	form := regexp.MustCompile(`^([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(|[numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]+)$`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+]{0,2}[0-9]{0,4}\.{0,2}[0-9]{0,4}([numkKMGTPEe]?i?|[eE][-+]?[0-9]{0,2}B?)`).Draw(t, "text")
		n, ok := ParseQuantity(text)
		m := form.FindStringSubmatch(text)
		if ok != (m != nil) {
			t.Fatalf("%q: %v %v", text, n, ok)
		}
		if m == nil {
			return
		}
		number := strings.Replace(m[1], ".", "0.", 1) // big.Rat wants a digit before the dot
		if !strings.HasPrefix(strings.TrimLeft(m[1], "-+"), ".") {
			number = m[1]
		}
		var want *big.Rat
		switch suffix := m[2]; {
		case len(suffix) == 2 && suffix[1] == 'i':
			want = scaled(number, 1024, int64(strings.IndexByte("KMGTPE", suffix[0])+1))
		case len(suffix) == 1 && strings.Contains("kMGTPE", suffix):
			want = scaled(number, 1000, int64(strings.IndexByte("kMGTPE", suffix[0])+1))
		case len(suffix) == 1:
			want = scaled(number, 1000, int64(strings.IndexByte("num", suffix[0])-3))
		default:
			exponent, _ := new(big.Int).SetString("0"+strings.Trim(suffix, "eE-+"), 10)
			power := exponent.Int64()
			if strings.Contains(suffix, "-") {
				power = -power
			}
			want = scaled(number, 10, power)
		}
		if !hasRat([]Number{n}, want) {
			t.Errorf("%s is %s, want %s", text, n, want.FloatString(3))
		}
	})
	long := strings.Repeat("9", 1_000_000)
	if n, ok := ParseQuantity(long + "Ei"); !ok || n.String()[:4] != "1152" {
		t.Errorf("a long one: %v, %.20s", ok, n)
	}
}

// TestOrder: numbers are below and above each other as those of big.Rat are. Of two that are too long to be known, each may
// be the lesser.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.StringMatching(`-?[0-9]{1,4}(\.[0-9]{1,3})?(e-?[0-9]{1,2})?`)
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		x, _ := Decimal(a)
		y, _ := Decimal(b)
		p, _ := new(big.Rat).SetString(a)
		q, _ := new(big.Rat).SetString(b)
		if order := p.Cmp(q); x.CouldBeBelow(y) != (order < 0) || x.CouldBeAbove(y) != (order > 0) {
			t.Errorf("%s and %s", a, b)
		}
	})
	hex := "0x1" + strings.Repeat("0", 5000)
	exponent := strings.Repeat("9", 5000)
	for _, c := range []struct {
		a, b         string
		below, above bool
	}{
		{hex, "5", false, true}, {"-" + hex, "5", true, false}, {"5", hex, true, false}, {hex, hex + "0", true, true},
		{hex, "1e2000", true, true}, {hex, "1e1000", false, true}, {"-" + hex, "-1e2000", true, true},
		{"1e" + exponent, "1e-" + exponent, false, true}, {"1e-" + exponent, "0", false, true},
		{"-1e-" + exponent, "0", true, false}, {"1e-" + exponent, "1e-99", true, false},
		{"1e-" + exponent, "1e-1" + exponent, true, true}, {"-1e-" + exponent, "-1e-99", false, true},
	} {
		a, b := Readings(c.a)[0], Readings(c.b)[0]
		if a.CouldBeBelow(b) != c.below || a.CouldBeAbove(b) != c.above {
			t.Errorf("%.10s and %.10s: %v %v", c.a, c.b, a.CouldBeBelow(b), a.CouldBeAbove(b))
		}
	}
}
