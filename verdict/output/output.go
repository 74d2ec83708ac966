// Package output manages the files that a run leaves behind: the verdict and the reports.
//
//	Run.Begin --> a FAIL that is in progress is where the verdict will be; old reports are gone
//	Run.End   --> the reports, then the verdict, then what a person reads
//
// So whoever reads an output never takes that of an earlier run, or of one that crashed, for a
// PASS of this one ([ReplaceOld], for a run that cannot even begin). A file takes the place of
// another whole or not at all. What git tracks, or a link leads to, is not written: a change
// could have brought it.
package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A Run is the outputs of one run.
type Run struct {
	Version string        // of the program
	Scope   verdict.Scope // what is known of it before there is a tree
	Output  string        // where the verdict goes: a file, "-" for standard output, or "none"
	Reports []Report
	Tracks  Tracks
	Stdout  io.Writer
	Begun   Document // what is at Output until the run ends, of one that ends with a shard file; nil: a verdict

	// Show writes what a person reads, which comes last.
	Show func(v *verdict.Verdict) error

	path string // of the verdict's file; "" if it goes to none
	file *file  // nil if it goes to none
}

// File is the path of the verdict's file, "" if it goes to none.
func (r *Run) File() string { return r.path }

// Begin refuses output paths that are not safe, and puts a FAIL where the verdict will be.
func (r *Run) Begin() (err error) {
	if r.Output != "-" && r.Output != "none" {
		r.path = resolved(r.Output)
	}
	if err = errors.Join(checkDistinct(r.Reports), r.apartFromVerdict()); err != nil {
		ReplaceOld(r.Version, r.path)
		return err
	}
	if r.path != "" {
		err = errors.Join(r.Tracks.ThroughLink("output", r.Output), r.Tracks.untracked(r.path))
	}
	if err == nil {
		err = clearAll(r.Reports, r.Tracks)
	}
	if err != nil {
		ReplaceOld(r.Version, r.path)
		return clearOld(r.Reports, r.Tracks, err)
	}
	switch {
	case r.path == "":
	case r.Begun != nil:
		r.file, err = createAs(r.path, r.Begun)
	default:
		r.file, err = create(r.path, r.Version, r.Scope)
	}
	return err
}

// EndPart writes the document of a run that ends with no verdict. It has no reports.
func (r *Run) EndPart(d Document) error {
	if r.file != nil {
		return unwritten(r.file.write(d))
	}
	return unwritten(writeDocument(r.Stdout, d))
}

// apartFromVerdict refuses a report that goes where the verdict does.
func (r *Run) apartFromVerdict() error {
	for _, p := range r.Reports {
		switch {
		case p.file == "" && r.Output == "-":
			return fmt.Errorf("--output - and --report %s both go to standard output; name a file for one of them",
				p.Format.Name)
		case p.file != "" && r.path != "" && sameFile(p.file, r.path):
			return fmt.Errorf("--report %s and --output are the same file, %s; name another file for one of them",
				p.Format.Name, p.file)
		}
	}
	return nil
}

// End writes every output, and returns the first error of those that could not be: see [ending].
func (r *Run) End(v *verdict.Verdict, caught func() int) error {
	e := ending{
		reports: r.Reports, of: v, stdout: r.Stdout,
		passes: func() bool { return v.Verdict == verdict.Pass },
		fail: func(lost verdict.Error) {
			v.Errors = []verdict.Error{lost}
			v.Decide()
		},
		save: func() error {
			if r.file == nil {
				return nil
			}
			return r.file.write(v)
		},
		print: func() error {
			if r.Output != "-" {
				return nil
			}
			b := bufio.NewWriterSize(r.Stdout, 64<<10)
			if err := v.Write(b); err != nil {
				return err
			}
			return b.Flush()
		},
		show: func() error { return r.Show(v) },
	}
	return e.write(caught)
}

// Printed reports whether standard output is taken by something else than the report that
// every run prints.
func (r *Run) Printed() bool {
	return r.Output == "-" || slices.ContainsFunc(r.Reports, func(p Report) bool { return p.file == "" })
}

// ReplaceOld replaces the verdict of an earlier run where this one, whose arguments or
// environment cannot be followed, would have written its own: an old PASS must not be
// taken for it. Only a file that is a verdict is touched, and none is made.
func ReplaceOld(version string, paths ...string) {
	for _, path := range paths {
		if !IsVerdict(path) {
			continue
		}
		f, err := create(path, version, verdict.Scope{Mode: "full"})
		if err != nil {
			continue // the usage error is said, and decides
		}
		v := verdict.Incomplete(version, verdict.Scope{Mode: "full"}, verdict.Error{
			Code:    code.Usage,
			Message: "the last run did not scan: its flags or environment could not be used",
		})
		v.Decide()
		_ = f.write(v) // the marker that create left says FAIL as well
	}
}
