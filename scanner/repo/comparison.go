package repo

// A Comparison is two commits of which the second is looked at by what it changes.
type Comparison struct {
	Base, Head Hash
	MergeBases []Hash // at least one, in byte order
	// The head takes the place of the base and lacks commits of it, as after a forced push.
	Replaces bool
}

// Compare relates the commits that two names mean. Commits that cannot be related
// (unknown, ambiguous, unrelated, beyond the boundary of a shallow clone) are an error.
func (r *Repository) Compare(base, head string) (c Comparison, err error) {
	if c.Base, err = r.Commit(base); err != nil {
		return c, err
	}
	if c.Head, err = r.Commit(head); err != nil {
		return c, err
	}
	c.MergeBases, err = r.MergeBases(c.Base, c.Head)
	return c, err
}
