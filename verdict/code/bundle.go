package code

import "strings"

// NoRules is the code of a FAIL without a rule to enforce, whether or not that is a bundle's mistake.
const NoRules = "E_NO_RULES"

// OfBundle reports whether a code means a mistake in a bundle.
//
// The codes are in rules/document: rules and verdicts do not import each other. A test in scanner/run, which imports
// both, checks that they agree.
func OfBundle(code string) bool { return code == NoRules || strings.HasPrefix(code, "E_POLICY_") }
