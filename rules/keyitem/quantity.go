package keyitem

import (
	"slices"
	"strings"
)

// ParseQuantity reads a quantity as Kubernetes' API machinery does (k8s.io/apimachinery/pkg/api/resource): a decimal
// number with a suffix, such as 500m, 1.5Gi or 2e3. Its value is exact.
func ParseQuantity(text string) (Number, bool) {
	body := unsign(text)
	end := strings.IndexFunc(body, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(body)
	}
	number, suffix := body[:end], body[end:]
	whole, fraction, _ := strings.Cut(number, ".")
	if number == "" || number == "." || strings.Contains(fraction, ".") {
		return Number{}, false
	}
	exponent, factor := "", uint64(1)
	if power, ok := decimalPower(suffix); ok {
		exponent = power
	} else if i := slices.Index(binarySuffixes[:], suffix); i >= 0 {
		factor = 1 << (10 * (i + 1))
	} else if exponent = suffix[1:]; suffix[0] != 'e' && suffix[0] != 'E' || !areDigits(unsign(exponent)) {
		return Number{}, false
	}
	if factor > 1 {
		whole = times(whole+fraction, factor)
		point := len(whole) - len(fraction)
		whole, fraction = whole[:point], whole[point:]
	}
	return canonical(whole, fraction, exponent).signed(text[0] == '-'), true
}

// decimalPower returns the power of ten of a suffix without an i.
func decimalPower(suffix string) (power string, ok bool) {
	i := strings.Index("numkMGTPE", suffix)
	if len(suffix) > 1 || i < 0 {
		return "", false
	}
	if suffix == "" {
		return "", true
	}
	return [...]string{"-9", "-6", "-3", "3", "6", "9", "12", "15", "18"}[i], true
}

// binarySuffixes are powers of 1024, from the first.
var binarySuffixes = [...]string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// times multiplies decimal digits by a factor of at most 1<<60, in time linear in their number. The product has at
// least as many digits.
func times(digits string, factor uint64) string {
	product, carry := make([]byte, 0, len(digits)+19), uint64(0)
	for i := len(digits) - 1; i >= 0 || carry > 0; i-- {
		if i >= 0 {
			carry += uint64(digits[i]-'0') * factor
		}
		product, carry = append(product, '0'+byte(carry%10)), carry/10
	}
	slices.Reverse(product)
	return string(product)
}
