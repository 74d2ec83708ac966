package keyitem

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
)

// A Number is a decimal number of any size. It is neither rounded nor expanded, so that 1e999999999 costs no more than
// its spelling. Equal numbers are equal by ==. The zero Number is 0.
type Number struct {
	negative bool
	digits   string // significant digits, without zeros at the ends; "" for 0
	exponent string // decimal exponent, without leading zeros; "" for 0
	// huge: the number is in another base and longer than maxRadixDigits, or its exponent is. Only its magnitude is
	// known: at least 10^hugeDigits or, if exponent is "-", closer to 0 than any other number.
	huge bool
}

// A number in another base than ten, or an exponent, is converted only up to this length: the time is quadratic.
const (
	maxRadixDigits = 4096
	hugeDigits     = 1233 // decimal digits that a longer number has at least
)

// CouldBe reports whether two numbers are, or could be, equal. A number with thousands of digits in a base other than
// ten could be each number of about its length.
func (n Number) CouldBe(other Number) bool {
	if n.huge == other.huge {
		return n == other
	}
	if other.huge {
		n, other = other, n
	}
	return n.negative == other.negative && n.exponent == "" && other.isLong()
}

// CouldBeBelow reports whether a number is, or could be, less than another.
func (n Number) CouldBeBelow(other Number) bool {
	return n.order(other) != 1 && n != other || n.huge && n == other
}

// CouldBeAbove reports whether a number is, or could be, greater than another.
func (n Number) CouldBeAbove(other Number) bool { return other.CouldBeBelow(n) }

// order is -1 if a number is less than another, 1 if it is greater, and 0 if they are equal or that is unknown.
func (n Number) order(other Number) int {
	if a, b := n.sign(), other.sign(); a != b {
		return cmp.Compare(a, b)
	}
	a, b, less := n, other, -1
	if n.negative {
		a, b = b, a
	}
	switch {
	case n == other:
		return 0
	case a.huge && b.huge && a.exponent == b.exponent:
		return 0
	case a.huge && a.exponent == "" && !b.huge && b.isLong() || b.huge && b.exponent == "" && !a.huge && a.isLong():
		return 0
	case a.huge && a.exponent == "-" || b.huge && b.exponent == "":
		return less
	case b.huge || a.huge:
		return -less
	}
	if order := a.magnitude().Cmp(b.magnitude()); order != 0 {
		return order
	}
	return cmp.Compare(a.digits, b.digits) // without zeros at the ends, a prefix is less
}

// sign is -1, 0 or 1.
func (n Number) sign() int {
	switch {
	case n.negative:
		return -1
	case n.digits == "" && !n.huge:
		return 0
	}
	return 1
}

// magnitude is the number of digits before the dot, negative for zeros after it. The number is not huge.
func (n Number) magnitude() *big.Int {
	exponent, ok := new(big.Int).SetString(n.exponent, 10)
	if !ok {
		exponent = new(big.Int) // of 0
	}
	return exponent.Add(exponent, big.NewInt(int64(len(n.digits))))
}

// isLong reports whether a number has more than hugeDigits digits before the dot.
func (n Number) isLong() bool {
	exponent, err := strconv.Atoi(n.exponent)
	if err != nil { // larger than an int
		return n.exponent != "" && n.exponent[0] != '-'
	}
	return len(n.digits)+exponent > hugeDigits
}

// Certain reports whether all digits of the number are known.
func (n Number) Certain() bool { return !n.huge }

// String returns the number in JSON's syntax.
func (n Number) String() string {
	switch {
	case n.huge:
		return "a very long number"
	case n.digits == "":
		return "0"
	}
	text := n.digits
	if exponent, err := strconv.Atoi(n.exponent); err == nil && exponent < 0 && -exponent < len(text) {
		text = text[:len(text)+exponent] + "." + text[len(text)+exponent:]
	} else if err == nil && 0 < exponent && exponent <= 20 {
		text += strings.Repeat("0", exponent)
	} else if n.exponent != "0" {
		text += "e" + n.exponent
	}
	if n.negative {
		text = "-" + text
	}
	return text
}

// Readings returns the numbers that a string can mean in the versions of YAML, in TOML, JSON or HCL, or as Go's
// integers, if any. 026 has two: 22 and 26.
func Readings(text string) []Number {
	body, negative, ok := unsigned(text)
	if !ok {
		return nil
	}
	if n, ok := radix(body); ok {
		return []Number{n.signed(negative)}
	}
	if n, ok := sexagesimal(body); ok {
		return []Number{n.signed(negative)}
	}
	n, ok := decimal(body)
	if !ok {
		return nil
	}
	all := []Number{n.signed(negative)}
	if body[0] == '0' && len(body) > 1 && only(body, "01234567") {
		if octal := inBase(body, 8).signed(negative); octal != all[0] {
			all = []Number{octal, all[0]}
		}
	}
	return all
}

// Decimal returns the number in a string, where leading zeros do not mean octal: decimal, or with the prefix 0x, 0o or
// 0b. Underscores are ignored.
func Decimal(text string) (Number, bool) {
	body, negative, ok := unsigned(text)
	if !ok {
		return Number{}, false
	}
	n, ok := radix(body)
	if !ok {
		n, ok = decimal(body)
	}
	return n.signed(negative), ok
}

// unsigned returns a possible number without its sign and its underscores.
func unsigned(text string) (body string, negative, ok bool) {
	if text == "" || text[0] != '-' && text[0] != '+' && text[0] != '.' && !isDigit(text[0]) {
		return "", false, false
	}
	negative = text[0] == '-'
	text = unsign(text)
	if strings.Contains(text, "_") {
		text = strings.ReplaceAll(text, "_", "")
	}
	return text, negative, text != "" && (text[0] == '.' || isDigit(text[0]))
}

func (n Number) signed(negative bool) Number {
	n.negative = negative && (n.digits != "" || n.huge)
	return n
}

func radix(body string) (Number, bool) {
	if len(body) < 3 || body[0] != '0' {
		return Number{}, false
	}
	base, digits := 0, ""
	switch body[1] {
	case 'x', 'X':
		base, digits = 16, "0123456789abcdefABCDEF"
	case 'o', 'O':
		base, digits = 8, "01234567"
	case 'b', 'B':
		base, digits = 2, "01"
	default:
		return Number{}, false
	}
	if !only(body[2:], digits) {
		return Number{}, false
	}
	return inBase(body[2:], base), true
}

func inBase(digits string, base int) Number {
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > maxRadixDigits {
		return Number{huge: true}
	}
	n, ok := new(big.Int).SetString("0"+digits, base)
	if !ok {
		return Number{} // unreachable: they are digits
	}
	return canonical(n.String(), "", "")
}

// sexagesimal reads a number of base 60 as in YAML 1.1: 1:30 is 90, 1:30.5 is 90.5.
func sexagesimal(body string) (Number, bool) {
	whole, fraction, isFloat := strings.Cut(body, ".")
	first, rest, ok := strings.Cut(whole, ":")
	if !ok || !areDigits(first) || first[0] == '0' && !isFloat || fraction != "" && !areDigits(fraction) {
		return Number{}, false
	}
	for part := range strings.SplitSeq(rest, ":") {
		if !areDigits(part) || len(part) > 2 || len(part) == 2 && part[0] > '5' {
			return Number{}, false
		}
	}
	if whole = strings.TrimLeft(whole, "0:"); len(whole) > maxRadixDigits {
		return Number{huge: true}, true
	}
	n, sixty := new(big.Int), big.NewInt(60)
	for part := range strings.SplitSeq(whole, ":") {
		digits, ok := new(big.Int).SetString("0"+part, 10)
		if !ok {
			return Number{}, false // unreachable
		}
		n.Add(n.Mul(n, sixty), digits)
	}
	return canonical(n.String(), fraction, ""), true
}

// decimal reads a decimal number: digits, an optional dot at any place, an optional exponent.
func decimal(body string) (Number, bool) {
	mantissa, exponent, hasExponent := cutAny(body, "eE")
	if hasExponent && !areDigits(unsign(exponent)) {
		return Number{}, false
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" || whole != "" && !areDigits(whole) || fraction != "" && !areDigits(fraction) {
		return Number{}, false
	}
	return canonical(whole, fraction, exponent), true
}

// canonical returns whole.fraction times ten to the exponent.
func canonical(whole, fraction, exponent string) Number {
	digits := whole + fraction
	significant := strings.TrimRight(digits, "0")
	shift := int64(len(digits) - len(significant) - len(fraction))
	significant = strings.TrimLeft(significant, "0")
	switch {
	case significant == "":
		return Number{}
	case exponent == "":
		return Number{digits: significant, exponent: strconv.FormatInt(shift, 10)}
	case len(exponent) > maxRadixDigits && exponent[0] == '-':
		return Number{huge: true, exponent: "-"}
	case len(exponent) > maxRadixDigits:
		return Number{huge: true}
	}
	power, ok := new(big.Int).SetString(exponent, 10)
	if !ok {
		return Number{} // unreachable: they are digits
	}
	return Number{digits: significant, exponent: power.Add(power, big.NewInt(shift)).String()}
}

func unsign(text string) string {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		return text[1:]
	}
	return text
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func areDigits(text string) bool {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	return text != ""
}

func only(text, set string) bool { return strings.Trim(text, set) == "" }

// cutAny is [strings.Cut] at the first of some characters.
func cutAny(text, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(text, chars); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}
