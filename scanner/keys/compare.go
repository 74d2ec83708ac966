package keys

import (
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/rules/regex"
)

// forbids reports whether a forbidden item refuses a value. An empty list has no item that is not one of the allowed.
func forbids(item *keyitem.Item, n *Node) bool {
	if isNot := item.Asks == keyitem.IsNot || item.Asks == keyitem.MatchesNot; isNot && n.Kind == List && !n.Tagged {
		return false
	}
	return couldHold(&item.Condition, n)
}

// couldHold reports whether a condition holds for a value in its broadest reading. IsNot and MatchesNot hold unless the
// value is certainly one of the others.
func couldHold(c *keyitem.Condition, n *Node) bool {
	scalar := n.Kind == ScalarNode
	switch c.Asks {
	case keyitem.Is:
		return scalar && couldBeAny(&n.Scalar, c.Values)
	case keyitem.IsNot:
		return !scalar || n.Scalar.Plain && !keyitem.OneReading(n.Scalar.Texts[0]) || !equalsAny(&n.Scalar, c.Values)
	case keyitem.Matches:
		matches := func(text string) bool { return c.Match.Match([]byte(text)) }
		return scalar && slices.ContainsFunc(n.Scalar.Texts, matches)
	case keyitem.MatchesNot:
		return !scalar || !n.Scalar.Certain || !allLines(c.Match, n.Scalar.Texts[0])
	case keyitem.Below:
		below := func() bool { return slices.ContainsFunc(n.Scalar.numbers(c.Quantity), c.Limit.CouldBeAbove) }
		return scalar && (n.Scalar.infinity(c.Quantity) < 0 || below())
	case keyitem.Above:
		above := func() bool { return slices.ContainsFunc(n.Scalar.numbers(c.Quantity), c.Limit.CouldBeBelow) }
		return scalar && (n.Scalar.infinity(c.Quantity) > 0 || above())
	}
	return true
}

// joinedIs reports whether a list is a command whose strings, joined, could be as a condition says.
func (n *Node) joinedIs(c *keyitem.Condition) bool {
	return n.Joined != nil && (c.Asks == keyitem.Is || c.Asks == keyitem.Matches) && couldHold(c, n.Joined)
}

// satisfies reports whether a value is certainly as a condition of a required item requires.
func satisfies(c *keyitem.Condition, n *Node) bool {
	if n.Kind != ScalarNode {
		return false
	}
	switch s := &n.Scalar; c.Asks {
	case keyitem.Is:
		return equalsAny(s, c.Values)
	case keyitem.Matches:
		return s.Certain && allLines(c.Match, s.Texts[0])
	case keyitem.AtLeast:
		return s.certainly(c.Quantity, func(n keyitem.Number) bool { return !n.CouldBeBelow(c.Limit) })
	case keyitem.AtMost:
		return s.certainly(c.Quantity, func(n keyitem.Number) bool { return !n.CouldBeAbove(c.Limit) })
	}
	return false
}

// numbers returns all numbers that a scalar could be.
func (s *Scalar) numbers(quantity bool) (all []keyitem.Number) {
	for _, text := range s.Texts {
		if n, ok := keyitem.ParseQuantity(text); ok && quantity {
			all = append(all, n)
		}
		if !quantity || s.Plain || s.Exact.Type != ExactText {
			all = append(all, keyitem.Readings(text)...)
		}
	}
	return all
}

// certainly reports whether a scalar is a number, or a quantity, and is as asked.
func (s *Scalar) certainly(quantity bool, is func(keyitem.Number) bool) bool {
	other := func(n keyitem.Number) bool { return !is(n) }
	if s.Plain && slices.ContainsFunc(keyitem.Readings(s.Texts[0]), other) {
		return false
	}
	if quantity {
		n, ok := keyitem.ParseQuantity(s.Texts[0])
		return ok && s.Certain && is(n)
	}
	n, ok := keyitem.Decimal(s.Exact.Text)
	return ok && s.Exact.Type == ExactNumber && (!s.Plain || keyitem.AlwaysNumber(s.Texts[0])) && n.Certain() && is(n)
}

// infinity is the sign of a value that could be infinite; 0 of any other. A quantity in quotes is not.
func (s *Scalar) infinity(quantity bool) int {
	for _, text := range s.Texts {
		sign, name := 1, strings.TrimPrefix(text, "+")
		if negative, ok := strings.CutPrefix(text, "-"); ok {
			sign, name = -1, negative
		}
		bare := s.Exact.Type == NoType
		if (bare || !quantity) && slices.Contains([]string{".inf", ".Inf", ".INF"}, name) || bare && name == "inf" {
			return sign
		}
	}
	return 0
}

func couldBeAny(s *Scalar, values []keyitem.Value) bool {
	return slices.ContainsFunc(values, func(v keyitem.Value) bool { return couldBe(s, v) })
}

func equalsAny(s *Scalar, values []keyitem.Value) bool {
	return slices.ContainsFunc(values, func(v keyitem.Value) bool { return equals(s, v) })
}

// couldBe reports whether a scalar could be read as a value, by any of its texts.
func couldBe(s *Scalar, v keyitem.Value) bool {
	return equals(s, v) || slices.ContainsFunc(s.Texts, func(text string) bool {
		switch v.Kind {
		case keyitem.BoolValue:
			is, ok := keyitem.ReadBool(text)
			if s.OneIsTrue && (text == "1" || text == "0") {
				is, ok = text == "1", true
			}
			return ok && is == (v.Text == "true")
		case keyitem.NumberValue:
			return slices.ContainsFunc(keyitem.Readings(text), v.Number.CouldBe)
		}
		return text == v.Text
	})
}

// equals reports whether a scalar is a value by the type system of its format.
func equals(s *Scalar, v keyitem.Value) bool {
	switch s.Exact.Type {
	case ExactText:
		return v.Kind == keyitem.TextValue && s.Exact.Text == v.Text
	case ExactBool:
		return v.Kind == keyitem.BoolValue && s.Exact.Text == v.Text
	case ExactNumber:
		if v.Kind != keyitem.NumberValue {
			return false
		}
		n, ok := keyitem.Decimal(s.Exact.Text)
		return ok && n.Certain() && n == v.Number
	}
	return false
}

// allLines reports whether all lines of a text match, or the whole text if the regex applies to that. The end of the
// last line begins no other; the empty text is one line that no regex matches.
func allLines(expr *regex.Expr, text string) bool {
	for {
		end := strings.IndexAny(text, "\n\r")
		if end < 0 || expr.Whole() {
			return expr.Match([]byte(text))
		}
		if !expr.Match([]byte(text[:end])) {
			return false
		}
		if strings.HasPrefix(text[end:], "\r\n") {
			end++
		}
		if text = text[end+1:]; text == "" {
			return true
		}
	}
}
