package naive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

// A formCase is a sentence of the page about the forms beyond one value, and a file that shows it.
type formCase struct {
	says string
	// rule has a line for each item, forbidden behind "- " and required behind "+ ", and other lines of the match.
	rule string
	path string
	// content has ① where the first item is broken, ② where the second is, and so on; twice for two occurrences there.
	content string
	code    string // of the error
}

const marks = "①②③④"

// pair is the case as a bundle and a tree, and the places of each item.
func (c formCase) pair() (p pair, places [][]int) {
	r := ruleYAML{id: "X", lists: []listYAML{{"files", []string{`"**"`}}}}
	for _, list := range []string{"- required_absent", "+ required_patterns"} {
		var items []string
		for line := range strings.Lines(c.rule) {
			if item, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), list[:2]); ok {
				items = append(items, item)
			}
		}
		places = append(places, make([][]int, len(items))...)
		if len(items) > 0 {
			r.lists = append(r.lists, listYAML{list[2:], items})
		}
	}
	for line := range strings.Lines(c.rule) {
		if line[0] != '-' && line[0] != '+' {
			r.lines = append(r.lines, strings.TrimSuffix(line, "\n"))
		}
	}
	content := c.content
	for {
		at := strings.IndexAny(content, marks)
		if at < 0 {
			break
		}
		i := strings.Index(marks, content[at:at+len("①")]) / len("①")
		places[i] = append(places[i], at)
		content = content[:at] + content[at+len("①"):]
	}
	f := File{c.path, content, Regular}
	p = pair{scope: "full", tree: []File{f}, parsed: map[string]*Parsed{}, files: []ruleText{
		{name: "boundaries.yml", version: "0.2", rules: []ruleYAML{plainRule("PLAIN", "boundary")}},
		{name: "invariants.yml", version: "0.2", rules: []ruleYAML{r}},
	}}
	for _, format := range []string{"yaml", "json", "hcl"} {
		if formatOf(c.path) == format || strings.Contains(c.rule, "format: "+format) {
			p.parsed[Meant(format, content)] = meaning(format, content)
		}
	}
	return p, places
}

// TestForms asks this program for each case, and policyscan, when it has the forms, as well.
func TestForms(t *testing.T) {
	for _, c := range formCases() {
		p, places := c.pair()
		b, mistakes := Load(p.rules())
		if len(mistakes) > 0 {
			t.Errorf("%s\n%s\n%+v", c.says, c.rule, mistakes)
			continue
		}
		r := b.Enforced()[1]
		o := Judge(b, Scan{Tree: p.tree, Parsed: p.parsed})
		got := make([][]int, len(places))
		for i, item := range slices.Concat(r.Absent, r.Required) {
			for _, v := range o.Violations {
				if v.Pattern != item.Name {
					continue
				}
				for place := range strings.FieldsSeq(v.Places) {
					at, _ := strconv.Atoi(place)
					got[i] = append(got[i], at)
				}
				if v.Places == "" {
					got[i] = append(got[i], v.Offset)
				}
			}
		}
		code := ""
		for _, e := range o.Errors {
			code += e.Code
		}
		if fmt.Sprint(got) != fmt.Sprint(places) || code != c.code {
			t.Errorf("%s\n%s\n%s\nplaces %v %s, not %v %s", c.says, c.rule, c.content, got, code, places, c.code)
		}
	}
	build.WithProgram(func(program string) int {
		with := comparer{program, t.TempDir()}
		for _, c := range formCases() {
			p, _ := c.pair()
			if _, err := with.compare(p); err != nil {
				t.Errorf("%s\n%s\n%s\n%v", c.says, c.rule, c.content, err)
			}
		}
		return 0
	})
}
