package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
)

// Pins are the identities that the bundles of a run must have, by the order of --policy: of a bundle in the repository
// that of the base, or, if the base has none, that of the head, which judges alone then. "" is for a bundle that may be
// any; without a pin at all, none is pinned.
type Pins []string

// anyBundle is the value of --policy-sha256 for a bundle that is not pinned: a repository's own list of allowances,
// which changes with every fix, next to a central bundle that is.
const anyBundle = "any"

// sha256Text matches the hash of a bundle, in either letter case.
var sha256Text = late.Regexp(`^[0-9A-Fa-f]{64}$`)

// ParsePins reads the values of --policy-sha256, of which there must be one for each of so many bundles, or none.
func ParsePins(values []string, bundles int) (Pins, error) {
	var pins Pins
	for _, value := range values {
		switch {
		case sha256Text().MatchString(value):
			pins = append(pins, strings.ToLower(value))
		case value == anyBundle:
			pins = append(pins, "")
		default:
			return nil, fmt.Errorf("--policy-sha256 is %q; give the 64 hexadecimal digits that policyscan validate "+
				"prints for the bundle, or %s, which leaves one of several bundles unpinned", value, anyBundle)
		}
	}
	switch n := len(pins); {
	case n == 0:
		return nil, nil
	case n != bundles:
		return nil, fmt.Errorf("--policy-sha256 is given %s, but the run has %s; give it once for each --policy, "+
			"in the same order", pluralize(n, "time", "s"), pluralize(bundles, "bundle", "s"))
	case !slices.ContainsFunc(pins, func(pin string) bool { return pin != "" }):
		return nil, errors.New("--policy-sha256 pins no bundle; give the hash of one, or remove it")
	}
	return pins, nil
}

func pluralize(n int, thing, plural string) string {
	if n != 1 {
		thing += plural
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Check is an error if one of the bundles, which are those of --policy in its order, is not the one that is pinned.
func (p Pins) Check(bundles []*rules.Bundle) error {
	if len(p) == 0 {
		return nil
	}
	var mistakes document.Errors
	for i, b := range bundles {
		if m := p.mistake(i, "", b); m != nil {
			mistakes = append(mistakes, m)
		}
	}
	return anyOf(mistakes)
}

// anyOf returns the mistakes as an error; nil if there is none.
func anyOf(mistakes document.Errors) error {
	if mistakes == nil {
		return nil
	}
	return mistakes
}

// mistake is that a bundle is not the one that is pinned for a --policy, by its number from 0; nil if it is. of says
// whose bundle it is, such as "the base's bundle"; "": no one's.
func (p Pins) mistake(number int, of string, b *rules.Bundle) *document.Error {
	if len(p) == 0 || p[number] == "" || b.SHA256 == p[number] {
		return nil
	}
	of = cmp.Or(of, "the bundle")
	if len(p) > 1 {
		of += fmt.Sprintf(" (number %d of --policy)", number+1)
	}
	return &document.Error{
		Code:  document.CodePin,
		Found: fmt.Sprintf("%s has the sha256 %s, but --policy-sha256 says %s", of, b.SHA256, p[number]),
		Fix:   "look at what is different in the bundle, and restore it, or change the hash",
	}
}
