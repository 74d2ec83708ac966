package naive

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// A Question is what an item or a condition asks of values. Without a form it asks only for the key.
type Question struct {
	Form    string  // is, is_not, matches, matches_not, below, above, at_least, at_most, missing, present
	Values  []Value // of is and is_not
	Matches *Expression
	Limit   Limit
}

// couldBe reports whether a value could be read as what is, matches, below or above says.
func (q *Question) couldBe(v *Node) bool {
	if v.Kind != ScalarNode {
		return false
	}
	passes := func(side int) bool {
		return slices.ContainsFunc(v.Scalar.amounts(q.Limit.Quantity), func(n string) bool {
			return compare(n, q.Limit.N) == side
		})
	}
	switch q.Form {
	case "is":
		return slices.ContainsFunc(q.Values, v.Scalar.couldBe)
	case "matches":
		return slices.ContainsFunc(v.Scalar.Texts, func(text string) bool {
			return slices.ContainsFunc(q.Matches.parts(text), q.Matches.MatchString)
		})
	case "below":
		return passes(-1)
	}
	return q.Form == "above" && passes(+1)
}

// couldBeAny is couldBe for a value that a path reaches, lists looked into, and the list of a Dockerfile's JSON form
// also as one text.
func (q *Question) couldBeAny(n *Node) bool {
	found := false
	values(n, true, func(v *Node) { found = found || q.couldBe(v) })
	return found || n.Joined != nil && q.couldBe(n.Joined) && (q.Form == "is" || q.Form == "matches")
}

// certainly reports whether a value certainly is what is_not or matches_not lets pass.
func (q *Question) certainly(v *Node) bool {
	if q.Form == "is_not" {
		return v.Kind == ScalarNode && slices.ContainsFunc(q.Values, v.Scalar.certainly)
	}
	return v.Kind == ScalarNode && q.Matches.all(v.Scalar)
}

// forbids reports whether a value is one that a forbidden item finds.
func (q *Question) forbids(v *Node) bool {
	if q.Form != "is_not" && q.Form != "matches_not" {
		return q.couldBe(v)
	}
	empty := v.Kind == ListNode && len(v.Items) == 0 && !v.Tagged
	return !empty && !q.certainly(v)
}

// accepts reports whether a value is what a required item asks for.
func (q *Question) accepts(v *Node) bool {
	if v.Kind != ScalarNode {
		return false
	}
	switch q.Form {
	case "is":
		return slices.ContainsFunc(q.Values, v.Scalar.Exact.is)
	case "matches":
		return q.Matches.all(v.Scalar)
	case "at_least":
		return v.Scalar.certainlyBeside(q.Limit, func(side int) bool { return side >= 0 })
	}
	return v.Scalar.certainlyBeside(q.Limit, func(side int) bool { return side <= 0 })
}

// all reports whether a value is certain, and matches in all that a required matches and matches_not ask.
func (e *Expression) all(s Scalar) bool {
	return s.Exact.Kind != noKind &&
		!slices.ContainsFunc(e.parts(s.Asked), func(part string) bool { return !e.MatchString(part) })
}

// A Limit is a number, or a quantity of Kubernetes.
type Limit struct {
	N        string // as decimal writes it
	Quantity bool
}

var infinity = regexp.MustCompile(`^([-+]?)(\.(inf|Inf|INF)|inf)$`)

// amounts are the numbers, or quantities, that a value could be read as. Only without quotes a number in any spelling
// is a quantity.
func (s Scalar) amounts(quantities bool) []string {
	var all []string
	quoted := s.Exact.Kind == textKind && !s.Plain
	for _, text := range s.Texts {
		if n, ok := quantity(text); ok && quantities {
			all = append(all, n)
		}
		if quantities && quoted {
			continue
		}
		all = append(all, numbers(text)...)
		if sign := infinity.FindStringSubmatch(text); sign != nil {
			all = append(all, strings.Trim(sign[1], "+")+"inf")
		}
	}
	if s.Exact.Kind == numberKind {
		all = append(all, decimal(s.Exact.Text))
	}
	return all
}

// certainlyBeside reports whether a value is a number on the right side of a limit, in each version of its format.
func (s Scalar) certainlyBeside(limit Limit, right func(side int) bool) bool {
	readings := []Value{s.Exact}
	if s.Plain {
		readings = append(readings, version1(s.Texts[0]), goYAML(s.Texts[0]))
	}
	if n, ok := quantity(s.Asked); limit.Quantity && (!ok || s.Exact.Kind == noKind || !right(compare(n, limit.N))) {
		return false
	}
	return !slices.ContainsFunc(readings, func(v Value) bool {
		if v.Kind == textKind {
			return !limit.Quantity
		}
		return v.Kind != numberKind || !right(compare(decimal(v.Text), limit.N))
	})
}

// compare compares two numbers as decimal writes them, or infinite ones, without writing them out.
func compare(a, b string) int {
	sign := func(n string) int {
		switch {
		case n == "0":
			return 0
		case n[0] == '-':
			return -1
		}
		return 1
	}
	if sign(a) != sign(b) || sign(a) == 0 {
		return cmp.Compare(sign(a), sign(b))
	}
	// The length is the number of digits before the point.
	read := func(n string) (length *big.Int, digits string) {
		digits, power, _ := strings.Cut(strings.TrimPrefix(n, "-"), "e")
		length, _ = new(big.Int).SetString(power, 10)
		return length.Add(length, big.NewInt(int64(len(digits)))), digits
	}
	var larger int
	switch aInf, bInf := strings.HasSuffix(a, "inf"), strings.HasSuffix(b, "inf"); {
	case aInf || bInf:
		larger = map[bool]int{true: 1}[aInf] - map[bool]int{true: 1}[bInf]
	default:
		aLength, aDigits := read(a)
		bLength, bDigits := read(b)
		larger = cmp.Or(aLength.Cmp(bLength), strings.Compare(aDigits, bDigits))
	}
	return sign(a) * larger
}

var quantityForm = regexp.MustCompile(`^([-+]?)([0-9]+\.?[0-9]*|\.[0-9]+)` +
	`(?:([numkMGTPE]|[KMGTPE]i)|[eE]([-+]?[0-9]+))?$`)

// quantity is the number that a text is as a quantity of Kubernetes.
func quantity(text string) (n string, ok bool) {
	parts := quantityForm.FindStringSubmatch(text)
	if parts == nil {
		return "", false
	}
	whole, fraction, _ := strings.Cut(parts[2], ".")
	digits, _ := new(big.Int).SetString(whole+fraction, 10)
	exponent := new(big.Int)
	if parts[4] != "" {
		exponent.SetString(strings.TrimPrefix(parts[4], "+"), 10)
	}
	if suffix, binary := strings.CutSuffix(parts[3], "i"); binary {
		digits.Lsh(digits, uint(10+10*strings.Index("KMGTPE", suffix)))
	} else if suffix != "" {
		powers := map[string]int64{"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
		exponent.SetInt64(powers[suffix])
	}
	exponent.Sub(exponent, big.NewInt(int64(len(fraction))))
	return decimal(strings.Trim(parts[1], "+") + digits.String() + "e" + exponent.String()), true
}
