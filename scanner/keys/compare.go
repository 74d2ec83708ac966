package keys

import (
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/rules/regex"
)

// forbids reports whether a forbidden item refuses a value, in its broadest reading. An item that lists allowed values
// refuses every value that is not certainly one of them.
func forbids(item *keyitem.Item, n *Node) bool {
	scalar := n.Kind == ScalarNode
	switch item.Asks {
	case keyitem.Is:
		return scalar && couldBeAny(&n.Scalar, item.Values)
	case keyitem.IsNot:
		return !scalar || n.Scalar.Plain && !keyitem.OneReading(n.Scalar.Texts[0]) || !equalsAny(&n.Scalar, item.Values)
	case keyitem.Matches:
		matches := func(text string) bool { return item.Match.Match([]byte(text)) }
		return scalar && slices.ContainsFunc(n.Scalar.Texts, matches)
	case keyitem.MatchesNot:
		return !scalar || !n.Scalar.Certain || !allLines(item.Match, n.Scalar.Texts[0])
	}
	return true
}

func satisfies(item *keyitem.Item, n *Node) bool {
	scalar := n.Kind == ScalarNode
	switch item.Asks {
	case keyitem.Is:
		return scalar && equalsAny(&n.Scalar, item.Values)
	case keyitem.Matches:
		return scalar && n.Scalar.Certain && allLines(item.Match, n.Scalar.Texts[0])
	}
	return false
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
