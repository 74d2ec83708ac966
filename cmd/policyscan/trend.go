package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/report"
	"github.com/policyscan/policyscan/verdict/summary"
	"github.com/policyscan/policyscan/verdict/trend"
)

type trendCmd struct {
	Results []string `arg:"" name:"dir|file" help:"@trend_results"`

	Since  string   `placeholder:"DATE" help:"Leave out results of days before this one, such as 2027-03-01."`
	Report []string `placeholder:"FORMAT" sep:"none" help:"@trend_report"`
	colorFlag
}

// Run reads the results and writes each report.
func (c *trendCmd) Run(std streams) error {
	std.color = c.Color
	t, tracks := &trend.Trend{}, gitEnvironment().Tracks
	reports, err := output.ReportsOf(report.TrendFormats(t), c.Report, tracks)
	if err != nil {
		return err
	}
	failed := c.read(std, reports, t)
	if errors.Is(failed, errReplaced) {
		return failed
	}
	err = output.Rewrite(reports, "", tracks, func() (*verdict.Verdict, error) { return nil, failed }, std.out)
	if err == nil && len(c.Report) == 0 {
		err = report.WriteTrendText(std.out, t, std.textOptions(std.out))
	}
	return err
}

// A resultFile is a verdict or a fleet's summary.
type resultFile struct {
	trend.File
	dir string // the argument that it was found in, which may have other files; "": the file is an argument
}

func (c *trendCmd) read(std streams, reports []output.Report, t *trend.Trend) error {
	if _, err := time.Parse(time.DateOnly, c.Since); c.Since != "" && err != nil {
		return fmt.Errorf("--since is %q; write a day of the calendar as 2027-03-01", c.Since)
	}
	files, err := c.find()
	if err != nil {
		return err
	}
	var dated []*resultFile
	var others []string
	var wrong []error
	failed := func(f *resultFile, err error) {
		switch {
		case errors.Is(err, errNoResult) && f.dir != "":
			others = append(others, safe(f.Name))
			return
		case slices.ContainsFunc(reports, func(r output.Report) bool { return r.Replaces(f.Name) }):
			err = errReplaced
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", safe(f.Name), err))
		}
	}
	for _, f := range files {
		if err := f.setDate(); err != nil || f.Date < c.Since {
			failed(f, err)
		} else {
			dated = append(dated, f)
		}
	}
	slices.SortFunc(dated, func(a, b *resultFile) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Name, b.Name))
	})
	b := trend.New(version())
	for _, f := range dated {
		_, fleet, err := f.load()
		if failed(f, err); err == nil {
			b.Add(f.File, fleet)
		}
	}
	if len(others) > 0 {
		const other = "note: not read, since it is no verdict and no fleet's summary: %s\n"
		wrong = append(wrong, print(std.err, other, strings.Join(others, ", ")))
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	if *t = *b.End(); len(t.Files) == 0 {
		return errors.New("there is no result to read; name directories or files with verdicts or fleet's summaries")
	}
	return nil
}

// find returns the files of the arguments, each once.
func (c *trendCmd) find() (all []*resultFile, err error) {
	for _, name := range c.Results {
		st, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("%s: it cannot be read: %w", safe(name), disk.Cause(err))
		}
		f, n := resultFile{dir: filepath.Clean(name)}, len(all)
		if !st.IsDir() {
			all = append(all, &resultFile{File: trend.File{Name: filepath.ToSlash(f.dir)}})
		} else if all, err = f.findIn(f.dir, all); err != nil {
			return nil, err
		}
		if len(all) == n {
			return nil, fmt.Errorf("%s: there is no file *.json; name a directory of verdicts or fleet's summaries", safe(name))
		}
	}
	slices.SortFunc(all, func(a, b *resultFile) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.dir, b.dir))
	})
	return slices.CompactFunc(all, func(a, b *resultFile) bool { return a.Name == b.Name }), nil
}

// findIn finds the files *.json at any depth. Of a fleet's results it finds only the summary, and of a shard's nothing.
// It enters no hidden directory.
func (f resultFile) findIn(dir string, all []*resultFile) ([]*resultFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: it cannot be read: %w", safe(dir), disk.Cause(err))
	}
	if named := func(e os.DirEntry) bool { return e.Name() == "fleet.json" }; slices.ContainsFunc(entries, named) {
		entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !named(e) })
	} else if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == shardName }) {
		return all, nil
	}
	for _, e := range entries {
		switch name := filepath.Join(dir, e.Name()); {
		case e.IsDir() && !strings.HasPrefix(e.Name(), "."):
			if all, err = f.findIn(name, all); err != nil {
				return nil, err
			}
		case !e.IsDir() && filepath.Ext(name) == ".json":
			one := f
			one.Name = filepath.ToSlash(name)
			all = append(all, &one)
		}
	}
	return all, nil
}

var dayInName = late.Regexp(`(?s)^(.*?\D)??(20\d\d)-?(\d\d)-?(\d\d)` +
	`(?:T\d\d[-:.]?\d\d(?:[-:.]?\d\d)?Z?|[_-]?\d{6}|\d{4})?(\D.*)?$`)

// dayOf returns the day in a name, and the name without it and a time after it.
func dayOf(name string) (day, rest string, err error) {
	m := dayInName().FindStringSubmatch(name)
	if m == nil {
		return "", name, nil
	}
	day = strings.Join(m[2:5], "-")
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return "", name, nil
	}
	if other, _, _ := dayOf(m[5]); other != "" && other != day {
		return "", "", fmt.Errorf("the name has two days, %s and %s; leave only that of the result", day, other)
	}
	const blank = "-_. "
	return day, strings.Trim(strings.Trim(m[1], blank)+"-"+strings.Trim(m[5], blank), "-"), nil
}

// setDate finds the day of the result: in the file's name, or the nearest directory's that has one, or of its commit.
func (f *resultFile) setDate() (err error) {
	elements := strings.Split(f.Name, "/")
	for _, e := range slices.Backward(elements) {
		if f.Date, _, err = dayOf(e); err != nil || f.Date != "" {
			f.DatedBy = "name"
			return err
		}
	}
	scope, _, err := f.load()
	if err != nil {
		return err
	}
	f.DatedBy, f.Date = "commit", scope.HeadDate[:min(len(scope.HeadDate), len(time.DateOnly))]
	if _, err := time.Parse(time.DateOnly, f.Date); err != nil {
		return errors.New("it has no day; name it or its directory with one, such as 2027-03-01.json or app-2027-03-01.json")
	}
	return nil
}

// repository is the name of a verdict's repository: its path below the argument, without days and "verdict".
func (f *resultFile) repository() string {
	inside := strings.TrimPrefix(f.Name, filepath.ToSlash(f.dir)+"/")
	var names []string
	for e := range strings.SplitSeq(strings.TrimSuffix(inside, ".json"), "/") {
		if _, rest, _ := dayOf(e); rest != "" && rest != "verdict" {
			names = append(names, rest)
		}
	}
	return cmp.Or(strings.Join(names, "/"), strings.Trim(filepath.Base(f.dir), "."), "repository")
}

var (
	errNoResult = errors.New("it is no verdict and no fleet's summary; name a directory that has them, or only them")
	errReplaced = errors.New("a report would replace it; name another file")
)

// load reads the file. A verdict is the fleet of its only repository.
func (f *resultFile) load() (scope verdict.Scope, fleet *summary.Fleet, err error) {
	st, err := os.Stat(f.Name)
	if err == nil && !st.Mode().IsRegular() {
		return scope, nil, errors.New("it is not a regular file")
	}
	text, err := os.ReadFile(f.Name)
	if err != nil {
		return scope, nil, disk.Cause(err)
	}
	var has struct{ Violations, Coverage, Repositories, List json.RawMessage }
	switch err := json.Unmarshal(text, &has); {
	case !json.Valid(text):
		return scope, nil, fmt.Errorf("it is not JSON, or cut off: %w", err)
	case has.Repositories != nil && has.List != nil:
		fleet, err = summary.Decode(text)
		return scope, fleet, err
	case has.Violations == nil || has.Coverage == nil:
		return scope, nil, errNoResult
	}
	v, err := verdict.DecodeAny(text)
	if err != nil {
		return scope, nil, err
	}
	if v.Scope.Mode != "full" && v.Scope.Mode != "tracked" {
		return scope, nil, fmt.Errorf("its scope is %s; a trend needs verdicts of whole trees (full, --tracked or --rev)",
			v.Scope.Mode)
	}
	return v.Scope, trend.OfVerdict(f.repository(), v), nil
}
