package repo

// A Comparison is two commits of which the second is looked at by what it changes.
type Comparison struct {
	Base, Head Hash
	MergeBases []Hash // at least one, in byte order
	// The head takes the place of the base and lacks commits of it, as after a forced push.
	Replaces bool
	// Behind is how many commits of the base the head does not contain, or [Unknown].
	Behind int
}

// Compare relates the commits that two names mean. Commits that cannot be related (unknown, ambiguous, unrelated,
// beyond the boundary of a shallow clone) are an error.
func (r *Repository) Compare(base, head string) (Comparison, error) {
	from, err := r.Commit(base)
	if err != nil {
		return Comparison{}, err
	}
	to, err := r.Commit(head)
	if err != nil {
		return Comparison{Base: from}, err
	}
	return r.Relate(from, to)
}
