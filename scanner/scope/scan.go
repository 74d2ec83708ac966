package scope

import (
	"context"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/verdict"
)

// Scan scans what the request is about. What keeps it from that is in the verdict, too.
func (q *Request) Scan(ctx context.Context, o scanner.Options) *verdict.Verdict {
	s, err := q.Subject(ctx)
	if err != nil {
		return q.Undecided(&s, o.Version, err)
	}
	defer s.Close()
	s.Limit(&o)
	return scanner.Scan(ctx, s.Judges, s.Tree, o)
}

// Limit sets what the subject says of the options of a scan.
func (s *Subject) Limit(o *scanner.Options) {
	o.LeaveOut, o.InUse, o.Starts, o.Errors = s.LeaveOut, s.InUse, s.Starts, s.Errors
	o.FoundBundle = s.Found
}

// Undecided returns the verdict of a request that failed before the scan, of which this much is known.
func (q *Request) Undecided(s *Subject, version string, err error) *verdict.Verdict {
	about := q.Scope()
	if q.Rev != "" && s.Tree != nil {
		about = s.Tree.Scope() // which names the commit
	}
	return failure.Verdict(version, about, err)
}
