package naive

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// path is one of the version's files, or of those that may come.
func (g *generator) path(v version) string {
	if len(v.files) > 0 && g.percent(80) {
		return pick(g, slices.Sorted(maps.Keys(v.files))...)
	}
	return pick(g, changedPaths()...)
}

// mutate makes some changes to a version.
func (g *generator) mutate(v version) version {
	v = v.clone()
	for range 1 + g.IntN(3) {
		switch g.IntN(10) {
		case 0, 1, 2:
			g.edit(v)
		case 3, 4, 5, 6:
			v = g.move(v)
		case 7:
			v = g.changeRules(v)
		default:
			v = g.changeList(v)
		}
	}
	if g.percent(30) { // tighten
		counts := v.counts()
		for i, e := range v.list {
			if n := counts[e.Rule][e.File]; n > 0 && n < e.AtMost && !e.MayGrow {
				v.list[i].AtMost = n
			}
		}
	}
	return v
}

// edit changes the lines of a file.
func (g *generator) edit(v version) {
	path := g.path(v)
	content, there := v.files[path]
	if !there {
		v.files[path] = g.body(path)
		return
	}
	lines := linesIn(path, content)
	json := strings.HasSuffix(path, ".json")
	switch i := g.IntN(len(lines)); {
	case g.percent(30):
		lines = append(without(lines, i), linesIn(path, g.body(path))[0])
	case g.percent(40):
		lines = without(lines, i)
	case g.percent(20):
		lines = append(lines, lines[i])
	case g.percent(30) && !json:
		for j := range lines {
			lines[j] = "  " + strings.TrimSpace(lines[j])
		}
	default:
		g.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
	v.files[path] = g.joined(path, lines)
}

// move renames, copies, splits or swaps files, with entries that say so, or without.
func (g *generator) move(v version) version {
	from, to := g.path(v), pick(g, changedPaths()...)
	content, there := v.files[from]
	if !there || from == to || strings.HasSuffix(from, ".json") != strings.HasSuffix(to, ".json") {
		return v
	}
	before := v.counts()
	froms := map[string][]string{to: {from}}
	switch g.IntN(6) {
	case 0, 1, 2:
		v.files[to] = content
		delete(v.files, from)
	case 3:
		v.files[to] = content // a copy
	case 4:
		lines := linesIn(from, content)
		cut := g.IntN(len(lines) + 1)
		v.files[from], v.files[to] = g.joined(from, lines[:cut]), g.joined(to, lines[cut:])
	default:
		v.files[from], v.files[to] = v.files[to], content
		if v.files[from] == "" {
			delete(v.files, from)
		}
		froms[from] = []string{to}
	}
	if g.percent(25) {
		g.edit(v)
	}
	if g.percent(20) {
		return v
	}
	counts := v.counts()
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		for _, path := range []string{to, from} {
			n := counts[rule][path]
			at := slices.IndexFunc(v.list, func(e Allowance) bool { return e.Rule == rule && e.File == path })
			switch {
			case n == 0 && at >= 0 && g.percent(80):
				v.list = without(v.list, at)
			case n > 0 && before[rule][from] > 0 && froms[path] != nil && g.percent(90):
				e := g.entry(rule, path, n)
				e.From = froms[path]
				if at >= 0 {
					v.list[at] = e
				} else {
					v.list = append(v.list, e)
				}
			}
		}
	}
	return v
}

// changeRules changes, adds or removes a rule.
func (g *generator) changeRules(v version) version {
	i := g.IntN(len(v.rules))
	switch {
	case g.percent(50):
		v.rules = with(v.rules, i, ruleLine{v.rules[i].id, pick(g, ruleBodies()...)})
	case g.percent(60) || len(v.rules) == 1:
		g.ids++
		v.rules = append(v.rules, ruleLine{fmt.Sprintf("R%d", g.ids), pick(g, ruleBodies()...)})
		added := v.rules[len(v.rules)-1:]
		v.list = append(v.list, g.entries(version{files: v.files, rules: added}, 70)...)
	default:
		v.rules = without(v.rules, i)
	}
	return v
}

// changeList changes, adds or removes an entry.
func (g *generator) changeList(v version) version {
	if len(v.list) == 0 || g.percent(25) {
		rule, path := pick(g, v.rules...).id, g.path(v)
		e := g.entry(rule, path, max(1, v.counts()[rule][path]))
		if g.percent(50) {
			e.From = []string{g.path(v)}
		}
		v.list = append(v.list, e)
		return v
	}
	if g.percent(6) {
		v.list = nil
		return v
	}
	i := g.IntN(len(v.list))
	e := v.list[i]
	switch g.IntN(9) {
	case 0, 1:
		e.AtMost = max(1, e.AtMost-1)
	case 2:
		e.AtMost++
	case 3:
		v.list = without(v.list, i)
		return v
	case 4:
		e.MayGrow = !e.MayGrow
	case 5:
		e.Until = pick(g, "2099-06-14", "2099-06-15", "2099-06-16", "")
	case 6:
		e.From = nil
		for range 1 + g.IntN(3) {
			if path := pick(g, g.path(v), ".policyscan/rules/boundaries.yml"); !slices.Contains(e.From, path) {
				e.From = append(e.From, path)
			}
		}
	case 7:
		e.Owner = pick(g, "o", "p")
	default: // another entry for the same
		e.AtMost = max(1, e.AtMost+pick(g, -1, 0, 1))
		v.list = append(v.list, e)
		return v
	}
	v.list = with(v.list, i, e)
	return v
}
