package main

import (
	"github.com/policyscan/policyscan/scanner"
)

// changes is the subject of --diff-base: the head's files that differ from a merge
// base, judged by the bundles of the base and of the head.
func (c *scanCmd) changes(s *subject) error {
	r, err := c.repository(s)
	if err != nil {
		return err
	}
	head := c.Head
	if head == "" {
		head = "HEAD"
	}
	compared, err := scanner.Compare(r, c.DiffBase, head)
	if err != nil {
		return gitFailed(err)
	}
	s.tree = scanner.Changes(r, compared, c.DiffBase)
	return c.seatJudges(s, r,
		side{name: "the base", from: "base", commit: compared.Base, mend: "to judge by the head's alone, deliberately, give --policy-ref " + head},
		side{name: "the head", from: "head", commit: compared.Head})
}
