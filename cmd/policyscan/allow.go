package main

import (
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner"
)

// someLinks is the prefix of an --allow value that accepts the links whose paths match a glob.
const someLinks = scanner.AllowSymlink + "="

// allowed returns the reasons of --allow, and the globs of those that name links. A value can have several reasons,
// separated by commas. A glob may contain commas, so it extends to the end of its value.
func (c *scanCmd) allowed() (reasons, links []string) {
	for _, value := range c.Allow {
		for more := true; more; {
			if glob, ok := strings.CutPrefix(value, someLinks); ok {
				reasons, links = append(reasons, value), append(links, glob)
				break
			}
			var reason string
			reason, value, more = strings.Cut(value, ",")
			reasons = append(reasons, reason)
		}
	}
	return reasons, links
}

// checkAllow returns an error for a value that --allow does not know.
func (c *scanCmd) checkAllow() error {
	known := []string{
		scanner.AllowSubmodule, scanner.AllowLFSPointer, scanner.AllowSpecialFile,
		scanner.AllowSymlink, scanner.AllowEncoding, scanner.AllowEncrypted, scanner.AllowEmpty, scanner.AllowPartial,
	}
	reasons, links := c.allowed()
	for _, g := range links {
		if err := glob.Check(g); err != nil {
			return fmt.Errorf("--allow %s%q: %w", someLinks, g, err)
		}
	}
	for _, a := range reasons {
		if strings.HasPrefix(a, someLinks) {
			continue
		}
		if err := oneOf("--allow", a, known); err != nil {
			return err
		}
	}
	return nil
}
