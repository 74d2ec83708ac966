package naive

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Value is what a rule names, and what a scalar is in a format.
type Value struct {
	Kind ValueKind
	Text string // of a boolean true or false, of a number its spelling
}

// A ValueKind is the type of a value.
type ValueKind string

const (
	noKind      ValueKind = ""
	textKind    ValueKind = "text"
	booleanKind ValueKind = "boolean"
	numberKind  ValueKind = "number"
)

// is reports whether two values are equal.
func (v Value) is(other Value) bool {
	if v.Kind == noKind || v.Kind != other.Kind {
		return false
	}
	if v.Kind == numberKind {
		return decimal(v.Text) == decimal(other.Text)
	}
	return v.Text == other.Text
}

// couldBe reports whether a scalar could be read as the value of a forbidden item.
func (s Scalar) couldBe(v Value) bool {
	return s.Exact.is(v) || slices.ContainsFunc(s.Texts, func(text string) bool {
		switch v.Kind {
		case booleanKind:
			b, ok := boolean(text)
			if !ok && s.Binary && (text == "1" || text == "0") {
				b, ok = text == "1", true
			}
			return ok && b == (v.Text == "true")
		case numberKind:
			return slices.Contains(numbers(text), decimal(v.Text))
		}
		return text == v.Text
	})
}

// certainly reports whether a scalar is the value and nothing else. Without quotes the versions of YAML differ: what
// one of them reads otherwise is not certain.
func (s Scalar) certainly(v Value) bool {
	if !s.Exact.is(v) {
		return false
	}
	same := func(other Value) bool { return other.is(s.Exact) }
	return !s.Plain || same(version1(s.Texts[0])) && same(goYAML(s.Texts[0]))
}

// linesOf are the lines of a text, a last line end aside.
func linesOf(text string) []string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// boolean reads a text as the booleans of all formats are written, but for 1 and 0.
func boolean(text string) (value, ok bool) {
	for _, word := range []string{"true", "yes", "on", "y", "false", "no", "off", "n"} {
		title := strings.ToUpper(word[:1]) + word[1:]
		if text == word || text == title || text == strings.ToUpper(word) {
			return slices.Contains([]string{"true", "yes", "on", "y"}, word), true
		}
	}
	return false, false
}

// The spellings of numbers. An underscore may be anywhere behind the first digit.
var (
	inBase = map[int]*regexp.Regexp{
		16: regexp.MustCompile(`^[-+]?0[xX]([0-9a-fA-F_]+)$`),
		8:  regexp.MustCompile(`^[-+]?0[oO]?([0-7_]+)$`),
		2:  regexp.MustCompile(`^[-+]?0[bB]([01_]+)$`),
	}
	inTen   = regexp.MustCompile(`^[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9][0-9_]*)?$`)
	inSixty = regexp.MustCompile(`^[-+]?(?:[1-9][0-9_]*(:[0-5]?[0-9])+|[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*)$`)
)

// numbers are the numbers that a text is in some format, or in some version of one.
func numbers(text string) []string {
	var all []string
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign = "-"
	}
	for base, form := range inBase {
		if digits := form.FindStringSubmatch(text); digits != nil {
			if i, ok := new(big.Int).SetString(strings.ReplaceAll(digits[1], "_", ""), base); ok {
				all = append(all, decimal(sign+i.String()))
			}
		}
	}
	plain := strings.ReplaceAll(text, "_", "")
	if inTen.MatchString(text) {
		all = append(all, decimal(plain))
	}
	if inSixty.MatchString(text) {
		whole, fraction, _ := strings.Cut(strings.TrimLeft(plain, "-+"), ".")
		sum := new(big.Int)
		for part := range strings.SplitSeq(whole, ":") {
			i, _ := new(big.Int).SetString(part, 10)
			sum.Add(sum.Mul(sum, big.NewInt(60)), i)
		}
		all = append(all, decimal(sign+sum.String()+"."+fraction))
	}
	return all
}

// decimal is the one spelling of a number in base ten, or in hexadecimal, octal or binary with its prefix: the sign,
// the digits without zeros at the ends, and the exponent.
func decimal(text string) string {
	text = strings.ReplaceAll(text, "_", "")
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign = "-"
	}
	text = strings.ToLower(strings.TrimLeft(text, "-+"))
	for prefix, base := range map[string]int{"0x": 16, "0o": 8, "0b": 2} {
		if digits, ok := strings.CutPrefix(text, prefix); ok {
			i, _ := new(big.Int).SetString(digits, base)
			text = i.String()
		}
	}
	text, power, _ := strings.Cut(text, "e")
	exponent := new(big.Int)
	if power != "" {
		exponent.SetString(strings.TrimPrefix(power, "+"), 10)
	}
	whole, fraction, _ := strings.Cut(text, ".")
	exponent.Sub(exponent, big.NewInt(int64(len(fraction))))
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	exponent.Add(exponent, big.NewInt(int64(len(digits)-len(short))))
	if short == "" {
		return "0"
	}
	return sign + short + "e" + exponent.String()
}

// The 1.2 core schema.
var (
	isInteger = regexp.MustCompile(`^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	isFloat   = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	isNull    = regexp.MustCompile(`^(|~|null|Null|NULL)$`)
	isBoolean = regexp.MustCompile(`^(true|True|TRUE|false|False|FALSE)$`)
	isSpecial = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// coreSchema is what a text without quotes is; of no kind for null, an infinity and what is not a number.
func coreSchema(text string) Value {
	switch {
	case isNull.MatchString(text), isSpecial.MatchString(text):
		return Value{}
	case isBoolean.MatchString(text):
		return Value{booleanKind, strings.ToLower(text)}
	case isInteger.MatchString(text), isFloat.MatchString(text):
		return Value{numberKind, text}
	}
	return Value{textKind, text}
}

// What yaml.org says of the types of YAML 1.1.
var (
	integer1 = regexp.MustCompile(`^[-+]?(0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|0b[01_]+)$`)
	octal1   = regexp.MustCompile(`^[-+]?0[0-7_]+$`)
	float1   = regexp.MustCompile(`^[-+]?([0-9][0-9_]*)?\.[0-9.]*([eE][-+][0-9]+)?$`)
	sixty1   = regexp.MustCompile(`^[-+]?([1-9][0-9_]*(:[0-5]?[0-9])+|[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*)$`)
)

// version1 is what a text without quotes is in YAML 1.1; of no kind for a date and the like.
func version1(text string) Value {
	word, ok := boolean(text)
	switch {
	case ok:
		return Value{booleanKind, strconv.FormatBool(word)}
	case octal1.MatchString(text):
		sign, digits := "", strings.TrimLeft(text, "-+")
		if text[0] == '-' {
			sign = "-"
		}
		return Value{numberKind, sign + "0o" + digits}
	case integer1.MatchString(text), float1.MatchString(text):
		return Value{numberKind, text}
	case sixty1.MatchString(text), date.MatchString(text), special.MatchString(text):
		return Value{}
	}
	return Value{textKind, text}
}

// goYAML is what a text without quotes is for yaml.v3: numbers as Go reads them, underscores aside.
func goYAML(text string) Value {
	plain := strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return Value{numberKind, strconv.FormatInt(i, 10)}
	}
	if isFloat.MatchString(plain) {
		return Value{numberKind, plain}
	}
	if date.MatchString(text) {
		return Value{}
	}
	return coreSchema(text)
}
