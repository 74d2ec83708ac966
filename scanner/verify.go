package scanner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Verify makes the run of a verdict again, with o and policies as in [run.Replay], and compares the bytes. It returns
// what is the same, or the first difference. An error says why the run cannot be made again, or not with certainty:
// then other bytes are not a difference.
func Verify(ctx context.Context, o run.Options, text []byte, policies []string) (same, difference string, err error) {
	v, err := verdict.Parse(text)
	if err == nil && v.Tool.Version != o.Version {
		err = fmt.Errorf("policyscan %s wrote it, and this is %s", v.Tool.Version, o.Version)
	}
	if err == nil {
		o, err = run.Replay(o, v, policies)
	}
	if err != nil {
		return "", "", err
	}
	var again *verdict.Verdict
	r, err := run.Open(ctx, o)
	if err != nil {
		again = r.Undecided(err)
	} else {
		again = Scan(ctx, r, nil)
		r.Close()
	}
	want, err := again.Encode()
	switch {
	case err != nil:
		return "", "", err
	case bytes.Equal(text, want):
		same = fmt.Sprintf("%s, violations: %d, errors: %d, head: %s", v.Verdict, len(v.Violations), len(v.Errors),
			v.Scope.HeadCommit)
		return strings.Join(append([]string{same}, r.Notes...), "; "), "", nil
	}
	if err := uncertain(v, again); err != nil {
		return "", "", err
	}
	return "", verdict.Difference(text, want), nil
}

// repeats reports whether the commits, the bundles and the recorded flags alone decide an error.
func repeats(e verdict.Error) bool {
	return slices.Contains([]string{code.Unavailable, code.Encoding, code.Link, code.Parse, code.Format,
		code.TreeMalformed, code.Empty, code.NoGoverned}, e.Code)
}

// uncertain returns why two verdicts can be of different runs, as their differences show; nil for none.
func uncertain(was, now *verdict.Verdict) error {
	for _, e := range slices.Concat(now.Errors, was.Errors) {
		if !repeats(e) && !(slices.Contains(now.Errors, e) && slices.Contains(was.Errors, e)) {
			return fmt.Errorf("%s [%s]", e.Error(), e.Code)
		}
	}
	bundles := func(v *verdict.Verdict) string {
		var all []string
		for _, p := range v.Policy {
			all = append(all, fmt.Sprintf("%.12s (%s)", p.SHA256, p.From))
		}
		return strings.Join(all, ", ")
	}
	isDisk := func(p verdict.Policy) bool { return p.From == "disk" }
	s := &was.Scope
	switch {
	case bundles(was) != bundles(now):
		return fmt.Errorf("the bundles are %s, here %s; name each --policy in order", bundles(was), bundles(now))
	case slices.ContainsFunc(was.Policy, isDisk) && !slices.Equal(was.Coverage.LeftOut, now.Coverage.LeftOut):
		return errors.New("the bundle of --policy was elsewhere in the work tree; put it there")
	case (s.Behind < 0) != (now.Scope.Behind < 0):
		return errors.New("its clone or this one is shallow, and does not show how far the head is behind the base")
	case s.Strategy == "pre-commit" && !slices.Contains(s.MergeBases, s.BaseCommit):
		return errors.New("pre-commit does not record whether it ran for a forced push")
	}
	before := filesWithExisting(now)
	for file, existing := range filesWithExisting(was) {
		if now, known := before[file]; known && now != existing {
			return fmt.Errorf("what is new in %s depends on a clone that may lack earlier files", file)
		}
	}
	return nil
}

// filesWithExisting says of each file with violations whether any place in it is an existing one.
func filesWithExisting(v *verdict.Verdict) map[string]bool {
	files := map[string]bool{}
	add := func(x *verdict.Violation) { files[x.File] = files[x.File] || x.NewPlaceCount < x.PlaceCount }
	for i := range v.Violations {
		add(&v.Violations[i])
	}
	for i := range v.AllowedViolations {
		add(&v.AllowedViolations[i].Violation)
	}
	return files
}
