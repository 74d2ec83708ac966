package allowance

import "slices"

// groups are the files that are counted together: each file maps to its whole group, in order. A file alone is
// missing.
type groups map[pair][]string

// join returns the groups of the head's entries: those with a "from" that no other list has unchanged. An expired
// entry makes no group, and a file with an exception, in the base or the head, is in none.
func join(base, head *SideList, mergeBases []*SideList) groups {
	others := append([]*SideList{base}, mergeBases...)
	alone := func(rule, file string) bool { return base.exception(rule, file) || head.exception(rule, file) }
	u := unionFind{}
	for i := range head.entries {
		e := &head.entries[i]
		if len(e.From) == 0 || alone(e.Rule, e.File) || head.Limit(e.Rule, e.File).Expired ||
			slices.ContainsFunc(others, func(l *SideList) bool { return l.has(e) }) {
			continue
		}
		for _, from := range e.From {
			if !alone(e.Rule, from) {
				u.link(pair{e.Rule, e.File}, pair{e.Rule, from})
			}
		}
	}
	return u.groups()
}

// of returns the group of a file, including the file.
func (g groups) of(rule, file string) []string {
	if all := g[pair{rule, file}]; all != nil {
		return all
	}
	return []string{file}
}

// A unionFind maps each file to another one of its group; the last one maps to itself.
type unionFind map[pair]pair

func (u unionFind) link(a, b pair) { u[u.root(a)] = u.root(b) }

func (u unionFind) root(p pair) pair {
	up, known := u[p]
	if !known {
		u[p] = p
		return p
	}
	for up != p {
		u[p] = u[up] // shortens the path for later lookups
		p, up = up, u[up]
	}
	return p
}

func (u unionFind) groups() groups {
	files := map[pair][]string{}
	for p := range u {
		r := u.root(p)
		files[r] = append(files[r], p.file)
	}
	g := groups{}
	for _, all := range files {
		slices.Sort(all)
	}
	for p := range u {
		g[p] = files[u.root(p)]
	}
	return g
}
