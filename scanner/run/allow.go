package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/check"
)

// someLinks is the prefix of a reason that allows the links whose paths match a glob.
const someLinks = check.AllowSymlink + "="

// ParseAllow returns the reasons of the --allow values, and a function for the allowed links; nil if no value names
// links. A value can have several reasons, separated by commas. A glob may contain commas, so it extends to the end of
// its value.
func ParseAllow(values []string) (reasons []string, link func(path string) bool, err error) {
	known := []string{
		check.AllowSubmodule, check.AllowLFSPointer, check.AllowSpecialFile, check.AllowSymlink,
		check.AllowEncoding, check.AllowEncrypted, check.AllowEmpty, check.AllowPartial,
	}
	var globs []string
	for _, value := range values {
		for more := true; more; {
			if g, ok := strings.CutPrefix(value, someLinks); ok {
				reasons, globs = append(reasons, value), append(globs, g)
				break
			}
			var reason string
			reason, value, more = strings.Cut(value, ",")
			reasons = append(reasons, reason)
		}
	}
	if link, err = matcher("--allow "+someLinks, globs); err != nil {
		return nil, nil, err
	}
	for _, reason := range reasons {
		if !strings.HasPrefix(reason, someLinks) && !slices.Contains(known, reason) {
			return nil, nil, fmt.Errorf("--allow is %q; choose one of %s", reason, strings.Join(known, ", "))
		}
	}
	return reasons, link, nil
}

// matcher returns whether a path matches any of the globs; nil without globs. flag is the prefix of errors.
func matcher(flag string, globs []string) (func(path string) bool, error) {
	for _, g := range globs {
		if err := glob.Check(g); err != nil {
			return nil, fmt.Errorf("%s%q: %w", flag, g, err)
		}
	}
	if len(globs) == 0 {
		return nil, nil
	}
	return glob.Compile(globs).Match, nil
}
