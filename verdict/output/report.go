package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// A Report is a format and its destination.
type Report struct {
	Format report.Format
	file   string // "" for standard output
	// added: the file belongs to others, so that the report is added to it, from this many bytes on.
	added bool
	from  int64
}

// Prints reports whether the report goes to standard output.
func (r Report) Prints() bool { return r.file == "" }

// Replaces reports whether the report would be written to a file.
func (r Report) Replaces(file string) bool {
	return r.file != "" && file != "" && sameFile(r.file, resolved(file))
}

// Reports parses the values of --report: FORMAT, for standard output, or FORMAT=FILE.
func Reports(specs []string, tracks Tracks) ([]Report, error) {
	return ReportsOf(report.Formats(), specs, tracks)
}

// ReportsOf is [Reports] for other formats.
func ReportsOf(formats []report.Format, specs []string, tracks Tracks) ([]Report, error) {
	var all []Report
	toStdout := ""
	for _, spec := range specs {
		name, file, named := strings.Cut(spec, "=")
		r := Report{}
		var names []string
		for _, f := range formats {
			if names = append(names, f.Name); f.Name == name {
				r.Format = f
			}
		}
		switch {
		case r.Format.Name == "":
			return nil, fmt.Errorf(`--report "%s": unknown format; choose one of %s`,
				verdict.Visible(name), strings.Join(names, ", "))
		case named && file == "":
			return nil, fmt.Errorf("--report %s has no file; name one, or - for standard output", spec)
		case !named || file == "-":
			if toStdout != "" {
				return nil, fmt.Errorf("--report %s and --report %s both go to standard output; "+
					"name a file for one of them",
					toStdout, name)
			}
			toStdout = name
		default:
			if err := tracks.ThroughLink("output", file); err != nil {
				return nil, err
			}
			r.file = resolved(file)
		}
		all = append(all, r)
	}
	return all, nil
}

// Added returns a report that is appended to a file of others. Its errors are those of the system.
func Added(f report.Format, file string) (Report, error) {
	st, err := os.Stat(file)
	if err != nil {
		return Report{}, err
	}
	return Report{Format: f, file: file, added: true, from: st.Size()}, nil
}

// replaceable returns an error if the report must not be written: git tracks the file, it is a link or another
// irregular file, or its content is not such a report.
func (r *Report) replaceable(tracks Tracks) error {
	if r.file == "" || r.added {
		return nil
	}
	if err := tracks.untracked(r.file); err != nil {
		return err
	}
	return r.overOwn()
}

// overOwn returns an error if the file is not a report of the format.
func (r *Report) overOwn() error {
	if err := replaceable(r.file); err != nil {
		return err
	}
	file, err := os.Open(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var text []byte
	if err == nil {
		defer file.Close() // read only: nothing to lose
		text, err = r.telling(file)
	}
	if err != nil {
		return fmt.Errorf("%s: the file that the report would replace cannot be read: %w",
			verdict.Visible(r.file), disk.Cause(err))
	}
	if len(text) > 0 && !r.Format.Wrote(string(text)) {
		return fmt.Errorf("%s: the report %s would overwrite a file that is not such a report; "+
			"remove it or name another file",
			verdict.Visible(r.file), r.Format.Name)
	}
	return nil
}

// telling reads the part of a file by which the format recognises its own: the beginning, or for the text report the
// end.
func (r *Report) telling(file *os.File) ([]byte, error) {
	const enough = 64 << 10
	if r.Format.Name == "text" {
		st, err := file.Stat()
		if err != nil {
			return nil, err
		}
		if _, err := file.Seek(max(st.Size()-enough, 0), io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(file, enough))
}

func (r *Report) clear() error {
	if r.file == "" || r.added {
		return nil
	}
	if err := disk.Remove(r.file); err != nil {
		return fmt.Errorf("%s: the report of an earlier run cannot be removed: %w", verdict.Visible(r.file),
			disk.Cause(err))
	}
	return nil
}

// checkDistinct refuses two reports that are one file.
func checkDistinct(reports []Report) error {
	for i, p := range reports {
		for _, q := range reports[:i] {
			if p.file != "" && q.file != "" && sameFile(p.file, q.file) {
				return fmt.Errorf("--report %s and --report %s are the same file, %s; "+
					"name another file for one of them",
					q.Format.Name, p.Format.Name, p.file)
			}
		}
	}
	return nil
}

// clearAll clears all reports, or none if one of them must not be replaced.
func clearAll(reports []Report, tracks Tracks) error {
	for _, r := range reports {
		if err := r.replaceable(tracks); err != nil {
			return err
		}
	}
	for _, r := range reports {
		if err := r.clear(); err != nil {
			return err
		}
	}
	return nil
}

// clearOld removes the reports of earlier runs if this one cannot write its own because of err. Other files, and those
// that git tracks, stay.
func clearOld(reports []Report, tracks Tracks, err error) error {
	for _, r := range reports {
		if r.file == "" || r.added || r.overOwn() != nil {
			continue
		}
		if tracked, terr := tracks(r.file); tracked && terr == nil {
			continue
		}
		if cerr := r.clear(); cerr != nil {
			err = fmt.Errorf("%w; and %w", err, cerr)
		}
	}
	return err
}

// Write writes the report whole, or not at all.
func (r *Report) Write(v *verdict.Verdict, stdout io.Writer) error {
	var err error
	if r.file != "" && !r.added {
		write := func(w io.Writer) error { return r.Format.Write(w, v) }
		if err = disk.ReplaceBy(r.file, write); err != nil {
			err = fmt.Errorf("%s cannot be written: %w", verdict.Visible(r.file), disk.Cause(err))
		}
	} else {
		err = r.writeAtOnce(v, stdout)
	}
	if err != nil {
		return fmt.Errorf("the %s report: %w", r.Format.Name, err)
	}
	return nil
}

// writeAtOnce writes a report that cannot use a temporary file: it is complete before the first byte is written.
func (r *Report) writeAtOnce(v *verdict.Verdict, stdout io.Writer) error {
	var text bytes.Buffer
	err := r.Format.Write(&text, v)
	switch {
	case err != nil:
	case r.added:
		err = r.add(text.Bytes())
	default:
		_, err = stdout.Write(text.Bytes())
	}
	return err
}

// add writes the report after the content of others, and replaces an earlier one.
func (r *Report) add(text []byte) (err error) {
	f, err := os.OpenFile(r.file, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(r.from); err != nil {
		return err
	}
	_, err = f.WriteAt(text, r.from)
	return err
}

// Rewrite writes reports of an earlier verdict: file is its path, if it is one file, and read reads it.
func Rewrite(
	reports []Report, file string, tracks Tracks, read func() (*verdict.Verdict, error), stdout io.Writer,
) error {
	if err := checkDistinct(reports); err != nil {
		return err
	}
	for _, r := range reports {
		if r.Replaces(file) {
			return fmt.Errorf("the %s report would replace the verdict that it is about; name another file",
				r.Format.Name)
		}
	}
	v, err := read()
	if err == nil {
		err = clearAll(reports, tracks)
	}
	if err != nil {
		return clearOld(reports, tracks, err)
	}
	var failed error
	for _, r := range reports {
		failed = errors.Join(failed, r.Write(v, stdout))
	}
	return failed
}

// A Summary is the reports of a document without a file.
type Summary struct {
	Reports []Report
	Tracks  Tracks
	Stdout  io.Writer
	Passes  func() bool
	Fail    func(verdict.Error) // makes the document a FAIL with this error
	Show    func() error        // writes the report for display, last
}

// Begin removes the reports of earlier runs.
func (s *Summary) Begin() error {
	err := checkDistinct(s.Reports)
	if err == nil {
		err = clearAll(s.Reports, s.Tracks)
	}
	if err != nil {
		return clearOld(s.Reports, s.Tracks, err)
	}
	return nil
}

// End writes every report, and returns the first error; see [ending].
func (s *Summary) End(caught func() int) error {
	nothing := func() error { return nil }
	e := ending{
		reports: s.Reports, stdout: s.Stdout, passes: s.Passes, fail: s.Fail,
		save: nothing, print: nothing, show: s.Show,
	}
	return e.write(caught)
}
