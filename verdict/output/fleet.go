package output

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/summary"
)

// The files of a fleet's results: the summary, and in a directory for each repository its verdict.
const (
	fleetFile   = "fleet.json"
	shardFile   = "shard.json" // of a shard, instead of the summary
	verdictName = "verdict.json"
)

// A Fleet is the outputs of a run over many repositories: a directory of results, and reports of the summary.
//
//	Begin --> a summary that is in progress; the results of an earlier run are removed
//	Keep  --> the directory of a repository, with its verdict: whole, or not at all
//	End   --> the reports, then the summary, then the report for display
type Fleet struct {
	Output  string // the directory; "none": no results are kept
	Reports []Report
	Tracks  Tracks
	Stdout  io.Writer
	Show    func() error // writes the report for display, last
	// Begun makes a shard's document from a summary, for the time until the run ends; nil: the run is whole.
	Begun func(*summary.Fleet) Document

	summary *summary.Fleet
	dir     string // "" without one
}

// Begin prepares the directory: it must be empty, or have the results of an earlier run, which are removed. It writes
// a summary that is in progress. [Fleet.End] writes the run's own summary f.
func (o *Fleet) Begin(f *summary.Fleet) error {
	o.summary = f
	if o.Output != "none" {
		o.dir = resolved(filepath.Clean(o.Output))
	}
	err := checkDistinct(o.Reports)
	if err == nil && o.dir != "" {
		err = o.take()
	}
	if err == nil {
		err = clearAll(o.Reports, o.Tracks)
	}
	if err != nil {
		o.replaceOld()
		return clearOld(o.Reports, o.Tracks, err)
	}
	return nil
}

// replaceOld replaces the summary of an earlier run if this one cannot write its own, so that no old PASS remains.
func (o *Fleet) replaceOld() {
	if o.dir == "" || replaceable(o.path()) != nil || !IsVerdict(o.path()) {
		return
	}
	if tracked, err := o.Tracks(o.path()); tracked || err != nil {
		return
	}
	_ = o.write(o.begun(unscanned(o.summary.Tool.Version))) // the usage error is reported, and decides
}

// begun is the document until the run ends; f has the reason.
func (o *Fleet) begun(f *summary.Fleet) Document {
	if o.Begun != nil {
		return o.Begun(f)
	}
	return f
}

// ReplaceOldFleet is [ReplaceOld] for a directory of results: its summary becomes a FAIL, and its shard file the
// result of part. Without part, a shard file stays.
func ReplaceOldFleet(version string, tracks Tracks, dir string, part func(*summary.Fleet) Document) {
	f := unscanned(version)
	o := &Fleet{Output: dir, dir: resolved(filepath.Clean(dir)), Tracks: tracks, summary: f}
	o.replaceOld()
	if part != nil {
		o.Begun = part
		o.replaceOld()
	}
}

// unscanned is the summary of a run with invalid flags.
func unscanned(version string) *summary.Fleet {
	f := summary.New(version)
	f.Errors = []verdict.Error{notScanned()}
	f.Decide()
	return f
}

func (o *Fleet) path() string { return filepath.Join(o.dir, o.name()) }

func (o *Fleet) name() string {
	if o.Begun != nil {
		return shardFile
	}
	return fleetFile
}

// take makes the directory, marks it, and removes the results of an earlier run.
func (o *Fleet) take() error {
	shown := verdict.Visible(o.Output)
	if err := o.Tracks.ThroughLink("output", filepath.Join(o.Output, o.name())); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return fmt.Errorf("the directory of the results cannot be created: %w", err)
	}
	inside, err := os.ReadDir(o.dir)
	if err != nil {
		return fmt.Errorf("the directory of the results cannot be read: %w", err)
	}
	if _, err := os.Lstat(o.path()); len(inside) > 0 && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: the directory has files, but no %s of an earlier run; "+
			"choose an empty or new one with --output", shown, o.name())
	}
	if err := o.Tracks.untracked(o.path()); err != nil {
		return err
	}
	if err := overwritable(o.path(), o.name(), "directory"); err != nil {
		return err
	}
	marker := summary.New(o.summary.Tool.Version)
	marker.Errors = []verdict.Error{{Code: code.InProgress, Message: InProgress}}
	marker.Decide()
	if err := o.write(o.begun(marker)); err != nil {
		return err
	}
	return o.removeOld(o.dir, 0)
}

// write replaces the summary, whole or not at all.
func (o *Fleet) write(d Document) error {
	if err := disk.ReplaceBy(o.path(), func(w io.Writer) error { return writeDocument(w, d) }); err != nil {
		return fmt.Errorf("%s: the summary cannot be written: %w", verdict.Visible(o.path()), disk.Cause(err))
	}
	return nil
}

// maxDepth is the largest depth of a name in directories: it has at most 1,024 bytes.
const maxDepth = 512

// removeOld removes the directories of earlier verdicts, and those of a killed run. It removes only verdict.json: a
// directory with other files is not from a run, which is an error.
func (o *Fleet) removeOld(dir string, depth int) error {
	inside, err := os.ReadDir(dir)
	if err == nil && depth > maxDepth {
		err = fmt.Errorf("%s: the directories are too deep", verdict.Visible(dir))
	}
	for _, d := range inside {
		if err != nil {
			break
		}
		path := filepath.Join(dir, d.Name())
		switch {
		case d.IsDir():
			if err := o.removeOld(path, depth+1); err != nil {
				return err
			}
			err = os.Remove(path)
		case path == o.path():
		case depth == 0 && disk.Temporary(d.Name(), o.name()),
			depth > 0 && d.Type().IsRegular() && (d.Name() == verdictName || disk.Temporary(d.Name(), verdictName)):
			err = os.Remove(path)
		case depth == 0: // perhaps a report
		default:
			return fmt.Errorf("%s: not written by an earlier run; "+
				"remove it, or choose another directory with --output", verdict.Visible(path))
		}
	}
	if err != nil {
		err = fmt.Errorf("the results of an earlier run cannot be removed: %w", err)
	}
	return err
}

// Keep writes the directory of a repository, by a temporary directory and a rename, and returns the hash of its
// verdict.json. Several goroutines may call it at once.
func (o *Fleet) Keep(name string, v *verdict.Verdict) (sum string, err error) {
	text, err := v.Encode()
	if err == nil {
		err = o.keep(name, text)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

func (o *Fleet) keep(name string, text []byte) error {
	if o.dir == "" {
		return nil
	}
	if err := keepAt(filepath.Join(o.dir, filepath.FromSlash(name)), text); err != nil {
		return fmt.Errorf("the verdict of %s cannot be written: %w", verdict.Visible(name), disk.Cause(err))
	}
	return nil
}

// keepAt makes the directory at a path, with the verdict in it.
func keepAt(at string, text []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return err
	}
	temporary := filepath.Join(filepath.Dir(at), fmt.Sprintf(".%s.%d.tmp", filepath.Base(at), os.Getpid()))
	if err := os.Mkdir(temporary, 0o777); err != nil {
		return err
	}
	file := filepath.Join(temporary, verdictName)
	defer func() {
		if err != nil {
			err = errors.Join(err, disk.Remove(file), disk.Remove(temporary))
		}
	}()
	if err := disk.Create(file, text); err != nil {
		return err
	}
	return os.Rename(temporary, at)
}

// Adopt keeps a verdict from the results of another run; sum is its required hash.
func (o *Fleet) Adopt(from, name, sum string) error {
	in := func(format string, args ...any) error {
		return fmt.Errorf("%s: the verdict of %s "+format, append([]any{verdict.Visible(from), verdict.Visible(name)},
			args...)...)
	}
	file := filepath.Join(from, filepath.FromSlash(name), verdictName)
	switch st, err := os.Lstat(file); {
	case err != nil:
		return in("cannot be read: %w; run the shard again", disk.Cause(err))
	case !st.Mode().IsRegular():
		return in("is not a regular file; run the shard again")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return in("cannot be read: %w; run the shard again", disk.Cause(err))
	}
	if fmt.Sprintf("%x", sha256.Sum256(text)) != sum {
		return in("is not the one that the shard wrote; run the shard again")
	}
	return o.keep(name, text)
}

// Void removes all verdicts that were kept.
func (o *Fleet) Void() error {
	if o.dir == "" {
		return nil
	}
	return o.removeOld(o.dir, 0)
}

// EndPart writes the document of a shard, and the report for display.
func (o *Fleet) EndPart(d Document) error {
	err := o.write(d)
	if shown := o.Show(); err == nil {
		err = shown
	}
	return unwritten(err)
}

// End writes every output, and returns the first error; see [ending].
func (o *Fleet) End(caught func() int) error {
	f := o.summary
	f.Decide()
	e := ending{
		reports: o.Reports, stdout: o.Stdout,
		passes: func() bool { return f.Verdict == verdict.Pass },
		fail: func(lost verdict.Error) {
			f.Errors = []verdict.Error{lost}
			f.Decide()
		},
		save: func() error {
			if o.dir == "" {
				return nil
			}
			return o.write(f)
		},
		print: func() error { return nil },
		show:  o.Show,
	}
	return e.write(caught)
}

// Printed reports whether a report of --report goes to standard output.
func (o *Fleet) Printed() bool { return (&Run{Reports: o.Reports}).Printed() }
