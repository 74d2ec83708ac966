package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// reportFlag is the flag of every command that writes reports.
type reportFlag struct {
	Report []string `placeholder:"FORMAT" sep:"none" help:"Write a report: FORMAT to standard output, or FORMAT=FILE. Formats: ${formats}. Repeatable."`
}

// A reportOutput is a format, and where it is to be written.
type reportOutput struct {
	report.Format
	file string // "": standard output
	// What others began to write, and read on from: such a file is added to, from this many
	// bytes on, and not replaced.
	added bool
	from  int64
}

// reports are those that the flag asks for.
func (f *reportFlag) reports() ([]reportOutput, error) {
	var all []reportOutput
	toStdout := ""
	for _, spec := range f.Report {
		name, file, named := strings.Cut(spec, "=")
		r, err := formatOf(name)
		switch {
		case err != nil:
			return nil, err
		case named && file == "":
			return nil, fmt.Errorf("--report %s names no file; give one, or - for standard output", spec)
		case !named || file == "-":
			if toStdout != "" {
				return nil, fmt.Errorf("--report %s and --report %s both go to standard output; name a file for one of them", toStdout, name)
			}
			toStdout = name
		default:
			if err := throughLink(file); err != nil {
				return nil, err
			}
			r.file = resolved(file)
		}
		all = append(all, r)
	}
	return all, nil
}

func formatOf(name string) (reportOutput, error) {
	for _, f := range report.Formats() {
		if f.Name == name {
			return reportOutput{Format: f}, nil
		}
	}
	return reportOutput{}, fmt.Errorf("--report %s: there is no such format; choose one of %s", quoted(name), formatNames())
}

// formatNames are the names of all formats, for a person.
func formatNames() string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// resolved is the path of an output whose folder is named without links. A temporary file
// stands beside it.
func resolved(file string) string {
	dir, name := filepath.Split(file)
	if dir = disk.Physical(dir); dir != "" { // "" stays the current folder
		dir = filepath.Clean(dir) + string(filepath.Separator)
	}
	return dir + name
}

// sameOutput reports whether two outputs are one file, which may not be there yet.
func sameOutput(a, b string) bool {
	dirA, nameA := filepath.Split(a)
	dirB, nameB := filepath.Split(b)
	realA, errA := realPath(dirA)
	realB, errB := realPath(dirB)
	if errA != nil || errB != nil { // a folder that is not there
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return realA == realB && nameA == nameB
}

// throughLink is an error if a folder of an output's path is a link that git tracks: a
// change could bring it, and choose where the program writes.
func throughLink(file string) error {
	for i, c := range file {
		if !os.IsPathSeparator(uint8(c)) || i == 0 {
			continue
		}
		st, err := os.Lstat(file[:i])
		if err != nil || st.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		switch tracked, err := gitEnvironment().Tracks(file[:i]); {
		case err != nil:
			return fmt.Errorf("whether git tracks %s, on the way to the output %s, cannot be told: %w", file[:i], file, err)
		case tracked:
			return fmt.Errorf("the output %s leads through %s, a link that git tracks, so that a change could choose where it goes; write to another path", file, file[:i])
		}
	}
	return nil
}

// check refuses a file that a report may not replace.
func (r *reportOutput) check() error {
	if r.file == "" || r.added {
		return nil
	}
	if err := untracked(r.file); err != nil {
		return err
	}
	return r.Replaceable(r.file)
}

// checkDistinct refuses two reports that are one file.
func checkDistinct(reports []reportOutput) error {
	for i, p := range reports {
		for _, q := range reports[:i] {
			if p.file != "" && q.file != "" && sameOutput(p.file, q.file) {
				return fmt.Errorf("--report %s and --report %s are one file, %s; name another for one of them", q.Name, p.Name, p.file)
			}
		}
	}
	return nil
}

// clear takes away what an earlier run left there: whatever becomes of this run, that is not
// its report.
func (r *reportOutput) clear() error {
	if r.file == "" || r.added {
		return nil
	}
	return verdict.Clear(r.file)
}

// clearAll clears all reports, or none if one of them may not be replaced.
func clearAll(reports []reportOutput) error {
	for _, r := range reports {
		if err := r.check(); err != nil {
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

// replaceOldReports takes away what earlier runs left there where this one, for an error, cannot come to
// write its own: an old report must not be taken for it. What is no such report, or is tracked
// by git, stays.
func replaceOldReports(reports []reportOutput, err error) error {
	for _, r := range reports {
		if r.file == "" || r.added || r.Replaceable(r.file) != nil {
			continue
		}
		if tracked, terr := gitEnvironment().Tracks(r.file); tracked && terr == nil {
			continue
		}
		if cerr := r.clear(); cerr != nil {
			err = fmt.Errorf("%w; and %w", err, cerr)
		}
	}
	return err
}

// untracked is an error if git tracks a file that is to be written.
func untracked(file string) error {
	tracked, err := gitEnvironment().Tracks(file)
	switch {
	case err != nil:
		return fmt.Errorf("whether git tracks the output %s cannot be told: %w", file, err)
	case tracked:
		return fmt.Errorf("the output %s is tracked by git, so that a change could bring its own; remove it from git (git rm --cached) and add it to .gitignore, or write to another path", file)
	}
	return nil
}

// write writes the report whole, or not at all.
func (r *reportOutput) write(v *verdict.Verdict, stdout io.Writer) error {
	var text bytes.Buffer
	err := r.Write(&text, v)
	switch {
	case err != nil:
	case r.added:
		err = r.add(text.Bytes())
	case r.file != "":
		err = verdict.Replace(r.file, text.Bytes())
	default:
		_, err = stdout.Write(text.Bytes())
	}
	if err != nil {
		return fmt.Errorf("the %s report: %w", r.Name, err)
	}
	return nil
}

// add writes the report behind what others wrote, in the place of what an earlier call did.
func (r *reportOutput) add(text []byte) (err error) {
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
