// Package trend is the document of policyscan trend: how the places that break rules, and allowed places, changed over
// time, by rule, owner and repository. It knows no files and no clock.
//
// A [Builder] takes the results of files by day, and keeps only numbers. A repository has the number of its last
// complete result in a week, or none: an incomplete result is never a zero. In a sum, its last known number counts.
package trend

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// SchemaVersion is the version of the document's format.
const SchemaVersion = "1"

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the document.
func Schema() []byte { return schema }

// A Trend is the document. Its fields are in the order of the file; lists are never null. schema.json describes them.
type Trend struct {
	SchemaVersion string       `json:"schema_version"`
	Tool          verdict.Tool `json:"tool"`
	Files         []File       `json:"files"`  // by day, then name
	Weeks         []*Week      `json:"weeks"`  // all from the first day of a file to the last
	Rules         []Series     `json:"rules"`  // by id
	Owners        []Series     `json:"owners"` // by name; "" without one
	Repositories  []Series     `json:"repositories"`
	Gaps          []Gap        `json:"gaps"` // by week
}

// A File is one that was read.
type File struct {
	Name         string `json:"name"`
	Date         string `json:"date"`
	DatedBy      string `json:"dated_by"` // "name" or "commit"
	Repositories int    `json:"repositories"`
	Replaced     int    `json:"replaced"` // of these, the ones that count from a later file of the day
}

// A Week begins on its Monday. Places and Allowed are nil if no repository has a number. The difference from the places
// of the last week with a number is New, NewWithRules and NewWithRepositories less Gone and GoneWithRules.
type Week struct {
	Monday  string `json:"monday"`
	Places  *int   `json:"places"`
	Allowed *int   `json:"allowed_places"`

	New                 int `json:"new"`  // places more, summed over rules of repositories
	Gone                int `json:"gone"` // places fewer
	NewWithRules        int `json:"new_with_rules"`
	GoneWithRules       int `json:"gone_with_rules"`
	NewWithRepositories int `json:"new_with_repositories"`

	Decided      int      `json:"decided"`       // repositories with a number
	Carried      int      `json:"carried"`       // without one: their last numbers count in the sum
	Undecided    int      `json:"undecided"`     // with an incomplete result, whether or not they have a number
	OtherBundles int      `json:"other_bundles"` // checked by other bundles than before
	Largest      []Change `json:"largest"`       // of New, the largest first, at most [maxLargest]
}

const maxLargest = 10

// A Change is the number of new places of a rule in a repository.
type Change struct {
	Repository string `json:"repository"`
	RuleID     string `json:"rule_id"`
	Places     int    `json:"places"`
}

// A Series is the numbers of a rule, an owner or a repository in each week; nil: none.
type Series struct {
	Name    string `json:"name"`
	Title   string `json:"title"` // of a rule
	Owner   string `json:"owner"` // of a rule, the last one
	Places  []*int `json:"places"`
	Allowed []*int `json:"allowed_places"`
	// Change is the difference of places and allowed places together, without repositories and rules that began or
	// ended: an allowance lowers nothing.
	Change int `json:"change"`
}

// A Gap is consecutive weeks in which repositories have no number, and their first error; without a code they were not
// scanned. Without repositories it is a run that scanned none.
type Gap struct {
	First        string   `json:"first"` // Monday
	Last         string   `json:"last"`  // Monday
	Code         string   `json:"code"`
	Message      string   `json:"message"`
	Repositories []string `json:"repositories"`
}

// monday returns the Monday of a day's week, or of a later week.
func monday(day string, weeks int) string {
	t, _ := time.Parse(time.DateOnly, day) // a valid day
	return t.AddDate(0, 0, 7*weeks-(int(t.Weekday())+6)%7).Format(time.DateOnly)
}

// A Builder makes a [Trend].
type Builder struct {
	t       *Trend
	week    *Week              // of the last file; nil at first
	day     string             // of it
	ofDay   map[string]*result // of the day, by repository
	known   map[string]*repository
	sums    map[string]*Series // of rules and owners
	started bool               // there was a number in an earlier week
}

// A result is what a file says of a repository.
type result struct {
	file    int
	failed  *verdict.Error // then it has no number
	cells   map[string]cell
	rules   map[string]*summary.Rule // it was checked with
	bundles string
}

// A cell is the numbers of a rule in a repository.
type cell struct{ places, allowed int }

func (c *cell) add(d cell) { c.places, c.allowed = c.places+d.places, c.allowed+d.allowed }

type repository struct {
	series    Series
	last, now *result // of an earlier week, and of the current one
	failed    *verdict.Error
	gaps      []Gap
}

// New returns an empty builder.
func New(version string) *Builder {
	return &Builder{
		t:     &Trend{SchemaVersion: SchemaVersion, Tool: verdict.New(version).Tool},
		ofDay: map[string]*result{}, known: map[string]*repository{}, sums: map[string]*Series{},
	}
}

// OfVerdict returns the fleet of one repository.
func OfVerdict(name string, v *verdict.Verdict) *summary.Fleet {
	f := summary.New(v.Tool.Version)
	for _, p := range v.Policy {
		f.Policy = append(f.Policy, summary.Policy{SHA256: p.SHA256})
	}
	row := summary.Row(v)
	row.Name = name
	f.Add(row, v.Rules)
	f.Decide()
	return f
}

// Add adds a file. Files come in the order of their days, then names.
func (b *Builder) Add(file File, f *summary.Fleet) {
	if file.Date != b.day {
		b.endDay()
	}
	b.day = file.Date
	for first := monday(b.day, 0); b.week == nil || b.week.Monday < first; {
		next := first
		if b.week != nil {
			b.endWeek()
			next = monday(b.week.Monday, 1)
		}
		b.week = &Week{Monday: next}
		b.t.Weeks = append(b.t.Weeks, b.week)
	}
	file.Repositories = len(f.Repositories)
	b.t.Files = append(b.t.Files, file)
	rules, shared := map[string]*summary.Rule{}, []string{}
	for i := range f.Rules {
		rule := &f.Rules[i]
		s := b.series(ruleKey + rule.ID)
		rules[rule.ID], s.Title, s.Owner = rule, rule.Title, rule.Owner
	}
	for _, p := range f.Policy {
		shared = append(shared, p.SHA256)
	}
	if len(f.Repositories) == 0 {
		why, first := firstError(f.Errors), b.week.Monday
		b.t.Gaps = append(b.t.Gaps, Gap{first, first, why.Code, file.Name + ": " + why.Message, nil})
	}
	for i := range f.Repositories {
		r := &result{file: len(b.t.Files) - 1, rules: rules, cells: map[string]cell{}}
		r.read(&f.Repositories[i], shared)
		if old := b.ofDay[f.Repositories[i].Name]; old != nil {
			b.t.Files[old.file].Replaced++
		}
		b.ofDay[f.Repositories[i].Name] = r
	}
}

// firstError is the first of errors, with its file in the message.
func firstError(all []verdict.Error) *verdict.Error {
	if len(all) == 0 {
		return &verdict.Error{Message: "not complete"}
	}
	return &verdict.Error{Code: all[0].Code, Message: all[0].Error()}
}

func (r *result) read(row *summary.Repository, shared []string) {
	if !row.Complete || row.Undecided() {
		r.failed = firstError(row.Errors)
		return
	}
	bundles := slices.Sorted(slices.Values(append(slices.Clone(shared), row.OwnPolicy)))
	r.bundles = strings.Join(slices.Compact(bundles), " ")
	count := func(id string, c cell) {
		if r.rules[id] == nil {
			r.rules[id] = &summary.Rule{ID: id}
		}
		c.add(r.cells[id])
		r.cells[id] = c
	}
	for _, c := range row.Rules {
		count(c.RuleID, cell{places: c.Places})
	}
	for _, c := range row.AllowedRules {
		count(c.RuleID, cell{allowed: c.Places})
	}
}

func (r *result) sum() (all cell) {
	for _, c := range r.cells {
		all.add(c)
	}
	return all
}

// endDay takes over the results of a day.
func (b *Builder) endDay() {
	for name, r := range b.ofDay {
		if b.known[name] == nil {
			b.known[name] = &repository{series: Series{Name: name}}
		}
		if known := b.known[name]; r.failed != nil {
			known.failed = r.failed
		} else {
			known.now = r
		}
	}
	clear(b.ofDay)
}

// endWeek adds the week's number to every series.
func (b *Builder) endWeek() {
	p, at := b.week, len(b.t.Weeks)-1
	sums, all, counted := map[string]cell{}, cell{}, map[int]bool{} // files whose rules are in sums
	add := func(rule *summary.Rule, c cell) {
		for _, key := range []string{ruleKey + rule.ID, ownerKey + rule.Owner} {
			sum := sums[key]
			sum.add(c)
			sums[key] = sum
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.known)) {
		r := b.known[name]
		if r.failed != nil {
			p.Undecided++
		}
		if r.now != nil {
			p.Decided++
			b.compare(r)
			r.last = r.now
			r.series.put(at, r.last.sum())
		} else {
			b.gap(r)
			if r.last != nil {
				p.Carried++
			}
		}
		if r.now, r.failed = nil, nil; r.last != nil {
			all.add(r.last.sum())
			for id, c := range r.last.cells {
				add(r.last.rules[id], c)
			}
			if !counted[r.last.file] { // a rule without places has a number, too
				for _, rule := range r.last.rules {
					add(rule, cell{})
				}
			}
			counted[r.last.file] = true
		}
	}
	slices.SortStableFunc(p.Largest, func(x, y Change) int { return y.Places - x.Places })
	p.Largest = p.Largest[:min(len(p.Largest), maxLargest)]
	if p.Decided > 0 {
		b.started, p.Places, p.Allowed = true, &all.places, &all.allowed
		for key, sum := range sums {
			b.series(key).put(at, sum)
		}
	}
}

// The beginnings of a key of [Builder.sums].
const (
	ruleKey  = "r"
	ownerKey = "o"
)

func (b *Builder) series(key string) *Series {
	if b.sums[key] == nil {
		b.sums[key] = &Series{Name: key[1:]}
	}
	return b.sums[key]
}

func (s *Series) put(at int, c cell) {
	s.pad(at)
	s.Places, s.Allowed = append(s.Places, &c.places), append(s.Allowed, &c.allowed)
}

// pad adds weeks without a number.
func (s *Series) pad(n int) {
	for len(s.Places) < n {
		s.Places, s.Allowed = append(s.Places, nil), append(s.Allowed, nil)
	}
}

// compare counts what changed in a repository since its last number.
func (b *Builder) compare(r *repository) {
	p := b.week
	if r.last == nil {
		if b.started {
			p.NewWithRepositories += r.now.sum().places
		}
		return
	}
	if r.last.bundles != r.now.bundles {
		p.OtherBundles++
	}
	ids := maps.Clone(r.last.cells)
	maps.Copy(ids, r.now.cells)
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		before, now := r.last.cells[id], r.now.cells[id]
		more := now.places - before.places
		switch {
		case r.last.rules[id] == nil:
			p.NewWithRules += more
			continue
		case r.now.rules[id] == nil:
			p.GoneWithRules -= more
			continue
		case more > 0:
			p.New += more
			p.Largest = append(p.Largest, Change{r.series.Name, id, more})
		default:
			p.Gone -= more
		}
		for _, s := range []*Series{&r.series, b.series(ruleKey + id), b.series(ownerKey + r.now.rules[id].Owner)} {
			s.Change += more + now.allowed - before.allowed
		}
	}
}

// gap notes that a repository has no number in the week.
func (b *Builder) gap(r *repository) {
	first := b.week.Monday
	g := Gap{First: first, Last: first, Message: "not scanned", Repositories: []string{r.series.Name}}
	if r.failed != nil {
		g.Code, g.Message = r.failed.Code, r.failed.Message
	}
	if n := len(r.gaps) - 1; n >= 0 && monday(r.gaps[n].Last, 1) == first && r.gaps[n].Message == g.Message {
		r.gaps[n].Last = first
		return
	}
	r.gaps = append(r.gaps, g)
}

// End returns the document.
func (b *Builder) End() *Trend {
	if b.endDay(); b.week != nil {
		b.endWeek()
	}
	same := map[string]int{}
	end := func(list *[]Series, s *Series) {
		s.pad(len(b.t.Weeks))
		*list = append(*list, *s)
	}
	for _, name := range slices.Sorted(maps.Keys(b.known)) {
		end(&b.t.Repositories, &b.known[name].series)
		for _, g := range b.known[name].gaps {
			key := strings.Join([]string{g.First, g.Last, g.Code, g.Message}, "\x00")
			if i, known := same[key]; known {
				b.t.Gaps[i].Repositories = append(b.t.Gaps[i].Repositories, name)
				continue
			}
			same[key] = len(b.t.Gaps)
			b.t.Gaps = append(b.t.Gaps, g)
		}
	}
	slices.SortStableFunc(b.t.Gaps, func(x, y Gap) int { return strings.Compare(x.First+x.Last, y.First+y.Last) })
	for _, key := range slices.Sorted(maps.Keys(b.sums)) {
		list := &b.t.Owners
		if strings.HasPrefix(key, ruleKey) {
			list = &b.t.Rules
		}
		end(list, b.sums[key])
	}
	return b.t
}
