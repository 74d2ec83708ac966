package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

	Since  string   `placeholder:"DATE" help:"Skip results of days before this one, such as 2027-03-01."`
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
	if err != nil || len(c.Report) > 0 {
		return err
	}
	var text bytes.Buffer // one write: a reader such as head may go after the first
	if err := report.WriteTrendText(&text, t, std.textOptions(std.out)); err != nil {
		return err
	}
	_, err = std.out.Write(text.Bytes())
	return err
}

// A resultFile is a verdict or a fleet's summary.
type resultFile struct {
	file trend.File
	dir  string // the argument that it was found in, which may have other files; "": the file is an argument
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
			others = append(others, safe(f.file.Name))
			return
		case slices.ContainsFunc(reports, func(r output.Report) bool { return r.Replaces(f.file.Name) }):
			err = errReplaced
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", safe(f.file.Name), err))
		}
	}
	for _, f := range files {
		if err := f.setDate(); err != nil || f.file.Date < c.Since {
			failed(f, err)
		} else {
			dated = append(dated, f)
		}
	}
	slices.SortFunc(dated, func(a, b *resultFile) int {
		return cmp.Or(cmp.Compare(a.file.Date, b.file.Date), cmp.Compare(a.file.Name, b.file.Name))
	})
	b := trend.New(version())
	for _, f := range dated {
		_, fleet, err := f.load()
		if failed(f, err); err == nil {
			b.Add(f.file, fleet)
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

// find returns the files of the arguments, each once: of a directory the files *.json at any depth, of a fleet's
// results only the summary, and of a shard's nothing.
func (c *trendCmd) find() (all []*resultFile, err error) {
	for _, name := range c.Results {
		dir, n, shards := filepath.Clean(name), len(all), false
		add := func(name, dir string) {
			all = append(all, &resultFile{trend.File{Name: filepath.ToSlash(filepath.Clean(name))}, dir})
		}
		if st, err := os.Stat(name); err == nil && !st.IsDir() {
			add(name, "")
			continue
		}
		root := dir + string(filepath.Separator) // follows a link
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			has := func(name string) bool { _, err := os.Lstat(filepath.Join(path, name)); return err == nil }
			switch {
			case err != nil:
				return err
			case d.IsDir() && has("fleet.json"):
				add(filepath.Join(path, "fleet.json"), dir)
				return fs.SkipDir
			case d.IsDir() && has(shardName):
				shards = true
				return fs.SkipDir
			case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case !d.IsDir() && filepath.Ext(path) == ".json":
				add(path, dir)
			}
			return nil
		})
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: it cannot be read: %w", safe(name), disk.Cause(err))
		case len(all) == n && shards:
			return nil, fmt.Errorf("%s: there are only shards; run policyscan merge, and name its results", safe(name))
		case len(all) == n:
			return nil, fmt.Errorf("%s: there is no file *.json; name a directory that has results", safe(name))
		}
	}
	slices.SortFunc(all, func(a, b *resultFile) int {
		return cmp.Or(cmp.Compare(a.file.Name, b.file.Name), cmp.Compare(b.dir, a.dir))
	})
	return slices.CompactFunc(all, func(a, b *resultFile) bool { return a.file.Name == b.file.Name }), nil
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
	other, after, err := dayOf(m[5])
	if err == nil && other != "" && other != day {
		return "", "", fmt.Errorf("the name has two days, %s and %s; leave only that of the result", day, other)
	}
	const blank = "-_. "
	return day, strings.Trim(strings.Trim(m[1], blank)+"-"+strings.Trim(after, blank), "-"), err
}

// setDate finds the day of the result: in the file's name, or the nearest directory's that has one, or of its commit.
func (f *resultFile) setDate() (err error) {
	for _, e := range slices.Backward(strings.Split(f.file.Name, "/")) {
		if f.file.Date, _, err = dayOf(e); err != nil || f.file.Date != "" {
			f.file.DatedBy = "name"
			return err
		}
	}
	date, _, err := f.load()
	if err != nil {
		return err
	}
	f.file.DatedBy, f.file.Date = "commit", date[:min(len(date), len(time.DateOnly))]
	if _, err := time.Parse(time.DateOnly, f.file.Date); err != nil {
		return errors.New("it has no day; name it or its directory with one, such as 2027-03-01.json")
	}
	return nil
}

// repository is the name of a verdict's repository: its path below the argument, without days and "verdict".
func (f *resultFile) repository() string {
	inside := strings.TrimPrefix(f.file.Name, filepath.ToSlash(f.dir)+"/")
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

// load reads the file. A verdict is the fleet of its only repository, at the date of its commit, if any.
func (f *resultFile) load() (date string, fleet *summary.Fleet, err error) {
	st, err := os.Stat(f.file.Name)
	if err == nil && !st.Mode().IsRegular() {
		return "", nil, errors.New("it is not a regular file")
	}
	text, err := os.ReadFile(f.file.Name)
	if err != nil {
		return "", nil, disk.Cause(err)
	}
	var has struct{ Violations, Coverage, Repositories, List json.RawMessage }
	switch err := json.Unmarshal(text, &has); {
	case !json.Valid(text):
		return "", nil, fmt.Errorf("it is not JSON, or cut off: %w", err)
	case has.Repositories != nil && has.List != nil:
		fleet, err = summary.Decode(text)
		return "", fleet, err
	case has.Violations == nil || has.Coverage == nil:
		return "", nil, errNoResult
	}
	v, err := verdict.DecodeAny(text)
	if err == nil && v.Scope.Mode != "full" && v.Scope.Mode != "tracked" {
		err = fmt.Errorf("its scope is %s; give verdicts of whole trees (full, --tracked or --rev)", safe(v.Scope.Mode))
	}
	if err != nil {
		return "", nil, err
	}
	return v.Scope.HeadDate, trend.OfVerdict(f.repository(), v), nil
}
