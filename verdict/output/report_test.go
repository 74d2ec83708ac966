package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// none tracks nothing.
func none(string) (bool, error) { return false, nil }

// TestReplaceable: a report takes the place of one of its format, and of no other file.
func TestReplaceable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report")
	for _, f := range report.Formats() {
		r := Report{Format: f, file: name}
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := r.replaceable(none); err != nil {
			t.Errorf("%s: where nothing is: %v", f.Name, err)
		}
		for text, may := range map[string]bool{"": true, "mine\n": false} {
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := r.replaceable(none); (err == nil) != may || err != nil && !strings.Contains(err.Error(), f.Name+" would overwrite") {
				t.Errorf("%s in place of %q: %v", f.Name, text, err)
			}
		}
		for range 2 { // the second time over its own
			if err := r.Write(passing(t), nil); err != nil {
				t.Error(err)
			}
			if err := r.replaceable(none); err != nil {
				t.Error(err)
			}
		}
		for _, tracks := range []Tracks{
			func(string) (bool, error) { return true, nil },
			func(string) (bool, error) { return false, errors.New("torn") },
		} {
			if err := r.replaceable(tracks); err == nil {
				t.Errorf("%s: a file that git tracks, or may track, would be replaced", f.Name)
			}
		}
	}
}

// TestReplaceableUnread: what cannot be read is not replaced.
func TestReplaceableUnread(t *testing.T) {
	const name = "/proc/self/mem" // a regular file that opens, and whose first byte nobody can read
	if st, err := os.Lstat(name); err != nil || !st.Mode().IsRegular() {
		t.Skip("SKIPPED: there is no " + name)
	}
	for _, f := range report.Formats() {
		r := Report{Format: f, file: name}
		if err := r.replaceable(none); err == nil || !strings.Contains(err.Error(), "cannot be read: input/output error") {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// TestReportsThatCannotBeWritten: what fails on the way is an error of the report, with its name.
func TestReportsThatCannotBeWritten(t *testing.T) {
	failing := report.Format{Name: "failing", Write: func(io.Writer, *verdict.Verdict) error { return errors.New("no words") }}
	err := (&Report{Format: failing}).Write(&verdict.Verdict{}, io.Discard)
	if err == nil || err.Error() != "the failing report: no words" {
		t.Error(err)
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	r := Report{Format: report.Named("markdown"), file: full}
	if err := r.Write(passing(t), nil); err == nil || !strings.Contains(err.Error(), "the markdown report: "+full+" cannot be written: ") {
		t.Error(err)
	}
	if _, err := Added(report.Named("markdown"), filepath.Join(full, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("added to nothing: %v", err)
	}
	if _, err := os.Stat("/dev/full"); err == nil { // which has no length that could be changed
		r, err := Added(report.Named("markdown"), "/dev/full")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Write(passing(t), io.Discard); err == nil || !strings.Contains(err.Error(), "the markdown report: ") {
			t.Error(err)
		}
	}
}
