package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict/trend"
)

// TrendFormats returns the formats of a trend, in the order of the manual. They write t, not a verdict.
func TrendFormats(t *trend.Trend) []Format {
	return formatsOf(t, "all of it, for programs", trendHead, "", "one page to read, with charts",
		WriteTrendText, nil, writeTrendHTML)
}

// TrendNames are the names of these formats, for display.
func TrendNames() string { return names(TrendFormats(nil)) }

const (
	trendHead   = "policyscan trend: "
	mostLowered = 10
	mostListed  = 30 // repositories with most places, each with a chart
)

// A trendPage is what several formats say of a trend.
type trendPage struct {
	htmlHead
	*trend.Trend
	Total           trendChart
	Lowered, Fewer  []trendChart // repositories and owners that lowered most
	ByRule, ByOwner []trendChart
	Unbroken        int          // rules that are not in ByRule: they have no place in any week
	Most, Others    []trendChart // repositories, most places first
}

// A trendChart is a series that has a number, with its first and last ones.
type trendChart struct {
	*trend.Series
	First, FirstAllowed int
	Last, LastAllowed   int
	Began, Ended        int // the weeks of First and Last
	Top                 int // the most places with the allowed ones, at least 1
}

func newTrendPage(t *trend.Trend) *trendPage {
	p := &trendPage{Trend: t, ByRule: trendCharts(t.Rules), ByOwner: trendCharts(t.Owners)}
	p.Headline = "no repository was decided"
	total := trend.Series{Name: "all repositories"}
	for _, w := range t.Weeks {
		total.Places, total.Allowed = append(total.Places, w.Places), append(total.Allowed, w.Allowed)
	}
	for _, c := range trendCharts([]trend.Series{total}) {
		p.Total, p.Headline = c, count(c.Last, "place")
		compared := ", "
		if c.FirstAllowed+c.LastAllowed > 0 {
			p.Headline, compared = p.Headline+" and "+number(c.LastAllowed)+" allowed", ", together "
		}
		p.Headline += " in the week of " + t.Weeks[c.Ended].Monday
		if c.Began < c.Ended {
			more := c.Last + c.LastAllowed - c.First - c.FirstAllowed
			p.Headline += compared + differenceWords(more) + " in the week of " + t.Weeks[c.Began].Monday
		}
	}
	some := func(n *int) bool { return n != nil && *n > 0 }
	p.ByRule = slices.DeleteFunc(p.ByRule, func(c trendChart) bool {
		unbroken := !slices.ContainsFunc(c.Places, some) && !slices.ContainsFunc(c.Allowed, some)
		if unbroken {
			p.Unbroken++
		}
		return unbroken
	})
	all := trendCharts(t.Repositories)
	p.Lowered, p.Fewer = lowered(all), lowered(p.ByOwner)
	slices.SortStableFunc(all, func(a, b trendChart) int {
		return cmp.Or(b.Last-a.Last, b.LastAllowed-a.LastAllowed)
	})
	p.Most, p.Others = all[:min(len(all), mostListed)], all[min(len(all), mostListed):]
	for _, f := range t.Files {
		if f.Replaced > 0 {
			p.Notes = append(p.Notes, f.Name+": "+count(f.Replaced, "repository")+verb(f.Replaced, " counts", " count")+
				" from a later file of the same day")
		}
	}
	return p
}

func differenceWords(n int) string {
	switch {
	case n < 0:
		return number(-n) + " fewer than"
	case n > 0:
		return number(n) + " more than"
	}
	return "as many as"
}

// lowered are the series with the largest falls.
func lowered(all []trendChart) []trendChart {
	list := slices.DeleteFunc(slices.Clone(all), func(c trendChart) bool { return c.Change >= 0 })
	slices.SortStableFunc(list, func(a, b trendChart) int { return a.Change - b.Change })
	return list[:min(len(list), mostLowered)]
}

// trendCharts returns the series that have a number.
func trendCharts(list []trend.Series) (all []trendChart) {
	for i := range list {
		c := trendChart{Series: &list[i], Top: 1, Began: -1}
		for x, n := range c.Places {
			if n == nil {
				continue
			}
			if c.Began < 0 {
				c.Began, c.First, c.FirstAllowed = x, *n, *c.Allowed[x]
			}
			c.Ended, c.Last, c.LastAllowed = x, *n, *c.Allowed[x]
			c.Top = max(c.Top, c.Last+c.LastAllowed)
		}
		if c.Began >= 0 {
			all = append(all, c)
		}
	}
	return all
}

// Label is the name for display.
func (c trendChart) Label() string { return cmp.Or(c.Name, noOwner) }

// Signed is the change with its sign.
func (c trendChart) Signed() string {
	if c.Change > 0 {
		return "+" + number(c.Change)
	}
	return number(c.Change)
}

func weeksOf(g *trend.Gap) string {
	if g.First == g.Last {
		return g.First
	}
	return g.First + " to " + g.Last
}

// remarks are clauses about a week.
func remarks(w *trend.Week) (all []string) {
	add := func(n int, text string) {
		if n > 0 {
			all = append(all, text)
		}
	}
	add(w.NewWithRules, number(w.NewWithRules)+" more by new rules")
	add(w.GoneWithRules, number(w.GoneWithRules)+" fewer by rules that ended")
	add(w.NewWithRepositories, number(w.NewWithRepositories)+" more in new repositories")
	add(w.OtherBundles, "other bundles in "+count(w.OtherBundles, "repository"))
	add(w.Undecided, count(w.Undecided, "repository")+" undecided")
	if w.Decided == 0 {
		return append(all, "no number")
	}
	add(w.Carried, count(w.Carried, "repository")+" without a number: "+
		verb(w.Carried, "its last known number counts", "the last known number of each counts"))
	var largest []string
	for _, c := range w.Largest {
		largest = append(largest, clip(c.Repository, 100)+" "+clip(c.RuleID, 100)+" "+number(c.Places))
	}
	add(len(largest), "new: "+firstOf(largest, 3))
	return all
}

// weekNumbers are the places, the allowed, the new and the gone ones.
func weekNumbers(w *trend.Week) [4]string {
	if w.Places == nil {
		return [4]string{"-", "-", "-", "-"}
	}
	return [4]string{number(*w.Places), number(*w.Allowed), number(w.New), number(w.Gone)}
}

// WriteTrendText writes the trend for people, in 80 columns: each week with a bar, who changed most, the rules, the
// owners, the repositories with most places, and what has no number.
func WriteTrendText(w io.Writer, tr *trend.Trend, o TextOptions) error {
	if o.Width == 0 || o.Width > 80 {
		o.Width = 80
	}
	t, p := textWriter{w: bufio.NewWriter(w), TextOptions: o}, newTrendPage(tr)
	t.labelled(trendHead, p.Headline)
	const row, room = "%-10s %8s %8s %8s %8s  %s", 32
	t.line("\n"+row, "week of", "places", "allowed", "new", "gone", "# places, : allowed")
	for _, x := range tr.Weeks {
		bar := ""
		if x.Places != nil {
			upTo := func(n int) int { return (n*room + p.Total.Top - 1) / p.Total.Top }
			bar = strings.Repeat("#", upTo(*x.Places))
			bar += strings.Repeat(":", upTo(*x.Places+*x.Allowed)-len(bar))
		}
		n := weekNumbers(x)
		t.line(row, x.Monday, n[0], n[1], n[2], n[3], bar)
		for _, s := range remarks(x) {
			t.say("    ", "", flow(s))
		}
	}
	t.trends("Repositories that lowered most", p.Lowered, 0, "")
	t.trends("Owners that lowered most", p.Fewer, 0, "")
	t.trends("Rules", p.ByRule, p.Unbroken, count(p.Unbroken, "rule")+" without a place")
	t.trends("Owners", p.ByOwner, 0, "")
	others := len(p.Others)
	t.trends("Repositories with most places", p.Most, others, number(others)+" more; --report json has all")
	t.gap(len(tr.Gaps))
	for i := range tr.Gaps {
		g := &tr.Gaps[i]
		names := cmp.Or(firstOf(g.Repositories, mostLowered), "a run")
		t.say("", weeksOf(g), flow(names)+": "+flow(strings.TrimPrefix(g.Code+" "+g.Message, " ")))
	}
	t.gap(len(p.Notes))
	for _, n := range p.Notes {
		t.labelled("note: ", n)
	}
	return t.w.Flush()
}

// trends writes a table of series, and of more series only what they are.
func (t *textWriter) trends(heading string, list []trendChart, more int, what string) {
	line := func(indent, name string, cells ...any) {
		name = indent + shorten(flow(name), 38-len(indent), runeColumns)
		t.line("%s%s %s", name, strings.Repeat(" ", 38-columns(name)), fmt.Sprintf("%9s %9s %9s %9s", cells...))
	}
	if t.gap(len(list) + more); len(list)+more > 0 {
		line("", heading, "first", "last", "allowed", "change")
	}
	for _, c := range list {
		line("  ", c.Label(), number(c.First), number(c.Last), number(c.LastAllowed), c.Signed())
	}
	if more > 0 {
		t.line("  and %s", what)
	}
}

func writeTrendHTML(w io.Writer, t *trend.Trend) error {
	p := newTrendPage(t)
	styles := []string{"style.css", "history.css", "trend.css"}
	return writePage(w, "trend.html", styles, "", &p.htmlHead, p, map[string]any{
		"remarks": remarks, "numbers": weekNumbers, "weeks": weeksOf,
		"monday": func(week int) string { return t.Weeks[week].Monday },
		"list":   func(head string, list []trendChart) any { return map[string]any{"Head": head, "List": list} },
	})
}
