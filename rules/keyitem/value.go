package keyitem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
)

// A Value is a value of "is", "is_not" or "where".
type Value struct {
	Kind   ValueKind
	Text   string // the string, the number as written, or "true" or "false"
	Number Number // of a number
	// Quoted: the rule has quotes around it, so it is a string whatever it looks like.
	Quoted bool
}

// ValueKind is the type of a Value.
type ValueKind uint8

// The kinds of value.
const (
	TextValue ValueKind = iota
	NumberValue
	BoolValue
)

// ParseValue reads a YAML value, given without its quotes. An unquoted value must be true, false, a number in JSON's
// syntax, or a string that all versions of YAML read as one. Errors are of type [*Error].
func ParseValue(text string, quoted bool) (Value, error) {
	if quoted {
		return Value{Text: text, Quoted: true}, nil
	}
	refuse := func(what, fix string) (Value, error) {
		if fix != "" {
			fix += "; "
		}
		return Value{}, &Error{
			fmt.Sprintf("%s without quotes, which %s", shown(text), what),
			fmt.Sprintf(`%sif it is a text, add quotes: "%s"`, fix, shown(text)),
		}
	}
	is, isBool := ReadBool(text)
	switch {
	case isBool && slices.Contains([]string{"true", "false"}, strings.ToLower(text)):
		return Value{Kind: BoolValue, Text: strings.ToLower(text)}, nil
	case isBool:
		return refuse("YAML 1.1 reads as a boolean", fmt.Sprintf("write %v", is))
	case slices.Contains([]string{"", "~", "null", "Null", "NULL"}, text):
		if text == "" {
			return Value{}, &Error{"no value", `write "" for the empty text`}
		}
		return refuse("is null: no value equals it", "")
	case isJSONNumber(text):
		n, _ := Decimal(text)
		return Value{Kind: NumberValue, Text: text, Number: n}, nil
	}
	switch readings := Readings(text); len(readings) {
	case 0:
	case 1:
		return refuse("some YAML reads as a number", "write "+readings[0].String())
	default:
		return refuse(fmt.Sprintf("is %s or %s, depending on the version of YAML", readings[0], readings[1]),
			"write the one that is meant")
	}
	switch {
	case notFinite().MatchString(text):
		return refuse("YAML reads as no finite number", "")
	case date().MatchString(text):
		return refuse("YAML reads as a date", "")
	case text == "<<" || text == "=":
		return refuse("YAML 1.1 reads as more than text", "")
	}
	return Value{Text: text}, nil
}

// ReadBool returns the boolean that some version of YAML reads in an unquoted string.
func ReadBool(text string) (is, ok bool) {
	if len(text) == 0 || len(text) > len("false") {
		return false, false
	}
	lower := strings.ToLower(text)
	if text != lower && text != strings.ToUpper(text) && text != strings.ToUpper(text[:1])+lower[1:] {
		return false, false
	}
	switch lower {
	case "true", "yes", "on", "y":
		return true, true
	case "false", "no", "off", "n":
		return false, true
	}
	return false, false
}

// OneReading reports whether YAML 1.1, YAML 1.2 and yaml.v3 read the same value in an unquoted string. They do for 22,
// 0x16, true and Always, and do not for 022, 0o26, 1e3, yes and a date.
func OneReading(text string) bool {
	if _, ok := ReadBool(text); ok {
		return strings.EqualFold(text, "true") || strings.EqualFold(text, "false")
	}
	switch readings := Readings(text); len(readings) {
	case 0:
		return text != "<<" && text != "=" && !date().MatchString(text)
	case 1:
		return AlwaysNumber(text)
	}
	return false
}

// AlwaysNumber reports whether YAML 1.1 and YAML 1.2 read a number in an unquoted string, if not always the same one.
func AlwaysNumber(text string) bool {
	if areDigits(text) && text[0] != '0' { // as most numbers
		return true
	}
	return yaml11Number().MatchString(text) && yaml12Number().MatchString(text)
}

// yaml11Number matches the numbers of https://yaml.org/type/int.html and float.html.
var yaml11Number = late.Regexp(`^[-+]?(?:0b[01_]+|0[0-7_]*|[1-9][0-9_]*|0x[0-9a-fA-F_]+|` +
	`[1-9][0-9_]*(?::[0-5]?[0-9])+|(?:[0-9][0-9_]*)?\.[0-9_]*(?:[eE][-+][0-9]+)?|` +
	`[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)$`)

// yaml12Number matches the numbers of YAML 1.2's core schema.
var yaml12Number = late.Regexp(`^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|` +
	`[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)$`)

// isJSONNumber reports whether a string is a number in JSON's syntax.
func isJSONNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if len(digits) > 1 && digits[0] == '0' && isDigit(digits[1]) {
		return false
	}
	mantissa, exponent, hasExponent := cutAny(digits, "eE")
	whole, fraction, hasFraction := strings.Cut(mantissa, ".")
	return areDigits(whole) && (!hasFraction || areDigits(fraction)) && (!hasExponent || areDigits(unsign(exponent)))
}

// notFinite matches YAML's spellings of infinity and NaN.
var notFinite = late.Regexp(`^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)

// date matches the timestamps of YAML's versions and libraries.
var date = late.Regexp(`^\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d\d?:\d\d?:\d\d?(?:\.\d*)?` +
	`(?:[ \t]*(?:Z|[-+]\d\d?(?::?\d\d)?))?)?$`)
