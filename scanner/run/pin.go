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

// Pins are the required hashes of a run's bundles, in the order of --policy. For a bundle in the repository it is the
// base's or, if the base has none, the head's, which is then enforced alone. "" does not pin a bundle.
type Pins []string

// anyBundle is the value of --policy-sha256 for a bundle that is not pinned: a repository's own allowances, which
// change with every fix, next to a pinned central bundle.
const anyBundle = "any"

// sha256Text matches the hash of a bundle, in either case.
var sha256Text = late.Regexp(`^[0-9A-Fa-f]{64}$`)

// ParsePins reads the values of --policy-sha256: none, or one for each bundle.
func ParsePins(values []string, bundles int) (Pins, error) {
	var pins Pins
	for _, value := range values {
		switch {
		case sha256Text().MatchString(value):
			pins = append(pins, strings.ToLower(value))
		case value == anyBundle:
			pins = append(pins, "")
		default:
			return nil, fmt.Errorf("--policy-sha256 is %q; give the 64 hexadecimal digits that policyscan pin "+
				"prints for the bundle, or %s, to leave one of several bundles unpinned", value, anyBundle)
		}
	}
	switch n := len(pins); {
	case n == 0:
		return nil, nil
	case n != bundles:
		return nil, fmt.Errorf("--policy-sha256 is given %s, but the run has %s; give it once for each --policy, "+
			"in the same order", pluralize(n, "time"), pluralize(bundles, "bundle"))
	case !slices.ContainsFunc(pins, func(pin string) bool { return pin != "" }):
		return nil, errors.New("--policy-sha256 pins no bundle; give the hash of one, or remove it")
	}
	return pins, nil
}

func pluralize(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Check returns an error if one of the bundles, in the order of --policy, does not have its pinned hash.
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

// anyOf returns the mistakes as an error; nil without one.
func anyOf(mistakes document.Errors) error {
	if mistakes == nil {
		return nil
	}
	return mistakes
}

// mistake is the error that the bundle of a --policy, numbered from 0, does not have its pinned hash; nil if it has.
// of names the bundle's owner, such as "the base's bundle", or is "".
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

// checkPins returns an error if bundles of a side do not have their pinned hashes.
func (b *bundleResolver) checkPins(d *side, of func(*policyBundles) []RuleSource, note string) error {
	var mistakes document.Errors
	for i, p := range b.named {
		for _, found := range of(p) {
			if m := b.run.Pins.mistake(i, d.name+"'s bundle", found.Bundle); m != nil {
				m.Found += note
				mistakes = append(mistakes, m)
			}
		}
	}
	return anyOf(mistakes)
}
